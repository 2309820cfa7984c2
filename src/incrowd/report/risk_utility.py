"""The risk-utility picture: a point for each policy, as SVG that stands inside a page.

Points differ by shape, outlined where another policy is better, and each has its label beside it,
so that the picture is read without colours. Every point is a link, and the picture says in words
what it shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from markupsafe import Markup

from incrowd._runtime.console import percent
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
_WIDE = 20.0
"""Risks that differ by more than this factor are drawn on a logarithmic scale."""
_LEAST = 0.1
"""The axis of what is kept spans at least this, so that small differences look small."""
_SHAPES: dict[str, str] = {
    "circle": "M-{r},0a{r},{r} 0 1,0 {d},0a{r},{r} 0 1,0 -{d},0Z",
    "square": "M-{s},-{s}H{s}V{s}H-{s}Z",
    "triangle": "M0,-{t}L{t},{s}H-{t}Z",
    "diamond": "M0,-{t}L{t},0L0,{t}L-{t},0Z",
    "inverted": "M0,{t}L{t},-{s}H-{t}Z",
    "cross": "M-{n},-{t}H{n}V-{n}H{t}V{n}H{n}V{t}H-{n}V{n}H-{t}V-{n}H-{n}Z",
}
SHAPES = tuple(_SHAPES)


@dataclass(frozen=True)
class Point:
    """A policy in the picture: its risk, and 1 - NCP."""

    number: int
    name: str
    label: str
    risk: float
    kept: float
    link: str
    series: int
    """Points of one series have the same shape, and are joined by a line."""
    beaten: bool = False

    @property
    def shape(self) -> str:
        """The name of its shape."""
        return SHAPES[self.series % len(SHAPES)]

    @property
    def words(self) -> str:
        """What the point shows."""
        told = f"{self.name}: risk {percent(self.risk)}, 1 - NCP {percent(self.kept)}"
        return f"{told}, beaten by another" if self.beaten else told


_Placed = tuple[Point, float, float]
"""A point with its place in the picture."""


def mark(shape: str, *, beaten: bool = False) -> Markup:
    """The shape alone, to stand in a line of text."""
    return Markup(
        '<svg class="mark" viewBox="-9 -9 18 18" width="15" height="15" aria-hidden="true">{}</svg>'
    ).format(_shape(shape, beaten))


def risk_utility(
    points: Sequence[Point],
    title: str,
    risk: str,
    *,
    lines: Sequence[tuple[str, float]] = (),
    width: int = 720,
    height: int = 400,
) -> Markup:
    """The picture of risk (to the right) against what is kept (upwards).

    Parameters
    ----------
    points
        One for each policy.
    title
        What the picture is, for those who cannot see it.
    risk
        What the horizontal axis is called.
    lines
        Risks to hold the points against, drawn as vertical lines with their names.
    width, height
        In pixels.

    Notes
    -----
    Labels are put where they cover nothing, one after the other: O(n^2) for n points. A label that
    finds no place is shortened to the number of its point. Points on one spot share a mark and
    have their labels, each with its shape, in rows beside it.
    """
    across = _risk_scale([point.risk for point in points], [at for _, at in lines], width)
    up = _kept_scale([point.kept for point in points], height)
    placed = [(point, across.at(point.risk), up.at(point.kept)) for point in points]
    paths = _paths(placed)
    parts = [
        *_axes(across, up, risk, width, height),
        *_reference_lines(lines, across, width, height),
        *_joined(paths),
        *_marked(placed, [box for path in paths for box in along(path)], width, height),
    ]
    words = f"{title}. {'; '.join(point.words for point in points)}."
    return Markup(
        '<svg class="scatter" role="group" viewBox="0 0 {w} {h}" width="{w}" height="{h}" '
        'aria-label="{words}"><title>{title}</title><desc>{words}</desc>{parts}</svg>'
    ).format(w=width, h=height, words=words, title=title, parts=Markup("").join(parts))


@dataclass(frozen=True)
class Scale:
    """From shares to pixels, with the shares that have a tick."""

    at: Callable[[float], float]
    ticks: tuple[float, ...]
    logarithmic: bool = False


def _risk_scale(risks: Sequence[float], lines: Sequence[float], width: int) -> Scale:
    """From 0 on, or logarithmic where risks differ by much."""
    known = [*risks, *lines]
    low, high = min(known), max(known)
    span = width - _LEFT - _RIGHT - 2 * _MARK
    if low > 0 and high / low > _WIDE:
        first, last = math.log10(low) - 0.08, math.log10(high) + 0.08
        step = span / (last - first)
        decades = range(math.floor(first), math.ceil(last) + 1)
        digits = (1, 2, 5) if last - first < 2.2 else (1,)
        ticks = [digit * 10.0**decade for decade in decades for digit in digits]
        shown = tuple(tick for tick in ticks if first <= math.log10(tick) <= last and tick <= 1)
        return Scale(lambda risk: _LEFT + _MARK + (math.log10(risk) - first) * step, shown, True)
    ticks = _ticks(0.0, high)
    step = span / (max(ticks[-1], high) or 1.0)
    return Scale(lambda risk: _LEFT + _MARK + risk * step, tuple(ticks))


def _kept_scale(kept: Sequence[float], height: int) -> Scale:
    """Around the shares that occur, never beyond 0 and 1."""
    low, high = min(kept), max(kept)
    if high - low < _LEAST:
        high = min(1.0, max(_LEAST, (low + high + _LEAST) / 2))
        low = high - _LEAST
    ticks = _ticks(low, high)
    first, last = min(ticks[0], low), max(ticks[-1], high)
    step = (height - _TOP - _BOTTOM - 2 * _MARK) / ((last - first) or 1.0)
    return Scale(lambda share: height - _BOTTOM - _MARK - (share - first) * step, tuple(ticks))


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers from at most `low` to at least `high`, within 0 and 1, five or so."""
    rough = max(high - low, 1e-6) / 5
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * digit for digit in (1, 2, 5, 10) if unit * digit >= rough - 1e-12)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    found = [number * step for number in range(first, last + 1)]
    return [tick for tick in found if -1e-9 <= tick <= 1 + 1e-9] or [low]


