"""Figures as pages: series of points as tables in Markdown, and as a picture of panels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from markupsafe import Markup

from incrowd.report.drawing import Drawing, look, panels, save, text
from incrowd.report.scatter import linear, logarithmic

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#a6487d", "#e69f00", "#56b4e9", "#1b2733")
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


@dataclass(frozen=True)
class Panel:
    """One picture of lines: its series, and what they are held against."""

    title: str
    points: Sequence[Point]
    x: str = ""
    y: str = ""
    log: bool = False
    bounds: tuple[float, float] | None = None
    """The ends of the vertical axis, where they are not 0 and the largest value."""
    held: Mapping[str, float] = field(default_factory=dict)
    """Values with a line each, and their names."""
    band: tuple[float, float] | None = None
    dashes: Mapping[str, str] = field(default_factory=dict)
    """The series whose lines are broken, and how."""

    def drawn(self, colours: Mapping[str, str], width: int, height: int) -> Drawing:
        """The panel as a picture."""
        left, top, right, bottom = 52.0, 22.0, width - 8.0, height - 34.0
        across = linear([place for _, place, _ in self.points])
        values = [value for _, _, value in self.points]
        up = logarithmic(values) if self.log else linear(self.bounds or [0.0, *values])

        def x_at(place: float) -> float:
            return left + 8 + across.at(place) * (right - left - 16)

        def y_at(value: float) -> float:
            return bottom - up.at(value) * (bottom - top)

        marks = []
        if self.band is not None:
            low, high = (y_at(end) for end in self.band)
            marks.append(
                Markup(
                    '<rect x="{}" y="{:.1f}" width="{}" height="{:.1f}" fill="#dde2e7"/>'
                ).format(left + 8, high, right - left - 16, low - high)
            )
        for tick in up.ticks:
            marks.append(_level("grid", left, right, y_at(tick)))
            marks.append(text(left - 6, y_at(tick) + 4, short(tick), "tick", "end"))
        ticks = ((x_at(tick), short(tick)) for tick in across.ticks)
        marks += [text(x, bottom + 16, tick, "tick", "middle") for x, tick in ticks]
        for name, value in self.held.items():
            marks.append(_level("held", left, right, y_at(value)))
            marks.append(text(right, y_at(value) - 4, name, "tick", "end"))
        marks += [_level("axis", left, right, bottom), text(4, 12, self.y, "name")]
        marks.append(text(right, height - 4, self.x, "name", "end"))
        for series in dict.fromkeys(name for name, _, _ in self.points):
            own = [(x_at(x), y_at(y)) for name, x, y in self.points if name == series]
            marks.append(line(own, colours[series], self.dashes.get(series, "none")))
        told = "; ".join(f"{name} at {x:,}: {y:.4g}" for name, x, y in self.points)
        return Drawing(width, height, self.title, told, marks)


def _level(kind: str, left: float, right: float, y: float) -> Markup:
    return Markup('<path {} d="M{},{:.1f}H{}"/>').format(look(kind), left, y, right)


def line(corners: Sequence[tuple[float, float]], colour: str, dash: str = "none") -> Markup:
    """A line through some corners, with a dot on each."""
    path = "L".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    dots = (
        Markup('<circle cx="{:.1f}" cy="{:.1f}" r="2.6" fill="{}"/>').format(x, y, colour)
        for x, y in corners
    )
    return Markup(
        '<path fill="none" stroke="{}" stroke-width="1.8" stroke-dasharray="{}" d="M{}"/>{}'
    ).format(colour, dash, path, Markup("").join(dots))


def short(value: float) -> str:
    """A tick: 45k, 250M, 0.5."""
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= unit:
            return f"{value / unit:g}{name}"
    return f"{value:.4g}"


def draw(
    shown: Sequence[Panel],
    path: Path,
    *,
    columns: int,
    title: str = "",
    names: Mapping[str, str] | None = None,
) -> None:
    """Write the picture of some panels, with a key of their series below.

    Series that have one of `names` in common share a colour, and an entry of the key.
    """
    series = dict.fromkeys(name for panel in shown for name, _, _ in panel.points)
    named = {each: (names or {}).get(each, each) for each in series}
    palette = dict(zip(dict.fromkeys(named.values()), COLOURS, strict=False))
    colours = {each: palette[name] for each, name in named.items()}
    drawn = panels([each.drawn(colours, 330, 230) for each in shown], columns, title=title)
    marks, left, y = list(drawn.marks), 8.0, drawn.height + 6
    for name, colour in palette.items():
        marks += [line([(left, y), (left + 18, y)], colour), text(left + 26, y + 4, name, "tick")]
        left += 50 + 6.5 * len(name)
    wide = max(drawn.width, left)
    save(Drawing(wide, drawn.height + 20, drawn.title, drawn.words, marks), path)


def write_page(path: Path, lines: Sequence[str]) -> None:
    """Write a page, and print it."""
    path.write_text("\n".join(lines), encoding="utf-8")
    print("\n".join(lines))
