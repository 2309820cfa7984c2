"""Patients with several rows in Spark: the labels that memory gives, up to the pseudonyms."""

from __future__ import annotations

import ast
import random
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from spark_here import requires_spark

import incrowd
from incrowd._runtime.spark_session import session
from incrowd.engines import collapse
from incrowd.errors import PolicyError, UnprotectedError
from incrowd.publish import _spark_sorting as sorted_writing
from incrowd.publish.key_files import new_key

pytestmark = requires_spark
PROPERTIES = {
    "spark.master": "local[2]",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.ui.enabled": "false",
}
ATTRIBUTES: dict[str, Any] = {
    "id": "identifier",
    "age": {"role": "quasi", "type": "numeric"},
    "sex": "quasi",
    "zip": {"role": "quasi", "take": "most-frequent"},
    "job": {"role": "sensitive", "take": "last"},
    "day": {"role": "keep", "level": "event", "type": "date"},
    "ill": {"role": "sensitive", "level": "event"},
    "ward": {"role": "keep", "level": "event"},
}
POLICY: dict[str, Any] = {
    "unit": "id",
    "attributes": ATTRIBUTES,
    "suppression": 0.3,
    "privacy": [
        {"k-anonymity": {"k": 3}},
        {"confidence-bounding": {"C": 0.8, "sensitive": "ill", "values": ["hiv", "gout"]}},
        {"l-diversity": {"l": 1.1, "kind": "frequency", "sensitive": "ill"}},
    ],
}


@pytest.fixture(scope="session", autouse=True)
def spark() -> Any:
    return session(PROPERTIES)


def visits(seed: int, patients: int = 40) -> pl.DataFrame:
    """Rows of patients, of whom each had one job on a day."""
    draw = random.Random(seed)
    rows: list[tuple[Any, ...]] = []
    for patient in range(patients):
        age, sex = draw.choice((*range(20, 60, 4), None)), draw.choice("MF")
        for _ in range(draw.choice((1, 1, 2, 4, 9))):
            day = draw.choice(("2024-01-01", "2024-01-02", "2024-05-01", None))
            name, zip_code = draw.choice((f"p{patient}", f" P{patient}")), draw.choice(("10", "11"))
            job = None if day is None else ("nurse", "baker")[hash_of(patient, day)]
            ill = draw.choice(("flu", "Flu", "hiv", "gout", None))
            row = (name, age, sex, zip_code, job, day, ill, draw.choice("AB"))
            rows += [row] * draw.choice((1, 1, 2))
    return pl.DataFrame(rows, list(ATTRIBUTES), orient="row", infer_schema_length=None)


def hash_of(patient: int, day: str) -> int:
    return (patient + int(day[-1]) + int(day[6])) % 2


def by_patient(shown: pl.DataFrame) -> Counter[tuple[Any, ...]]:
    """The rows of each patient, whoever that is."""
    rows: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for who, *cells in shown.rows():
        rows[who].append(tuple(map(str, cells)))
    return Counter(tuple(sorted(each)) for each in rows.values())