def _axes(across: Scale, up: Scale, risk: str, width: int, height: int) -> Iterator[Markup]:
    bottom, right = height - _BOTTOM, width - _RIGHT
    for tick in across.ticks:
        x = across.at(tick)
        yield Markup(
            '<path class="grid" d="M{x:.1f},{top}V{bottom}"/>'
            '<text class="tick" x="{x:.1f}" y="{y}" text-anchor="middle">{text}</text>'
        ).format(x=x, top=_TOP, bottom=bottom, y=bottom + 16, text=_short_percent(tick))
    for tick in up.ticks:
        y = up.at(tick)
        yield Markup(
            '<path class="grid" d="M{left},{y:.1f}H{right}"/>'
            '<text class="tick" x="{x}" y="{low:.1f}" text-anchor="end">{text}</text>'
        ).format(left=_LEFT, right=right, y=y, x=_LEFT - 6, low=y + 4, text=_short_percent(tick))
    named = f"{risk} (logarithmic)" if across.logarithmic else risk
    yield Markup(
        '<path class="axis" d="M{left},{top}V{bottom}H{right}"/>'
        '<text class="name" x="{right}" y="{under}" text-anchor="end">{risk} →</text>'
        '<text class="name" x="6" y="12">↑ 1 - NCP</text>'
    ).format(left=_LEFT, top=_TOP, bottom=bottom, right=right, under=height - 8, risk=named)


def _reference_lines(
    lines: Sequence[tuple[str, float]], across: Scale, width: int, height: int
) -> Iterator[Markup]:
    """Vertical lines, their names above the frame; the further left, the further left its name."""
    ordered = sorted((across.at(risk), name) for name, risk in lines)
    for number, (x, name) in enumerate(ordered):
        anchor = "end" if x > width - 70 or number < len(ordered) - 1 else "middle"
        yield Markup(
            '<path class="held" d="M{x:.1f},{top}V{bottom}"/>'
            '<text class="tick" x="{at:.1f}" y="{y}" text-anchor="{anchor}">{name}</text>'
        ).format(
            x=x, at=x + 8 if anchor == "end" else x, top=_TOP - 8, bottom=height - _BOTTOM,
            y=_TOP - 12, anchor=anchor, name=name,
        )  # fmt: skip


