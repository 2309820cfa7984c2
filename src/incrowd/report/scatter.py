"""Pictures of points: each with its label beside it, where it covers nothing else.

Points differ by shape, outlined where another is better, so that the picture is read without
colours, and the picture says in words what it shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from markupsafe import Markup

from incrowd._runtime.sentences import cut_short
from incrowd.report._label_places import (
    CHARACTER,
    LINE,
    Box,
    along,
    around,
    free_place,
    last_place,
    leader,
)
from incrowd.report.drawing import PAPER, Drawing, look, text

_LEFT, _RIGHT, _TOP, _BOTTOM = 50, 22, 40, 46
_MARK = 6.0
_LONGEST = 34
_SPOT = 2.0
"""Points no further apart than this are on one spot."""
_MOST_NAMED, _IN_A_ROW = 4, 4
"""So many points of a spot have their names beside it; of more, numbers in rows of so many."""
_ROOM = 45
"""With less of the width for each point, all have numbers only."""
_SMALL = 0.7
_SHAPES: dict[str, tuple[str, str]] = {
    "circle": ("#0072b2", "M-{r},0a{r},{r} 0 1,0 {d},0a{r},{r} 0 1,0 -{d},0Z"),
    "square": ("#00795a", "M-{s},-{s}H{s}V{s}H-{s}Z"),
    "triangle": ("#b35806", "M0,-{t}L{t},{s}H-{t}Z"),
    "diamond": ("#d55e00", "M0,-{t}L{t},0L0,{t}L-{t},0Z"),
    "inverted": ("#a6487d", "M0,{t}L{t},-{s}H-{t}Z"),
    "cross": ("#1b2733", "M-{n},-{t}H{n}V-{n}H{t}V{n}H{n}V{t}H-{n}V{n}H-{t}V-{n}H-{n}Z"),
}
"""The colour and path of each; colours after Okabe and Ito, whoever is colour-blind."""
SHAPES = tuple(_SHAPES)


@dataclass(frozen=True)
class Point:
    """A point of a picture, with what a click opens."""

    number: int
    name: str
    label: str
    x: float
    y: float
    link: str | None = None
    series: int = 0
    """Points of one series have the same shape, and are joined by a line."""
    beaten: bool = False

    @property
    def shape(self) -> str:
        """The name of its shape."""
        return SHAPES[self.series % len(SHAPES)]


@dataclass(frozen=True)
class Scale:
    """From values to a share of the length of an axis, with the values that have a tick."""

    at: Callable[[float], float]
    ticks: tuple[float, ...]
    logarithmic: bool = False


@dataclass(frozen=True)
class Axis:
    """What an axis is called, its scale, and a value in words and as a tick."""

    name: str
    scale: Scale
    told: Callable[[float], str]
    written: Callable[[float], str]


_PlacedPoint = tuple[Point, float, float]
"""A point with its place in the picture."""


def mark(shape: str, *, beaten: bool = False) -> Markup:
    """The shape alone, to stand in a line of text."""
    return Markup(
        '<svg class="mark" viewBox="-9 -9 18 18" width="15" height="15" aria-hidden="true">{}</svg>'
    ).format(_shape(shape, beaten))


def scatter(
    points: Sequence[Point],
    title: str,
    across: Axis,
    up: Axis,
    *,
    lines: Sequence[tuple[str, float]] = (),
    joined: bool = False,
    width: int = 720,
    height: int = 400,
) -> Drawing:
    """The picture of some points.

    Parameters
    ----------
    points
        Where they are, with their names.
    title
        What the picture is, for those who cannot see it.
    across, up
        The axes.
    lines
        Values to hold the points against, drawn as vertical lines with their names.
    joined
        Whether a line leads through the points of a series.
    width, height
        In pixels.

    Notes
    -----
    Labels are put where they cover nothing, one after the other: O(n^2) for n points. A label that
    finds no place is shortened to the number of its point. Points on one spot share a mark and
    have their labels, each with its shape, in rows beside it.
    """
    sheet = _DrawingSheet(across, up, width, height)
    told = {
        point: f"{point.name}: {across.told(point.x)}, {up.told(point.y)}"
        + (", beaten by another" if point.beaten else "")
        for point in points
    }
    placed = [(point, sheet.x_at(point.x), sheet.y_at(point.y)) for point in points]
    paths = _paths(placed) if joined else []
    avoided = [box for path in paths for box in along(path)]
    marks = [
        *sheet.axes(),
        *sheet.reference_lines(lines),
        *_joined(paths),
        *sheet.marks(placed, told, avoided),
    ]
    return Drawing(width, height, title, "; ".join(told.values()) + ".", marks, "group")


def logarithmic(values: Sequence[float]) -> Scale:
    """Around values above 0, with round numbers as ticks: all of 1, 2 and 5, or powers of ten."""
    first, last = math.log10(min(values)) - 0.08, math.log10(max(values)) + 0.08
    decades = range(math.floor(first), math.ceil(last) + 1)
    digits = (1, 2, 5) if last - first < 2.2 else (1,)
    ticks = [digit * 10.0**decade for decade in decades for digit in digits]
    shown = tuple(tick for tick in ticks if first <= math.log10(tick) <= last)
    return Scale(
        lambda value: max(0.0, (math.log10(max(value, 1e-99)) - first) / (last - first)),
        shown,
        True,
    )


def linear(
    values: Sequence[float], *, least: float = 0.0, within: tuple[float, float] | None = None
) -> Scale:
    """Around values, between round numbers; spans at least so much, has no tick beyond bounds."""
    low, high = min(values), max(values)
    floor, ceiling = within or (-math.inf, math.inf)
    if high - low < least:
        high = min(ceiling, max(least, (low + high + least) / 2))
        low = high - least
    rough = max(high - low, 1e-6) / 5
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * digit for digit in (1, 2, 5, 10) if unit * digit >= rough - 1e-12)
    bounds = range(math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9) + 1)
    found = [number * step for number in bounds]
    ticks = [tick for tick in found if floor - 1e-9 <= tick <= ceiling + 1e-9] or [low]
    first, last = min(ticks[0], low), max(ticks[-1], high)
    return Scale(lambda value: (value - first) / ((last - first) or 1.0), tuple(ticks))


@dataclass(frozen=True)
class _DrawingSheet:
    """What a picture is drawn on: its size in pixels, and its axes."""

    across: Axis
    up: Axis
    width: int
    height: int

    def x_at(self, value: float) -> float:
        """Where a value of the axis across is."""
        wide = self.width - _LEFT - _RIGHT - 2 * _MARK
        return _LEFT + _MARK + self.across.scale.at(value) * wide

    def y_at(self, value: float) -> float:
        """Where a value of the axis up is."""
        high = self.height - _TOP - _BOTTOM - 2 * _MARK
        return self.height - _BOTTOM - _MARK - self.up.scale.at(value) * high

    def axes(self) -> Iterator[Markup]:
        """The axes with their names, a thin line at each tick."""
        across, up = self.across, self.up
        bottom, right = self.height - _BOTTOM, self.width - _RIGHT
        for tick in across.scale.ticks:
            x = self.x_at(tick)
            yield Markup('<path {} d="M{:.1f},{}V{}"/>').format(look("grid"), x, _TOP, bottom)
            yield text(x, bottom + 16, across.written(tick), "tick", "middle")
        for tick in up.scale.ticks:
            y = self.y_at(tick)
            yield Markup('<path {} d="M{},{:.1f}H{}"/>').format(look("grid"), _LEFT, y, right)
            yield text(_LEFT - 6, y + 4, up.written(tick), "tick", "end")
        named = f"{across.name} (logarithmic)" if across.scale.logarithmic else across.name
        yield Markup('<path {} d="M{},{}V{}H{}"/>').format(look("axis"), _LEFT, _TOP, bottom, right)
        yield text(right, self.height - 8, f"{named} →", "name", "end")
        yield text(6, 12, f"↑ {up.name}", "name")

    def reference_lines(self, lines: Sequence[tuple[str, float]]) -> Iterator[Markup]:
        """Vertical lines, named above the frame; the further left, the further left its name."""
        ordered = sorted((self.x_at(at), name) for name, at in lines)
        for number, (x, name) in enumerate(ordered):
            anchor = "end" if x > self.width - 70 or number < len(ordered) - 1 else "middle"
            yield Markup('<path {} d="M{:.1f},{}V{}"/>').format(
                look("held"), x, _TOP - 8, self.height - _BOTTOM
            )
            yield text(x + 8 if anchor == "end" else x, _TOP - 12, name, "tick", anchor)

    def marks(
        self, placed: Sequence[_PlacedPoint], told: Mapping[Point, str], lines: Sequence[Box]
    ) -> Iterator[Markup]:
        """The marks, and beside them their labels: all marks are placed before any label."""
        spots = _spots(placed)
        taken = [around(x, y, _MARK) for _, x, y in spots]
        frame = Box(_LEFT + 2, _TOP - 8, self.width - 2, self.height - _BOTTOM - 2)
        crowded = len(placed) > self.width / _ROOM
        for points, x, y in sorted(spots, key=lambda spot: -len(spot[0])):
            rows, box = _labelled(points, x, y, taken, lines, frame, crowded=crowded)
            taken.append(box)
            first = next((point for point in points if not point.beaten), points[0])
            end = leader(x, y, box)
            if end is not None:
                yield Markup('<path {} d="M{:.1f},{:.1f}L{:.1f},{:.1f}"/>').format(
                    look("leader"), x, y, *end
                )
            if len(points) == 1:
                shape = _at(x, y, _shape(first.shape, first.beaten))
                yield _link(first, told[first], shape, rows[0][0], box, x)
                continue
            yield _at(x, y, _shape(first.shape, first.beaten))
            for number, row in enumerate(rows):
                left, top = box.left, box.top + number * LINE
                for point, label in zip(points[number * len(rows[0]) :], row, strict=False):
                    own = Box(left + _INDENT, top, left + _wide([label]), top + LINE)
                    small = _at(left + 6, top + LINE / 2, _shape(point.shape, point.beaten), _SMALL)
                    yield _link(point, told[point], small, label, own, own.left - 1)
                    left += _wide([label])


def _paths(placed: Sequence[_PlacedPoint]) -> list[list[tuple[float, float]]]:
    """The corners of the line through each series."""
    ordered = sorted(placed, key=lambda each: (each[0].series, each[1], each[2]))
    series = groupby(ordered, key=lambda each: each[0].series)
    return [[(x, y) for _, x, y in members] for _, members in series]


def _joined(paths: Sequence[Sequence[tuple[float, float]]]) -> Iterator[Markup]:
    for path in paths:
        if len(path) > 1:
            corners = "L".join(f"{x:.1f},{y:.1f}" for x, y in path)
            yield Markup('<path {} d="M{}"/>').format(look("series"), corners)


_INDENT = 14.0
"""The room for a small mark before a label."""


def _wide(row: Sequence[str]) -> float:
    """The width of a row of labels, each with its mark before it."""
    return sum(_INDENT + len(text) * CHARACTER + 3 for text in row)


def _spots(placed: Sequence[_PlacedPoint]) -> list[tuple[list[Point], float, float]]:
    """The places of points, with all points that are there."""
    found: list[tuple[list[Point], float, float]] = []
    for point, x, y in placed:
        for points, other, high in found:
            if math.hypot(x - other, y - high) < _SPOT:
                points.append(point)
                break
        else:
            found.append(([point], x, y))
    return found


def _labelled(
    points: Sequence[Point],
    x: float,
    y: float,
    taken: Sequence[Box],
    lines: Sequence[Box],
    frame: Box,
    *,
    crowded: bool,
) -> tuple[list[list[str]], Box]:
    """The rows of labels of a spot, and where they are put."""
    numbers = [f"({point.number})" for point in points]
    short = [numbers[at : at + _IN_A_ROW] for at in range(0, len(numbers), _IN_A_ROW)]
    full = [[cut_short(point.label, _LONGEST)] for point in points]
    tried = [(short, [*taken, *lines]), (short, taken)]
    if not crowded and len(points) <= _MOST_NAMED:
        tried = [(full, [*taken, *lines]), (full, taken), *tried]
    for rows, avoided in tried:
        box = free_place(x, y, _MARK, _size(rows, len(points)), avoided, frame)
        if box is not None:
            return rows, box
    return short, last_place(x, y, _MARK, _size(short, len(points)), taken, frame)


def _size(rows: Sequence[Sequence[str]], points: int) -> tuple[float, float]:
    if points == 1:
        return len(rows[0][0]) * CHARACTER, LINE
    return max(_wide(row) for row in rows), len(rows) * LINE


def _link(point: Point, words: str, shape: Markup, label: str, box: Box, x: float) -> Markup:
    """A mark with its label, written from the end that is nearest to the mark."""
    anchor = "start" if box.left > x else "end" if box.right < x else "middle"
    at = {"start": box.left, "middle": (box.left + box.right) / 2, "end": box.right}[anchor]
    body = Markup(
        '<title>{}</title>{}<text paint-order="stroke" stroke="{}" stroke-width="3" '
        'stroke-linejoin="round" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>'
    ).format(words, shape, PAPER, at, box.bottom - 3.5, anchor, label)
    if point.link is None:
        return Markup("<g>{}</g>").format(body)
    return Markup('<a href="{}" aria-label="{}; open it">{}</a>').format(point.link, words, body)


def _at(x: float, y: float, shape: Markup, scale: float = 1.0) -> Markup:
    size = "" if scale == 1.0 else f" scale({scale:g})"
    return Markup('<g transform="translate({:.1f} {:.1f}){}">{}</g>').format(x, y, size, shape)


def _shape(shape: str, beaten: bool) -> Markup:
    colour, form = _SHAPES[shape]
    r, s, t = _MARK, _MARK * 0.89, _MARK * 1.2
    path = form.format(r=f"{r:g}", d=f"{2 * r:g}", s=f"{s:.4g}", t=f"{t:.4g}", n="2.4")
    return Markup('<path class="{}" fill="{}" stroke="{}" stroke-width="1.6" d="{}"/>').format(
        "beaten" if beaten else "point", PAPER if beaten else colour, colour, path
    )
