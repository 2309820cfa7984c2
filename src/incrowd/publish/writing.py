"""Published rows into a file, the same bytes whoever writes them and wherever."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.publish import manifest

if TYPE_CHECKING:
    from incrowd.publish.rows import ShownRows


def write_rows(rows: ShownRows, path: Path) -> None:
    """Write rows to a `.csv` or `.parquet` file, CSV with its header and piece by piece."""
    if path.suffix == ".parquet":
        rows.typed_frame().write_parquet(path)
        return
    with path.open("wb") as stream:
        for number, piece in enumerate(rows.pieces()):
            piece.write_csv(stream, include_header=number == 0)


def write_whole(folder: Path, name: str, rows: ShownRows) -> dict[str, Any]:
    """Write a table as one file of a release; returns what the manifest says of it."""
    path = folder / name
    write_rows(rows, path)
    return {name: manifest.describe_file(path, rows.rows, rows.names)}
