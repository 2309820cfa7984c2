"""The records of a file as an attacker looks at them: coded, in memory or collapsed on disk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import polars as pl

from incrowd._runtime.progress import Progress
from incrowd.attacks._linked_tables import linked_tables, patients_of_tables
from incrowd.attacks._whose_rows import (
    RELEASE_KNOWS,
    ROW,
    not_looked_at,
    numbering,
    rows_counted,
    whose_records,
)
from incrowd.attacks.targets import (
    Target,
    code_as_seen,
    code_as_text,
    columns_of,
    no_quasi,
    two_lists,
)
from incrowd.engines.choice import limit_of_counting
from incrowd.engines.collapse import collapsed
from incrowd.errors import ParameterError, SourceError
from incrowd.published.opened import is_release
from incrowd.sources import SourceLike, as_source, describe, read
from incrowd.sources.source_guard import Watch
from incrowd.table import ONE_EACH, Column, Role, Tally
from incrowd.table.dictionary import ColumnDictionary
from incrowd.table.people import HeldByPatients
from incrowd.table.profiles import PATIENTS


@dataclass(frozen=True)
class Exposed:
    """Rows of codes, each one record or several equal ones.

    `sensitive` has the columns that stand beside the quasi-identifiers; those of a release that
    stand apart are found in `target`, which is None for records that were collapsed.
    """

    name: str
    records: int
    quasi: tuple[Column, ...]
    sensitive: Mapping[str, Column]
    wanted: tuple[str, ...]
    """The names of all sensitive attributes, beside the quasi-identifiers or apart."""
    tally: Tally = ONE_EACH
    target: Target | None = None
    held: Mapping[str, HeldByPatients] = field(default_factory=dict)
    """Sensitive attributes of which a patient may have several values."""
    one: str = "record"
    """What one of those that are counted is called."""
    gathered_from: int | None = None
    """How many rows they have, where patients may have several."""
    remarks: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.quasi[0].codes)


def exposed(
    source: SourceLike,
    quasi: Sequence[str] | None,
    sensitive: Sequence[str] | None,
    *,
    query: str | None,
    header: bool | None = None,
    unit: str | None = None,
    memory: int | str | None,
    progress: Progress,
) -> Exposed:
    """The records of a source: out of core when given a limit, or when the source is large.

    Given a `unit`, its patients: the rows of each are gathered, in memory.

    Notes
    -----
    Out of core, n records are coded as they are read and counted on disk; the d distinct rows of
    the named columns are held, O(d) in memory. Both ways give the same codes and counts.
    """
    from incrowd.sources.files import TextOptions

    if is_release(source):
        if unit is not None:
            raise ParameterError(RELEASE_KNOWS)
        progress("reading", 0, 1)
        return _of_target(*columns_of(source, quasi, sensitive, query, header))
    if tables := linked_tables(source):
        return _of_tables(tables, source, quasi, sensitive, unit, progress)
    given, text = as_source(source), TextOptions(header=header)
    limit = limit_of_counting(given, memory)
    if unit not in (None, ROW):
        if memory is not None:
            raise ParameterError(
                "memory: the rows of patients are gathered in memory, so a unit goes with no "
                "limit. Leave one of the two out."
            )
        progress("reading", 0, 1)
        assert unit is not None
        target, names, apart = columns_of(source, quasi, sensitive, query, header, [unit])
        people, told = whose_records(target, names, apart, unit)
        return replace(
            _of_target(people, names, apart), gathered_from=target.frame.height, remarks=told
        )
    named = [*(quasi or ()), *(sensitive or ())]
    identifiers = []
    if unit is None and quasi:
        identifiers = [each for each in numbering(given, query, text) if each not in named]
    if limit is None:
        progress("reading", 0, 1)
        found = columns_of(source, quasi, sensitive, query, header, identifiers)
        told = rows_counted(found[0].frame, identifiers)
        return replace(_in_memory(*found), remarks=told)
    lists = two_lists(quasi, sensitive)
    frames = Watch(given).read(given.pieces(query, text), progress)
    on_disk = _out_of_core(given.label, frames, *lists, limit, progress)
    return replace(on_disk, remarks=not_looked_at(identifiers))


def _of_tables(
    tables: Mapping[str, SourceLike],
    source: SourceLike,
    quasi: Sequence[str] | None,
    sensitive: Sequence[str] | None,
    unit: str | None,
    progress: Progress,
) -> Exposed:
    """The patients of linked tables, with what they hold."""
    progress("reading", 0, 1)
    names, apart = two_lists(quasi, sensitive)
    called = "the mapping" if isinstance(source, Mapping) else describe(source)
    if not names and PATIENTS in tables:
        raise no_quasi(f"{called}: {PATIENTS}", read(tables[PATIENTS]).columns)
    people, rows, told = patients_of_tables(tables, called, names or [], apart or [], unit)
    return replace(_of_target(people, names or [], apart or []), gathered_from=rows, remarks=told)


def _of_target(target: Target, names: list[str], apart: list[str]) -> Exposed:
    """The records of a release, or patients with what they hold."""
    held = {name: found for name in apart if (found := target.held(name)) is not None}
    own = _in_memory(target, names, [name for name in apart if name not in held])
    rows = sum(each.rows for each in target.events) if target.events else None
    return replace(own, held=held, wanted=tuple(apart), one=target.one, gathered_from=rows)


def _in_memory(target: Target, names: list[str], apart: list[str]) -> Exposed:
    code = code_as_seen if target.manifest is None else code_as_text
    return Exposed(
        target.name,
        target.frame.height,
        tuple(code(target.frame[name]) for name in names),
        {
            name: code(target.frame[name], sensitive=True)
            for name in apart
            if name not in target.apart
        },
        tuple(apart),
        target=target,
    )


def _out_of_core(
    name: str,
    frames: Iterator[pl.DataFrame],
    names: list[str] | None,
    apart: list[str] | None,
    memory: int,
    progress: Progress,
) -> Exposed:
    from incrowd.sources.columns import chosen

    first = next(frames, None)
    if first is None:
        raise SourceError(f"{name} has no records.")
    if not names:
        raise no_quasi(name, first.columns)
    columns = chosen(first.columns, [*names, *(apart or ())], name)
    found = collapsed(
        chain([first], frames), columns, memory, lambda: progress("counting records", 0, 1)
    )
    coded = {each: _code(found[each], sensitive=each in (apart or ())) for each in columns}
    tally = next(iter(found.values())).tally
    return Exposed(
        name,
        int(coded[columns[0]].counts().sum()),
        tuple(coded[each] for each in names),
        {each: coded[each] for each in apart or ()},
        tuple(apart or ()),
        tally,
    )


def _code(dictionary: ColumnDictionary, *, sensitive: bool) -> Column:
    """The column as `code_as_seen` codes it."""
    from incrowd.table.coding import code_column

    rows = dictionary.kept()
    role: Role = "sensitive" if sensitive else "quasi"
    try:
        return code_column(dictionary, role=role)
    except SourceError:
        dictionary.keep(rows)
        return code_column(dictionary, role=role, kind="category")
