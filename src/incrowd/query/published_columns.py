"""A published attribute as conditions see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from incrowd.query._number_labels import NumberLabels
from incrowd.query._text_labels import TextLabels
from incrowd.query.cells import Cells
from incrowd.query.conditions import Condition
from incrowd.query.meanings import LabelColumn
from incrowd.query.wanted import AnyAxis, Wanted, wanted_of


@dataclass(frozen=True)
class Reading:
    """A published attribute as conditions see it: its axis, and what its cells stand for."""

    axis: AnyAxis
    cells: Cells

    def wanted(self, conditions: Sequence[Condition]) -> Wanted:
        """What satisfies all conditions."""
        return wanted_of(self.axis, conditions)


def read_column(
    column: LabelColumn,
    conditions: Sequence[Condition] = (),
    order: Sequence[str] | None = None,
    *,
    finer: bool = False,
) -> Reading:
    """The reading of a column for some conditions on it; `order` lines up values that are text.

    `finer` reads ranges of numbers as if values had more decimals than anything shows.

    Notes
    -----
    Numbers are uniform over the steps of the attribute's decimals, dates over days. Where a
    release shows only part of a numeric domain, `*` also covers as many steps more as the manifest
    states, half of them below and half above what is shown.
    """
    kind = str(column.entry.get("type", "category"))
    if kind in ("numeric", "date"):
        return Reading(*NumberLabels(column, dates=kind == "date", finer=finer).reading(conditions))
    return Reading(*TextLabels(column, kind, conditions, order).reading())
