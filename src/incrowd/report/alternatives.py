"""The picture of strings to choose from: research value against the sizes of groups."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.report.pictures import altair, save

if TYPE_CHECKING:
    from incrowd.methods.research_value import Alternative


def draw_alternatives(alternatives: Sequence[Alternative], path: str | Path) -> None:
    """Write the picture of some strings: a point each, numbered as they are listed.

    A second panel tells which attributes are at the root, or which are not where these are fewer.
    """
    alt = altair()
    rows = [_point(number, each) for number, each in enumerate(alternatives, start=1)]
    sizes = alt.Scale(type="log", nice=False, padding=30)
    values = alt.Scale(zero=False, padding=20)
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X(
            "average:Q",
            title="records in a group, on average",
            scale=sizes,
            axis=alt.Axis(grid=False, tickCount=5),
        ),
        y=alt.Y("value:Q", title="research value", scale=values, axis=alt.Axis(grid=False)),
    )
    points = base.mark_circle(size=110, color="#4c78a8", opacity=1)
    numbers = base.mark_text(align="left", dx=8, dy=-6).encode(text="number:N")
    picture = (points + numbers).properties(width=420, height=300)
    listed = (
        alt.Chart(alt.Data(values=rows))
        .mark_text(align="left", limit=620)
        .encode(
            y=alt.Y("number:N", sort=[row["number"] for row in rows], title=None),
            x=alt.value(4),
            text=alt.Text("listed:N"),
        )
        .properties(width=620, height=max(22 * len(rows), 40))
    )
    save(alt.hconcat(picture, listed), path)


def _point(number: int, each: Alternative) -> dict[str, Any]:
    return {
        "number": str(number),
        "value": each.value,
        "average": each.average,
        "listed": _listed(each),
    }


def _listed(each: Alternative) -> str:
    """What a string shows nothing of, or what it shows, whichever is shorter to say."""
    shown = [name for name in each.levels if name not in each.roots]
    if not each.roots:
        return "shows something of every attribute"
    if len(shown) < len(each.roots):
        told = ", ".join(shown) if shown else "no attribute"
        return f"{len(each.roots)} at the root; shows {told}"
    return f"{len(each.roots)} at the root: {', '.join(each.roots)}"
