"""Anatomy: records with their quasi-identifiers, values counted by group, and no other tie."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd
from incrowd.errors import InputError, PolicyError, VerificationError
from incrowd.publish.manifest import sealed

QUASI = ["age", "sex"]


def patients(number: int = 120, seed: int = 2) -> pl.DataFrame:
    draw = random.Random(seed)
    return pl.DataFrame(
        {
            "id": range(number),
            "age": [draw.choice([*range(20, 60), None]) for _ in range(number)],
            "sex": draw.choices("FM", k=number),
            "ill/ness": draw.choices(["flu", "asthma", "ulcer", None], k=number),
            "drug": draw.choices("abcdef", k=number),
            "ward": [f"w{i}" for i in range(number)],
        },
        schema_overrides={"age": pl.Int64},
    )


def policy(*models: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "attributes": {
            "id": "identifier",
            "age": {"role": "quasi", "type": "numeric"},
            "sex": "quasi",
            "ill/ness": "sensitive",
            "drug": "sensitive",
            "ward": "keep",
        },
        "privacy": list(models) or [{"k-anonymity": {"k": 6}}],
        "publish": "anatomy",
        **more,
    }


MODELS: dict[str, dict[str, Any]] = {
    "k-anonymity": {"k-anonymity": {"k": 6}},
    "l-diversity": {"l-diversity": {"l": 3, "sensitive": "drug"}},
    "entropy": {"l-diversity": {"l": 2.5, "kind": "entropy", "sensitive": "ill/ness"}},
    "t-closeness": {"t-closeness": {"t": 0.35, "sensitive": "drug"}},
    "p-sensitive": {"p-sensitive": {"p": 3, "k": 5, "sensitive": "drug"}},
    "alpha-k": {"alpha-k": {"alpha": 0.5, "k": 4, "sensitive": "ill/ness"}},
    "confidence": {"confidence-bounding": {"C": 0.6, "sensitive": "ill/ness", "values": ["flu"]}},
}


@pytest.mark.parametrize("file_format", ["csv", "parquet"])
@pytest.mark.parametrize("suppression", [0.0, 0.1])
@pytest.mark.parametrize("name", MODELS)
def test_tables_tell_the_same_of_the_same_groups(
    name: str, suppression: float, file_format: str, tmp_path: Path
) -> None:
    frame = patients()
    asked = policy(MODELS[name], suppression=suppression, format=file_format)
    release = incrowd.anonymize(frame, asked, accept_unprotected=True)
    verdict = release.save(tmp_path / "release")
    assert verdict.holds
    opened = incrowd.open_release(tmp_path / "release")
    qit = opened.data
    assert qit.columns == ["age", "sex", "ward", "group_id"]
    by_ward = {row["ward"]: row for row in frame.to_dicts()}
    for row in qit.to_dicts():
        raw = by_ward[row["ward"]]
        assert (row["age"], row["sex"]) == (
            None if raw["age"] is None else str(raw["age"]),
            raw["sex"],
        )
    group_of = dict(qit.select("ward", "group_id").iter_rows())
    for attribute, table in (("ill/ness", "st_ill%2Fness"), ("drug", "st_drug")):
        held = Counter((group, by_ward[ward][attribute]) for ward, group in group_of.items())
        shown = opened.tables[table].to_dicts()
        assert {(row["group_id"], row[attribute]): int(row["count"]) for row in shown} == held
    sizes = Counter(group_of.values())
    assert verdict.groups["count"] == len(sizes)
    assert verdict.groups["smallest"] == min(sizes.values())
    assert list(release.tables) == ["qit", "st_ill%2Fness", "st_drug"]


def test_the_order_of_the_records_makes_no_difference() -> None:
    frame = patients()
    one = incrowd.anonymize(frame, policy(), accept_unprotected=True)
    other = incrowd.anonymize(frame.reverse(), policy(), accept_unprotected=True)
    assert all(one.tables[name].equals(other.tables[name]) for name in one.tables)
    assert one.manifest == other.manifest


def forged(folder: Path, change: Callable[[dict[str, Any]], None]) -> list[str]:
    """What verify says of a release whose files were changed and whose manifest fits them again."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    for key in ("measured", "groups", "digest"):
        manifest.pop(key, None)
    change(manifest)
    for name, described in manifest["files"].items():
        content = (folder / name).read_bytes()
        described |= {
            "sha256": hashlib.sha256(content).hexdigest(),
            "bytes": len(content),
            "rows": content.count(b"\n") - 1,
        }
    (folder / "manifest.json").write_text(
        json.dumps(sealed(manifest), indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    return [each.promise for each in incrowd.verify(folder).findings if not each.holds]


def edit(path: Path, change: Callable[[list[str]], list[str]]) -> None:
    header, *rows = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([header, *change(rows)]) + "\n", encoding="utf-8")


def nothing(_manifest: dict[str, Any]) -> None:
    pass


def test_an_untouched_release_may_be_sealed_again(tmp_path: Path) -> None:
    incrowd.anonymize(patients(), policy(), accept_unprotected=True).save(tmp_path / "r")
    assert forged(tmp_path / "r", nothing) == []


def test_counts_that_do_not_add_up_are_found(tmp_path: Path) -> None:
    incrowd.anonymize(patients(), policy(), accept_unprotected=True).save(tmp_path / "r")
    edit(tmp_path / "r" / "st_drug.csv", lambda rows: rows[1:])
    assert "tables fit together" in forged(tmp_path / "r", nothing)


@pytest.mark.parametrize("wrong", ["0", "-1", "1.5", "x", "", "01"])
def test_counts_that_are_no_counts_are_found(wrong: str, tmp_path: Path) -> None:
    incrowd.anonymize(patients(), policy(), accept_unprotected=True).save(tmp_path / "r")
    edit(
        tmp_path / "r" / "st_drug.csv",
        lambda rows: sorted([rows[0].rpartition(",")[0] + "," + wrong, *rows[1:]]),
    )
    assert {"tables fit together", "data can be read"} & {*forged(tmp_path / "r", nothing)}


def test_a_group_that_only_one_table_knows_is_found(tmp_path: Path) -> None:
    incrowd.anonymize(patients(), policy(), accept_unprotected=True).save(tmp_path / "r")
    edit(tmp_path / "r" / "st_drug.csv", lambda rows: sorted([*rows, "999,a,3"]))
    assert "tables fit together" in forged(tmp_path / "r", nothing)


def test_a_sensitive_attribute_beside_the_quasi_identifiers_is_found(tmp_path: Path) -> None:
    incrowd.anonymize(patients(), policy(), accept_unprotected=True).save(tmp_path / "r")

    def leak(manifest: dict[str, Any]) -> None:
        path = tmp_path / "r" / "qit.csv"
        header, *rows = path.read_text(encoding="utf-8").splitlines()
        lines = [header + ",drug", *(row + ",a" for row in rows)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        manifest["files"]["qit.csv"]["columns"].append("drug")

    assert "columns are the promised ones" in forged(tmp_path / "r", leak)


def test_a_promise_that_the_groups_do_not_keep_is_found(tmp_path: Path) -> None:
    incrowd.anonymize(patients(), policy(), accept_unprotected=True).save(tmp_path / "r")

    def promise_more(manifest: dict[str, Any]) -> None:
        manifest["promises"] = [{"model": "k-anonymity", "parameters": {"k": 100}}]

    assert forged(tmp_path / "r", promise_more) == ["k-anonymity (k=100)"]


def test_lkc_cannot_be_promised_by_hand_either(tmp_path: Path) -> None:
    incrowd.anonymize(patients(), policy(), accept_unprotected=True).save(tmp_path / "r")

    def promise_lkc(manifest: dict[str, Any]) -> None:
        manifest["promises"] = [{"model": "lkc", "parameters": {"L": 2, "K": 2, "C": 1.0}}]

    assert forged(tmp_path / "r", promise_lkc) == ["lkc (L=2, K=2, C=1.0)"]


def test_a_table_outside_the_folder_is_not_read(tmp_path: Path) -> None:
    incrowd.anonymize(patients(), policy(), accept_unprotected=True).save(tmp_path / "r")
    (tmp_path / "r" / "st_drug.csv").rename(tmp_path / "st_drug.csv")

    def lead_away(manifest: dict[str, Any]) -> None:
        manifest["files"]["st_/../../st_drug.csv"] = manifest["files"].pop("st_drug.csv")

    (tmp_path / "r" / "st_").mkdir()
    found = forged(tmp_path / "r", lead_away)
    assert {"files are the released ones", "data can be read"} <= set(found)


@pytest.mark.parametrize("name", ["qit.csv", "st_drug.csv"])
def test_a_table_that_is_missing_is_found(name: str, tmp_path: Path) -> None:
    incrowd.anonymize(patients(), policy(), accept_unprotected=True).save(tmp_path / "r")
    (tmp_path / "r" / name).unlink()
    assert not incrowd.verify(tmp_path / "r").holds


def test_a_file_that_nobody_can_judge_is_found(tmp_path: Path) -> None:
    incrowd.anonymize(patients(), policy(), accept_unprotected=True).save(tmp_path / "r")

    def add(manifest: dict[str, Any]) -> None:
        (tmp_path / "r" / "notes.bin").write_bytes(b"x\n")
        manifest["files"]["notes.bin"] = {}

    assert "files are the released ones" in forged(tmp_path / "r", add)


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        ({"lkc": {"L": 2, "K": 2}}, "lkc cannot hold"),
    ],
)
def test_what_anatomy_cannot_keep_is_refused(model: dict[str, Any], problem: str) -> None:
    with pytest.raises(PolicyError, match=problem):
        incrowd.anonymize(patients(), policy(model), accept_unprotected=True)


