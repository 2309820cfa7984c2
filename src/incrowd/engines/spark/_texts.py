"""Text files read by executors, one task for each file, by the code that reads them elsewhere.

So quotes, line ends, empty cells, encodings and everything that is refused mean the same on all
engines. A file in the file system of the machine is opened in place; one in a distant place is
handed to the task by Spark, and lies in a private temporary folder while it is read; what a killed
task leaves of it, the next one removes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd._runtime.scratch import scratch
from incrowd._runtime.spark_errors import as_raised, translated
from incrowd.errors import EngineError, IncrowdError
from incrowd.sources.folders import other_columns, refuse_clash

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from incrowd.sources.files import TextOptions

_ROWS_AT_ONCE = 20_000


@dataclass(frozen=True)
class TextFiles:
    """Text files of one source, in order, with the columns that their folders name."""

    paths: Sequence[str]
    parts: Sequence[dict[str, str | None]]
    options: TextOptions
    distant: bool = False

    def names(self, number: int, path: Path) -> list[str]:
        """The columns of one file, those of its folders last."""
        from incrowd.sources.csv import read_csv_header

        names = read_csv_header(path, self.options)
        given = self.parts[number]
        refuse_clash(path, given, names)
        return [*names, *given]

    def batches(self, number: int, path: Path) -> Iterator[pa.RecordBatch]:
        """The records of one file, all cells as text, its columns numbered: c0, c1 and so on."""
        import polars as pl
        import pyarrow as pa

        from incrowd.sources.csv import read_csv_pieces

        given = self.parts[number].values()
        pieces = read_csv_pieces(path, self.options)
        for piece in pieces:
            whole = piece.with_columns(
                pl.lit(value, pl.String).alias(f"\0{i}") for i, value in enumerate(given)
            )
            types = pa.schema([(f"c{i}", pa.string()) for i in range(whole.width)])
            whole.columns = types.names
            for begin in range(0, whole.height, _ROWS_AT_ONCE):
                part = whole.slice(begin, _ROWS_AT_ONCE).to_arrow().cast(types)
                yield from part.combine_chunks().to_batches()


def read_texts(running: SparkSession, files: TextFiles) -> tuple[DataFrame, tuple[str, ...]]:
    """The records of text files, not read yet, and the names of its numbered columns."""
    with translated("reading the names of columns"):
        schema = "number int, names string"
        found = _tasks(running, files).mapInArrow(partial(_run, files, _names), schema).toArrow()
    rows = sorted(zip(found["number"].to_pylist(), found["names"].to_pylist(), strict=True))
    expected = rows[0][1]
    for number, names in rows:
        if names != expected:
            raise other_columns(Path(files.paths[number]))
    names = tuple(json.loads(expected))
    with translated("opening the source"):
        schema = ", ".join(f"c{i} string" for i in range(len(names)))
        frame = _tasks(running, files).mapInArrow(partial(_run, files, _records), schema)
    return frame, names


def _tasks(running: SparkSession, files: TextFiles) -> DataFrame:
    """A row for each file, each in a task of its own where that is up to us."""
    many = len(files.paths)
    if not files.distant:
        return running.range(0, many, 1, many)
    escaped = [_escaped(path) for path in files.paths]
    return running.read.format("binaryFile").load(escaped).select("path", "content")


def _escaped(path: str) -> str:
    return "".join(f"\\{each}" if each in "\\*?[]{}" else each for each in path)


def _names(files: TextFiles, number: int, path: Path) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    yield pa.RecordBatch.from_pydict(
        {"number": pa.array([number], pa.int32()), "names": [json.dumps(files.names(number, path))]}
    )


def _records(files: TextFiles, number: int, path: Path) -> Iterator[pa.RecordBatch]:
    if not path.is_file():  # it was there when its names were read
        raise EngineError(
            f"{path.name} disappeared while it was read. Leave the files alone during a run, and "
            "start again."
        )
    yield from files.batches(number, path)


def _run(
    files: TextFiles,
    read: Callable[[TextFiles, int, Path], Iterator[pa.RecordBatch]],
    batches: Iterator[Any],
) -> Iterator[pa.RecordBatch]:
    """Read the files that a task was given; in a worker."""
    numbers = {path: number for number, path in enumerate(files.paths)}
    try:
        for batch in batches:
            for row in range(batch.num_rows):
                if not files.distant:
                    number = batch.column(0)[row].as_py()
                    yield from read(files, number, Path(files.paths[number]))
                    continue
                path = batch.column(0)[row].as_py()
                with scratch("text") as folder:
                    copy = folder / Path(path).name
                    copy.write_bytes(batch.column(1)[row].as_buffer())
                    yield from read(files, numbers[path], copy)
    except IncrowdError as error:
        raise as_raised(error) from None
