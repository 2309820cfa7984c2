"""Whether what a policy says of patients with several rows fits together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incrowd._runtime.sentences import listed
from incrowd.policy.known_events import check_known_events
from incrowd.policy.linked import place_of
from incrowd.policy.units import ROW, has_events
from incrowd.privacy import MODELS, PrivacyModel

if TYPE_CHECKING:
    from incrowd.policy._schema import Policy


def check_events(policy: Policy) -> None:
    """Raise a ValueError where columns of events, or which value to take, do not fit."""
    if has_events(policy) and policy.publish != "generalized":
        raise ValueError(
            f"publish: {policy.publish} is for one record a patient; with `level: event` say "
            "`publish: generalized`"
        )
    if policy.most_events is not None and policy.unit in (None, ROW):
        raise ValueError(
            "most-events: is for patients with several rows; it needs `unit:`, the identifier "
            "column that tells patients apart"
        )
    for name, asked in policy.attributes.items():
        if asked.level == "event":
            _check_event(policy, name)
        elif asked.take is not None:
            _check_take(policy, name)
    check_known_events(policy)
    for model in policy.privacy:
        for name in model.sensitive_attributes:
            asked_of = policy.attributes.get(name)
            if asked_of is not None and asked_of.level == "event" and not model.judges_events:
                raise ValueError(_refusal(model, name))


def time_of(policy: Policy) -> str | None:
    """The one column of events that has dates, by which rows are first or last; else None."""
    times = [
        name
        for name, asked in policy.attributes.items()
        if asked.level == "event" and asked.kind == "date" and asked.role != "identifier"
    ]
    return times[0] if len(times) == 1 else None


def seen_alone(policy: Policy, name: str) -> bool:
    """Whether nothing but the values of an attribute tells its type."""
    asked = policy.attributes.get(name)
    return asked is None or (asked.type is None and asked.order is None and asked.hierarchy is None)


def _check_event(policy: Policy, name: str) -> None:
    asked, where = policy.attributes[name], place_of(policy, name)
    if policy.unit in (None, ROW):
        raise ValueError(
            f"{where}: `level: event` needs `unit:`, the identifier column that tells "
            "patients apart"
        )
    if name == policy.unit:
        raise ValueError(f"{where}: the unit tells patients apart; leave `level:` out")
    if asked.take is not None:
        raise ValueError(
            f"{where}: `take:` chooses one value for a patient, and `level: event` keeps "
            "all; keep one of the two"
        )
    if asked.role == "target":
        raise ValueError(
            f"{where}: a target has one value for each patient; leave `level: event` out and say "
            "which to take, as in `take: last`, or keep it in the table of patients"
        )


def _check_take(policy: Policy, name: str) -> None:
    asked, where = policy.attributes[name], place_of(policy, name)
    if policy.unit in (None, ROW) or asked.role == "identifier":
        raise ValueError(
            f"{where}: `take:` chooses among the rows of one patient, so it needs "
            "`unit:`, and a column that is published"
        )
    if asked.take != "most-frequent" and policy.patients is not None:
        raise ValueError(
            f"{where}: nothing tells which row of a patient is the first in a table of patients; "
            "say `take: most-frequent`"
        )
    if asked.take != "most-frequent" and time_of(policy) is None:
        raise ValueError(
            f"{where}: `take: {asked.take}` needs one column with `level: event` and "
            "`type: date` that tells which row of a patient is the first; or say `take: "
            "most-frequent`"
        )


def _refusal(model: PrivacyModel, name: str) -> str:
    able = listed(
        [each.over_events for each in MODELS.values() if each.over_events],
        quoted=False,
        last=" or ",
    )
    return (
        f"privacy: {model.name} counts one value of '{name}' for each patient, and with `level: "
        "event` a patient has several: all patients of a group may hold the same two values, and "
        f"nothing is kept secret. Promise {able}; or leave "
        f"`level: event` out and let '{name}' have one value for each patient, as in `take: "
        "most-frequent`"
    )
