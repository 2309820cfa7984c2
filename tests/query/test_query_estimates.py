"""Estimates by hand: what each label is worth, each kind of release, every refusal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from asked_patients import by_hand, meanings, policy, quasi, released, sensitive

import incrowd
from incrowd.errors import InputError, ParameterError
from incrowd.publish.release import Release
from incrowd.query import Estimate, query

FIGURE_1 = pl.DataFrame(
    {
        "age": [42, 41, 49, 43],
        "disease": ["Heart disease", "Heart disease", "Flu", "Stomach disease"],
        "treatment": ["Medicine", "Surgery", "IV", "IV"],
    }
)


def one_column(kind: str, cells: list[str | None], **more: Any) -> Any:
    return by_hand({"data": {"x": cells}}, [quasi("x", kind, **more)], "generalized")


def counted(release: Any, text: str, **more: Any) -> float:
    return query(release, text, **more).count


def figure_3() -> Release:
    policy = {
        "attributes": {"age": "quasi", "disease": "sensitive", "treatment": "sensitive"},
        "privacy": [{"k-anonymity": {"k": 4}}],
        "publish": "anatomy",
    }
    return incrowd.anonymize(FIGURE_1, policy)


def test_figure_3_of_gal_et_al() -> None:
    """Ages 41 and 42, of four; 2 of 4 have Heart disease, 2 of 4 IV."""
    release = figure_3()
    found = query(release, "age < 43")
    assert (found.count, found.low, found.high, found.exact) == (2, 2, 2, True)
    found = query(release, "disease = 'Heart disease'")
    assert (found.count, found.exact, found.share) == (2, True, 0.5)
    # Of the 6 ways to deal two Heart diseases to four, 1 gives both to the two, 4 one, 1 none.
    found = query(release, "age < 43 and disease = 'Heart disease'")
    assert found.count == 1
    assert (found.least, found.most, found.exact) == (0, 2, False)
    # 2 x 2/4 x 2/4, both attributes dealt on their own.
    found = query(release, "age < 43 and disease = 'Heart disease' and treatment = IV")
    assert found.count == 0.5
    assert query(release, "age < 43 and disease = Measles").exact


def test_what_it_says() -> None:
    release = figure_3()
    assert query(release, "").one_sentence() == "Exactly 4 of 4 published records (100 %)."
    found = query(release, "age < 43 and disease = 'Heart disease'")
    assert found.one_sentence() == (
        "About 1 of 4 published records (25 %); 95 %: 0 to 2; between 0 and 2 for certain."
    )
    assert found.as_dict() == {
        "count": 1.0,
        "interval_95": [0, 2],
        "least": 0,
        "most": 2,
        "exact": False,
        "counted": "records",
        "records": 4,
        "suppressed": 0,
        "share": 0.25,
        "remarks": [],
    }


def test_several_sensitive_attributes_belong_together_in_a_lossy_join() -> None:
    entries = [
        quasi("age", "numeric", "exact", decimals=0),
        sensitive("disease"),
        sensitive("treatment"),
    ]
    tables = {
        "nss": {"age": ["41", "42", "43", "49"], "class_id": ["1"] * 4},
        "ss": {
            "class_id": ["1"] * 4,
            "disease": ["Flu", "Heart", "Heart", "Stomach"],
            "treatment": ["IV", "Medicine", "Surgery", "IV"],
        },
    }
    release = by_hand(tables, entries, "lossy-join")
    assert query(release, "disease = Heart and treatment = IV") == query(release, "age > 49")
    found = query(release, "disease = Flu and treatment = IV")
    assert (found.count, found.exact) == (1, True)
    found = query(release, "age <= 42 and disease = Flu and treatment = IV")
    assert (found.count, found.least, found.most) == (0.5, 0, 1)


def test_numbers_are_rounded_for_people() -> None:
    found = Estimate(12345.6, 12000, 13000, 9000, 20000, 100_000)
    assert found.one_sentence() == (
        "About 12,346 of 100,000 published records (12.3 %); 95 %: 12,000 to 13,000; between 9,000 "
        "and 20,000 for certain."
    )
    assert "About 1,000 of" in Estimate(999.7, 990, 1010, 900, 1100, 2000).one_sentence()


def test_what_was_left_out_is_said() -> None:
    told = Estimate(3, 3, 3, 3, 3, 2000, suppressed=12).one_sentence()
    assert told == (
        "Exactly 3 of 2,000 published records (0.15 %). 12 records were left out of the release; "
        "any of them may satisfy it, too."
    )


@pytest.mark.parametrize(
    ("label", "condition", "wanted"),
    [
        ("[30-60)", "x = 30", 1 / 30),
        ("[30-60)", "x = 60", 0),
        ("[30-60)", "x = 30.5", 0),
        ("[30-60)", "x != 30", 29 / 30),
        ("[30-60)", "x != 30.5", 1),
        ("[30-60)", "x < 40", 10 / 30),
        ("[30-60)", "x <= 40", 11 / 30),
        ("[30-60)", "x < 40.5", 11 / 30),
        ("[30-60)", "x > 40", 19 / 30),
        ("[30-60)", "x >= 40", 20 / 30),
        ("[30-60)", "x > 40.5", 19 / 30),
        ("[30-60)", "x between 40 and 49", 10 / 30),
        ("[30-60)", "x between 0 and 1e9", 1),
        ("[30-60)", "x in (29, 30, 31, 31.0)", 2 / 30),
        ("[30-60)", "x >= 40 and x < 50 and x != 45", 9 / 30),
        ("[30-60)", "x >= 40 and x < 40", 0),
        ("[-5-5)", "x < -3", 2 / 10),
        ("42", "x = 42.0", 1),
        ("42", "x = '42'", 1),
        ("42", "x between 42 and 42", 1),
        ("42", "x <> 42", 0),
        ("42", "x is missing", 0),
        ("42", "x is not missing", 1),
        (None, "x is missing", 1),
        (None, "x is not missing", 0),
        (None, "x != 42", 0),
        (None, "x < 42", 0),
        (None, "x is missing and x = 42", 0),
    ],
)
def test_whole_numbers(label: str | None, condition: str, wanted: float) -> None:
    release = one_column("numeric", [label, "7"], decimals=0, domain=80)
    seven = counted(one_column("numeric", ["7"], decimals=0, domain=1), condition)
    assert counted(release, condition) == pytest.approx(wanted + seven)


@pytest.mark.parametrize(
    ("label", "condition", "wanted"),
    [
        ("[1.5-2)", "x < 1.75", 25 / 50),
        ("[1.5-2)", "x = 1.99", 1 / 50),
        ("[1.5-2)", "x = 1.995", 0),
        ("[1.5-2)", "x <= 1.995", 1),
        ("1.5", "x = 1.50", 1),
    ],
)
def test_decimals_are_steps_of_the_smallest(label: str, condition: str, wanted: float) -> None:
    release = one_column("numeric", [label], decimals=2, domain=51)
    assert counted(release, condition) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("label", "condition", "wanted"),
    [
        ("[1950-01-01-1950-01-11)", "x < 1950-01-06", 5 / 10),
        ("1950-03-15", "x = 1950-03-15", 1),
        ("1952", "x >= 1952-12-31", 1 / 366),
        ("1952-02", "x = 1952-02-29", 1 / 29),
        ("1952-Q1", "x between 1952-01-01 and 1952-01-31", 31 / 91),
        ("1950s", "x < 1951-01-01", 365 / 3652),
        ("2020-12", "x > 2020-12-30", 1 / 31),
    ],
)
def test_dates_are_counted_in_days(label: str, condition: str, wanted: float) -> None:
    rule = {"labels": "hierarchy", "hierarchy": "dates", "weights": {label: 2}}
    if label.startswith("[") or label.count("-") == 2:
        rule = {}
    release = one_column("date", [label], domain=5000, **rule)
    assert counted(release, condition) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("label", "condition", "wanted"),
    [
        ("{a|b|c}", "x = a", 1 / 3),
        ("{a|b|c}", "x != a", 2 / 3),
        ("{a|b|c}", "x in (a, b, z)", 2 / 3),
        ("{a|b|}", "x is missing", 1 / 3),
        ("{a|b|}", "x is not missing", 2 / 3),
        ("{a|b|}", "x != a", 1 / 3),
        (r"{a\|b|c}", "x = 'a|b'", 1 / 2),
        (r"\*", "x = '*'", 1),
        (r"\[1-2)", "x = '[1-2)'", 1),
        ("it's", "x = 'it''s'", 1),
        ("A", "x = a", 0),
    ],
)
def test_sets_and_values(label: str, condition: str, wanted: float) -> None:
    assert counted(one_column("category", [label], domain=9), condition) == pytest.approx(wanted)


def test_anything_is_the_whole_domain_as_far_as_it_is_shown() -> None:
    release = one_column("numeric", ["*", "10", "[15-20)"], labels="hierarchy", domain=10)
    assert counted(release, "x = 12") == pytest.approx(1 / 10)
    assert counted(release, "x < 15") == pytest.approx(5 / 10 + 1)
    # The manifest states 20 values: 5 more below and 5 more above the 10 that are shown.
    release = one_column("numeric", ["*", "10", "[15-20)"], labels="hierarchy", domain=20)
    assert counted(release, "x < 10") == pytest.approx(5 / 20)
    assert counted(release, "x >= 20") == pytest.approx(5 / 20)
    assert not query(release, "x is not missing and x < 20").exact
    # A range of numbers in sets is * only where a missing cell is among them.
    release = one_column("numeric", ["*", "10", "[15-20)"], domain=11)
    assert counted(release, "x is missing") == pytest.approx(1 / 11)


def test_anything_of_categories_counts_values_that_are_not_shown() -> None:
    release = one_column("category", ["*", "a", "b", None], labels="hierarchy", domain=5)
    assert counted(release, "x = a") == pytest.approx(1 + 1 / 5)
    assert counted(release, "x is missing") == pytest.approx(1 + 1 / 5)
    assert counted(release, "x = c") == pytest.approx(1 / 5)
    assert counted(release, "x in (c, d, e)") == pytest.approx(2 / 5)
    assert counted(release, "x != c") == pytest.approx(2 + 3 / 5)
    assert counted(release, "x in (a, c) and x != a") == pytest.approx(1 / 5)
    known = {"x": {"*": ["a", "b", "c"]}}
    assert counted(release, "x = c", hierarchies=known) == pytest.approx(1 / 4)
    assert counted(release, "x = d", hierarchies=known) == 0


def test_nothing_shown_but_anything() -> None:
    release = one_column("numeric", ["*", "*"], labels="hierarchy", domain=50, decimals=0)
    assert counted(release, "x = 7") == pytest.approx(2 / 50)
    assert counted(release, "x != 7") == pytest.approx(2 * 49 / 50)
    assert counted(release, "x in (1, 2, 2)") == pytest.approx(2 * 2 / 50)
    with pytest.raises(InputError, match=r"nothing of 'x' but \*.*Give the policy"):
        query(release, "x < 7")
    known = {"x": {"*": ["1", "10"]}}
    assert counted(release, "x < 6", hierarchies=known) == 1
    release = one_column("category", ["*"], labels="hierarchy", domain=4)
    assert counted(release, "x = a") == pytest.approx(1 / 4)


def test_masks() -> None:
    rule = {"labels": "hierarchy", "hierarchy": "mask", "weights": {"14**": 3, "1***": 4}}
    release = one_column("category", ["14**", "1423", "1***", "999*"], domain=6, **rule)
    assert counted(release, "x = 1423") == pytest.approx(1 / 3 + 1 + 1 / 4)
    assert counted(release, "x = 1499") == pytest.approx(1 / 3 + 1 / 4)
    assert counted(release, "x in (1499, 1498, 1497)") == pytest.approx(2 / 3 + 3 / 4)
    assert counted(release, "x = 9999") == pytest.approx(1)
    assert counted(release, "x = 149") == 0
    known = {"x": {"14**": ["1423", "1499"], "1***": ["1423", "1499", "1500"]}}
    found = counted(release, "x = 1499", hierarchies=known)
    assert found == pytest.approx(1 / 2 + 1 / 3)


def test_labels_of_trees_need_their_meaning() -> None:
    rule = {"labels": "hierarchy", "hierarchy": "tree", "weights": {"Office": 2}}
    release = one_column("category", ["Office", "farmer", "Law"], domain=4, **rule)
    with pytest.raises(InputError, match="behind 1 label of 'x'"):
        query(release, "x = judge")
    assert counted(release, "x is missing") == 0
    assert counted(release, "x is not missing") == 3
    known = {"x": {"Office": ["judge", "banker"], "Law": ["judge"], "*": []}}
    assert counted(release, "x = judge", hierarchies=known) == pytest.approx(1.5)
    assert counted(release, "x = farmer", hierarchies=known) == 1


def test_order_of_values() -> None:
    release, frame = released("hierarchy")
    with pytest.raises(InputError, match="does not tell the order of its values"):
        query(release, "stage >= III")
    known = meanings(frame, "hierarchy")
    late = query(release, "stage >= III", hierarchies=known)
    assert late == query(release, "stage in (III, IV)", hierarchies=known)
    assert late == query(release, "stage between III and IV", hierarchies=known)
    assert late == query(release, "stage > II and stage <= IV", hierarchies=known)
    with pytest.raises(InputError, match="character 10: this is no value of 'stage'"):
        query(release, "stage >= V", hierarchies=known)
    with pytest.raises(InputError, match="between needs the smaller value first"):
        query(release, "stage between IV and I", hierarchies=known)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("agee > 3", "character 1: the release has no attribute 'agee'. Did you mean 'age'?"),
        ("ward = w1 and id = p1", "character 15: 'id' is not published in this release"),
        ("ill > flu", "'ill' cannot be compared by order: its values are text"),
        ("job between a and b", "'job' cannot be compared by order"),
        ("age > old", "character 7: 'age' has numbers: expected one"),
        ("grade = 'x'", "character 9: 'grade' has numbers"),
        ("birth < 1960", "character 9: 'birth' has dates: expected one as YYYY-MM-DD"),
        ("birth = 1960-02-30", "'birth' has dates"),
        ("age between 60 and 40", "character 13: between needs the smaller value first"),
    ],
)
@pytest.mark.parametrize("kind", ["sets", "anatomy", "lossy-join"])
def test_refusals(kind: str, text: str, says: str) -> None:
    with pytest.raises(InputError) as refusal:
        query(released(kind)[0], text)
    assert says in str(refusal.value)


def test_bad_meanings_are_refused() -> None:
    release = figure_3()
    with pytest.raises(ParameterError, match="no attribute 'ages'"):
        query(release, "", hierarchies={"ages": {}})
    with pytest.raises(ParameterError, match="a list of values for each label"):
        query(release, "", hierarchies={"age": {"*": "41"}})


def test_a_folder_is_read_like_the_release(tmp_path: Path) -> None:
    for kind in ("sets", "anatomy", "lossy-join"):
        release, _ = released(kind)
        for form in ("csv", "parquet"):
            made = incrowd.anonymize(released(kind)[1], policy(kind, format=form))
            folder = tmp_path / f"{kind}-{form}"
            made.save(folder)
            for text in ("", "grade >= 2.5 and ill = 'it''s'", "birth < 1963-01-01 and age > 40"):
                assert query(folder, text) == query(release, text)


def test_a_value_that_is_shown_nowhere_is_remarked() -> None:
    frame = pl.DataFrame({"age": [30, 31], "ill": ["Flu", "HIV"]})
    asked = {
        "attributes": {"age": "quasi", "ill": "sensitive"},
        "privacy": [{"k-anonymity": {"k": 2}}],
        "publish": "anatomy",
    }
    release = incrowd.anonymize(frame, asked)
    assert release.query("ill = Flu").remarks == ()
    found = release.query("ill in (Flue, hiv) and age = 99")
    assert found.remarks == ("No record shows the value 'Flue' of 'ill'. Did you mean 'Flu'?",)
