"""The judges of several sensitive attributes against their definitions, on small releases."""

from __future__ import annotations

import itertools
import random
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from handmade_release import (
    SAID,
    csv_text,
    described,
    in_order,
    make_release,
    read_manifest,
    write_manifest,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.errors import EngineError
from incrowd.verify import Finding, verify
from incrowd.verify.counting import covers
from incrowd.verify.counting.cover_loops import NEVER, GroupRows
from incrowd.verify.models import multi_sensitive

Rows = Sequence[tuple[str, ...]]
FIGURE_1 = [
    ("*", "Heart disease", "Medicine"),
    ("*", "Heart disease", "Surgery"),
    ("*", "Flu", "IV"),
    ("*", "Stomach disease", "IV"),
]
TRIANGLE = [("*", "a", "x", "1"), ("*", "a", "y", "2"), ("*", "b", "y", "1")]
"""Any two of these rows share a value, yet no value is in all: it takes two deletions."""
FIGURE_4 = [("*", f"D{number}", f"T{(number + 1) // 2}") for number in range(1, 7)]


def named(rows: Rows) -> list[str]:
    return [f"s{at}" for at in range(len(rows[0]) - 1)]


def judge(rows: Rows, *promises: dict[str, Any]) -> list[Finding]:
    """The findings on a release whose first column is the quasi-identifier, the rest sensitive."""
    with tempfile.TemporaryDirectory() as folder:
        made = make_release(
            Path(folder) / "release",
            ["q", *named(rows)],
            rows,
            quasi=["q"],
            sensitive=named(rows),
            promises=promises,
        )
        verdict = verify(made)
    others = verdict.findings[: -len(promises)]
    assert all(finding.holds for finding in others if finding.promise != SAID), others
    return list(verdict.findings[-len(promises) :])


def promise(model: str, **parameters: object) -> dict[str, Any]:
    return {"model": model, "parameters": parameters}


def multi(sensitive: object, k: object = 1, least: object = 1, **more: object) -> dict[str, Any]:
    return promise("multi-sensitive", k=k, l=least, sensitive=sensitive, **more)


def exponential(sensitive: object, least: object = 1) -> dict[str, Any]:
    return promise("exponential-l", l=least, sensitive=sensitive)


def in_groups(rows: Rows) -> list[list[tuple[str, ...]]]:
    found: dict[str, list[tuple[str, ...]]] = {}
    for label, *cells in rows:
        found.setdefault(label, []).append(tuple(cells))
    return list(found.values())


def by_definition(
    group: Sequence[tuple[Any, ...]], attributes: Iterable[int], limits: Mapping[int, int]
) -> int | None:
    """The fewest values that delete all rows, trying every set of values, the smaller first."""
    attributes = [*attributes]
    values = sorted({(at, row[at]) for row in group for at in attributes})
    for size in range(1, len(values) + 1):
        for deleted in itertools.combinations(values, size):
            if any(sum(at == a for at, _ in deleted) > most for a, most in limits.items()):
                continue
            if all(any((at, row[at]) in deleted for at in attributes) for row in group):
                return size
    return None


def agreeing(group: Sequence[tuple[str, ...]], attributes: Sequence[int]) -> int:
    """The fewest values of an attribute among rows that agree on all other attributes."""
    return min(
        len({r[at] for r in group if all(r[a] == row[a] for a in attributes if a != at)})
        for row in group
        for at in attributes
    )


cells = st.sampled_from(("", "a", "b", "NA"))
tables = st.integers(1, 3).flatmap(
    lambda width: st.lists(
        st.tuples(st.sampled_from(("", "[1-3)")), *(cells for _ in range(width))),
        min_size=1,
        max_size=14,
    )
)


@settings(max_examples=40)
@given(rows=tables, k=st.integers(1, 4), least=st.integers(1, 4), data=st.data())
def test_releases_agree_with_their_definitions(
    rows: Rows, k: int, least: int, data: st.DataObject
) -> None:
    names = named(rows)
    chosen = data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    limits = data.draw(st.dictionaries(st.sampled_from(chosen), st.integers(0, 3)))
    whole, part, each = judge(
        rows,
        multi(names, k, least),
        multi(chosen, k, least, limits=limits, check="greedy"),
        exponential(chosen, least),
    )
    groups = in_groups(rows)
    sizes = [len(group) for group in groups]
    places = [names.index(name) for name in chosen]
    within = {names.index(name): most for name, most in limits.items()}
    for finding, fewest in (
        (whole, [by_definition(group, range(len(names)), {}) for group in groups]),
        (part, [by_definition(group, places, within) for group in groups]),
    ):
        finite = [number for number in fewest if number is not None]
        failing = sum(
            size < k or (number is not None and number < least)
            for size, number in zip(sizes, fewest, strict=True)
        )
        measured = {"k": min(sizes), "l": min(finite, default=None), "groups_failing": failing}
        assert finding.measured == measured
        assert finding.holds == (not failing)
    different = [agreeing(group, places) for group in groups]
    failing = sum(number < least for number in different)
    assert each.measured == {"l": min(different), "groups_failing": failing}
    assert each.holds == (not failing)


def random_cells(seed: int) -> GroupRows:
    """Up to 12 groups of up to 16 rows: skewed or not, with limits or without, rows repeated."""
    draw = random.Random(seed)
    attributes = draw.randint(1, 4)
    many = [draw.randint(1, 4) for _ in range(attributes)]
    sizes = [draw.randint(1, 16) for _ in range(draw.randint(1, 12))]
    rows = [
        [
            sum(many[:at]) + min(draw.randrange(most), draw.randrange(6))
            for at, most in enumerate(many)
        ]
        for _ in range(sum(sizes))
    ]
    limits = [draw.choice((0, 1, 2, 3, NEVER)) for _ in many]
    if seed % 3 == 0:
        limits = [NEVER] * attributes
    return GroupRows(
        np.array(rows, np.int32),
        np.cumsum([0, *sizes]).astype(np.int64),
        np.array(limits, np.int64),
        sum(many),
    )


@pytest.mark.parametrize("steps", [None, 1, 3, 0])
@pytest.mark.parametrize("seed", range(60))
def test_search_and_solver_agree_with_brute_force(seed: int, steps: int | None) -> None:
    made = random_cells(seed)
    bounds = zip(made.starts[:-1], made.starts[1:], strict=True)
    groups = [[tuple(row) for row in made.values[a:b].tolist()] for a, b in bounds]
    limits = {at: most for at, most in enumerate(made.limits.tolist()) if most < NEVER}
    exact = [by_definition(group, range(made.values.shape[1]), limits) for group in groups]
    numbers = [NEVER if number is None else number for number in exact]
    for wanted in (1, 2, 3, 5, 2**53):
        found = covers.fewest_deletions(made, wanted, steps=steps).tolist()
        assert min(found) == min(numbers)
        assert [each < wanted for each in found] == [each < wanted for each in numbers]
        assert all(a >= b for a, b in zip(found, numbers, strict=True))
    known = covers.fewest_deletions(made, 2, 1, steps).tolist()
    assert [each < 2 for each in known] == [each < 2 for each in numbers]


@pytest.mark.parametrize("limits", [None, (6, 3, 4, 5)])
def test_search_and_solver_agree_where_bounds_leave_a_gap(
    limits: tuple[int, ...] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Groups of 90 rows, more than a machine word has bits, one by one so that each is exact."""
    solved: list[int] = []
    solve = covers._solve

    def noted(*arguments: Any) -> int:
        solved.append(solve(*arguments))
        return solved[-1]

    monkeypatch.setattr(covers, "_solve", noted)
    draw = np.random.default_rng(7)
    gaps = 0
    for _ in range(12):
        values = np.stack([9 * at + draw.integers(0, 9, 90) ** 2 // 9 for at in range(4)], axis=1)
        made = GroupRows(
            values.astype(np.int32),
            np.array([0, 90], np.int64),
            np.array(limits or [NEVER] * 4, np.int64),
            36,
        )
        by_search = covers.fewest_deletions(made, 1, steps=10**9)
        assert len(solved) == gaps
        by_solver = covers.fewest_deletions(made, 1, steps=0)
        assert by_search.tolist() == by_solver.tolist()
        gaps = len(solved)
    assert gaps > 6


def test_the_solver_is_used_where_the_search_may_not_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(covers, "SEARCHED_STEPS", 0)
    (found,) = judge(TRIANGLE, multi(named(TRIANGLE), 3, 2))
    assert found.measured == {"k": 3, "l": 2, "groups_failing": 0}
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(EngineError, match="Install incrowd with its dependencies"):
        judge(TRIANGLE, multi(named(TRIANGLE), 3, 2))
    monkeypatch.setattr(covers, "SEARCHED_STEPS", 1000)
    (found,) = judge(TRIANGLE, multi(named(TRIANGLE), 3, 2))
    assert found.measured == {"k": 3, "l": 2, "groups_failing": 0}


def test_figure_1_of_the_paper() -> None:
    both, disease, treatment, three = judge(
        FIGURE_1,
        multi(["s0", "s1"], 4, 2),
        multi(["s0"], 4, 3),
        multi(["s1"], 4, 3, limits={}),
        multi(["s0", "s1"], 4, 3),
    )
    assert both.holds
    assert both.measured == {"k": 4, "l": 2, "groups_failing": 0}
    assert both.detail == (
        "the smallest group has 4 records, promised at least 4, and 2 values of 's0', 's1' must be"
        " deleted to empty the least diverse one, promised at least 2"
    )
    assert disease.measured == treatment.measured == {"k": 4, "l": 3, "groups_failing": 0}
    assert not three.holds
    assert three.measured == {"k": 4, "l": 2, "groups_failing": 1}
    assert three.detail.endswith("promised at least 3 (1 of 1 group fails)")


def test_figure_4_of_the_paper() -> None:
    free, limited, five, never = judge(
        FIGURE_4,
        multi(["s0", "s1"], 6, 3),
        multi(["s0", "s1"], 6, 4, limits={"s0": 4, "s1": 2}),
        multi(["s0", "s1"], 6, 5, limits={"s0": 4, "s1": 2}),
        multi(["s0", "s1"], 6, 100, limits={"s0": 1, "s1": 2}),
    )
    assert free.measured == {"k": 6, "l": 3, "groups_failing": 0}
    assert limited.measured == {"k": 6, "l": 4, "groups_failing": 0}
    assert not five.holds
    assert five.measured == {"k": 6, "l": 4, "groups_failing": 1}
    assert never.holds
    assert never.measured == {"k": 6, "l": None, "groups_failing": 0}
    assert "no group can be emptied within the limits on 's0', 's1'" in never.detail


def test_every_pair_of_values_is_exponentially_diverse() -> None:
    rows = [("*", a, b) for a in "abc" for b in ("", "y")]
    both, first, missing = judge(
        rows, exponential(["s0", "s1"], 2), exponential(["s0"], 3), exponential(["s1", "s0"], 3)
    )
    assert both.measured == {"l": 2, "groups_failing": 0}
    assert both.detail == (
        "the least diverse group has 2 different values of one of 's0', 's1' among records that"
        " agree on the others, promised at least 2"
    )
    assert first.measured == {"l": 3, "groups_failing": 0}
    assert first.detail == (
        "the least diverse group has 3 different values of 's0', promised at least 3"
    )
    assert missing.measured == {"l": 2, "groups_failing": 1}
    (figure,) = judge(FIGURE_1, exponential(["s0", "s1"], 2))
    assert figure.measured == {"l": 1, "groups_failing": 1}


def test_equal_texts_of_different_attributes_are_different_values() -> None:
    rows = [("*", "x", "y"), ("*", "y", "x"), ("*", "", "z"), ("*", "z", "")]
    (found,) = judge(rows, multi(["s0", "s1"], 4, 4))
    assert found.measured == {"k": 4, "l": 4, "groups_failing": 0}


def test_a_quasi_identifier_may_be_listed_too() -> None:
    found, each = judge(FIGURE_1, multi(["q", "s0"], 4, 1), exponential(["q", "s0"], 1))
    assert found.measured == {"k": 4, "l": 1, "groups_failing": 0}
    assert each.measured == {"l": 1, "groups_failing": 0}


def test_all_groups_count_however_many_are_held_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(3)
    rows = [(str(draw.randrange(30)), draw.choice("abcd"), draw.choice("xyz")) for _ in range(300)]
    promises = [multi(["s0", "s1"], 8, 3), multi(["s1", "s0"], 1, 4, limits={"s1": 2})]
    at_once = judge(rows, *promises)
    failing = at_once[0].measured["groups_failing"]
    assert failing is not None
    assert 0 < failing < 30
    for many in (1, 25):
        monkeypatch.setattr(multi_sensitive, "ROWS_AT_ONCE", many)
        monkeypatch.setattr(covers, "ROWS_AT_ONCE", many)
        assert judge(rows, *promises) == at_once


def test_a_release_changed_by_a_forger_fails(tmp_path: Path) -> None:
    columns = ("q", "s0", "s1")
    title = "multi-sensitive (k=6, l=4)"

    def forge(rows: Rows, stated: int | None) -> set[str]:
        (made / "data.csv").write_bytes(csv_text(columns, in_order(rows)))
        manifest = read_manifest(made)
        manifest["files"]["data.csv"] |= described(made / "data.csv")
        manifest["measured"] = [{"k": 6, "l": stated, "groups_failing": 0}]
        write_manifest(made, manifest)
        return {each.promise for each in verify(made).findings if not each.holds}

    promised = multi(["s0", "s1"], 6, 4, limits={"s1": 2})
    made = make_release(
        tmp_path, columns, FIGURE_4, quasi=["q"], sensitive=columns[1:], promises=[promised]
    )
    stated = "measurements are the stated ones"
    assert forge(FIGURE_4, 4) == set()
    assert forge(FIGURE_4, 5) == {stated}
    assert forge(FIGURE_4, None) == {stated}
    assert forge([*FIGURE_4[:-1], ("*", "D5", "T3")], 3) == {title, stated}
    assert forge([*FIGURE_4[:-1], ("+", "D6", "T3")], 4) == {title, stated}


BOTH = ["s0", "s1"]


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (promise("multi-sensitive"), "'k' must be a number"),
        (promise("multi-sensitive", k=2), "'l' must be a number"),
        (promise("multi-sensitive", k=2, l=2), "'sensitive' must be a list of columns"),
        (multi(BOTH, 0), "'k' must be a number from 1"),
        (multi(BOTH, 1.5), "'k' must be a whole number"),
        (multi(BOTH, True), "'k' must be a number"),
        (multi(BOTH, 1, 0), "'l' must be a number from 1"),
        (multi(BOTH, 1, 10**400), "'l' must be a number from 1"),
        (multi(BOTH, 1, "2"), "'l' must be a number"),
        (multi("s0"), "'sensitive' must be a list of columns"),
        (multi([]), "'sensitive' must be a list of columns"),
        (multi([["s0"]]), "'sensitive' must be a list of columns"),
        (multi(["s0", 1]), "'sensitive' must be a list of columns"),
        (multi(["s0", "s0"]), "'sensitive' names one column twice"),
        (multi(["s0", "nose"]), "no column 'nose'"),
        (multi(BOTH, limits=[1, 2]), "'limits' must give a number"),
        (multi(BOTH, limits=3), "'limits' must give a number"),
        (multi(BOTH, limits={"nose": 1}), "'limits' names a column that is not in 'sensitive'"),
        (multi(["s0"], limits={"s1": 1}), "'limits' names a column that is not in 'sensitive'"),
        (multi(BOTH, limits={"s0": -1}), "'limits' must be a number from 0"),
        (multi(BOTH, limits={"s0": 0.5}), "'limits' must be a whole number"),
        (multi(BOTH, limits={"s0": None}), "'limits' must be a number"),
        (multi(BOTH, limits={"s0": False}), "'limits' must be a number"),
        (promise("exponential-l", sensitive=BOTH), "'l' must be a number"),
        (promise("exponential-l", l=2), "'sensitive' must be a list of columns"),
        (exponential(BOTH, 0), "'l' must be a number from 1"),
        (exponential("s0"), "'sensitive' must be a list of columns"),
        (exponential(["s1", "s1"]), "'sensitive' names one column twice"),
        (exponential(["nose"]), "no column 'nose'"),
    ],
)
def test_a_promise_that_makes_no_sense_fails_alone(broken: dict[str, Any], reason: str) -> None:
    good, bad = judge(FIGURE_1, multi(BOTH, 4, 2, limits=None), broken)
    assert good.holds
    assert not bad.holds
    assert bad.detail.startswith("cannot judge this model: ")
    assert reason in bad.detail
    assert bad.measured == {}


def test_want_of_memory_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_arguments: object) -> None:
        raise MemoryError

    monkeypatch.setattr(covers, "_bounds", exhausted)
    with pytest.raises(EngineError, match="Not enough memory"):
        judge(FIGURE_1, multi(BOTH, 4, 2))


def test_an_interrupt_ends_search_and_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    import highspy

    waits: list[float] = []
    wait = highspy.Highs.wait

    def interrupted(solver: highspy.Highs, seconds: float) -> Any:
        waits.append(seconds)
        if len(waits) == 1:
            raise KeyboardInterrupt
        return wait(solver, seconds)

    monkeypatch.setattr(highspy.Highs, "wait", interrupted)
    monkeypatch.setattr(covers, "SEARCHED_STEPS", 0)
    with pytest.raises(KeyboardInterrupt):
        judge(TRIANGLE, multi(named(TRIANGLE), 3, 2))
    assert len(waits) == 2

    def interrupted_search(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(covers, "search_groups", interrupted_search)
    with pytest.raises(KeyboardInterrupt):
        judge(TRIANGLE, multi(named(TRIANGLE), 3, 2))
