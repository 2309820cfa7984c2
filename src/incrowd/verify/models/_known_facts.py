"""What judges of models share that are about a few facts of a patient, own ones and of events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from incrowd.verify.counting.facts import PatientFacts
from incrowd.verify.counting.groups import PublishedGroups, UnjudgeableError
from incrowd.verify.counting.histories import Attacker, ProtectedShare, WorstCrowds, judge_histories
from incrowd.verify.models._declaration import Parameters
from incrowd.verify.models.base import (
    SLACK,
    Judgement,
    listed_columns,
    listed_values,
    number,
    whole,
)
from incrowd.verify.verdict import counted, shown, significant


@dataclass(frozen=True)
class PromisedNames:
    """What a model calls the size of a crowd, and the share of a protected value."""

    size: str
    share: str = ""


def judge_facts(
    parameters: Parameters, groups: PublishedGroups, power: Attacker, named: PromisedNames
) -> Judgement:
    """Judge what an attacker of some power can learn: measures size and share by their names."""
    facts = groups.facts
    if facts is None:
        raise UnjudgeableError("it is about patients and their events, and records are counted")
    _refuse_nothing_known(facts, power)
    k = whole(parameters, named.size)
    bound, protected = (
        read_protected(parameters, named.share, facts) if named.share else (1.0, None)
    )
    found = judge_histories(facts, power, k, protected)
    sentence = (
        f"the smallest crowd an attacker who knows {_told(power)} can narrow a patient down to is"
        f" {counted(found.smallest, 'patient')}{_by(found.smallest_by)}, promised at least {k:,}"
    )
    measured: dict[str, int | float | None] = {named.size: found.smallest}
    if protected is not None and found.largest is not None:
        sentence += (
            f", and a protected value of {_and(protected.attributes)} can be told with confidence"
            f" {found.largest:.4g}{_by(found.largest_by)}, promised at most {bound:g}"
        )
        measured[named.share] = significant(found.largest)
    sentence += _apart(facts) + _failing(found)
    measured["groups_failing"] = found.failing
    return Judgement(found.failing, sentence, measured)


def read_limit(parameters: Parameters, name: str, most: int) -> int:
    """Return how many facts of a kind are known at most; `most` where nothing says so."""
    return most if parameters.get(name) is None else min(whole(parameters, name, 0), most)


def read_protected(
    parameters: Parameters, share: str, facts: PatientFacts
) -> tuple[float, ProtectedShare | None]:
    """Return the promised share, and which values are protected; None where none are."""
    bound = number(parameters, share, 0, 1)
    if bound == 0:
        raise UnjudgeableError(f"the parameter '{share}' must be above 0")
    named, values = parameters.get("sensitive"), listed_values(parameters)
    if named is None:
        if bound < 1 or values is not None:
            raise UnjudgeableError(
                f"a '{share}' below 1 and 'values' need the column that they protect as 'sensitive'"
            )
        return bound, None
    columns = [named] if isinstance(named, str) else listed_columns(parameters)
    for name in columns:
        table = facts.table_of(name)
        if not facts.is_shown(name):
            raise UnjudgeableError(f"no column {shown(name)} is published")
        if table is None and name in facts.quasi:
            raise UnjudgeableError(f"{shown(name)} tells patients apart, and cannot be protected")
        if table is not None and name in table.quasi and values is None:
            raise UnjudgeableError(f"which values of {shown(name)} are protected must be listed")
    listed = None if values is None else tuple(values)
    return bound, ProtectedShare(tuple(columns), listed, bound + SLACK)


def _refuse_nothing_known(facts: PatientFacts, power: Attacker) -> None:
    """A promise about attackers who can know nothing at all says nothing."""
    own, events = power.attributes and facts.quasi, power.events and facts.known
    if not own and not events:
        raise UnjudgeableError("none of what its attacker may know is published")


def _told(power: Attacker) -> str:
    """Return in words what an attacker knows."""
    events = counted(min(power.events, power.known), "event")
    if power.joint:
        return f"all own attributes and {events}"
    if not power.attributes:
        return events
    limits = []
    if power.attributes < power.known:
        limits.append(f"{counted(power.attributes, 'attribute')} at most")
    if power.events < power.known:
        limits.append(f"{counted(power.events, 'event')} at most")
    suffix = f", {' and '.join(limits)}," if limits else ""
    return f"{counted(power.known, 'fact')}{suffix}"


def _apart(facts: PatientFacts) -> str:
    """Return how many values are in no combination, since they are what is protected."""
    many = sum(len(values) for values in facts.protected.values())
    return f"; {counted(many, 'value')} of events, as protected, in no combination" if many else ""


def _failing(found: WorstCrowds) -> str:
    if not found.failing:
        return ""
    fails = "fails" if found.failing == 1 else "fail"
    return f" ({found.failing:,} of {counted(found.count, 'combination')} {fails})"


def _and(names: tuple[str, ...]) -> str:
    return " or ".join(map(shown, names))


def _by(columns: tuple[str, ...]) -> str:
    """Return the columns that a combination is made of, or nothing for none."""
    return f" (by {', '.join(shown(name) for name in columns)})" if columns else ""


def counts_events(parameters: Mapping[str, object], groups: PublishedGroups) -> bool:
    """Whether a promise on facts needs the events of patients: known ones, or protected ones."""
    facts, named = groups.facts, parameters.get("sensitive")
    if facts is None:
        return False
    columns = named if isinstance(named, list) else [named]
    return bool(
        facts.known
        or isinstance(named, list)
        or any(parameters.get(name) is not None for name in ("attributes", "events"))
        or any(isinstance(name, str) and facts.table_of(name) for name in columns)
    )
