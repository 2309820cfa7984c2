"""The live risk: how exposed the records are under the roles chosen at the moment.

Columns are coded once; each answer is then one numbering of the records by the codes of the chosen
columns, which a person can wait for at every click.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import polars as pl

from incrowd._runtime.arrays import IntArray
from incrowd.errors import InputError, ParameterError, nearest
from incrowd.serve.workspace._studies import WHOSE
from incrowd.table import Column, Role
from incrowd.table.profiles import PATIENTS, of_table
from incrowd.table.repeats import Repeats, comparable

if TYPE_CHECKING:
    from incrowd.attacks.exposed_records import Exposed

_OnDisk = TypeVar("_OnDisk")


class CodedColumns:
    """The columns of a file as codes on disk, mapped into memory when they are asked for.

    Parameters
    ----------
    folder
        Where `incrowd.serve.workspace._studies` left the codes, one array for each column.
    names, cardinalities
        The columns in order, and how many codes each has.
    """

    def __init__(self, folder: Path, names: Sequence[str], cardinalities: Sequence[int]) -> None:
        self._folder = folder
        self._at = {name: at for at, name in enumerate(names)}
        self._cardinalities = tuple(cardinalities)

    def column(self, name: str, role: Role) -> Column:
        """A column of codes. Its texts stay on disk: counting needs none.

        Of a sensitive one, spellings of one value have one code.
        """
        at = _found(name, self._at)
        codes = np.load(self._folder / f"{at}.npy", mmap_mode="r")
        cardinality = self._cardinalities[at]
        values = self._folder / f"{at}.values.npy"
        if role == "sensitive" and values.exists():
            lookup = np.load(values)
            codes, cardinality = lookup[codes], int(lookup.max()) + 1
        return Column(name, role, "category", codes, ("",) * cardinality)

    def texts(self, name: str) -> tuple[list[str | None], list[int]]:
        """The distinct texts of a column (None: missing), and how many records have each."""
        kept = pl.read_parquet(self._folder / f"{_found(name, self._at)}.parquet")
        return kept["text"].to_list(), kept["records"].to_list()

    def patients(self, name: str) -> IntArray | None:
        """For each record the place of its patient; None where a record has none, or each its own.

        As a run tells them apart: capital letters and blanks around a value do not matter.
        """
        column = self.column(name, "identifier")
        codes = column.codes.astype(np.int64)
        if self.repeats(name).missing or not self.repeats(name).any:
            return None
        texts = [text for text, _ in zip(*self.texts(name), strict=True)]
        if len(texts) == column.cardinality:
            of_text: dict[str, int] = {}
            same = [
                of_text.setdefault((text or "").strip().lower(), len(of_text)) for text in texts
            ]
            codes = np.array(same, dtype=np.int64)[codes]
        places: IntArray = np.unique(codes, return_inverse=True)[1].astype(np.int64)
        return places

    def repeats(self, name: str) -> Repeats:
        """How often the values of a column repeat, as a run will see it."""
        texts, records = self.texts(name)
        kept = pl.DataFrame(
            {"text": texts, "records": records}, schema_overrides={"text": pl.String}
        )
        there = kept.filter(kept["text"].str.strip_chars() != "")
        distinct = comparable(there["text"]).n_unique()
        return Repeats(name, int(kept["records"].sum()), int(there["records"].sum()), distinct)


class CodedTables:
    """The columns of several tables as codes on disk, those of events named `table.column`.

    Parameters
    ----------
    folder
        Where `incrowd.serve.workspace._studies` left a folder for each table.
    tables
        The columns of each table and how many codes each has, that of the patients first.
    """

    def __init__(
        self, folder: Path, tables: Mapping[str, tuple[Sequence[str], Sequence[int]]]
    ) -> None:
        self._places = {name: folder / str(number) for number, name in enumerate(tables)}
        self._tables = {
            name: CodedColumns(self._places[name], *columns) for name, columns in tables.items()
        }
        self._at = {
            each if name == PATIENTS else of_table(name, each): (name, each)
            for name, (columns, _) in tables.items()
            for each in columns
        }

    def column(self, name: str, role: Role) -> Column:
        """A column of codes, a code for each row of its table; see `CodedColumns`."""
        table, column = _found(name, self._at)
        return replace(self._tables[table].column(column, role), name=name)

    def texts(self, name: str) -> tuple[list[str | None], list[int]]:
        """The distinct texts of a column (None: missing), and how many rows have each."""
        table, column = _found(name, self._at)
        return self._tables[table].texts(column)

    def table_of(self, name: str) -> str:
        """The table of a column."""
        return _found(name, self._at)[0]

    def whose(self, table: str) -> IntArray:
        """The number of each row's patient, -1 where the table of patients has none."""
        found: IntArray = np.load(self._places[table] / WHOSE)
        return found


def _found(name: str, places: Mapping[str, _OnDisk]) -> _OnDisk:
    """The place of a column; ParameterError with the nearest name where there is none."""
    if name not in places:
        raise ParameterError(f"No column '{name}'.{nearest(name, places)}")
    return places[name]


