"""The research value of releases of every kind, and its explanation for an expert."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd
from incrowd._runtime.progress import silent
from incrowd.errors import InputError
from incrowd.methods.research_value import alternatives
from incrowd.pipeline import Job
from incrowd.utility import research_value

FRAME = pl.DataFrame(
    {
        "age": ["61", "63", "64", "65", "67", "69", "", ""],
        "race": ["White", "White", "Black", "Black", "Asian", "White", "Asian", "Asian"],
        "born": [f"19{year}-0{month}-03" for year in (50, 61) for month in (1, 2, 5, 8)],
        "ill": ["flu", "hiv"] * 4,
    }
)
ATTRIBUTES: dict[str, Any] = {
    "age": {
        "role": "quasi",
        "weight": 2.0,
        "hierarchy": {"intervals": {"start": 60, "stop": 70, "widths": [5]}},
        "rules": [{"apart": [64, 65], "importance": 25}, {"apart": [61, 63], "importance": 75}],
    },
    "race": {
        "role": "quasi",
        "weight": 1.0,
        "hierarchy": {"tree": {"W": ["White"], "other": ["Black", "Asian"]}},
        "rules": [{"apart": ["White", "Black"], "importance": 20}],
    },
    "born": {"role": "quasi", "weight": 1.0, "hierarchy": {"dates": ["year"]}},
    "ill": "sensitive",
}


def policy(**more: Any) -> dict[str, Any]:
    promised = [{"k-anonymity": {"k": 2}}]
    return {"attributes": ATTRIBUTES, "privacy": promised, **more}


def shown(make_release: Any, ages: list[str | None], races: list[str | None]) -> Any:
    entries = [
        {"name": "age", "role": "quasi", "published": True, "type": "numeric", "labels": "set",
         "domain": 11, "decimals": 0},
        {"name": "race", "role": "quasi", "published": True, "type": "category",
         "labels": "hierarchy", "domain": 3, "weights": {"other": 2}},
    ]  # fmt: skip
    return make_release({"age": ages, "race": races}, entries)


def test_labels_and_rules_by_hand(make_release: Any) -> None:
    ages = ["[61-64)"] * 2 + ["[64-66)"] * 2 + ["[67-70)"] * 2 + [None] * 2
    races: list[str | None] = [*["White"] * 2, *["other"] * 3, "White", *["other"] * 2]
    asked = policy(**{"rule-base": 0.0})
    release = shown(make_release, ages, races)
    attributes = {name: ATTRIBUTES[name] for name in ("age", "race")}
    found = research_value(
        release, {**asked, "attributes": attributes}, FRAME.select("age", "race")
    )
    age, race = found.attributes
    assert age.labels == pytest.approx(8 / (2 * 3 + 2 * 2 + 2 * 3 + 2))
    assert [fate.kept for fate in age.rules] == [False, False]
    assert age.value == 0.0
    assert race.labels == pytest.approx(2 / 3)
    assert race.rules_kept == 1.0
    assert found.total == pytest.approx(1 / 3 * 2 / 3)
    # Each rule alone would bring its share of what labels keep.
    assert [fate.cost for fate in age.rules] == pytest.approx(
        [2 / 3 * age.labels * share for share in (0.25, 0.75)]
    )


def test_the_explanation_names_what_was_broken_and_what_it_costs(make_release: Any) -> None:
    asked = {
        **policy(**{"rule-base": 100.0}),
        "attributes": {name: ATTRIBUTES[name] for name in ("age", "race")},
    }
    release = shown(make_release, ["[61-64)"] * 2 + ["[64-70)"] * 4 + [None] * 2, ["*"] * 8)
    found = research_value(release, asked, FRAME.select("age", "race"))
    lines = found.explain()
    assert lines[0] == f"The release keeps a research value of {found.total:.4f}; the data has 1."
    assert any(line.startswith("age: ") and "rules keep 50.0%" in line for line in lines)
    assert "  BROKEN: White apart from Black (importance 20), costs " in "\n".join(lines)
    told = found.as_dict()["per_attribute"]["race"]["rules"][0]
    assert told["apart"] == ["White", "Black"]
    assert told["kept"] is False
    assert found.as_dict()["total"] == found.total


@pytest.mark.parametrize("search", ["best-first", "hybrid", "distributed"])
def test_a_release_is_worth_what_the_search_said(search: str, tmp_path: Path) -> None:
    asked = policy(method={"name": "research-value", "search": search})
    release = incrowd.anonymize(FRAME, asked, accept_unprotected=True)
    found = research_value(release, asked, FRAME)
    if search != "distributed":
        best = alternatives(Job.begin(FRAME, asked, silent, accept_unprotected=True).task, n=1)[0]
        assert found.total == pytest.approx(best.value)
    assert release.save(tmp_path / "release").holds
    assert research_value(tmp_path / "release", asked, FRAME) == found
    assert sum(each.weight for each in found.attributes) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "method",
    [
        {"name": "mondrian", "labels": "set"},
        {"name": "mondrian", "labels": "hierarchy"},
        "top-down-specialization",
        "top-down-local",
        "incognito",
    ],
)
def test_releases_of_other_methods_can_be_read(method: Any) -> None:
    release = incrowd.anonymize(FRAME, policy(method=method), accept_unprotected=True)
    found = research_value(release, policy(), FRAME)
    assert 0 <= found.total <= 1
    best = alternatives(
        Job.begin(FRAME, policy(method="research-value"), silent, accept_unprotected=True).task, n=1
    )[0]
    if method == "incognito":  # one level for each attribute as well
        assert found.total <= best.value + 1e-12


def test_exact_values_in_tables_apart_are_worth_everything() -> None:
    promised = [{"l-diversity": {"l": 2}}]
    asked = policy(publish="anatomy", method="anatomize", privacy=promised)
    found = research_value(incrowd.anonymize(FRAME, asked, accept_unprotected=True), asked, FRAME)
    assert found.total == pytest.approx(1.0)


def test_suppressed_records_are_told_and_not_counted() -> None:
    frame = pl.concat([FRAME] * 5)
    odd = pl.DataFrame({"age": ["60"], "race": ["Black"], "born": ["1999-01-01"], "ill": ["flu"]})
    asked = policy(suppression=0.05, method="research-value")
    release = incrowd.anonymize(pl.concat([frame, odd]), asked, accept_unprotected=True)
    found = research_value(release, asked, pl.concat([frame, odd]))
    assert found.suppressed == 1
    assert "It leaves out 1 records, which this does not count." in found.explain()


def test_another_table_or_policy_is_refused(make_release: Any) -> None:
    release = shown(make_release, ["61"] * 2, ["Martian"] * 2)
    attributes = {name: ATTRIBUTES[name] for name in ("age", "race")}
    with pytest.raises(InputError, match="'race': 1 of 1 different labels stand for no value"):
        research_value(release, {**policy(), "attributes": attributes}, FRAME["age", "race"])
    with pytest.raises(InputError, match="does not name 'age' as a quasi-identifier"):
        research_value(
            release,
            {**policy(), "attributes": {"age": "keep", "race": ATTRIBUTES["race"]}},
            FRAME["age", "race"],
        )
