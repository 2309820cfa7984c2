"""Risk of linked tables as they are: patients are counted, with what they hold in other tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from incrowd.attacks import risk
from incrowd.attacks.exposure import Risk
from incrowd.errors import InputError, ParameterError
from linked_tables import Tables, linked

QUASI = ["age", "sex"]


def with_events() -> Tables:
    """Only patients who have a row in both tables of events, as a joined file has them."""
    tables = linked(3)
    known = tables["conditions"]["PATIENT"].str.strip_chars().str.to_lowercase()
    both = {*known} & {*tables["drugs"]["who"]}
    own = tables["patients"]
    coarse = (pl.col("age") // 20).alias("age")
    return {**tables, "patients": own.filter(pl.col("Id").is_in(list(both))).with_columns(coarse)}


def joined(tables: Tables, name: str, column: str) -> pl.DataFrame:
    key = pl.col(column).str.strip_chars().str.to_lowercase()
    named = tables[name].with_columns(key.alias("Id")).drop(column, strict=False)
    return tables["patients"].join(named, on="Id")


def figures(found: Risk) -> tuple[object, ...]:
    return found.records, found.groups, found.uniques, found.combinations, found.prosecutor


def test_figures_are_those_of_a_joined_file() -> None:
    tables = with_events()
    found = risk(tables, quasi=QUASI, sensitive=["conditions.CODE", "drugs.drug"], unit="Id")
    assert found.one == "patient"
    told = {each.name: each for each in found.sensitive}
    for table, naming, column in (("conditions", "PATIENT", "CODE"), ("drugs", "who", "drug")):
        flat = joined(tables, table, naming)
        alone = risk(flat, quasi=QUASI, sensitive=[column], unit="Id")
        assert figures(alone) == figures(found)
        (one,) = alone.sensitive
        ours = told[f"{table}.{column}"]
        assert (one.homogeneous_records, one.confidence_per_group, one.several) == (
            ours.homogeneous_records,
            ours.confidence_per_group,
            ours.several,
        )
    strangers = linked(3)["drugs"].height - joined(tables, "drugs", "who").height
    assert any(f"{strangers:,} rows of drugs name nobody" in each for each in found.remarks)


def test_a_folder_is_asked_as_its_tables(tmp_path: Path) -> None:
    tables = with_events()
    for name, frame in tables.items():
        frame.write_csv(tmp_path / f"{name}.csv")
    asked: dict[str, Any] = {"quasi": QUASI, "sensitive": ["drugs.drug", "name"], "unit": "Id"}
    found, expected = risk(tmp_path, **asked), risk(tables, **asked)
    assert figures(found) == figures(expected)
    assert found.sensitive == expected.sensitive
    assert found.rows == expected.rows
    parts = tmp_path / "parts"
    parts.mkdir()
    for number in range(2):
        tables["patients"].write_csv(parts / f"patients-{number}.csv")
    assert risk(parts, quasi=QUASI, unit="Id").records == tables["patients"].height


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"quasi": QUASI}, r"has several tables\. Say which column"),
        ({"quasi": QUASI, "unit": "row"}, r"has several tables\. Say which column"),
        ({"unit": "Id"}, r"No quasi-identifier is named.*Id, age, sex, name"),
        ({"quasi": ["agee"], "unit": "Id"}, "Did you mean 'age'"),
        ({"quasi": QUASI, "sensitive": ["drugs.drog"], "unit": "Id"}, "Did you mean 'drugs.drug'"),
        ({"quasi": QUASI, "sensitive": ["drug"], "unit": "Id"}, "No column 'drug'"),
        ({"quasi": ["Id"], "unit": "Id"}, "tells patients apart"),
    ],
)
def test_what_does_not_fit_is_told(asked: dict[str, Any], told: str) -> None:
    with pytest.raises((InputError, ParameterError), match=told):
        risk(with_events(), **asked)


def test_tables_without_patients_or_that_name_nobody_are_refused() -> None:
    tables = with_events()
    with pytest.raises(InputError, match="none is called 'patients'"):
        risk({"drugs": tables["drugs"]}, quasi=["drug"], unit="who")
    strange = {**tables, "drugs": tables["drugs"].with_columns(who=pl.lit("nobody"))}
    with pytest.raises(InputError, match="names a patient of the table 'patients'"):
        risk(strange, quasi=QUASI, sensitive=["drugs.drug"], unit="Id")
