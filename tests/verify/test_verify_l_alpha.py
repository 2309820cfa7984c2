"""The judge of (l, alpha)-diversity against its definitions, and against the model that asks it."""

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
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import incrowd
from incrowd.errors import ParameterError, PrivacyError
from incrowd.privacy import LAlphaDiversity
from incrowd.verify import verify
from incrowd.verify.counting.groups import UnjudgeableError
from incrowd.verify.models.l_alpha_diversity import category_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incrowd.verify import Finding

TABLE_4 = [["HIV", "Cancer"], ["Phthisis", "Hepatitis"], ["Obesity", "Asthma"], ["Flu", "Indig"]]
VALUES = ("", "flu", "a,b", "*", "NA")
rows_made = st.lists(
    st.tuples(st.sampled_from(("[30-60)", "{a|b}", "*")), st.sampled_from(VALUES)),
    min_size=1,
    max_size=24,
)
partitions = st.tuples(st.integers(2, 4), st.tuples(*(st.integers(0, 3) for _ in VALUES))).map(
    lambda made: [
        [value for value, place in zip(VALUES, made[1], strict=True) if place % made[0] == at]
        for at in range(made[0])
    ]
)
"""Categories of all values, some of them empty."""
weightings = st.sampled_from(("uniform", {"sensitivity": 1}, {"sensitivity": 2.0}))
kinds = st.sampled_from(
    [
        *({"kind": "distinct", "l": l, "c": None} for l in (1, 2, 3)),  # noqa: E741
        *({"kind": "entropy", "l": l, "c": None} for l in (1, 1.5, 2, 3)),  # noqa: E741
        *({"kind": "recursive", "l": l, "c": c} for l in (1, 2, 3) for c in (0.5, 1.0, 3.0)),  # noqa: E741
    ]
)
alphas = st.sampled_from((0, 0.5, 1, 1.5, 2, 4.0))


def promise(**changed: object) -> dict[str, Any]:
    parameters = {
        "l": 2,
        "kind": "distinct",
        "c": None,
        "sensitive": "ill",
        "alpha": 1,
        "categories": [["flu"], ["ulcer"]],
        "weights": "uniform",
    }
    return {"model": "l-alpha-diversity", "parameters": parameters | changed}


def exact_weights(categories: int, weights: Any) -> list[Fraction]:
    """Definition 3: each increment is to the one before as its w is to the w before."""
    beta = 0 if weights == "uniform" else int(weights["sensitivity"])
    increments = [Fraction(1)]
    for i in range(3, categories + 1):
        increments.append(increments[-1] * Fraction(i - 2, i - 1) ** beta)
    found = [Fraction(0)]
    for each in increments:
        found.append(found[-1] + each)
    return [each / found[-1] for each in found]


