"""Each model's SQL judge against its definition, on random small tables."""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import brute_force as brute
import pytest
from handmade_release import SAID, in_order, make_release
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.verify import Finding, verify
from incrowd.verify._stated import title
from incrowd.verify.files.layout import Promise

COLUMNS = ("age", "ill", "sex")
VALUES = ("", "flu", "a,b", "*", "ulcer", "NA")
rows_made = st.lists(
    st.tuples(
        st.sampled_from(("", "[30-60)", "{a|b}")),
        st.sampled_from(VALUES),
        st.sampled_from(("", "F", "M")),
    ),
    min_size=1,
    max_size=30,
)
quarters = st.sampled_from(("0.1", "0.25", "0.5", "0.75", "1"))


def judge(rows: list[tuple[str, str, str]], *promises: dict[str, Any]) -> list[Finding]:
    with tempfile.TemporaryDirectory() as folder:
        made = make_release(
            Path(folder) / "release",
            COLUMNS,
            rows,
            quasi=("age", "sex"),
            sensitive=("ill",),
            promises=promises,
        )
        verdict = verify(made)
    others = verdict.findings[: -len(promises)]
    assert all(finding.holds for finding in others if finding.promise != SAID), others
    assert verdict.measured == tuple(f.measured for f in verdict.findings[-len(promises) :])
    return list(verdict.findings[-len(promises) :])


def promise(model: str, **parameters: object) -> dict[str, Any]:
    return {"model": model, "parameters": parameters}


def on_ill(model: str, **parameters: object) -> dict[str, Any]:
    return promise(model, sensitive="ill", **parameters)


def expect(finding: Finding, measured: dict[str, Any], held: list[bool]) -> None:
    assert finding.measured.keys() == {*measured, "groups_failing"}
    for name, value in measured.items():
        found = finding.measured[name]
        assert (found is None) == (value is None)
        if found is not None:
            assert math.isclose(found, float(value), rel_tol=1e-11, abs_tol=1e-11)
    assert finding.measured["groups_failing"] == held.count(False)
    assert finding.holds == all(held)


@settings(max_examples=25)
@given(rows=rows_made, number=st.integers(1, 5), share=quarters)
def test_sizes_and_shares_agree_with_brute_force(
    rows: list[tuple[str, str, str]], number: int, share: str
) -> None:
    groups = brute.groups_of(rows, (0, 2), 1)
    listed = ["flu", "never", ""]
    k, p_sensitive, alpha_k, alpha_listed, bounding = judge(
        rows,
        promise("k-anonymity", k=number),
        on_ill("p-sensitive", p=2, k=number),
        on_ill("alpha-k", alpha=float(share), k=number, values=None),
        on_ill("alpha-k", alpha=float(share), k=number, values=listed),
        on_ill("confidence-bounding", C=float(share), values=listed),
    )
    smallest = min(group.total() for group in groups)
    large = [group.total() >= number for group in groups]
    expect(k, {"k": smallest}, large)
    expect(
        p_sensitive,
        {"p": min(len(group) for group in groups), "k": smallest},
        [ok and len(group) >= 2 for ok, group in zip(large, groups, strict=True)],
    )
    limit = Fraction(share)
    for finding, values in ((alpha_k, None), (alpha_listed, listed)):
        shares = [brute.largest_share(group, values) for group in groups]
        held = [ok and each <= limit for ok, each in zip(large, shares, strict=True)]
        expect(finding, {"alpha": max(shares), "k": smallest}, held)
    shares = [brute.largest_share(group, listed) for group in groups]
    expect(bounding, {"C": max(shares)}, [each <= limit for each in shares])


@settings(max_examples=25)
@given(
    rows=rows_made,
    number=st.integers(1, 4),
    c=st.sampled_from(("0.5", "1", "1.5", "2", "4")),
)
def test_diversity_agrees_with_brute_force(
    rows: list[tuple[str, str, str]], number: int, c: str
) -> None:
    groups = brute.groups_of(rows, (0, 2), 1)
    distinct, entropy, recursive, frequency = judge(
        rows,
        on_ill("l-diversity", l=number, kind="distinct"),
        on_ill("l-diversity", l=number, kind="entropy"),
        on_ill("l-diversity", l=number, kind="recursive", c=float(c)),
        on_ill("l-diversity", l=number, kind="frequency"),
    )
    different = [len(group) for group in groups]
    expect(distinct, {"l": min(different)}, [each >= number for each in different])
    worth = [brute.entropy_diversity(group) for group in groups]
    expect(entropy, {"l": min(worth)}, [each >= number - 1e-9 for each in worth])
    needed = [brute.recursive_c(group, number) for group in groups]
    finite = [each for each in needed if each is not None]
    expect(
        recursive,
        {
            "l": min(brute.recursive_l(group, Fraction(c)) for group in groups),
            "c": max(finite) if len(finite) == len(needed) else None,
        },
        [brute.recursive_holds(group, number, Fraction(c)) for group in groups],
    )
    shares = [brute.largest_share(group) for group in groups]
    held = [each <= Fraction(1, number) for each in shares]
    expect(frequency, {"l": 1 / max(shares)}, held)


