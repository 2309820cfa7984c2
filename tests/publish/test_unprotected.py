"""Columns that are published as they are single nobody out, unless that was accepted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd
from command_line import run
from incrowd.errors import PolicyError, UnprotectedError

FRAME = pl.DataFrame(
    {
        "id": [f"patient {number}" for number in range(12)],
        "age": [20 + number // 3 for number in range(12)],
        "ward": ["A", "B"] * 6,
        "ill": ["Flu", "HIV", "Gout"] * 4,
    }
)


def policy(ident: str = "keep", **more: Any) -> dict[str, Any]:
    roles = {"id": ident, "age": "quasi", "ward": "keep", "ill": "sensitive"}
    return {"attributes": roles, "privacy": [{"k-anonymity": {"k": 3}}], **more}


@pytest.mark.parametrize("role", ["keep", "target"])
@pytest.mark.parametrize("publish", ["generalized", "anatomy", "lossy-join"])
def test_a_column_that_singles_out_is_refused(role: str, publish: str) -> None:
    with pytest.raises(UnprotectedError, match="12 of 12 records are unique") as raised:
        incrowd.anonymize(FRAME, policy(role, publish=publish))
    assert "'id' (by itself 12) and 'ward'" in str(raised.value)
    assert "--accept-unprotected" in str(raised.value)
    assert "patient 1" not in str(raised.value)
    assert raised.value.exit_code == 2


def test_a_rare_class_is_said_and_not_refused(tmp_path: Path) -> None:
    frame = FRAME.with_columns(pl.Series("again", ["yes"] + ["no"] * 11))
    roles = {**policy("identifier")["attributes"], "ward": "identifier", "again": "target"}
    asked = {**policy(), "attributes": roles, "unit": "row"}
    (warning,) = incrowd.anonymize(frame, asked).save(tmp_path / "release").warnings
    assert warning.detail.startswith("1 of 12 records is unique")


def test_columns_that_single_out_together_are_refused() -> None:
    frame = FRAME.with_columns(pl.Series("bed", [str(number // 2) for number in range(12)]))
    roles = {**policy("identifier")["attributes"], "bed": "keep"}
    with pytest.raises(UnprotectedError, match="12 of 12 records") as raised:
        incrowd.anonymize(frame, {**policy(), "attributes": roles})
    assert "by itself" not in str(raised.value)


def test_who_accepts_it_gets_the_release_and_the_warning(tmp_path: Path) -> None:
    release = incrowd.anonymize(FRAME, policy(), accept_unprotected=True)
    verdict = release.save(tmp_path / "release")
    told = "12 of 12 records are unique on the columns published as they are ('id', 'ward')"
    assert verdict.holds
    assert [each.detail for each in verdict.warnings] == [told]
    assert incrowd.verify(tmp_path / "release").as_dict()["warnings"] == [told]
    assert release.manifest["unprotected"] == {"columns": ["id", "ward"], "unique": 12}
    report = (tmp_path / "release" / "report.html").read_text(encoding="utf-8")
    assert "Yes: 12 of 12 records are unique on the columns published as they are" in report


def test_shared_values_are_published_without_a_word(tmp_path: Path) -> None:
    verdict = incrowd.anonymize(FRAME, policy("identifier")).save(tmp_path / "release")
    assert not verdict.warnings
    (found,) = [each for each in verdict.findings if each.measured == {"unique": 0}]
    assert found.detail == "no record is unique on them ('ward')"


def test_a_record_that_is_alone_once_its_like_is_suppressed_is_refused() -> None:
    frame = pl.DataFrame(
        {"age": [20] * 5 + [90], "ward": ["A"] * 4 + ["B", "B"], "ill": ["Flu"] * 6}
    )
    asked = {
        "attributes": {"age": "quasi", "ward": "keep", "ill": "sensitive"},
        "privacy": [{"k-anonymity": {"k": 3}}],
        "method": "incognito",
        "suppression": 0.2,
    }
    with pytest.raises(UnprotectedError, match="1 of 5 records"):
        incrowd.anonymize(frame, asked)
    assert incrowd.anonymize(frame, asked, accept_unprotected=True).manifest["unprotected"] == {
        "columns": ["ward"],
        "unique": 1,
    }


def test_rows_that_stay_on_disk_are_counted_there(tmp_path: Path) -> None:
    many = pl.concat([FRAME] * 3).with_columns(
        pl.Series("id", [*(str(number // 2) for number in range(35)), "alone"]), ward=pl.lit("A")
    )
    many.write_csv(tmp_path / "p.csv")
    asked = policy(engine="duckdb", memory="1KB")
    with pytest.raises(UnprotectedError, match="2 of 36 records"):
        incrowd.anonymize(tmp_path / "p.csv", asked)
    release = incrowd.anonymize(tmp_path / "p.csv", asked, accept_unprotected=True)
    release.save(tmp_path / "release")
    assert release.manifest["unprotected"]["unique"] == 2
    assert any("stayed" in each for each in release.remarks)


def test_no_policy_can_accept_it() -> None:
    for key in ("accept-unprotected", "accept_unprotected"):
        with pytest.raises(PolicyError):
            incrowd.anonymize(FRAME, {**policy(), key: True})


def test_the_command_line_refuses_and_accepts(tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "p.csv")
    wanted = policy(source="p.csv")
    (tmp_path / "policy.yaml").write_text(json.dumps(wanted), encoding="utf-8")

    refused = run("anonymize", "policy.yaml", cwd=tmp_path)
    assert (refused.returncode, (tmp_path / "release").exists()) == (2, False)
    assert "12 of 12 records are unique" in refused.stderr
    accepted = run("anonymize", "policy.yaml", "--accept-unprotected", cwd=tmp_path)
    assert accepted.returncode == 0
    assert "Unprotected: 12 of 12 records" in " ".join(accepted.stdout.split())
    judged = run("verify", "release", cwd=tmp_path)
    assert judged.returncode == 0
    told = " ".join(judged.stdout.split())
    assert "Unprotected: 12 of 12 records" in told
    assert "Not judged: 'report.html'" in told
    assert run("compare", "policy.yaml", "--queries", "0", cwd=tmp_path).returncode == 2


@pytest.mark.parametrize(
    "model",
    [
        {"lkc": {"L": 1, "K": 1}},
        {"l-diversity": {"l": 1, "sensitive": "ill"}},
        {"t-closeness": {"t": 1, "sensitive": "ill"}},
        {"confidence-bounding": {"C": 1, "sensitive": "ill"}},
        {"exponential-l": {"l": 1, "sensitive": ["ill"]}},
    ],
)
def test_a_model_that_promises_nothing_is_refused(model: dict[str, Any]) -> None:
    with pytest.raises(PolicyError, match="promises nothing"):
        incrowd.anonymize(FRAME, {**policy("identifier"), "privacy": [model]})
