"""The judges of what a group tells more than all records do: delta-disclosure, beta-likeness."""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from handmade_shapes import SHAPES, Rows, groups_by_label, judge_shape, make_shape
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd
from incrowd.privacy import BetaLikeness, DeltaDisclosure
from incrowd.verify import verify

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incrowd.verify import Finding

VALUES = ("", "flu", "a,b", "*")
LABELS = ("[30-60)", "{a|b}", "*")
rows_made = st.lists(
    st.tuples(st.sampled_from(LABELS), st.sampled_from(VALUES)), min_size=1, max_size=24
) | st.lists(st.sampled_from(VALUES), min_size=1, max_size=6).map(
    # Groups that have every value, some more often.
    lambda more: [
        *((label, value) for label in LABELS for value in {*more}),
        *((LABELS[at % 3], value) for at, value in enumerate(more)),
    ]
)
deltas = st.sampled_from((1e-6, 0.3, math.log(1.5), math.log(2), 1, math.log(3), 5.0))
betas = st.sampled_from((1e-6, 0.25, 0.5, 1, math.log(3), 2.0, 5))


def delta(number: Any, sensitive: Any = "ill") -> dict[str, Any]:
    parameters = {"delta": number, "sensitive": sensitive}
    return {"model": "delta-disclosure", "parameters": parameters}


def beta(number: Any, kind: Any = "basic", sensitive: Any = "ill") -> dict[str, Any]:
    parameters = {"beta": number, "kind": kind, "sensitive": sensitive}
    return {"model": "beta-likeness", "parameters": parameters}


def expect(finding: Finding, measured: dict[str, Any], failing: int) -> None:
    assert finding.measured.keys() == {*measured, "groups_failing"}
    for name, value in measured.items():
        found: Any = finding.measured[name]
        assert (found is None) == (value is None), name
        assert value is None or math.isclose(found, value, rel_tol=1e-11, abs_tol=1e-11), name
    assert finding.measured["groups_failing"] == failing
    assert finding.holds == (failing == 0)


def ratios_of(groups: list[Counter[str]]) -> list[dict[str, tuple[Fraction, Fraction]]]:
    """For each group, the share of every value in it over the share in all, and the latter."""
    whole = sum(groups, Counter[str]())
    shares = {value: Fraction(n, whole.total()) for value, n in whole.items()}
    return [
        {value: (Fraction(group[value], group.total()) / p, p) for value, p in shares.items()}
        for group in groups
    ]


def distances(groups: list[Counter[str]]) -> list[float]:
    return [
        max(abs(math.log(ratio)) if ratio else math.inf for ratio, _ in each.values())
        for each in ratios_of(groups)
    ]


def delta_reference(groups: list[Counter[str]], promised: float) -> tuple[float | None, int]:
    reached = distances(groups)
    # Strict: a share at the limit itself, up to rounding, fails.
    failing = sum(each >= promised * (1 - 5e-10) for each in reached)
    return None if max(reached) == math.inf else max(reached), failing


def beta_reference(
    groups: list[Counter[str]], promised: float, kind: str
) -> tuple[float | None, int]:
    gains = [
        [(ratio - 1, -math.log(p)) for ratio, p in each.values() if ratio > 1]
        for each in ratios_of(groups)
    ]
    largest = float(max((gain for each in gains for gain, _ in each), default=Fraction(0)))
    if kind == "basic":
        limits = [[(gain, promised) for gain, _ in each] for each in gains]
        reached = True
    else:
        limits = [[(gain, min(promised, ceiling)) for gain, ceiling in each] for each in gains]
        reached = all(gain <= ceiling + 1e-9 for each in gains for gain, ceiling in each)
    failing = sum(any(gain > limit + 1e-9 for gain, limit in each) for each in limits)
    return largest if reached else None, failing


@settings(max_examples=30)
@given(rows=rows_made, shape=st.sampled_from(SHAPES), off=deltas, gain=betas)
def test_the_judges_agree_with_the_definitions_in_every_shape(
    rows: Rows, shape: str, off: float, gain: float
) -> None:
    disclosure, basic, enhanced = judge_shape(
        shape, rows, delta(off), beta(gain), beta(gain, "enhanced")
    )
    groups = groups_by_label(rows)
    measured, failing = delta_reference(groups, off)
    expect(disclosure, {"delta": measured}, failing)
    for finding, kind in ((basic, "basic"), (enhanced, "enhanced")):
        measured, failing = beta_reference(groups, gain, kind)
        expect(finding, {"beta": measured}, failing)


def finite(numbers: Any) -> dict[str, Any]:
    return {name: None if value in (None, math.inf) else value for name, value in numbers.items()}


