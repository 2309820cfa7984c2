"""Sketches: how many of some records were there before, without keeping any of them.

A record is known by a keyed hash (HMAC-SHA256, 64 bits of it) over what it says in the columns of
a run; the second record that says the same has another one, and so on. A sketch keeps the smallest
hashes, a random sample of the records whose choice depends on nothing but the key. Two runs that
hold a record in common both keep its hash, or neither has room for one so large.

Invariant: no cell, code or count of a value is kept, and without the key no guess can be tested.
Records that look alike are taken for the same: a later year of other patients may seem to overlap.
That errs on the safe side.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd.federation.transport.transcripts import packed
from incrowd.table import Column, Table

KEPT = 1 << 16
"""So many hashes are kept of a run: all of a smaller one, every 15th record of a million."""
_BYTES = 8
_AT_ONCE = 1 << 15
_VALUE, _ROW, _AGAIN = "value", b"row", b"again"
Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Sketch:
    """What is kept of the records of a run."""

    records: int
    columns: tuple[str, ...]
    """Their names, sorted."""
    layout: str
    """The digest of the columns and of the values that they may have."""
    least: Hashes
    """The smallest hashes, in order."""

    @property
    def bound(self) -> int:
        """The largest hash that would have been kept."""
        full = self.records > self.least.size
        return int(self.least[-1]) if full else int(np.iinfo(np.uint64).max)


@dataclass(frozen=True)
class Marks:
    """The hashes of all records of a run that is about to begin, in order."""

    columns: tuple[str, ...]
    layout: str
    hashes: Hashes

    @property
    def sketch(self) -> Sketch:
        """What is kept of them."""
        return Sketch(self.hashes.size, self.columns, self.layout, self.hashes[:KEPT])

    def share(self, before: Sequence[Sketch]) -> float:
        """About which share of these records were in at least one of some earlier runs.

        Notes
        -----
        Exact where the earlier runs had no more than `KEPT` records. Of earlier ones with more, a
        few of these records may stay unseen; at least one of n is seen with probability
        1 - (1 - KEPT / earlier records) ** n.
        """
        if not before:
            return 0.0
        bound = np.uint64(min(sketch.bound for sketch in before))
        sample = self.hashes[self.hashes <= bound]
        known = np.concatenate([sketch.least for sketch in before])
        return float(np.isin(sample, known).mean()) if sample.size else 0.0

    def overlap(self, before: Sketch) -> float | None:
        """About which share of these records were in an earlier run; None where nobody can tell.

        Notes
        -----
        Records of other columns, or over other values, hash otherwise though they may be of the
        same patients. So nothing is known then, and 0 is only told of the same layout, or of
        columns that have no name in common.
        """
        if not set(self.columns) & set(before.columns):
            return 0.0
        if self.columns != before.columns:
            return None
        share = self.share([before])
        return None if share == 0.0 and self.layout != before.layout else share


def marks_of(table: Table, layout: str, key: bytes) -> Marks:
    """The hashes of all records of a table, under a key.

    Notes
    -----
    Two HMACs for a record at most: 2 to 5 s for a million records.
    """
    columns = sorted(table.columns, key=lambda column: column.name)
    rows = _row_hashes(columns, table.records, key)
    return Marks(tuple(column.name for column in columns), layout, _each_once(rows, key))


def _row_hashes(columns: Sequence[Column], records: int, key: bytes) -> Hashes:
    """A hash for every record, the same for records that say the same."""
    values = [_value_hashes(column, key) for column in columns]
    found = np.empty(records, dtype=np.uint64)
    for begin in range(0, records, _AT_ONCE):
        end = min(begin + _AT_ONCE, records)
        cells = [its[column.codes[begin:end]] for its, column in zip(values, columns, strict=True)]
        said = np.stack(cells, axis=1).tobytes()
        width = len(cells) * _BYTES
        found[begin:end] = _hashes(
            [_ROW + said[at : at + width] for at in range(0, len(said), width)], key
        )
    return found


def _value_hashes(column: Column, key: bytes) -> Hashes:
    """A hash for every code of a column, by the value's text; the last one for missing cells."""
    name = column.name.encode()
    said = [packed(_VALUE.encode(), name, value.encode()) for value in column.values]
    return _hashes([*said, packed(_VALUE.encode(), name)], key)


def _each_once(rows: Hashes, key: bytes) -> Hashes:
    """Hashes of which no two are the same, in order: records that say the same are numbered."""
    rows = np.sort(rows)
    first = np.concatenate(([True], rows[1:] != rows[:-1]))
    begins = np.maximum.accumulate(np.where(first, np.arange(rows.size), 0))
    numbers = np.arange(rows.size) - begins
    again = np.flatnonzero(numbers)
    said = np.stack([rows[again], numbers[again].astype(np.uint64)], axis=1).tobytes()
    width = 2 * _BYTES
    rows[again] = _hashes(
        [_AGAIN + said[at : at + width] for at in range(0, len(said), width)], key
    )
    return np.sort(rows)


def _hashes(messages: Sequence[bytes], key: bytes) -> Hashes:
    digests = b"".join([hmac.digest(key, each, "sha256")[:_BYTES] for each in messages])
    return np.frombuffer(digests, dtype=">u8").astype(np.uint64)
