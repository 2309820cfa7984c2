"""Cancer registry: generated patients with the columns of a registry that cannot be published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incrowd.datasets.info import ColumnInfo, made_up

if TYPE_CHECKING:
    import polars as pl

INFO = made_up(
    name="cancer-registry",
    title="Cancer registry (generated)",
    rows=72_194,
    columns=(
        ColumnInfo("patient_id", "number of the patient: an identifier"),
        ColumnInfo("birth_date", "day of birth"),
        ColumnInfo("gender", "Female or Male"),
        ColumnInfo("race", "one of twelve groups; a few are missing"),
        ColumnInfo("zip", "five-digit code of an invented area, as text; a few are missing"),
        ColumnInfo("tumor_topography", "where the tumor grew: ICD-O-3 topography code"),
        ColumnInfo("histology", "what kind of tumor: ICD-O-3 morphology code"),
        ColumnInfo("survival_years", "whole years from the diagnosis to death or last contact"),
        ColumnInfo("diagnosis_date", "day of the diagnosis, 1985 to 2007"),
        ColumnInfo("age_at_diagnosis", "age in whole years on the day of the diagnosis"),
        ColumnInfo("tumor_size", "largest diameter in millimetres; missing where not measured"),
        ColumnInfo("tumor_site", "group of topographies, as the registry abstracted it"),
        ColumnInfo("recur_status", "first recurrence of the tumor, one of 31 kinds"),
    ),
)


def read(rows: int | None, seed: int) -> pl.DataFrame:
    """Return `rows` generated patients, 72,194 unless told otherwise."""
    from incrowd.datasets.cancer_registry._generator import generate

    return generate(INFO.rows if rows is None else rows, seed)