@settings(max_examples=25)
@given(rows=rows_made, off=deltas, gain=betas)
def test_the_models_measure_the_same_in_good_groups_and_bad(
    rows: Rows, off: float, gain: float
) -> None:
    frame = pl.DataFrame(
        [(q, ill or None) for q, ill in rows],
        schema=dict.fromkeys(("q", "ill"), pl.String),
        orient="row",
    )
    models = [
        DeltaDisclosure(delta=off, sensitive="ill"),
        BetaLikeness(beta=gain, kind="basic", sensitive="ill"),
        BetaLikeness(beta=gain, kind="enhanced", sensitive="ill"),
    ]
    promises = [delta(off), beta(gain), beta(gain, "enhanced")]
    findings = judge_shape("generalized", rows, *promises)
    for model, finding in zip(models, findings, strict=True):
        found = model.check(frame, quasi=["q"])
        expect(finding, finite(found.numbers), found.failing)
        assert finding.holds == found.holds


tables = st.lists(
    st.fixed_dictionaries(
        {
            "age": st.integers(20, 60).map(str),
            "sex": st.sampled_from(("F", "M", None)),
            "ill": st.sampled_from(("flu", "ulcer", None)),
        }
    ),
    min_size=2,
    max_size=30,
)


def shown_values(release: Any) -> tuple[pl.DataFrame, list[str]]:
    """The sensitive values that a release shows by group, and the columns that tell groups."""
    shape = release.manifest["publish"]
    if shape == "generalized":
        return release.data, ["age", "sex"]
    if shape == "lossy-join":
        return release.tables["ss"], ["class_id"]
    values = release.tables["st_ill"]
    return values.select(pl.all().repeat_by(pl.col("count").cast(int)).explode()), ["group_id"]


@settings(max_examples=20)
@given(rows=tables, shape=st.sampled_from(SHAPES), off=deltas, gain=betas, which=st.integers(0, 2))
def test_releases_hold_and_measure_what_the_models_measure(
    rows: list[dict[str, Any]], shape: str, off: float, gain: float, which: int
) -> None:
    promised = (delta(off), beta(gain), beta(gain, "enhanced"))[which]
    model = (DeltaDisclosure, BetaLikeness, BetaLikeness)[which](**promised["parameters"])
    policy = {
        "attributes": {"age": "quasi", "sex": "quasi", "ill": "sensitive"},
        "privacy": [{promised["model"]: promised["parameters"]}],
        "publish": shape,
        "method": "mondrian",
    }
    frame = pl.DataFrame(rows, schema=dict.fromkeys(("age", "sex", "ill"), pl.String))
    release = incrowd.anonymize(frame, policy)
    with tempfile.TemporaryDirectory() as folder:
        verdict = release.save(Path(folder) / "release")
    assert verdict.holds
    (measured,) = verdict.measured
    values, quasi = shown_values(release)
    found = model.check(values, quasi=quasi)
    assert found.holds
    expected = {**finite(found.numbers), "groups_failing": 0}
    assert measured.keys() == expected.keys()
    for name, value in expected.items():
        assert measured[name] == pytest.approx(value, rel=1e-11, abs=1e-11)


# In all records flu has 3 of 6, ulcer 2, hiv 1.
UNEVEN = [
    *(("x", ill) for ill in ("flu", "ulcer", "hiv")),
    *(("y", ill) for ill in ("flu", "flu", "ulcer")),
]


def test_gains_by_hand() -> None:
    disclosure, basic, enhanced = judge_shape(
        "generalized", UNEVEN, delta(9), beta(0.5), beta(1, "enhanced")
    )
    assert disclosure.measured == {"delta": None, "groups_failing": 1}
    assert disclosure.detail == (
        "a group lacks a value of 'ill' that another has, so no delta is enough, promised 9"
        " (1 of 2 groups fails)"
    )
    # hiv: from 1/6 to 1/3 in x, a gain of 1, below ln 6. flu: from 1/2 to 2/3 in y, a gain of 1/3.
    assert basic.measured == {"beta": 1.0, "groups_failing": 1}
    assert basic.detail == (
        "the largest gain of a value of 'ill' in a group is 1 of its share in all records,"
        " promised at most 0.5 (1 of 2 groups fails)"
    )
    assert enhanced.holds
    assert enhanced.measured == {"beta": 1.0, "groups_failing": 0}


def test_a_frequent_value_may_gain_less_than_beta() -> None:
    # From 1/2 to 1 is a gain of 1, above ln 2: a group of one value is never enhanced-like.
    rows = [("x", "flu"), ("x", "flu"), ("y", "ulcer"), ("y", "ulcer")]
    basic, enhanced = judge_shape("generalized", rows, beta(1), beta(50, "enhanced"))
    assert basic.holds
    assert not enhanced.holds
    assert enhanced.measured == {"beta": None, "groups_failing": 2}
    assert "promised at most 50 and -ln of that share" in enhanced.detail


