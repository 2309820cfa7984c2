"""`time:` in a policy: what goes together, and what each mistake is told."""

from __future__ import annotations

from typing import Any

import pytest

from incrowd.errors import PolicyError
from incrowd.policy import Policy
from incrowd.policy.times import time_entry, times_of
from incrowd.policy.writing import policy_mapping

SHIFT = {"shift": "180 days", "weeks": True}


def policy(changed: dict[str, Any] | None = None, **more: Any) -> Policy:
    attributes: dict[str, Any] = {
        "id": "identifier",
        "age": "quasi",
        "birth": {"role": "keep", "time": SHIFT},
        "code": {"role": "sensitive", "level": "event"},
        "start": {"role": "keep", "level": "event", "time": SHIFT},
        **(changed or {}),
    }
    return Policy.from_mapping(
        {"unit": "id", "attributes": attributes, "privacy": [{"k-anonymity": {"k": 2}}], **more}
    )


def event(**time: Any) -> dict[str, Any]:
    return {"start": {"role": "keep", "level": "event", "time": time}}


@pytest.mark.parametrize(
    ("time", "entry"),
    [
        (SHIFT, {"way": "shift", "days": 180, "weeks": True}),
        ({"coarse": "quarter"}, {"way": "coarse", "period": "quarter"}),
        ({"relative-to": "first"}, {"way": "relative", "to": "first", "unit": "days"}),
        (
            {"relative-to": "birth", "unit": "months", "widths": [3, 12]},
            {"way": "relative", "to": "column", "column": "birth", "unit": "months",
             "widths": [3, 12]},
        ),
        (
            {"relative-to": {"first": "code", "value": 250.1}},
            {"way": "relative", "to": "event", "column": "code", "unit": "days"},
        ),
    ],
)  # fmt: skip
def test_each_way_is_told_by_the_manifest_and_written_back(
    time: dict[str, Any], entry: dict[str, Any]
) -> None:
    asked = policy(event(**time))
    assert time_entry(times_of(asked)["start"]) == entry
    assert Policy.from_mapping(policy_mapping(asked)) == asked


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (event(), "exactly one of shift, relative-to and coarse"),
        (event(shift="180 days", coarse="month"), "exactly one of"),
        (event(shift=180), "as in `shift: 180 days`"),
        (event(shift="0 days"), "as in `shift: 180 days`"),
        (event(shift="10000 days"), "at most 9999"),
        (event(shift="6 days", weeks=True), "at least 7 days"),
        (event(coarse="month", weeks=True), "`weeks:` is for `shift:`"),
        (event(coarse="month", widths=[3]), "are for `relative-to:`"),
        (event(coarse="day"), "must be one of month, quarter, year"),
        ({"birth": "keep", **event(**{"relative-to": "first", "widths": [30, 30]})},
         "widths ascend"),
        (event(**{"relative-to": {"code": "x"}}), "first event with a value"),
        (event(**{"relative-to": "brith"}), "Did you mean 'birth'"),
        (event(**{"relative-to": "id"}), "an identifier"),
        (event(**{"relative-to": "start"}), "or is the column itself"),
        ({"birth": {"role": "keep", "type": "date"}, **event(**{"relative-to": "birth"})},
         "would give each date away"),
        (event(**{"relative-to": {"first": "age", "value": 3}}), "no column of codes"),
        (event(shift="90 days", weeks=True), "a patient has one"),
        ({"seen": {"role": "keep", "level": "event", "type": "date"}}, "both fall on one day"),
        ({"age": {"role": "quasi", "time": {"coarse": "year"}}},
         "say `hierarchy: {dates: [year]}`"),
        ({"age": {"role": "quasi", "time": SHIFT}}, "say `hierarchy: {dates: [month, year"),
        ({"birth": {"role": "identifier", "time": SHIFT}}, "this one is identifier"),
        ({"birth": {"role": "target", "time": SHIFT}}, "this one is target"),
        ({"birth": {"role": "sensitive", "time": SHIFT, "hierarchy": "dates"}},
         "keep one of the two"),
        ({"birth": {"role": "keep", "type": "category", "time": SHIFT}}, "`time:` is for dates"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_told_with_what_to_do(
    changed: dict[str, Any], told: str
) -> None:
    with pytest.raises(PolicyError, match=told.replace("[", r"\[").replace("{", r"\{")):
        policy(changed)


def test_no_policy_names_a_key() -> None:
    for more in ({"key": "/etc/passwd"}, {"pseudonyms": {"key": "a.key"}}):
        with pytest.raises(PolicyError, match="unknown key"):
            policy(**more)


def test_tables_apart_show_values_as_they_are() -> None:
    flat = {"code": "sensitive", "start": {"role": "keep", "time": SHIFT}}
    with pytest.raises(PolicyError, match="say `publish: generalized`"):
        policy(flat, publish="anatomy")