def reference(groups: list[Counter[str]], asked: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """What must be measured, and how many groups must fail, one definition after the other."""
    places = {text: at for at, texts in enumerate(asked["categories"]) for text in texts}
    weights = exact_weights(len(asked["categories"]), asked["weights"])
    least, kind = asked["l"], asked["kind"]
    totals: list[Any] = []
    reached: list[Any] = []
    failing = 0
    for group in groups:
        counts = Counter(places[value] for value in group.elements())
        totals.append(sum(weights[place] * n for place, n in counts.items()))
        sizes = sorted(counts.values(), reverse=True)
        tail = sum(sizes[int(least) - 1 :])
        if kind == "distinct":
            reached.append(len(group))
            fails = False
        elif kind == "entropy":
            shares = [n / group.total() for n in sizes]
            reached.append(math.exp(-sum(share * math.log(share) for share in shares)))
            fails = reached[-1] < least - 1e-9
        else:
            reached.append(Fraction(sizes[0], tail) if tail else math.inf)
            fails = not sizes[0] < Fraction(asked["c"]) * tail
        failing += fails or len(group) < least or totals[-1] < asked["alpha"]
    if kind == "recursive":
        needed = max(reached)
        return {"c": None if needed == math.inf else needed, "alpha": min(totals)}, failing
    return {"l": min(reached), "alpha": min(totals)}, failing


def expect(finding: Finding, measured: dict[str, Any], failing: int) -> None:
    assert finding.measured.keys() == {*measured, "groups_failing"}
    for name, value in measured.items():
        found: Any = finding.measured[name]
        assert (found is None) == (value is None), name
        assert value is None or math.isclose(found, value, rel_tol=1e-11, abs_tol=1e-11), name
    assert finding.measured["groups_failing"] == failing
    assert finding.holds == (failing == 0)


@settings(max_examples=25)
@given(
    rows=rows_made,
    shape=st.sampled_from(SHAPES),
    asked=st.lists(st.tuples(kinds, alphas, partitions, weightings), min_size=1, max_size=4),
)
def test_every_kind_agrees_with_its_definition_in_every_shape(
    rows: Rows, shape: str, asked: list[tuple[dict[str, Any], float, list[list[str]], Any]]
) -> None:
    promises = [
        promise(**kind, alpha=alpha, categories=parts, weights=weights)
        for kind, alpha, parts, weights in asked
    ]
    groups = groups_by_label(rows)
    for finding, made in zip(judge_shape(shape, rows, *promises), promises, strict=True):
        expect(finding, *reference(groups, made["parameters"]))


@settings(max_examples=25)
@given(rows=rows_made, kind=kinds, alpha=alphas, parts=partitions, weights=weightings)
def test_the_model_measures_the_same_in_good_groups_and_bad(
    rows: Rows, kind: dict[str, Any], alpha: float, parts: list[list[str]], weights: Any
) -> None:
    asked = {**kind, "alpha": alpha, "categories": parts, "weights": weights}
    (finding,) = judge_shape("generalized", rows, promise(**asked))
    frame = pl.DataFrame(
        [(q, ill or None) for q, ill in rows], schema=["q", "ill"], orient="row"
    ).cast(pl.String)
    model = LAlphaDiversity(sensitive="ill", **asked)
    if kind["kind"] != "distinct" and kind["l"] > len(parts):
        # The model refuses what no group can reach; the judge sees that none does.
        assert finding.measured["groups_failing"] == len(groups_by_label(rows))
        with pytest.raises(ParameterError, match="categories"):
            model.check(frame, quasi=["q"])
        return
    found = model.check(frame, quasi=["q"])
    numbers = {n: None if v in (None, math.inf) else v for n, v in found.numbers.items()}
    expect(finding, numbers, found.failing)
    assert finding.holds == found.holds


tables = st.lists(
    st.fixed_dictionaries(
        {
            "age": st.integers(20, 60).map(str),
            "sex": st.sampled_from(("F", "M", None)),
            "ill": st.sampled_from([value or None for value in VALUES]),
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
@given(
    rows=tables,
    shape=st.sampled_from(SHAPES),
    kind=kinds,
    alpha=alphas,
    parts=partitions,
    weights=weightings,
)
def test_releases_hold_and_measure_what_the_model_measures(
    rows: list[dict[str, Any]],
    shape: str,
    kind: dict[str, Any],
    alpha: float,
    parts: list[list[str]],
    weights: Any,
) -> None:
    assume(alpha or kind["l"] > 1)  # else nothing is promised, which is refused
    asked = {**kind, "alpha": alpha, "sensitive": "ill", "categories": parts, "weights": weights}
    policy = {
        "attributes": {"age": "quasi", "sex": "quasi", "ill": "sensitive"},
        "privacy": [{"l-alpha-diversity": asked}],
        "publish": shape,
        "method": "mondrian",
    }
    frame = pl.DataFrame(rows, schema=dict.fromkeys(("age", "sex", "ill"), pl.String))
    try:
        release = incrowd.anonymize(frame, policy)
    except (ParameterError, PrivacyError):
        # Groups only get better when they are merged, so the largest must fail.
        whole = [("*", row["ill"] or "") for row in rows]
        assert judge_shape(shape, whole, promise(**asked))[0].holds is False
        return
    with tempfile.TemporaryDirectory() as folder:
        verdict = release.save(Path(folder) / "release")
    assert verdict.holds
    (measured,) = verdict.measured
    values, quasi = shown_values(release)
    found = LAlphaDiversity(**asked).check(values, quasi=quasi)
    expected = {**found.numbers, "groups_failing": 0}
    assert found.failing == 0
    assert measured.keys() == expected.keys()
    for name, value in expected.items():
        assert measured[name] == pytest.approx(value, rel=1e-11)


def test_weights_of_the_paper() -> None:
    def weights(given: Any, categories: int) -> list[float]:
        return category_weights({"weights": given}, categories)

    assert weights("uniform", 4) == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert weights({"sensitivity": 2}, 4) == pytest.approx([0, 36 / 49, 45 / 49, 1])
    assert weights({"sensitivity": 2}, 2) == weights("uniform", 2) == [0, 1]
    assert weights({"sensitivity": 2.0**53}, 4) == [0, 1, 1, 1]
    assert weights("uniform", 1) == weights({"sensitivity": 3}, 1) == [0]
    with pytest.raises(UnjudgeableError):
        weights(None, 4)


def test_groups_of_the_paper() -> None:
    # Section 3: the set {Cancer, Phthisis, Asthma, Flu} weighs 2, by sensitivity 130/49.
    rows = [("*", ill) for ill in ("Cancer", "Phthisis", "Asthma", "Flu")]
    uniform, sensitivity, entropy, recursive = judge_shape(
        "generalized",
        rows,
        promise(l=4, alpha=2, categories=TABLE_4),
        promise(l=4, alpha=3, categories=TABLE_4, weights={"sensitivity": 2}),
        promise(l=4, alpha=2, categories=TABLE_4, kind="entropy"),
        promise(l=4, alpha=2, categories=TABLE_4, kind="recursive", c=1),
    )
    assert uniform.holds
    assert uniform.measured == {"l": 4, "alpha": 2.0, "groups_failing": 0}
    assert not sensitivity.holds
    assert sensitivity.measured["alpha"] == pytest.approx(130 / 49)
    assert entropy.measured == {"l": 4.0, "alpha": 2.0, "groups_failing": 0}
    # r1 = 1 is not below c r4 = 1: the comparison is strict.
    assert recursive.measured == {"c": 1.0, "alpha": 2.0, "groups_failing": 1}


def test_diverse_values_of_one_category_are_told_apart_from_diverse_categories() -> None:
    # The similarity attack: l-diverse groups whose values are all of the most sensitive kind.
    rows = [("x", "HIV"), ("x", "Cancer"), ("y", "HIV"), ("y", "Flu")]
    distinct, light, entropy, recursive = judge_shape(
        "generalized",
        rows,
        promise(alpha=0, categories=TABLE_4),
        promise(alpha=1, categories=TABLE_4),
        promise(alpha=0, categories=TABLE_4, kind="entropy"),
        promise(alpha=0, categories=TABLE_4, kind="recursive", c=9),
    )
    assert distinct.holds
    assert distinct.measured == {"l": 2, "alpha": 0.0, "groups_failing": 0}
    assert light.measured["groups_failing"] == 1
    assert light.detail == (
        "the least diverse group has 2 different values of 'ill', promised at least 2; the records"
        " of the lightest group weigh 0, promised at least 1 (1 of 2 groups fails)"
    )
    assert entropy.measured == {"l": 1.0, "alpha": 0.0, "groups_failing": 1}
    assert recursive.measured == {"c": None, "alpha": 0.0, "groups_failing": 1}
    assert "so no c is enough" in recursive.detail


def test_an_empty_category_keeps_its_place_and_one_category_weighs_nothing() -> None:
    rows = [("x", "flu"), ("x", "ulcer")]
    three, first, one = judge_shape(
        "generalized",
        rows,
        promise(categories=[["flu"], ["ulcer"], []], alpha=0.5),
        promise(categories=[[], ["flu"], ["ulcer"]]),
        promise(categories=[["flu", "ulcer"]], alpha=0),
    )
    assert three.holds
    assert three.measured["alpha"] == 0.5
    assert first.measured["alpha"] == 1.5
    assert one.holds
    assert one.measured["alpha"] == 0


@pytest.mark.parametrize("slack", [1e-10, 1e-8])
def test_slack_forgives_rounding_and_no_more(slack: float) -> None:
    rows = [("x", "flu"), ("x", "ulcer"), ("x", "ulcer")]
    weight, entropy = judge_shape(
        "generalized",
        rows,
        promise(alpha=2 + slack),
        promise(kind="entropy", l=math.exp(math.log(3) - 2 * math.log(2) / 3) + slack),
    )
    assert weight.holds == entropy.holds == (slack < 1e-9)


HOSTILE: Sequence[tuple[dict[str, Any], str]] = [
    ({"l": 0}, "'l' must be a number from 1 up"),
    ({"l": 10**400}, "'l' must be a number from 1 up"),
    ({"l": 2.5}, "'l' must be a whole number"),
    ({"l": "2"}, "'l' must be a number"),
    ({"l": [2]}, "'l' must be a number"),
    ({"l": 0.5, "kind": "entropy"}, "'l' must be a number from 1 up"),
    ({"l": True, "kind": "entropy"}, "'l' must be a number"),
    ({"kind": "frequency"}, "'kind' must be one of distinct, entropy, recursive"),
    ({"kind": ["distinct"]}, "'kind' must be one of"),
    ({"kind": None}, "'kind' must be one of"),
    ({"kind": "recursive"}, "'c' must be a number"),
    ({"kind": "recursive", "c": -1}, "'c' must be a number from 0 up"),
    ({"kind": "recursive", "c": 1e308}, "'c' must be a number from 0 up to 2^53"),
    ({"alpha": -0.5}, "'alpha' must be a number from 0 up"),
    ({"alpha": None}, "'alpha' must be a number"),
    ({"alpha": {}}, "'alpha' must be a number"),
    ({"alpha": 1e300}, "'alpha' must be a number from 0 up"),
    ({"sensitive": "nose"}, "no column 'nose' is published"),
    ({"sensitive": ["ill"]}, "must name a column"),
    ({"categories": None}, "'categories' must be a list of lists"),
    ({"categories": []}, "'categories' must be a list of lists"),
    ({"categories": [[], []]}, "'categories' lack 2 published values"),
    ({"categories": {"flu": 1}}, "'categories' must be a list of lists"),
    ({"categories": ["flu", "ulcer"]}, "'categories' must be a list of lists"),
    ({"categories": [["flu"], "ulcer"]}, "'categories' must be a list of lists"),
    ({"categories": [["flu"], [["ulcer"]]]}, "'categories' must be a list of lists"),
    ({"categories": [["flu"], ["ulcer", 3]]}, "'categories' must be a list of lists"),
    ({"categories": [["flu"], [None, "ulcer"]]}, "'categories' must be a list of lists"),
    ({"categories": [["flu"], []]}, "'categories' lack 1 published value"),
    ({"categories": [["flu"], ["ulcer", "flu"]]}, "list one value twice"),
    ({"categories": [["flu", "flu"], ["ulcer"]]}, "list one value twice"),
    ({"categories": [["flu"], ["ulcer\0"]]}, "'categories' lack 1 published value"),
    ({"weights": None}, "'weights' must be 'uniform'"),
    ({"weights": "sensitivity"}, "'weights' must be 'uniform'"),
    ({"weights": ["uniform"]}, "'weights' must be 'uniform'"),
    ({"weights": {}}, "'weights' must be 'uniform'"),
    ({"weights": {"sensitivity": 2, "uniform": 1}}, "'weights' must be 'uniform'"),
    ({"weights": {"sensitivity": "2"}}, "'sensitivity' must be a number"),
    ({"weights": {"sensitivity": [2]}}, "'sensitivity' must be a number"),
    ({"weights": {"sensitivity": 0.5}}, "'sensitivity' must be a number from 1 up"),
    ({"weights": {"sensitivity": -(10**400)}}, "'sensitivity' must be a number from 1 up"),
]


@pytest.mark.parametrize(("changed", "reason"), HOSTILE)
def test_a_promise_that_makes_no_sense_fails_alone(changed: dict[str, Any], reason: str) -> None:
    rows = [("x", "flu"), ("x", "ulcer")]
    good, bad = judge_shape("generalized", rows, promise(), promise(**changed))
    assert good.holds
    assert not bad.holds
    assert bad.detail.startswith("cannot judge this model: ")
    assert reason in bad.detail
    assert "flu" not in bad.detail
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
@pytest.mark.parametrize("kind", ["distinct", "entropy", "recursive"])
def test_tables_that_do_not_fit_are_judged_without_a_crash(
    values: list[tuple[str, ...]], kind: str, tmp_path: Path
) -> None:
    rows = [("x", "flu"), ("x", "ulcer"), ("y", "flu"), ("y", "ulcer")]
    made = make_shape(tmp_path / "r", "anatomy", rows, [promise(kind=kind, c=2)], values=values)
    verdict = verify(made)
    # Counts that are no numbers are not even read.
    assert {"tables fit together", "data can be read"} & {each.promise for each in verdict.broken}
    assert verdict.findings[-1].holds is False
