"""Linkage: by hand, against a plain double loop, and every refusal."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.attacks import compatibility as joining
from incrowd.attacks import link
from incrowd.errors import InputError, ParameterError

MANIFEST = {
    "records": {"source": 5, "published": 5, "suppressed": 0, "missing_dropped": 0},
    "attributes": [
        {"name": "id", "role": "identifier", "published": False},
        {"name": "age", "role": "quasi", "published": True, "type": "numeric", "labels": "set"},
        {
            "name": "job",
            "role": "quasi",
            "published": True,
            "type": "category",
            "labels": "hierarchy",
            "hierarchy": "tree",
            "weights": {"Blue": 2},
        },
        {"name": "disease", "role": "sensitive", "published": True, "type": "category"},
    ],
    "promises": [
        {"model": "k-anonymity", "parameters": {"k": 2}},
        {"model": "p-sensitive", "parameters": {"k": 3, "p": 1, "sensitive": "disease"}},
        {"model": "confidence-bounding", "parameters": {"C": 1.0, "sensitive": "disease"}},
    ],
    "files": {"data.csv": {}},
}
DATA = pl.DataFrame(
    {
        "age": ["[30-40)", "[30-40)", "[30-40)", "50", "50"],
        "job": ["Blue", "Blue", "Blue", "Lawyer", "Lawyer"],
        "disease": ["Flu", "Flu", "Flu", "Flu", None],
    }
)
RELEASE = SimpleNamespace(manifest=MANIFEST, data=DATA)
PEOPLE = pl.DataFrame(
    {
        "name": ["Ann", "Bob", "Cyd", "Dee", "Eve"],
        "age": [35, 35, 50, 50, 20],
        "job": ["Janitor", "Lawyer", "Lawyer", "Lawyer", "Janitor"],
    }
)
MEANING = {"job": {"Blue": ["Janitor", "Mover"]}}


def test_a_release_with_its_hierarchy() -> None:
    found = link(RELEASE, PEOPLE, hierarchies=MEANING)
    assert found.candidates.tolist() == [3, 0, 2, 2, 0]
    assert found.only_record.tolist() == [-1] * 5
    assert (found.people, found.records, found.matched, found.matched_one) == (5, 5, 3, 0)
    assert (found.k, found.matched_below_k) == (3, 2)
    assert found.smallest_candidates == 2
    assert found.average_candidates == pytest.approx(7 / 3)
    assert found.average_probability == pytest.approx((1 / 3 + 1 / 2 + 1 / 2) / 3)
    # Ann's candidates all have Flu; those of Cyd and Dee have Flu or nothing stated.
    assert [(d.name, d.people, d.in_a_crowd) for d in found.disclosed] == [("disease", 1, 1)]
    assert found.unreadable == ()
    assert found.one_sentence().endswith("none is matched to exactly one record.")


def test_without_the_hierarchy_its_labels_rule_nobody_out() -> None:
    found = link(RELEASE, PEOPLE, k=4)
    assert found.candidates.tolist() == [3, 3, 2, 2, 0]
    assert found.unreadable == (("job", 1),)
    assert (found.k, found.matched_below_k) == (4, 4)


def test_a_release_folder_and_files(tmp_path: Path) -> None:
    folder = tmp_path / "release"
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps(MANIFEST), encoding="utf-8")
    DATA.write_csv(folder / "data.csv")
    PEOPLE.write_csv(tmp_path / "people.csv")
    found = link(str(folder), tmp_path / "people.csv", hierarchies=MEANING)
    assert found.candidates.tolist() == [3, 0, 2, 2, 0]
    assert (found.target, found.known) == ("release", "people.csv")


def test_on_may_be_fewer_columns_or_renamed_ones() -> None:
    assert link(RELEASE, PEOPLE, on=["age"]).candidates.tolist() == [3, 3, 2, 2, 0]
    renamed = PEOPLE.rename({"age": "years"})
    assert link(RELEASE, renamed, on={"age": "years"}).on == (("age", "years"),)
    assert link(RELEASE, renamed, hierarchies=MEANING).on == (("job", "job"),)


def test_raw_tables_are_matched_by_value_and_type_does_not_matter() -> None:
    raw = pl.DataFrame({"id": [1, 2, 3], "age": ["38.0", "39", "40"], "sex": ["M", "F", "X"]})
    people = pl.DataFrame({"id": [3, 2], "age": [38, 39], "sex": ["M", "M"]})
    found = link(raw, people, sensitive=["id"])
    assert dict(found.on) == {"age": "age", "sex": "sex"}
    assert found.candidates.tolist() == [1, 0]
    assert found.only_record.tolist() == [0, -1]
    assert found.k is None
    assert found.matched_below_k is None
    assert (found.disclosed[0].people, found.disclosed[0].in_a_crowd) == (1, 0)


def test_missing_matches_only_missing_and_anything() -> None:
    target = pl.DataFrame({"age": ["38", None, "*"]})
    people = pl.DataFrame({"age": ["38", None]})
    assert link(target, people).candidates.tolist() == [2, 2]
    assert link(target.head(2), people).candidates.tolist() == [1, 1]
    assert link(target.head(1), people).candidates.tolist() == [1, 0]


def test_two_people_may_be_the_same_single_record() -> None:
    target = pl.DataFrame({"age": ["38", "50", "50"]})
    found = link(target, pl.DataFrame({"age": [38, 38, 50]}))
    assert (found.matched_one, found.records_singled_out) == (2, 1)
    assert found.one_sentence() == "Of 3 people on the list, 2 are matched to exactly one record."


def test_nobody_matched_has_no_averages() -> None:
    found = link(pl.DataFrame({"age": ["38"]}), pl.DataFrame({"age": [20]}), k=5)
    assert (found.matched, found.matched_below_k) == (0, 0)
    assert found.smallest_candidates is found.average_candidates is None
    assert found.average_probability is None


def test_as_dict_is_plain_json_without_people() -> None:
    told = json.loads(json.dumps(link(RELEASE, PEOPLE).as_dict()))
    assert told["matched"] == 4
    assert told["unreadable_labels"] == {"job": 1}
    assert told["on"] == {"age": "age", "job": "job"}
    assert "Ann" not in json.dumps(told)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"on": ["agee"]}, InputError, r"No column 'agee' in the release. Did you mean 'age'\?"),
        ({"on": {"age": "yeers"}}, InputError, "No column 'yeers' in a polars frame"),
        ({"on": []}, ParameterError, "on: must name at least one column"),
        ({"on": {}}, ParameterError, "on: must name at least one column"),
        ({"on": "age"}, ParameterError, "on: must be a list of column names"),
        ({"on": {"age": "age", "job": "age"}}, ParameterError, "each only once"),
        ({"k": 0}, ParameterError, "k: must be a whole number of at least 1, got 0"),
        ({"k": 2.5}, ParameterError, "k: must be a whole number"),
        ({"k": True}, ParameterError, "k: must be a whole number"),
        ({"sensitive": ["illness"]}, InputError, "No column 'illness'"),
        ({"sensitive": "disease"}, ParameterError, "sensitive: must be a list"),
    ],
)
def test_refusals(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        link(RELEASE, PEOPLE, **arguments)


def test_nothing_shared_is_refused() -> None:
    with pytest.raises(InputError, match="share no column to link on"):
        link(RELEASE, PEOPLE.select("name"))
    with pytest.raises(InputError, match="share no column to link on"):
        link(pl.DataFrame({"id": [1], "Last_Name": ["x"]}), PEOPLE.select(id="age", name="name"))


def _between(low: int, high: int) -> Callable[[Any], bool]:
    return lambda value: value is not None and low <= value < high


AGE_LABELS: dict[str | None, Callable[[Any], bool]] = {
    "*": lambda _: True,
    None: lambda value: value is None,
    "31": lambda value: value == 31,
    "[30-33)": _between(30, 33),
    "[29-31)": _between(29, 31),
    "{29|33|}": lambda value: value in (29, 33, None),
    ">31": lambda value: value is not None and value > 31,
    "3*": _between(30, 40),
    "29-30": _between(29, 31),
}
ZIP_LABELS: dict[str | None, Callable[[Any], bool]] = {
    "*": lambda _: True,
    None: lambda value: value is None,
    "0123": lambda value: value == "0123",
    "01**": lambda value: value is not None and value.startswith("01"),
    "**5": lambda _: False,
    "***5": lambda value: value is not None and value.endswith("5"),
    "{0123|0245}": lambda value: value in ("0123", "0245"),
    "north": lambda value: value in ("0123", "9995"),
}
MEANINGS = {"zip": {"north": ["0123", "9995"]}}


@given(
    records=st.lists(
        st.tuples(
            st.sampled_from(list(AGE_LABELS)),
            st.sampled_from(list(ZIP_LABELS)),
            st.sampled_from(["F", "M"]),
            st.sampled_from(["Flu", "HIV", None]),
        ),
        min_size=1,
        max_size=15,
    ),
    people=st.lists(
        st.tuples(
            st.sampled_from([29, 30, 31, 32, 33, 40, None]),
            st.sampled_from(["0123", "0125", "0245", "9995", None]),
            st.sampled_from(["F", "M"]),
        ),
        min_size=1,
        max_size=15,
    ),
    at_once=st.sampled_from([1, 3, 1000]),
)
def test_linkage_equals_a_double_loop(
    records: list[tuple[str | None, str | None, str, str | None]],
    people: list[tuple[int | None, str | None, str]],
    at_once: int,
) -> None:
    # Both sexes are on the list: a label that no value of the list equals could be anything.
    people = [(31, "0123", "F"), (31, "0123", "M"), *people]
    target = pl.DataFrame(
        records, schema=dict.fromkeys(("age", "zip", "sex", "disease"), pl.String), orient="row"
    )
    known = pl.DataFrame(
        people, schema={"age": pl.Int64, "zip": pl.String, "sex": pl.String}, orient="row"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joining, "_PAIRS_AT_ONCE", at_once)
        found = link(target, known, hierarchies=MEANINGS, k=3, sensitive=["disease"])
    fitting = [
        [
            at
            for at, (age_label, zip_label, sex_label, _) in enumerate(records)
            if AGE_LABELS[age_label](age) and ZIP_LABELS[zip_label](code) and sex_label == sex
        ]
        for age, code, sex in people
    ]
    assert found.candidates.tolist() == [len(each) for each in fitting]
    assert found.only_record.tolist() == [e[0] if len(e) == 1 else -1 for e in fitting]
    matched = [each for each in fitting if each]
    assert found.matched == len(matched)
    assert found.matched_one == sum(len(each) == 1 for each in matched)
    assert found.matched_below_k == sum(len(each) < 3 for each in matched)
    assert found.records_singled_out == len({each[0] for each in matched if len(each) == 1})
    alike = [each for each in matched if len({records[at][3] for at in each}) == 1]
    assert found.disclosed[0].people == len(alike)
    assert found.disclosed[0].in_a_crowd == sum(len(each) > 1 for each in alike)


def test_many_people_in_small_pieces_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(11)
    low = draw.integers(0, 50, 400)
    target = pl.DataFrame(
        {
            "age": [f"[{a}-{a + w})" for a, w in zip(low, draw.integers(1, 20, 400), strict=True)],
            "sex": draw.choice(["F", "M", "*"], 400),
            "zip": draw.choice(["12***", "1****", "12345", "13***"], 400),
        }
    )
    people = pl.DataFrame(
        {
            "age": draw.integers(0, 70, 2000),
            "sex": draw.choice(["F", "M"], 2000),
            "zip": draw.choice(["12345", "12999", "13000"], 2000),
        }
    )
    whole = link(target, people)
    monkeypatch.setattr(joining, "_PAIRS_AT_ONCE", 50)
    pieces = link(target, people)
    assert pieces.candidates.tolist() == whole.candidates.tolist()
    assert 0 < whole.matched < whole.people
