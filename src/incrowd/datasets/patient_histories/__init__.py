"""Patient histories: generated patients of a hospital over ten years, in tables that are linked."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from incrowd._runtime.progress import Progress, silent
from incrowd.datasets.info import ColumnInfo, made_up
from incrowd.errors import OutputError, ParameterError

if TYPE_CHECKING:
    import polars as pl

    from incrowd.datasets.patient_histories._making import AskedHistories

MOST_PATIENTS = 2**30
_PATIENT = ColumnInfo("patient", "key of the patient: an identifier, related to nothing")
_ENCOUNTER = ColumnInfo("encounter", "key of the visit: an identifier, related to nothing")
_PERSON = (
    ColumnInfo("birth_date", "day of birth"),
    ColumnInfo("sex", "Female or Male"),
    ColumnInfo("zip", "five-digit code of an invented area, as text, one of 250"),
    ColumnInfo("race", "one of twelve groups"),
    ColumnInfo("marital_status", "one of five, at the end of 2024"),
    ColumnInfo("death_date", "day of death; empty of those who lived at the end of 2024"),
)
_CLASS = ColumnInfo("class", "wellness, ambulatory, emergency or inpatient")
_DEPARTMENT = ColumnInfo("department", "who saw the patient, one of 23")
_CONDITION = (
    ColumnInfo("start", "day on which the condition was recorded"),
    ColumnInfo("end", "day on which it was over; empty where it lasts or nobody saw its end"),
    ColumnInfo("code", "ICD-10-CM code, with its dot"),
    ColumnInfo("description", "what the code stands for, in few words"),
)
TABLES = {
    "patients": (_PATIENT, *_PERSON),
    "encounters": (
        _ENCOUNTER,
        _PATIENT,
        ColumnInfo("start", "first day of the visit, 2015 to 2024"),
        ColumnInfo("end", "last day of it, later than the first for stays in hospital"),
        _CLASS,
        _DEPARTMENT,
    ),
    "conditions": (_PATIENT, _ENCOUNTER, *_CONDITION),
    "prescriptions": (
        _PATIENT,
        _ENCOUNTER,
        ColumnInfo("start", "day of the prescription"),
        ColumnInfo("days", "how many days it lasts for"),
        ColumnInfo("atc", "ATC code of the drug, seven characters"),
        ColumnInfo("description", "name of the drug"),
    ),
}
FLAT = {"visits": (_PATIENT, *_PERSON, _ENCOUNTER, _CLASS, _DEPARTMENT, *_CONDITION)}

INFO = made_up(
    name="patient-histories",
    title="Patient histories (generated)",
    rows=10_000,
    columns=(),
    tables=TABLES,
)


@dataclass(frozen=True)
class GeneratedHistories:
    """Histories in memory.

    `tables` has the frames by name: patients, encounters, conditions and prescriptions, or visits.
    `wrong` tells for each how many rows are wrong in which way, where that was asked for.
    """

    tables: dict[str, pl.DataFrame]
    wrong: dict[str, dict[str, int]]


@dataclass(frozen=True)
class WrittenHistories:
    """Histories in files: where each lies, how many rows it has, and how many are wrong."""

    files: dict[str, Path]
    rows: dict[str, int]
    wrong: dict[str, dict[str, int]]


def load_histories(
    patients: int = INFO.rows, *, seed: int = 0, dirt: float = 0.0, flat: bool = False
) -> GeneratedHistories:
    """Return generated patients with their visits, conditions and prescriptions as frames.

    Parameters
    ----------
    patients
        How many patients. The first of many are the same as few.
    seed
        Another seed gives other patients.
    dirt
        The share of the rows of each table that are made wrong, each in one way.
    flat
        One table with a row for each condition, `visits`, in place of the four.

    Examples
    --------
    >>> {name: frame.width for name, frame in load_histories(100).tables.items()}
    {'patients': 7, 'encounters': 6, 'conditions': 6, 'prescriptions': 6}
    """
    import polars as pl

    from incrowd.datasets.patient_histories._making import added, pieces

    every, wrong = [], dict[str, dict[str, int]]()
    for piece in pieces(_asked(patients, seed, dirt, flat)):
        added(wrong, piece)
        every.append({name: frame for name, (frame, _) in piece.items()})
    tables = {name: pl.concat([piece[name] for piece in every]) for name in every[0]}
    return GeneratedHistories(tables, wrong)


def write_histories(
    folder: str | os.PathLike[str],
    patients: int = INFO.rows,
    *,
    seed: int = 0,
    dirt: float = 0.0,
    flat: bool = False,
    replace: bool = False,
    progress: Progress = silent,
) -> WrittenHistories:
    """Write generated patients into CSV files of a folder, in memory for some of them at a time.

    Takes what `load_histories` takes. The files appear when all of them are complete.

    Parameters
    ----------
    folder
        Where the files go; it is made where needed.
    replace
        Whether files of these names that lie there may be replaced.
    progress
        Told how many patients are done.

    Raises
    ------
    OutputError
        When a file is there already, or the folder cannot be written to.
    """
    from incrowd.datasets.patient_histories._making import write_pieces

    asked = _asked(patients, seed, dirt, flat)
    place = Path(folder)
    files = {name: place / f"{name}.csv" for name in (FLAT if flat else TABLES)}
    if place.exists() and not place.is_dir():
        raise OutputError(f"'{place}' is a file. Name a folder for the histories.")
    standing = [path for path in files.values() if path.exists()]
    if standing and not replace:
        raise OutputError(
            f"'{standing[0]}' exists. Choose another folder, or replace it: --force (in Python "
            "replace=True)."
        )
    rows, wrong = write_pieces(asked, place, tuple(files), progress)
    return WrittenHistories(files, rows, wrong)


def _asked(patients: int, seed: int, dirt: float, flat: bool) -> AskedHistories:
    from incrowd.datasets.patient_histories._making import AskedHistories

    for name, number, least in (("patients", patients, 1), ("seed", seed, 0)):
        if not isinstance(number, int) or isinstance(number, bool) or number < least:
            raise ParameterError(
                f"{name} must be a whole number of at least {least}, got {number!r}."
            )
    if patients > MOST_PATIENTS:
        raise ParameterError(f"patients must be at most {MOST_PATIENTS:,}, got {patients:,}.")
    if isinstance(dirt, bool) or not isinstance(dirt, int | float) or not 0 <= dirt <= 1:
        raise ParameterError(f"dirt must be a share from 0 to 1, got {dirt!r}.")
    return AskedHistories(patients, seed, float(dirt), flat)
