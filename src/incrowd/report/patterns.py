"""The picture of patterns: the buckets with their sizes and purities, before and after."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.report.pictures import altair, save

if TYPE_CHECKING:
    from incrowd.utility.pattern_mining.api import Patterns
    from incrowd.utility.pattern_mining.survival import Survival
    from incrowd.utility.pattern_mining.tree import Bucket

BEFORE, AFTER, ASKED = "original", "release, its own rule", "release, the original's rule"
COLORS = {BEFORE: "#4c78a8", AFTER: "#f58518", ASKED: "#bab0ac"}
_LONGEST = 70
Row = dict[str, Any]


def draw_patterns(patterns: Patterns, path: str | Path) -> None:
    """Write the picture of the buckets; with an original, of what the release keeps of each.

    A bucket is a row with two bars: its records, and the share of its leading class. Of a release
    only records that surely satisfy the rule are drawn.

    Notes
    -----
    Of each original bucket there are up to three bars: itself, the released bucket that is most
    alike, and its own rule asked of the release. The title of the row tells the verdict.
    """
    alt = altair()
    rows = picture_rows(patterns)
    shown = list(dict.fromkeys(row["series"] for row in rows))
    order = list(dict.fromkeys(row["bucket"] for row in rows))
    panels = []
    for number, (title, field, form) in enumerate(
        (("records", "records", ",.0f"), ("share of the leading class (%)", "purity", ".1f"))
    ):
        axis = alt.Axis(labelLimit=460) if number == 0 else alt.Axis(labels=False)
        base = alt.Chart(alt.Data(values=rows)).encode(
            y=alt.Y("bucket:N", sort=order, title=None, axis=axis),
            yOffset=alt.YOffset("series:N", sort=shown),
            x=alt.X(f"{field}:Q", title=None, axis=alt.Axis(grid=False, tickCount=4)),
        )
        bars = base.mark_bar().encode(
            color=alt.Color(
                "series:N",
                title=None,
                sort=shown,
                scale=alt.Scale(domain=shown, range=[COLORS[name] for name in shown]),
                legend=alt.Legend(orient="bottom", labelLimit=300) if len(shown) > 1 else None,
            )
        )
        text = base.mark_text(align="left", dx=3).encode(text=alt.Text(f"{field}:Q", format=form))
        panels.append(
            (bars + text).properties(
                width=230,
                height=max(1, len(order)) * (16 * max(1, len(shown)) + 12),
                title=alt.Title(title, fontSize=11, anchor="start"),
            )
        )
    save(alt.concat(*panels, columns=2), path)


def picture_rows(patterns: Patterns) -> list[Row]:
    """What the picture shows: a row for each bar, with its bucket, series, records and purity."""
    if patterns.original is None:
        series = AFTER if patterns.released else BEFORE
        return [
            _row(_title(bucket), series, bucket.sure, bucket.sure_purity)
            for bucket in patterns.buckets
        ]
    return [row for kept in patterns.survival for row in _rows(kept)]


def _rows(kept: Survival) -> list[Row]:
    title = f"{_title(kept.bucket)}: {kept.verdict}"
    rows = [_row(title, BEFORE, kept.bucket.sure, kept.bucket.sure_purity)]
    if kept.match is not None:
        rows.append(_row(title, AFTER, kept.match.sure, kept.match.sure_purity))
    rows.append(_row(title, ASKED, kept.sure, kept.purity))
    return rows


def _row(bucket: str, series: str, records: int, purity: float | None) -> Row:
    share = 0.0 if purity is None else 100 * purity
    return {"bucket": bucket, "series": series, "records": records, "purity": share}


def _title(bucket: Bucket) -> str:
    """The rule and its class, shortened where it would fill the picture."""
    rule = bucket.text if len(bucket.text) <= _LONGEST else bucket.text[: _LONGEST - 1] + "…"
    return f"{rule} → {bucket.leading}"
