"""Blood transfusions: generated incidents of a year in the public hospitals of an invented city."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incrowd.datasets.info import ColumnInfo, made_up

if TYPE_CHECKING:
    import polars as pl

QUASI = (
    ColumnInfo("age", "age in whole years"),
    ColumnInfo("sex", "Female or Male"),
    ColumnInfo("height_cm", "height in centimetres"),
    ColumnInfo("weight_kg", "weight in kilograms; a few are missing"),
    ColumnInfo("marital_status", "one of six"),
    ColumnInfo("children", "number of children"),
    ColumnInfo("household_size", "people who live with the patient, and the patient"),
    ColumnInfo("household_income", "dollars a month, in steps of 500"),
    ColumnInfo("education", "highest schooling completed; a few are missing"),
    ColumnInfo("employment", "full time, retired, student, …"),
    ColumnInfo("occupation", "present or last occupation, one of thirty"),
    ColumnInfo("housing", "kind of home, one of eight"),
    ColumnInfo("insurance", "who pays, one of six"),
    ColumnInfo("district", "where the patient lives, one of eighteen invented districts"),
    ColumnInfo("ancestral_region", "where the family comes from, one of sixteen regions"),
    ColumnInfo("ethnicity", "one of ten groups"),
    ColumnInfo("mother_tongue", "one of ten"),
    ColumnInfo("religion", "one of eight; a few are missing"),
    ColumnInfo("diet", "what the patient eats, one of eight"),
    ColumnInfo("smoker", "Yes or No"),
    ColumnInfo("diabetic", "Yes or No"),
    ColumnInfo("pregnant", "Yes or No"),
    ColumnInfo("family_donor_group", "ABO group of a relative on the register of donors"),
    ColumnInfo("family_donors", "relatives who gave blood of late"),
    ColumnInfo("family_donations", "donations of the family since it is on the register"),
    ColumnInfo("family_donor_card", "card that these earned: None, Bronze, Silver or Gold"),
    ColumnInfo("donor_centre", "donor centre of the family, one of twelve"),
    ColumnInfo("donor_programme", "programme that calls the family, one of eight"),
    ColumnInfo("register_years", "years the family has been on the register"),
    ColumnInfo("call_months", "months since the register last called the family"),
    ColumnInfo("hospital", "one of fourteen invented hospitals"),
    ColumnInfo("ward", "one of twelve"),
    ColumnInfo("specialty", "of the doctor in charge, one of twelve"),
    ColumnInfo("procedure", "what was done, one of sixteen"),
    ColumnInfo("admission_source", "where the patient came from, one of six"),
    ColumnInfo("transfusion_month", "month of the transfusion"),
    ColumnInfo("length_of_stay", "days in hospital"),
    ColumnInfo("waiting_days", "days from the request to the transfusion"),
    ColumnInfo("systolic_pressure", "blood pressure on admission, in mmHg"),
    ColumnInfo("previous_transfusions", "transfusions in earlier years"),
    ColumnInfo("previous_reaction", "whether one of them was ill borne: Yes or No"),
)
KEPT = (
    ColumnInfo("haemoglobin_before", "grams per decilitre before the transfusion"),
    ColumnInfo("haemoglobin_after", "grams per decilitre on the day after"),
    ColumnInfo("platelets", "billions per litre"),
    ColumnInfo("inr", "clotting time as a ratio to normal"),
    ColumnInfo("ferritin", "micrograms per litre; missing where not measured"),
    ColumnInfo("c_reactive_protein", "milligrams per litre; missing where not measured"),
    ColumnInfo("creatinine", "micromoles per litre"),
    ColumnInfo("albumin", "grams per litre"),
    ColumnInfo("von_willebrand_factor", "percent of normal; lower in group O"),
    ColumnInfo("alkaline_phosphatase", "units per litre; higher in group B, lower in group A"),
    ColumnInfo("component", "red cells, platelets, plasma or cryoprecipitate"),
    ColumnInfo("units", "units transfused"),
    ColumnInfo("reason", "why, one of eight"),
    ColumnInfo("urgency", "Elective, Urgent or Emergency"),
    ColumnInfo("crossmatch", "how the unit was matched, one of three ways"),
    ColumnInfo("antibody_screen", "Negative or Positive"),
    ColumnInfo("unit_age_days", "days the unit was stored"),
    ColumnInfo("phenotype_matched", "whether further antigens were matched: Yes or No"),
    ColumnInfo("reaction", "of the patient to this transfusion, mostly None"),
)

INFO = made_up(
    name="blood-transfusions",
    title="Blood transfusions (generated)",
    rows=10_000,
    columns=(
        *QUASI,
        ColumnInfo("diagnosis", "one of fifteen chapters: sensitive"),
        *KEPT,
        ColumnInfo("blood_group", "ABO and rhesus group of the patient, one of eight: the class"),
    ),
)


def read(rows: int | None, seed: int) -> pl.DataFrame:
    """Return `rows` generated incidents, 10,000 unless told otherwise."""
    from incrowd.datasets.blood_transfusions._generator import generate

    incidents = generate(INFO.rows if rows is None else rows, seed)
    return incidents.select(column.name for column in INFO.columns)
