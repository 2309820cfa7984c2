"""Looking patients up: some of the source, with all their quasi-identifiers, in source and release.

The same patients are taken wherever the records live: those whose codes have a remainder of 0, by
arithmetic that every home of the records can do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd._runtime.manifests import ManifestEntry
from incrowd.report.crowds import Alike, rows_alike
from incrowd.table.elsewhere import RowsElsewhere

if TYPE_CHECKING:
    from incrowd.attacks.compatibility import SharedAttribute
    from incrowd.engines.preparation import Prepared
    from incrowd.methods.base import Outcome
    from incrowd.table import Column, Table

_ABOUT = 400
"""How many different rows of quasi-identifiers are looked up, or up to twice as many."""
_FACTOR, _PRIME = 1_000_003, 2_147_483_647
_MOST_GROUPS = 2_000_000


@dataclass(frozen=True)
class Known:
    """Patients of the source: `codes` of their quasi-identifiers, row by row, and how many each."""

    codes: IntArray
    people: IntArray


@dataclass(frozen=True)
class LookedUp:
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


def known_people(
    table: Table, quasi: Sequence[str], crowds: int, alike: Alike | None = None
) -> Known:
    """Some patients of a table with `crowds` different rows of quasi-identifiers.

    `alike` is what `rows_alike` gives, where that is known.
    """
    apart = max(1, crowds // _ABOUT)
    if isinstance(table, RowsElsewhere):
        rows = table.home
        names = [rows.sql_name(name) for name in quasi]
        mixed = "CAST(0 AS BIGINT)"
        for name in names:
            mixed = f"(({mixed} * {_FACTOR} + {name}) % {_PRIME})"
        listed = ", ".join(names)
        found = rows.engine.ask(
            f"SELECT {listed}, CAST(sum(n) AS BIGINT) AS n FROM {rows.table} "
            f"WHERE {mixed} % {apart} = 0 GROUP BY {listed} ORDER BY {listed}"
        )
        held = np.column_stack([found[name].astype(np.int64) for name in names])
        return Known(held, found["n"].astype(np.int64))
    found_alike = alike or rows_alike(table, quasi)
    assert found_alike is not None
    first = found_alike.first
    codes = np.column_stack([table[name].codes[first].astype(np.int64) for name in quasi])
    mixed_codes = np.zeros(len(first), dtype=np.int64)
    for at in range(len(quasi)):
        mixed_codes = (mixed_codes * _FACTOR + codes[:, at]) % _PRIME
    chosen = mixed_codes % apart == 0
    return Known(codes[chosen], found_alike.sizes[chosen])


def look_up(
    known: Known,
    columns: Sequence[Column],
    published: Prepared,
    entries: Mapping[str, ManifestEntry],
    outcome: Outcome,
) -> LookedUp | None:
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

    if not len(known.people) or len(outcome.group_sizes) > _MOST_GROUPS:
        return None
    shared = [
        _shared(at, column, known, published, entries[column.name], outcome)
        for at, column in enumerate(columns)
    ]
    fitting = np.zeros(len(known.people), dtype=np.int64)
    for pairs in compatible_pairs(shared, len(known.people)):
        if len(pairs.people):
            sizes = outcome.group_sizes[pairs.rows]
            fitting[pairs.people] = np.add.reduceat(sizes, pairs.offsets[:-1])
    found = fitting > 0
    people = known.people[found]
    return LookedUp(
        people=int(known.people.sum()),
        alone=int(known.people[fitting == 1].sum()),
        nowhere=int(known.people[~found].sum()),
        fewest=int(fitting[found].min()) if found.any() else None,
        average=float((fitting[found] * people).sum() / people.sum()) if found.any() else None,
    )


def _shared(
    at: int,
    column: Column,
    known: Known,
    published: Prepared,
    entry: ManifestEntry,
    outcome: Outcome,
) -> SharedAttribute:
    import polars as pl

    from incrowd.attacks.compatibility import SharedAttribute
    from incrowd.attacks.known_values import KnownValues
    from incrowd.attacks.label_meanings import read_labels
    from incrowd.labels.reading import LabelWriting

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
