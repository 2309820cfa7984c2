"""The labels of an attribute whose values are text, each value at a position of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from incrowd.hierarchies.labels import Anything, Members, Plain
from incrowd.labels import LabelReading, MaskedLabel, MaskedTexts, as_texts
from incrowd.query.cells import Cell, Cells
from incrowd.query.conditions import Condition
from incrowd.query.meanings import LabelColumn, has_missing
from incrowd.query.wanted import Interval, TextAxis


class TextLabels:
    """A column of values without an axis of their own."""

    def __init__(
        self,
        column: LabelColumn,
        kind: str,
        conditions: Sequence[Condition],
        order: Sequence[str] | None,
    ) -> None:
        self._column = column
        self._writing = column.writing
        self._kind = kind
        self._readings = [self._writing.read(label, kind) for label in column.labels]
        given = [as_texts(values) for values in (column.meaning or {}).values()]
        if order is None:
            order = max(given, key=len, default=[])
        shown = [value for found in self._readings for value in _members(found)]
        known = dict.fromkeys(value for value in order if value)
        lined_up = all(isinstance(each, Sequence) for each in (column.meaning or {}).values())
        covered = {value for value in shown if value} <= known.keys()
        self._in_order = kind == "ordered" and lined_up and covered
        known |= dict.fromkeys(value for values in given for value in values if value)
        known |= dict.fromkeys(value for value in shown if value)
        asked = dict.fromkeys(value.text for each in conditions for value in each.values)
        self._known = len(known)
        self._asked = [value for value in asked if value not in known]
        self._positions = {value: at for at, value in enumerate([*known, *self._asked])}
        self._masked = MaskedTexts(list(self._positions))
        self._missing = has_missing(column) or "" in shown

    def reading(self) -> tuple[TextAxis, Cells]:
        """The axis of the attribute and the cells of its labels."""
        column = self._column
        in_order = self._in_order and column.meaning is not None
        axis = TextAxis(column.name, self._kind, self._positions, self._known, in_order)
        cells = [
            self._cell(label, found)
            for label, found in zip(column.labels, self._readings, strict=True)
        ]
        return axis, Cells.of(column.name, cells)

    def _cell(self, label: str, found: LabelReading) -> Cell | None:
        if isinstance(found, Plain | Members):
            members = _members(found)
            at = [self._positions[value] for value in members if value]
            return Cell([(place, place + 1) for place in at], missing="" in members)
        if isinstance(found, Anything):
            asked = range(self._known, len(self._positions))
            domain = self._column.domain
            cell = self._with_unseen([(0, self._known)], self._missing, domain or 1, asked)
            unknown = domain is None and not self._known and self._column.meaning is None
            return replace(cell, uncounted=unknown, anything=True)
        if not isinstance(found, MaskedLabel):
            return None
        at = self._masked.behind(found)
        runs = [(place, place + 1) for place in at if place < self._known]
        possible = [place for place in at if place >= self._known]
        weight = int(self._writing.general.get(label, 1))
        return replace(self._with_unseen(runs, False, weight, possible), loose=True)

    def _with_unseen(
        self, runs: Sequence[Interval], missing: bool, weight: int, possible: Sequence[int]
    ) -> Cell:
        seen = sum(high - low for low, high in runs) + missing
        least = 0 if seen else 1
        unseen = least if self._column.meaning is not None else max(least, weight - seen)
        loose = unseen > 0 or self._column.meaning is None
        return Cell(runs, missing, unseen, possible, loose=loose)


def _members(found: LabelReading) -> Sequence[str]:
    """The values that a label lists or is."""
    if isinstance(found, Members):
        return found.values
    return [found.text] if isinstance(found, Plain) else []
