"""The source of a release, read to be held against it: its records, or its patients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from incrowd._runtime.arrays import IntArray
from incrowd._runtime.manifests import Manifest, counts_rows
from incrowd.sources import SourceLike
from incrowd.table.people import by_patient, patients_of

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class OriginalRecords:
    """What a release was made from, a row for each record or patient.

    Parameters
    ----------
    frame
        The columns that were asked for.
    rows
        Of patients with several rows: what varies between these, row by row.
    patient
        The place of each row's patient in `frame`.
    remarks
        What to know of columns of which one value was taken for a patient.
    """

    frame: pl.DataFrame
    rows: pl.DataFrame | None = None
    patient: IntArray | None = field(default=None, repr=False)
    remarks: tuple[str, ...] = ()


def original_records(
    source: SourceLike, columns: Sequence[str], manifest: Manifest, events: Sequence[str] = ()
) -> OriginalRecords:
    """These columns of the source of a release, gathered by its unit where that has several rows.

    Parameters
    ----------
    source
        A path or frame.
    columns
        What is said of records or patients.
    manifest
        That of the release: it says whether rows were gathered, and by which column.
    events
        What varies between the rows of a patient. Of linked tables the source is that of the
        patients, and their rows are not read.

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
    unit, name = str(manifest["unit"]), describe(source)
    linked = "tables" in manifest
    if linked:
        events = ()
    frame = read(source, columns=list(dict.fromkeys([unit, *columns, *events])))
    found = by_patient(frame, patients_of(frame[unit], name), columns)
    told = tuple(
        f"'{column}' differs between the rows of {many:,} patients in {name}: the most frequent "
        "value is taken for theirs."
        for column, many in found.differing.items()
    )
    if linked:
        return OriginalRecords(found.frame, remarks=told)
    return OriginalRecords(found.frame, frame.select(events), found.patient, told)
