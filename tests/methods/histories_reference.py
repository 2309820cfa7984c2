"""A judge of histories in plain Python, by the definition, and small problems drawn at random."""

from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd.methods.histories._problem import Facts, Power, Problem, ProtectedValues, TreeAxis

Atom = tuple[int, ...]


def atoms_of(problem: Problem, nodes: list[IntArray]) -> list[set[Atom]]:
    """What each patient shows: facts and nodes."""
    shown: list[set[Atom]] = [set() for _ in range(problem.patients)]
    for f, (facts, of_rows) in enumerate(zip(problem.facts, nodes, strict=True)):
        for patient, row in zip(facts.patient.tolist(), of_rows.tolist(), strict=True):
            if row[0] >= 0:
                shown[patient].add((f, *row))
    return shown


def broken_sets(problem: Problem, nodes: list[IntArray]) -> Iterable[tuple[Atom, ...]]:
    """All combinations of atoms that somebody shows and that may not be shown."""
    shown = atoms_of(problem, nodes)
    longest = max(power.L for power in problem.powers)
    seen: set[tuple[Atom, ...]] = set()
    for atoms in shown:
        for size in range(longest + 1):
            seen.update(combinations(sorted(atoms), size))
    for q in seen:
        crowd = {p for p, atoms in enumerate(shown) if atoms.issuperset(q)}
        if not kept(problem, q, crowd):
            yield q


def kept(problem: Problem, q: tuple[Atom, ...], crowd: set[int]) -> bool:
    """Whether a combination that a crowd shows is kept for all powers."""
    events = sum(problem.facts[atom[0]].events for atom in q)
    for at, power in enumerate(problem.powers):
        if len(q) > power.L or (power.events is not None and events > power.events):
            continue
        if power.attributes is not None and len(q) - events > power.attributes:
            continue
        if len(crowd) < power.K:
            return False
        for value in range(len(problem.holders)):
            if problem.holders.power[value] == at:
                holders = crowd.intersection(problem.holders.holders(value).tolist())
                if Fraction(len(holders), len(crowd)) > Fraction(str(power.C)):
                    return False
    return True


def are_of_the_rows(problem: Problem, nodes: list[IntArray]) -> bool:
    """Whether every row shows nodes above its own codes, or nothing on any axis."""
    for facts, of_rows in zip(problem.facts, nodes, strict=True):
        if of_rows.shape != (len(facts.patient), len(facts.axes)):
            return False
        for row in range(len(of_rows)):
            if (of_rows[row] < 0).any():
                if not facts.events or not (of_rows[row] == -1).all():
                    return False
                continue
            for axis, codes, node in zip(facts.axes, facts.codes, of_rows[row], strict=True):
                at = int(axis.leaf[codes[row]])
                while at not in (-1, node):
                    at = int(axis.parent[at])
                if at != node:
                    return False
    return True


def tree(rng: np.random.Generator, codes: int, width: int = 3) -> TreeAxis:
    """A tree over some codes, with levels drawn at random; a root and leaves alone for width 0."""
    parent, leaf = [-1], np.zeros(codes, dtype=np.int64)
    waiting = [(0, np.arange(codes))]
    while waiting:
        node, below = waiting.pop(0)
        if len(below) == 1 and node:
            leaf[below] = node
            continue
        many = len(below) if not width or rng.random() < 0.3 else min(len(below), width)
        for part in np.array_split(below, many):
            parent.append(node)
            waiting.append((len(parent) - 1, part))
    covered = np.zeros(len(parent))
    for lowest in leaf.tolist():
        at = int(lowest)
        while at >= 0:
            covered[at] += 1
            at = int(parent[at])
    loss = np.maximum(covered - 1, 0) / max(codes - 1, 1)
    loss[0] = 1
    nothing = np.zeros(len(parent), dtype=np.int64)
    return TreeAxis(np.array(parent), leaf, loss, nothing, nothing)


def table(rng: np.random.Generator, patients: int, rows: int, axes: tuple[TreeAxis, ...]) -> Facts:
    """Events of patients, some codes of which are frequent."""
    patient = rng.integers(0, patients, rows)
    codes = tuple(
        np.minimum(rng.geometric(rng.uniform(0.15, 0.6), rows) - 1, len(axis.leaf) - 1)
        for axis in axes
    )
    return Facts(patient, codes, axes, events=True)


def attribute(rng: np.random.Generator, patients: int, axes: tuple[TreeAxis, ...]) -> Facts:
    """Attributes of patients, one row each, in an order of their own."""
    patient = rng.permutation(patients)
    codes = tuple(rng.integers(0, len(axis.leaf), patients) for axis in axes)
    return Facts(patient, codes, axes, events=False)


def any_problem(rng: np.random.Generator) -> Problem:
    """Few patients, one to three facts, one or two powers, perhaps with protected values."""
    patients = int(rng.integers(6, 26))
    facts = []
    for _ in range(int(rng.integers(1, 3))):
        axes = tuple(
            tree(rng, int(rng.integers(1, 9)), int(rng.integers(0, 4)))
            for _ in range(int(rng.integers(1, 3)))
        )
        facts.append(table(rng, patients, int(rng.integers(0, 3 * patients)), axes))
    for _ in range(int(rng.integers(0, 3))):
        axes = tuple(tree(rng, int(rng.integers(1, 6))) for _ in range(1 + (rng.random() < 0.2)))
        facts.append(attribute(rng, patients, axes))
    powers = tuple(any_power(rng) for _ in range(int(rng.integers(1, 3))))
    order = rng.permutation(len(facts))
    return Problem(
        patients, tuple(facts[i] for i in order), powers, any_holders(rng, patients, powers)
    )


def any_power(rng: np.random.Generator) -> Power:
    limits = [None if rng.random() < 0.6 else int(rng.integers(0, 3)) for _ in range(2)]
    share = float(rng.choice([1.0, 0.8, 0.5, 0.34]))
    return Power(int(rng.integers(1, 4)), int(rng.integers(1, 6)), share, *limits)


def any_holders(
    rng: np.random.Generator, patients: int, powers: tuple[Power, ...]
) -> ProtectedValues:
    """Values held by no more patients than may hold them among all."""
    members, power = [], []
    for at, each in enumerate(powers):
        for _ in range(int(rng.integers(0, 3)) if each.C < 1 else 0):
            most = int(each.C * patients)
            many = int(rng.integers(0, max(most, 1)))
            members.append(rng.permutation(patients)[:many])
            power.append(at)
    offsets = np.cumsum([0, *map(len, members)])
    joined = np.concatenate([np.zeros(0, dtype=np.int64), *members]).astype(np.int64)
    return ProtectedValues(offsets, joined, np.array(power, dtype=np.int64))
