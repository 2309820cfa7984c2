"""The picture of policies side by side: a panel for each figure, a bar for each policy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.report.pictures import altair, save

if TYPE_CHECKING:
    from incrowd.comparison import Candidate

PANELS = (
    ("cells of quasi-identifiers as they were (%)", "unchanged"),
    ("share of its domain that a cell may stand for (NCP, %)", "ncp"),
    ("average error of counts (%)", "error"),
    ("error of counts below 1 % of records (%)", "error_few"),
    ("records in the group of a record", "seen"),
    ("seconds", "seconds"),
)


def draw_policies(candidates: Sequence[Candidate], path: str | Path) -> None:
    """Write the picture of the policies that led to a release."""
    alt = altair()
    done = [each for each in candidates if each.problem is None]
    order = [each.name for each in done]
    panels = []
    for number, (title, figure) in enumerate(PANELS):
        rows = [
            {"policy": each.name, "value": _figures(each)[figure]}
            for each in done
            if _figures(each)[figure] is not None
        ]
        if not rows:
            continue
        base = alt.Chart(alt.Data(values=rows)).encode(
            y=alt.Y(
                "policy:N",
                sort=order,
                title=None,
                axis=alt.Axis(labelLimit=260) if number % 3 == 0 else alt.Axis(labels=False),
            ),
            x=alt.X("value:Q", title=None, axis=alt.Axis(grid=False, tickCount=4)),
        )
        bars = base.mark_bar(color="#4c78a8", height={"band": 0.6})
        text = base.mark_text(align="left", dx=3).encode(text=alt.Text("value:Q", format=".3~g"))
        panels.append(
            (bars + text).properties(
                width=210,
                height=28 * len(order),
                title=alt.Title(title, fontSize=11, anchor="start"),
            )
        )
    save(alt.concat(*panels, columns=3), path)


def _figures(candidate: Candidate) -> dict[str, Any]:
    error = candidate.query_error
    return {
        "unchanged": None if candidate.cells is None else 100 * candidate.cells[0],
        "ncp": None if candidate.ncp is None else 100 * candidate.ncp,
        "error": None if error is None or error.all.average is None else 100 * error.all.average,
        "error_few": (
            None if error is None or error.few.average is None else 100 * error.few.average
        ),
        "seen": None if candidate.sizes is None else candidate.sizes.seen_by_record,
        "seconds": candidate.seconds,
    }