def test_anatomy_needs_a_sensitive_attribute() -> None:
    plain = {
        "attributes": {"age": "quasi"},
        "privacy": [{"k-anonymity": {"k": 2}}],
        "publish": "anatomy",
    }
    with pytest.raises(PolicyError, match="role sensitive"):
        incrowd.anonymize(pl.DataFrame({"age": [1, 2]}), plain, accept_unprotected=True)


def test_names_that_anatomy_writes_must_be_free() -> None:
    frame = patients().rename({"ward": "group_id"})
    asked = policy()
    asked["attributes"]["group_id"] = asked["attributes"].pop("ward")
    with pytest.raises(PolicyError, match="Rename it"):
        incrowd.anonymize(frame, asked, accept_unprotected=True)


def test_a_kept_column_may_be_called_count_but_no_sensitive_one() -> None:
    frame = patients().rename({"ward": "count"})
    asked = policy()
    asked["attributes"]["count"] = asked["attributes"].pop("ward")
    assert "count" in incrowd.anonymize(frame, asked, accept_unprotected=True).data.columns
    asked["attributes"]["count"] = "sensitive"
    with pytest.raises(PolicyError, match="Rename it"):
        incrowd.anonymize(frame, asked, accept_unprotected=True)


def test_a_false_promise_is_not_published(tmp_path: Path) -> None:
    release = incrowd.anonymize(patients(), policy(), accept_unprotected=True)
    release.manifest["promises"] = [{"model": "k-anonymity", "parameters": {"k": 100}}]
    with pytest.raises(VerificationError):
        release.save(tmp_path / "r")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("publish", ["anatomy", "lossy-join"])
