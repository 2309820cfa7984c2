"""The search for histories: trees, and what it gives back."""

from dataclasses import replace

import numpy as np
import pytest
from histories_reference import any_problem, are_of_the_rows, atoms_of, broken_sets, table, tree

from incrowd.errors import PrivacyError
from incrowd.hierarchies.base import assemble
from incrowd.methods.histories import _board
from incrowd.methods.histories._board import Board
from incrowd.methods.histories._clock import Clock
from incrowd.methods.histories._demands import demands_of
from incrowd.methods.histories._descent import come_back, descend
from incrowd.methods.histories._problem import (
    Facts,
    HowToSearch,
    Power,
    Problem,
    ProtectedValues,
    TreeAxis,
    axis_of,
)
from incrowd.methods.histories._rows import nodes_of, rows_of
from incrowd.methods.histories._search import search
from incrowd.table import Column

WAYS = [
    HowToSearch("local", "precise"),
    HowToSearch("local", "exact"),
    HowToSearch("global", "precise"),
    HowToSearch("global", "exact"),
]
CHEAP = replace(WAYS[0], seconds=0.05)


def column_of(*values: str) -> Column:
    codes = np.arange(len(values), dtype=np.uint8)
    return Column("code", "quasi", "category", codes, values)


def test_an_axis_leaves_out_nodes_that_tell_no_more_than_another() -> None:
    paths = [["A0", "A", "*"], ["A0", "A", "*"], ["B0", "B", "*"], ["C", "C", "*"], ["C", "C", "*"]]
    _, hierarchy = assemble(column_of("a", "b", "c", "d", "e"), "given", paths)
    axis = axis_of(hierarchy)
    labels = [hierarchy.labels[a][b] for a, b in zip(axis.level, axis.number, strict=True)]
    assert labels == ["*", "A0", "c", "C", "a", "b", "d", "e"]
    assert axis.parent.tolist() == [-1, 0, 0, 0, 1, 1, 3, 3]
    assert axis.leaf.tolist() == [4, 5, 2, 6, 7]
    assert axis.loss.tolist() == [1, 0.25, 0, 0.25, 0, 0, 0, 0]


def test_a_value_with_the_text_of_its_parent_is_its_parent() -> None:
    _, hierarchy = assemble(
        column_of("A", "A1", "B"), "given", [["A", "*"], ["A", "*"], ["B", "*"]]
    )
    axis = axis_of(hierarchy)
    labels = [hierarchy.labels[a][b] for a, b in zip(axis.level, axis.number, strict=True)]
    assert labels == ["*", "A", "B", "A1"]
    assert axis.leaf.tolist() == [1, 3, 2]


def test_a_column_with_one_value_keeps_its_root() -> None:
    _, hierarchy = assemble(column_of("a"), "given", [["*"]])
    axis = axis_of(hierarchy)
    assert axis.parent.tolist() == [-1, 0]
    assert axis.leaf.tolist() == [1]


def of_one_table(
    rows: list[tuple[int, int]], codes: int, *powers: Power, width: int = 0
) -> Problem:
    """Rows of (patient, code) under one axis; flat for width 0."""
    patient, code = np.array(rows).T
    axis = tree(np.random.default_rng(3), codes, width)
    facts = Facts(patient, (code,), (axis,), events=True)
    return Problem(int(patient.max()) + 1, (facts,), powers)


@pytest.mark.parametrize("seed", range(40))
def test_all_that_is_shown_is_kept(seed: int) -> None:
    problem = any_problem(np.random.default_rng(seed))
    for way in WAYS:
        nodes = search(problem, replace(way, seconds=0.05))
        assert are_of_the_rows(problem, nodes)
        assert [*broken_sets(problem, nodes)] == [], way


@pytest.mark.parametrize("seed", range(12))
def test_all_is_kept_where_sets_are_counted_by_hashing(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_board, "_MOST_PER_SET", 0)
    monkeypatch.setattr(_board, "_ALWAYS_DENSE", 0)
    problem = any_problem(np.random.default_rng(1000 + seed))
    for way in WAYS:
        nodes = search(problem, replace(way, seconds=0.05))
        assert [*broken_sets(problem, nodes)] == [], way


