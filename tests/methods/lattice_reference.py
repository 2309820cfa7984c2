"""Every node of a lattice looked at, plainly: what search over levels must agree with."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Row = dict[str, str | None]
Levels = tuple[int, ...]
Judge = Callable[[Sequence[str]], bool]
Table = Sequence[Row]


@dataclass(frozen=True)
class Ladder:
    """One attribute: for each value the labels from level 1 to the top, each with its weight.

    `spec` is what a policy says of it; `domain` counts all values, also those that no row has.
    """

    name: str
    spec: dict[str, Any]
    steps: dict[str, list[tuple[str, int]]]
    domain: int

    @property
    def height(self) -> int:
        return len(next(iter(self.steps.values())))

    def shown(self, cell: str | None, level: int) -> str | None:
        if cell is None:
            return None if level < self.height else "*"
        return cell if level == 0 else self.steps[cell][level - 1][0]

    def loss(self, cell: str | None, level: int, missing: bool) -> Fraction:
        total = self.domain + missing
        if level == 0 or total == 1 or (cell is None and level < self.height):
            return Fraction(0)
        if level == self.height:
            return Fraction(1)
        assert cell is not None
        return Fraction(self.steps[cell][level - 1][1] - 1, total - 1)


def tree_ladder(name: str, levels: Sequence[Sequence[int]]) -> Ladder:
    """A tree from partitions: `levels[0][v]` is the group of value v, `levels[1][g]` of group g."""
    values = [f"{name}{v}" for v in range(len(levels[0]))]
    paths: list[list[str]] = []
    for value in range(len(values)):
        path, group = [], value
        for depth, partition in enumerate(levels):
            group = partition[group]
            path.append(f"{name}-{depth + 1}-{group}")
        paths.append([*path, "*"])
    weights = Counter((depth, label) for path in paths for depth, label in enumerate(path))
    steps = {
        value: [(label, weights[depth, label]) for depth, label in enumerate(path)]
        for value, path in zip(values, paths, strict=True)
    }
    tree: dict[str, Any] = {}
    for text, path in zip(values, paths, strict=True):
        branch = tree
        for label in reversed(path[1:]):
            branch = branch.setdefault(label, {})
        branch.setdefault(path[0], []).append(text)
    return Ladder(name, {"type": "category", "hierarchy": {"tree": tree}}, steps, len(values))


def range_ladder(name: str, stop: int, widths: Sequence[int]) -> Ladder:
    """Whole numbers from 0 to below `stop`, which every width divides, under nested ranges."""
    steps = {}
    for value in range(stop):
        starts = [(value // width * width, width) for width in widths]
        steps[str(value)] = [
            *((f"[{start}-{start + width})", width) for start, width in starts),
            ("*", stop),
        ]
    asked = {"intervals": {"start": 0, "stop": stop, "widths": list(widths)}}
    return Ladder(name, {"type": "numeric", "hierarchy": asked}, steps, stop)


@dataclass(frozen=True)
class Solution:
    """What a node costs and how many rows it drops."""

    cost: Fraction
    suppressed: int


def solutions(
    rows: Table,
    ladders: Sequence[Ladder],
    judges: Sequence[Callable[[Counter[str]], Judge]],
    limit: float,
    metric: str,
    smallest: int,
) -> dict[Levels, Solution]:
    """All nodes that hold once the groups below a size are dropped, within the limit."""
    whole = Counter(str(row["ill"]) for row in rows)
    found = {}
    for levels in itertools.product(*(range(ladder.height + 1) for ladder in ladders)):
        groups = grouped(rows, ladders, levels)
        kept = [group for group in groups.values() if len(group) >= smallest]
        dropped = len(rows) - sum(map(len, kept))
        if dropped > limit * len(rows) + 1e-9:
            continue
        left = Counter(str(row["ill"]) for group in kept for row in group)
        holds = [judge(table) for judge in judges for table in (whole, left)]
        if all(judge([str(row["ill"]) for row in group]) for group in kept for judge in holds):
            cost = _cost(rows, ladders, levels, kept, dropped, metric)
            found[levels] = Solution(cost, dropped)
    return found


def minimal(found: dict[Levels, Solution]) -> set[Levels]:
    """The solutions without another one below them."""
    return {
        levels
        for levels in found
        if not any(
            other != levels and all(a <= b for a, b in zip(other, levels, strict=True))
            for other in found
        )
    }


def grouped(
    rows: Table, ladders: Sequence[Ladder], levels: Levels
) -> dict[tuple[str | None, ...], list[Row]]:
    """The rows that show the same at a node, by what they show."""
    groups: dict[tuple[str | None, ...], list[Row]] = {}
    for row in rows:
        shown = tuple(
            ladder.shown(row[ladder.name], level)
            for ladder, level in zip(ladders, levels, strict=True)
        )
        groups.setdefault(shown, []).append(row)
    return groups


def _cost(
    rows: Table,
    ladders: Sequence[Ladder],
    levels: Levels,
    kept: list[list[Row]],
    dropped: int,
    metric: str,
) -> Fraction:
    records = len(rows)
    if metric == "discernibility":
        return Fraction(sum(len(group) ** 2 for group in kept) + dropped * records, records**2)
    paid = Fraction(dropped * len(ladders))
    for ladder, level in zip(ladders, levels, strict=True):
        missing = any(row[ladder.name] is None for row in rows)
        for row in itertools.chain.from_iterable(kept):
            if metric == "precision":
                paid += Fraction(level, ladder.height)
            else:
                paid += ladder.loss(row[ladder.name], level, missing)
    return paid / (records * len(ladders))