def test_groups_are_those_of_the_tables_and_cells_are_unchanged(
    publish: str, tmp_path: Path
) -> None:
    frame = patients()
    verdict = incrowd.anonymize(frame, policy(publish=publish), accept_unprotected=True).save(
        tmp_path / "r"
    )
    found = incrowd.evaluate(tmp_path / "r", frame)
    assert found.ncp.total == 0
    assert all(each.unchanged == 1 for each in found.seen)
    assert found.discernibility.groups == verdict.groups["count"]
    assert found.discernibility.average == verdict.groups["average"]
    assert found.comparison is not None
    assert set(found.comparison.unchanged.values()) == {1.0}
    assert set(found.comparison.distance) == {"ill/ness", "drug", "ward"}
    assert set(found.comparison.distance.values()) == {0.0}


def test_a_class_apart_from_the_records_cannot_be_learnt(tmp_path: Path) -> None:
    release = incrowd.anonymize(patients(), policy(), accept_unprotected=True)
    with pytest.raises(InputError, match="apart from the records"):
        incrowd.evaluate(release, classification=True, target="drug")


LOSSY = {"publish": "lossy-join"}


@pytest.mark.parametrize("file_format", ["csv", "parquet"])
@pytest.mark.parametrize("suppression", [0.0, 0.1])
@pytest.mark.parametrize("name", MODELS)
def test_a_lossy_join_tells_of_each_class_what_its_records_hold(
    name: str, suppression: float, file_format: str, tmp_path: Path
) -> None:
    frame = patients()
    asked = {**policy(MODELS[name], suppression=suppression, format=file_format), **LOSSY}
    assert incrowd.anonymize(frame, asked, accept_unprotected=True).save(tmp_path / "release").holds
    tables = incrowd.open_release(tmp_path / "release").tables
    nss, ss = tables["nss"], tables["ss"]
    assert nss.columns == ["age", "sex", "ward", "class_id"]
    assert ss.columns == ["class_id", "ill/ness", "drug"]
    held = {row["ward"]: (row["ill/ness"], row["drug"]) for row in frame.to_dicts()}
    expected = Counter((row["class_id"], *held[row["ward"]]) for row in nss.to_dicts())
    assert Counter(ss.rows()) == expected


