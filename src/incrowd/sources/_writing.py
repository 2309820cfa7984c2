"""A polars frame to a file, whole or not at all."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import BinaryIO

import polars as pl

from incrowd.errors import OutputError
from incrowd.sources.files import PARQUET_ENDINGS

_SEPARATORS = {".csv": ",", ".tsv": "\t"}


def write(frame: pl.DataFrame, path: str | Path) -> None:
    r"""Write a frame to a `.csv`, `.tsv`, `.parquet` or `.pq` file, replacing an older one.

    Text is UTF-8 with `\n` at the end of each line, and a missing cell is empty. The file is
    written under a temporary name beside its place and renamed when complete, so an
    interruption leaves the old file, or none, and never half of one.
    """
    path = Path(path).expanduser()
    ending = path.suffix.lower()
    if ending not in (*_SEPARATORS, *PARQUET_ENDINGS):
        raise OutputError(
            f"Cannot write {path.name}: its ending is not one of .csv, .tsv, .parquet and .pq. "
            "Give it one of these."
        )
    if path.is_dir():
        raise OutputError(f"Cannot write {path}: a folder of this name exists. Choose another.")
    if not path.parent.is_dir():
        raise OutputError(f"Cannot write {path}: there is no folder {path.parent}. Make it first.")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    problem = ""
    try:
        with temporary.open("xb") as file:
            _write_to(file, frame, ending)
        temporary.replace(path)
    except OSError as error:
        problem = error.strerror or "the system refuses it"
    except pl.exceptions.PolarsError:  # its message may show cells
        problem = "a column has no plain cells, or the disk is full"
    finally:
        temporary.unlink(missing_ok=True)
    if problem:
        raise OutputError(
            f"Cannot write {path}: {problem}. Nothing was written; check the folder and its space."
        )


def _write_to(file: BinaryIO, frame: pl.DataFrame, ending: str) -> None:
    if ending in PARQUET_ENDINGS:
        frame.write_parquet(file)
        return
    frame.write_csv(
        file,
        separator=_SEPARATORS[ending],
        line_terminator="\n",
        # A single empty cell would be an empty line, which readers skip.
        null_value='""' if frame.width == 1 else "",
    )
