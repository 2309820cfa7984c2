"""The records of a source, coded and counted by Spark; distinct cells and counts come here.

Each column is asked for its distinct cells, which get their codes here as on every engine. The
codes go back and are joined to the records, and one aggregation gives the distinct coded rows with
the number of their records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd._runtime.progress import Progress, silent
from incrowd._runtime.spark_errors import translated
from incrowd.engines.collapse import Stayed, fit
from incrowd.engines.gathering import Gathered, roles_of
from incrowd.engines.preparation import Prepared, prepare_gathered
from incrowd.engines.spark._patients import Hashing, comparable
from incrowd.engines.spark._sources import SparkSource, open_source
from incrowd.engines.spark.engine import SparkEngine
from incrowd.errors import EngineError, SourceError
from incrowd.policy.times import moves_dates
from incrowd.policy.units import check_unit, has_events, looked_at, named
from incrowd.sources import Source
from incrowd.sources.columns import tidy
from incrowd.sources.source_guard import Watch, watched
from incrowd.table import Role, Weighted
from incrowd.table.dictionary import ColumnDictionary
from incrowd.table.repeats import Repeats
from incrowd.table.sql_histories import one_record_each
from incrowd.table.sql_rows import SqlRows

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from incrowd._runtime.secret_key import SecretKey
    from incrowd.policy import Policy

_BROADCAST = 1 << 28
"""The bytes of distinct cells that every executor gets whole; more are joined by sorting."""


def prepare_in_spark(
    source: Source | Watch,
    policy: Policy,
    memory: int,
    progress: Progress = silent,
    key: SecretKey | None = None,
) -> tuple[Prepared, SparkRecords]:
    """The prepared table of a source whose records stay in Spark, and these records.

    With a `key` patients have the same pseudonyms and shifts as whenever that key is given.
    """
    watch = watched(source)
    source, name = watch.source, watch.source.label
    progress("starting Spark", 0, 1)
    opened = open_source(source, policy, memory)
    try:
        records = code_in_spark(opened, policy, name, progress, key)
        try:
            progress("counting", 0, 1)
            gathered = replace(records.gathered(memory), key=key)
        finally:
            records.release()
    except (EngineError, SourceError):
        watch.check()  # which may be why
        raise
    watch.check()
    return prepare_gathered(gathered, policy, name), records


@dataclass(frozen=True)
class SparkRecords:
    """The coded records of a source, in Spark.

    `coded` has a row for each record and the codes of each column, c0, c1, … in the order of
    `dictionaries`; a cell that was not there when the distinct ones were asked for has the code -1.
    """

    session: SparkSession
    coded: DataFrame
    dictionaries: dict[str, ColumnDictionary]
    roles: dict[str, Role]
    unpublished: dict[str, str]
    name: str
    kept: DataFrame | None = None
    remarks: tuple[str, ...] = ()
    patients: int | None = None
    """How many patients the records are of, where these may have several."""
    apart: bool = False
    """Whether each record is another's, and stays one until its dates are changed."""
    beside: tuple[str, ...] = ()
    """What records keep beside their codes."""

    def gathered(self, memory: int) -> Gathered:
        """The distinct coded rows with the number of their records, as every engine gives them.

        When they are more than `memory`, in bytes, holds, they stay in Spark.
        """
        from pyspark.sql import functions as sql
        from pyspark.storagelevel import StorageLevel

        if self.patients is not None or self.apart:
            return self._rows(memory)
        columns = [f"c{i}" for i in range(len(self.dictionaries))]
        with translated("counting the records"):
            grouped = self.coded.groupBy(*columns).agg(sql.count(sql.lit(1)).alias("n"))
            grouped = grouped.persist(StorageLevel.MEMORY_AND_DISK)
            try:
                rows = grouped.count()
                seen = [dictionary.seen for dictionary in self.dictionaries.values()]
                if not fit(rows, seen, memory):
                    return self._stayed(grouped, memory)
                found = grouped.toArrow()
            finally:
                grouped.unpersist()
        return self._taken_in(found)

    def _stayed(self, grouped: DataFrame, memory: int) -> Gathered:
        """Distinct rows that stay in Spark: of each column the codes, and the records of each."""
        engine = SparkEngine(self.session, memory)
        table = engine.fresh("rows")
        engine.adopt(table, grouped)
        rows = SqlRows(engine, table, tuple(self.dictionaries))
        return self._staying(Stayed(rows, rows.counts(), memory))

    def _rows(self, memory: int) -> Gathered:
        """All records, which stay in Spark and know their patients."""
        return self.rows_in(SparkEngine(self.session, memory), memory)

    def rows_in(self, engine: SparkEngine, memory: int) -> Gathered:
        """The same in a table of an engine that may have others."""
        table = engine.fresh("records")
        engine.adopt(table, self.coded)
        rows = SqlRows(engine, table, tuple(self.dictionaries), self.beside)
        counts = rows.counts(within=one_record_each(table))
        return self._staying(Stayed(rows, counts, memory, self.patients, self.apart))

    def _staying(self, stayed: Stayed) -> Gathered:
        """What is known of rows that stay; refused where the source changed meanwhile."""
        records, counts = 0, stayed.counts
        for name, found in counts.items():
            dictionary = self.dictionaries[name]
            self._refuse_changed(found.codes)
            tally = Weighted.unordered(found.records)
            dictionary.keep_distinct(found.codes, tally)
            records = int(found.records.sum())
        return replace(self._gathered(records), stayed=stayed)

    def _refuse_changed(self, codes: npt.NDArray[np.integer]) -> None:
        if int(codes.min(initial=0)) < 0:
            raise EngineError(
                f"{self.name} changed while it was read. Leave it alone during a run, and start "
                "again."
            )

    def _taken_in(self, found: pa.Table) -> Gathered:
        weights = found.column("n").to_numpy().astype(np.int64)
        tally = Weighted.unordered(weights)
        for number, dictionary in enumerate(self.dictionaries.values()):
            codes = found.column(f"c{number}").to_numpy()
            self._refuse_changed(codes)
            dictionary.keep_distinct(codes, tally)
        return self._gathered(int(weights.sum()))

    def _gathered(self, records: int) -> Gathered:
        return Gathered(
            self.dictionaries, self.roles, records, self.unpublished, remarks=self.remarks
        )

    def release(self) -> None:
        """Let Spark forget the records that it keeps."""
        if self.kept is not None:
            with suppress(Exception):  # what failed before is what matters
                self.kept.unpersist()


