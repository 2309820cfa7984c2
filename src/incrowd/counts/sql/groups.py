"""The groups of records in an SQL engine: the group of each node, beside rows that know theirs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd.counts.base import NodeHistograms
from incrowd.counts.placement import GroupOfRecord, Placement
from incrowd.table.sql_engine import SqlEngine
from incrowd.table.sql_histories import PROFILE, SqlHistories
from incrowd.table.sql_rows import SqlRows

GROUP = "grp"
"""The column of an engine with the number of a group."""


@dataclass(frozen=True, eq=False, repr=False)
class SqlGroups(Placement):
    """Rows of an engine in groups.

    Parameters
    ----------
    rows
        The coded rows, and their engine.
    source
        SQL: the same rows with the number of their `node`.
    nodes, groups
        The group of each node, -1 for those whose records are suppressed.
    owner
        What keeps the tables of `source`.
    """

    rows: SqlRows
    source: str
    nodes: IntArray
    groups: IntArray
    owner: object

    @property
    def engine(self) -> SqlEngine:
        """Where the rows are."""
        return self.rows.engine

    def renumbered(self, number: IntArray) -> SqlGroups:
        """The same with other numbers of the groups; suppressed records stay so."""
        return replace(self, groups=np.append(number, -1)[self.groups].astype(np.int64))

    @contextmanager
    def published(self) -> Iterator[str]:
        """SQL, for the queries of one block: the rows that are not suppressed, with their `grp`."""
        kept = self.groups >= 0
        columns = ", ".join(f"r.{name}" for name in self.rows.kept)
        with self.rows.engine.lent({"node": self.nodes[kept], GROUP: self.groups[kept]}) as g:
            yield (
                f"(SELECT {columns}, {g}.{GROUP} FROM ({self.source}) r "
                f"JOIN {g} ON r.node = {g}.node)"
            )

    def histograms(self, attribute: str, groups: int) -> NodeHistograms:
        """The codes of an attribute that occur in each group, with their records."""
        name = self.rows.sql_name(attribute)
        with self.published() as source:
            found = self.rows.engine.ask(
                f"SELECT {GROUP}, {name} AS code, CAST(sum(n) AS BIGINT) AS n FROM {source} "
                f"GROUP BY {GROUP}, {name} ORDER BY {GROUP}, {name}"
            )
        per_group = np.bincount(found[GROUP], minlength=groups)
        return NodeHistograms(
            np.concatenate(([0], np.cumsum(per_group))),
            found["code"].astype(np.int64),
            found["n"].astype(np.int64),
        )


@contextmanager
def published_profiles(histories: SqlHistories, group: GroupOfRecord) -> Iterator[str]:
    """SQL, for the queries of one block: the profiles that are not suppressed, with their `GROUP`.

    Those that are in memory have their number; the others what the engine knows of them, too.
    """
    if isinstance(group, SqlGroups):
        with group.published() as source:
            yield source
        return
    assert histories.profile is not None
    of_profile = np.asarray(group)
    kept = of_profile >= 0
    known = {PROFILE: histories.profile[kept], GROUP: of_profile[kept]}
    with histories.engine.lent(known) as lent:
        yield lent
