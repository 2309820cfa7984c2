from pathlib import Path
from typing import Any

import pytest
import yaml

from incrowd import datasets

ONE_TABLE = [name for name in datasets.names() if not datasets.describe(name).tables]
EXAMPLES = Path(__file__).parents[2] / "examples"


def parsed(name: str) -> dict[str, Any]:
    return dict(yaml.safe_load(datasets.policy(name)))


def roles(name: str) -> dict[str, str]:
    attributes = parsed(name)["attributes"]
    return {
        column: value if isinstance(value, str) else value["role"]
        for column, value in attributes.items()
    }


@pytest.mark.parametrize("name", ONE_TABLE)
def test_example_file_is_the_bundled_policy(name: str) -> None:
    assert (EXAMPLES / f"{name}.yaml").read_text(encoding="utf-8") == datasets.policy(name)


@pytest.mark.parametrize("name", ONE_TABLE)
def test_columns_of_the_policy_are_columns_of_the_data(name: str) -> None:
    columns = datasets.load(name, rows=1).columns
    named = set(roles(name))
    assert named <= set(columns)
    if parsed(name).get("other") is None:
        assert named == set(columns)


@pytest.mark.parametrize("name", ONE_TABLE)
def test_exported_hierarchies_are_where_the_policy_looks(name: str, tmp_path: Path) -> None:
    written = datasets.export_hierarchies(name, tmp_path)
    paths = [
        tmp_path / value["hierarchy"]
        for value in parsed(name)["attributes"].values()
        if isinstance(value, dict) and isinstance(value.get("hierarchy"), str)
    ]
    assert paths
    assert set(paths) <= set(written)


def test_adult_has_nine_quasi_identifiers() -> None:
    assert roles("adult") == dict.fromkeys(
        [
            "age",
            "workclass",
            "education",
            "marital-status",
            "occupation",
            "race",
            "sex",
            "native-country",
            "income",
        ],
        "quasi",
    )
    assert parsed("adult")["privacy"] == [{"k-anonymity": {"k": 5}}]


def test_registry_has_the_roles_of_the_paper() -> None:
    found = roles("cancer-registry")
    by_role = {
        role: {column for column in found if found[column] == role} for role in found.values()
    }
    assert by_role == {
        "identifier": {"patient_id"},
        "quasi": {"birth_date", "gender", "race", "zip"},
        "sensitive": {
            "tumor_topography",
            "histology",
            "survival_years",
            "diagnosis_date",
            "age_at_diagnosis",
            "tumor_size",
            "tumor_site",
        },
        "target": {"recur_status"},
    }