ancestries = st.lists(st.sampled_from(("x", "y")), max_size=3).map(lambda path: [*path, "*"])


@settings(max_examples=30)
@given(
    rows=rows_made,
    order=st.permutations(VALUES),
    paths=st.tuples(*(ancestries for _ in VALUES)),
    share=quarters,
)
def test_distances_agree_with_exact_transport(
    rows: list[tuple[str, str, str]],
    order: list[str],
    paths: tuple[list[str], ...],
    share: str,
) -> None:
    groups = brute.groups_of(rows, (0, 2), 1)
    whole = Counter(row[1] for row in rows)
    order = [value for value in order if value in whole]
    tree = {value: path for value, path in zip(VALUES, paths, strict=True) if value in whole}
    t = float(share)
    equal, ordered, hierarchical = judge(
        rows,
        on_ill("t-closeness", t=t, distance="equal"),
        {**on_ill("t-closeness", t=t, distance="ordered"), "order": order},
        {**on_ill("t-closeness", t=t, distance="hierarchical"), "ancestors": tree},
    )
    variations = [brute.variation(group, whole) for group in groups]
    assert variations == [brute.least_work(g, whole, lambda a, b: int(a != b)) for g in groups]
    ranks = {value: rank for rank, value in enumerate(order)}
    steps = max(len(order) - 1, 1)
    moved = [
        brute.least_work(group, whole, lambda a, b: abs(ranks[a] - ranks[b])) / steps
        for group in groups
    ]
    height = max(len(path) for path in tree.values())
    climbed = [
        brute.least_work(group, whole, lambda a, b: brute.common_height(tree, a, b)) / height
        for group in groups
    ]
    for finding, distances in ((equal, variations), (ordered, moved), (hierarchical, climbed)):
        held = [each <= Fraction(share) for each in distances]
        expect(finding, {"t": max(distances)}, held)


def test_salaries_of_the_t_closeness_paper() -> None:
    # Li, Li, Venkatasubramanian (2007), section 5: {3k,4k,5k} and {6k,8k,11k} out of 3k..11k.
    salaries = ["3", "4", "5", "6", "7", "8", "9", "10", "11"]
    groups = {"a": ("3", "4", "5"), "b": ("6", "8", "11"), "c": ("7", "9", "10")}
    rows = [(label, salary, "") for label, three in groups.items() for salary in three]
    stated = {**on_ill("t-closeness", t=0.2, distance="ordered"), "order": salaries}
    (finding,) = judge(rows, stated)
    assert finding.measured["t"] == 0.375
    only_b = [("b", salary, "") for salary in groups["b"]]
    padded = [("all", salary, "") for salary in salaries * 1000]
    (finding,) = judge([*only_b, *padded], stated)
    assert finding.measured["t"] == pytest.approx(0.167, abs=0.0005)


def test_recursive_diversity_fails_at_the_limit_itself() -> None:
    rows = [("x", value, "") for value in ("flu", "flu", "ulcer")]
    at_limit, above = judge(
        rows,
        on_ill("l-diversity", l=2, kind="recursive", c=2.0),
        on_ill("l-diversity", l=2, kind="recursive", c=2.1),
    )
    assert not at_limit.holds
    assert at_limit.measured == {"l": 1, "c": 2.0, "groups_failing": 1}
    assert above.holds


def test_slack_forgives_rounding_and_no_more() -> None:
    rows = [("x", value, "") for value in ("flu", "ulcer", "NA")]
    third, less = judge(
        rows,
        on_ill("alpha-k", alpha=0.3333333333, k=3, values=None),
        on_ill("alpha-k", alpha=0.33333, k=3, values=None),
    )
    assert third.holds
    assert not less.holds


