"""Profiles and starting policies of one file in which patients have several rows."""

from __future__ import annotations

import polars as pl
import pytest

import incrowd
from incrowd import datasets
from incrowd.errors import InputError
from incrowd.profiling import profile, starting_policy


@pytest.fixture(scope="module")
def visits() -> pl.DataFrame:
    return datasets.load_histories(150, flat=True).tables["visits"]


def test_codes_that_vary_are_of_events_and_patients_are_what_is_counted(
    visits: pl.DataFrame,
) -> None:
    found = profile(visits)
    assert found.patients == visits["patient"].n_unique() == found.as_dict()["patients"]
    told = {each.name: (each.role, each.level) for each in found.columns}
    assert told["code"] == ("sensitive", "event")
    assert told["description"] == ("identifier", "event")
    assert told["encounter"] == ("identifier", "patient")
    text = starting_policy(found, source_name=None)
    assert f"{visits.height:,} records of {found.patients:,} patients" in text
    assert "every patient looks like at least 4 others" in text
    assert "this share of the patients may be dropped" in text
    policy = incrowd.Policy.from_yaml(text)
    release = incrowd.anonymize(visits, policy)
    assert release.manifest["patients"]["source"] == found.patients


def test_k_is_lowered_by_the_number_of_patients(visits: pl.DataFrame) -> None:
    few = visits.filter(pl.col("patient").is_in(visits["patient"].unique(maintain_order=True)[:6]))
    assert few.height > 20
    text = starting_policy(profile(few), source_name=None)
    assert "k: 3" in text
    assert "(lowered from 5: few patients)" in text
    one = visits.filter(pl.col("patient") == visits["patient"].mode()[0])
    assert one.height > 20
    with pytest.raises(InputError, match="has 1 patient; at least 4 are needed"):
        starting_policy(profile(one), source_name=None)


def test_files_of_one_row_a_patient_count_records() -> None:
    frame = datasets.load_histories(150).tables["patients"]
    found = profile(frame)
    assert found.patients is None
    assert "patients" not in found.as_dict()
    assert "every record looks like" in starting_policy(found, source_name=None)
