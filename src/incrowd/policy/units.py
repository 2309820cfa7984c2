"""The unit of privacy: whether the rows of a source are its patients.

Every count is a count of rows. A patient with several rows could be a crowd alone, so identifiers
whose values repeat are refused before any work, unless the policy says what a row is (`unit:`).

Invariant: equal identifiers have equal hashes, so no repeat is missed; two different ones are taken
for equal with a chance of about n^2 / 2^129, and are then refused. The hashes are keyed by random
numbers of the run and forgotten with it: they decide nothing that is published. Messages name
columns and counts, never a value.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import PolicyError

if TYPE_CHECKING:
    import polars as pl

    from incrowd.engines.duckdb_engine import DuckDbEngine
    from incrowd.policy._schema import Policy

ROW = "row"
"""What `unit:` says where each row is another patient."""
_NAMED = 5
_SAME = "Values that differ in capital letters or in blanks around them count as the same."
_ONE_ROW = "keep one row of each patient, or aggregate the rows of each to one, and run it again"


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


def looked_at(policy: Policy) -> list[str]:
    """The identifier columns whose repeats matter: the unit, all where none is named, or none."""
    if policy.unit == ROW:
        return []
    if policy.unit is not None:
        return [policy.unit]
    return [name for name, asked in policy.attributes.items() if asked.role == "identifier"]


class Counting:
    """The repeats of identifier columns, which are added piece by piece and not kept.

    Parameters
    ----------
    columns
        Their names.
    engine
        Where the hashes of the values go when they may not fit into memory.

    Notes
    -----
    16 bytes for each value, in memory or on disk; one aggregation at the end.
    """

    def __init__(self, columns: Sequence[str], engine: DuckDbEngine | None = None) -> None:
        self._columns = tuple(columns)
        self._engine = engine
        self._rows = 0
        self._present = dict.fromkeys(self._columns, 0)
        self._hashes: dict[str, list[dict[str, npt.NDArray[np.uint64]]]] = {
            name: [] for name in self._columns
        }
        self._keys = [secrets.randbits(64) for _ in range(2)]

    def add(self, frame: pl.DataFrame) -> None:
        """Take in the next records."""
        self._rows += frame.height
        for number, name in enumerate(self._columns):
            cells = comparable(frame.get_column(name))
            self._present[name] += len(cells)
            hashes = {f"h{i}": cells.hash(key).to_numpy() for i, key in enumerate(self._keys)}
            if self._engine is None:
                self._hashes[name].append(hashes)
            else:
                self._engine.append(f"identifier_{number}", hashes)

    def repeats(self) -> list[Repeats]:
        """What was counted of each column; the hashes are forgotten."""
        return [
            Repeats(name, self._rows, self._present[name], self._distinct(number, name))
            for number, name in enumerate(self._columns)
        ]

    def _distinct(self, number: int, name: str) -> int:
        import polars as pl

        if not self._present[name]:
            return 0
        if self._engine is None:
            pieces = self._hashes.pop(name)
            joined = pl.DataFrame(
                {key: np.concatenate([each[key] for each in pieces]) for key in pieces[0]}
            )
            # One hash of each value settles what never repeats, which is what is hoped for.
            distinct = joined["h0"].n_unique()
            return distinct if distinct == joined.height else joined.n_unique()
        table = f"identifier_{number}"
        both = f"SELECT h0, h1 FROM {table} GROUP BY h0, h1"
        found = self._engine.ask(f"SELECT count(*) AS many FROM ({both})")
        self._engine.drop(table)
        return int(found["many"][0])


def comparable(cells: pl.Series) -> pl.Series:
    """The values of an identifier column as texts that are compared; cells without one are gone."""
    import polars as pl

    if cells.dtype.is_float():
        cells = cells.fill_nan(None).cast(pl.String).str.strip_suffix(".0")
    texts = cells.alias("cells").cast(pl.String).drop_nulls().str.strip_chars().str.to_lowercase()
    return texts.filter(texts != "")


def repeats_in(frame: pl.DataFrame, columns: Sequence[str]) -> list[Repeats]:
    """The repeats of some columns of a frame."""
    counting = Counting(columns)
    counting.add(frame)
    return counting.repeats()


def check_unit(policy: Policy, found: Sequence[Repeats], name: str) -> tuple[str, ...]:
    """Refuse a source whose rows are not its patients; returns what a person should know of it.

    Parameters
    ----------
    policy
        The policy, with or without `unit:`.
    found
        The repeats of the columns that `looked_at` names.
    name
        The source, for messages.

    Raises
    ------
    PolicyError
        An identifier repeats, or the unit is missing in a row: with the counts and the remedies.
    """
    if policy.unit is None:
        repeating = [each for each in found if each.any]
        if repeating:
            raise PolicyError(_undecided(repeating, found, name))
        return tuple(_told_missing(each) for each in found if each.missing)
    for each in found:
        _refuse_unit(each, name)
    return ()


def _undecided(repeating: Sequence[Repeats], found: Sequence[Repeats], name: str) -> str:
    """Why a source with a repeating identifier needs `unit:`, and how to choose it."""
    first = repeating[0]
    listed = ", ".join(f"'{each.column}' ({each.told})" for each in repeating[:_NAMED])
    more = f" and {len(repeating) - _NAMED} more" if len(repeating) > _NAMED else ""
    alone = [each for each in found if not each.any and not each.missing]
    other = (
        f" If '{alone[0].column}', whose values do not repeat, names the patient, say "
        f"`unit: {alone[0].column}`."
        if alone
        else ""
    )
    return (
        f"Values of an identifier repeat in {name}: {listed}{more}. {_SAME} A patient with several "
        "rows could be a crowd alone, so the policy must say what a row is. Say `unit: row` if "
        f"each row is another patient all the same.{other} Say `unit: {first.column}` if it names "
        "the patient: each patient then needs exactly one row, as several records per patient are "
        f"not supported yet; {_ONE_ROW}."
    )


def _refuse_unit(found: Repeats, name: str) -> None:
    """Refuse a unit that names several rows, or not all of them."""
    row = "If each row is another patient all the same, say `unit: row`."
    if found.any:
        raise PolicyError(
            f"unit: '{found.column}' has {found.told} of {name}, so patients have several rows. "
            f"{_SAME} Several records per patient are not supported yet: {_ONE_ROW}. {row}"
        )
    if found.missing:
        raise PolicyError(
            f"unit: '{found.column}' is missing in {found.missing:,} of {found.rows:,} rows of "
            f"{name}, so nobody knows whose they are. Give each row its value, or leave those rows "
            f"out. {row}"
        )


def _told_missing(found: Repeats) -> str:
    return (
        f"'{found.column}' is missing in {found.missing:,} of {found.rows:,} rows; each is counted "
        "as another patient's. Say `unit: row` if that is so."
    )


def counts_patients(manifest: Mapping[str, Any]) -> bool:
    """Whether the records of a release were seen to be of different patients.

    Hospitals see their own rows only: nobody knows whether a patient is in two of them.
    """
    return manifest.get("unit", ROW) != ROW and "hospitals" not in manifest


def told_unit(manifest: Mapping[str, Any]) -> str:
    """What the counts of a release are about, in words for its readers."""
    unit = manifest.get("unit", ROW)
    if unit == ROW:
        return (
            "Records are counted, each as another patient's. A patient with several records is "
            "not protected as one: nobody checked that there is none."
        )
    if "hospitals" in manifest:
        return (
            f"Records are counted. Each hospital saw that none of its own patients, told apart by "
            f"'{unit}', has two; a patient of two hospitals counts twice."
        )
    return (
        f"Records are counted, and each is another patient's: patients were told apart by "
        f"'{unit}', which did not repeat in the source. The published files cannot show that."
    )