def test_counts_beyond_32_bits_do_not_overflow() -> None:
    # 3000 records x 1000 values in one group: products pass 2^32 on the way.
    values = [f"{number:04}" for number in range(1000)]
    rows = [("x", value, "") for value in values * 3] + [("y", "0000", "")]
    ancestors = {value: [value[:2], value[:1], "*"] for value in values}
    ordered, tree = judge(
        rows,
        {**on_ill("t-closeness", t=1, distance="ordered"), "order": values},
        {**on_ill("t-closeness", t=1, distance="hierarchical"), "ancestors": ancestors},
    )
    whole = Counter(row[1] for row in rows)
    # One record at the first value: every other record's share moves all its way to it.
    moved = sum(Fraction(whole[v] * rank, len(rows) * 999) for rank, v in enumerate(values))
    assert ordered.measured["t"] == pytest.approx(float(moved), rel=1e-11)
    climbed = sum(
        Fraction(whole[v] * brute.common_height(ancestors, v, "0000"), len(rows) * 3)
        for v in values
    )
    assert tree.measured["t"] == pytest.approx(float(climbed), rel=1e-11)


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (promise("k-anonymity"), "'k' must be a number"),
        (promise("k-anonymity", k="2"), "'k' must be a number"),
        (promise("k-anonymity", k=True), "'k' must be a number"),
        (promise("k-anonymity", k=2.5), "'k' must be a whole number"),
        (promise("k-anonymity", k=0), "'k' must be a number from 1 up"),
        (promise("k-anonymity", k=10**400), "'k' must be a number from 1 up"),
        (promise("k-anomity", k=2), "this version does not know it"),
        (promise("l-diversity", l=2, kind="distinct"), "must name a column"),
        (promise("l-diversity", l=2, kind="distinct", sensitive="nose"), "no column 'nose'"),
        (promise("l-diversity", l=2, kind="distinct", sensitive=["ill"]), "must name a column"),
        (on_ill("l-diversity", l=2), "'kind' must be one of distinct"),
        (on_ill("l-diversity", l=2, kind=[]), "'kind' must be one of distinct"),
        (on_ill("l-diversity", l=2, kind="recursive"), "'c' must be a number"),
        (on_ill("l-diversity", l=0.5, kind="frequency"), "'l' must be a number from 1 up"),
        (on_ill("t-closeness", t=1.5, distance="equal"), "'t' must be a number from 0 to 1"),
        (on_ill("t-closeness", t=0.5, distance={}), "'distance' must be one of equal"),
        (on_ill("t-closeness", t=0.5, distance="ordered"), "'order'"),
        (on_ill("t-closeness", t=0.5, distance="hierarchical"), "'ancestors'"),
        (on_ill("alpha-k", alpha=0.5, k=2, values=[]), "'values' must be a list"),
        (on_ill("alpha-k", alpha=0.5, k=2, values=[3]), "'values' must be a list"),
        (on_ill("confidence-bounding", C=-0.5, values=None), "'C' must be a number from 0 to 1"),
    ],
)
def test_a_promise_that_makes_no_sense_fails_alone(broken: dict[str, Any], reason: str) -> None:
    rows = [("x", "flu", ""), ("x", "ulcer", "")]
    good, bad = judge(rows, promise("k-anonymity", k=2), broken)
    assert good.holds
    assert not bad.holds
    assert bad.detail.startswith("cannot judge this model: ")
    assert reason in bad.detail
    assert bad.measured == {}


@pytest.mark.parametrize(
    ("distance", "extra", "reason"),
    [
        ("ordered", {"order": ["flu"]}, "'order' lacks 1 published value"),
        ("ordered", {"order": ["flu", "ulcer", "x", "y"]}, "2 values that no published record"),
        ("ordered", {"order": ["flu", "flu", "ulcer"]}, "twice"),
        ("ordered", {"order": ["flu", 3]}, "as a list"),
        ("hierarchical", {"ancestors": {"flu": ["*"]}}, "'ancestors' lacks 1 published value"),
        ("hierarchical", {"ancestors": {"flu": ["*"], "ulcer": ["+"]}}, "the same root"),
        ("hierarchical", {"ancestors": {"flu": ["*"], "ulcer": []}}, "the same root"),
        ("hierarchical", {"ancestors": {"flu": [], "ulcer": []}}, "the same root"),
        ("hierarchical", {"ancestors": {"flu": "*", "ulcer": ["*"]}}, "a list of labels"),
        ("hierarchical", {"ancestors": []}, "needs the 'ancestors'"),
    ],
)
def test_a_distance_needs_exactly_the_published_values(
    distance: str, extra: dict[str, Any], reason: str
) -> None:
    rows = [("x", "flu", ""), ("x", "ulcer", "")]
    (bad,) = judge(rows, {**on_ill("t-closeness", t=1, distance=distance), **extra})
    assert not bad.holds
    assert reason in bad.detail
    assert "flu" not in bad.detail


def test_several_sensitive_attributes_are_each_counted(tmp_path: Path) -> None:
    rows = in_order([("x", "flu", "1"), ("x", "flu", "2"), ("y", "flu", "1"), ("y", "hiv", "1")])
    columns = ("age", "ill", "grade")
    promises = [
        promise("l-diversity", l=2, kind="distinct", sensitive="ill"),
        promise("l-diversity", l=1, kind="distinct", sensitive="grade"),
        promise("confidence-bounding", C=0.5, sensitive="grade", values=["2"]),
    ]
    made = make_release(
        tmp_path, columns, rows, quasi=("age",), sensitive=columns[1:], promises=promises
    )
    ill, grade, bounded = verify(made).findings[-3:]
    assert (ill.holds, grade.holds, bounded.holds) == (False, True, True)
    assert ill.detail == (
        "the least diverse group has 1 different value of 'ill', promised at least 2"
        " (1 of 2 groups fails)"
    )
    assert bounded.measured == {"C": 0.5, "groups_failing": 0}


def test_the_title_of_a_promise_tells_how_many_values_it_is_about() -> None:
    parameters = {"C": 0.5, "sensitive": "s", "values": ["a", "b"]}
    told = title(Promise("confidence-bounding", parameters, {}))
    assert told == "confidence-bounding (C=0.5, sensitive=s, for 2 listed values)"
