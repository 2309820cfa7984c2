"""Several files: which holds the patients, what hangs on it, and the policy that follows."""

from __future__ import annotations

import os
import random
from pathlib import Path

import polars as pl
import pytest

import incrowd
from incrowd import datasets
from incrowd.errors import InputError, PolicyError
from incrowd.policy import Policy
from incrowd.profiling import LinkedProfile, linked_policy, profile_tables, several_tables

SYNTHEA = Path(os.environ.get("INCROWD_SYNTHEA", "synthea"))
"""Where five tables of Synthea lie, as it writes them."""


def written(folder: Path, **tables: pl.DataFrame) -> list[Path]:
    for name, frame in tables.items():
        frame.write_csv(folder / f"{name}.csv")
    return sorted(folder.glob("*.csv"))


def hospital(folder: Path) -> list[Path]:
    """Patients by numbers, visits that patients have, and diagnoses of visits and patients.

    The days of a stay are numbers that patients have as well.
    """
    draw = random.Random(3)
    visits = [(1000 + n, draw.randint(1, 60), draw.randint(1, 9)) for n in range(150)]
    ill = [(each[0], each[1], draw.choice(("F20.9", "I10", "B20"))) for each in visits * 2]
    return written(
        folder,
        people=pl.DataFrame(
            [(n, 1940 + n % 50, "FM"[n % 2]) for n in range(1, 61)],
            ["patient_id", "birth_year", "sex"], orient="row",
        ),
        stays=pl.DataFrame(visits, ["stay", "patient_id", "days"], orient="row"),
        diagnoses=pl.DataFrame(ill, ["stay", "patient_id", "code"], orient="row"),
        wards=pl.DataFrame({"ward": ["A", "B"], "beds": [10, 12]}),
    )  # fmt: skip


def policy_of(found: LinkedProfile, folder: Path) -> Policy:
    names = {name: str(source.path) for name, source in found.sources.items()}
    path = folder / "policy.yaml"
    path.write_text(linked_policy(found, source_names=names, policy_name="policy.yaml"))
    return Policy.from_file(path)


def test_the_table_that_most_others_name_holds_the_patients(tmp_path: Path) -> None:
    found = profile_tables(hospital(tmp_path))
    assert (found.patients.source, found.patients.unit.unit) == ("people.csv", "patient_id")
    assert found.patients.records == 60
    assert {each.name: each.unit for each in found.tables} == {
        "diagnoses": "patient_id", "stays": "patient_id",
    }  # fmt: skip
    (warning,) = (each for each in found.whole.warnings if "left out" in each)
    assert "'wards.csv'" in warning
    policy = policy_of(found, tmp_path)
    assert policy.attributes["diagnoses.code"].role == "sensitive"
    assert policy.attributes["diagnoses.stay"].role == "identifier"
    assert {a.role for name, a in policy.attributes.items() if a.level == "event"} <= {
        "identifier", "sensitive",
    }  # fmt: skip
    release = incrowd.anonymize(None, policy)
    assert release.save(tmp_path / "release").holds
    assert list(release.tables) == ["patients", "diagnoses"]


def test_generated_histories_with_dirt_are_released_once_the_remedy_is_followed(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "histories"
    datasets.write_histories(folder, 300, dirt=0.05)
    files = several_tables(folder)
    assert len(files) == 4
    found = profile_tables(files)
    assert found.patients.source == "patients.csv"
    policy = policy_of(found, tmp_path)
    with pytest.raises(PolicyError, match="say `unmatched: drop`"):
        incrowd.anonymize(None, policy)
    text = (tmp_path / "policy.yaml").read_text()
    (tmp_path / "policy.yaml").write_text(text.replace("# unmatched: drop", "unmatched: drop"))
    release = incrowd.anonymize(None, tmp_path / "policy.yaml")
    assert release.save(tmp_path / "release").holds
    assert release.manifest["unmatched"]


def test_files_that_do_not_hang_together_are_refused(tmp_path: Path) -> None:
    one = pl.DataFrame({"patient_id": [f"a{n}" for n in range(9)], "sex": ["F"] * 9})
    other = pl.DataFrame({"patient_id": [f"b{n}" for n in range(9)], "ward": ["A"] * 9})
    with pytest.raises(InputError, match="nothing tells how they hang together"):
        profile_tables(written(tmp_path, one=one, other=other))


def test_files_with_the_same_columns_are_one_source(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [30, 40], "sex": ["F", "M"]})
    assert several_tables(tmp_path / "nothing") == []
    assert written(tmp_path, a=frame, b=frame)
    assert several_tables(tmp_path) == []
    written(tmp_path, c=frame.rename({"age": "years"}))
    assert [path.stem for path in several_tables(tmp_path)] == ["a", "b", "c"]


def test_names_of_files_become_names_of_tables(tmp_path: Path) -> None:
    draw = random.Random(1)
    own = pl.DataFrame({"patient": [f"p{n}" for n in range(20)], "sex": ["F", "M"] * 10})
    ill = pl.DataFrame({"patient": [f"p{draw.randrange(20)}" for _ in range(40)]})
    rows = ill.with_columns(diagnosis=pl.Series([draw.choice("abc") for _ in range(40)]))
    own.write_csv(tmp_path / "1 stamm.csv")
    rows.write_csv(tmp_path / "data.csv")
    rows.write_csv(tmp_path / "diagnosen (neu).csv")
    found = profile_tables(sorted(tmp_path.glob("*.csv")))
    assert [each.name for each in found.tables] == ["t-data", "diagnosen-neu"]
    policy = policy_of(found, tmp_path)
    assert incrowd.anonymize(None, policy).save(tmp_path / "release").holds


@pytest.mark.skipif(not SYNTHEA.is_dir(), reason="the tables of Synthea are not here")
def test_synthea_goes_from_init_to_a_verified_release(tmp_path: Path) -> None:
    found = profile_tables(several_tables(SYNTHEA))
    assert (found.patients.source, found.patients.unit.unit) == ("patients.csv", "Id")
    assert {each.unit for each in found.tables} == {"PATIENT"}
    assert sum(each.unmatched for each in found.tables) == 0
    policy = policy_of(found, tmp_path)
    published = {n for n, a in policy.attributes.items() if a.role != "identifier"}
    of_events = {name for name in published if "." in name}
    assert of_events == {"allergies.CODE", "conditions.CODE", "medications.CODE"}
    release = incrowd.anonymize(None, policy)
    verdict = release.save(tmp_path / "release")
    assert verdict.holds
    assert release.manifest["patients"]["source"] == 111
    assert list(release.tables) == ["patients", "allergies", "conditions", "medications"]
