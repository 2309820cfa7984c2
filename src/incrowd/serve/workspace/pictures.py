"""The risk-utility picture: each run a point, with its risk across and cells as they were upward.

Drawn as SVG with presentation attributes only (no style sheet, no script), so that it shows under
the strictest content security policy. Points differ in shape as well as in colour, and every one
is written beside and told in the alternative text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

Shape = Literal["diamond", "circle", "square"]

WIDTH, HEIGHT = 640, 380
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 150, 24, 58
_STEPS = (1, 2, 5)
_LINE = 18  # pixels from one label to the next at least
_INK, _FAINT, _PAPER = "#22303c", "#c9d3db", "#ffffff"
# Okabe and Ito's colours, which people with any kind of colour blindness can tell apart.
_FILLS: dict[Shape, str] = {"diamond": "#d55e00", "circle": "#0072b2", "square": "#009e73"}


@dataclass(frozen=True)
class ReleasePoint:
    """One release (or the raw file): its highest risk, the share of cells as they were, its name.

    `risk` is the chance of pointing at the right record, above 0 and at most 1. `address` is what
    a click opens; None where there is nothing to open.
    """

    name: str
    risk: float
    kept: float
    shape: Shape = "circle"
    address: str | None = None

    @property
    def told(self) -> str:
        """The point in words."""
        kept = f"{self.kept:.0%} of the cells as they were"
        return f"{self.name}: risk at most {one_in(self.risk)}, {kept}"


def one_in(risk: float) -> str:
    """A risk as people say it: `1 in 20`.

    Example
    -------
    >>> one_in(0.05), one_in(1.0)
    ('1 in 20', '1 in 1')
    """
    if risk <= 0:
        return "0"
    times = 1 / risk
    return (
        f"1 in {round(times):,}"
        if times >= 10 or abs(times - round(times)) < 0.05
        else (f"1 in {times:.1f}")
    )


def risk_utility(points: Sequence[ReleasePoint]) -> str:
    """The picture of some points as an SVG element.

    Notes
    -----
    Risk has a logarithmic axis, for 1 in 5 and 1 in 50 matter as much as 1 in 1 and 1 in 10.
    Labels that would touch are moved apart. Cost: quadratic in the points, of which there are few.
    """
    furthest = _furthest(points)
    described = "; ".join(point.told for point in points) or "no run yet"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="group" '
        'width="100%" font-family="inherit" font-size="13" class="risk-utility" '
        f'aria-label="{escape(f"Risk and utility of each run. {described}.")}">',
        f'<rect x="{_LEFT}" y="{_TOP}" width="{_plot_width()}" height="{_plot_height()}" '
        f'fill="{_PAPER}" stroke="{_FAINT}" />',
        *_axes(furthest),
    ]
    levels = _apart([_y(point.kept) for point in points])
    for point, level in zip(points, levels, strict=True):
        parts.append(_drawn(point, _x(point.risk, furthest), _y(point.kept), level))
    return "".join([*parts, "</svg>"])


def _plot_width() -> int:
    return WIDTH - _LEFT - _RIGHT


def _plot_height() -> int:
    return HEIGHT - _TOP - _BOTTOM


def _furthest(points: Sequence[ReleasePoint]) -> float:
    """The lowest risk on the axis: a step beyond that of all points."""
    lowest: float = min((point.risk for point in points if point.risk > 0), default=0.1)
    for times in (step * 10**power for power in range(1, 10) for step in _STEPS):
        if times * lowest >= 1.2:
            return 1 / float(times)
    return lowest


def _x(risk: float, furthest: float) -> float:
    """Low risk on the left, 1 in 1 on the right."""
    bounded = min(max(risk, furthest), 1.0)
    return _LEFT + _plot_width() * (1 - math.log(bounded) / math.log(furthest))


def _y(kept: float) -> float:
    return _TOP + _plot_height() * (1 - min(max(kept, 0.0), 1.0))


def _axes(furthest: float) -> list[str]:
    bottom, right = HEIGHT - _BOTTOM, WIDTH - _RIGHT
    parts = []
    for tenth in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = _y(tenth)
        parts.append(
            f'<line x1="{_LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="{_FAINT}" />'
        )
        parts.append(_text(_LEFT - 8, y + 4, f"{tenth:.0%}", "end"))
    last = math.inf
    for times in _ticks(furthest):
        x = _x(1 / times, furthest)
        parts.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{bottom}" y2="{bottom + 5}" stroke="{_INK}" />'
        )
        if last - x >= 58:
            parts.append(_text(x, bottom + 20, f"1 in {times:,}", "middle"))
            last = x
    middle = _LEFT + _plot_width() / 2
    parts.append(_text(_LEFT, HEIGHT - 12, "← safer", "start"))
    parts.append(_text(middle, HEIGHT - 12, "highest risk of a record"))
    parts.append(_text(right, HEIGHT - 12, "riskier →", "end"))
    parts.append(_text(_LEFT, _TOP - 9, "↑ cells of quasi-identifiers as they were", "start"))
    return parts


def _ticks(furthest: float) -> list[int]:
    """Whole numbers for the axis of risk, from 1 in 1 on."""
    most = round(1 / furthest)
    return [s * 10**p for p in range(10) for s in _STEPS if s * 10**p <= most]


def _text(x: float, y: float, text: str, anchor: str = "middle", weight: str = "normal") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{_INK}" text-anchor="{anchor}" '
        f'font-weight="{weight}">{escape(text)}</text>'
    )


def _apart(levels: Sequence[float]) -> list[float]:
    """The levels of labels, moved down where they would touch."""
    placed: dict[int, float] = {}
    free = -math.inf
    for number in sorted(range(len(levels)), key=lambda n: levels[n]):
        placed[number] = max(levels[number], free)
        free = placed[number] + _LINE
    over = max([0.0, *(level - (HEIGHT - _BOTTOM) for level in placed.values())])
    return [placed[number] - over for number in range(len(levels))]


def _drawn(point: ReleasePoint, x: float, y: float, level: float) -> str:
    """A point, a thin line to its label, and the label right of the plot."""
    right = WIDTH - _RIGHT + 12
    weight = "bold" if point.shape == "square" else "normal"
    body = (
        f"<title>{escape(point.told)}</title>"
        f'<path d="M{x:.1f} {y:.1f}L{right - 4:.1f} {level:.1f}" stroke="{_FAINT}" fill="none" />'
        + _mark(point.shape, x, y)
        + _text(right, level + 4, point.name, "start", weight)
    )
    if point.address is None:
        return f"<g>{body}</g>"
    return f'<a href="{escape(point.address)}" aria-label="{escape(point.told)}">{body}</a>'


def _mark(shape: Shape, x: float, y: float) -> str:
    look = f'fill="{_FILLS[shape]}" stroke="{_PAPER}" stroke-width="2"'
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="8" {look} />'
    if shape == "square":
        return f'<rect x="{x - 8:.1f}" y="{y - 8:.1f}" width="16" height="16" {look} />'
    corners = f"{x:.1f},{y - 10:.1f} {x + 10:.1f},{y:.1f} {x:.1f},{y + 10:.1f} {x - 10:.1f},{y:.1f}"
    return f'<polygon points="{corners}" {look} />'
