"""The picture of policies side by side: a panel for each figure, a bar for each policy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from incrowd.comparison import Candidate
from incrowd.comparison.counted import counted_by
from incrowd.report.drawing import Bars, bars, panels, save

_PANELS: tuple[tuple[str, Callable[[Candidate], float | None]], ...] = (
    (
        "cells of quasi-identifiers as they were (%)",
        lambda each: None if each.cells is None else 100 * each.cells[0],
    ),
    (
        "share of its domain that a cell may stand for (NCP, %)",
        lambda each: None if each.ncp is None else 100 * each.ncp,
    ),
    (
        "average error of counts (%)",
        lambda each: _error(each, "all"),
    ),
    (
        "error of counts below 1 % of {one}s (%)",
        lambda each: _error(each, "few"),
    ),
    (
        "{one}s in the group of a {one}",
        lambda each: None if each.sizes is None else each.sizes.seen_by_record,
    ),
    ("seconds", lambda each: each.seconds),
)


def draw_policies(candidates: Sequence[Candidate], path: str | Path) -> None:
    """Write the picture of the policies that led to a release."""
    drawn, one = [], counted_by(candidates)
    for title, figure in _PANELS:
        found = [(each.name, figure(each)) for each in candidates if each.problem is None]
        rows = [
            Bars(name, [("after", value, f"{value:,.3g}" if value < 1000 else f"{value:,.0f}")])
            for name, value in found
            if value is not None
        ]
        if rows:
            drawn.append(bars(rows, title.format(one=one)))
    save(panels(drawn, 3), path)


def _error(candidate: Candidate, counts: Literal["all", "few"]) -> float | None:
    error = candidate.query_error
    average = None if error is None else getattr(error, counts).average
    return None if average is None else 100 * average