def live_risk(
    columns: CodedColumns, quasi: Sequence[str], sensitive: Sequence[str], unit: str | None = None
) -> dict[str, Any]:
    """The figures of `incrowd risk`, without those of combinations, for the chosen columns.

    Given a `unit` that repeats, patients are counted; the value that most rows of one have stands
    for a patient where rows differ.

    Notes
    -----
    Cost: one look-up in a hash table for each of the n records and, for each sensitive column,
    another; memory O(n).
    """
    from incrowd.attacks.exposed_records import Exposed

    _refuse_odd(quasi, sensitive)
    known = tuple(columns.column(name, "quasi") for name in dict.fromkeys(quasi))
    apart = {name: columns.column(name, "sensitive") for name in dict.fromkeys(sensitive)}
    whole = Exposed("the table", len(known[0].codes), known, apart, tuple(apart))
    patient = None if unit is None else columns.patients(unit)
    return _figures(whole if patient is None else _by_patient(whole, patient))


def linked_risk(
    tables: CodedTables, quasi: Sequence[str], sensitive: Sequence[str]
) -> dict[str, Any]:
    """The same of patients whose events stand in other tables, for the chosen columns.

    Rows of events that name no patient are left out.
    """
    from incrowd.attacks.exposed_records import Exposed
    from incrowd.table.people import HeldByPatients

    _refuse_odd(quasi, sensitive)
    of_events = [name for name in quasi if tables.table_of(name) != PATIENTS]
    if of_events:
        raise ParameterError(
            f"'{of_events[0]}' varies within a patient: what others may know of events is not "
            "counted here; ask `incrowd risk --events`. Name columns of the table of patients."
        )
    known = tuple(tables.column(name, "quasi") for name in dict.fromkeys(quasi))
    apart = {name: tables.column(name, "sensitive") for name in dict.fromkeys(sensitive)}
    own = {name: each for name, each in apart.items() if tables.table_of(name) == PATIENTS}
    rows = Exposed("the table of patients", len(known[0].codes), known, own, tuple(apart))
    seen = _by_patient(rows, tables.whose(PATIENTS))
    held = {}
    for name, column in apart.items():
        if name not in own:
            whose = tables.whose(tables.table_of(name))
            there = np.flatnonzero(whose >= 0)
            held[name] = HeldByPatients.of(_at(column, there), whose[there])
    return _figures(replace(seen, held={**seen.held, **held}))


def _refuse_odd(quasi: Sequence[str], sensitive: Sequence[str]) -> None:
    """Refuse choices of columns of which nothing can be counted."""
    if not quasi:
        raise ParameterError("Nothing to count: give at least one column the role quasi.")
    twice = [name for name in sensitive if name in quasi]
    if twice:
        raise ParameterError(f"Column '{twice[0]}' cannot be quasi and sensitive at once.")


def _by_patient(rows: Exposed, patient: IntArray) -> Exposed:
    """The patients whose rows these are."""
    from incrowd.table.people import HeldByPatients, standing_rows

    known = tuple(_at(column, standing_rows(column, patient)[0]) for column in rows.quasi)
    own, held = {}, {}
    for name, column in rows.sensitive.items():
        standing, differing = standing_rows(column, patient)
        if differing:
            held[name] = HeldByPatients.of(column, patient)
        else:
            own[name] = _at(column, standing)
    return replace(
        rows,
        records=len(known[0].codes),
        quasi=known,
        sensitive=own,
        held=held,
        one="patient",
        gathered_from=len(patient),
    )


def _at(column: Column, rows: IntArray) -> Column:
    """A column at some of its rows, its codes as they were."""
    return replace(column, codes=column.codes[rows])


def risk_of_release(folder: Path) -> dict[str, Any]:
    """The same figures of a release, from its published files."""
    from incrowd._runtime.progress import silent
    from incrowd.attacks.exposed_records import exposed

    seen = exposed(folder, None, None, query=None, memory=None, progress=silent)
    if not seen.quasi:
        raise InputError("The release has no quasi-identifier.")
    return _figures(seen)


def _figures(seen: Exposed) -> dict[str, Any]:
    from incrowd.attacks.exposure import THRESHOLDS, GroupSizes, prosecutor_risk, sensitive_exposure
    from incrowd.table.packing import distinct_rows_of

    number, _ = distinct_rows_of(seen.quasi, seen.rows)
    sizes = seen.tally.count(number)
    uniques = int(np.count_nonzero(sizes == 1))
    return {
        "one": seen.one,
        "records": seen.records,
        "quasi": [column.name for column in seen.quasi],
        "groups": asdict(GroupSizes.of(sizes, seen.records)),
        "uniques": {"records": uniques, "share": uniques / seen.records},
        "prosecutor": prosecutor_risk(sizes, THRESHOLDS).as_dict(),
        "marketer": len(sizes) / seen.records,
        "attributes": [
            {"name": column.name, "distinct": column.cardinality} for column in seen.quasi
        ],
        "sensitive": [
            asdict(sensitive_exposure(seen, name, number, sizes)) for name in seen.wanted
        ],
    }
