"""(k,k^m)-anonymity: whoever knows all of a patient's own attributes and m events faces k."""

from __future__ import annotations

from incrowd.verify.counting.groups import PublishedGroups
from incrowd.verify.counting.histories import Attacker
from incrowd.verify.files.layout import Promise
from incrowd.verify.models._declaration import Judge, idle, own_and_events
from incrowd.verify.models._known_facts import PromisedNames, judge_facts
from incrowd.verify.models.base import Judgement, whole


def judge(promise: Promise, groups: PublishedGroups) -> Judgement:
    """Judge (k,k^m)-anonymity: measures the least number of patients who share these as `k`.

    The labels of a patient's own quasi-identifiers are one fact together, whatever they are.

    References
    ----------
    Poulis, Loukides, Gkoulalas-Divanis, Skiadopoulos (2013), definition 2.
    """
    known = whole(promise.parameters, "m")
    power = Attacker(known + 1, 1, known, joint=True)
    return judge_facts(promise.parameters, groups, power, PromisedNames("k"))


JUDGE = Judge("k-km", ("k", "m"), judge, idle(most={"k": 1}), known=own_and_events)
