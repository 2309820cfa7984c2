"""Whether what a policy says of attackers who know events of patients fits together.

A column of events may be a quasi-identifier where a promise is about who knows events. Such
promises count the patients whom any few facts fit, not groups of those who look alike in all, so
they need a method of their own, and stand beside no other kind of promise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from incrowd._runtime.sentences import listed
from incrowd.errors import PolicyError
from incrowd.methods.registry import METHOD_OPTIONS
from incrowd.policy.linked import place_of
from incrowd.privacy import MODELS, PrivacyModel

if TYPE_CHECKING:
    from incrowd.policy._schema import Policy


def known_events(policy: Policy) -> list[str]:
    """The attributes of events that attackers may know."""
    return [
        name
        for name, asked in policy.attributes.items()
        if asked.role == "quasi" and asked.level == "event"
    ]


def check_known_events(policy: Policy) -> None:
    """Raise a ValueError where columns of events, promises about them and the method misfit."""
    columns = known_events(policy)
    knowing = [model for model in policy.privacy if model.attacker is not None]
    if not columns and not knowing:
        if policy.method.knows_events:
            raise ValueError(
                f"method: {policy.method.name} is for promises about attackers who know events: "
                f"{_able()}. Take `method: auto`, or give a column of events the role quasi and "
                "promise one of these"
            )
        return
    if not knowing:
        raise ValueError(
            f"{place_of(policy, columns[0])}: a column of events with the role quasi needs a "
            f"promise about attackers who know events: {_able()}. Or give it the role sensitive, "
            "identifier (not published) or keep (published, protected by nothing)"
        )
    if not columns:
        raise ValueError(
            f"privacy: {knowing[0].name} is about attackers who know events, and no column of "
            "events has the role quasi. Give those that may be known this role, with `level: "
            "event` in one file, or in one of the `tables:`"
        )
    _check_promises(policy, knowing)
    _check_method(policy, knowing[0])
    _check_columns(policy, knowing)


def refuse_known_events(policy: Policy, what: str) -> None:
    """Refuse a policy about attackers who know events, where groups of records are worked on.

    Parameters
    ----------
    policy
        The policy.
    what
        What works on them, as the beginning of a sentence.

    Raises
    ------
    PolicyError
        With the way out.
    """
    columns = known_events(policy)
    if columns:
        raise PolicyError(
            f"{what} works on groups of records or patients, and here attackers may know events: "
            f"{place_of(policy, columns[0])} has the role quasi. Give columns of events another "
            "role, or make the release with `incrowd anonymize`."
        )


def _able() -> str:
    """How a policy promises something about attackers who know events."""
    asked = [each.against_events for each in MODELS.values() if each.against_events]
    return listed(asked, quoted=False, last=" or ")


def _check_promises(policy: Policy, knowing: list[PrivacyModel]) -> None:
    """Refuse promises of another kind, and such as see a patient's attributes in two ways."""
    first = knowing[0]
    for model in policy.privacy:
        if model.attacker is None:
            raise ValueError(
                f"privacy: {model.name} judges groups of patients who look alike in all "
                f"quasi-identifiers, and {first.name} the patients whom a few facts fit; no method "
                f"keeps both. Leave one out, or promise {_able()} as often as you need"
            )
    jointly = [model for model in knowing if model.attacker and model.attacker.jointly]
    apart = [
        model
        for model in knowing
        if model.attacker and not model.attacker.jointly and model.attacker.of_patients
    ]
    if jointly and apart:
        raise ValueError(
            f"privacy: {jointly[0].name} takes all quasi-identifiers of a patient for one fact, "
            f"and {apart[0].name} each for one; no method counts both. Leave one out"
        )


def _check_method(policy: Policy, model: PrivacyModel) -> None:
    """Refuse methods, engines and ways to publish that do not go with known events."""
    if not policy.method.knows_events:
        able = [name for name, each in METHOD_OPTIONS.items() if each.knows_events]
        raise ValueError(
            f"method: {policy.method.name} makes groups of patients, and {model.name} is about who "
            f"knows some of their events. Say `method: {' or '.join(able)}`, or `method: auto`"
        )
    if policy.engine in ("duckdb", "spark"):
        raise ValueError(
            f"engine: {policy.engine} does not count what may be known of events yet, as "
            f"{model.name} asks. Say `engine: memory`"
        )
    if policy.publish != "generalized":
        raise ValueError(
            f"publish: {policy.publish} is for one record a patient, and {model.name} is about "
            "their events. Say `publish: generalized`"
        )


def _check_columns(policy: Policy, knowing: list[PrivacyModel]) -> None:
    """Refuse quasi-identifiers that no promise is about, or that would tell what is hidden."""
    own = [
        name
        for name, asked in policy.attributes.items()
        if asked.role == "quasi" and asked.level == "patient"
    ]
    if own and not any(model.attacker and model.attacker.of_patients for model in knowing):
        able = [each.against_events for each in MODELS.values() if each.knows_patients]
        raise ValueError(
            f"{place_of(policy, own[0])}: {knowing[0].name} is about events alone, so nothing "
            "would protect the quasi-identifiers of patients. Promise "
            f"{listed(able, quoted=False, last=' or ')} as well, or give them another role"
        )
    for name, asked in policy.attributes.items():
        if asked.role == "quasi" and asked.hierarchy is not None and asked.hierarchy.auto:
            raise ValueError(
                f"{place_of(policy, name)}: `hierarchy: auto` is made from all values, also those "
                "that are hidden, and would tell of them. Give it a tree, a file, intervals, a "
                "mask or dates"
            )
    for model in knowing:
        for name in model.sensitive_attributes:
            if name in known_events(policy) and not model.listed_values:
                raise ValueError(
                    f"privacy: {model.name} protects '{name}', which attackers may know as well "
                    "(quasi). List the `values:` that are protected, or labels of its hierarchy"
                )
