"""k^m-anonymity: whoever knows m events of a patient faces a crowd of k."""

from __future__ import annotations

from incrowd.verify.counting.groups import PublishedGroups
from incrowd.verify.counting.histories import Attacker
from incrowd.verify.files.layout import Promise
from incrowd.verify.models._declaration import Judge, events_alone, idle
from incrowd.verify.models._known_facts import PromisedNames, judge_facts
from incrowd.verify.models.base import Judgement, whole


def judge(promise: Promise, groups: PublishedGroups) -> Judgement:
    """Judge k^m-anonymity: measures the least number of patients who share m events as `k`.

    References
    ----------
    Terrovitis, Mamoulis, Kalnis (2008), definition 1.
    """
    known = whole(promise.parameters, "m")
    return judge_facts(promise.parameters, groups, Attacker(known, 0, known), PromisedNames("k"))


JUDGE = Judge("km-anonymity", ("k", "m"), judge, idle(most={"k": 1}), known=events_alone)