def test_equal_shares_are_exactly_so() -> None:
    rows = [(label, ill) for label in "xyz" for ill in ("flu", "flu", "ulcer")]
    none, least, basic, enhanced = judge_shape(
        "generalized", rows, delta(0), delta(1e-300), beta(0), beta(0, "enhanced")
    )
    # The definition is strict: nothing is below 0.
    assert none.measured == {"delta": 0.0, "groups_failing": 3}
    assert least.holds
    assert basic.holds
    assert basic.measured == {"beta": 0.0, "groups_failing": 0}
    assert enhanced.measured == {"beta": 0.0, "groups_failing": 0}


def test_one_value_alone_gains_nothing() -> None:
    findings = judge_shape(
        "generalized", [("x", ""), ("y", "")], delta(1), beta(0), beta(0, "enhanced")
    )
    assert all(finding.holds for finding in findings)


@pytest.mark.parametrize("slack", [1e-10, 1e-8])
def test_slack_forgives_rounding_of_a_gain_and_nothing_at_a_strict_limit(slack: float) -> None:
    # Group x has hiv at twice the share it has in all records, y at 2/3 of it.
    rows = [("x", "hiv"), ("x", "flu"), *(("y", "flu") for _ in range(5)), ("y", "hiv")]
    disclosure, basic = judge_shape(
        "generalized", rows, delta(math.log(2) * (1 - slack)), beta(1 - slack)
    )
    assert disclosure.measured["delta"] == pytest.approx(math.log(2))
    assert basic.measured["beta"] == 1.0
    assert disclosure.holds is False
    assert basic.holds == (slack < 1e-9)


HUGE = 10**400
HOSTILE: Sequence[tuple[dict[str, Any], str]] = [
    (delta(None), "'delta' must be a number"),
    (delta("1"), "'delta' must be a number"),
    (delta(True), "'delta' must be a number"),
    (delta([1]), "'delta' must be a number"),
    (delta({"delta": 1}), "'delta' must be a number"),
    (delta(-1), "'delta' must be a number from 0 up"),
    (delta(HUGE), "'delta' must be a number from 0 up to 2^53"),
    (delta(1e308), "'delta' must be a number from 0 up to 2^53"),
    (delta(1, "nose"), "no column 'nose' is published"),
    (delta(1, ["ill"]), "must name a column"),
    (delta(1, None), "must name a column"),
    (beta(None), "'beta' must be a number"),
    (beta("1"), "'beta' must be a number"),
    (beta([[1]]), "'beta' must be a number"),
    (beta(-0.5), "'beta' must be a number from 0 up"),
    (beta(HUGE), "'beta' must be a number from 0 up to 2^53"),
    (beta(1, None), "'kind' must be one of basic, enhanced"),
    (beta(1, ["basic"]), "'kind' must be one of basic, enhanced"),
    (beta(1, {}), "'kind' must be one of basic, enhanced"),
    (beta(1, "Basic"), "'kind' must be one of basic, enhanced"),
    (beta(1, "basic", {"ill": 1}), "must name a column"),
    ({"model": "beta-likeness", "parameters": {}}, "'beta' must be a number"),
    ({"model": "delta-disclosure", "parameters": {}}, "'delta' must be a number"),
]


@pytest.mark.parametrize(("broken", "reason"), HOSTILE)
def test_a_promise_that_makes_no_sense_fails_alone(broken: dict[str, Any], reason: str) -> None:
    rows = [("x", "flu"), ("x", "ulcer")]
    good, bad = judge_shape("generalized", rows, beta(1), broken)
    assert good.holds
    assert not bad.holds
    assert bad.detail.startswith("cannot judge this model: ")
    assert reason in bad.detail
    assert bad.measured == {}


@pytest.mark.parametrize(
    "values",
    [
        [],
        [("0", "flu", "0"), ("0", "ulcer", "-2")],
        [("0", "flu", "x"), ("1", "flu", "1")],
        [("0", "flu", str(2**62)), ("0", "ulcer", str(2**62))],
    ],
)
def test_tables_that_do_not_fit_are_judged_without_a_crash(
    values: list[tuple[str, ...]], tmp_path: Path
) -> None:
    rows = [("x", "flu"), ("x", "ulcer"), ("y", "flu"), ("y", "ulcer")]
    promises = [delta(1), beta(1), beta(1, "enhanced")]
    verdict = verify(make_shape(tmp_path / "r", "anatomy", rows, promises, values=values))
    # Counts that are no numbers are not even read.
    assert {"tables fit together", "data can be read"} & {each.promise for each in verdict.broken}
    assert all("cannot judge this model" in each.detail for each in verdict.findings[-3:])
