"""Looking patients up: some of the source, with all their quasi-identifiers, in source and release.

The same patients are taken wherever the records live: those whose codes have a remainder of 0, by
arithmetic that every home of the records can do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from incrowd._runtime.manifests import ManifestEntry

if TYPE_CHECKING:
    from incrowd.attacks.compatibility import SharedAttribute
    from incrowd.engines.preparation import Prepared
    from incrowd.methods.base import Outcome
    from incrowd.table import Column
    from incrowd.table.alike import Alike, RowsThatDiffer

_ABOUT = 400
"""How many different rows of quasi-identifiers are looked up, or up to twice as many."""
_MOST_GROUPS = 2_000_000


@dataclass(frozen=True)
class LinkageProbe:
    """What looking patients up finds."""

    people: int
    alone: int
    """Of them, those with one record in the release."""
    nowhere: int
    """Those whom no record fits: theirs was suppressed."""
    fewest: int | None
    """The fewest records of the release that fit any of them."""
    average: float | None
    """How many fit on average."""


def known_people(alike: Alike, crowds: int) -> RowsThatDiffer:
    """Some patients of a table with `crowds` different rows of quasi-identifiers."""
    return alike.distinct(max(1, crowds // _ABOUT))


def probe(
    known: RowsThatDiffer,
    columns: Sequence[Column],
    published: Prepared,
    entries: Mapping[str, ManifestEntry],
    outcome: Outcome,
) -> LinkageProbe | None:
    """The records of a generalized release that fit patients of its source.

    `columns` are those of the source, `published` what labels are made of, `entries` what the
    manifest says of each attribute. None where there are too many groups to try them all.

    Notes
    -----
    A record fits when each of its labels covers the value of the patient, as for
    `incrowd.attacks.link`: the same reading of labels, on the groups of the release instead of on
    its rows.
    """
    from incrowd.attacks.compatibility import compatible_pairs

    if not len(known.records) or len(outcome.group_sizes) > _MOST_GROUPS:
        return None
    shared = [
        _shared(at, column, known, published, entries[column.name], outcome)
        for at, column in enumerate(columns)
    ]
    fitting = np.zeros(len(known.records), dtype=np.int64)
    for pairs in compatible_pairs(shared, len(known.records)):
        if len(pairs.people):
            sizes = outcome.group_sizes[pairs.rows]
            fitting[pairs.people] = np.add.reduceat(sizes, pairs.offsets[:-1])
    found = fitting > 0
    people = known.records[found]
    return LinkageProbe(
        people=int(known.records.sum()),
        alone=int(known.records[fitting == 1].sum()),
        nowhere=int(known.records[~found].sum()),
        fewest=int(fitting[found].min()) if found.any() else None,
        average=float((fitting[found] * people).sum() / people.sum()) if found.any() else None,
    )


def _shared(
    at: int,
    column: Column,
    known: RowsThatDiffer,
    published: Prepared,
    entry: ManifestEntry,
    outcome: Outcome,
) -> SharedAttribute:
    import polars as pl

    from incrowd.attacks.compatibility import SharedAttribute
    from incrowd.attacks.known_values import KnownValues
    from incrowd.attacks.label_meanings import read_labels
    from incrowd.labels import LabelWriting

    texts: list[str | None] = [*column.values, None]
    values = KnownValues(
        pl.Series(column.name, [texts[code] for code in known.codes[:, at]], dtype=pl.String),
        declared_numeric=entry.get("type") == "numeric",
    )
    cells = outcome.labels[column.name]
    meaning = published.hierarchies[column.name].meanings(published.table[column.name])
    writing = LabelWriting.of(entry, meaning)
    return SharedAttribute(
        people=values.people,
        cardinality=values.cardinality,
        rows=cells.text_of_group,
        coverage=read_labels(cells.texts, values, writing),
    )
