"""The risk-utility picture: a point for each policy, its risk across and 1 - NCP upward."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from incrowd._runtime.console import percent
from incrowd.report.scatter import Axis, Point, Scale, linear, logarithmic, scatter

_WIDE = 20.0
"""Risks that differ by more than this factor are drawn on a logarithmic scale."""
_LEAST = 0.1
"""The axis of what is kept spans at least this, so that small differences look small."""


def risk_utility(
    points: Sequence[Point],
    title: str,
    risk: str,
    *,
    lines: Sequence[tuple[str, float]] = (),
    width: int = 720,
    height: int = 400,
) -> Markup:
    """The picture of risk (to the right) against what is kept (upwards), every point a link."""
    across = Axis(
        risk,
        _risk_scale([*(point.x for point in points), *(at for _, at in lines)]),
        lambda share: f"risk {percent(share)}",
        _tick,
    )
    kept = linear([point.y for point in points], least=_LEAST, within=(0, 1))
    up = Axis("1 - NCP", kept, lambda share: f"1 - NCP {percent(share)}", _tick)
    drawn = scatter(points, title, across, up, lines=lines, joined=True, width=width, height=height)
    return drawn.svg("scatter")


def _risk_scale(known: Sequence[float]) -> Scale:
    """From 0 on, or logarithmic where risks differ by much."""
    low, high = min(known), max(known)
    if low > 0 and high / low > _WIDE:
        return logarithmic(known)
    return linear([0.0, high], within=(0, 1))


def _tick(share: float) -> str:
    return f"{100 * share:.4g} %"
