"""The original table beside a release: which sensitive values belong together, found by matching.

A release as tables apart does not show which values of several sensitive attributes belong to one
record. Whoever holds the original can match its records with the published quasi-identifiers, and
so with their groups. Where equal quasi-identifiers stand in several groups, that takes an original
that names the group of every record, in a column called as in the release. That the original is the
right one is judged on the way: it must have just the published records, and in every group just the
published values.

Cells of the original are written as the manifest says that its columns are: numbers without
trailing zeros, dates by year, month and day. Reading the original and its cells (`sources`,
`table`) is all that is shared with the code that made the release.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from incrowd.verify.counting.groups import JointTable
from incrowd.verify.verdict import ORIGINAL, Finding, counted, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl
    from duckdb import DuckDBPyConnection

    from incrowd.sources import SourceLike
    from incrowd.verify.counting.records import PublishedRecords
    from incrowd.verify.counting.spellings import Spellings
    from incrowd.verify.files.layout import Layout

GROUP = "group_id"
"""The column that names the group of a record, in a release as anatomy and in an original."""


class Original:
    """The quasi-identifiers and sensitive attributes of the original, as text."""

    def __init__(self, source: SourceLike, layout: Layout) -> None:
        from incrowd.sources import read

        self._layout = layout
        self._quasi = {name: f"q{number}" for number, name in enumerate(layout.quasi)}
        self._sensitive = {name: f"s{number}" for number, name in enumerate(layout.sensitive)}
        own = (*self._quasi, *self._sensitive)
        names_groups = GROUP in getattr(source, "columns", ()) and GROUP not in own
        frame = read(source, columns=[*own, *([GROUP] if names_groups else [])])
        self._frame: pl.DataFrame | None = self._written(frame)

    def _written(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The cells as they are published, missing ones as empty text."""
        import polars as pl

        from incrowd.table.coding import code_column

        named = {**self._quasi, **self._sensitive}
        columns = []
        for attribute in self._layout.attributes:
            if attribute.name in named:
                # Of numbers, those that nobody would tell apart are read alike.
                reads = attribute.role == "sensitive" and attribute.kind == "numeric"
                column = code_column(
                    frame[attribute.name],
                    role="sensitive" if reads else "keep",
                    kind=attribute.kind,
                    date_format=attribute.date_format,
                )
                texts = pl.Series(named[attribute.name], [*column.values, ""], pl.String)
                columns.append(texts.gather(column.codes))
        if GROUP in frame.columns and GROUP not in named:
            columns.append(frame[GROUP].cast(pl.String).alias("named"))
        return pl.DataFrame(columns)

    def enter(self, connection: DuckDBPyConnection) -> None:
        """Count the different records, as a table of the connection."""
        frame, self._frame = self._frame, None
        assert frame is not None
        self._names_groups = "named" in frame.columns
        names = ", ".join(frame.columns)
        connection.register("original_frame", _Stream(frame))
        connection.execute(
            f"CREATE TABLE original AS SELECT {names}, count(*) AS n FROM original_frame"
            " GROUP BY ALL"
        )
        connection.unregister("original_frame")

    def take_for_one(self, connection: DuckDBPyConnection, spellings: Spellings) -> None:
        """Write the sensitive values as those of the release are counted."""
        spellings.take_for_one(connection, "original", self._sensitive, told=False)

    def matched(
        self, records: PublishedRecords, table: str, group: str, counts: Mapping[str, str]
    ) -> tuple[JointTable | None, Finding]:
        """Return the values that belong together in each group, and whether the original fits.

        Parameters
        ----------
        records, table
            The table of records, counted by its quasi-identifiers and the column `group`.
        counts
            For each sensitive attribute, SQL that selects the `id` of a group, a `value` and in
            `part` how many records of the group hold it.
        """
        connection = records.connection
        cells = ", ".join(f"{records.sql_name(n)} AS {q}" for n, q in self._quasi.items())
        keys = ", ".join(self._quasi.values())
        connection.execute(
            f"CREATE TABLE places AS SELECT {keys}, any_value(id) AS id,"
            " count(*) AS groups, sum(n) AS n FROM"
            f" (SELECT {cells}, {records.sql_name(group)} AS id, n FROM {table}) GROUP BY {keys}"
        )
        ((torn,),) = connection.execute("SELECT count_if(groups > 1) FROM places").fetchall()
        if torn and self._names_groups:
            keys = f"{keys}, named"
            connection.execute(
                f"CREATE OR REPLACE TABLE places AS SELECT {keys}, named AS id, sum(n) AS n FROM"
                f" (SELECT {cells}, {records.sql_name(group)} AS named, n FROM {table})"
                f" GROUP BY {keys}"
            )
        elif torn:
            told = (
                f"{counted(torn, 'combination')} of quasi-identifiers stand in several groups, so"
                " the records of the original cannot be matched with their groups"
            )
            return None, Finding(ORIGINAL, None, told)
        problems = self._judge_records(connection, keys)
        values = ", ".join(self._sensitive.values())
        connection.execute(
            f"CREATE TABLE matched AS SELECT places.id, {values}, sum(original.n)::BIGINT AS n"
            f" FROM original JOIN places USING ({keys}) GROUP BY ALL"
        )
        for name, selected in counts.items():
            ((apart,),) = connection.execute(
                "WITH held AS (SELECT id, value, sum(n) AS part FROM"
                f" (SELECT id, {self._sensitive[name]} AS value, n FROM matched) GROUP BY ALL)"
                f" SELECT count(DISTINCT id) FROM held FULL JOIN ({selected}) AS published"
                " USING (id, value) WHERE held.part IS DISTINCT FROM published.part"
            ).fetchall()
            if apart:
                problems.append(
                    f"in {counted(apart, 'group')} the values of {shown(name)} are not those of"
                    " the original"
                )
        if problems:
            return None, Finding(ORIGINAL, False, "; ".join(problems))
        told = "it has just the published records, in groups with just the published values"
        return JointTable("matched", self._sensitive, published=False), Finding(
            ORIGINAL, True, told
        )

    def _judge_records(self, connection: DuckDBPyConnection, keys: str) -> list[str]:
        """Return what speaks against the records of the original being the published ones."""
        ((whole, elsewhere, different),) = connection.execute(
            f"WITH here AS (SELECT {keys}, sum(n) AS n FROM original GROUP BY {keys})"
            " SELECT coalesce(sum(here.n), 0)::BIGINT,"
            " coalesce(sum(here.n) FILTER (places.n IS NULL), 0)::BIGINT,"
            " count_if(places.n IS NOT NULL AND here.n IS DISTINCT FROM places.n)"
            f" FROM here FULL JOIN places USING ({keys})"
        ).fetchall()
        stated = self._layout.records
        dropped = stated["suppressed"] + stated["missing_dropped"]
        problems = []
        if whole == stated["published"]:
            # The published part of the original serves as well.
            dropped = 0
        elif whole != stated["source"]:
            problems.append(
                f"it has {counted(whole, 'record')}, the release was made from {stated['source']:,}"
            )
        if different:
            problems.append(
                f"{counted(different, 'combination')} of quasi-identifiers occur in it more or less"
                " often than in the release"
            )
        if elsewhere != dropped:
            problems.append(f"{counted(elsewhere, 'record')} of it are not published")
        return problems


class _Stream:
    """A frame as a stream of Arrow batches, which DuckDB reads without further libraries."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._frame.__arrow_c_stream__(requested_schema)
