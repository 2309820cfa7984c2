"""The one form that a published Parquet file has, judged byte by byte.

A Parquet file has room for much that no cell shows: metadata, statistics, dictionaries with values
that no row has, pages and gaps that no reader opens, an empty text beside a null, the bits of a
NaN. So its cells are read, written anew by the judge, and the bytes compared. What is written is
what Polars writes: text, whole numbers and dates alone, row groups of 2^18 rows.

Another version of Polars may write the same cells in other bytes. Such a file is searched for the
places that hold text or gaps, and what remains is said to be open: the version that it names can
judge it.
"""

from __future__ import annotations

import glob
import re
from typing import TYPE_CHECKING, Any

from incrowd.verify.files.csv_form import FormError, of_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from duckdb import DuckDBPyConnection

ROWS_OF_A_GROUP = 1 << 18
_WRITER = re.compile(
    r"Polars( \(python\))?( version [0-9]{1,4}(\.[0-9]{1,4}){0,3})?( \(build [0-9a-f]{7,40}\))?"
)
_ALLOWED_KEYS = frozenset({b"ARROW:schema"})
_TYPES = {
    "text": ("String",),
    "numeric": ("Int64", "String"),
    "whole": ("Int64",),
    "date": ("Date",),
}
"""The types that a column of each kind may have: decimals are text."""


def refuse_types(paths: Iterable[Path], kinds: Mapping[str, str]) -> None:
    """Raise a FormError where a column has another type than its kind has; text if not named."""
    import polars as pl

    for path in paths:
        with of_file(path):
            try:
                with path.open("rb") as stream:  # a path would be taken as a pattern
                    schema = pl.read_parquet_schema(stream)
            except (pl.exceptions.PolarsError, OSError):
                raise FormError("cannot be read as Parquet") from None
            for number, (column, found) in enumerate(schema.items(), start=1):
                if str(found) not in _TYPES[kinds.get(column, "text")]:
                    raise FormError(f"has its column {number} in another type")


def is_comparable(connection: DuckDBPyConnection, paths: Sequence[Path]) -> bool:
    """Return whether files name the writer at hand, so that their bytes can be compared.

    Raises a FormError where another program wrote them, or one has more to tell than its cells.
    """
    writers = {
        path: connection.execute(
            "SELECT created_by FROM parquet_file_metadata(?)", [glob.escape(str(path))]
        ).fetchall()[0][0]
        for path in paths
    }
    own = _own_writer(connection)
    others = [path for path, writer in writers.items() if writer != own]
    for path in others:
        with of_file(path):
            if not _WRITER.fullmatch(str(writers[path])):
                raise FormError("names a writer that is not known")
            _refuse_hidden(connection, path)
    return not others


def _own_writer(connection: DuckDBPyConnection) -> str:
    """Return what the Polars at hand says of itself in a file."""
    import polars as pl

    from incrowd._runtime.scratch import scratch

    with scratch("writer") as folder:
        pl.DataFrame({"a": ["b"]}).write_parquet(folder / "a.parquet")
        ((own,),) = connection.execute(
            "SELECT created_by FROM parquet_file_metadata(?)",
            [glob.escape(str(folder / "a.parquet"))],
        ).fetchall()
    return str(own)


def _refuse_hidden(connection: DuckDBPyConnection, path: Path) -> None:
    """Raise a FormError for metadata, filters, indexes or gaps of a file that is not compared."""
    name = [glob.escape(str(path))]
    keys = connection.execute("SELECT key FROM parquet_kv_metadata(?)", name).fetchall()
    if {bytes(key) for (key,) in keys} - _ALLOWED_KEYS:
        raise FormError("has metadata of its own")
    (special,) = connection.execute(
        "SELECT count_if(bloom_filter_offset IS NOT NULL OR index_page_offset IS NOT NULL"
        " OR cardinality(key_value_metadata) > 0) FROM parquet_metadata(?)",
        name,
    ).fetchall()[0]
    if special:
        raise FormError("has filters, indexes or metadata of columns")


def refuse_other_bytes(paths: Iterable[Path]) -> None:
    """Raise a FormError unless the judge writes the same bytes from the cells of each file."""
    import polars as pl

    for path in paths:
        with of_file(path), path.open("rb") as stream:
            compared: Any = _Compared(stream)
            try:
                pl.scan_parquet(path, glob=False, hive_partitioning=False).sink_parquet(
                    compared, row_group_size=ROWS_OF_A_GROUP, maintain_order=True
                )
            except (pl.exceptions.PolarsError, OSError):
                raise FormError("cannot be read as Parquet") from None
            if not compared.same or stream.read(1):
                raise FormError("holds bytes that its cells do not explain")


class _Compared:
    """A file to write to that keeps nothing, and knows whether another has the same bytes."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.same = True

    def write(self, data: Any) -> int:
        """Compare some bytes with those that come next."""
        if self.same:
            self.same = self._stream.read(len(data)) == bytes(data)
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """Nothing is open."""
