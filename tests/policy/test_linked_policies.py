"""Policies of several tables: what they say, what they may not, and the way back into YAML."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from incrowd.errors import PolicyError
from incrowd.policy import Policy
from incrowd.policy.linked import refuse_linked
from incrowd.policy.writing import policy_mapping, policy_text

TEXT = """
patients:
  {source: patients.csv, key: Id, attributes: {age: quasi, sex: {role: quasi, type: category}}}
tables:
  conditions:
    source: conditions.csv
    separator: ";"
    unit: PATIENT
    attributes: {CODE: {role: sensitive}, START: {role: keep, type: date}, ENCOUNTER: identifier}
    other: drop
    unmatched: drop
  drugs: {source: drugs.parquet, unit: who, attributes: {drug: keep}}
privacy: [{k-anonymity: {k: 5}}, {confidence-bounding: {C: 0.2, values: [HIV]}}]
"""


def test_attributes_of_tables_have_their_names_and_the_level_of_events() -> None:
    policy = Policy.from_yaml(TEXT)
    assert policy.unit == "Id"
    assert {name: (a.role, a.level) for name, a in policy.attributes.items()} == {
        "Id": ("identifier", "patient"),
        "age": ("quasi", "patient"),
        "sex": ("quasi", "patient"),
        "conditions.PATIENT": ("identifier", "event"),
        "conditions.CODE": ("sensitive", "event"),
        "conditions.START": ("keep", "event"),
        "conditions.ENCOUNTER": ("identifier", "event"),
        "drugs.who": ("identifier", "event"),
        "drugs.drug": ("keep", "event"),
    }
    assert policy.privacy[1].sensitive_attributes == ("conditions.CODE",)  # the only one


def test_a_policy_of_several_tables_survives_the_way_into_yaml(tmp_path: Path) -> None:
    policy = Policy.from_yaml(TEXT)
    assert Policy.from_mapping(policy_mapping(policy)) == policy
    sources = {"patients": "p.csv", "conditions": str(policy.tables["conditions"].source)}
    text = policy_text(policy, tmp_path, source=sources, output="release")
    again = Policy.from_yaml(text)
    assert again.attributes == policy.attributes
    assert again.tables["conditions"] == policy.tables["conditions"]
    assert again.patients is not None
    assert again.patients.source == "p.csv"
    assert again.tables["drugs"].source is None


def test_the_unit_may_be_repeated() -> None:
    assert Policy.from_yaml(TEXT + "unit: Id\n") == Policy.from_yaml(TEXT)


MISTAKES = {
    "source at the top": (("unit: PATIENT", "unit: PATIENT"), "source: x.csv", "`source:` at the"),
    "attributes at the top": (("", ""), "attributes: {a: quasi}", "`attributes:` at the"),
    "other at the top": (("", ""), "other: drop", "say it in `patients:`, and in each"),
    "another unit": (("", ""), "unit: PATIENT", "say `unit: Id`"),
    "an unknown key": (("unmatched:", "unmatchd:"), "", "Did you mean 'unmatched'"),
    "no unit": (("    unit: PATIENT\n", ""), "", "'tables.conditions.unit' is missing"),
    "no key": (("key: Id, ", ""), "", "'patients.key' is missing"),
    "events that are quasi": (
        ("CODE: {role: sensitive}", "CODE: quasi, S: sensitive"),
        "",
        "role quasi",
    ),
    "a target of events": (
        ("CODE: {role: sensitive}", "CODE: target, S: sensitive"),
        "",
        "table of patients",
    ),
    "a name of another file": (("  drugs:", "  Data:"), "", "the name of another file"),
    "a name with a path": (("  drugs:", "  ../drugs:"), "", "cannot be the name of a file"),
    "the table left out": (("values:", "sensitive: CODE, values:"), "", "'conditions.CODE'?"),
    "a level in patients": (("sex: {", "sex: {level: event, "), "", "leave `level:` out"),
    "a level in a table": (("CODE: {", "CODE: {level: patient, "), "", "leave `level:` out"),
    "a unit that is kept": (("drug: keep", "who: keep"), "", "drugs.attributes.who: the role"),
    "a column like a table's": (("age: quasi", "drugs.x: quasi"), "", "one of the table 'drugs'"),
    "first of no order": (("sex: {", "sex: {take: first, "), "", "attributes.sex: nothing"),
    "a share": (("drugs.parquet", "//host/x.csv"), "", "tables.drugs.source"),
    "tables without patients": (("patients:", "x:"), "", "unknown key 'x'"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_told_with_their_place(name: str) -> None:
    (was, now), more, told = MISTAKES[name]
    with pytest.raises(PolicyError) as raised:
        Policy.from_yaml(TEXT.replace(was, now, 1) + more)
    assert told in str(raised.value)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"tables": {}}, "needs `tables:` of events"),
        ({"patients": None}, "add `patients:`"),
        ({"patients": None, "tables": {}}, "'attributes' is missing"),
        ({"publish": "anatomy"}, "say `publish: generalized`"),
    ],
)
def test_what_is_lacking_is_told(changed: dict[str, Any], told: str) -> None:
    mapping = {**policy_mapping(Policy.from_yaml(TEXT)), **changed}
    with pytest.raises(PolicyError, match=told):
        Policy.from_mapping(mapping)


def test_what_works_on_one_file_says_so() -> None:
    with pytest.raises(PolicyError, match="`incrowd compare` works on one file"):
        refuse_linked(Policy.from_yaml(TEXT), "`incrowd compare`")
