"""LKC-privacy: whoever knows L values of a patient faces a crowd of K, and confidence of C at most.

Every combination of at most L quasi-identifier values that occurs is shared by at least K records,
and none of the listed sensitive values has more than a share C of them. Where events of
patients may be known, or values of events are protected, combinations are of labels and events.
"""

from __future__ import annotations

from incrowd.verify.counting.combinations import judge_combinations
from incrowd.verify.counting.groups import PublishedGroups, UnjudgeableError
from incrowd.verify.counting.histories import Attacker
from incrowd.verify.files.layout import Promise
from incrowd.verify.models._declaration import Judge, Parameters, always, idle, own_and_events
from incrowd.verify.models._known_facts import PromisedNames, counts_events, judge_facts, read_limit
from incrowd.verify.models.base import SLACK, Judgement, column, listed_values, number, whole
from incrowd.verify.verdict import counted, shown, significant


def judge(promise: Promise, groups: PublishedGroups) -> Judgement:
    """Judge LKC-privacy: measures the least size as `K`, the largest share of a value as `C`.

    `C` is measured only where a sensitive attribute is promised. Combinations of exactly L values
    are judged, or of all attributes that vary where these are fewer.

    References
    ----------
    Mohammed, Fung, Hung, Lee (2010), definition 3.1 and section 4.3.2.
    """
    known = whole(promise.parameters, "L")
    own, events = (read_limit(promise.parameters, each, known) for each in ("attributes", "events"))
    if counts_events(promise.parameters, groups):
        power = Attacker(known, own, events)
        return judge_facts(promise.parameters, groups, power, PromisedNames("K", "C"))
    if not own:
        raise UnjudgeableError("none of what its attacker may know is published")
    k = whole(promise.parameters, "K")
    bound, sensitive, values = _read_bound(promise.parameters)
    if not groups.quasi:
        raise UnjudgeableError("it is about generalized quasi-identifiers, and these are exact")
    found = judge_combinations(
        groups, own, k=k, limit=bound + SLACK, sensitive=sensitive, values=values
    )
    sentence = (
        f"the smallest crowd an attacker who knows {counted(own, 'value')} can narrow a patient"
        f" down to is {counted(found.smallest, groups.one)}{_by(found.smallest_by)}, promised at"
        f" least {k:,}"
    )
    measured: dict[str, int | float | None] = {"K": found.smallest}
    if sensitive is not None:
        sentence += (
            f", and a protected value of {shown(sensitive)} can be told with confidence"
            f" {found.largest:.4g}{_by(found.largest_by)}, promised at most {bound:g}"
        )
        measured["C"] = significant(found.largest)
    if found.failing:
        fails = "fails" if found.failing == 1 else "fail"
        sentence += f" ({found.failing:,} of {counted(found.count, 'combination')} {fails})"
    return Judgement(found.failing, sentence, {**measured, "groups_failing": found.failing})


def _read_bound(parameters: Parameters) -> tuple[float, str | None, list[str] | None]:
    """Return the promised confidence, the sensitive attribute it is on, and its listed values."""
    bound = number(parameters, "C", 0, 1)
    if bound == 0:
        raise UnjudgeableError("the parameter 'C' must be above 0")
    values = listed_values(parameters)
    if parameters.get("sensitive") is not None:
        return bound, column(parameters), values
    if bound < 1:
        raise UnjudgeableError("a 'C' below 1 needs the column that it protects as 'sensitive'")
    if values is not None:
        raise UnjudgeableError("the parameter 'values' needs their column as 'sensitive'")
    return bound, None, None


def _by(attributes: tuple[str, ...]) -> str:
    """Return the attributes that a combination is made of, or nothing for none."""
    return f" (by {', '.join(shown(name) for name in attributes)})" if attributes else ""


JUDGE = Judge(
    "lkc",
    ("L", "K", "C", "attributes", "events", "sensitive", "values"),
    judge,
    idle(most={"K": 1}, least={"C": 1}),
    values=("values",),
    over_events=always,
    known=own_and_events,
)
