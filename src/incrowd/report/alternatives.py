"""The picture of strings to choose from: research value against the sizes of groups."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from incrowd.report.drawing import listing, panels, save
from incrowd.report.scatter import Axis, Point, linear, logarithmic, scatter

if TYPE_CHECKING:
    from incrowd.methods.options import AlternativeLevels


def draw_alternatives(alternatives: Sequence[AlternativeLevels], path: str | Path) -> None:
    """Write the picture of some strings: a point each, numbered as they are listed.

    A second panel tells which attributes are at the root, or which are not where these are fewer.
    """
    numbered = list(enumerate(alternatives, start=1))
    points = [
        Point(number, f"{number}", f"{number}", each.average, each.value)
        for number, each in numbered
    ]
    across = Axis(
        "records in a group, on average",
        logarithmic([point.x for point in points]),
        lambda size: f"{size:,.4g} records in a group, on average",
        lambda size: f"{size:,.4g}",
    )
    up = Axis(
        "research value",
        linear([point.y for point in points]),
        lambda value: f"research value {value:.4g}",
        lambda value: f"{value:.4g}",
    )
    picture = scatter(points, "Strings to choose from", across, up, width=480, height=340)
    listed = listing([f"{number}  {_listed(each)}" for number, each in numbered], "at the root")
    save(panels([picture, listed], 2), path)


def _listed(each: AlternativeLevels) -> str:
    """What a string shows nothing of, or what it shows, whichever is shorter to say."""
    shown = [name for name in each.levels if name not in each.roots]
    if not each.roots:
        return "shows something of every attribute"
    if len(shown) < len(each.roots):
        told = ", ".join(shown) if shown else "no attribute"
        return f"{len(each.roots)} at the root; shows {told}"
    return f"{len(each.roots)} at the root: {', '.join(each.roots)}"
