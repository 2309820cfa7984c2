"""The labels of a numeric or date attribute as runs of steps on its axis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from incrowd.errors import InputError
from incrowd.hierarchies.labels import Anything, Members, Plain, Range, parse
from incrowd.labels import AxisSpan, as_texts, decimals_of, place_of
from incrowd.query.cells import Cell, Cells
from incrowd.query.conditions import Condition
from incrowd.query.meanings import LabelColumn, has_missing
from incrowd.query.wanted import FURTHEST, Interval, NumberAxis


class NumberLabels:
    """A column of numbers or dates.

    `finer` reads it in steps that are finer than any label and any condition shows: what is then
    inside a range, or all of it, is so however many decimals the values have.
    """

    def __init__(self, column: LabelColumn, *, dates: bool, finer: bool = False) -> None:
        self._column = column
        self._writing = column.writing
        self._dates = dates
        self._kind = "date" if dates else "numeric"
        self._finer = finer and not dates

    def reading(self, conditions: Sequence[Condition]) -> tuple[NumberAxis, Cells]:
        """The axis of the attribute and the cells of its labels."""
        column = self._column
        spans = [self._spans(label) for label in column.labels]
        given = self._all_given()
        stated = 0 if self._dates else int(column.entry.get("decimals") or 0)
        bounds = [
            end
            for each in [*spans, given]
            for span in each or ()
            for end in span
            if end is not None
        ]
        decimals = max([stated, *map(decimals_of, bounds)])
        if self._finer:
            decimals = _finer(decimals, bounds, conditions)
        axis = NumberAxis(column.name, self._dates, decimals)
        runs = [None if each is None else self._runs(each, decimals) for each in spans]
        whole = self._domain([*runs, self._runs(given, decimals)], axis, conditions)
        cells = [
            whole if self._is_anything(label) else self._cell(label, each)
            for label, each in zip(column.labels, runs, strict=True)
        ]
        return axis, Cells.of(column.name, cells)

    def _is_anything(self, label: str) -> bool:
        return not self._writing.exact and label == "*"

    def _cell(self, label: str, runs: list[Interval] | None) -> Cell | None:
        return None if runs is None else Cell(runs, missing=self._lists_missing(label))

    def _lists_missing(self, label: str) -> bool:
        return "" in (self._writing.listed(label) or ())

    def _spans(self, label: str) -> list[AxisSpan] | None:
        """The numbers that a label covers, None if it cannot be read."""
        found = self._writing.read(label, self._kind)
        if isinstance(found, Anything):
            return []
        if isinstance(found, Range):
            return [(found.low, found.high)]
        if isinstance(found, Members):
            return self._singles(value for value in found.values if value)
        return self._singles([found.text]) if isinstance(found, Plain) else None

    def _singles(self, texts: Iterable[str]) -> list[AxisSpan] | None:
        found: list[AxisSpan] = []
        for text in texts:
            place = place_of(text, self._kind)
            if place is None:
                return None
            found.append((place, None))
        return found

    def _all_given(self) -> list[AxisSpan]:
        """The values that are given, and the ranges among the labels they are given for."""
        found: list[AxisSpan] = []
        texts: dict[str, None] = {}
        for label, values in (self._column.meaning or {}).items():
            parsed = parse(label)
            if isinstance(parsed, Range) and parsed.dates == self._dates:
                found.append((parsed.low, parsed.high))
            texts |= dict.fromkeys(as_texts(values))
        places = (place_of(text, self._kind) for text in texts)
        return [*found, *((place, None) for place in places if place is not None)]

    def _runs(self, spans: Sequence[AxisSpan], decimals: int) -> list[Interval]:
        """The spans in steps of so many decimals."""
        runs = []
        for low, high in spans:
            begin = int(low * 10**decimals)
            end = begin + 1 if high is None else int(high * 10**decimals)
            if max(-begin, end) >= FURTHEST:
                raise InputError(
                    f"'{self._column.name}' has labels with more digits than can be read."
                )
            runs.append((begin, end))
        return runs

    def _domain(
        self,
        known: Sequence[list[Interval] | None],
        axis: NumberAxis,
        conditions: Sequence[Condition],
    ) -> Cell:
        """What `*` stands for."""
        column = self._column
        labels = column.labels
        if self._writing.exact or "*" not in labels:
            return Cell()
        ends = [end for runs in known for run in runs or () for end in run]
        # A range of numbers is written * only where missing cells are among them.
        mixed = column.entry.get("labels") == "set"
        missing = mixed or has_missing(column) or any(map(self._lists_missing, labels))
        if not ends:
            named = _named(axis, conditions)
            if column.domain is None:
                cell = Cell((), missing, 1, named, unplaced=True, uncounted=True)
            else:
                unseen = max(column.domain - missing, 1)
                cell = Cell((), missing, unseen, named, unplaced=True)
            return replace(cell, loose=True, anything=True)
        low, high = min(ends), max(ends)
        loose = column.meaning is None
        if loose:
            more = max(0, (column.domain or 0) - missing - (high - low))
            low, high = low - more // 2, high + more - more // 2
        return Cell([(low, high)], missing, loose=loose, anything=True)


def _named(axis: NumberAxis, conditions: Sequence[Condition]) -> list[int]:
    """The positions of the single values that conditions name."""
    points: set[int] = set()
    for condition in conditions:
        if condition.operator in ("=", "in", "!="):
            found = axis.wanted(
                Condition(condition.attribute, "in", condition.values, condition.position)
            )
            for low, high in zip(found.low.tolist(), found.high.tolist(), strict=True):
                points |= set(range(low, high))
    return sorted(points)


def _finer(decimals: int, bounds: Sequence[Fraction], conditions: Sequence[Condition]) -> int:
    """One decimal more than labels and conditions have, or as many as can be read."""
    texts = (value.text.strip() for each in conditions for value in each.values)
    asked = [place_of(text, "numeric") for text in texts]
    asked_decimals = [decimals_of(place) for place in asked if place is not None]
    furthest = max((int(abs(bound) * 10**decimals) for bound in bounds), default=0) + 1
    most = max([decimals, *asked_decimals]) + 1
    while most > decimals and furthest * 10 ** (most - decimals) >= FURTHEST:
        most -= 1
    return most
