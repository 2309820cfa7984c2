"""KL-divergence: how far the distribution that a release lets expect is from the original's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from incrowd._runtime.plain_fields import PlainFields
from incrowd.errors import InputError
from incrowd.labels import Meaning, beside_original, domain_of

if TYPE_CHECKING:
    import polars as pl

    from incrowd.published.opened import ReleaseLike
    from incrowd.sources import SourceLike
    from incrowd.utility._spreading import Points
    from incrowd.utility.published import Published


@dataclass(frozen=True)
class KLDivergence(PlainFields):
    """The divergence of a release from its original, in nats; see `kl_divergence`."""

    divergence: float
    """0 when the release tells the distribution of the original."""
    baseline: float
    """That of the table in which all quasi-identifiers are suppressed."""
    ratio: float | None
    """divergence / baseline: 0 nothing is lost, 1 all of it; None where there is nothing to lose.

    It exceeds 1 where labels mislead more than `*` would: boxes that overlap on points that no
    record has, or many suppressed records.
    """
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    records: int
    """Records of the original that are compared."""
    points: int
    """Different rows of quasi-identifiers and sensitive attributes among them."""


def kl_divergence(
    release: ReleaseLike | str | Path,
    original: SourceLike,
    *,
    hierarchies: Mapping[str, Meaning] | None = None,
) -> KLDivergence:
    """How far the joint distribution that a release lets expect is from that of the original.

    Parameters
    ----------
    release
        A release of any kind, or the folder of one.
    original
        The table it was made from, as a path or frame.
    hierarchies
        For an attribute, the values under each label of its hierarchy, as for
        `incrowd.query.query`; needed where labels do not say themselves what they stand for.

    Notes
    -----
    The distribution is that of all quasi-identifiers and sensitive attributes together. With p the
    share of the original's records at a point and q the share that the release lets expect there,
    the divergence is the sum of p log(p / q), in nats, over the points that the original has: at
    all others p is 0. Hence the full domain, which may have more points than atoms of the world, is
    never visited.

    q: the n records that show the same labels are spread evenly over the points of their box. A
    label has as many values as NCP counts, those included that the data lack. Where boxes overlap
    (local recoding, labels of hierarchies) a point gets a share from each. Sensitive values have
    the shares of the group. In a release of several tables quasi-identifiers are exact and only the
    tie to the sensitive values is lost; of several sensitive attributes, anatomy takes their values
    as independent within a group, a lossy join keeps them together. A suppressed record may be
    anything: it is spread over all points, sensitive values included. Records dropped for missing
    cells are left out on both sides.

    The baseline publishes the sensitive values alone; its divergence is
    log(points of the quasi-identifiers' domain) + H(sensitive) - H(all together).

    Cost: the pairs of a distinct row of the original and a distinct row of labels that match in all
    attributes but one; see `incrowd.attacks.compatibility.compatible_pairs`.

    References
    ----------
    Sun, Li, Wang (2010), A family of enhanced (l, alpha)-diversity models for privacy preserving
    data publishing, sections 3.1 and 5; Kifer and Gehrke (2006), Injecting utility into anonymized
    datasets. Differs from the paper: its formula gives a point only the share of its own record's
    label, which is no distribution where boxes overlap; the share of all boxes is taken here.

    Example
    -------
    >>> import incrowd, polars
    >>> frame = polars.DataFrame({"sex": list("FFMM"), "ill": ["Flu", "HIV", "Flu", "Flu"]})
    >>> release = incrowd.anonymize(frame, {
    ...     "attributes": {"sex": "quasi", "ill": "sensitive"},
    ...     "privacy": [{"k-anonymity": {"k": 2}}]})
    >>> found = kl_divergence(release, frame)
    >>> round(found.divergence, 4), round(found.baseline, 4)
    (0.0, 0.2158)
    """
    from incrowd.published.opened import as_release
    from incrowd.published.parts import open_parts
    from incrowd.query.estimates import known_meanings
    from incrowd.sources import describe
    from incrowd.utility._spreading import known_values, log_expected, points_of
    from incrowd.utility.original import read_original
    from incrowd.utility.published import open_published

    opened = as_release(release)
    published = open_published(opened)
    parts = published.parts or open_parts(opened)
    given = known_meanings(parts.entries, hierarchies)
    quasi, sensitive = parts.of_role("quasi"), parts.of_role("sensitive")
    frame = read_original(original, [*quasi, *sensitive], parts)
    frame = _compared(published, quasi, frame, describe(original))
    points = points_of(
        [known_values(frame[name], parts.entries[name]) for name in quasi],
        [known_values(frame[name], parts.entries[name]) for name in sensitive],
    )
    entries = {
        name: beside_original(parts.entries[name], values.texts, missing=values.has_missing)
        for name, values in zip(quasi, points.quasi, strict=True)
    }
    domain = float(sum(np.log(domain_of(entry)) for entry in entries.values()))
    expected = log_expected(parts, points, given, entries)
    suppressed = published.records["suppressed"]
    if suppressed:
        values = [len(each.texts) + each.has_missing for each in points.sensitive]
        everywhere = np.log(suppressed) - domain - np.log(np.array(values, dtype=float)).sum()
        expected = np.logaddexp(expected, everywhere)
    if not bool(np.isfinite(expected).all()):
        lost = int(points.counts[~np.isfinite(expected)].sum())
        raise InputError(
            f"{describe(original)}: {lost:,} records are covered by no row of the release. Give "
            "the table that the release was made from."
        )
    share = points.counts / frame.height
    divergence = float((share * (np.log(points.counts) - expected)).sum())
    baseline = float((share * np.log(share)).sum()) + domain + _entropy_of_values(points)
    # Rounding alone can make either negative.
    divergence, baseline = max(divergence, 0.0), max(baseline, 0.0)
    return KLDivergence(
        divergence=divergence,
        baseline=baseline,
        ratio=divergence / baseline if baseline > 0 else None,
        quasi=tuple(quasi),
        sensitive=tuple(sensitive),
        records=frame.height,
        points=len(points.counts),
    )


def _compared(
    published: Published, quasi: list[str], frame: pl.DataFrame, name: str
) -> pl.DataFrame:
    """The records of the original that the release is about: all but those dropped as missing."""
    from incrowd.utility._spreading import known_values
    from incrowd.utility.comparison import refuse_other_table

    refuse_other_table(published, frame, name)
    dropped = published.records["missing_dropped"]
    if not dropped:
        return frame
    there = np.ones(frame.height, dtype=np.bool_)
    for each in quasi:
        values = known_values(frame[each], published.entries[each])
        there &= values.people < len(values.texts)
    complete = frame.filter(there)
    if frame.height - complete.height != dropped:
        raise InputError(
            f"{name} has {frame.height - complete.height:,} records that lack a quasi-identifier, "
            f"but the release dropped {dropped:,}. Give the table that the release was made from."
        )
    return complete


def _entropy_of_values(points: Points) -> float:
    """The entropy of the sensitive attributes together, over the records."""
    from incrowd.table.packing import distinct_rows

    number, _ = distinct_rows(
        [each.people[points.record_of_point] for each in points.sensitive],
        [each.cardinality for each in points.sensitive],
        len(points.counts),
    )
    share = np.bincount(number, weights=points.counts) / points.counts.sum()
    return -float((share * np.log(share)).sum())
