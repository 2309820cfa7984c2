"""How often the values of identifier columns repeat, counted without keeping any.

Invariant: equal identifiers have equal hashes, so no repeat is missed; two different ones are taken
for equal with a chance of about n^2 / 2^129, and are then refused. The hashes are keyed by random
numbers of the run and forgotten with it: they decide nothing that is published.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import IntArray
from incrowd.errors import PolicyError
from incrowd.table.pseudonyms import Pseudonyms, halves

if TYPE_CHECKING:
    import polars as pl

    from incrowd._runtime.secret_key import SecretKey
    from incrowd.table.sql_engine import Columns


SAME = "Values that differ in capital letters or in blanks around them count as the same."
"""How identifiers are compared, to be told."""


class Spill(Protocol):
    """Where hashes go that may not fit into memory."""

    def append(self, table: str, columns: Columns) -> None:
        """Add rows to a table, which is made where it is not there."""

    def ask(self, query: str) -> dict[str, IntArray]:
        """The columns of what a query gives."""

    def drop(self, table: str) -> None:
        """Forget a table."""


@dataclass(frozen=True)
class Repeats:
    """How often the values of an identifier column repeat."""

    column: str
    rows: int
    present: int
    """Rows that have a value."""
    distinct: int

    @property
    def missing(self) -> int:
        """Rows without a value; they are not taken for rows of one patient."""
        return self.rows - self.present

    def told_missing(self, asked: str, name: str) -> str | None:
        """What to do about rows of a source without a value, where `asked` wants one of each."""
        if not self.missing:
            return None
        return (
            f"{asked}: '{self.column}' is missing in {self.missing:,} of {self.rows:,} rows of "
            f"{name}, so nobody knows whose they are. Give each row its value, or leave those rows "
            "out."
        )

    @property
    def any(self) -> bool:
        """Whether a value stands in more than one row."""
        return self.distinct < self.present

    @property
    def told(self) -> str:
        """The counts in words."""
        values = "value" if self.distinct == 1 else "different values"
        none = f", {self.missing:,} of them without one" if self.missing else ""
        return f"{self.distinct:,} {values} in {self.rows:,} rows{none}"


class Counting:
    """The repeats of identifier columns, which are added piece by piece and not kept.

    Parameters
    ----------
    columns
        Their names.
    engine
        Where the hashes of the values go when they may not fit into memory.
    beside
        The table of the engine whose rows keep the hashes of the one column, where patients may
        have several; they are not kept a second time.
    key
        What gives each value a name that is the same in every run, for `names`; where the rows of
        an engine keep hashes beside, they keep these names in their place.

    Notes
    -----
    16 bytes for each value, in memory or on disk; one aggregation at the end.
    """

    def __init__(
        self,
        columns: Sequence[str],
        engine: Spill | None = None,
        beside: str | None = None,
        key: SecretKey | None = None,
    ) -> None:
        self._columns = tuple(columns)
        self._engine = engine
        self._beside = beside
        self._key = key
        self._names: dict[str, list[npt.NDArray[np.uint8]]] = {name: [] for name in self._columns}
        self._rows = 0
        self._present = dict.fromkeys(self._columns, 0)
        self._hashes: dict[str, list[dict[str, npt.NDArray[np.uint64]]]] = {
            name: [] for name in self._columns
        }
        self._keys = [secrets.randbits(64) for _ in range(2)]

    def add(self, frame: pl.DataFrame) -> dict[str, npt.NDArray[np.uint64]]:
        """Take in the next records; what the rows of a table keep of them beside, if one does.

        Where a value is missing, which is refused once all are there, rows keep nothing of it.
        """
        self._rows += frame.height
        for number, name in enumerate(self._columns):
            cells = comparable(frame.get_column(name))
            self._present[name] += len(cells)
            hashes = self._hashed(name, cells)
            if self._beside is not None:
                whole = len(cells) == frame.height
                return hashes if whole else {h: np.zeros(frame.height, np.uint64) for h in hashes}
            if self._engine is None:
                self._hashes[name].append(hashes)
            else:
                self._engine.append(f"identifier_{number}", hashes)
        return {}

    def _hashed(self, name: str, cells: pl.Series) -> dict[str, npt.NDArray[np.uint64]]:
        """The hashes of values; where rows keep them beside and there is a key, their names."""
        if self._key is not None:
            names = _named(cells, self._key)
            if self._beside is not None:
                return dict(zip(("h0", "h1"), halves(names), strict=True))
            self._names[name].append(names)
        return {f"h{i}": cells.hash(key).to_numpy() for i, key in enumerate(self._keys)}

    def numbers(self, column: str) -> IntArray:
        """The number of each row's value, from 0 in the order of first rows.

        For a column that no row lacks, counted in memory.
        """
        pieces = self._hashes[column]
        hashes = [np.concatenate([each[key] for each in pieces]) for key in pieces[0]]
        _, first, found = np.unique(hashes[0], return_index=True, return_inverse=True)
        if (hashes[1] != hashes[1][first][found]).any():  # one hash did not tell all apart
            both = np.rec.fromarrays(hashes)
            _, first, found = np.unique(both, return_index=True, return_inverse=True)
        place = np.empty(len(first), dtype=np.int64)
        place[np.argsort(first, kind="stable")] = np.arange(len(first))
        numbers: IntArray = place[found]
        return numbers

    def names(self, column: str, numbers: IntArray) -> npt.NDArray[np.uint8]:
        """The name of each value by its number, as the key gives it, a row of bytes each.

        Raises
        ------
        PolicyError
            When two values have one name, which nobody will ever see.
        """
        return _different(self._names.pop(column), numbers)

    def repeats(self) -> list[Repeats]:
        """What was counted of each column."""
        return [
            Repeats(name, self._rows, self._present[name], self._distinct(number, name))
            for number, name in enumerate(self._columns)
        ]

    def _distinct(self, number: int, name: str) -> int:
        import polars as pl

        if not self._present[name]:
            return 0
        if self._engine is None:
            pieces = self._hashes[name]
            joined = pl.DataFrame(
                {key: np.concatenate([each[key] for each in pieces]) for key in pieces[0]}
            )
            # One hash of each value settles what never repeats, which is what is hoped for.
            distinct = joined["h0"].n_unique()
            return distinct if distinct == joined.height else joined.n_unique()
        table = self._beside or f"identifier_{number}"
        both = f"SELECT h0, h1 FROM {table} GROUP BY h0, h1"
        found = self._engine.ask(f"SELECT count(*) AS many FROM ({both})")
        if self._beside is None:
            self._engine.drop(table)
        return int(found["many"][0])


class Linking:
    """The numbers of patients, the same in every table that names them.

    Identifiers are compared as `Counting` does, by hashes that are keyed by random numbers of the
    run: the same keys for all tables.

    Parameters
    ----------
    column
        The column that tells patients apart in their own table.
    key
        What gives each patient a name that is the same in every run.
    """

    def __init__(self, column: str, key: SecretKey | None = None) -> None:
        self.column, self._key = column, key
        self._names: list[npt.NDArray[np.uint8]] = []
        self._keys = [secrets.randbits(64) for _ in range(2)]
        self._known: pl.DataFrame | None = None

    def hashes(self, cells: pl.Series) -> pl.DataFrame:
        """The hashes of the next cells; null where there is no value."""
        import polars as pl

        texts = comparable(cells, all_cells=True)
        lacks = texts.is_null()
        return pl.DataFrame(
            {f"h{i}": texts.hash(key).set(lacks, None) for i, key in enumerate(self._keys)}
        )

    def beside(self, cells: pl.Series) -> tuple[dict[str, npt.NDArray[np.uint64]], int]:
        """What rows of an engine keep of the next cells, and how many of these have no value.

        Hashes, or by a key the names in their place; 0 where there is no value.
        """
        texts = comparable(cells, all_cells=True)
        present = texts.drop_nulls()
        if self._key is None:
            found = {f"h{i}": present.hash(key).to_numpy() for i, key in enumerate(self._keys)}
        else:
            names = halves(_named(present, self._key))
            found = {f"h{i}": each for i, each in enumerate(names)}
        there = texts.is_not_null().to_numpy()
        whole = {}
        for name, hashes in found.items():
            whole[name] = np.zeros(len(texts), dtype=np.uint64)
            whole[name][there] = hashes
        return whole, len(texts) - len(present)

    def keep_names(self, cells: pl.Series) -> None:
        """Keep what the key calls the patients of the next cells, each of which has a value."""
        if self._key is not None:
            self._names.append(_named(comparable(cells), self._key))

    def pseudonyms(self, numbers: IntArray, key: SecretKey) -> Pseudonyms:
        """What stands for each patient under the key, by the number of each row's patient."""
        return Pseudonyms(_different(self._names, numbers), key.fingerprint)

    def patients(self, hashes: pl.DataFrame) -> tuple[IntArray, Repeats]:
        """The number of each row's patient, from 0 in the order of first rows, and the repeats.

        Rows without a value have the number -1.
        """
        known = hashes.drop_nulls().unique(maintain_order=True, keep="first")
        self._known = known.with_row_index("number")
        present = hashes.height - hashes["h0"].null_count()
        found = Repeats(self.column, hashes.height, present, known.height)
        return self.numbers(hashes), found

    def numbers(self, hashes: pl.DataFrame) -> IntArray:
        """The number of the patient whom each row names; -1 where `patients` knows none such."""
        import polars as pl

        assert self._known is not None
        found = hashes.join(self._known, on=["h0", "h1"], how="left", maintain_order="left")
        numbers: IntArray = found["number"].cast(pl.Int64).fill_null(-1).to_numpy()
        return numbers


