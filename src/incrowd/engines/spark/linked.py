"""Several tables in Spark: each read and coded there, then linked by the hash of the patient."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incrowd._runtime.progress import Progress, silent
from incrowd._runtime.spark_errors import translated
from incrowd.engines.gathering import Gathered
from incrowd.engines.linked_columns import named_columns
from incrowd.engines.linked_in_engine import ReadIntoEngine, prepare_linked_in_engine
from incrowd.engines.preparation import Prepared
from incrowd.engines.spark._patients import Hashing, comparable
from incrowd.engines.spark._sources import open_source
from incrowd.engines.spark.engine import SparkEngine
from incrowd.engines.spark.gathering import SparkRecords, coded_cells
from incrowd.errors import EngineError, SourceError
from incrowd.policy.linked import of_one
from incrowd.sources.source_guard import Watch, watched

if TYPE_CHECKING:
    from incrowd._runtime.secret_key import SecretKey
    from incrowd.policy import Policy
    from incrowd.sources import Source


def prepare_linked_in_spark(
    source: Source | Watch,
    policy: Policy,
    memory: int,
    progress: Progress = silent,
    key: SecretKey | None = None,
) -> tuple[Prepared, SparkRecords]:
    """The tables of a source, linked in Spark, and the records of one of them there.

    With a `key` patients have the same pseudonyms and shifts as whenever that key is given.
    """
    watch = watched(source)
    progress("starting Spark", 0, 1)
    tables = _TablesInSpark(watch, policy, memory, key, progress)
    try:
        prepared = prepare_linked_in_engine(tables.read, policy, progress, key)
    except (EngineError, SourceError):
        watch.check()  # which may be why
        raise
    finally:
        tables.release()
    watch.check()
    return prepared, tables.records[0]


class _TablesInSpark:
    """The tables of a source, read one after the other into one engine."""

    def __init__(
        self,
        watch: Watch,
        policy: Policy,
        memory: int,
        key: SecretKey | None,
        progress: Progress,
    ) -> None:
        self._sources, self._policy, self._memory = watch.source.tables, policy, memory
        self._hashing, self._progress = Hashing(key), progress
        self._engine: SparkEngine | None = None
        self.records: list[SparkRecords] = []

    def read(self, name: str) -> ReadIntoEngine:
        """A table by its name: its columns, and its rows in the engine."""
        from pyspark.sql import functions as sql
        from pyspark.storagelevel import StorageLevel

        label, asked = self._sources[name].label, of_one(self._policy, name)
        source = open_source(self._sources[name], asked, self._memory)
        columns = named_columns(self._policy, name, source.names, label)
        assert asked.unit is not None
        # The column that names the patient comes last: it is neither coded nor taken here.
        places = [source.names.index(column) for column in (*columns.called, asked.unit)]
        with translated("coding the records"):
            frame = source.frame.select(*(source.frame[f"c{i}"] for i in places))
            kept = frame.persist(StorageLevel.MEMORY_AND_DISK) if source.keep else None
            who = comparable(frame.schema.fields[-1])
            told = frame.agg(sql.count(sql.lit(1)).alias("rows"), sql.count(who).alias("present"))
            counted = told.toArrow().to_pylist()[0]
            if not counted["rows"]:
                raise SourceError(f"{label} has no records.")
            frame, beside = self._hashing.with_patients(source.session, frame, self._policy)
            coded, dictionaries = coded_cells(
                source, frame, columns.called, beside, label, self._progress
            )
        records = SparkRecords(
            source.session, coded, dictionaries, columns.roles, columns.unpublished, label, kept,
            beside=beside,
        )  # fmt: skip
        self.records.append(records)
        missing = counted["rows"] - counted["present"]
        if not columns.roles:
            found = Gathered({}, {}, counted["rows"], columns.unpublished)
            return ReadIntoEngine(found, missing, label)
        self._progress("counting", 0, 1)
        self._engine = self._engine or SparkEngine(source.session, self._memory)
        return ReadIntoEngine(records.rows_in(self._engine, self._memory), missing, label)

    def release(self) -> None:
        """Let Spark forget the records as they were read."""
        for each in self.records:
            each.release()
