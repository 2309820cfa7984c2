"""The records of a file as an attacker looks at them: coded, in memory or collapsed on disk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import polars as pl

from incrowd._runtime.progress import Progress
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
from incrowd.errors import SourceError
from incrowd.published.opened import is_release
from incrowd.sources import SourceLike, as_source
from incrowd.table import ONE_EACH, Column, Role, Tally
from incrowd.table.dictionary import ColumnDictionary


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
    memory: int | str | None,
    progress: Progress,
) -> Exposed:
    """The records of a source: out of core when given a limit, or when the source is large.

    Notes
    -----
    Out of core, n records are coded as they are read and counted on disk; the d distinct rows of
    the named columns are held, O(d) in memory. Both ways give the same codes and counts.
    """
    from incrowd.sources.files import TextOptions
    from incrowd.sources.source_guard import Watch

    limit = limit_of_counting(as_source(source), memory)
    if limit is None or is_release(source):
        progress("reading", 0, 1)
        return _in_memory(*columns_of(source, quasi, sensitive, query, header))
    lists, read = two_lists(quasi, sensitive), as_source(source)
    frames = Watch(read).read(read.pieces(query, TextOptions(header=header)), progress)
    return _out_of_core(read.label, frames, *lists, limit, progress)


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
