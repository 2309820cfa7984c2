"""A suppressed record leaves no trace: not in the data, not in any figure of the manifest."""

import json
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd
from incrowd.errors import PrivacyError
from incrowd.hierarchies import from_tree
from incrowd.privacy import TCloseness
from incrowd.table.coding import code_column


def people(outlier: int, town: str = "Zrare", disease: str = "RareDisease") -> pl.DataFrame:
    draw = random.Random(5)
    rows = [
        (draw.randint(20, 60), draw.choice("fm"), draw.choice("ABCD"), draw.choice(["Flu", "HIV"]))
        for _ in range(300)
    ]
    rows.append((outlier, "x", town, disease))
    return pl.DataFrame(rows, schema=["age", "sex", "town", "disease"], orient="row")


ATTRIBUTES = {"age": "quasi", "sex": "quasi", "town": "quasi", "disease": "sensitive"}


def saved(
    frame: pl.DataFrame, folder: Path, *, report: bool = True, **more: Any
) -> tuple[str, dict[str, Any]]:
    policy = {
        "attributes": ATTRIBUTES,
        "privacy": [{"k-anonymity": {"k": 5}}],
        "suppression": 0.05,
        **more,
    }
    incrowd.anonymize(frame, policy, accept_unprotected=True).save(folder, report=report)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    data = folder / "data.csv"
    return data.read_text(encoding="utf-8") if data.exists() else "", manifest


AUTO: dict[str, Any] = {
    "attributes": {
        "age": {"role": "quasi", "hierarchy": "auto"},
        "sex": "quasi",
        "town": {"role": "quasi", "hierarchy": "auto"},
        "disease": "sensitive",
    }
}
CASES: dict[str, dict[str, Any]] = {
    "sets": {"method": {"name": "mondrian", "labels": "set"}},
    "hierarchy": {"method": {"name": "mondrian", "labels": "hierarchy"}},
    "auto hierarchies": {**AUTO, "method": {"name": "mondrian", "labels": "hierarchy"}},
}


@pytest.mark.parametrize("case", CASES)
def test_the_values_of_a_suppressed_record_change_nothing(tmp_path: Path, case: str) -> None:
    first = saved(people(117), tmp_path / "one", **CASES[case])
    second = saved(people(110, "Yrare", "Other"), tmp_path / "two", **CASES[case])
    assert first[1]["records"]["suppressed"] >= 1
    assert "x" not in {line.split(",")[1] for line in first[0].splitlines()}
    assert first == second


@pytest.mark.parametrize("case", CASES)
def test_no_suppressed_value_is_shown(tmp_path: Path, case: str) -> None:
    data, manifest = saved(people(117), tmp_path / "one", **CASES[case])
    told = data + json.dumps(manifest)
    assert "rare" not in told.lower()
    assert "117" not in data
    assert "118" not in data


@pytest.mark.parametrize("values", [["1", "2"], ["1.5", "2"], ["2020-02-29", "2021-01-01"]])
@pytest.mark.parametrize("role", ["sensitive", "target"])
def test_a_suppressed_text_among_numbers_leaves_numbers(
    tmp_path: Path, role: str, values: list[str]
) -> None:
    """Else the type in manifest and Parquet would tell what kind of value is missing."""
    draw = random.Random(3)
    column = [draw.choice(values) for _ in range(300)]
    made = []
    for text in (values[0], "positive", "007", None):
        frame = people(117).with_columns(pl.Series("disease", [*column, text]))
        asked = {**ATTRIBUTES, "disease": role}
        place = tmp_path / str(text)
        saved(frame, place, attributes=asked, format="parquet", report=False)
        made.append({path.name: path.read_bytes() for path in place.iterdir()})
    assert made[1:] == made[:1] * 3


def test_a_listed_value_that_is_suppressed_is_not_promised(tmp_path: Path) -> None:
    bounded = {"C": 0.9, "sensitive": "disease", "values": ["HIV", "RareDisease"]}
    privacy = [{"k-anonymity": {"k": 5}}, {"confidence-bounding": bounded}]
    _, manifest = saved(people(117), tmp_path / "one", privacy=privacy)
    assert manifest["promises"][1]["parameters"]["values"] == ["HIV"]
    alone = {**bounded, "values": ["RareDisease"]}
    privacy = [{"k-anonymity": {"k": 5}}, {"confidence-bounding": alone}]
    with pytest.raises(PrivacyError, match="nothing is left to promise"):
        saved(people(117), tmp_path / "two", privacy=privacy)
    assert not (tmp_path / "two").exists()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("labels", ["set", "hierarchy"])
def test_nodes_in_any_order_are_trimmed(seed: int, labels: str) -> None:
    """Trimmed nodes come out of order among the others; each must be weighed by its own loss."""
    draw = random.Random(seed)
    rows = [
        (draw.choice([*range(20, 60), 103]), draw.choice("ffmmmx"), draw.choice("AABCDEEF"))
        for _ in range(400)
    ]
    frame = pl.DataFrame(rows, schema=["age", "sex", "town"], orient="row")
    policy = {
        "attributes": dict.fromkeys(frame.columns, "quasi"),
        "privacy": [{"k-anonymity": {"k": 5}}],
        "suppression": 0.1,
        "method": {"name": "mondrian", "labels": labels},
    }
    release = incrowd.anonymize(frame, policy, accept_unprotected=True)
    records = release.manifest["records"]
    assert records["published"] + records["suppressed"] == 400
    assert records["suppressed"] <= 40
    assert release.data.group_by(pl.all()).len()["len"].min() >= 5  # type: ignore[operator]


def test_the_tree_of_sensitive_values_has_no_gap_where_a_suppressed_one_was() -> None:
    tree = {"Infection": ["Flu"], "Rare": ["RareDisease"], "Virus": ["HIV"]}
    model = TCloseness(t=0.9, sensitive="disease", distance="hierarchical")
    column = code_column(people(117)["disease"], role="sensitive")
    column, hierarchy = from_tree(column, tree)
    stated = model.bind({"disease": column}, {"disease": hierarchy})
    promise = stated.promise_about({"disease": {"Flu", "HIV"}})
    assert promise["ancestors"] == {"Flu": ["1.0", "2.0"], "HIV": ["1.1", "2.0"]}
