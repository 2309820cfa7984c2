"""What releases of Incognito show: one level per attribute, and no trace of what was dropped."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from lattice_tables import PATIENTS, K, patients_policy

import incrowd
from incrowd.utility import ncp


def test_the_release_shows_one_level_per_attribute_and_names_it(tmp_path: Path) -> None:
    release = incrowd.anonymize(pl.DataFrame(PATIENTS), patients_policy())
    assert release.save(tmp_path / "release").holds
    assert release.data.select("birth", "sex", "zip").rows() == [
        ("*", "*", code) for code in ("53703", "53703", "53706", "53706", "53715", "53715")
    ]
    made = release.manifest["method"]
    assert (made["name"], made["options"]) == ("incognito", {"metric": "loss"})
    assert made["levels"] == "birth: 1, sex: 1, zip: 0"


def labels_at(values: list[str], tree: dict[str, Any], k: int) -> set[str | None]:
    policy = {
        "attributes": {
            "place": {"role": "quasi", "type": "category", "hierarchy": {"tree": tree}},
            "ill": "sensitive",
        },
        "privacy": [{"k-anonymity": {"k": k}}],
        "method": "incognito",
    }
    frame = pl.DataFrame({"place": values, "ill": ["flu"] * len(values)})
    release = incrowd.anonymize(frame, policy)
    assert ncp(release).total == pytest.approx(release.manifest["utility"]["ncp"])
    return set(release.data["place"].to_list())


def test_values_of_short_branches_are_not_taken_for_labels() -> None:
    """`[1-2)` is a value under a branch that ends early: at level 1 it still shows itself."""
    tree = {"North": ["a", "b"], "South": ["c", "d"], "*x": {"far": ["e", "f"]}}
    assert labels_at(["a", "b", "c", "d", "e", "f"], tree, 2) == {"North", "South", "*x"}
    deep = {"Land": {"North": ["a", "b"]}, "Sea": ["[1-2)"]}
    assert labels_at(["a", "b", "[1-2)", "[1-2)"], deep, 2) == {"North", "\\[1-2)"}


def test_a_label_is_shown_even_if_one_value_of_the_data_is_below_it() -> None:
    """Full-domain: b shows North as c shows South, though nobody in the table is from a."""
    tree = {"North": ["a", "b"], "South": ["c", "d"]}
    assert labels_at(["b", "b", "c", "d"], tree, 2) == {"North", "South"}


def test_missing_cells_are_a_value_until_the_top() -> None:
    rows = [*[(None, "flu")] * 2, *[("a", "flu"), ("b", "flu")]]
    frame = pl.DataFrame(rows, schema=["place", "ill"], orient="row")
    tree = {"North": ["a", "b"], "South": ["c"]}
    attributes = {"place": {"role": "quasi", "hierarchy": {"tree": tree}}, "ill": "sensitive"}
    policy = {"attributes": attributes, "privacy": [K], "method": "incognito"}
    assert incrowd.anonymize(frame, policy).data["place"].to_list() == [
        None,
        None,
        "North",
        "North",
    ]
    release = incrowd.anonymize(frame, {**policy, "privacy": [{"k-anonymity": {"k": 3}}]})
    assert release.data["place"].to_list() == ["*"] * 4


def test_what_suppression_buys() -> None:
    """Nine records of one town and one of another: 10 % saves a level, 9 % does not."""
    towns = ["Oslo"] * 9 + ["Bergen"]
    frame = pl.DataFrame({"town": towns, "ill": ["flu"] * 10})

    def under(limit: float) -> Any:
        attributes = {"town": "quasi", "ill": "sensitive"}
        policy = {"attributes": attributes, "privacy": [K], "method": "incognito"}
        return incrowd.anonymize(frame, {**policy, "suppression": limit})

    assert under(0.09).manifest["utility"]["ncp"] == 1
    limited = under(0.1)
    assert limited.data["town"].to_list() == ["Oslo"] * 9
    assert limited.manifest["records"]["suppressed"] == 1
    assert limited.manifest["utility"]["ncp"] == 0.1


def test_a_suppressed_record_leaves_no_trace(tmp_path: Path) -> None:
    """Whatever the outlier is, the files say the same; `score` has levels made from the data."""
    draw = random.Random(5)
    usual = [(draw.choice("fm"), draw.randint(1, 8), draw.choice("ABC")) for _ in range(200)]
    attributes = {"sex": "quasi", "score": {"role": "quasi", "hierarchy": "auto"}, "town": "quasi"}
    policy = {
        "attributes": attributes,
        "privacy": [{"k-anonymity": {"k": 3}}],
        "method": "incognito",
        "suppression": 0.01,
    }
    files = []
    for number, outlier in enumerate([("x", 90, "Zrare"), ("y", 77, "Yrare")]):
        frame = pl.DataFrame([*usual, outlier], schema=["sex", "score", "town"], orient="row")
        release = incrowd.anonymize(frame, policy)
        assert release.manifest["records"]["suppressed"] == 1
        assert release.manifest["method"]["levels"] == "sex: 0, town: 0"
        release.save(tmp_path / str(number))
        files.append({path.name: path.read_bytes() for path in (tmp_path / str(number)).iterdir()})
    assert files[0] == files[1]


def test_suppression_needs_no_remark() -> None:
    policy = incrowd.Policy.from_mapping(patients_policy(suppression=0.1))
    assert policy.remarks == []
