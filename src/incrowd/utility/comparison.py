"""A release beside the table it was made from: what stayed as it was, what moved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from incrowd._runtime.plain_fields import PlainFields
from incrowd.errors import InputError
from incrowd.hierarchies.labels import Plain
from incrowd.labels import LabelWriting
from incrowd.published.originals import OriginalRecords
from incrowd.sources import SourceLike, describe
from incrowd.table.coding import number_text, parse_date
from incrowd.utility.published import Published, cell_counts, coded_cells

LabelCounts = Mapping[str | None, int]


@dataclass(frozen=True)
class Comparison(PlainFields):
    """What the original tells beyond the release itself.

    `unchanged` gives for each quasi-identifier the share of the original's cells that are
    published as the value they were; None for dates that the original writes in another way than
    YYYY-MM-DD. `distance` gives for every other column how far its distribution moved, as total
    variation: 0 not at all, 1 to other values altogether; None for dates that were changed. Of
    patients with several rows both are about patients, by the columns that are theirs.
    """

    original: str
    unchanged: Mapping[str, float | None]
    distance: Mapping[str, float | None]
    remarks: tuple[str, ...] = ()
    """What to know of values that were taken for a patient's, each in a sentence."""


def compare(
    published: Published, original: SourceLike, given: OriginalRecords | None = None
) -> Comparison:
    """What of the original's cells and distributions a release kept.

    `given` is the original where it was read already.

    Published rows are sorted, so records cannot be paired: a value counts as unchanged as often
    as it stands in both columns. Groups tell the truth, so that is how often it was kept.
    """
    from incrowd.utility.original import original_of

    others = published.of_role("sensitive", "target", "keep")
    found = given or original_of(original, [*published.quasi, *others], published)
    frame = found.frame
    refuse_other_table(published, frame, describe(original))
    unchanged, distance = {}, {}
    for name in published.quasi:
        ours, theirs = _both(published, frame, name, labels=True)
        unchanged[name] = None if theirs is None else _kept(ours, theirs)
    for name in others:
        ours, theirs = _both(published, frame, name, labels=False)
        distance[name] = None if theirs is None else total_variation(ours, theirs)
    return Comparison(describe(original), unchanged, distance, found.remarks)


def total_variation(first: LabelCounts, second: LabelCounts) -> float:
    """Half the sum of the differences of shares, from 0 (the same) to 1 (nothing in common)."""
    one, other = sum(first.values()), sum(second.values())
    return 0.5 * sum(
        abs(first.get(value, 0) / one - second.get(value, 0) / other)
        for value in {**first, **second}
    )


def _kept(published: LabelCounts, original: LabelCounts) -> float:
    same = sum(min(count, original.get(value, 0)) for value, count in published.items())
    return same / sum(original.values())


def refuse_other_table(published: Published, frame: pl.DataFrame, name: str) -> None:
    """Refuse an original with another number of records than the release was made from."""
    records = published.records
    stated = records["published"] + records["suppressed"] + records["missing_dropped"]
    if frame.height != stated:
        raise InputError(
            f"{name} has {frame.height:,} {published.one}s, but the release accounts for "
            f"{stated:,} (published, suppressed and dropped for missing cells). Give the table "
            "that the release was made from."
        )


def _both(
    published: Published, frame: pl.DataFrame, name: str, *, labels: bool
) -> tuple[LabelCounts, LabelCounts | None]:
    """The counts of a column's values in the release and in the original, written alike.

    Of generalized labels only those that are values are counted. None for the original when its
    dates are written in a way that the release does not tell, or when the release changed them.
    """
    entry = published.entries[name]
    if "time" in entry:
        return {}, None
    theirs, ours = cell_counts(coded_cells(frame[name])), published.cells(name)
    kind = entry.get("type")
    if kind == "date" and any(text is not None and parse_date(text) is None for text in theirs):
        return ours, None
    if labels:
        writing = LabelWriting.of(entry)
        read = {text: None if text is None else writing.read(text, kind) for text in ours}
        ours = {
            found.text if isinstance(found, Plain) else None: ours[text]
            for text, found in read.items()
            if text is None or isinstance(found, Plain)
        }
    return _canonical(ours, kind), _canonical(theirs, kind)


def _canonical(counts: LabelCounts, kind: object) -> LabelCounts:
    """The counts with numbers written in one way, as a release writes them."""
    if kind != "numeric":
        return counts
    result: Counter[str | None] = Counter()
    for text, count in counts.items():
        result[text if text is None else number_text(text)] += count
    return result
