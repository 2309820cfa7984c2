"""Patterns: what recursive partitioning finds in a table or a release, and what survives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from incrowd._runtime.plain_fields import plain, plain_fields
from incrowd.errors import InputError, ParameterError
from incrowd.labels import Meaning
from incrowd.published.opened import ReleaseLike, is_release
from incrowd.sources import SourceLike, describe
from incrowd.utility.comparison import refuse_other_table
from incrowd.utility.features import require_trees
from incrowd.utility.pattern_mining._records import (
    ClassedRecords,
    open_released,
    open_table,
    refuse_unreadable,
)
from incrowd.utility.pattern_mining.survival import Survival, survival
from incrowd.utility.pattern_mining.tree import Bucket, BucketLimits, find_buckets
from incrowd.utility.published import Published

_FEWEST = 5


@dataclass(frozen=True)
class Patterns:
    """The buckets of a table or a release; see `patterns`."""

    control: str
    released: bool
    """Whether they were found in a release, not in a raw table."""
    records: int
    """The records with a class."""
    without_class: int
    """Those left out, their cell of the control attribute being missing."""
    undetermined: int
    """Records whose class is generalized; they count against every purity."""
    classes: Mapping[str, float]
    """The share of each class among the records."""
    features: tuple[str, ...]
    limits: BucketLimits
    buckets: tuple[Bucket, ...]
    original: Patterns | None = None
    """The patterns of the original, None without it."""
    survival: tuple[Survival, ...] = ()
    """For each bucket of the original what the release keeps of it."""

    @property
    def surviving(self) -> int:
        """How many buckets of the original survive."""
        return sum(each.verdict == "survives" for each in self.survival)

    def as_dict(self) -> dict[str, Any]:
        """The patterns for JSON."""
        return {
            **plain_fields(self, without=("limits", "buckets", "original", "survival")),
            "min_size": self.limits.size,
            "min_purity": self.limits.purity,
            "max_depth": self.limits.depth,
            "buckets": plain(self.buckets),
            "original": plain(self.original),
            "survival": plain(self.survival),
            "surviving": self.surviving if self.original is not None else None,
        }

    def as_text(self) -> str:
        """The patterns as lines for people."""
        what = "release" if self.released else "table"
        shares = ", ".join(f"{_percent(share)} {name}" for name, share in self.classes.items())
        lines = [f"Patterns of {self.control} in the {what}: {self.records:,} records ({shares})."]
        if self.undetermined:
            lines.append(f"The class of {self.undetermined:,} of them is generalized.")
        if self.without_class:
            lines.append(f"{self.without_class:,} more have no class.")
        lines += [f"  {_line(each)}" for each in self.buckets]
        if not self.buckets:
            lines.append(
                f"  No bucket of {self.limits.size:,} records or more, "
                f"{_percent(self.limits.purity)} pure."
            )
        if self.original is not None:
            lines.append("")
            lines.append(
                f"{self.surviving} of {len(self.survival)} patterns of the original survive."
            )
            for kept in self.survival:
                lines += _kept_lines(kept)
        return "\n".join(lines)


def patterns(
    release_or_frame: ReleaseLike | str | Path | Any,
    control: str,
    *,
    original: SourceLike = None,
    features: Sequence[str] | None = None,
    min_size: int | None = None,
    min_purity: float = 0.95,
    max_depth: int = 4,
    hierarchies: Mapping[str, Meaning] | None = None,
) -> Patterns:
    """The buckets that recursive partitioning finds, and which of the original survive a release.

    Parameters
    ----------
    release_or_frame
        A release or the folder of one; or a raw table, as a path or frame.
    control
        The attribute whose values the tree tells apart. In a release: one of role target,
        sensitive or keep, or a quasi-identifier, of which only cells that show one value count.
    original
        The table that the release was made from: then also its own buckets, and for each of them
        what the release keeps.
    features
        The attributes that rules may be about; all others by default.
    min_size
        The fewest records of a bucket; 1 % of the records, at least 5, by default.
    min_purity
        The least share of a bucket's leading class.
    max_depth
        The most splits that lead to a bucket.
    hierarchies
        For an attribute, the values under each label of its hierarchy, where labels do not say
        themselves what they stand for.

    Notes
    -----
    The tree is scikit-learn's, grown by entropy. A published cell that may lie on either side of a
    bound can be parted off by what it surely or by what it perhaps is, and the rule says which:
    `age < 28` holds for cells that lie below 28 altogether, `age perhaps < 28` also for those that
    reach beyond it. Of a released bucket `sure` records satisfy the rule without any perhaps; only
    those count for survival, see `incrowd.utility.pattern_mining.survival`.

    Cost: O(features x records x log records) for each level of the tree, 4 bytes of memory for each
    record and feature.

    References
    ----------
    Morton (2012), An improved utility driven approach towards k-anonymity using data constraint
    rules, tables 13 to 17. Differs from the thesis: sizes and purities are counted on records that
    surely satisfy a rule, where the thesis removed overlaps by hand.

    Example
    -------
    >>> import polars
    >>> frame = polars.DataFrame({"age": [20, 30, 40, 50] * 10, "ill": ["n", "n", "y", "y"] * 10})
    >>> for bucket in patterns(frame, "ill").buckets:
    ...     print(bucket.text, bucket.leading, bucket.records, bucket.purity)
    age < 31 n 20 1.0
    age >= 31 y 20 1.0
    """
    _refuse_illegal(control, min_size, min_purity, max_depth)
    require_trees("Patterns by recursive partitioning need")
    if not (isinstance(release_or_frame, Published) or is_release(release_or_frame)):
        if original is not None:
            raise InputError("original goes with a release; the table given is a raw one.")
        if hierarchies:
            raise ParameterError("hierarchies go with a release; a raw table has no labels.")
        opened = open_table(release_or_frame, control, features)
        return _found(opened, control, _limits(opened, min_size, min_purity, max_depth), False)
    ours, published = open_released(release_or_frame, control, features, hierarchies)
    if original is None:
        return _found(ours, control, _limits(ours, min_size, min_purity, max_depth), True)
    refuse_unreadable(ours.records)
    theirs = _original(original, ours, control, published)
    limits = _limits(theirs, min_size, min_purity, max_depth)
    raw, shown = _found(theirs, control, limits, False), _found(ours, control, limits, True)
    kept = survival(raw.buckets, shown.buckets, theirs.records, ours.records)
    return replace(shown, original=raw, survival=kept)


def _original(
    original: SourceLike, ours: ClassedRecords, control: str, published: Published
) -> ClassedRecords:
    from incrowd.utility.original import read_original

    names = list(ours.records.attributes)
    frame = read_original(original, [*names, control], published)
    refuse_other_table(published, frame, describe(original))
    return open_table(frame, control, names, ours.kinds)


def _limits(opened: ClassedRecords, size: int | None, purity: float, depth: int) -> BucketLimits:
    chosen = max(_FEWEST, -(-opened.records.size // 100)) if size is None else size
    return BucketLimits(chosen, purity, depth)


def _found(opened: ClassedRecords, control: str, limits: BucketLimits, released: bool) -> Patterns:
    records = opened.records
    told = records.classes[records.classes >= 0]
    counts = np.bincount(told, minlength=len(records.names))
    return Patterns(
        control=control,
        released=released,
        records=records.size,
        without_class=opened.without_class,
        undetermined=records.size - len(told),
        classes={
            name: int(count) / records.size
            for name, count in zip(records.names, counts, strict=True)
        },
        features=tuple(records.attributes),
        limits=limits,
        buckets=find_buckets(records, limits),
    )


def _refuse_illegal(control: str, size: int | None, purity: float, depth: int) -> None:
    if not isinstance(control, str):
        raise ParameterError("control must be the name of an attribute.")
    if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 1):
        raise ParameterError(f"min_size must be a whole number of at least 1, got {size}.")
    if not 0 < purity <= 1:
        raise ParameterError(f"min_purity must be above 0 and at most 1, got {purity}.")
    if isinstance(depth, bool) or not isinstance(depth, int) or not 1 <= depth <= 30:
        raise ParameterError(f"max_depth must be a whole number from 1 to 30, got {depth}.")


def _line(bucket: Bucket) -> str:
    sure = ""
    if bucket.sure != bucket.records:
        sure = f"; {bucket.sure:,} surely, {_percent(bucket.sure_purity)} pure"
    return (
        f"{bucket.text} -> {bucket.leading} ({_percent(bucket.purity)} of {bucket.records:,}{sure})"
    )


def _kept_lines(kept: Survival) -> list[str]:
    lines = [f"  {kept.verdict}: {_line(kept.bucket)}"]
    if kept.match is not None:
        lines.append(f"    in the release: {_line(kept.match)}, overlap {_percent(kept.overlap)}")
    asked = f"    the rule itself: {kept.sure:,} surely inside"
    if kept.purity is not None:
        asked += f", {_percent(kept.purity)} {kept.bucket.leading}"
    return [*lines, f"{asked}; {kept.straddling:,} perhaps"]


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"
