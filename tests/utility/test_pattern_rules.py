"""The rules of patterns: asked of cells, against trying every value; and their wording."""

from __future__ import annotations

import itertools
from typing import Literal

import pytest
from releases_by_hand import Entry, MakeRelease

from incrowd.query import query
from incrowd.query.meanings import LabelColumn
from incrowd.utility.pattern_mining._rules import (
    PERHAPS,
    RuleCondition,
    chances,
    rule_text,
    surely,
    tidied,
)

LABELS = {
    "[20-30)": range(20, 30),
    "[25-41)": range(25, 41),
    "{22|29|35}": (22, 29, 35),
    "33": (33,),
    "*": range(20, 45),
    "[40-45)": range(40, 45),
}


@pytest.mark.parametrize(
    ("low", "high"), list(itertools.combinations([20, 22, 23, 29, 30, 33, 34, 40, 45], 2))
)
def test_what_straddles_agrees_with_trying_every_value(low: int, high: int) -> None:
    entry = {"role": "quasi", "type": "numeric", "labels": "hierarchy", "domain": 25, "decimals": 0}
    column = LabelColumn("age", list(LABELS), False, entry)
    rule = [RuleCondition("age", ">=", (str(low),)), RuleCondition("age", "<", (str(high),))]
    found = chances(column, rule)
    for code, values in enumerate(LABELS.values()):
        inside = [low <= value < high for value in values]
        assert bool(surely(found)[code]) == all(inside)
        assert bool(found[code] > 0) == any(inside)
        assert found[code] == pytest.approx(sum(inside) / len(inside))
    assert found[-1] == 0  # a missing cell satisfies no comparison


JOBS = {"cook": "service", "maid": "service", "nurse": "care", "doctor": "care", "smith": "craft"}
MEANING = {
    "service": ["cook", "maid"],
    "care": ["nurse", "doctor"],
    "craft": ["smith"],
    "*": list(JOBS),
}


@pytest.mark.parametrize("wanted", [s for n in (1, 2, 3) for s in itertools.combinations(JOBS, n)])
@pytest.mark.parametrize("operator", ["in", "not in"])
def test_sets_and_hierarchy_labels_agree_with_trying_every_value(
    operator: Literal["in", "not in"], wanted: tuple[str, ...]
) -> None:
    labels = {"service": MEANING["service"], "{nurse|smith}": ["nurse", "smith"],
              "*": list(JOBS), "doctor": ["doctor"]}  # fmt: skip
    entry = {"role": "quasi", "type": "category", "labels": "hierarchy", "domain": 5,
             "weights": {"service": 2, "*": 5}}  # fmt: skip
    column = LabelColumn("job", list(labels), False, entry, MEANING)
    found = chances(column, [RuleCondition("job", operator, wanted)])
    for code, values in enumerate(labels.values()):
        inside = [(value in wanted) == (operator == "in") for value in values]
        assert bool(surely(found)[code]) == all(inside)
        assert bool(found[code] > 0) == any(inside)
    assert found[-1] == (operator == "not in")


def test_rules_are_written_for_people() -> None:
    rule = (
        RuleCondition("capital gain", "<", ("7298",)),
        RuleCondition("age", "<", ("28",), sure=False),
        RuleCondition("job", "in", ("cook", "tree surgeon")),
        RuleCondition("sex", "not in", ("", "M")),
        RuleCondition("town", "in", ("", "Ulm")),
    )
    assert rule_text(rule) == (
        "\"capital gain\" < 7298 and age perhaps < 28 and job in (cook, 'tree surgeon') "
        "and sex is not missing and sex != M and town in (missing, Ulm)"
    )
    bounds = [RuleCondition("age", ">=", (bound,)) for bound in ("28", "100", "9")]
    assert tidied([*bounds, RuleCondition("age", "<", ("200",))]) == (
        RuleCondition("age", ">=", ("100",)),
        RuleCondition("age", "<", ("200",)),
    )
    assert rule_text(()) == "every record"


def test_a_missing_cell_is_a_value_of_its_own() -> None:
    column = LabelColumn("town", ["Ulm"], True, {"role": "keep", "type": "category"})
    asked: dict[tuple[Literal["in", "not in"], tuple[str, ...]], list[int]] = {
        ("in", ("",)): [0, 1],
        ("in", ("", "Ulm")): [1, 1],
        ("in", ("Ulm",)): [1, 0],
        ("not in", ("Ulm",)): [0, 1],
        ("not in", ("",)): [1, 0],
        ("in", ("Bonn",)): [0, 0],
    }
    for (operator, values), expected in asked.items():
        found = chances(column, [RuleCondition("town", operator, values)])
        assert found.tolist() == expected


def test_labels_of_unknown_values_satisfy_everything_perhaps() -> None:
    entry = {"role": "quasi", "type": "category", "labels": "hierarchy", "domain": 5,
             "weights": {"care": 2}}  # fmt: skip
    column = LabelColumn("job", ["care", "smith"], False, entry)
    assert chances(column, [RuleCondition("job", "in", ("smith",))]).tolist() == [PERHAPS, 1, 0]
    same = RuleCondition("job", "in", (), label="care")
    assert chances(column, [same]).tolist() == [1, 0, 0]
    stars = LabelColumn("age", ["*"], False, {"role": "quasi", "type": "numeric", "domain": 9})
    assert chances(stars, [RuleCondition("age", ">=", ("5",))]).tolist() == [PERHAPS, 0]


def test_a_rule_can_be_asked_as_a_query(make_release: MakeRelease, entry: Entry) -> None:
    release = make_release(
        {"age": ["20", "30", "[25-40)"], "sex": ["F", "M", "M"]},
        [entry("age", "numeric", 20, decimals=0), entry("sex", "category", 2)],
    )
    rule = (RuleCondition("age", ">=", ("25",)), RuleCondition("sex", "not in", ("F",)))
    assert query(release, rule_text(rule)).count == 2
