"""Clustering on lists of records, all pairs compared: slow, plain, what the fast one must equal."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

Cell = int | str | None
Row = tuple[Cell, ...]


@dataclass(frozen=True)
class Attribute:
    """One quasi-identifier: its values in order, and the nodes above them (none: ranges).

    `rules` are pairs of values to be kept apart, with an importance.
    """

    values: tuple[Cell, ...]
    nodes: tuple[tuple[Cell, ...], ...] = ()
    weight: float = 1.0
    rules: tuple[tuple[int, int, float], ...] = ()

    @property
    def is_category(self) -> bool:
        return bool(self.nodes)

    @property
    def domain(self) -> int:
        if self.nodes:
            return len(self.values)
        numbers = [value for value in self.values if isinstance(value, int)]
        return (max(numbers) - min(numbers) + 1 if numbers else 0) + (None in self.values)

    def shown(self, cells: set[Cell]) -> set[Cell]:
        """All values that the label of some cells stands for."""
        if len(cells) == 1:
            return set(cells)
        if self.nodes:
            covering = [set(node) for node in self.nodes if cells <= set(node)]
            return min(covering, key=len)
        if None in cells:
            return set(self.values)
        numbers = [cell for cell in cells if isinstance(cell, int)]
        return set(range(min(numbers), max(numbers) + 1))

    def span(self, cells: set[Cell]) -> int:
        """How many values the label stands for, less one."""
        if len(cells) == 1:
            return 0
        if not self.nodes and None in cells:
            return self.domain - 1
        return len(self.shown(cells)) - 1

    def breaks(self, cells: set[Cell], rule: tuple[int, int, float]) -> bool:
        shown = self.shown(cells)
        if None in shown and not self.nodes and len(cells) > 1:
            return True
        numbers = [value for value in shown if isinstance(value, int)]
        return bool(numbers) and min(numbers) <= rule[0] and max(numbers) >= rule[1]


@dataclass
class Cluster:
    """Records by their number, and the attributes that they do not show."""

    rows: list[int]
    hidden: set[int] = field(default_factory=set)


@dataclass
class Reference:
    """Rounds of merges of everything that does not hold."""

    table: Sequence[Row]
    attributes: Sequence[Attribute]
    holds: Callable[[list[int]], bool]
    distance: str
    suppression: bool

    def run(self) -> list[tuple[frozenset[int], frozenset[int]]]:
        """The records of each cluster, and what it hides."""
        key = dict.fromkeys(sorted(set(self.table), key=self._key))
        clusters = [
            Cluster([at for at, other in enumerate(self.table) if other == row]) for row in key
        ]
        while True:
            failing = [c for c in clusters if not self.holds(c.rows)]
            if not failing or len(clusters) == 1:
                break
            self._price(clusters)
            found = []
            for one in failing:
                others = [other for other in clusters if other is not one]
                costs = [self._cost(one, other) for other in others]
                best = min(range(len(others)), key=lambda at: costs[at][0])
                found.append((costs[best][0], one, others[best], costs[best][1]))
            found.sort(key=lambda each: each[0])
            touched: list[Cluster] = []
            for _, one, other, hidden in found:
                if not any(each is one or each is other for each in touched):
                    touched += [one, other]
                    other.rows += one.rows
                    other.hidden = hidden
                    clusters = [each for each in clusters if each is not one]
        return [(frozenset(c.rows), frozenset(c.hidden)) for c in clusters]

    def _key(self, row: Row) -> tuple[int, ...]:
        return tuple(a.values.index(v) for a, v in zip(self.attributes, row, strict=True))

    def _cells(self, at: int, *clusters: Cluster) -> set[Cell]:
        return {self.table[row][at] for cluster in clusters for row in cluster.rows}

    def _worth(self, attribute: Attribute, cells: set[Cell]) -> float:
        """What a label spans, as the distance measures it."""
        span = attribute.span(cells)
        if self.distance == "research-value" and attribute.is_category:
            return 1.0 - 1.0 / (span + 1.0)
        return float(span)

    def _price(self, clusters: list[Cluster]) -> None:
        self.rate, self.bend, self.star, self.price = [], [], [], []
        records = float(len(self.table))
        for at, attribute in enumerate(self.attributes):
            whole = float(max(attribute.domain - 1, 1))
            seen = [c for c in clusters if at not in c.hidden]
            shown = max(float(sum(len(c.rows) for c in seen)), 1.0)
            spans = [(len(c.rows), self._worth(attribute, self._cells(at, c))) for c in seen]
            spanned = max(sum(many * (span + 1.0) for many, span in spans), 1.0)
            rate, bend, star, worth = 1.0, 0.0, whole, 0.0
            if self.distance == "ncp":
                rate = attribute.weight / whole
            elif self.distance == "research-value" and attribute.is_category:
                rate, star = attribute.weight * (1.0 / records), 1.0
            elif self.distance == "research-value":
                worth, bend = shown * shown / spanned / records, 1.0 / spanned
                rate, star = attribute.weight * (worth / spanned), 2.0 * spanned / shown - 1.0
            important = sum(rule[2] for rule in attribute.rules)
            self.price.append(
                [attribute.weight * worth * rule[2] / important for rule in attribute.rules]
            )
            self.rate.append(rate)
            self.bend.append(bend)
            self.star.append(star if self.suppression else math.inf)

    def _cost(self, one: Cluster, other: Cluster) -> tuple[float, set[int]]:
        """What a merge costs, and what the merged cluster hides."""
        total, hides = 0.0, set()
        for at, attribute in enumerate(self.attributes):
            rate, star = self.rate[at], self.star[at]
            spans = [
                star if at in c.hidden else self._worth(attribute, self._cells(at, c))
                for c in (one, other)
            ]
            sizes = [len(one.rows), len(other.rows)]
            shown = math.inf
            if at not in one.hidden | other.hidden:
                cells = self._cells(at, one, other)
                more = self._loss(self._worth(attribute, cells), spans, sizes)
                shown = rate * more / (1.0 + self.bend[at] * more)
                for rule, price in zip(attribute.rules, self.price[at], strict=True):
                    before = [attribute.breaks(self._cells(at, c), rule) for c in (one, other)]
                    if attribute.breaks(cells, rule) and not all(before):
                        shown += price
            if star < math.inf:
                capped = [min(span, star) for span in spans]
                more = self._loss(star, capped, sizes)
                hidden = rate * more / (1.0 + self.bend[at] * more)
                if hidden < shown:
                    shown = hidden
                    hides.add(at)
            total += shown
        return total, hides

    def _loss(self, span: float, before: list[float], sizes: list[int]) -> float:
        if self.distance == "euclidean":
            return span
        return sizes[0] * (span - before[0]) + sizes[1] * (span - before[1])
