"""What a release publishes: sorted rows, no identifiers, the same bytes every time."""

import json
from pathlib import Path
from typing import get_args

import polars as pl
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

import incrowd
from incrowd.errors import InputError
from incrowd.policy import Publish
from incrowd.published.layouts import RECORDS

FRAME = pl.DataFrame(
    {
        "id": ["p1", "p2", "p3", "p4", "p5", "p6"],
        "age": [30, 31, 50, 52, 33, None],
        "disease": ["Flu", "HIV", "Flu", "Flu", "HIV", "Ulcer"],
        "cost": [1.5, 2.25, 3.0, None, 10.0, 2.0],
        "visits": [1, 2, 1, None, 3, 1],
        "seen": ["2020-01-05", "2020-02-01", "2019-12-31", "2020-01-05", "2021-06-01", None],
        "ward": ["b, c", 'say "a"', "a", "a", "", "line\nbreak"],
    }
)
POLICY = {
    "attributes": {
        "id": "identifier",
        "age": "quasi",
        "disease": "sensitive",
        "cost": "sensitive",
        "visits": "sensitive",
        "seen": "sensitive",
        "ward": "keep",
    },
    "privacy": [{"k-anonymity": {"k": 2}}],
}


def test_rows_are_sorted_by_what_they_show() -> None:
    data = incrowd.anonymize(FRAME, POLICY, accept_unprotected=True).data
    rows = [tuple("" if cell is None else cell for cell in row) for row in data.iter_rows()]
    assert rows == sorted(rows)
    assert data.columns == ["age", "disease", "cost", "visits", "seen", "ward"]


def test_the_order_of_the_source_leaves_no_trace(tmp_path: Path) -> None:
    incrowd.anonymize(FRAME, POLICY, accept_unprotected=True).save(tmp_path / "one")
    incrowd.anonymize(FRAME.reverse(), POLICY, accept_unprotected=True).save(tmp_path / "two")
    for name in ("data.csv", "manifest.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_identifiers_are_nowhere(tmp_path: Path) -> None:
    incrowd.anonymize(FRAME, POLICY, accept_unprotected=True).save(tmp_path / "release")
    for path in (tmp_path / "release").iterdir():
        text = path.read_text(encoding="utf-8")
        assert not any(f"p{number}" in text for number in range(1, 7)), path.name


def test_the_manifest_shows_no_value_that_is_not_published(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "city": ["Ulm", "Bonn", "Kiel", "Trier", "Halle", "Jena"],
            "grade": ["low", "high", "low", "mid", "high", "mid"],
        }
    )
    policy = {
        "attributes": {
            "city": {"role": "quasi", "hierarchy": {"tree": {"South": ["Ulm", "Trier"],
                     "North": ["Bonn", "Kiel", "Halle", "Jena"]}}},
            "grade": {"role": "sensitive", "order": ["low", "mid", "high"]},
        },
        "privacy": [
            {"k-anonymity": {"k": 2}},
            {"t-closeness": {"t": 0.6, "sensitive": "grade", "distance": "ordered"}},
        ],
        "method": {"name": "mondrian", "labels": "hierarchy"},
    }  # fmt: skip
    incrowd.anonymize(frame, policy, accept_unprotected=True).save(tmp_path / "release")
    text = (tmp_path / "release" / "manifest.json").read_text(encoding="utf-8")
    published = (tmp_path / "release" / "data.csv").read_text(encoding="utf-8")
    for city in frame["city"]:
        assert (city in text) <= (city in published)


def test_parquet_has_the_types_of_untouched_columns(tmp_path: Path) -> None:
    incrowd.anonymize(FRAME, {**POLICY, "format": "parquet"}, accept_unprotected=True).save(
        tmp_path / "release"
    )
    data = pl.read_parquet(tmp_path / "release" / "data.parquet")
    assert data.schema["cost"] == pl.String
    assert data.schema["visits"] == pl.Int64
    assert data.schema["seen"] == pl.Date
    assert data.schema["age"] == pl.String
    assert incrowd.verify(tmp_path / "release").holds
    assert incrowd.open_release(tmp_path / "release").data.height == FRAME.height


def keys(folder: Path, name: str) -> tuple[Path, Path]:
    key = Ed25519PrivateKey.generate()
    private, public = folder / f"{name}.pem", folder / f"{name}.pub"
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public.write_bytes(
        key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    )
    return private, public


def test_a_signed_release_verifies_with_its_key_only(tmp_path: Path) -> None:
    private, public = keys(tmp_path, "ours")
    _, other = keys(tmp_path, "theirs")
    incrowd.anonymize(FRAME, POLICY, accept_unprotected=True).save(
        tmp_path / "release", sign=private
    )
    assert incrowd.verify(tmp_path / "release", key=public).holds
    assert not incrowd.verify(tmp_path / "release", key=other).holds
    incrowd.anonymize(FRAME, POLICY, accept_unprotected=True).save(tmp_path / "unsigned")
    assert not incrowd.verify(tmp_path / "unsigned", key=public).holds


def test_a_bad_key_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_text("not a key")
    with pytest.raises(InputError, match="openssl"):
        incrowd.anonymize(FRAME, POLICY, accept_unprotected=True).save(
            tmp_path / "release", sign=tmp_path / "key.pem"
        )
    assert not (tmp_path / "release").exists()


def test_the_manifest_states_what_the_judge_measured(tmp_path: Path) -> None:
    incrowd.anonymize(FRAME, POLICY, accept_unprotected=True).save(tmp_path / "release")
    manifest = json.loads((tmp_path / "release" / "manifest.json").read_text(encoding="utf-8"))
    verdict = incrowd.verify(tmp_path / "release")
    assert manifest["measured"] == [dict(each) for each in verdict.measured]
    assert manifest["groups"] == dict(verdict.groups)


def test_the_table_of_records_is_known_of_every_way_to_publish() -> None:
    assert RECORDS.keys() == set(get_args(Publish))
    policy = {
        "attributes": {"age": "quasi", "disease": "sensitive"},
        "other": "drop",
        "unit": "row",
        "privacy": [{"k-anonymity": {"k": 2}}],
    }
    for publish, name in RECORDS.items():
        release = incrowd.anonymize(FRAME, policy | {"publish": publish})
        assert release.tables[name].height == FRAME.height
