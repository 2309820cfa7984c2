"""Several tables on disk: read piece by piece and coded, then linked there."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from incrowd._runtime.progress import Progress
from incrowd.engines._duckdb_engine import DuckDbEngine
from incrowd.engines._engine_profiles import with_draws
from incrowd.engines.collapse import RowsOnDisk
from incrowd.engines.gathering import Gathered
from incrowd.engines.linked_columns import ColumnsOfTable, named_columns
from incrowd.engines.linked_in_engine import ReadIntoEngine, prepare_linked_in_engine
from incrowd.engines.preparation import Prepared
from incrowd.errors import SourceError
from incrowd.policy.linked import of_one
from incrowd.table import Weighted
from incrowd.table.dictionary import ColumnDictionary
from incrowd.table.profiles import PATIENTS
from incrowd.table.repeats import Linking

if TYPE_CHECKING:
    import polars as pl

    from incrowd._runtime.secret_key import SecretKey
    from incrowd.policy import Policy
    from incrowd.sources.source_guard import Watch


def prepare_linked_on_disk(
    watch: Watch, policy: Policy, memory: int, progress: Progress, key: SecretKey | None
) -> Prepared:
    """The tables of a source on disk, within so many bytes of memory, linked there."""
    linking = Linking(of_one(policy, PATIENTS).unit or "", key)
    engine = DuckDbEngine(memory)

    def read(name: str) -> ReadIntoEngine:
        table = _TableToRead(watch, policy, name, linking)
        return table.into(engine, memory, progress)

    try:
        return prepare_linked_in_engine(read, policy, progress, key)
    except BaseException:
        engine.close()
        raise


class _TableToRead:
    """One of several tables, read piece by piece and coded.

    Parameters
    ----------
    watch
        The source of all tables.
    policy
        The policy.
    name
        The table.
    linking
        What gives rows the hash of their patient, the same for all tables.
    """

    def __init__(self, watch: Watch, policy: Policy, name: str, linking: Linking) -> None:
        self._watch, self._policy, self._name, self._linking = watch, policy, name, linking
        self._source, self._asked = watch.source.tables[name], of_one(policy, name)
        self._columns = ColumnsOfTable({}, {}, {})
        self._dictionaries: dict[str, ColumnDictionary] = {}

    def into(self, engine: DuckDbEngine, memory: int, progress: Progress) -> ReadIntoEngine:
        """The rows in a table of the engine; none where no column of them is published."""
        rows, records, missing = None, 0, 0
        pieces = self._source.pieces(self._asked.query, self._asked.text_options)
        with ThreadPoolExecutor() as pool:
            for frame in self._watch.read(pieces, progress):
                if not records:
                    rows = self._begun(frame, engine)
                records += frame.height
                assert self._asked.unit is not None
                who, lacking = self._linking.beside(frame.get_column(self._asked.unit))
                missing += lacking
                if rows is not None:
                    cells = [frame.get_column(name) for name in self._columns.called]
                    codes = pool.map(ColumnDictionary.code, self._dictionaries.values(), cells)
                    rows.add(list(codes), with_draws(who, frame.height, self._policy))
        if not records:
            raise SourceError(f"{self._source.label} has no records.")
        stayed = None if rows is None else rows.stayed(memory, None)
        for name, its in ({} if stayed is None else stayed.counts).items():
            self._dictionaries[name].keep_distinct(its.codes, Weighted(its.records, its.least))
        found = Gathered(
            self._dictionaries, self._columns.roles, records, self._columns.unpublished, stayed
        )
        return ReadIntoEngine(found, missing, self._source.label)

    def _begun(self, frame: pl.DataFrame, engine: DuckDbEngine) -> RowsOnDisk | None:
        """The table for the rows, once their columns are known."""
        label = self._source.label
        self._columns = named_columns(self._policy, self._name, frame.columns, label)
        self._dictionaries = {
            called: ColumnDictionary(frame.get_column(each).alias(called))
            for each, called in self._columns.called.items()
        }
        if not self._dictionaries:
            return None
        return RowsOnDisk(engine, engine.fresh("rows"), tuple(self._dictionaries))