@pytest.mark.parametrize("seed", range(8))
def test_all_is_kept_after_every_move(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """So a search that is stopped at any time has something to publish."""
    problem = any_problem(np.random.default_rng(2000 + seed))
    rows = rows_of(problem)
    board = Board(rows, demands_of(problem, rows.drawn))
    moves = 0
    move = board.move

    def judged(*args: object) -> int:
        nonlocal moves
        moves += 1
        moved = move(*args)  # type: ignore[arg-type]
        nodes = nodes_of(rows, board.label, board.nodes())
        assert [*broken_sets(problem, nodes)] == []
        listed = [row for each in (*board.rows_at, *board.hidden) for row in each.tolist()]
        assert sorted(listed) == list(range(len(board.label)))
        return moved

    monkeypatch.setattr(board, "move", judged)
    descend(board, Clock())
    come_back(board, Clock())
    assert moves


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_larger_sets_are_kept(way: HowToSearch) -> None:
    rng = np.random.default_rng(7)
    facts = table(rng, 12, 70, (tree(rng, 6),))
    for power in (Power(L=4, K=2), Power(L=5, K=3)):
        problem = Problem(12, (facts,), (power,))
        nodes = search(problem, replace(way, seconds=0.05))
        assert [*broken_sets(problem, nodes)] == []
        assert len({atom for atoms in atoms_of(problem, nodes) for atom in atoms}) > 1


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_codes_that_nobody_could_be_found_by_stay_as_they_are(way: HowToSearch) -> None:
    rows = [(patient, code) for patient in range(6) for code in ((0, 1) if patient < 3 else (2,))]
    problem = of_one_table(rows * 2, 3, Power(L=2, K=3), width=2)
    (nodes,) = search(problem, replace(way, seconds=0.2))
    (facts,) = problem.facts
    assert nodes[:, 0].tolist() == facts.axes[0].leaf[facts.codes[0]].tolist()


def test_hiding_cascades() -> None:
    """Spec 005, case 5: {a, c} is of one patient; whichever goes, what is left must be kept."""
    rows = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 2), (3, 2)]
    problem = of_one_table(rows, 3, Power(L=2, K=2))
    for _ in range(5):
        (nodes,) = search(problem, WAYS[1])
        assert [*broken_sets(problem, [nodes])] == []
        assert (nodes[:4, 0] > 0).all()
        hidden = {row for row in range(7) if nodes[row, 0] <= 0}
        assert hidden in ({5, 6}, {4})


def test_who_of_equal_patients_stays_behind_is_drawn() -> None:
    """Of eight patients with one code two stay with three of its sister, so that five are alike."""
    nothing = np.zeros(5, dtype=np.int64)
    parent, loss = np.array([-1, 0, 0, 1, 1]), np.array([1, 0.5, 0, 0, 0])
    axis = TreeAxis(parent, np.array([3, 4, 2]), loss, nothing, nothing)
    codes = np.repeat([0, 1, 2], (8, 3, 5))
    facts = Facts(np.arange(16), (codes,), (axis,), events=True)
    found = set()
    for _ in range(6):
        (nodes,) = search(Problem(16, (facts,), (Power(L=1, K=5),)))
        assert np.bincount(nodes[:, 0]).tolist() == [0, 5, 5, 6]
        assert (nodes[8:11, 0] == 1).all()
        found.add(tuple(nodes[:8, 0].tolist()))
    assert len(found) > 1


def test_a_value_held_by_too_many_of_a_crowd_hides_the_crowd() -> None:
    rows = [(patient, 0) for patient in range(4)] + [(patient, 1) for patient in range(4, 8)]
    problem = of_one_table(rows, 2, Power(L=1, K=2, C=0.5))
    held = ProtectedValues(np.array([0, 3]), np.array([0, 1, 2]), np.array([0]))
    problem = replace(problem, holders=held)
    (nodes,) = search(problem, CHEAP)
    assert (nodes[:4, 0] <= 0).all()
    assert (nodes[4:, 0] > 0).all()