def code_in_spark(
    source: SparkSource,
    policy: Policy,
    name: str,
    progress: Progress = silent,
    key: SecretKey | None = None,
) -> SparkRecords:
    """The coded records of a source, with the dictionaries of the columns that have a role.

    Notes
    -----
    One pass over each column for its distinct cells, which must fit into memory here. What costs
    more to read than to keep (text files, frames) is kept by the executors, on their disks where
    memory does not suffice.
    """
    from pyspark.storagelevel import StorageLevel

    roles, unpublished = roles_of(source.names, policy, name)
    identifiers = looked_at(policy)
    # Identifiers come last: their values are counted once, and neither coded nor taken here.
    places = [source.names.index(column) for column in (*roles, *identifiers)]
    with translated("coding the records"):
        frame = source.frame.select(*(source.frame[f"c{i}"] for i in places))
        kept = frame.persist(StorageLevel.MEMORY_AND_DISK) if source.keep else None
        repeats = _repeats(frame, identifiers)
        remarks = check_unit(policy, repeats, name)
        patients = None
        beside: tuple[str, ...] = ()
        several = has_events(policy) or any(each.any for each in repeats) or key is not None
        several &= named(policy)
        apart = moves_dates(policy) and not several
        if several:
            patients = repeats[0].distinct
            frame, beside = Hashing(key).with_patients(source.session, frame, policy)
        elif apart:
            frame, beside = Hashing().each_apart(source.session, frame)
        called = {column: column for column in roles}
        coded, dictionaries = coded_cells(source, frame, called, beside, name, progress)
    return SparkRecords(
        source.session, coded, dictionaries, roles, unpublished, name, kept, remarks, patients,
        apart, beside,
    )  # fmt: skip


