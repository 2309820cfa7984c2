"""Models over several sensitive attributes against every set of values that may be deleted."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import deletions_reference as reference
import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from deletions_reference import Limits, Row
from hypothesis import example, given, settings
from hypothesis import strategies as st

import incrowd
import incrowd.privacy
from incrowd.errors import InputError, ParameterError, PolicyError
from incrowd.privacy import ExponentialL, LDiversity, Measurement, MultiSensitive
from incrowd.privacy.counting import deletions
from incrowd.privacy.counting.deletion_program import fewest_deletions

IntArray = npt.NDArray[np.int64]
MOST_VALUES = {1: 9, 2: 6, 3: 4, 4: 3}
"""So many values an attribute may have, by the number of attributes: every set can be tried."""
NO_LIMIT = 1 << 40


@dataclass(frozen=True)
class Coded:
    """Groups as the kernels take them: distinct rows, numbered values."""

    offsets: IntArray
    members: IntArray
    counts: IntArray
    values: IntArray
    total: int


def coded(groups: Sequence[Sequence[Row]]) -> Coded:
    everyone = [row for rows in groups for row in rows]
    combinations = reference.in_order(list(set(everyone)))
    cells = [
        reference.in_order([(cell,) for cell in {row[a] for row in everyone}])
        for a in range(len(everyone[0]))
    ]
    numbers = {
        (a, cell): sum(map(len, cells[:a])) + position
        for a, column in enumerate(cells)
        for position, (cell,) in enumerate(column)
    }
    held = [[combinations.index(row) for row in reference.in_order(rows)] for rows in groups]
    entries = [(c, rows.count(c)) for rows in held for c in dict.fromkeys(rows)]
    lengths = [len(set(rows)) for rows in held]
    return Coded(
        np.cumsum([0, *lengths]),
        np.array([c for c, _ in entries], np.int64),
        np.array([count for _, count in entries], np.int64),
        np.array([[numbers[value] for value in enumerate(row)] for row in combinations], np.int64),
        len(numbers),
    )


def limits_of(limits: Limits) -> IntArray:
    return np.array([NO_LIMIT if limit is None else limit for limit in limits], np.int64)


def settled(groups: Coded, needed: int, limits: Limits) -> list[bool]:
    found = deletions.settled(
        groups.offsets, groups.members, groups.values, groups.total, needed, limits_of(limits)
    )
    return list(found.tolist())


def independent(groups: Coded, most: int) -> list[int]:
    found = deletions.independent(
        groups.offsets, groups.members, groups.counts, groups.values, groups.total, most
    )
    return list(found.tolist())


def with_limits(groups: Coded, needed: int, limits: Limits) -> list[int]:
    found = deletions.with_limits(
        groups.offsets,
        groups.members,
        groups.counts,
        groups.values,
        groups.total,
        needed,
        limits_of(limits),
    )
    return list(found.tolist())


# --- random groups, small enough for every set of values


def some_group(draw: random.Random, attributes: int) -> list[Row]:
    """1 to 9 distinct rows, some of them several times, some cells missing."""
    missing: list[str | None] = [None] if draw.random() < 0.4 else []
    cells = [
        [*map(str, range(draw.randint(1, MOST_VALUES[attributes]) - len(missing))), *missing]
        for _ in range(attributes)
    ]
    rows = {tuple(draw.choice(column or [None]) for column in cells)}
    for _ in range(draw.randint(0, 8)):
        rows.add(tuple(draw.choice(column or [None]) for column in cells))
    often = draw.choice((1, 1, 3))
    return [row for row in reference.in_order(list(rows)) for _ in range(draw.randint(1, often))]


def some_limits(draw: random.Random, attributes: int) -> list[int | None]:
    if draw.random() < 0.3:
        return [None] * attributes
    return [draw.choice((None, 0, 1, 2, 3)) for _ in range(attributes)]


def some_groups(draw: random.Random) -> tuple[list[list[Row]], list[int | None]]:
    attributes = draw.randint(1, 4)
    groups = [some_group(draw, attributes) for _ in range(draw.randint(1, 3))]
    return groups, some_limits(draw, attributes)


# --- the kernels


@pytest.mark.parametrize("nodes", [0, 1, 5, 5_000])
def test_exact_is_what_every_set_of_values_shows(
    nodes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search, the integer program (always asked if no node is looked at), and both."""
    monkeypatch.setattr(deletions, "_MOST_NODES", nodes)
    seen = set()
    for seed in range(120 if nodes < 5_000 else 300):
        draw = random.Random(seed)
        groups, limits = some_groups(draw)
        truth = [reference.fewest(rows, limits) for rows in groups]
        kernel = coded(groups)
        for needed in range(1, max(each or 0 for each in truth) + 3):
            expected = [each is None or each >= needed for each in truth]
            assert settled(kernel, needed, limits) == expected
        seen.update(truth)
    assert seen >= {None, 1, 2, 3, 4, 5}


