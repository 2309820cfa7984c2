"""What is known of a quasi-identifier's domain from the policy, or from cells that are values."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from incrowd.hierarchies import Hierarchy
from incrowd.labels import decimals_of
from incrowd.methods.base import CellLabels
from incrowd.policy import HierarchyPolicy
from incrowd.publish._shown_domain import Listed
from incrowd.table import Column
from incrowd.table.coding import parse_number


def listed(
    hierarchy: Hierarchy,
    wanted: HierarchyPolicy | None,
    column: Column,
    cells: CellLabels | None = None,
) -> Listed:
    """What the policy lists of a domain; nothing of a hierarchy that is made from the data."""
    if wanted is not None and wanted.intervals is not None:
        given = wanted.intervals
        parsed = [parse_number(repr(float(n))) for n in (given.start, given.stop, *given.widths)]
        return Listed(bounds=tuple(Fraction(p[0], 10 ** p[1]) for p in parsed if p is not None))
    if hierarchy.kind not in ("tree", "file"):
        return Listed()
    values = hierarchy.total - (column.missing > 0)
    below: dict[str, int] = {}
    if cells is not None:
        for text, loss in zip(cells.text_of_group, cells.loss_of_group, strict=True):
            label = cells.texts[text]
            if label is not None and loss > 0:
                weight = round(loss * (hierarchy.total - 1)) + 1
                below[label] = max(weight, below.get(label, 1))
    return Listed(values, below)


def exact_domain(column: Column, known: Listed) -> dict[str, Any]:
    """The domain of a column whose cells are published as they are: all of them are seen.

    The column holds the published records alone, and their decimals are counted anew: those of
    intervals may be more.
    """
    missing = column.missing > 0
    numbers, decimals = column.numbers, column.decimals
    if known.values is not None:
        size = known.values
    elif numbers is None or not len(numbers):
        size = len(column.values)
    else:
        while decimals and not (numbers % 10).any():
            numbers, decimals = numbers // 10, decimals - 1
        size = int(numbers[-1] - numbers[0]) + 1
        if known.bounds:
            decimals = max([decimals, *map(decimals_of, known.bounds)])
            size = int((known.bounds[1] - known.bounds[0]) * 10**decimals)
    return {"domain": size + missing, "decimals": decimals, "missing": missing}
