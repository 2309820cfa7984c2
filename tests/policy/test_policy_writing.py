"""A policy written as YAML is the same policy when it is read, wherever the file lies."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.policy import Policy
from incrowd.policy.reach import source_of
from incrowd.policy.writing import moved, policy_mapping, policy_text
from incrowd.sources import as_source

POLICIES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))


def again(policy: Policy, folder: Path = Path("/kept")) -> Policy:
    text = policy_text(policy, folder, source=policy.source, output=policy.output)
    return Policy.from_yaml(text, base=folder)


def test_there_are_policies_to_try() -> None:
    assert len(POLICIES) >= 5


@pytest.mark.parametrize("path", POLICIES, ids=lambda path: path.stem)
def test_the_examples_are_the_same_after_writing(path: Path) -> None:
    policy = Policy.from_file(path)
    assert policy_mapping(again(policy, path.parent)) == policy_mapping(policy)
    assert again(policy, path.parent).privacy == policy.privacy


texts = st.text(min_size=1, max_size=8) | st.sampled_from(
    ["1e5", "007", "1_000", "no", "null", "~", "true", "2020-01-01", "-", "a: b", "#x", "1.", ".5"]
)


@settings(max_examples=25)
@given(
    names=st.lists(texts, min_size=3, max_size=3, unique=True),
    values=st.sets(texts, min_size=2, max_size=5),
)
def test_names_and_values_stay_as_they_are(names: list[str], values: set[str]) -> None:
    listed = sorted(values)
    policy = Policy.from_mapping(
        {
            "attributes": {
                names[0]: {"role": "quasi", "hierarchy": {"tree": {"all": listed}}},
                names[1]: {"role": "quasi", "order": listed, "rules": [{"apart": listed[:2]}]},
                names[2]: "sensitive",
            },
            "privacy": [{"confidence-bounding": {"C": 0.5, "values": listed}}],
            "rule-base": 1e-7,
        }
    )
    assert policy_mapping(again(policy)) == policy_mapping(policy)
    assert again(policy).privacy == policy.privacy


def test_paths_lead_to_the_same_files_from_elsewhere(tmp_path: Path) -> None:
    home, kept = tmp_path / "home", tmp_path / "far" / "kept"
    mapping: dict[str, Any] = {
        "source": "data/patients.csv",
        "attributes": {
            "job": {"role": "quasi", "hierarchy": "../trees/job.csv"},
            "age": {"role": "quasi", "hierarchy": "/fixed/age.csv"},
        },
        "privacy": [{"k-anonymity": {"k": 2}}],
    }
    policy = Policy.from_mapping(mapping, base=home)
    source = _moved(policy.source, policy.base, kept)
    text = policy_text(policy, kept, source=source, output="01", remarks=("one\nline",))
    assert text.startswith("# one?line\n")
    there = Policy.from_yaml(text, base=kept)
    path = source_of(there).path
    assert path is not None
    assert (kept / path).resolve() == (home / "data" / "patients.csv").resolve()
    job, age = (there.attributes[name].hierarchy for name in ("job", "age"))
    assert job is not None
    assert job.file is not None
    assert (kept / job.file).resolve() == (tmp_path / "trees" / "job.csv").resolve()
    assert age is not None
    assert age.file == "/fixed/age.csv"
    assert there.output == "01"


def _moved(source: object, base: Path, folder: Path) -> str | None:
    return as_source(source).named(lambda path: moved(path, base, folder))


def test_sources_that_are_no_files() -> None:
    assert _moved(object(), Path(), Path("kept")) is None
    assert _moved("postgresql://host/db", Path(), Path("kept")) == "postgresql://host/db"
    assert _moved("duckdb:///a.duckdb", Path("x"), Path("kept")) == "duckdb:///../x/a.duckdb"
    assert moved("/full/a.csv", Path("x"), Path("kept")) == "/full/a.csv"
    assert _moved(Path("a.csv"), Path(), Path("kept")) == "../a.csv"