def coded_cells(
    source: SparkSource,
    frame: DataFrame,
    called: Mapping[str, str],
    beside: Sequence[str],
    name: str,
    progress: Progress = silent,
) -> tuple[DataFrame, dict[str, ColumnDictionary]]:
    """The codes of the first columns of a frame, and their dictionaries.

    Parameters
    ----------
    source
        What the frame was made from.
    frame
        The records.
    called
        The first columns in order by their names in the source, and what they are called.
    beside
        Columns of the frame that stay as they are.
    name
        The source, for messages.
    progress
        Called as the work goes on.
    """
    dictionaries: dict[str, ColumnDictionary] = {}
    tables = []
    for number, (column, its) in enumerate(called.items()):
        progress("coding", number, len(called))
        found = frame.select(frame.columns[number]).distinct().toArrow().column(0)
        if not len(found):
            raise SourceError(f"{name} has no records.")
        series = _cells(column, found, name, source.times.get(column)).alias(its)
        dictionaries[its] = ColumnDictionary(series)
        tables.append((found, dictionaries[its].code(series)))
    return _joined(source.session, frame, tables, beside), dictionaries


def _repeats(frame: DataFrame, identifiers: Sequence[str]) -> list[Repeats]:
    """How often the values of the last columns repeat, compared as `units.comparable` does."""
    from pyspark.sql import functions as sql

    if not identifiers:
        return []
    asked = [sql.count(sql.lit(1)).alias("rows")]
    for number, field in enumerate(frame.schema.fields[-len(identifiers) :]):
        value = comparable(field)
        asked += [
            sql.count(value).alias(f"present{number}"),
            sql.count_distinct(value).alias(f"distinct{number}"),
        ]
    counted = frame.agg(*asked).toArrow().to_pylist()[0]
    return [
        Repeats(column, counted["rows"], counted[f"present{number}"], counted[f"distinct{number}"])
        for number, column in enumerate(identifiers)
    ]


def _cells(column: str, found: pa.ChunkedArray, name: str, times: pl.Datetime | None) -> pl.Series:
    """Distinct cells with the types that they have on every engine, or in their files."""
    series = pl.Series(column, pl.from_arrow(found))
    if isinstance(series.dtype, pl.Datetime) and series.dtype.time_zone is not None:
        series = series.dt.convert_time_zone((times and times.time_zone) or "UTC")
    if times is not None and isinstance(series.dtype, pl.Datetime):
        series = series.dt.cast_time_unit(times.time_unit)
    return tidy(series.to_frame(), name, numbered=False).to_series()


def _joined(
    session: SparkSession,
    frame: DataFrame,
    tables: Sequence[tuple[pa.ChunkedArray, Any]],
    beside: Sequence[str],
) -> DataFrame:
    """The codes of all cells, looked up by their values, and some columns as they are."""
    import pyarrow as pa
    from pyspark.sql import functions as sql
    from pyspark.sql.types import IntegerType, StructField, StructType

    codes = []
    fields = list(frame.schema.fields)
    for number, (values, given) in enumerate(tables):
        cell = fields[number].name
        types = StructType(
            [
                StructField(f"v{number}", fields[number].dataType),
                StructField(f"code{number}", IntegerType()),
            ]
        )
        table = pa.table({f"v{number}": values, f"code{number}": given.astype(np.int32)})
        lookup = session.createDataFrame(table, types)
        if table.nbytes <= _BROADCAST:
            lookup = sql.broadcast(lookup)
        frame = frame.join(lookup, frame[cell] == lookup[f"v{number}"], "left")
        missing = sql.when(sql.col(cell).isNull(), sql.lit(0)).otherwise(sql.lit(-1))
        codes.append(sql.coalesce(sql.col(f"code{number}"), missing).alias(f"c{number}"))
    return frame.select(*codes, *beside)
