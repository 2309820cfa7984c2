"""Every privacy model from its definition, in plain Python and exact fractions."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SLACK = Fraction(1, 10**9)
Spread = Counter[str | None]
Row = tuple[str | None, ...]


@dataclass(frozen=True)
class Expected:
    """What a model must measure: its numbers, and for each group whether it holds."""

    numbers: dict[str, float]
    held: list[bool]


def groups_of(rows: Iterable[Row], quasi: int) -> list[Spread]:
    """The sensitive values (the last cell) of the rows that agree on the first `quasi` cells."""
    found: dict[Row, Spread] = {}
    for row in rows:
        found.setdefault(row[:quasi], Counter())[row[-1]] += 1
    return list(found.values())


def k_anonymity(groups: list[Spread], k: int) -> Expected:
    sizes = [group.total() for group in groups]
    return Expected({"k": min(sizes)}, [size >= k for size in sizes])


def distinct(groups: list[Spread], l: int) -> Expected:  # noqa: E741
    reached = [len(group) for group in groups]
    return Expected({"l": min(reached)}, [each >= l for each in reached])


def entropy(groups: list[Spread], l: float) -> Expected:  # noqa: E741
    reached = []
    for group in groups:
        shares = [count / group.total() for count in group.values()]
        reached.append(math.exp(-math.fsum(share * math.log(share) for share in shares)))
    return Expected({"l": min(reached)}, [each >= l - SLACK for each in reached])


def frequency(groups: list[Spread], l: float) -> Expected:  # noqa: E741
    reached = [1 / largest_share(group) for group in groups]
    return Expected({"l": float(min(reached))}, [each >= Fraction(l) - SLACK for each in reached])


def recursive(groups: list[Spread], l: int, c: Fraction) -> Expected:  # noqa: E741
    held, needed = [], []
    for group in groups:
        counts = sorted(group.values(), reverse=True)
        tail = sum(counts[l - 1 :])
        held.append(len(counts) >= l and counts[0] < c * tail)
        needed.append(counts[0] / tail if tail else math.inf)
    return Expected({"c": max(needed)}, held)


def p_sensitive(groups: list[Spread], p: int, k: int) -> Expected:
    sizes, values = [group.total() for group in groups], [len(group) for group in groups]
    held = [size >= k and number >= p for size, number in zip(sizes, values, strict=True)]
    return Expected({"p": min(values), "k": min(sizes)}, held)


def confidence(groups: list[Spread], most: float, values: Sequence[str] | None) -> Expected:
    shares = [largest_share(group, values) for group in groups]
    bound = Fraction(most) + SLACK
    return Expected({"C": float(max(shares))}, [share <= bound for share in shares])


def alpha_k(groups: list[Spread], alpha: float, k: int, values: Sequence[str] | None) -> Expected:
    bounded, sized = confidence(groups, alpha, values), k_anonymity(groups, k)
    held = [a and b for a, b in zip(bounded.held, sized.held, strict=True)]
    return Expected({"alpha": bounded.numbers["C"], **sized.numbers}, held)


def largest_share(group: Spread, values: Sequence[str] | None = None) -> Fraction:
    counted = group if values is None else values
    return max((Fraction(group[value], group.total()) for value in counted), default=Fraction(0))


def closeness(groups: list[Spread], t: float, heights: Heights) -> Expected:
    """t-closeness when moving a unit between values a and b costs heights[a, b] / the largest."""
    whole: Spread = sum(groups, Counter())
    values = tuple(sorted(whole, key=lambda value: (value is None, value or "")))
    ground = tuple(tuple(heights.between(a, b) for b in values) for a in values)
    distances = [earth_moved(group, whole, values, ground) / heights.largest for group in groups]
    bound = Fraction(t) + SLACK
    return Expected({"t": float(max(distances))}, [each <= bound for each in distances])


@dataclass(frozen=True)
class Heights:
    """Whole distances between values, of which `largest` counts as 1."""

    distances: dict[tuple[str | None, str | None], int]
    largest: int

    def between(self, a: str | None, b: str | None) -> int:
        return self.distances[a, b]


def all_alike(values: Sequence[str | None]) -> Heights:
    return Heights({(a, b): int(a != b) for a in values for b in values}, 1)


def in_order(values: Sequence[str | None]) -> Heights:
    places = {value: place for place, value in enumerate(values)}
    distances = {(a, b): abs(places[a] - places[b]) for a in values for b in values}
    return Heights(distances, max(len(values) - 1, 1))


def in_tree(ancestors: dict[str | None, Sequence[str]]) -> Heights:
    """The height of the lowest ancestor that two values share; all paths are of one length."""
    (height,) = {len(path) for path in ancestors.values()}
    distances = {}
    for a, b in itertools.product(ancestors, repeat=2):
        shared = [
            level + 1
            for level in range(height)
            if tuple(ancestors[a][level:]) == tuple(ancestors[b][level:])
        ]
        distances[a, b] = 0 if a == b else min(shared)
    return Heights(distances, height)


def earth_moved(
    group: Spread,
    whole: Spread,
    values: tuple[str | None, ...],
    ground: tuple[tuple[int, ...], ...],
) -> Fraction:
    """The earth mover's distance by its dual, over every potential there is.

    By Kantorovich and Rubinstein it is the largest difference between the mean heights of two
    distributions, over all ways to give each value a height that no two values break the ground
    distance. Whole distances have a best solution in whole heights, so trying all of them is exact.
    """
    supply = [group[value] * whole.total() for value in values]
    demand = [whole[value] * group.total() for value in values]
    surplus = [a - b for a, b in zip(supply, demand, strict=True)]
    gained = max(
        sum(height * extra for height, extra in zip(potential, surplus, strict=True))
        for potential in potentials(ground)
    )
    return Fraction(gained, group.total() * whole.total())


@cache
def potentials(ground: tuple[tuple[int, ...], ...]) -> list[tuple[int, ...]]:
    top = max(max(row) for row in ground)
    pairs = list(itertools.combinations(range(len(ground)), 2))
    return [
        potential
        for potential in itertools.product(range(top + 1), repeat=len(ground))
        if all(abs(potential[a] - potential[b]) <= ground[a][b] for a, b in pairs)
    ]