def comparable(cells: pl.Series, *, all_cells: bool = False) -> pl.Series:
    """The values of an identifier column as texts that are compared; cells without one are gone.

    Or, with `all_cells`, null.
    """
    import polars as pl

    if cells.dtype.is_float():
        cells = cells.fill_nan(None).cast(pl.String).str.strip_suffix(".0")
    texts = cells.alias("cells").cast(pl.String)
    texts = (texts if all_cells else texts.drop_nulls()).str.strip_chars().str.to_lowercase()
    return texts.set(texts == "", None) if all_cells else texts.filter(texts != "")


def _different(pieces: Sequence[npt.NDArray[np.uint8]], numbers: IntArray) -> npt.NDArray[np.uint8]:
    """The name of each number, from those of all rows; refused where two have the same."""
    found = np.concatenate(pieces)[np.unique(numbers, return_index=True)[1]]
    if len(np.unique(found, axis=0)) < len(found):
        raise PolicyError(
            "Two patients have the same pseudonym under this key. Make another: incrowd key new"
        )
    return found


def _named(cells: pl.Series, key: SecretKey) -> npt.NDArray[np.uint8]:
    """The name of each cell under a key; each different one is computed once."""
    import polars as pl

    different = cells.unique()
    place = cells.replace_strict(different, range(len(different)), return_dtype=pl.UInt32)
    found: npt.NDArray[np.uint8] = key.names(different)[place.to_numpy()]
    return found


def repeats_in(frame: pl.DataFrame, columns: Sequence[str]) -> list[Repeats]:
    """The repeats of some columns of a frame."""
    counting = Counting(columns)
    counting.add(frame)
    return counting.repeats()
