"""Published tables written by executors, in parts that hold about a million rows each.

The driver has each distinct row once, as codes, in the order in which the rows are published. A
task gets the codes of one part and the texts of the table; it repeats, labels and writes the rows,
and gives back the size and the SHA-256 of what it wrote.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import IntArray
from incrowd._runtime.spark_errors import as_raised, translated
from incrowd.errors import EngineError
from incrowd.publish._out_of_core import OutsideRows
from incrowd.publish._writing import write_rows
from incrowd.publish.rows import ShownColumn, ShownRows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS_OF_A_PART = 1_000_000
_BYTES_AT_ONCE = 1 << 28
"""How much of a table the driver hands over in one job."""
MOST_PARTS = 100_000
"""The names of parts have five digits."""
_NOT_SHARED = (
    "The executors cannot write into the folder of the release. `output:` must be a folder that "
    "driver and executors share under the same path, and may write to."
)


@dataclass(frozen=True)
class RowPart:
    """Consecutive rows of a table: the codes of each column, and how often each row stands."""

    number: int
    codes: tuple[npt.NDArray[np.unsignedinteger], ...]
    times: IntArray

    @property
    def nbytes(self) -> int:
        """The size of the codes."""
        return self.times.nbytes + sum(each.nbytes for each in self.codes)


class PartsWriter:
    """Writes a table as a folder of parts, by the executors of a session.

    Notes
    -----
    With d distinct rows of c columns and n rows in all, O(d c) bytes go from the driver to the
    executors, who write n rows in n / 1 million tasks. The folder must be one that all share.
    """

    def __init__(self, session: SparkSession) -> None:
        self._session = session

    def __call__(self, folder: Path, name: str, rows: ShownRows) -> dict[str, Any]:
        """Write a table; returns what the manifest says of its parts."""
        place = folder.resolve() / name
        place.mkdir()
        if isinstance(rows, OutsideRows):
            from incrowd.publish._spark_sorting import write_sorted

            return write_sorted(place, rows)
        files: dict[str, Any] = {}
        with translated("writing the release"):
            context = self._session.sparkContext
            shown = context.broadcast([(c.name, c.texts, c.kind) for c in rows.columns])
            write = partial(_write, str(place), shown)
            for some in _together(parts_of(rows, ROWS_OF_A_PART)):
                done = context.parallelize(some, len(some)).map(write).collect()
                for part, size, digest, many in done:
                    refuse_unseen(place / part, size)
                    files[f"{name}/{part}"] = {
                        "sha256": digest,
                        "bytes": size,
                        "rows": many,
                        "columns": rows.names,
                    }
            shown.destroy()
        for left in place.glob(".*"):  # of a task that was started twice
            left.unlink(missing_ok=True)
        return dict(sorted(files.items()))


def refuse_unseen(path: Path, size: int) -> None:
    """Raise unless the driver sees what an executor wrote."""
    if not path.is_file() or path.stat().st_size != size:
        raise EngineError(_NOT_SHARED)


def parts_of(rows: ShownRows, rows_of_a_part: int) -> Iterator[RowPart]:
    """Cut rows into parts of almost equal length; a row that stands often may be cut, too.

    Example
    -------
    >>> column = ShownColumn("sex", ("F", "M"), np.array([0, 1], dtype=np.uint8))
    >>> rows = ShownRows((column,), np.array([2, 4]))
    >>> [(part.codes[0].tolist(), part.times.tolist()) for part in parts_of(rows, 3)]
    [([0, 1], [2, 1]), ([1], [3])]
    """
    upto = np.cumsum(rows.times)
    many = min(max(1, round(rows.rows / rows_of_a_part)), MOST_PARTS)
    bounds = np.linspace(0, rows.rows, many + 1).astype(np.int64).tolist()
    for number, (begin, end) in enumerate(pairwise(bounds)):
        first = int(np.searchsorted(upto, begin, side="right"))
        last = int(np.searchsorted(upto, end, side="left")) + 1
        chosen = slice(first, last)
        before = upto[chosen] - rows.times[chosen]
        times = np.minimum(upto[chosen], end) - np.maximum(before, begin)
        yield RowPart(number, tuple(c.codes[chosen] for c in rows.columns), times)


def _together(parts: Iterator[RowPart]) -> Iterator[list[RowPart]]:
    """Lists of parts, each small enough to be handed over at once."""
    some: list[RowPart] = []
    size = 0
    for part in parts:
        if some and size + part.nbytes > _BYTES_AT_ONCE:
            yield some
            some, size = [], 0
        some.append(part)
        size += part.nbytes
    if some:
        yield some


def _write(place: str, shown: Any, part: RowPart) -> tuple[str, int, str, int]:
    """Write one part; in a worker. Its name, its bytes, its SHA-256 and its rows."""
    columns = tuple(
        ShownColumn(name, texts, codes, kind)
        for (name, texts, kind), codes in zip(shown.value, part.codes, strict=True)
    )
    name = f"part-{part.number:05}{Path(place).suffix}"
    size, digest, many = write_part(Path(place), name, ShownRows(columns, part.times))
    return name, size, digest, many


def write_part(folder: Path, name: str, rows: ShownRows) -> tuple[int, str, int]:
    """Write the file of one part; in a worker. Its bytes, its SHA-256 and its rows."""
    # A task may be started twice: each writes a file of its own, and both are the same.
    temporary = folder / f".{uuid.uuid4().hex}{folder.suffix}"
    try:
        write_rows(rows, temporary)
        with temporary.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        size = temporary.stat().st_size
        temporary.replace(folder / name)
    except (FileNotFoundError, PermissionError):
        raise as_raised(EngineError(_NOT_SHARED)) from None
    except OSError as error:
        reason = error.strerror or "the system refuses it"
        raise as_raised(EngineError(f"An executor cannot write the release: {reason}.")) from None
    finally:
        temporary.unlink(missing_ok=True)
    return size, digest, rows.rows