def test_the_integer_program_finds_the_fewest() -> None:
    for seed in range(1_000, 1_200):
        (rows, *_), limits = some_groups(random.Random(seed))
        truth = reference.fewest(rows, limits)
        assert fewest_deletions(coded([rows]).values, limits_of(limits)) == truth
        for enough in range(1, 5):
            bounded = fewest_deletions(coded([rows]).values, limits_of(limits), enough)
            if truth is not None and truth < enough:
                assert bounded == truth
            else:
                assert bounded is None or bounded >= enough


def test_one_value_for_each_row_may_be_needed() -> None:
    """No two rows share a value: as many deletions as rows, whatever the order they stand in."""
    rows = np.arange(36, dtype=np.int64).reshape(4, 9).T
    assert fewest_deletions(rows, limits_of([None] * 4)) == 9
    assert fewest_deletions(rows, limits_of([3, 3, 3, 0])) == 9
    assert fewest_deletions(rows, limits_of([3, 3, 2, 0])) is None


def large_group(draw: random.Random) -> tuple[list[Row], list[int | None]]:
    """30 to 60 rows of 3 to 7 attributes with 5 to 30 values, the first ones more often."""
    spans = [draw.randint(5, 30) for _ in range(draw.randint(3, 7))]
    skew = draw.choice((1, 1, 2, 3))
    rows: list[Row] = [
        tuple(f"{int(span * draw.random() ** skew):02}" for span in spans)
        for _ in range(draw.randint(30, 60))
    ]
    limits = [draw.choice((None, None, 1, 2, 4)) for _ in spans]
    return rows, limits if draw.random() < 0.6 else [None] * len(spans)


