"""The worked examples of Morton (2012): research value, data constraint rules, Table 7."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd
from incrowd.research import Interest, Rule, attribute_value
from incrowd.research.value import broken_rules, rule_ratio
from incrowd.table import Column
from incrowd.utility import research_value

RACES = ("White", "Hispanic", "Black", "Asian")
TABLE_1 = (
    Rule("White", "Hispanic", 5),
    Rule("White", "Black", 20),
    Rule("Hispanic", "Black", 10),
    Rule("Hispanic", "Asian", 5),
)
TABLE_7 = pl.DataFrame(
    {
        "age": ["24", "25", "30", "30", "32", "32"],
        "education": ["Bachelor", "Bachelor", "Master", "Master", "Master", "Doctorate"],
        "zip": ["53711", "53712", "53713", "53714", "53715", "53716"],
        "income": ["40k", "50k", "50k", "80k", "50k", "100k"],
        "target": ["Y", "Y", "N", "N", "N", "N"],
    }
)
ATTRIBUTES: dict[str, Any] = {
    "age": {
        "role": "quasi",
        "type": "category",
        "hierarchy": {"tree": {"[24-32]": ["24", "25", "30", "32"]}},
    },
    "education": {
        "role": "quasi",
        "hierarchy": {"tree": {"GradSchool": ["Master", "Doctorate"], "Undergrad": ["Bachelor"]}},
    },
    "zip": {
        "role": "quasi",
        "type": "category",
        "hierarchy": {
            "tree": {
                "[53711-53713]": ["53711", "53712", "53713"],
                "[53714-53716]": ["53714", "53715", "53716"],
            }
        },
    },
    "income": "keep",
    "target": "keep",
}


def policy(method: Any, **changed: Any) -> dict[str, Any]:
    return {
        "attributes": {**ATTRIBUTES, **changed},
        "privacy": [{"k-anonymity": {"k": 3}}],
        "method": method,
    }


def test_the_research_value_of_three_groups_of_a_number() -> None:
    """0.2 x 125 / (25 x 10 + 45 x 15 + 55 x 25) x 50 / 100 = 0.0054."""
    ages = Column(
        "age",
        "quasi",
        "numeric",
        np.arange(50, dtype=np.uint8),
        tuple(map(str, range(50))),
        np.arange(50),
    )
    low, high = np.array([0, 10, 25]), np.array([9, 24, 49])
    # Two rules and a base value: 100 in all, 50 where only the cut between groups is kept.
    interest = Interest("age", 0.2, (Rule("9", "10", 30), Rule("30", "31", 50)), base=20)
    value = attribute_value(interest, ages, low, high, np.array([25, 45, 55]))
    assert value == pytest.approx(0.2 * 125 / 2300 * 0.5)
    assert round(value, 4) == 0.0054


def test_one_rule_of_table_1_broken_leaves_three_quarters() -> None:
    race = Column("race", "quasi", "category", np.arange(4, dtype=np.uint8), RACES)
    interest = Interest("race", 1.0, TABLE_1)
    # White, {Hispanic|Black}, Asian
    low, high = np.array([0, 1, 3]), np.array([0, 2, 3])
    broken = broken_rules(interest, race, low, high)
    assert broken.tolist() == [False, False, True, False]
    assert rule_ratio(interest, broken) == 0.75
    value = attribute_value(interest, race, low, high, np.array([7, 5, 9]))
    assert value == pytest.approx(3 / 4 * 0.75)


@pytest.mark.parametrize(
    ("k", "shown", "value"),
    [
        (2, {"White", "Hispanic", "Black", "Asian"}, 1.0),
        (3, {"White", "Black", "Other"}, 3 / 4 * 35 / 40),
        (4, {"White", "Not white"}, 2 / 4 * 25 / 40),
    ],
)
def test_the_levels_of_figure_1_with_the_rules_of_table_1(
    k: int, shown: set[str], value: float
) -> None:
    """All four races; then White, Black and others; then White and others."""
    people = {"White": 6, "Black": 3, "Hispanic": 2, "Asian": 2}
    race = pl.DataFrame({"race": [race for race, many in people.items() for _ in range(many)]})
    others = {"Black": ["Black"], "Other": ["Hispanic", "Asian"]}
    tree = {"Not white": others, "White": ["White"]}
    rules = [{"apart": [r.first, r.second], "importance": r.importance} for r in TABLE_1]
    asked = {
        "attributes": {"race": {"role": "quasi", "hierarchy": {"tree": tree}, "rules": rules}},
        "privacy": [{"k-anonymity": {"k": k}}],
        "method": "research-value",
    }
    release = incrowd.anonymize(race, asked, accept_unprotected=True)
    assert set(release.data["race"]) == shown
    found = research_value(release, asked, race)
    assert found.total == pytest.approx(value)


@pytest.mark.parametrize("search", ["best-first", "global", "hybrid", "distributed"])
def test_table_7_by_global_recoding(search: str) -> None:
    """One label for each value in the whole table: age and education become ANY."""
    release = incrowd.anonymize(
        TABLE_7, policy({"name": "research-value", "search": search}), accept_unprotected=True
    )
    shown = release.data.sort("zip", "income", "target")
    assert set(shown["age"]) == {"[24-32]"}
    assert set(shown["education"]) == {"*"}
    assert shown["zip"].to_list() == ["[53711-53713]"] * 3 + ["[53714-53716]"] * 3
    assert sorted(shown["income"]) == sorted(TABLE_7["income"])


def test_table_7_by_local_recoding() -> None:
    """The age of 30 is in two ranges; education is ANY in one group, GradSchool in the other."""
    ages = {"age": {"role": "quasi", "type": "numeric"}}
    shown = {}
    for labels in ("set", "hierarchy"):
        method = {"name": "mondrian", "labels": labels, "split": "median"}
        shown[labels] = incrowd.anonymize(
            TABLE_7, policy(method, **ages), accept_unprotected=True
        ).data
    assert sorted(shown["set"]["age"]) == ["[24-31)"] * 3 + ["[30-33)"] * 3
    assert sorted(shown["hierarchy"].select("education", "zip", "income").rows()) == [
        ("*", "[53711-53713]", "40k"),
        ("*", "[53711-53713]", "50k"),
        ("*", "[53711-53713]", "50k"),
        ("GradSchool", "[53714-53716]", "100k"),
        ("GradSchool", "[53714-53716]", "50k"),
        ("GradSchool", "[53714-53716]", "80k"),
    ]


def test_local_recoding_of_table_7_keeps_a_higher_research_value() -> None:
    by_levels = policy("research-value")
    by_groups = policy({"name": "mondrian", "labels": "hierarchy", "split": "median"})
    kept = [
        research_value(
            incrowd.anonymize(TABLE_7, each, accept_unprotected=True), by_levels, TABLE_7
        ).total
        for each in (by_levels, by_groups)
    ]
    assert kept[0] < kept[1] < 1
