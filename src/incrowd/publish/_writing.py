"""Published rows into a file, the same bytes whoever writes them and wherever."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.publish import manifest

if TYPE_CHECKING:
    import polars as pl

    from incrowd.publish.rows import ShownRows

_ROWS_OF_A_GROUP = 1 << 18


def write_rows(rows: ShownRows, path: Path) -> None:
    """Write rows piece by piece to a `.csv` file, with its header, or to a `.parquet` file."""
    if path.suffix == ".parquet":
        _write_parquet(rows, path)
        return
    with path.open("wb") as stream:
        for number, piece in enumerate(rows.pieces()):
            piece.write_csv(stream, include_header=number == 0)


def _write_parquet(rows: ShownRows, path: Path) -> None:
    """The bytes do not depend on how the rows come in pieces."""
    from polars.io.plugins import register_io_source

    def pieces(*_asked: object) -> Iterator[pl.DataFrame]:
        return rows.typed_pieces()

    register_io_source(pieces, schema=rows.schema(), is_pure=True).sink_parquet(
        path, row_group_size=_ROWS_OF_A_GROUP, maintain_order=True
    )


def write_whole(folder: Path, name: str, rows: ShownRows) -> dict[str, Any]:
    """Write a table as one file of a release; returns what the manifest says of it."""
    path = folder / name
    write_rows(rows, path)
    return {name: manifest.describe_file(path, rows.rows, rows.names)}
