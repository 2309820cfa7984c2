"""Policies as text and as mappings: one reads as the other, and neither reaches other files."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd._runtime.plain_yaml import load
from incrowd.errors import PolicyError
from incrowd.serve.workspace._drafts import as_text, checked, own_source, refuse_outside

TEXTS = st.text(max_size=12) | st.sampled_from(
    ["012345", "yes", "null", "~", "1e5", "2020-01-01", "- a", "a: b", "#", "0x1F", "1_000", " x "]
)
PLAIN = st.none() | st.booleans() | st.integers() | TEXTS
TREES = st.recursive(
    PLAIN, lambda below: st.lists(below, max_size=3) | st.dictionaries(TEXTS, below, max_size=3)
)


@given(st.dictionaries(TEXTS, TREES, max_size=4))
def test_a_mapping_written_as_text_reads_as_the_same_mapping(mapping: dict[str, Any]) -> None:
    assert load(as_text(mapping)) == mapping


def test_numbers_stay_as_they_were_written() -> None:
    text = "order: [250.10, 250.1, 1e5]\nsuppression: 0.02\n"
    again = load(as_text(load(text)))
    assert [each.written for each in again["order"]] == ["250.10", "250.1", "1e5"]
    assert again["suppression"] == 0.02


def test_the_source_of_a_policy_is_replaced_and_comments_stay() -> None:
    text = "# Why.\nsource: ../secret.csv   # there\nprivacy: []  # none\n"
    assert own_source(text, "a.csv") == "# Why.\nsource: a.csv\nprivacy: []  # none\n"
    assert own_source("privacy: []\n", "a.csv") == "source: a.csv\nprivacy: []\n"


@pytest.mark.parametrize(
    "text",
    [
        "{source: other.csv, privacy: []}\n",
        '"source": other.csv\nprivacy: []\n',
        "source:\n  other.csv\nprivacy: []\n",
        "note: |\n  x\nprivacy: []\n'source': other.csv\n",
    ],
)
def test_a_source_that_stands_elsewhere_is_replaced_too(text: str) -> None:
    assert load(own_source(text, "a b.csv")) == {**load(text), "source": "a b.csv"}


COLUMNS = ["age", "sex"]
MAPPING: dict[str, Any] = {
    "attributes": {"age": "quasi", "sex": "quasi"},
    "privacy": [{"k-anonymity": {"k": 2}}],
}


def test_a_checked_policy_names_its_own_source(tmp_path: Path) -> None:
    policy, mapping = checked({**MAPPING, "source": "/etc/passwd"}, tmp_path, "a.csv", COLUMNS)
    assert policy.source == mapping["source"] == "a.csv"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"query": "select 1"}, "query"),
        ({"spark": {}}, "spark"),
        ({"engine": "spark"}, "spark"),
        ({"attributes": {"age": "quasi"}}, "have no role"),
        (
            {"attributes": {"age": "quasi", "sex": {"role": "quasi", "hierarchy": "/a"}}},
            "not given",
        ),
    ],
)
def test_what_reaches_beyond_its_own_file_is_refused(
    tmp_path: Path, change: dict[str, Any], told: str
) -> None:
    with pytest.raises(PolicyError, match=told):
        checked({**MAPPING, **change}, tmp_path, "a.csv", COLUMNS)
    with pytest.raises(PolicyError, match="a policy is a mapping"):
        checked(["a"], tmp_path, "a.csv", COLUMNS)


def test_links_do_not_lead_out_of_the_folder(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "hierarchies").mkdir(parents=True)
    (tmp_path / "secret.csv").write_text("a,b\n", encoding="utf-8")
    (home / "hierarchies" / "link.csv").symlink_to(tmp_path / "secret.csv")
    (home / "hierarchies" / "own.csv").write_text("a,b\n", encoding="utf-8")
    refuse_outside(home, "hierarchies/own.csv", "age")
    (home / ".coded").mkdir()
    for file in ("patients.csv", ".coded/head.json"):
        (home / file).write_text("a,b\n", encoding="utf-8")
    for file in ("hierarchies/link.csv", "../secret.csv", "hierarchies", str(tmp_path / "x"),
                 "patients.csv", "./patients.csv", ".coded/head.json"):  # fmt: skip
        with pytest.raises(PolicyError, match="not given"):
            refuse_outside(home, file, "age")