def _paths(placed: Sequence[_Placed]) -> list[list[tuple[float, float]]]:
    """The corners of the line through each series."""
    ordered = sorted(placed, key=lambda each: (each[0].series, each[1], each[2]))
    series = groupby(ordered, key=lambda each: each[0].series)
    return [[(x, y) for _, x, y in members] for _, members in series]


def _joined(paths: Sequence[Sequence[tuple[float, float]]]) -> Iterator[Markup]:
    for path in paths:
        if len(path) > 1:
            corners = "L".join(f"{x:.1f},{y:.1f}" for x, y in path)
            yield Markup('<path class="series" d="M{}"/>').format(corners)


def _marked(
    placed: Sequence[_Placed], lines: Sequence[Box], width: int, height: int
) -> Iterator[Markup]:
    """The marks, and beside them their labels: all marks are placed before any label."""
    spots = _spots(placed)
    taken = [around(x, y, _MARK) for _, x, y in spots]
    frame = Box(_LEFT + 2, _TOP - 8, width - 2, height - _BOTTOM - 2)
    crowded = len(placed) > width / _ROOM
    for points, x, y in sorted(spots, key=lambda spot: -len(spot[0])):
        rows, box = _labelled(points, x, y, taken, lines, frame, crowded=crowded)
        taken.append(box)
        first = next((point for point in points if not point.beaten), points[0])
        end = leader(x, y, box)
        if end is not None:
            yield Markup('<path class="leader" d="M{:.1f},{:.1f}L{:.1f},{:.1f}"/>').format(
                x, y, *end
            )
        if len(points) == 1:
            yield _link(first, _at(x, y, _shape(first.shape, first.beaten)), rows[0][0], box, x)
            continue
        yield _at(x, y, _shape(first.shape, first.beaten))
        for number, row in enumerate(rows):
            left, top = box.left, box.top + number * LINE
            for point, text in zip(points[number * len(rows[0]) :], row, strict=False):
                own = Box(left + _INDENT, top, left + _wide([text]), top + LINE)
                small = _at(left + 6, top + LINE / 2, _shape(point.shape, point.beaten), _SMALL)
                yield _link(point, small, text, own, own.left - 1)
                left += _wide([text])


_INDENT = 14.0
"""The room for a small mark before a label."""


def _wide(row: Sequence[str]) -> float:
    """The width of a row of labels, each with its mark before it."""
    return sum(_INDENT + len(text) * CHARACTER + 3 for text in row)


def _spots(placed: Sequence[_Placed]) -> list[tuple[list[Point], float, float]]:
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
    full = [[_shortened(point.label)] for point in points]
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


def _shortened(label: str) -> str:
    return label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…"


def _link(point: Point, shape: Markup, text: str, box: Box, x: float) -> Markup:
    """A mark with its label, written from the end that is nearest to the mark."""
    anchor = "start" if box.left > x else "end" if box.right < x else "middle"
    return Markup(
        '<a href="{link}" aria-label="{words}; open its report"><title>{words}</title>{shape}'
        '<text x="{at:.1f}" y="{low:.1f}" text-anchor="{anchor}">{text}</text></a>'
    ).format(
        link=point.link, words=point.words, shape=shape, anchor=anchor, text=text,
        at={"start": box.left, "middle": (box.left + box.right) / 2, "end": box.right}[anchor],
        low=box.bottom - 3.5,
    )  # fmt: skip


def _at(x: float, y: float, shape: Markup, scale: float = 1.0) -> Markup:
    size = "" if scale == 1.0 else f" scale({scale:g})"
    return Markup('<g transform="translate({:.1f} {:.1f}){}">{}</g>').format(x, y, size, shape)


def _shape(shape: str, beaten: bool) -> Markup:
    r, s, t = _MARK, _MARK * 0.89, _MARK * 1.2
    path = _SHAPES[shape].format(r=f"{r:g}", d=f"{2 * r:g}", s=f"{s:.4g}", t=f"{t:.4g}", n="2.4")
    return Markup('<path class="{}" d="{}"/>').format("beaten" if beaten else "point", path)


def _short_percent(share: float) -> str:
    return f"{100 * share:.4g} %"