def test_attributes_and_events_are_limited_apart() -> None:
    rng = np.random.default_rng(1)
    axis = tree(rng, 2, 0)
    sex = Facts(np.arange(8), (np.arange(8) % 2,), (axis,), events=False)
    code = Facts(np.arange(8), (np.arange(8) // 4,), (axis,), events=True)
    apart = Problem(8, (sex, code), (Power(2, 4, attributes=0), Power(2, 4, events=0)))
    assert all((nodes > 0).all() for nodes in search(apart, CHEAP))
    together = replace(apart, powers=(Power(2, 4),))
    assert not all((nodes > 0).all() for nodes in search(together, CHEAP))
    less = replace(apart, powers=(Power(2, 2),))
    assert all((nodes > 0).all() for nodes in search(less, CHEAP))


def test_a_joint_tuple_is_one_atom_and_is_never_hidden() -> None:
    rng = np.random.default_rng(1)
    axes = (tree(rng, 2, 0), tree(rng, 3, 0))
    codes = (np.arange(12) % 2, np.arange(12) % 3)
    joint = Facts(np.arange(12), codes, axes, events=False)
    for way in WAYS:
        (nodes,) = search(Problem(12, (joint,), (Power(1, 4, attributes=1),)), way)
        assert (nodes >= 0).all()
        sizes = np.unique(nodes, axis=0, return_counts=True)[1]
        assert sizes.min() >= 4
        assert len(sizes) > 1


def test_what_holds_of_no_crowd_is_refused() -> None:
    problem = of_one_table([(0, 0), (1, 0)], 1, Power(L=1, K=3))
    with pytest.raises(PrivacyError, match="3 patients are to be alike, and there are 2"):
        search(problem)
    held = ProtectedValues(np.array([0, 2]), np.array([0, 1]), np.array([0]))
    with pytest.raises(PrivacyError, match=r"holds 1 of the 1 protected values"):
        search(replace(problem, powers=(Power(1, 2, 0.5),), holders=held))


def test_what_does_not_fit_into_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = of_one_table([(p, c) for p in range(9) for c in range(9)], 9, Power(L=3, K=2))
    monkeypatch.setattr(_board, "MOST_BYTES", 100)
    with pytest.raises(PrivacyError, match="a smaller L"):
        search(problem)


def test_nobody_and_nothing() -> None:
    zero = np.zeros(1, dtype=np.int64)
    axis = TreeAxis(np.array([-1]), zero, np.ones(1), zero, zero)
    none = np.zeros(0, dtype=np.int64)
    for patients in (0, 5):
        facts = Facts(none, (none,), (axis,), events=True)
        for way in WAYS:
            (nodes,) = search(Problem(patients, (facts,), (Power(2, 3),)), way)
            assert nodes.shape == (0, 1)


def test_local_labels_lose_less_than_global_ones_and_exact_ones_tell_more_codes() -> None:
    rng = np.random.default_rng(5)
    axis = tree(rng, 40)
    patient = np.repeat(np.arange(400), 6)
    code = np.minimum(rng.geometric(0.08, 2400) - 1, 39)
    facts = Facts(patient, (code,), (axis,), events=True)
    problem = Problem(400, (facts,), (Power(2, 5),))
    loss, exact = {}, {}
    for way in WAYS:
        (nodes,) = search(problem, way)
        shown = np.where(nodes[:, 0] < 0, 1.0, axis.loss[nodes[:, 0]])
        loss[way] = shown.mean()
        exact[way] = (nodes[:, 0] == axis.leaf[code]).mean()
    assert loss[WAYS[0]] < 0.9 * loss[WAYS[2]]
    assert exact[WAYS[1]] > exact[WAYS[0]]


def test_seconds_begin_after_the_first_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one waits for loops to be compiled, and without it nothing would be shown."""
    now = iter([100.0, 100.5, 101.5])
    monkeypatch.setattr("incrowd.methods.histories._clock.monotonic", lambda: next(now))
    clock = Clock(seconds=1.0)
    assert [clock.goes_on() for _ in range(3)] == [True, True, False]
