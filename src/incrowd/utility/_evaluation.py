"""Evaluation: every metric of a release in one place, what an analyst sees first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incrowd._runtime.plain_fields import plain
from incrowd._runtime.progress import Progress, silent
from incrowd.errors import InputError
from incrowd.labels import Meaning
from incrowd.published.granularity import Seen
from incrowd.published.opened import ReleaseLike
from incrowd.published.originals import original_tables
from incrowd.sources import SourceLike
from incrowd.table.profiles import PATIENTS
from incrowd.utility._kl_divergence import KLDivergence, kl_divergence
from incrowd.utility._of_events import LeftOfEvents, left_of_events
from incrowd.utility._of_histories import LeftOfHistories, left_of_histories
from incrowd.utility.classification import Classification
from incrowd.utility.classification import classification as classify
from incrowd.utility.comparison import Comparison, compare
from incrowd.utility.discernibility import Discernibility, discernibility
from incrowd.utility.granularity import overall, seen
from incrowd.utility.ncp import NCP, ncp
from incrowd.utility.original import original_of
from incrowd.utility.published import open_published
from incrowd.utility.query_error import QueryError, query_error


@dataclass(frozen=True)
class Evaluation:
    """How much of the data's value a release kept; see `evaluate`.

    All of it is about records, or patients, as `one` says; `events` is about the rows of these.
    """

    seen: tuple[Seen, ...]
    """What an analyst sees of each quasi-identifier."""
    ncp: NCP
    discernibility: Discernibility
    source: int
    published: int
    suppressed: int
    missing_dropped: int
    comparison: Comparison | None = None
    classification: Classification | None = None
    query_error: QueryError | None = None
    kl_divergence: KLDivergence | None = None
    one: str = "record"
    events: tuple[LeftOfEvents, ...] = ()
    """Of patients with several rows, what is left of these, table by table."""
    known_events: tuple[LeftOfHistories, ...] = ()
    """Of events that attackers may know, what is left of them, where their source is given."""

    @property
    def suppressed_share(self) -> float:
        """The share of the source's records that were suppressed."""
        return self.suppressed / self.source

    def as_dict(self) -> dict[str, Any]:
        """The evaluation for JSON, what an analyst sees first."""
        unchanged, hidden = overall(self.seen)
        return {
            "cells_unchanged": unchanged,
            "cells_hidden": hidden,
            "seen": {each.name: each.as_dict() for each in self.seen},
            "ncp": plain(self.ncp),
            "discernibility": plain(self.discernibility),
            f"{self.one}s": {
                "source": self.source,
                "published": self.published,
                "suppressed": self.suppressed,
                "missing_dropped": self.missing_dropped,
                "suppressed_share": self.suppressed_share,
            },
            **({"events": plain(self.events)} if self.events else {}),
            **({"known_events": plain(self.known_events)} if self.known_events else {}),
            "comparison": plain(self.comparison),
            "classification": plain(self.classification),
            "query_error": plain(self.query_error),
            "kl_divergence": plain(self.kl_divergence),
        }


def evaluate(
    release: ReleaseLike | str | Path,
    original: SourceLike = None,
    *,
    classification: bool = False,
    target: str | None = None,
    queries: int = 0,
    kl: bool = False,
    hierarchies: Mapping[str, Meaning] | None = None,
    progress: Progress = silent,
) -> Evaluation:
    """All utility metrics of a release, or of the one in a folder.

    Parameters
    ----------
    release
        A release, or the folder of one.
    original
        The table it was made from, as a path or frame; of linked tables that of the patients, or
        all as a mapping by their names, or as a folder with a file for each. Then also how many
        cells of each quasi-identifier are unchanged and how far the other columns' distributions
        moved.
    classification
        Whether to train decision trees as well, which takes seconds, not milliseconds; needs
        scikit-learn and a class to predict, see `classification`.
    target
        The class to predict, where several attributes have the role target or none.
    queries
        How many random counts to ask of the release and of the original, see `query_error`.
    kl
        Whether to measure how far the joint distribution moved as well, see `kl_divergence`.
    hierarchies
        For these two: the values under each label of the hierarchy of an attribute.

    Notes
    -----
    What stands first is what an analyst sees: cells as they were, cells hidden, how wide the rest
    is. NCP is one figure among others.

    Of patients with several rows the original is gathered by the unit of the release. Cells, NCP,
    counts and trees are about patients and their own columns, those who are suppressed count as
    lost; `events` says apart how many rows are left, and how many patients have each value.

    Example
    -------
    >>> import polars
    >>> from types import SimpleNamespace
    >>> release = SimpleNamespace(
    ...     data=polars.DataFrame({"sex": ["F", "M", "*", "*"]}),
    ...     manifest={
    ...         "records": {"source": 4, "published": 4, "suppressed": 0, "missing_dropped": 0},
    ...         "attributes": [
    ...             {"name": "sex", "role": "quasi", "published": True, "type": "category",
    ...              "labels": "set", "domain": 2}
    ...         ],
    ...     },
    ... )
    >>> found = evaluate(release)
    >>> found.seen[0].hidden, found.ncp.total
    (0.5, 0.5)
    """
    if (queries or kl) and original is None:
        raise InputError(
            "Counts and distributions of a release are compared with the original: give it."
        )
    published = open_published(release)
    records = published.records
    found = whole = None
    if original is not None:
        tables = original_tables(original, published.manifest)
        alone = "tables" in published.manifest and len(tables) == 1
        given, original = original, tables[PATIENTS]
        whole = None if alone else given
        others = published.of_role("sensitive", "target", "keep")
        of_events = [name for rows in published.events for name in rows.entries]
        found = original_of(given, [*published.quasi, *others], published, of_events)
    return Evaluation(
        seen=seen(published),
        ncp=ncp(published),
        discernibility=discernibility(published),
        source=records["source"],
        published=records["published"],
        suppressed=records["suppressed"],
        missing_dropped=records["missing_dropped"],
        comparison=None if original is None else compare(published, original, found),
        classification=(
            classify(published, original, target=target, progress=progress)
            if classification
            else None
        ),
        query_error=(
            query_error(
                release, original, queries=queries, hierarchies=hierarchies, progress=progress
            )
            if queries
            else None
        ),
        kl_divergence=(kl_divergence(release, original, hierarchies=hierarchies) if kl else None),
        one=published.one,
        events=left_of_events(published, found),
        known_events=(
            () if whole is None else left_of_histories(published, release, whole, hierarchies or {})
        ),
    )
