"""The groups of a release, counted once: all models judge from these tables.

`groups` has a number `g` and a size `n` for every distinct combination of quasi-identifier cells;
a histogram has, for one sensitive attribute, the count `n` of each `value` in each group `g` of
that `size`; its totals have the count `n` of each `value` (as `text` too) in all records. Missing
cells are the empty text, so a value of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from incrowd.verify.counting.records import TABLE, PublishedRecords
from incrowd.verify.verdict import Measured, shown, significant

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from duckdb import DuckDBPyConnection

    from incrowd.verify.counting.facts import PatientFacts


class UnjudgeableError(Exception):
    """A promise cannot be judged; the message says why, without a cell of the data."""


class ApartError(Exception):
    """The tables show the values of attributes apart, and not which of them belong together."""


@dataclass(frozen=True)
class HistogramTables:
    """The names of the tables that count one sensitive attribute."""

    groups: str
    totals: str


@dataclass(frozen=True)
class JointTable:
    """A table of which sensitive values belong together: a group `g`, a column per attribute.

    `published` is whether the files show it; else the original does.
    """

    table: str
    columns: Mapping[str, str]
    published: bool = True


@dataclass(frozen=True)
class PublishedGroups:
    """The groups of the published records, and the histograms made so far.

    `joint` has the values that belong together where they do not stand beside the records.
    """

    records: PublishedRecords
    quasi: tuple[str, ...]
    count: int
    smallest: int
    largest: int
    _listed: frozenset[str]
    _histograms: dict[str, HistogramTables] = field(default_factory=dict)
    joint: JointTable | None = None
    events: frozenset[str] = frozenset()
    """The attributes of which a record, that is a patient, may hold several values.

    Their histograms count, for each value, the patients who hold it: the counts of a group may add
    up to more than its size.
    """
    one: str = "record"
    """What one of those that are counted is called."""
    facts: PatientFacts | None = None
    """What may be known of patients, where these are counted."""

    @property
    def connection(self) -> DuckDBPyConnection:
        """The connection that holds all tables."""
        return self.records.connection

    @property
    def total(self) -> int:
        """The number of published records."""
        return self.records.rows

    def measured(self) -> Measured:
        """Return the number of groups with their smallest, average and largest size."""
        return {
            "count": self.count,
            "smallest": self.smallest,
            "average": significant(self.total / self.count),
            "largest": self.largest,
        }

    def row(self, sql: str, parameters: Mapping[str, Any] | None = None) -> tuple[Any, ...]:
        """Return the one row that a query gives."""
        (found,) = self.connection.execute(sql, parameters or {}).fetchall()
        return tuple(found)

    def histogram(self, attribute: str) -> HistogramTables:
        """Return the tables that count a sensitive attribute, made when first asked for."""
        if attribute not in self._histograms:
            self._histograms[attribute] = self._count(self.sensitive_name(attribute))
        return self._histograms[attribute]

    def together(self, attributes: Sequence[str], condition: str = "true") -> str:
        """Return SQL that selects the distinct rows of values, as `g` and `v0`, `v1` and so on.

        Raises an ApartError where the tables do not show which values belong together. Only groups
        that meet the `condition` on `g` are selected.
        """
        for attribute in attributes:
            self._require(attribute)
        if self.joint is not None:
            columns = [self.joint.columns[attribute] for attribute in attributes]
            source = self.joint.table
        elif all(attribute in self.records.columns for attribute in attributes):
            names = [self.records.sql_name(attribute) for attribute in attributes]
            columns = [f"unnest(values_{name})" for name in names]
            source = "groups"
        else:
            raise ApartError
        values = ", ".join(f"{column} AS v{number}" for number, column in enumerate(columns))
        return f"SELECT DISTINCT g, {values} FROM {source} WHERE {condition}"

    def labels(self, attribute: str) -> str:
        """Return SQL that selects the different values of an attribute, once `together` did."""
        if self.joint is not None:
            return f"SELECT DISTINCT {self.joint.columns[attribute]} FROM {self.joint.table}"
        return f"SELECT DISTINCT {self.records.sql_name(attribute)} FROM {TABLE}"

    def sensitive_name(self, attribute: str) -> str:
        """Return the name that a sensitive attribute beside the records has in SQL."""
        self._require(attribute)
        if attribute not in self.records.columns:
            raise UnjudgeableError(
                f"the release does not show which values of {shown(attribute)} belong to a record"
            )
        return self.records.sql_name(attribute)

    def _require(self, attribute: str) -> None:
        if attribute not in self._listed:
            raise UnjudgeableError(f"no column {shown(attribute)} is published")

    def _count(self, column: str) -> HistogramTables:
        made = HistogramTables(f"histogram_{column}", f"totals_{column}")
        self.connection.execute(
            f"CREATE TABLE {made.groups} AS SELECT g, size, value, sum(part)::BIGINT AS n"
            f" FROM (SELECT g, n AS size, unnest(values_{column}) AS value, unnest(parts) AS part"
            " FROM groups) GROUP BY g, size, value"
        )
        self.connection.execute(
            f"CREATE TABLE {made.totals} AS SELECT value, value AS text,"
            f" sum(n)::BIGINT AS n FROM {made.groups} GROUP BY value"
        )
        return made


def build_groups(
    records: PublishedRecords,
    quasi: Iterable[str],
    sensitive: Iterable[str],
    *,
    keyed: bool = False,
    undivided: bool = False,
) -> PublishedGroups:
    """Group the records by their quasi-identifiers, ready to count the sensitive attributes.

    The table `groups` has the quasi-identifiers of each only where it is to be `keyed` by them.
    Without any, all records are one group where these may be `undivided`.
    """
    quasi = tuple(column for column in quasi if column in records.columns)
    keys = [records.sql_name(column) for column in quasi]
    listed = frozenset(column for column in sensitive if column in records.columns)
    if not keys and not undivided:
        raise UnjudgeableError("no quasi-identifier is published, so there are no groups")
    if not records.rows:
        raise UnjudgeableError("no record is published, so there are no groups")
    # The lists save a join back to the counts, which costs five times as much.
    lists = "".join(
        f", list({name}) AS values_{name}"
        for name in sorted(records.sql_name(column) for column in listed)
    )
    parts = ", list(n) AS parts" if listed else ""
    named = "".join(f", {key}" for key in keys) if keyed else ""
    records.connection.execute(
        f"CREATE TABLE groups AS SELECT row_number() OVER () AS g, sum(n)::BIGINT AS n"
        f"{parts}{lists}{named} FROM {TABLE} GROUP BY {', '.join(keys) or '()'}"
    )
    ((count, smallest, largest),) = records.connection.execute(
        "SELECT count(*), min(n), max(n) FROM groups"
    ).fetchall()
    return PublishedGroups(records, quasi, count, smallest, largest, listed)
