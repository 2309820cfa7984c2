"""The risk-utility picture: each run a point, its risk across, cells as they were upward."""

from __future__ import annotations

from collections.abc import Sequence

from incrowd.report.scatter import Axis, Point, linear, logarithmic, scatter


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


def risk_utility(points: Sequence[Point], one: str = "record") -> str:
    """The picture of releases, and of the raw file, as an SVG element.

    `x` of a point is its highest risk, the chance of pointing at the right record: above 0 and at
    most 1. `y` is the share of cells as they were. `one` is what is counted.

    Notes
    -----
    Risk has a logarithmic axis, for 1 in 5 and 1 in 50 matter as much as 1 in 1 and 1 in 10.
    """
    across = Axis(
        f"highest risk of a {one}",
        logarithmic([0.1, 1.0, *(point.x for point in points if point.x > 0)]),
        lambda risk: f"risk at most {one_in(risk)}",
        one_in,
    )
    up = Axis(
        "cells of quasi-identifiers as they were",
        linear([0.0, 1.0]),
        lambda kept: f"{kept:.0%} of the cells as they were",
        lambda kept: f"{kept:.0%}",
    )
    return scatter(points, "Risk and utility of each run", across, up).svg("risk-utility")
