"""Policies of linked tables side by side: one run for each, and files that make it again."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

import incrowd
from incrowd.errors import InputError
from linked_tables import linked, policy_of

KS = {"k": [2, 4]}


def written(folder: Path) -> Path:
    """Tables in files of a folder of their own, and a policy beside it that names them."""
    (folder / "data").mkdir()
    policy = policy_of(suppression=0.1)
    policy["patients"] = {**policy["patients"], "source": "data/patients.csv"}
    policy["tables"] = {
        name: {**each, "source": f"data/{name}.csv"} for name, each in policy["tables"].items()
    }
    policy["tables"]["drugs"] |= {"separator": ";"}
    for name, frame in linked(4).items():
        separator = ";" if name == "drugs" else ","
        frame.write_csv(folder / "data" / f"{name}.csv", separator=separator)
    path = folder / "linked.yaml"
    from incrowd._runtime.plain_yaml import dump

    path.write_text(dump(policy), encoding="utf-8")
    return path


def figures(found: incrowd.comparison.Candidate) -> tuple[Any, ...]:
    return found.privacy, found.risk, found.seen, found.ncp, found.query_error, found.sizes


def test_each_release_is_that_of_its_policy_and_is_made_again(
    tmp_path: Path, same_draws: None
) -> None:
    path = written(tmp_path)
    out = tmp_path / "compared"
    found = incrowd.compare([path], over=KS, queries=50, output=out)
    assert [each.problem for each in found] == [None, None]
    assert [each.tables for each in found] == [3, 3]
    for each, k in zip(found, KS["k"], strict=True):
        assert each.folder is not None
        assert each.as_dict()["counted"] == "patients"
        assert each.privacy[0]["k"] >= k
        assert each.query_error is not None
        assert each.query_error.records == 40
        made = incrowd.open_release(out / each.folder)
        alone = incrowd.anonymize(None, {**policy_of({"k-anonymity": {"k": k}}, suppression=0.1),
                                         **_named(path)})  # fmt: skip
        again = incrowd.anonymize(None, out / f"{each.folder}.yaml")
        for name, table in made.tables.items():
            assert table.equals(alone.tables[name])
            assert table.equals(again.tables[name])
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "patients.csv and 2 more tables, 40 rows of patients" in page


def _named(path: Path) -> dict[str, Any]:
    policy = incrowd.Policy.from_file(path)
    assert policy.patients is not None
    whole = policy_of()
    data = path.parent / "data"
    tables = {name: {**each, "source": str(data / f"{name}.csv")}
              for name, each in whole["tables"].items()}  # fmt: skip
    tables["drugs"]["separator"] = ";"
    return {
        "patients": {**whole["patients"], "source": str(data / "patients.csv")},
        "tables": tables,
    }


def test_frames_give_what_files_give(tmp_path: Path, same_draws: None) -> None:
    path = written(tmp_path)
    from_files = incrowd.compare([path], over=KS, queries=50)
    policy = incrowd.Policy.from_file(path)
    drugs = policy.tables["drugs"].model_copy(update={"separator": None})
    plain = policy.model_copy(update={"tables": {**policy.tables, "drugs": drugs}})
    out = tmp_path / "c"
    from_frames = incrowd.compare([plain], linked(4), over=KS, queries=50, output=out)
    assert list(map(figures, from_files)) == list(map(figures, from_frames))
    text = (out / "01-policy-1-k=2.yaml").read_text(encoding="utf-8")
    assert "add `source:` to 'patients', 'conditions' and 'drugs'" in text
    assert "source:" not in text.replace("`source:`", "")
    one = {"drugs": linked(4)["drugs"]}
    incrowd.compare([plain], one, over=KS, queries=0, output=out, replace=True)
    text = (out / "01-policy-1-k=2.yaml").read_text(encoding="utf-8")
    assert "source: '../data/patients.csv'" in text
    assert "add `source:` to 'drugs'" in text


def test_policies_of_different_tables_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    other = policy_of()
    other["tables"] = {"drugs": other["tables"]["drugs"]}
    with pytest.raises(InputError, match="have different tables"):
        incrowd.compare([path, other], linked(4))
    flat = {"attributes": {"age": "quasi"}, "privacy": [{"k-anonymity": {"k": 2}}]}
    with pytest.raises(InputError, match="have different tables"):
        incrowd.compare([path, flat])
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with pytest.raises(InputError, match="name 2 different sources"):
        incrowd.compare([path, written(elsewhere)])


def test_tables_of_a_database_are_compared(tmp_path: Path) -> None:
    base = tmp_path / "h.db"
    connection = sqlite3.connect(base)
    policy = policy_of(suppression=0.1)
    flat: dict[str, Any] = {"attributes": {"sex": "quasi"}, "privacy": policy["privacy"]}
    url = f"sqlite:///{base}"
    flat |= {"source": url, "query": "SELECT sex FROM patients"}
    for name, frame in linked(4).items():
        columns = ", ".join(f'"{each}"' for each in frame.columns)
        marks = ", ".join("?" * frame.width)
        connection.execute(f"CREATE TABLE {name} ({columns})")
        connection.executemany(f"INSERT INTO {name} VALUES ({marks})", frame.rows())
        table = policy["patients"] if name == "patients" else policy["tables"][name]
        named = {**table, "source": url, "query": f"SELECT * FROM {name}"}
        if name == "patients":
            policy = {**policy, "patients": named}
        else:
            policy = {**policy, "tables": {**policy["tables"], name: named}}
    connection.commit()
    connection.close()
    for each in (policy, flat):
        found = incrowd.compare([each], over=KS, queries=0)
        assert [one.problem for one in found] == [None, None]
