"""The anatomized tables: figure 3 of Gal et al. (2008), tables XI to XIII of the survey."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

import incrowd

PATIENTS = pl.DataFrame(
    {
        "age": [42, 41, 49, 43],
        "disease": ["Heart disease", "Heart disease", "Flu", "Stomach disease"],
        "treatment": ["Medicine", "Surgery", "IV", "IV"],
    }
)
TABLE_XI = pl.DataFrame(
    {
        "age": [25, 29, 33, 55, 60, 59, 60, 58],
        "sex": list("MMMMFFFF"),
        "zipcode": [11500, 13200, 59300, 12700, 54600, 25200, 25100, 31000],
        "disease": [
            "pneumonia", "dyspepsia", "dyspepsia", "pneumonia", "flu", "gastritis", "flu",
            "bronchitis",
        ],
    }
)  # fmt: skip


def counted(frame: pl.DataFrame, value: str) -> dict[tuple[Any, Any], int]:
    return {(row["group_id"], row[value]): int(row["count"]) for row in frame.to_dicts()}


def test_figure_3_counts_each_sensitive_attribute_of_the_group() -> None:
    policy = {
        "attributes": {"age": "quasi", "disease": "sensitive", "treatment": "sensitive"},
        "privacy": [{"k-anonymity": {"k": 4}}],
        "publish": "anatomy",
    }
    release = incrowd.anonymize(PATIENTS, policy, accept_unprotected=True)
    assert list(release.tables) == ["qit", "st_disease", "st_treatment"]
    assert release.data.to_dicts() == [
        {"age": age, "group_id": "1"} for age in ("41", "42", "43", "49")
    ]
    assert counted(release.tables["st_disease"], "disease") == {
        ("1", "Heart disease"): 2,
        ("1", "Flu"): 1,
        ("1", "Stomach disease"): 1,
    }
    assert counted(release.tables["st_treatment"], "treatment") == {
        ("1", "Medicine"): 1,
        ("1", "Surgery"): 1,
        ("1", "IV"): 2,
    }


def test_table_xiii_is_2_diverse_and_ali_has_pneumonia_with_50_percent(tmp_path: Path) -> None:
    """The groups are 1 to 4 and 5 to 8, as sex divides them."""
    policy = {
        "attributes": {
            "age": {"role": "keep"},
            "sex": "quasi",
            "zipcode": {"role": "keep"},
            "disease": "sensitive",
        },
        "privacy": [{"alpha-k": {"alpha": 0.5, "k": 4, "sensitive": "disease"}}],
        "publish": "anatomy",
    }
    release = incrowd.anonymize(TABLE_XI, policy, accept_unprotected=True)
    verdict = release.save(tmp_path / "release")
    assert verdict.holds
    assert dict(verdict.measured[0]) == {"alpha": 0.5, "k": 4, "groups_failing": 0}
    qit = release.data
    assert qit.height == 8
    assert "disease" not in qit.columns
    (ali,) = qit.filter((pl.col("age") == "25") & (pl.col("zipcode") == "11500")).to_dicts()
    values = counted(release.tables["st_disease"], "disease")
    mine = {value: n for (group, value), n in values.items() if group == ali["group_id"]}
    assert mine == {"pneumonia": 2, "dyspepsia": 2}
    (hoda,) = qit.filter((pl.col("age") == "60") & (pl.col("zipcode") == "25100")).to_dicts()
    others = {value: n for (group, value), n in values.items() if group == hoda["group_id"]}
    assert others == {"bronchitis": 1, "flu": 2, "gastritis": 1}
