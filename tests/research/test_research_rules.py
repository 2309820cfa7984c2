"""What a researcher wants, bound to a table: weights, rules, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from incrowd.engines.preparation import prepare
from incrowd.errors import ParameterError
from incrowd.policy import Policy
from incrowd.policy.interests import interests
from incrowd.research import Interest, Rule
from incrowd.research import association as weighing
from incrowd.research.association import association, independent_weights
from incrowd.table import Column

FRAME = pl.DataFrame(
    {
        "age": ["20", "40", "66", "", "70.5"],
        "born": ["1990-05-01", "1970-01-31", "1944-12-24", "1950-01-01", "1940-02-02"],
        "race": ["White", "Black", "Asian", "White", ""],
    }
)


def bound(**changed: Any) -> dict[str, Interest]:
    attributes: dict[str, Any] = {name: {"role": "quasi"} for name in FRAME.columns}
    whole: dict[str, Any] = {"privacy": [{"k-anonymity": {"k": 2}}]}
    for key, value in changed.items():
        if key in attributes:
            attributes[key] |= value
        else:
            whole[key.replace("_", "-")] = value
    policy = Policy.from_mapping({"attributes": attributes, **whole})
    table = prepare(FRAME, policy).table
    found = interests(policy, table)
    for name, interest in found.items():
        assert interest.pairs(table[name]).shape == (len(interest.rules), 3)
    return found


def pairs(**changed: Any) -> list[list[float]]:
    ((name, asked),) = changed.items()
    policy = Policy.from_mapping(
        {
            "attributes": {n: {"role": "quasi"} for n in FRAME.columns}
            | {name: {"role": "quasi", **asked}},
            "privacy": [{"k-anonymity": {"k": 2}}],
        }
    )
    table = prepare(FRAME, policy).table
    found: list[list[float]] = interests(policy, table)[name].pairs(table[name]).tolist()
    return found


def test_weights_are_normalized_and_the_rest_weigh_the_mean() -> None:
    found = bound(age={"weight": 3.0}, race={"weight": 1.0})
    assert [each.weight for each in found.values()] == [3 / 6, 2 / 6, 1 / 6]


def test_without_weights_all_weigh_the_same() -> None:
    assert [each.weight for each in bound().values()] == [1 / 3] * 3


def test_rules_and_the_base_value_reach_the_interests() -> None:
    found = bound(race={"rules": [{"apart": ["White", "Black"], "importance": 20}]}, rule_base=5.0)
    assert found["race"].rules == (Rule("White", "Black", 20.0),)
    assert found["race"].importance == 25.0
    assert found["age"].importance == 5.0


def test_a_rule_about_numbers_is_a_cut_between_values_that_occur() -> None:
    # codes: 20 -> 0, 40 -> 1, 66 -> 2, 70.5 -> 3, missing -> 4
    assert pairs(age={"rules": [{"apart": [64, 65], "importance": 25}]}) == [[1, 2, 25]]
    assert pairs(age={"rules": [{"apart": [70.2, 66], "importance": 1}]}) == [[2, 3, 1]]
    assert pairs(age={"rules": [{"apart": [40, 70.5], "importance": 1}]}) == [[1, 3, 1]]


def test_a_rule_about_dates() -> None:
    rules = {"rules": [{"apart": ["1949-12-31", "1950-01-01"], "importance": 2}]}
    assert pairs(born=rules) == [[1, 2, 2]]


def test_a_rule_about_categories_follows_the_order_of_codes() -> None:
    # codes: Asian, Black, White, missing
    rules = {"rules": [{"apart": ["White", "Asian"], "importance": 2}]}
    assert pairs(race=rules) == [[0, 2, 2]]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"race": {"rules": [{"apart": ["White", "Blak"]}]}}, "'Blak' does not occur in it"),
        ({"age": {"rules": [{"apart": ["young", 65]}]}}, "'young' is not a number"),
        ({"age": {"rules": [{"apart": [90, 91]}]}}, "no record has 91 or higher"),
        ({"age": {"rules": [{"apart": [2, 3]}]}}, "no record has 2 or lower"),
        ({"age": {"rules": [{"apart": ["40", "40.0"]}]}}, "names one value twice"),
        ({"born": {"rules": [{"apart": ["1.5.1990", "2000-01-01"]}]}}, "is not a date"),
    ],
)
def test_rules_that_do_not_fit_the_table_are_refused(changed: Any, told: str) -> None:
    with pytest.raises(ParameterError, match=told):
        bound(**changed)


def categories(name: str, codes: list[int] | np.ndarray) -> Column:
    held = np.asarray(codes)
    return Column(name, "quasi", "category", held, tuple(f"v{i}" for i in range(held.max() + 1)))


def numbers(name: str, codes: list[int] | np.ndarray, missing: int = 0) -> Column:
    held = np.asarray(codes)
    values = np.arange(held.max() + 1 - (1 if missing else 0))
    return Column(name, "quasi", "numeric", held, tuple(map(str, values)), values, missing=missing)


DRAW = np.random.default_rng(4)
ONE, OTHER = DRAW.integers(0, 6, 4_000), DRAW.integers(0, 5, 4_000)


@pytest.mark.parametrize("first", [categories, numbers])
@pytest.mark.parametrize("second", [categories, numbers])
def test_what_follows_from_another_is_associated_and_what_is_drawn_apart_is_not(
    first: Any, second: Any
) -> None:
    assert association(first("a", ONE), second("b", ONE)) > 0.95
    assert association(first("a", ONE), second("b", OTHER)) < 0.06


def test_chance_among_many_categories_is_no_association() -> None:
    unique = categories("id", DRAW.permutation(4_000))
    many = categories("ward", DRAW.integers(0, 500, 4_000))
    assert association(many, categories("b", OTHER)) < 0.1
    assert association(unique, many) == 0.0


def test_missing_numbers_are_left_out() -> None:
    holes = np.where(DRAW.random(4_000) < 0.2, 6, ONE)
    assert association(numbers("a", holes, missing=1), numbers("b", ONE)) == pytest.approx(1.0)


def test_independent_attributes_weigh_more_and_constant_ones_nothing() -> None:
    columns = [
        categories("a", ONE),
        numbers("a again", ONE),
        categories("free", OTHER),
        categories("constant", np.zeros(4_000, dtype=np.int64)),
    ]
    weights = independent_weights(columns)
    assert weights.sum() == pytest.approx(1.0)
    assert weights[3] == 0.0
    assert weights[2] > 1.2 * weights[0]
    assert weights[0] == pytest.approx(weights[1], rel=0.05)


def test_copies_of_one_attribute_weigh_the_same() -> None:
    weights = independent_weights([categories("a", ONE), categories("b", ONE)])
    assert weights == pytest.approx([0.5, 0.5])


def test_weights_do_not_depend_on_the_order_of_the_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where not all of them are looked at: the order of a source is not for its readers."""
    monkeypatch.setattr(weighing, "_MOST_RECORDS", 300)
    shuffled = np.random.default_rng(3).permutation(len(ONE))
    found = []
    for order in (np.arange(len(ONE)), shuffled):
        one, other = ONE[order], OTHER[order]
        columns = [categories("a", one), numbers("b", other), categories("c", one * other % 3)]
        found.append(independent_weights(columns).tolist())
    assert found[0] == found[1]


def test_the_policy_may_ask_for_weights_by_correlation() -> None:
    found = bound(weights="correlation")
    assert sum(each.weight for each in found.values()) == pytest.approx(1.0)
