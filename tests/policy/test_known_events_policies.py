"""What a policy may say of attackers who know events, and what is refused with what to do."""

from __future__ import annotations

from typing import Any

import pytest

from incrowd.errors import PolicyError
from incrowd.methods import METHOD_OPTIONS
from incrowd.policy import Policy, json_schema

CODE: dict[str, Any] = {"role": "quasi", "level": "event", "hierarchy": {"tree": {"x": ["a", "b"]}}}
FLAT: dict[str, Any] = {
    "unit": "who",
    "attributes": {"who": "identifier", "sex": "quasi", "code": CODE},
    "privacy": [{"lkc": {"L": 2, "K": 5, "events": 2}}],
}
LINKED: dict[str, Any] = {
    "patients": {"key": "who", "attributes": {"sex": "quasi"}},
    "tables": {"conditions": {"unit": "who", "attributes": {"code": "quasi"}}},
    "privacy": [{"lkc": {"L": 2, "K": 5, "events": 2}}],
}
KM: dict[str, Any] = {"km-anonymity": {"k": 5, "m": 2}}
KKM: dict[str, Any] = {"k-km": {"k": 5, "m": 2}}
COHERENCE: dict[str, Any] = {"coherence": {"h": 0.5, "k": 5, "p": 2, "sensitive": "ill"}}


def flat(*privacy: dict[str, Any], **changed: Any) -> dict[str, Any]:
    return {**FLAT, "privacy": [*privacy] or FLAT["privacy"], **changed}


def attributes(**changed: Any) -> dict[str, Any]:
    return {**FLAT["attributes"], **changed}


@pytest.mark.parametrize("policy", [FLAT, LINKED])
def test_auto_takes_the_method_that_knows_events(policy: dict[str, Any]) -> None:
    found = Policy.from_mapping(policy)
    assert found.method.knows_events
    assert found.method_remarks[0] == (
        "method: auto took histories, for attackers who know events of a patient."
    )
    named = Policy.from_mapping({**policy, "method": {"name": "histories", "keep": "exact"}})
    assert named.method.as_dict()["options"] == {
        "recoding": "local", "keep": "exact", "seconds": None
    }  # fmt: skip


@pytest.mark.parametrize(
    "privacy",
    [
        [KKM],
        [KKM, KM],
        [{"lkc": {"L": 3, "K": 5, "events": 1, "attributes": 2}}, KM],
        [{"lkc": {"L": 1, "K": 5, "events": 1, "atoms": "set"}}],
        [KKM, {"coherence": {"h": 0.5, "k": 5, "p": 1, "sensitive": "code", "values": ["x"]}}],
        [{"lkc": {"L": 1, "K": 2, "events": 1, "C": 0.5, "sensitive": ["ill", "code"],
                  "values": ["a"]}}],
    ],
)  # fmt: skip
def test_promises_about_known_events_stand_together(privacy: list[dict[str, Any]]) -> None:
    held = attributes(ill={"role": "sensitive", "level": "event"})
    assert Policy.from_mapping(flat(*privacy, attributes=held)).method.knows_events


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        (flat({"lkc": {"L": 2, "K": 5}}),
         "attributes.code: a column of events with the role quasi needs a promise about attackers "
         "who know events: lkc {events: 2}, km-anonymity, coherence or k-km. Or give it the role "
         "sensitive, identifier"),
        ({**LINKED, "privacy": [{"k-anonymity": {"k": 3}}]},
         "tables.conditions.attributes.code: a column of events with the role quasi needs"),
        (flat(attributes={"who": "identifier", "sex": "quasi"}),
         "lkc is about attackers who know events, and no column of events has the role quasi"),
        (flat(KKM, {"k-anonymity": {"k": 5}}),
         "k-anonymity judges groups of patients who look alike"),
        (flat(KKM, FLAT["privacy"][0]), "k-km takes all quasi-identifiers of a patient for one"),
        (flat(method="mondrian"), "method: mondrian makes groups of patients, and lkc is about who "
         "knows some of their events. Say `method: histories`, or `method: auto`"),
        ({"attributes": {"sex": "quasi"}, "privacy": [{"k-anonymity": {"k": 2}}],
          "method": "histories"},
         "method: histories is for promises about attackers who know events"),
        (flat(engine="duckdb"), "engine: duckdb does not count what may be known of events yet"),
        (flat(engine="spark"), "Say `engine: memory`"),
        (flat(publish="anatomy"), "Say `publish: generalized`|say `publish: generalized`"),
        (flat(KM), "attributes.sex: km-anonymity is about events alone, so nothing would protect "
         "the quasi-identifiers of patients. Promise lkc {events: 2} or k-km as well"),
        (flat(attributes=attributes(code={**CODE, "hierarchy": "auto"})),
         "attributes.code: `hierarchy: auto` is made from all values, also those that are hidden"),
        (flat(attributes=attributes(sex={"role": "quasi", "hierarchy": "auto"})),
         "attributes.sex: `hierarchy: auto`"),
        (flat({"lkc": {"L": 2, "K": 5, "events": 2, "C": 0.5, "sensitive": "code"}}),
         "lkc protects 'code', which attackers may know as well .quasi.. List the `values:`"),
        (flat({"lkc": {"L": 2, "K": 5, "events": 2, "C": 0.5, "sensitive": "sex"}}),
         "lkc protects 'sex', whose role is quasi"),
        (flat(unit="row"), "attributes.code: `level: event` needs `unit:`"),
        (flat(attributes=attributes(day={"role": "quasi", "level": "event",
                                         "time": {"shift": "30 days"}})),
         "attributes.day: the dates of a quasi-identifier are made coarse as far as privacy needs"),
        (flat(attributes=attributes(day={"role": "quasi", "level": "event",
                                         "time": {"relative-to": "first"}})),
         "attributes.day: times since an event that attackers may know are made coarse"),
        (flat(attributes=attributes(day={"role": "quasi", "level": "event",
                                         "time": {"relative-to": "first", "widths": [30, 45]}})),
         "each a multiple of the one before"),
        (flat(attributes=attributes(day={"role": "quasi", "time": {"relative-to": "first",
                                                                   "widths": [30]}})),
         "attributes.day: the dates of a quasi-identifier"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_with_what_to_do(policy: dict[str, Any], told: str) -> None:
    with pytest.raises(PolicyError, match=told):
        Policy.from_mapping(policy)


def test_the_schema_has_the_new_parameters() -> None:
    schema = json_schema()
    (lkc,) = (
        each["properties"]["lkc"]
        for each in schema["properties"]["privacy"]["items"]["anyOf"]
        if "lkc" in each["properties"]
    )
    assert {"attributes", "events", "atoms"} <= {*lkc["properties"]}
    assert {"type": "array", "items": {"type": "string"}} in lkc["properties"]["sensitive"]["anyOf"]
    assert [name for name, each in METHOD_OPTIONS.own.items() if each.knows_events] == ["histories"]
