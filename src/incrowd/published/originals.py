"""The source of a release, read to be held against it: its records, or its patients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from incrowd._runtime.manifests import Manifest, counts_rows
from incrowd.published._original_tables import OriginalRows, original_tables, rows_of_table
from incrowd.sources import SourceLike
from incrowd.table.people import by_patient, patients_of
from incrowd.table.profiles import FLAT, PATIENTS
from incrowd.table.repeats import Linking

if TYPE_CHECKING:
    import polars as pl


__all__ = ["OriginalRecords", "OriginalRows", "original_records", "original_tables"]


@dataclass(frozen=True)
class OriginalRecords:
    """What a release was made from, a row for each record or patient.

    Parameters
    ----------
    frame
        The columns that were asked for.
    tables
        Of patients with several rows: these, by the names of their tables; of linked tables those
        that were given.
    remarks
        What to know of columns of which one value was taken for a patient.
    """

    frame: pl.DataFrame
    tables: Mapping[str, OriginalRows] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


def original_records(
    source: SourceLike, columns: Sequence[str], manifest: Manifest, events: Sequence[str] = ()
) -> OriginalRecords:
    """These columns of the source of a release, gathered by its unit where that has several rows.

    Parameters
    ----------
    source
        A path or frame, or several of linked tables, see `original_tables`.
    columns
        What is said of records or patients.
    manifest
        That of the release: it says whether rows were gathered, and by which column.
    events
        What varies between the rows of a patient. Of linked tables rows are read where their table
        was given.

    Raises
    ------
    InputError
        A column is not there, or a row does not say whose it is.

    Notes
    -----
    Of a column that differs between rows of a patient the most frequent value is taken, and said:
    a manifest does not tell which value a policy took.
    """
    from incrowd.sources import describe, read

    columns = list(dict.fromkeys(columns))
    if not counts_rows(manifest):
        return OriginalRecords(read(source, columns=columns))
    given = original_tables(source, manifest)
    unit, name = str(manifest["unit"]), describe(given[PATIENTS])
    linked = "tables" in manifest
    own = () if linked else events
    frame = read(given[PATIENTS], columns=list(dict.fromkeys([unit, *columns, *own])))
    found = by_patient(frame, patients_of(frame[unit], name), columns)
    told = tuple(
        f"'{column}' differs between the rows of {many:,} patients in {name}: the most frequent "
        "value is taken for theirs."
        for column, many in found.differing.items()
    )
    if not linked:
        rows = OriginalRows(frame.select(events), found.patient)
        return OriginalRecords(found.frame, {FLAT: rows}, told)
    linking = Linking(unit)
    linking.patients(linking.hashes(frame[unit]))
    tables = {
        table: rows_of_table(table, given[table], asked, manifest, linking)
        for table in manifest["tables"]
        if table in given and (asked := [each for each in events if each.startswith(f"{table}.")])
    }
    return OriginalRecords(found.frame, tables, told)
