"""Whether a policy can be run among hospitals; what cannot is told with what to do about it."""

from __future__ import annotations

from incrowd._runtime.sentences import listed
from incrowd.counts import Counts
from incrowd.errors import PolicyError
from incrowd.hierarchies.domains import domain
from incrowd.methods.registry import METHOD_OPTIONS
from incrowd.policy import Policy
from incrowd.policy.known_events import refuse_known_events
from incrowd.policy.linked import refuse_linked
from incrowd.policy.times import OF_HOSPITALS, times_of
from incrowd.privacy import MODELS


def check_policy(policy: Policy) -> list[str]:
    """Refuse a policy that hospitals cannot run together.

    Returns
    -------
    list of str
        What a person should know of the run: columns that are not published, options without
        effect.

    Raises
    ------
    PolicyError
        With what to do about it.
    """
    refuse_linked(policy, "`incrowd federation`")
    refuse_known_events(policy, "`incrowd federation`")
    if times_of(policy):
        raise PolicyError(OF_HOSPITALS)
    _check_rows(policy)
    _check_method(policy)
    _check_models(policy)
    if policy.publish != "generalized":
        raise PolicyError(
            f"publish: {policy.publish} needs single records, which hospitals do not show one "
            "another. Say `publish: generalized`."
        )
    for name, asked in policy.attributes.items():
        if asked.role in ("quasi", "sensitive", "target"):
            domain(name, asked, policy.base)
    told = []
    kept = [name for name, asked in policy.attributes.items() if asked.role == "keep"]
    if kept:
        told.append(
            f"Not published among hospitals: {listed(kept)} (role keep). Columns that are "
            "protected by nothing would show whose records they are."
        )
    if policy.other == "keep":
        told.append("`other: keep` is taken for `other: drop` among hospitals.")
    where = {"engine": policy.engine != "auto", "memory": policy.memory, "spark": policy.spark}
    ignored = ", ".join(f"`{key}:`" for key, given in where.items() if given)
    if ignored:
        told.append(f"{ignored}: ignored among hospitals, each of which counts in memory.")
    return told + policy.method_remarks


def check_hospitals(policy: Policy, hospitals: int) -> None:
    """Refuse an m that so many hospitals cannot have.

    Raises
    ------
    PolicyError
        With the largest m there can be.
    """
    asked = policy.hospitals
    m, most = asked.without, hospitals - 1
    if asked.level != "own" and m > most:
        raise PolicyError(
            f"hospitals: m: {m} of {hospitals} hospitals would leave no records of others. m is at "
            f"most {most}."
        )
    if asked.level == "joint" and m > most // 2:
        raise PolicyError(
            f"hospitals: what is computed jointly holds while fewer than half of the hospitals "
            f"pool what they see; of {hospitals}, m is at most {most // 2}."
        )


def _check_rows(policy: Policy) -> None:
    """Refuse what is about several rows of a patient: hospitals gather none."""
    given = [
        f"attributes.{name}: `level: event`"
        for name, asked in policy.attributes.items()
        if asked.level == "event"
    ]
    given += [
        f"attributes.{name}: `take: {asked.take}`"
        for name, asked in policy.attributes.items()
        if asked.take is not None
    ]
    if policy.most_events is not None:
        given.append(f"`most-events: {policy.most_events}`")
    if given:
        raise PolicyError(
            f"{given[0]} is about patients with several rows, and among hospitals each patient has "
            "one row. Leave it out, and let each hospital bring a file with one row for each of "
            "its patients, with what is said of the patient."
        )


def _check_method(policy: Policy) -> None:
    method = policy.method
    if not method.hospitals:
        found = [each.hospitals for each in METHOD_OPTIONS.values() if each.hospitals]
        able = listed([f"`method: {each}`" for each in found], quoted=False, last=" or ")
        why = "hospitals search by steps that it does not have"
        if not method.runs_on(Counts):
            why = "it asks for more than sums may tell"
        raise PolicyError(
            f"method: {method.name} does not run among hospitals, since {why}. Say {able}."
        )
    if method.refused_by_hospitals:
        raise PolicyError(f"method: {method.refused_by_hospitals}")


def _check_models(policy: Policy) -> None:
    for model in policy.privacy:
        if model.bounds is None:
            able = ", ".join(name for name, each in MODELS.items() if each.bounds_crowds())
            raise PolicyError(
                f"privacy: {model.name} does not run among hospitals; these do: {able}."
            )
    asked = policy.hospitals
    if asked.level == "honest" and asked.without > 1:
        raise PolicyError(
            f"hospitals: m: {asked.m} asks what {asked.m} hospitals could find out together, which "
            "none of them can tell alone. Say `m: 1`, or leave `trust: honest` out and add "
            "`protect: joint`, or leave both out."
        )