@pytest.mark.parametrize(
    ("method", "kept", "missing", "kind"),
    [("mondrian", "fits", "drop", "csv"), ("top-down-specialization", "stays", "value", "parquet")],
)
def test_the_release_is_that_of_memory(
    method: str, kept: str, missing: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = visits(len(method), 40 if kept == "fits" else 16)
    frame.write_csv(tmp_path / "visits.csv")
    policy = {**POLICY, "method": method, "missing": missing, "format": kind}
    if kept == "stays":  # every attribute is a request more, for every step
        policy |= {"privacy": POLICY["privacy"][:2], "other": "drop"}
        left = ("id", "age", "zip", "day", "ill")
        policy["attributes"] = {name: ATTRIBUTES[name] for name in left}
    expected = incrowd.anonymize(tmp_path / "visits.csv", policy, accept_unprotected=True)
    if kept == "stays":
        monkeypatch.setattr(collapse, "BYTES_A_CODE", 10**12)
    monkeypatch.setattr(sorted_writing, "ROWS_OF_A_PART", 20)
    asked = {**policy, "engine": "spark", "memory": "500MB"}
    release = incrowd.anonymize(tmp_path / "visits.csv", asked, accept_unprotected=True)
    assert by_patient(release.data) == by_patient(expected.data)
    assert release.manifest == expected.manifest
    verdict = release.save(tmp_path / "release")
    assert verdict.holds
    assert verdict.of_patients
    assert len(list((tmp_path / "release" / f"data.{kind}").iterdir())) > 1
    opened = incrowd.open_release(tmp_path / "release")
    assert by_patient(opened.data) == by_patient(expected.data)


def test_dates_and_pseudonyms_by_a_key_are_those_of_memory(spark: Any, tmp_path: Path) -> None:
    """Also of numbers that came with a fraction, which name patients as whole ones do."""
    frame = visits(6, 14)
    number = pl.col("id").str.strip_chars().str.slice(1).cast(pl.Float64)
    frame = frame.with_columns(id=number, later=pl.col("day"))
    shift = {"shift": "30 days"}
    months = {"relative-to": {"first": "ill", "value": "flu"}, "unit": "months", "widths": [2]}
    attributes = {
        "id": "identifier", "age": {"role": "quasi", "type": "numeric"}, "sex": "quasi",
        "day": {"role": "keep", "level": "event", "type": "date", "time": shift},
        "later": {"role": "keep", "level": "event", "type": "date", "time": months},
        "ill": {"role": "sensitive", "level": "event"},
    }  # fmt: skip
    policy = {
        "unit": "id", "attributes": attributes, "other": "drop", "suppression": 0.3,
        "privacy": [{"k-anonymity": {"k": 3}}],
    }  # fmt: skip
    new_key(tmp_path / "a.key")
    by_key: dict[str, Any] = {"key": tmp_path / "a.key", "accept_unprotected": True}
    expected = incrowd.anonymize(frame, policy, **by_key)
    assert expected.data["day"].n_unique() > 10
    source = spark.createDataFrame(frame.to_arrow())
    release = incrowd.anonymize(source, {**policy, "memory": "1GB"}, **by_key)
    assert release.data.equals(expected.data)
    assert release.manifest == expected.manifest
    assert release.save(tmp_path / "release").holds
    # Records that are each another's have a shift each, and no pseudonym.
    for name in ("day", "later", "ill"):
        attributes[name] = {**attributes[name], "level": "patient"}  # type: ignore[dict-item]
    attributes["later"] = {"role": "keep", "type": "date", "time": {"coarse": "month"}}
    alone = {**policy, "unit": "row", "memory": "1GB"}
    shown = incrowd.anonymize(source, alone, accept_unprotected=True).data
    assert shown.columns == ["age", "sex", "day", "ill", "later"]
    assert shown["day"].n_unique() > 10
    months_of_day = frame["later"].str.slice(0, 7).value_counts(name="n")
    assert sorted(map(str, shown["later"].value_counts(name="n").rows())) == sorted(
        map(str, months_of_day.rows())
    )


LINKED: dict[str, Any] = {
    "patients": {
        "key": "id", "other": "drop",
        "attributes": {
            "age": {"role": "quasi", "type": "numeric"}, "sex": "quasi",
            "born": {"role": "keep", "type": "date", "time": {"shift": "30 days"}},
        },
    },
    "tables": {
        "visits": {
            "unit": "who", "unmatched": "drop", "other": "drop",
            "attributes": {
                "day": {"role": "keep", "type": "date", "time": {"shift": "30 days"}},
                "ill": "sensitive",
            },
        },
        "wards": {"unit": "id", "attributes": {"ward": "keep"}, "other": "drop"},
    },
    "suppression": 0.3,
    "privacy": [
        {"k-anonymity": {"k": 3}},
        {"confidence-bounding": {"C": 0.8, "sensitive": "visits.ill", "values": ["hiv"]}},
    ],
}  # fmt: skip


@pytest.mark.parametrize("by_key", [True, False])
def test_linked_tables_are_released_as_from_memory(
    by_key: bool, spark: Any, tmp_path: Path
) -> None:
    """A CSV file, a Parquet file and a frame; rows of nobody; patients who stand twice."""
    frame = visits(7, 14)
    own = frame.unique("id", keep="first", maintain_order=True).with_columns(
        id=pl.col("id").str.strip_chars().str.to_lowercase(), born=pl.date(1960, 2, 1)
    )
    own = own.unique("id", keep="first", maintain_order=True).select("id", "age", "sex", "born")
    pl.concat([own, own.head(2)]).write_csv(tmp_path / "patients.csv")
    strangers = frame.head(2).with_columns(id=pl.Series(["p99", None], dtype=pl.String))
    rows = pl.concat([frame, strangers]).rename({"id": "who"})
    rows.write_parquet(tmp_path / "visits.parquet")
    files = {"patients": "patients.csv", "visits": "visits.parquet"}
    given: dict[str, Any] = {name: str(tmp_path / file) for name, file in files.items()}
    given["wards"] = frame.select("id", "ward")
    new_key(tmp_path / "a.key")
    asked: dict[str, Any] = {"accept_unprotected": True}
    if by_key:
        asked["key"] = tmp_path / "a.key"
    policy = {**LINKED, "format": "csv" if by_key else "parquet"}
    if not by_key:  # nothing else is drawn then
        months = str(policy).replace("{'shift': '30 days'}", "{'coarse': 'month'}")
        policy = {**ast.literal_eval(months), "most-events": 40}
    expected = incrowd.anonymize(given, policy, **asked)
    given["wards"] = spark.createDataFrame(frame.select("id", "ward").to_arrow())
    release = incrowd.anonymize(given, {**policy, "memory": "1GB"}, **asked)
    assert release.manifest == expected.manifest
    assert expected.manifest["unmatched"] == {"visits": 2}
    # Where spellings differ memory tells of rows by their number, which Spark has none of.
    told = {each for each in expected.remarks if "written in" not in each}
    assert {"have several rows", "name nobody of"} == {
        said for said in ("have several rows", "name nobody of") if said in str(told)
    }
    assert told <= {*release.remarks}
    for name, shown in expected.tables.items():
        if by_key:
            assert release.tables[name].equals(shown)
        elif name == "wards":
            assert by_patient(release.tables[name]) == by_patient(shown)
    verdict = release.save(tmp_path / "release")
    assert verdict.holds
    assert verdict.of_patients
    for name, shown in incrowd.open_release(tmp_path / "release").tables.items():
        assert shown.equals(release.tables[name])


def test_what_singles_patients_out_is_counted_alike(spark: Any) -> None:
    frame = visits(3, 12)
    with pytest.raises(UnprotectedError) as expected:
        incrowd.anonymize(frame, POLICY)
    with pytest.raises(UnprotectedError) as raised:
        incrowd.anonymize(spark.createDataFrame(frame.to_arrow()), {**POLICY, "memory": "1GB"})
    assert str(raised.value) == str(expected.value)


def test_long_histories_are_cut_at_random(spark: Any) -> None:
    frame = visits(4, 16)
    policy = {**POLICY, "privacy": POLICY["privacy"][:1], "most-events": 2, "memory": "1GB"}
    source = spark.createDataFrame(frame.to_arrow())
    release = incrowd.anonymize(source, policy, accept_unprotected=True)
    lengths = release.data.group_by("patient").len()["len"]
    assert lengths.max() == 2
    assert any("patients with more than 2 rows" in remark for remark in release.remarks)


def test_a_first_row_that_only_an_order_would_tell_is_refused(spark: Any) -> None:
    """Two rows of one day differ, and records in Spark have no order."""
    frame = visits(5, 12)
    twice = frame.filter(pl.col("day").is_not_null()).head(1)
    other = twice.with_columns(job=pl.lit("clerk"))
    everyone = pl.concat([frame.filter(pl.col("id") != twice["id"][0]), twice, other])
    source = spark.createDataFrame(everyone.to_arrow())
    with pytest.raises(PolicyError, match=r"'job' \(of 1 patients?\)"):
        incrowd.anonymize(source, {**POLICY, "memory": "1GB"}, accept_unprotected=True)