def test_a_lossy_join_whose_tables_do_not_fit_is_found(tmp_path: Path) -> None:
    incrowd.anonymize(patients(), {**policy(), **LOSSY}, accept_unprotected=True).save(
        tmp_path / "r"
    )
    assert forged(tmp_path / "r", nothing) == []
    edit(tmp_path / "r" / "ss.csv", lambda rows: rows[1:])
    assert "tables fit together" in forged(tmp_path / "r", nothing)
    edit(tmp_path / "r" / "ss.csv", lambda rows: sorted([*rows, "999,flu,a"]))
    assert "tables fit together" in forged(tmp_path / "r", nothing)


def test_a_lossy_join_with_sensitive_values_beside_records_is_found(tmp_path: Path) -> None:
    incrowd.anonymize(patients(), {**policy(), **LOSSY}, accept_unprotected=True).save(
        tmp_path / "r"
    )

    def leak(manifest: dict[str, Any]) -> None:
        path = tmp_path / "r" / "nss.csv"
        header, *rows = path.read_text(encoding="utf-8").splitlines()
        lines = [header + ",drug", *(row + ",a" for row in rows)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        manifest["files"]["nss.csv"]["columns"].append("drug")

    assert "columns are the promised ones" in forged(tmp_path / "r", leak)


def test_a_lossy_join_with_a_third_table_is_found(tmp_path: Path) -> None:
    incrowd.anonymize(patients(), {**policy(), **LOSSY}, accept_unprotected=True).save(
        tmp_path / "r"
    )

    def add(manifest: dict[str, Any]) -> None:
        (tmp_path / "r" / "more.csv").write_bytes(b"a\n1\n")
        manifest["files"]["more.csv"] = {"sha256": "", "bytes": 0, "rows": 0, "columns": ["a"]}

    assert "data can be read" in forged(tmp_path / "r", add)


@pytest.mark.parametrize("content", ["", "1,a,0\n", "1,a,-2\n", "1,a,4611686018427387904\n" * 2])
@pytest.mark.parametrize("name", MODELS)
def test_counts_that_make_no_sense_are_found_under_every_model(
    name: str, content: str, tmp_path: Path
) -> None:
    incrowd.anonymize(patients(), policy(MODELS[name]), accept_unprotected=True).save(
        tmp_path / "r"
    )

    def change(_: dict[str, Any]) -> None:
        (tmp_path / "r" / "st_drug.csv").write_text("group_id,drug,count\n" + content)

    found = forged(tmp_path / "r", change)
    assert {"tables fit together", "data can be read"} & {*found}
