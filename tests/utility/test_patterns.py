"""Patterns: planted rules are found, and kept or lost by releases made by hand."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from releases_by_hand import Entry, Made, MakeRelease, SaveRelease

import incrowd
from incrowd import datasets
from incrowd.errors import InputError, ParameterError, SourceError
from incrowd.report.patterns import AFTER, ASKED, BEFORE, draw_patterns, picture_rows
from incrowd.utility import patterns

ROWS = 1200
AGES = [20 + number % 40 for number in range(ROWS)]
SEXES = ["F" if number % 3 else "M" for number in range(ROWS)]
# Ill from 45 on, but for one record in 30 of them; the young ones by the toss of a coin.
ILL = [
    ("y" if number % 30 != 29 else "n") if age >= 45 else "yn"[number // 40 % 2]
    for number, age in enumerate(AGES)
]
ORIGINAL = pl.DataFrame({"age": AGES, "sex": SEXES, "ill": ILL})
OLD = ORIGINAL.filter(pl.col("age") >= 45)
PURITY = OLD.filter(pl.col("ill") == "y").height / OLD.height


def other(name: str, role: str = "target", kind: str = "category") -> dict[str, Any]:
    return {"name": name, "role": role, "published": True, "type": kind}


@pytest.fixture
def release(make_release: MakeRelease, entry: Entry) -> Callable[..., Made]:
    """A release of the planted table, the age of each record published by a function of it."""

    def build(label: Callable[..., Any] | type[str], **more: Any) -> Made:
        return make_release(
            {"age": [label(age) for age in AGES], "sex": SEXES, "ill": ILL},
            [entry("age", "numeric", 40, decimals=0), entry("sex", "category", 2), other("ill")],
            **more,
        )

    return build


def tens(age: int) -> str:
    return f"[{age // 10 * 10}-{age // 10 * 10 + 10})"


def test_a_planted_rule_is_found_in_the_raw_table() -> None:
    found = patterns(ORIGINAL, "ill")
    (bucket,) = found.buckets
    assert (bucket.text, bucket.leading) == ("age >= 45", "y")
    assert (bucket.records, bucket.sure) == (OLD.height, OLD.height)
    assert bucket.purity == bucket.sure_purity == PURITY
    assert not found.released
    assert found.classes == {"n": ILL.count("n") / ROWS, "y": ILL.count("y") / ROWS}
    assert (found.original, found.survival) == (None, ())


def test_ranges_that_end_at_the_bound_keep_it(release: Callable[..., Made]) -> None:
    found = patterns(release(lambda age: "[20-45)" if age < 45 else "[45-60)"), "ill",
                     original=ORIGINAL)  # fmt: skip
    (kept,) = found.survival
    assert kept.verdict == "survives"
    assert kept.match is not None
    assert kept.match.text == "age >= 45"
    assert (kept.match.sure, kept.match.sure_purity) == (OLD.height, PURITY)
    assert (kept.sure, kept.straddling, kept.purity) == (OLD.height, 0, PURITY)
    assert (kept.overlap, found.surviving) == (1, 1)


def test_a_release_of_stars_loses_it(release: Callable[..., Made]) -> None:
    found = patterns(release(lambda _: "*"), "ill", original=ORIGINAL)
    assert found.buckets == ()
    (kept,) = found.survival
    assert (kept.verdict, kept.match, kept.overlap) == ("lost", None, 0)
    assert (kept.sure, kept.straddling, kept.purity) == (0, ROWS, None)
    assert found.surviving == 0
    assert "No bucket" in found.as_text()


def test_cells_across_the_bound_are_told_apart_and_do_not_count(
    release: Callable[..., Made],
) -> None:
    wide = release(lambda age: "[40-50)" if 40 <= age < 50 else str(age))
    found = patterns(wide, "ill", original=ORIGINAL)
    (kept,) = found.survival
    beyond = ORIGINAL.filter(pl.col("age") >= 50)
    across = ORIGINAL.filter(pl.col("age").is_between(40, 49))
    assert (kept.sure, kept.straddling) == (beyond.height, across.height)
    assert kept.expected == beyond.height + across.height / 2
    assert kept.match is not None
    assert kept.match.text == "age >= 50"
    assert kept.overlap == pytest.approx(10 / 15)
    assert kept.verdict == "lost"  # two thirds of the records are not similarly many


def test_a_rule_that_holds_but_is_not_found_is_hidden(
    make_release: MakeRelease, entry: Entry
) -> None:
    # No code is frequent in the original; in the release they are two, and they tell the class.
    codes = [f"{ill}{number}" for number, ill in enumerate(ILL)]
    meaning = {ill: [code for code in codes if code[0] == ill] for ill in "yn"}
    release = make_release(
        {"age": [str(age) for age in AGES], "code": ILL, "ill": ILL},
        [
            entry("age", "numeric", 40, decimals=0),
            entry("code", "category", ROWS, labels="hierarchy", weights={"y": 600, "n": 600}),
            other("ill"),
        ],
    )
    original = ORIGINAL.select("age", "ill", code=pl.Series(codes))
    found = patterns(release, "ill", original=original, hierarchies={"code": meaning}, max_depth=1)
    assert {each.text for each in found.buckets} == {"code in y", "code not in y"}
    (kept,) = found.survival
    assert (kept.bucket.text, kept.verdict) == ("age >= 45", "hidden")
    assert (kept.sure, kept.straddling, kept.purity) == (OLD.height, 0, PURITY)
    both = OLD.filter(pl.col("ill") == "y").height
    assert kept.overlap == both / (ILL.count("y") + OLD.height - both)


def test_a_release_with_another_class_loses_it(release: Callable[..., Made]) -> None:
    spoiled = release(str)
    wrong = ["n" if age >= 45 and at % 2 else ILL[at] for at, age in enumerate(AGES)]
    spoiled.data = spoiled.data.with_columns(pl.Series("ill", wrong))
    (kept,) = patterns(spoiled, "ill", original=ORIGINAL, features=["age"]).survival
    old = [ill for age, ill in zip(AGES, wrong, strict=True) if age >= 45]
    assert (kept.verdict, kept.sure) == ("lost", OLD.height)
    assert kept.purity == pytest.approx(old.count("y") / len(old))


def test_sets_across_a_bucket_lose_it_and_leave_its_neighbour(
    make_release: MakeRelease, entry: Entry
) -> None:
    age = [20] * 100 + [21] * 100 + [22] * 100
    ill = ["n"] * 100 + ["y"] * 100 + ["n"] * 100
    original = pl.DataFrame({"age": age, "ill": ill})
    entries = [entry("age", "numeric", 3, decimals=0), other("ill")]
    exact = make_release({"age": [str(each) for each in age], "ill": ill}, entries)
    rules = ["age < 21", "age >= 21 and age < 22", "age >= 22"]
    found = patterns(exact, "ill", original=original)
    assert sorted(each.bucket.text for each in found.survival) == rules
    assert {each.verdict for each in found.survival} == {"survives"}
    sets = ["{20|21}" if each < 22 else "22" for each in age]
    found = patterns(make_release({"age": sets, "ill": ill}, entries), "ill", original=original)
    kept = {each.bucket.text: (each.verdict, each.sure, each.straddling) for each in found.survival}
    assert kept == {
        rules[0]: ("lost", 0, 200),
        rules[1]: ("lost", 0, 200),
        rules[2]: ("survives", 100, 0),
    }


JOBS = {"cook": "service", "maid": "service", "nurse": "care", "doctor": "care", "smith": "craft"}
MEANING = {
    "service": ["cook", "maid"],
    "care": ["nurse", "doctor"],
    "craft": ["smith"],
    "*": list(JOBS),
}


def test_hierarchy_labels_make_rules_and_need_their_values_beside_an_original(
    make_release: MakeRelease, entry: Entry
) -> None:
    jobs = [job for job in JOBS for _ in range(40)]
    ill = ["y" if JOBS[job] == "care" else "n" for job in jobs]
    original = pl.DataFrame({"job": jobs, "ill": ill})
    release = make_release(
        {"job": [JOBS[job] for job in jobs], "ill": ill},
        [
            entry("job", "category", 5, labels="hierarchy",
                  weights={"service": 2, "care": 2, "craft": 1}),
            other("ill"),
        ],
    )  # fmt: skip
    alone = patterns(release, "ill")
    assert {each.text for each in alone.buckets} == {"job in care", "job not in care"}
    assert {each.purity for each in alone.buckets} == {1.0}
    with pytest.raises(InputError, match="does not tell the values behind 3 labels of 'job'"):
        patterns(release, "ill", original=original)
    found = patterns(release, "ill", original=original, hierarchies={"job": MEANING})
    care = next(each for each in found.buckets if each.leading == "y")
    assert (care.text, care.sure) == ("job in care", 80)
    # The raw tree parts nurses and doctors one by one, the release has them together.
    ill_ones = [each for each in found.survival if each.bucket.leading == "y"]
    assert {(each.bucket.records, each.sure, each.straddling) for each in ill_ones} == {(40, 0, 80)}
    assert {each.overlap for each in ill_ones} == {0.5}
    assert {each.verdict for each in ill_ones} == {"lost"}


def test_a_generalized_class_counts_against_purity(make_release: MakeRelease, entry: Entry) -> None:
    ages = ["[20-30)"] * 100 + ["[30-40)"] * 100
    ill = ["n"] * 90 + ["*"] * 10 + ["y"] * 98 + ["{n|y}"] * 2
    release = make_release(
        {"age": ages, "ill": ill},
        [entry("age", "numeric", 20, decimals=0), entry("ill", "category", 2)],
    )
    found = patterns(release, "ill")
    assert found.undetermined == 12
    assert found.classes == {"n": 0.45, "y": 0.49}
    assert [(each.text, each.purity) for each in found.buckets] == [("age >= 30", 0.98)]
    assert {each.purity for each in patterns(release, "ill", min_purity=0.9).buckets} == {0.9, 0.98}
    assert "12 of them is generalized" in found.as_text()
    none = make_release(
        {"age": ages, "ill": ["*"] * 200},
        [entry("age", "numeric", 20), entry("ill", "category", 2)],
    )
    with pytest.raises(InputError, match="shows 0 value"):
        patterns(none, "ill")


@pytest.mark.parametrize("seed", range(6))
def test_buckets_are_what_their_rules_say(seed: int) -> None:
    draws = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "x": draws.integers(0, 50, 800) / 10,
            "day": [f"2020-01-{day:02}" for day in draws.integers(1, 29, 800)],
            "job": draws.choice([*JOBS], 800),
        }
    ).with_columns(
        ill=(pl.col("x") > 3) & (pl.col("day") < "2020-01-20") | (pl.col("job") == "cook")
    )
    frame = frame.with_columns(pl.col("ill").cast(pl.String))
    found = patterns(frame, "ill", min_size=20, max_depth=5)
    assert found.buckets
    assert found.buckets == patterns(frame, "ill", min_size=20, max_depth=5).buckets
    compare = {">=": pl.Expr.ge, "<": pl.Expr.lt}
    for bucket in found.buckets:
        rows = frame
        for each in bucket.rule:
            column, values = pl.col(each.attribute), list(each.values)
            if each.operator in compare:
                bound = float(values[0]) if each.attribute == "x" else values[0]
                rows = rows.filter(compare[each.operator](column, bound))
            else:
                rows = rows.filter(column.is_in(values) == (each.operator == "in"))
        assert rows.height == bucket.records == bucket.sure >= 20
        assert (rows["ill"] == bucket.leading).mean() == pytest.approx(bucket.purity)
        assert bucket.purity >= 0.95


def test_what_all_records_show_is_no_pattern() -> None:
    frame = pl.DataFrame({"age": [20, 30] * 100, "ill": ["n"] * 196 + ["y"] * 4})
    assert patterns(frame, "ill").buckets == ()


def test_missing_cells_are_values_of_their_own() -> None:
    frame = pl.DataFrame({
        "age": [None] * 50 + [30] * 50 + [40] * 50,
        "sex": ["M"] * 150,
        "ill": ["y"] * 50 + ["n"] * 90 + [None] * 10,
    })  # fmt: skip
    found = patterns(frame, "ill")
    assert (found.records, found.without_class) == (140, 10)
    missing = next(each for each in found.buckets if each.leading == "y")
    assert (missing.text, missing.records) == ("age is missing", 50)


def test_json_text_and_picture(release: Callable[..., Made], tmp_path: Path) -> None:
    found = patterns(release(tens), "ill", original=ORIGINAL)
    told = json.loads(json.dumps(found.as_dict()))
    assert told["min_size"] == 12
    assert told["original"]["buckets"][0]["rule"] == "age >= 45"
    assert told["survival"][0]["match"]["conditions"] == [
        {"attribute": "age", "operator": ">=", "values": ["50"], "label": None, "sure": True}
    ]
    assert told["surviving"] == 0
    text = found.as_text()
    assert "0 of 1 patterns of the original survive" in text
    assert "lost: age >= 45 -> y" in text
    rows = picture_rows(found)
    assert [row["series"] for row in rows] == [BEFORE, AFTER, ASKED]
    assert [row["records"] for row in rows] == [OLD.height, 300, 300]
    assert [row["series"] for row in picture_rows(patterns(ORIGINAL, "ill"))] == [BEFORE]
    for drawn in (found, patterns(ORIGINAL, "ill")):
        draw_patterns(drawn, tmp_path / "patterns.svg")
        assert "age &gt;= 45" in (tmp_path / "patterns.svg").read_text(encoding="utf-8")


def test_a_folder_and_files_are_read(
    release: Callable[..., Made], save_release: SaveRelease, tmp_path: Path
) -> None:
    made = release(tens)
    ORIGINAL.write_csv(tmp_path / "raw.csv")
    folder = save_release(made, tmp_path / "release")
    found = patterns(folder, "ill", original=tmp_path / "raw.csv")
    assert found == patterns(made, "ill", original=ORIGINAL)
    parts = tmp_path / "parts"
    parts.mkdir()
    for number in range(2):
        ORIGINAL[number::2].write_parquet(parts / f"{number}.parquet")
    for raw in (tmp_path / "raw.csv", parts):
        assert patterns(raw, "ill").buckets == patterns(ORIGINAL, "ill").buckets
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="is not a release: it has no manifest"):
        patterns(tmp_path / "empty", "ill")


def test_a_class_apart_from_the_records_is_refused() -> None:
    made = incrowd.anonymize(
        ORIGINAL,
        {
            "attributes": {"age": "quasi", "sex": "quasi", "ill": "sensitive"},
            "privacy": [{"k-anonymity": {"k": 2}}],
            "publish": "anatomy",
        },
    )
    with pytest.raises(InputError, match="'ill' is published apart from the records"):
        patterns(made, "ill")


def test_what_makes_no_sense_is_refused(release: Callable[..., Made]) -> None:
    made = release(tens)
    wrong: dict[str, Any]
    for wrong in ({"min_size": 0}, {"min_size": True}, {"min_purity": 0}, {"max_depth": 0},
                  {"features": "age"}, {"features": ["ill"]}, {"features": []},
                  {"hierarchies": {"job": {}}},
                  {"hierarchies": {"age": {"young": "20"}}}):  # fmt: skip
        with pytest.raises(ParameterError):
            patterns(made, "ill", **wrong)
    with pytest.raises(InputError, match=r"publishes no 'il'\. Did you mean 'ill'"):
        patterns(made, "il")
    with pytest.raises(InputError, match="No column 'il'"):
        patterns(ORIGINAL, "il")
    with pytest.raises(InputError, match="has no 'agee' among its records"):
        patterns(made, "ill", features=["agee"])
    with pytest.raises(InputError, match="goes with a release"):
        patterns(ORIGINAL, "ill", original=ORIGINAL)
    with pytest.raises(ParameterError, match="go with a release"):
        patterns(ORIGINAL, "ill", hierarchies={"age": {}})
    with pytest.raises(InputError, match="Give the table"):
        patterns(made, "ill", original=ORIGINAL.head(10))
    with pytest.raises(InputError, match="shows 1 value"):
        patterns(ORIGINAL.with_columns(ill=pl.lit("y")), "ill")


def test_without_scikit_learn_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.tree", None)
    with pytest.raises(SourceError, match=r"incrowd\[evaluation\]"):
        patterns(ORIGINAL, "ill")


@pytest.fixture(scope="module")
def adult() -> pl.DataFrame:
    frame = datasets.load("adult").filter(pl.col("fold") == "train").drop_nulls()
    return frame.select("age", "education-num", "capital-gain", "income")


def test_the_buckets_of_adult_are_those_of_the_thesis(adult: pl.DataFrame) -> None:
    found = patterns(adult, "income").buckets
    assert [(each.text, each.leading, each.records) for each in found] == [
        ("capital-gain < 7298 and age < 28", "<=50K", 7162),
        ("capital-gain >= 7298", ">50K", 1330),
    ]
    assert [round(each.purity, 3) for each in found] == [0.971, 0.986]


@pytest.mark.parametrize("k", [5, 10])
@pytest.mark.parametrize(
    ("role", "method", "goal"),
    [
        ("quasi", "top-down-local", "general"),
        ("target", "top-down-specialization", "classification"),
    ],
)
def test_a_release_of_adult_keeps_both_buckets(
    adult: pl.DataFrame, role: str, method: str, goal: str, k: int
) -> None:
    numbers = {"role": "quasi", "type": "numeric"}
    release = incrowd.anonymize(
        adult,
        {
            "attributes": {**dict.fromkeys(adult.columns[:3], numbers), "income": role},
            "privacy": [{"k-anonymity": {"k": k}}],
            "method": method,
            "goal": goal,
        },
    )
    found = patterns(release, "income", original=adult)
    assert [each.verdict for each in found.survival] == ["survives", "survives"]
    for kept in found.survival:
        assert kept.match is not None
        assert kept.match.sure_purity is not None
        assert abs(kept.match.sure_purity - kept.bucket.purity) <= 0.02
