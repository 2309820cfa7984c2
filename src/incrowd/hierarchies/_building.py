"""The hierarchy that a policy asks for, built for a column."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from incrowd.hierarchies._automatic import automatic
from incrowd.hierarchies.computed import dates, flat, intervals, mask
from incrowd.hierarchies.explicit import from_file, from_tree

if TYPE_CHECKING:
    from incrowd.hierarchies.base import Hierarchy
    from incrowd.hierarchies.description import HierarchyPolicy
    from incrowd.table import Column


def build(
    column: Column, asked: HierarchyPolicy | None, base: Path = Path()
) -> tuple[Column, Hierarchy]:
    """The column in tree order and its hierarchy; files are looked up from `base`."""
    if asked is None:
        return flat(column)
    if asked.file is not None:
        return from_file(column, base / asked.file)
    if asked.tree is not None:
        return from_tree(column, asked.tree)
    if asked.intervals is not None:
        given = asked.intervals
        return intervals(column, start=given.start, stop=given.stop, widths=given.widths)
    if asked.mask is not None:
        return mask(column, length=asked.mask.length, direction=asked.mask.direction)
    if asked.dates is not None:
        return dates(column, levels=asked.dates)
    return automatic(column) if asked.auto else flat(column)
