"""The picture of patterns: the buckets with their sizes and purities, before and after."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd._runtime.sentences import cut_short
from incrowd.report.drawing import Bars, bars, panels, save

if TYPE_CHECKING:
    from incrowd.utility.pattern_mining.api import Patterns
    from incrowd.utility.pattern_mining.survival import Survival
    from incrowd.utility.pattern_mining.tree import Bucket

BEFORE, AFTER, ASKED = "original", "release, its own rule", "release, the original's rule"
_KINDS = {BEFORE: "before", AFTER: "after", ASKED: "asked"}
_LONGEST, _WIDTH = 60, 640


def draw_patterns(patterns: Patterns, path: str | Path) -> None:
    """Write the picture of the buckets; with an original, of what the release keeps of each.

    A bucket is a row with two bars: its records, and the share of its leading class. Of a release
    only records that surely satisfy the rule are drawn.

    Notes
    -----
    Of each original bucket there are up to three bars: itself, the released bucket that is most
    alike, and its own rule asked of the release. The title of the row tells the verdict.
    """
    rows = picture_rows(patterns)
    drawn = [
        bars(
            [
                Bars(name, [(_KINDS[row["series"]], row[of], f"{row[of]:{form}}") for row in found])
                for name, found in groupby(rows, key=lambda row: row["bucket"])
            ],
            title,
            width=_WIDTH,
        )
        for title, of, form in (
            ("records", "records", ",.0f"),
            ("share of the leading class (%)", "purity", ".1f"),
        )
    ]
    shown = list(dict.fromkeys(row["series"] for row in rows))
    key = [(_KINDS[name], name) for name in shown] if len(shown) > 1 else []
    save(panels(drawn, 2, key), path)


def picture_rows(patterns: Patterns) -> list[dict[str, Any]]:
    """What the picture shows: a row for each bar, with its bucket, series, records and purity."""
    if patterns.original is None:
        series = AFTER if patterns.released else BEFORE
        return [
            _row(_title(bucket), series, bucket.sure, bucket.sure_purity)
            for bucket in patterns.buckets
        ]
    return [row for kept in patterns.survival for row in _rows(kept)]


def _rows(kept: Survival) -> list[dict[str, Any]]:
    title = f"{_title(kept.bucket)}: {kept.verdict}"
    rows = [_row(title, BEFORE, kept.bucket.sure, kept.bucket.sure_purity)]
    if kept.match is not None:
        rows.append(_row(title, AFTER, kept.match.sure, kept.match.sure_purity))
    rows.append(_row(title, ASKED, kept.sure, kept.purity))
    return rows


def _row(bucket: str, series: str, records: int, purity: float | None) -> dict[str, Any]:
    share = 0.0 if purity is None else 100 * purity
    return {"bucket": bucket, "series": series, "records": records, "purity": share}


def _title(bucket: Bucket) -> str:
    """The rule and its class, shortened where it would fill the picture."""
    return f"{cut_short(bucket.text, _LONGEST)} → {bucket.leading}"
