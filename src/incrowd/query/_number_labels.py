"""The labels of a numeric or date attribute as runs of steps on its axis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from incrowd.errors import InputError
from incrowd.hierarchies.calendar import calendar_days
from incrowd.hierarchies.labels import Anything, Members, Plain, Range, parse
from incrowd.query.cells import Cell, Cells
from incrowd.query.conditions import Condition
from incrowd.query.meanings import LabelColumn, as_texts, has_missing
from incrowd.query.wanted import FURTHEST, NumberAxis, Run
from incrowd.table.coding import parse_date, parse_number

Place = tuple[int, int]
"""A number as digits and decimals: (35, 1) is 3.5."""
Span = tuple[Place, Place | None]
"""A half-open range, or with None a single number."""


class NumberLabels:
    """A column of numbers or dates.

    `finer` reads it in steps that are finer than any label and any condition shows: what is then
    inside a range, or all of it, is so however many decimals the values have.
    """

    def __init__(self, column: LabelColumn, *, dates: bool, finer: bool = False) -> None:
        self._column = column
        self._dates = dates
        self._finer = finer and not dates

    def reading(self, conditions: Sequence[Condition]) -> tuple[NumberAxis, Cells]:
        """The axis of the attribute and the cells of its labels."""
        column = self._column
        spans = [self._spans(label) for label in column.labels]
        given = self._all_given()
        stated = 0 if self._dates else int(column.entry.get("decimals") or 0)
        bounds = [end for each in [*spans, given] for span in each or () for end in span if end]
        decimals = max([stated, *(end[1] for end in bounds)])
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
        return not self._column.exact and label == "*"

    def _cell(self, label: str, runs: list[Run] | None) -> Cell | None:
        if runs is None:
            return None
        return Cell(runs, missing="" in self._members(label))

    def _members(self, label: str) -> list[str]:
        """The values of a label that lists them, the empty text for missing."""
        column = self._column
        if column.exact:
            return []
        values = column.given(label)
        if values is not None:
            return as_texts(values)
        parsed = parse(label)
        return list(parsed.values) if isinstance(parsed, Members) else []

    def _spans(self, label: str) -> list[Span] | None:
        """The numbers that a label covers, None if it cannot be read."""
        column = self._column
        if column.exact:
            return self._singles([label])
        parsed = parse(label)
        if isinstance(parsed, Anything):
            return []
        if isinstance(parsed, Range) and parsed.dates == self._dates:
            return [(_exact(parsed.low), _exact(parsed.high))]
        general = label in column.general
        if self._dates and (general or column.entry.get("hierarchy") == "dates"):
            days = calendar_days(label)
            if days is not None:
                return [((days[0], 0), (days[1], 0))]
        values = column.given(label)
        if values is not None or isinstance(parsed, Members):
            return self._singles(value for value in self._members(label) if value)
        return None if general or not isinstance(parsed, Plain) else self._singles([parsed.text])

    def _singles(self, texts: Iterable[str]) -> list[Span] | None:
        found: list[Span] = []
        for text in texts:
            place = self._place(text)
            if place is None:
                return None
            found.append((place, None))
        return found

    def _place(self, text: str) -> Place | None:
        if self._dates:
            day = parse_date(text)
            return None if day is None else (day, 0)
        return parse_number(text)

    def _all_given(self) -> list[Span]:
        """The values that are given, and the ranges among the labels they are given for."""
        found: list[Span] = []
        texts: dict[str, None] = {}
        for label, values in (self._column.meaning or {}).items():
            parsed = parse(label)
            if isinstance(parsed, Range) and parsed.dates == self._dates:
                found.append((_exact(parsed.low), _exact(parsed.high)))
            texts |= dict.fromkeys(as_texts(values))
        places = map(self._place, texts)
        return [*found, *((place, None) for place in places if place is not None)]

    def _runs(self, spans: Sequence[Span], decimals: int) -> list[Run]:
        """The spans in steps of so many decimals."""
        runs = []
        for low, high in spans:
            begin = low[0] * 10 ** (decimals - low[1])
            end = begin + 1 if high is None else high[0] * 10 ** (decimals - high[1])
            if max(-begin, end) >= FURTHEST:
                raise InputError(
                    f"'{self._column.name}' has labels with more digits than can be read."
                )
            runs.append((begin, end))
        return runs

    def _domain(
        self, known: Sequence[list[Run] | None], axis: NumberAxis, conditions: Sequence[Condition]
    ) -> Cell:
        """What `*` stands for."""
        column = self._column
        labels = column.labels
        if column.exact or "*" not in labels:
            return Cell()
        ends = [end for runs in known for run in runs or () for end in run]
        # A range of numbers is written * only where missing cells are among them.
        mixed = column.entry.get("labels") == "set"
        missing = mixed or has_missing(column) or any("" in self._members(x) for x in labels)
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


def _finer(decimals: int, bounds: Sequence[Place], conditions: Sequence[Condition]) -> int:
    """One decimal more than labels and conditions have, or as many as can be read."""
    texts = (value.text.strip() for each in conditions for value in each.values)
    asked = [place[1] for place in map(parse_number, texts) if place is not None]
    furthest = max((abs(digits) * 10 ** (decimals - at) for digits, at in bounds), default=0) + 1
    most = max([decimals, *asked]) + 1
    while most > decimals and furthest * 10 ** (most - decimals) >= FURTHEST:
        most -= 1
    return most


def _exact(number: Fraction) -> Place:
    """A number of finitely many decimals."""
    decimals = 0
    while number.denominator != 1:
        number, decimals = number * 10, decimals + 1
    return int(number), decimals
