"""The risk-utility picture: a point for each policy, as SVG that stands inside a page.

Points differ by shape, outlined where another policy is better, and each has its label beside it,
so that the picture is read without colours. Every point is a link, and the picture says in words
what it shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from markupsafe import Markup

from incrowd.console import percent

_LEFT, _RIGHT, _TOP, _BOTTOM = 50, 22, 24, 46
_MARK = 6.0
_CHARACTER, _LINE = 6.5, 14.0
_LONGEST = 34
_NEAR = 5.0
_WIDE = 20.0
"""Risks that differ by more than this factor are drawn on a logarithmic scale."""
_LEAST = 0.005
"""Shares that are kept are never drawn as if a smaller difference mattered."""
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
    """A policy in the picture: its risk, and the share of the information that it keeps."""

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
        told = f"{self.name}: risk {percent(self.risk)}, {percent(self.kept)} kept"
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
    finds no place is shortened to the number of its point.
    """
    across = _risk_scale([point.risk for point in points], [at for _, at in lines], width)
    up = _kept_scale([point.kept for point in points], height)
    placed = [(point, across.at(point.risk), up.at(point.kept)) for point in points]
    parts = [
        *_axes(across, up, risk, width, height),
        *_reference_lines(lines, across, width, height),
        *_joined(placed),
        *_marked(placed, width, height),
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
        low, high = max(0.0, low - _LEAST), min(1.0, high + _LEAST)
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
        '<text class="name" x="{left}" y="12" text-anchor="start" dx="-44">↑ information kept</text>'
    ).format(left=_LEFT, top=_TOP, bottom=bottom, right=right, under=height - 8, risk=named)


def _reference_lines(
    lines: Sequence[tuple[str, float]], across: Scale, width: int, height: int
) -> Iterator[Markup]:
    for name, risk in lines:
        x = across.at(risk)
        left = x > width / 2
        yield Markup(
            '<path class="held" d="M{x:.1f},{top}V{bottom}"/>'
            '<text class="tick" x="{beside:.1f}" y="{y}" text-anchor="{anchor}">{name}</text>'
        ).format(
            x=x, top=_TOP, bottom=height - _BOTTOM, beside=x - 5 if left else x + 5,
            y=height - _BOTTOM - 6, anchor="end" if left else "start", name=name,
        )  # fmt: skip


def _paths(placed: Sequence[_Placed]) -> list[list[tuple[float, float]]]:
    """The corners of the line through each series."""
    ordered = sorted(placed, key=lambda each: (each[0].series, each[0].number))
    series = groupby(ordered, key=lambda each: each[0].series)
    return [[(x, y) for _, x, y in members] for _, members in series]


def _joined(placed: Sequence[_Placed]) -> Iterator[Markup]:
    for path in _paths(placed):
        if len(path) > 1:
            corners = "L".join(f"{x:.1f},{y:.1f}" for x, y in path)
            yield Markup('<path class="series" d="M{}"/>').format(corners)


def _along(path: Sequence[tuple[float, float]]) -> Iterator[_Box]:
    """Small boxes that cover a line."""
    for (left, low), (right, high) in pairwise(path):
        steps = max(1, int(math.hypot(right - left, high - low) / _NEAR))
        for step in range(steps + 1):
            x = left + (right - left) * step / steps
            y = low + (high - low) * step / steps
            yield _Box(x - 1, y - 1, x + 1, y + 1)


def _marked(placed: Sequence[_Placed], width: int, height: int) -> Iterator[Markup]:
    taken = [_Box(x - _MARK, y - _MARK, x + _MARK, y + _MARK) for _, x, y in placed]
    crossed = [box for path in _paths(placed) for box in _along(path)]
    frame = _Box(_LEFT + 2, 2, width - 2, height - _BOTTOM - 2)
    for point, x, y in placed:
        text, box, anchor = _label(point, x, y, taken, crossed, frame)
        taken.append(box)
        yield Markup(
            '<a href="{link}" aria-label="{words}; open its report"><title>{words}</title>'
            '<g transform="translate({x:.1f} {y:.1f})">{shape}</g>'
            '<text x="{at:.1f}" y="{low:.1f}" text-anchor="{anchor}">{text}</text></a>'
        ).format(
            link=point.link, words=point.words, x=x, y=y, shape=_shape(point.shape, point.beaten),
            at={"start": box.left, "middle": (box.left + box.right) / 2, "end": box.right}[anchor],
            low=box.bottom - 3.5, anchor=anchor, text=text,
        )  # fmt: skip


@dataclass(frozen=True)
class _Box:
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: _Box) -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def within(self, other: _Box) -> bool:
        return (
            self.left >= other.left
            and self.right <= other.right
            and self.top >= other.top
            and self.bottom <= other.bottom
        )


def _label(
    point: Point,
    x: float,
    y: float,
    taken: Sequence[_Box],
    crossed: Sequence[_Box],
    frame: _Box,
) -> tuple[str, _Box, str]:
    """A text for a point, where it is put, and the end that is nearest to the point."""
    label, number = point.label, f"({point.number})"
    full = label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…"
    for text, avoided in ((full, [*taken, *crossed]), (full, taken), (number, taken)):
        for box, anchor in _places(x, y, len(text) * _CHARACTER):
            if box.within(frame) and not any(box.meets(other) for other in avoided):
                return text, box, anchor
    box, anchor = next(_places(x, y, len(number) * _CHARACTER))
    return number, box, anchor


def _places(x: float, y: float, width: float) -> Iterator[tuple[_Box, str]]:
    """The places for a label around a point, the best first."""
    half = _LINE / 2
    for away in (4.0, 12.0):
        out = _MARK + away
        for up in (0.0, -_LINE * 0.8, _LINE * 0.8):
            low, high = y + up - half, y + up + half
            yield _Box(x + out, low, x + out + width, high), "start"
            yield _Box(x - out - width, low, x - out, high), "end"
        for middle in (y - out - half + 2, y + out + half - 2):
            yield _Box(x - width / 2, middle - half, x + width / 2, middle + half), "middle"


def _shape(shape: str, beaten: bool) -> Markup:
    r, s, t = _MARK, _MARK * 0.89, _MARK * 1.2
    path = _SHAPES[shape].format(r=f"{r:g}", d=f"{2 * r:g}", s=f"{s:.4g}", t=f"{t:.4g}", n="2.4")
    return Markup('<path class="{}" d="{}"/>').format("beaten" if beaten else "point", path)


def _short_percent(share: float) -> str:
    return f"{100 * share:.4g} %"