def test_large_groups_need_what_the_integer_program_alone_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Asked for the fewest deletions and for one more, with any number of nodes searched."""
    program = fewest_deletions
    asked = dict.fromkeys((0, 1, 40, 1_000, 20_000), 0)
    found, sure = set(), 0
    for seed in range(30):
        rows, limits = large_group(random.Random(seed))
        kernel = coded([rows])
        fewest = program(kernel.values, limits_of(limits))
        found.add(fewest)
        for needed in {min(fewest or 10, 10), min(fewest or 9, 9) + 1}:
            expected = fewest is None or fewest >= needed
            for nodes in asked:

                def counted(*parameters: Any, nodes: int = nodes) -> int | None:
                    asked[nodes] += 1
                    return program(*parameters)

                monkeypatch.setattr(deletions, "_MOST_NODES", nodes)
                monkeypatch.setattr(deletions, "fewest_deletions", counted)
                assert settled(kernel, needed, limits) == [expected], (seed, needed, nodes)
            assert with_limits(kernel, needed, limits)[0] < needed or expected
            sure += with_limits(kernel, needed, limits)[0] >= needed
    assert {None, 5, 6, 7, 8, 9, 10} <= found
    assert asked[0] > asked[1] > asked[40] > asked[1_000] == asked[20_000] == 0
    assert 0 < sure < asked[0]


def test_rows_that_share_no_value_are_those_of_figure_6() -> None:
    for seed in range(300):
        groups, _ = some_groups(random.Random(seed))
        kernel = coded(groups)
        for most in range(1, 7):
            expected = [
                len(reference.independent_rows(reference.in_order(rows), most)) for rows in groups
            ]
            assert independent(kernel, most) == expected


@pytest.mark.parametrize("repeated", [False, True])
def test_deletions_proved_under_limits_are_those_of_figure_7(repeated: bool) -> None:
    extended = 0
    for seed in range(400):
        groups, limits = some_groups(random.Random(seed))
        if not repeated:
            groups = [list(dict.fromkeys(rows)) for rows in groups]
        kernel = coded(groups)
        for needed in range(1, 7):
            ordered = [reference.in_order(rows) for rows in groups]
            expected = [reference.proved_with_limits(rows, needed, limits) for rows in ordered]
            assert with_limits(kernel, needed, limits) == expected, (seed, needed)
            extended += sum(
                proved > len(reference.independent_rows(rows, needed))
                for proved, rows in zip(expected, ordered, strict=True)
            )
    assert extended > 100  # theorem 6 adds to what independent rows prove


def test_the_plain_version_takes_the_steps_of_figure_8() -> None:
    """The rows of figure 4, at most 4 diseases and 2 treatments."""
    d1, d2, d3, d4, d5, d6 = rows = [(f"D{i + 1}", f"T{i // 2 + 1}") for i in range(6)]
    steps = list(reference.steps_with_limits(rows, 4, [4, 2]))
    assert [step.proved for step in steps] == [3, 3, 3, 4]
    assert [step.rows for step in steps] == [
        (d1, d3, d5),
        (d1, d3, d5, d2),
        (d1, d3, d5, d2, d4),
        (d1, d3, d5, d2, d4, d6),
    ]
    counts = [sum(n for _, n in reference.most_frequent(s.rows, s.proved, [4, 2])) for s in steps]
    assert counts == [3, 4, 5, 6]


def test_greedy_never_proves_more_than_is_needed() -> None:
    for seed in range(500):
        groups, limits = some_groups(random.Random(seed))
        kernel = coded(groups)
        for rows, free, bound in zip(
            groups, independent(kernel, 10), with_limits(kernel, 10, limits), strict=True
        ):
            assert free <= (reference.fewest(rows, [None] * len(limits)) or 0)
            truth = reference.fewest(rows, limits)
            assert truth is None or bound <= truth, (seed, rows, limits)


def test_all_selectable_values_together_may_delete_all_rows() -> None:
    """Only two values may be deleted, 1 and 2, and they do: theorem 6 must not prove three."""
    rows: list[Row] = [("1", "t"), ("2", "t"), ("2", "t")]
    assert reference.fewest(rows, [None, 0]) == 2
    assert with_limits(coded([rows]), 3, [None, 0]) == [2]
    found = check(MultiSensitive(k=2, l=3, limits={"s1": 0}, **about(2)), [rows])
    assert (found.holds, found.failing, found.numbers["l"]) == (False, 1, 2)


def test_records_alike_are_rows_of_their_own_in_figure_7() -> None:
    """Nothing may be deleted: the second of two records alike is the row that is never deleted."""
    alike: list[Row] = [("1", "t"), ("1", "t")]
    assert with_limits(coded([alike]), 2, [0, 0]) == [2]
    asked: dict[str, Any] = {"k": 2, "l": 2, "limits": {"s0": 0, "s1": 0}, **about(2)}
    for how in ("greedy", "exact"):
        found = check(MultiSensitive(check=how, **asked), [alike])
        assert (found.holds, found.numbers) == (True, {"k": 2})


# --- the models, through check()


def about(attributes: int) -> dict[str, Any]:
    return {"sensitive": [f"s{a}" for a in range(attributes)]}


def named(limits: Limits) -> dict[str, int]:
    return {f"s{a}": limit for a, limit in enumerate(limits) if limit is not None}


def check(model: Any, groups: Sequence[Sequence[Row]]) -> Measurement:
    records = [(str(g), *row) for g, rows in enumerate(groups) for row in rows]
    random.Random(0).shuffle(records)
    names = ["group", *(f"s{a}" for a in range(len(records[0]) - 1))]
    frame = pl.DataFrame(records, schema=dict.fromkeys(names, pl.String), orient="row")
    found = model.check(frame, quasi=["group"])
    assert isinstance(found, Measurement)
    return found


def exact(groups: Sequence[Sequence[Row]], l: int, limits: Limits) -> Measurement:  # noqa: E741
    return check(MultiSensitive(k=2, l=l, limits=named(limits), **about(len(limits))), groups)


@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("how", ["greedy", "exact"])
def test_multi_sensitive_is_its_definition(how: str, part: int) -> None:
    outcomes = set()
    for seed in range(part * 50, (part + 1) * 50):
        draw = random.Random(seed)
        groups, limits = some_groups(draw)
        k, l = draw.randint(2, 4), draw.randint(1, 5)  # noqa: E741
        asked: dict[str, Any] = {"k": k, "l": l, "limits": named(limits), "check": how}
        model = MultiSensitive(**asked, **about(len(limits)))
        judge = reference.is_diverse if how == "exact" else reference.greedy_says_yes
        held = [len(rows) >= k and judge(reference.in_order(rows), l, limits) for rows in groups]
        found = check(model, groups)
        assert (found.holds, found.failing) == (all(held), held.count(False)), (seed, asked)
        truth = [reference.fewest(rows, limits) for rows in groups]
        deletable = [each for each in truth if each is not None]
        smallest = min(map(len, groups))
        expected = {"k": smallest, "l": min(deletable)} if deletable else {"k": smallest}
        assert found.numbers == expected, (seed, asked)
        passed = [rows for rows, holds in zip(groups, held, strict=True) if holds]
        assert all(len(rows) >= model.smallest_group for rows in passed)
        outcomes.add((found.holds, bool(deletable)))
    assert len(outcomes) >= 3


def test_exact_is_more_than_greedy_finds() -> None:
    """Greedy may say no to a group that holds, and never yes to one that does not."""
    more = 0
    for seed in range(300):
        draw = random.Random(seed)
        (rows, *_), limits = some_groups(draw)
        asked: dict[str, Any] = {"k": 2, "l": draw.randint(2, 4), "limits": named(limits)}
        rows = rows * 2
        greedy = check(MultiSensitive(check="greedy", **asked, **about(len(limits))), [rows])
        found = check(MultiSensitive(check="exact", **asked, **about(len(limits))), [rows])
        assert found.holds == reference.is_diverse(rows, asked["l"], limits)
        assert found.holds or not greedy.holds, (seed, rows, asked)
        assert greedy.numbers == found.numbers
        more += found.holds and not greedy.holds
    assert more > 5


cells = st.sampled_from(("a", "b", "c", None))
groups_of = {m: st.lists(st.tuples(*[cells] * m), min_size=2, max_size=9) for m in (1, 2, 3)}
limits_or_none = st.one_of(st.none(), st.integers(0, 3))


@st.composite
def two_groups(draw: st.DrawFn) -> tuple[list[Row], list[Row], list[int | None]]:
    m = draw(st.sampled_from((1, 2, 3)))
    limits = draw(st.lists(limits_or_none, min_size=m, max_size=m))
    return draw(groups_of[m]), draw(groups_of[m]), limits


@settings(max_examples=60)
@given(two_groups(), st.integers(1, 5))
def test_added_rows_never_need_fewer_deletions(
    drawn: tuple[list[Row], list[Row], list[int | None]],
    l: int,  # noqa: E741
) -> None:
    rows, added, limits = drawn
    before, after = exact([rows], l, limits), exact([rows + added], l, limits)
    assert after.holds or not before.holds
    if "l" in after.numbers:
        assert before.numbers["l"] <= after.numbers["l"]
    assert MultiSensitive(k=2, l=l, **about(len(limits))).growing


@settings(max_examples=60)
@given(two_groups(), st.integers(1, 5))
def test_without_limits_implies_with_limits(
    drawn: tuple[list[Row], list[Row], list[int | None]],
    l: int,  # noqa: E741
) -> None:
    """Theorem 2; figure 4 shows that the reverse does not hold."""
    rows, _, limits = drawn
    free, bound = exact([rows], l, [None] * len(limits)), exact([rows], l, limits)
    assert bound.holds or not free.holds
    assert free.numbers["l"] <= bound.numbers.get("l", free.numbers["l"])


@settings(max_examples=40)
@given(st.lists(groups_of[1], min_size=1, max_size=4), st.integers(1, 5))
def test_one_attribute_is_distinct_l_diversity(
    groups: list[list[Row]],
    l: int,  # noqa: E741
) -> None:
    expected = check(LDiversity(l=l, sensitive="s0"), groups)
    asked: dict[str, Any] = {"k": 2, "l": l, "sensitive": "s0"}
    for model in (
        MultiSensitive(**asked),
        MultiSensitive(check="greedy", **asked),
        ExponentialL(l=l, sensitive="s0"),  # type: ignore[arg-type]
    ):
        found = check(model, groups)
        assert (found.holds, found.failing) == (expected.holds, expected.failing)
        assert found.numbers["l"] == expected.numbers["l"]


def test_the_order_of_the_attributes_does_not_matter() -> None:
    for seed in range(60):
        groups, limits = some_groups(random.Random(seed))
        names = about(len(limits))["sensitive"]
        for names_in_turn in (names, names[::-1], names[1:] + names[:1]):
            asked: dict[str, Any] = {"limits": named(limits), "sensitive": names_in_turn}
            assert check(MultiSensitive(k=2, l=3, **asked), groups) == exact(groups, 3, limits)
            found = check(ExponentialL(l=2, sensitive=names_in_turn), groups)
            assert found == check(ExponentialL(l=2, sensitive=names), groups)


# --- exponential l


def test_exponential_l_is_its_definition() -> None:
    reached = set()
    for seed in range(400):
        draw = random.Random(seed)
        groups, _ = some_groups(draw)
        attributes = len(groups[0][0])
        if draw.random() < 0.6:  # whole grids, of which few rows are left out
            groups = [grid(draw, attributes) for _ in groups]
        expected = [reference.fewest_where_others_agree(rows) for rows in groups]
        l = draw.randint(1, 3)  # noqa: E741
        model = ExponentialL(l=l, **about(attributes))
        found = check(model, groups)
        assert found.numbers == {"l": min(expected)}
        assert found.failing == sum(each < l for each in expected)
        assert found.holds == (found.failing == 0)
        passed = [rows for rows, each in zip(groups, expected, strict=True) if each >= l]
        assert all(len(rows) >= model.smallest_group for rows in passed)
        reached.add((attributes, min(expected)))
    assert reached >= {(m, l) for m in (1, 2, 3) for l in (1, 2, 3)} | {(4, 1), (4, 2)}  # noqa: E741


def grid(draw: random.Random, attributes: int) -> list[Row]:
    """All combinations of a few values of each attribute, sometimes without one of them."""
    rows: list[Row] = [()]
    most = 4 if attributes < 4 else 3
    for _ in range(attributes):
        some = draw.sample(["a", "b", "c", "d", None], draw.randint(2, most))
        rows = [(*row, cell) for row in rows for cell in some]
    return draw.sample(rows, len(rows) - draw.choice((0, 0, 1)))


@settings(max_examples=60)
@given(two_groups(), st.integers(0, 2**32))
@example(([("a", "a")], [("b", "b")], [None, None]), 0)
def test_groups_joined_have_as_many_values_where_the_others_agree(
    drawn: tuple[list[Row], list[Row], list[int | None]], seed: int
) -> None:
    one, other, limits = drawn
    draw = random.Random(seed)
    grids = [grid(draw, len(limits)) for _ in range(2)]
    for first, second in ((one, other), (grids[0], grids[1])):
        model = ExponentialL(l=2, **about(len(limits)))
        apart, joined = check(model, [first, second]), check(model, [first + second])
        assert joined.numbers["l"] >= apart.numbers["l"]
        assert joined.holds or not apart.holds


def test_a_row_added_may_agree_with_no_other() -> None:
    """Exponential l is monotone but not growing."""
    model = ExponentialL(l=2, **about(2))
    square: list[Row] = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
    assert check(model, [square]).holds
    assert not check(model, [[*square, ("c", "z")]]).holds
    assert not model.growing
    assert model.monotone


# --- beside other models, in a policy


PEOPLE = pl.DataFrame(
    {
        "age": list(range(24)),
        "stage": list("abc" * 8),
        "drug": list("xxyyzzxyzxyz" * 2),
    }
)


def released(privacy: list[Any], **policy: Any) -> Any:
    attributes = {
        "age": "quasi",
        "stage": {"role": "sensitive", "order": ["c", "a", "b"]},
        "drug": "sensitive",
    }
    return incrowd.anonymize(PEOPLE, {"attributes": attributes, "privacy": privacy, **policy})


@pytest.mark.parametrize(
    "other",
    [
        {"confidence-bounding": {"C": 0.5, "sensitive": "stage", "values": ["a"]}},
        {"t-closeness": {"t": 0.2, "sensitive": "stage", "distance": "ordered"}},
        {"l-diversity": {"l": 3, "sensitive": "stage"}},
    ],
    ids=lambda other: next(iter(other)),
)
@pytest.mark.parametrize(
    "model",
    [
        {"multi-sensitive": {"k": 2, "l": 2, "sensitive": "stage"}},
        {"exponential-l": {"l": 2, "sensitive": ["stage"]}},
        {"multi-sensitive": {"k": 2, "l": 2, "sensitive": ["stage", "drug"]}},
    ],
    ids=["one", "exponential", "two"],
)
def test_other_models_still_see_the_attribute_itself(
    model: dict[str, Any], other: dict[str, Any]
) -> None:
    both = released([model, other])
    assert both.data.equals(released([other, model]).data)
    assert both.data.height == PEOPLE.height
    ((name, parameters),) = other.items()
    judge = incrowd.privacy.MODELS[name](**parameters)
    kinds = {"stage": {"order": ["c", "a", "b"]}}
    assert judge.check(both.data, quasi=["age"], kinds=kinds).holds


@pytest.mark.parametrize("split", ["loss", "median"])
@pytest.mark.parametrize("how", ["greedy", "exact"])
def test_every_group_of_a_release_holds(split: str, how: str) -> None:
    for seed in range(12):
        draw = random.Random(seed)
        rows = [row for _ in range(6) for row in some_group(draw, 2)]
        limits = some_limits(draw, 2)
        frame = pl.DataFrame(
            [(draw.randint(0, 30), draw.randint(0, 3), *row) for row in rows],
            schema={"age": pl.Int64, "home": pl.Int64, "s0": pl.String, "s1": pl.String},
            orient="row",
        )
        asked = {"k": 2, "l": 2, "limits": named(limits), "check": how, **about(2)}
        policy = {
            "attributes": {"age": "quasi", "home": "quasi", "s0": "sensitive", "s1": "sensitive"},
            "privacy": [{"multi-sensitive": asked}],
            "method": {"name": "mondrian", "split": split},
        }
        if not reference.greedy_says_yes(reference.in_order(rows), 2, limits):
            continue
        shown = incrowd.anonymize(frame, policy).data
        assert shown.height == len(rows)
        groups = shown.group_by("age", "home").agg(pl.struct("s0", "s1").alias("rows"))["rows"]
        for group in groups:
            held = [(row["s0"], row["s1"]) for row in group]
            assert len(held) >= 2
            assert reference.is_diverse(held, 2, limits), (seed, held)


def test_a_promise_names_the_check_and_can_be_asked_again() -> None:
    model = MultiSensitive(k=3, l=2, limits={"s1": 1}, check="greedy", **about(2))
    promise = model.promise()
    assert promise == {
        "model": "multi-sensitive",
        "parameters": {
            "k": 3,
            "l": 2,
            "limits": {"s1": 1},
            "check": "greedy",
            "sensitive": ["s0", "s1"],
        },
    }
    assert MultiSensitive(**promise["parameters"]) == model  # type: ignore[arg-type]
    one = MultiSensitive(k=2, l=2, sensitive="s0")  # type: ignore[arg-type]
    assert one.promise()["parameters"] == {
        "k": 2, "l": 2, "limits": {}, "check": "exact", "sensitive": ["s0"],
    }  # fmt: skip


# --- what is refused


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (
            {"limits": {"stag": 1}},
            "limits names 'stag', which is not among the sensitive attributes stage, drug",
        ),
        ({"limits": {"drug": -1}}, "limits.drug must be a whole number of at least 0, got -1"),
        ({"limits": {"drug": 1.5}}, "limits.drug must be a whole number"),
        ({"sensitive": ["stage", "drug", "stage"]}, "list each sensitive attribute once"),
        ({"sensitive": []}, "sensitive must be a list with at least 1 entry"),
        ({"l": 0}, "l must be a whole number of at least 1, got 0"),
        ({"l": 2.5}, "l must be a whole number"),
        ({"k": 1}, "k must be a whole number of at least 2, got 1"),
        ({"check": "fast"}, "check must be one of greedy, exact, got 'fast'"),
        ({"checks": "exact"}, "Did you mean 'check'? Allowed: check, k, l, limits, sensitive."),
    ],
)
def test_mistakes_are_refused_with_what_is_legal(changed: dict[str, Any], told: str) -> None:
    asked: dict[str, Any] = {"k": 2, "l": 2, "sensitive": ["stage", "drug"], **changed}
    with pytest.raises(ParameterError) as caught:
        MultiSensitive(**asked)
    assert str(caught.value).startswith("multi-sensitive: ")
    assert told in str(caught.value)
    with pytest.raises(PolicyError) as caught_in_policy:
        released([{"multi-sensitive": asked}])
    assert told in str(caught_in_policy.value)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"l": 0}, "l must be a whole number of at least 1, got 0"),
        ({"sensitive": ["stage", "stage"]}, "list each sensitive attribute once"),
        ({"sensitive": []}, "sensitive must be a list with at least 1 entry"),
        ({"k": 2}, "unknown key 'k'. Allowed: l, sensitive."),
    ],
)
def test_mistakes_of_exponential_l_are_refused(changed: dict[str, Any], told: str) -> None:
    with pytest.raises(ParameterError) as caught:
        ExponentialL(**{"l": 2, "sensitive": ["stage", "drug"], **changed})
    assert str(caught.value).startswith("exponential-l: ")
    assert told in str(caught.value)


@pytest.mark.parametrize(
    "model",
    [
        MultiSensitive(k=2, l=2, sensitive=["stage", "drugs"]),
        ExponentialL(l=2, sensitive=["stage", "drugs"]),
    ],
    ids=lambda model: model.name,
)
def test_a_sensitive_attribute_must_exist(model: MultiSensitive | ExponentialL) -> None:
    with pytest.raises(ParameterError, match=rf"^{model.name}: .*no sensitive attribute 'stage'"):
        model.bind({}, {})
    with pytest.raises(InputError, match=r"No column 'drugs' in .* Did you mean 'drug'\?"):
        model.check(PEOPLE, quasi=["age"])
    asked = {model.name: model.promise()["parameters"]}
    with pytest.raises(PolicyError, match=f"{model.name} names 'drugs'"):
        released([asked])


def test_threads_change_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(7)
    offsets = np.concatenate(([0], np.cumsum(draw.integers(1, 40, 60))))
    rows = int(offsets[-1])
    values = np.stack([draw.zipf(1.5, rows) % 9 + 9 * a for a in range(3)], axis=1)
    members, counts = np.arange(rows), draw.integers(1, 4, rows)
    limits = np.array([2, 1, 9])

    def answers() -> list[list[int]]:
        return [
            deletions.independent(offsets, members, counts, values, 27, 5).tolist(),
            deletions.with_limits(offsets, members, counts, values, 27, 5, limits).tolist(),
            deletions.settled(offsets, members, values, 27, 4, limits).tolist(),
        ]

    alone = answers()
    monkeypatch.setattr(deletions, "_WORTH_A_THREAD", 1)
    monkeypatch.setattr(deletions, "_WORTH_A_SEARCH", 1)
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    assert answers() == alone
    assert all(len(set(answer)) > 1 for answer in alone)
