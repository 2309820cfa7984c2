"""Mondrian on lists of records, every cut tried: slow, plain, and what the fast one must equal."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Cell = str | int | None
Record = dict[str, Cell]
Holds = Callable[[Sequence[Record]], bool]


@dataclass(frozen=True)
class Attribute:
    """One quasi-identifier: its name, its kind, its values in order (missing last)."""

    name: str
    kind: str
    values: tuple[Cell, ...]

    @property
    def domain(self) -> int:
        if self.kind != "numeric":
            return len(self.values)
        numbers = numbers_in(self.values)
        return max(numbers) - min(numbers) + 1 + (None in self.values)

    def code(self, record: Record) -> int:
        return self.values.index(record[self.name])

    def position(self, record: Record) -> float:
        """Where a value lies on the axis; a missing number lies with the largest."""
        if self.kind != "numeric":
            return float(self.code(record))
        numbers = numbers_in([record[self.name]]) or numbers_in(self.values)
        return float(max(numbers, default=0))

    def loss(self, records: Sequence[Record]) -> float:
        """The NCP of one cell of a group, labelled by its range or its set of values."""
        shown = {record[self.name] for record in records}
        if len(shown) == 1 or self.domain == 1:
            return 0.0
        if self.kind != "numeric":
            return (len(shown) - 1) / (self.domain - 1)
        if None in shown:
            return 1.0
        numbers = numbers_in(shown)
        return min(1.0, (max(numbers) - min(numbers)) / (self.domain - 1))

    def lined_up(self, records: Sequence[Record], *, by_value: bool = False) -> list[int]:
        """Its codes in the group: in their order, or the most frequent first for categories."""
        counts = Counter(self.code(record) for record in records)
        if self.kind == "category" and not by_value:
            return sorted(counts, key=lambda code: (-counts[code], code))
        return sorted(counts)

    def cut(self, records: Sequence[Record], left: set[int]) -> tuple[list[Record], list[Record]]:
        inside = [record for record in records if self.code(record) in left]
        return inside, [record for record in records if self.code(record) not in left]


def numbers_in(cells: Iterable[Cell]) -> list[int]:
    """The cells of a numeric attribute that are not missing."""
    numbers = [cell for cell in cells if cell is not None]
    assert all(isinstance(cell, int) for cell in numbers)
    return [cell for cell in numbers if isinstance(cell, int)]


def attribute_of(
    name: str, kind: str, records: Sequence[Record], order: Sequence[str] = ()
) -> Attribute:
    """The attribute as the records show it."""
    present: set[Any] = {record[name] for record in records if record[name] is not None}
    known = [v for v in order if v in present] if kind == "ordered" else sorted(present)
    missing = [None] if any(record[name] is None for record in records) else []
    return Attribute(name, kind, (*known, *missing))


def table_loss(groups: Sequence[Sequence[Record]], attributes: Sequence[Attribute]) -> float:
    """The NCP of all cells together."""
    return math.fsum(
        len(group) * attribute.loss(group) for group in groups for attribute in attributes
    )


def by_loss(
    records: list[Record], attributes: Sequence[Attribute], holds: Holds, smallest: int
) -> list[list[Record]]:
    """Groups by cutting where the loss falls most, as long as both halves hold."""
    if len(records) < 2 * smallest:
        return [records]
    found = []
    for place, attribute in enumerate(attributes):
        halves = best_cut(records, attribute, holds, smallest)
        if halves is not None:
            found.append((round(table_loss(halves, attributes), 9), place, halves))
    if not found:
        return [records]
    _, _, halves = min(found, key=lambda each: each[:2])
    return [leaf for half in halves for leaf in by_loss(half, attributes, holds, smallest)]


def best_cut(
    records: list[Record], attribute: Attribute, holds: Holds, smallest: int
) -> tuple[list[Record], list[Record]] | None:
    """The private cut of one attribute that loses least on it; then the most balanced."""
    codes = attribute.lined_up(records)
    best = None
    for end in range(1, len(codes)):
        halves = attribute.cut(records, set(codes[:end]))
        if min(map(len, halves)) < smallest or not all(map(holds, halves)):
            continue
        loss = sum(len(half) * attribute.loss(half) for half in halves)
        balance = min(map(len, halves))
        if best is None or loss < best[0] - 1e-12 or (loss < best[0] + 1e-12 and balance > best[1]):
            best = (loss, balance, halves)
    return None if best is None else best[2]


def by_median(
    records: list[Record],
    attributes: Sequence[Attribute],
    holds: Holds,
    smallest: int,
    whole: Sequence[Record] | None = None,
) -> list[list[Record]]:
    """Groups by cutting the widest attribute (by its deviation) after or before its median."""
    whole = records if whole is None else whole
    if len(records) < 2 * smallest:
        return [records]

    def width(attribute: Attribute) -> float:
        places = [attribute.position(record) for record in records]
        return round((max(places) - min(places)) / deviation(attribute, whole), 9)

    for attribute in sorted(attributes, key=lambda each: -width(each)):
        codes = attribute.lined_up(records, by_value=True)
        running, middle = 0, 0
        for middle, code in enumerate(codes):  # noqa: B007 - the median is where the loop ends
            running += sum(attribute.code(record) == code for record in records)
            if 2 * running >= len(records):
                break
        for end in (middle + 1, middle):
            halves = attribute.cut(records, set(codes[:end]))
            if all(halves) and all(map(holds, halves)):
                return [
                    leaf
                    for half in halves
                    for leaf in by_median(half, attributes, holds, smallest, whole)
                ]
    return [records]


def deviation(attribute: Attribute, records: Sequence[Record]) -> float:
    places = [attribute.position(record) for record in records]
    mean = math.fsum(places) / len(places)
    variance = math.fsum((place - mean) ** 2 for place in places) / len(places)
    return math.sqrt(variance) if variance > 1e-18 else 1.0


def least_loss(records: list[Record], attribute: Attribute, k: int) -> float:
    """The least loss of any way to part the records, lined up, into runs of at least k."""
    lined = sorted(records, key=attribute.code)
    least = [0.0] + [math.inf] * len(lined)
    for end in range(k, len(lined) + 1):
        for begin in range(end - k + 1):
            run = lined[begin:end]
            least[end] = min(least[end], least[begin] + len(run) * attribute.loss(run))
    return least[-1]
