"""Figures as pages: series of points as tables in Markdown, and as a picture of panels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from incrowd.report.pictures import altair, save

Point = tuple[str, float, float]
"""A series, a place on the horizontal axis, a value."""


def table(title: str, points: Sequence[Point]) -> list[str]:
    """The lines of a table: a row for each series, a column for each place."""
    series = list(dict.fromkeys(name for name, _, _ in points))
    places = sorted({place for _, place, _ in points})
    found = {(name, place): value for name, place, value in points}
    head = ["", *(f"{place:,}" for place in places)]
    lines = [f"**{title}**", "", "| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for name in series:
        cells = [number(found.get((name, place))) for place in places]
        lines.append("| " + " | ".join([name, *cells]) + " |")
    return [*lines, ""]


def number(value: float | None) -> str:
    """A number with three digits or more, nothing for none."""
    if value is None:
        return ""
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 100 else f"{value:.3g}"


def draw(
    figures: Mapping[str, Sequence[Point]], path: Path, *, columns: int, log: tuple[str, ...]
) -> None:
    """A panel for each figure; those whose titles begin with `log` on a logarithmic axis."""
    alt = altair()
    panels = []
    for title, points in figures.items():
        rows = [{"series": s, "x": x, "y": y} for s, x, y in points]
        kind = "log" if title.startswith(log) else "linear"
        axis = alt.Axis(grid=False, tickCount=5, format="~s")
        panels.append(
            alt.Chart(alt.Data(values=rows))
            .mark_line(point=True)
            .encode(
                x=alt.X("x:Q", title=None, axis=axis),
                y=alt.Y("y:Q", title=None, axis=axis, scale=alt.Scale(type=kind)),
                color=alt.Color("series:N", title=None),
            )
            .properties(width=260, height=180, title=alt.Title(title, fontSize=11, anchor="start"))
        )
    save(alt.concat(*panels, columns=columns), path)


def write_page(path: Path, lines: Sequence[str]) -> None:
    """Write a page, and print it."""
    path.write_text("\n".join(lines), encoding="utf-8")
    print("\n".join(lines))
