"""Whether the parts of a policy fit together; what does not is told with what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incrowd._runtime.sentences import listed
from incrowd.errors import nearest
from incrowd.policy.events import check_events
from incrowd.policy.linked import like_it, place_of
from incrowd.policy.times import check_times
from incrowd.policy.units import ROW
from incrowd.privacy import MODELS, PrivacyModel

if TYPE_CHECKING:
    from incrowd.policy._schema import Policy


def check_fit(policy: Policy) -> None:
    """Raise a ValueError where an attribute, a model, the goal or the way to publish misfit."""
    if not policy.quasi:
        raise ValueError(
            "no attribute has the role quasi. Name the columns an attacker may know of a "
            "person, such as age, sex and zip, with the role quasi"
        )
    if policy.spreadsheet is not None and (policy.format != "csv" or policy.engine == "spark"):
        raise ValueError(
            "spreadsheet: escape is for CSV files that are written on this machine; say "
            "`format: csv` and another engine than spark, or leave it out"
        )
    _check_interests(policy)
    _check_unit(policy)
    check_events(policy)
    check_times(policy)
    for model in policy.privacy:
        if model.vacuous:
            raise ValueError(
                f"privacy: {model.name} with these parameters promises nothing, for every table "
                "keeps it; ask for more, or leave it out"
            )
        _check_protected(policy, model)
        if policy.publish != "generalized":
            _check_for_tables(policy, model)
    if policy.publish != "generalized" and not policy.sensitive:
        raise ValueError(
            f"publish: {policy.publish} needs an attribute with the role sensitive, to be shown "
            "apart from the quasi-identifiers"
        )
    if not policy.method.generalizes and policy.publish == "generalized":
        raise ValueError(
            f"method: {policy.method.name} does not look at quasi-identifiers, so its groups "
            "cannot be generalized; say `publish: anatomy`"
        )
    if policy.goal == "classification" and policy.method.predicts and policy.target is None:
        raise ValueError(
            "goal: classification needs exactly one attribute with the role target, the class "
            "that analysts will predict"
        )


def _check_interests(policy: Policy) -> None:
    """Refuse weights and rules of attributes that no method may change, and weights given twice."""
    for name, asked in policy.attributes.items():
        key = "weight" if asked.weight is not None else "rules" if asked.rules else None
        if key is not None and asked.role != "quasi":
            raise ValueError(
                f"{place_of(policy, name)}: `{key}:` is for quasi-identifiers, whose labels may "
                f"lose what a researcher wants; the role of '{name}' is {asked.role}"
            )
        if asked.weight is not None and policy.weights is not None:
            raise ValueError(
                f"weights: {policy.weights} computes all weights, but '{name}' has a `weight:` of "
                "its own; keep one of the two"
            )


def _check_unit(policy: Policy) -> None:
    """Refuse a unit that is neither the row nor an identifier."""
    unit = policy.unit
    if unit is None or unit == ROW:
        return
    if unit not in policy.attributes:
        raise ValueError(
            f"unit: '{unit}' is not among the attributes."
            f"{nearest(unit, [ROW, *policy.attributes])} Name the identifier column that tells "
            "patients apart, or say `unit: row` if each row is another patient"
        )
    role = policy.attributes[unit].role
    if role != "identifier":
        raise ValueError(
            f"unit: the role of '{unit}' is {role}; the unit is a column with the role identifier, "
            "which is never published. Give it that role, or say `unit: row` if each row is "
            "another patient"
        )


def _check_protected(policy: Policy, model: PrivacyModel) -> None:
    for name in model.sensitive_attributes:
        if name not in policy.attributes:
            raise ValueError(
                f"privacy: {model.name} names '{name}', which is not among the "
                f"attributes.{like_it(policy, name)}"
            )
        role = policy.attributes[name].role
        known = policy.attributes[name].level == "event" and model.attacker is not None
        if role not in ("sensitive", "target") and not (role == "quasi" and known):
            raise ValueError(
                f"privacy: {model.name} protects '{name}', whose role is {role}; give it the role "
                "sensitive"
            )


def _check_for_tables(policy: Policy, model: PrivacyModel) -> None:
    """Refuse models that tables tied by groups only cannot keep, or cannot show to be kept."""
    if model.partial:
        able = (  # whole crowds, and shares in them
            name
            for name, each in MODELS.items()
            if each.bounds_crowds()
            and each.size
            and not each.partial
            and each.means().get("sensitive")
        )
        raise ValueError(
            f"publish: {policy.publish} shows exact quasi-identifiers, so {model.name} cannot "
            f"hold; publish generalized, or promise {listed(able, quoted=False, last=' or ')}"
        )
    for name in model.sensitive_attributes:
        if policy.attributes[name].role != "sensitive":
            raise ValueError(
                f"publish: {policy.publish} shows '{name}' beside the quasi-identifiers, so "
                f"{model.name} cannot protect it; give it the role sensitive"
            )
