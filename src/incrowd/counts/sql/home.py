"""The records in an SQL engine, counted request by request: more rows than memory holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd.counts.base import FrequencySet, Recoding, RowCounts
from incrowd.counts.groups import Groups, Histogram
from incrowd.counts.placement import GroupOfRecord
from incrowd.counts.sql._partition import SqlPartition
from incrowd.counts.sql._requests import recoded
from incrowd.table.sql_rows import SqlRows


class SqlCounts(RowCounts):
    """Counts over coded rows in an SQL engine.

    Parameters
    ----------
    rows
        The distinct rows with their records.
    attributes, sensitive
        The quasi-identifiers, and what else is counted.
    totals
        How many records have each code, of all of these.

    Notes
    -----
    Every answer is one aggregation over the rows that it is about, in the engine; only counts come
    into memory.
    """

    def __init__(
        self,
        rows: SqlRows,
        attributes: Sequence[str],
        sensitive: Sequence[str],
        totals: Mapping[str, IntArray],
    ) -> None:
        self.rows = rows
        self.attributes = tuple(attributes)
        self.sensitive = tuple(sensitive)
        self._totals = dict(totals)
        self.most_rows = rows.engine.most_rows
        self.records = int(totals[self.attributes[0]].sum())
        self.sql_names = [rows.sql_name(name) for name in (*self.attributes, *self.sensitive)]
        self.cardinalities = np.array(
            [len(totals[name]) for name in (*self.attributes, *self.sensitive)], dtype=np.int64
        )

    def frequency_set(self, recoding: Recoding, *, sensitive: Sequence[str] = ()) -> FrequencySet:
        """The frequency set of the recoded attributes."""
        many = len(recoding)
        with self._shown(recoding) as (keys, shown, source):
            found = self.rows.engine.ask(f"{_grouped(keys, shown, source)} ORDER BY {keys}")
            histograms = {}
            for name in sensitive:
                with_value = f"{shown}, r.{self.rows.sql_name(name)} AS value"
                grouped = _grouped(f"{keys}, value", with_value, source)
                pairs = self.rows.engine.ask(f"{grouped} ORDER BY {keys}, value")
                histograms[name] = self._histogram(name, pairs, many)
        codes = np.empty((len(found["n"]), many), dtype=np.int64)
        for position in range(many):
            codes[:, position] = found[f"g{position}"]
        groups = Groups(found["n"].astype(np.int64), histograms)
        return FrequencySet(tuple(recoding), codes, groups)

    def fineness(self, recoding: Recoding, smallest: int) -> tuple[int, int]:
        """How many rows a frequency set has, and how many records are in rows below a size."""
        with self._shown(recoding) as (keys, shown, source):
            small = f"CASE WHEN n < {smallest} THEN n ELSE 0 END"
            found = self.rows.engine.ask(
                f"SELECT count(*) AS many, CAST(coalesce(sum({small}), 0) AS BIGINT) AS small "
                f"FROM ({_grouped(keys, shown, source)})"
            )
        return int(found["many"][0]), int(found["small"][0])

    @contextmanager
    def _shown(self, recoding: Recoding) -> Iterator[tuple[str, str, str]]:
        """SQL, for one block: the names of recoded codes, these codes by name, and their source."""
        lookups = [(self.rows.sql_name(name), lookup) for name, lookup in recoding.items()]
        with recoded(self.rows.engine, lookups) as (cells, joins):
            shown = ", ".join(f"{cell} AS g{position}" for position, cell in enumerate(cells))
            keys = ", ".join(f"g{position}" for position in range(len(recoding)))
            yield keys, shown, f"{self.rows.table} r {joins}"

    def partition(self) -> SqlPartition:
        """A fresh partition: all records in node 0."""
        return SqlPartition(
            self.rows,
            self.sql_names[: len(self.attributes)],
            self.cardinalities[: len(self.attributes)].tolist(),
            {name: self.rows.sql_name(name) for name in self.sensitive},
            {name: self._totals[name] for name in self.sensitive},
            self.records,
        )

    def groups_of(self, recoding: Recoding, codes: IntArray, groups: IntArray) -> GroupOfRecord:
        """For each record the group of the combination of recoded codes that it has."""
        partition = self.partition()
        lookups = {self.rows.sql_name(name): lookup for name, lookup in recoding.items()}
        nodes = partition.combine(lookups, codes)
        group_of_node = np.full(int(nodes.max(initial=0)) + 1, -2, dtype=np.int64)
        group_of_node[nodes] = groups
        return partition.group_of_records(group_of_node)

    def totals(self, sensitive: str) -> IntArray:
        """How often each code of a sensitive attribute occurs."""
        return self._totals[sensitive]

    def _histogram(self, name: str, pairs: Mapping[str, IntArray], many: int) -> Histogram:
        """The histogram of rows sorted by `many` columns and then by value."""
        begins = np.ones(len(pairs["n"]), dtype=np.bool_)
        begins[1:] = False
        for position in range(many):
            cells = pairs[f"g{position}"]
            begins[1:] |= cells[1:] != cells[:-1]
        offsets = np.append(np.flatnonzero(begins), len(begins))
        values, counts = pairs["value"].astype(np.int64), pairs["n"].astype(np.int64)
        return Histogram.of(offsets, values, counts, self._totals[name])


def _grouped(keys: str, shown: str, source: str) -> str:
    """SQL: the records of each combination of keys."""
    return (
        f"SELECT {keys}, CAST(sum(n) AS BIGINT) AS n FROM (SELECT {shown}, r.n FROM {source}) "
        f"GROUP BY {keys}"
    )
