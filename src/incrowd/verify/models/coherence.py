"""(h,k,p)-coherence: p known events leave a crowd of k, and tell a protected value to h at most."""

from __future__ import annotations

from incrowd.verify.counting.groups import PublishedGroups
from incrowd.verify.counting.histories import Attacker
from incrowd.verify.files.layout import Promise
from incrowd.verify.models._declaration import Judge, always, events_alone, idle
from incrowd.verify.models._known_facts import PromisedNames, judge_facts
from incrowd.verify.models.base import Judgement, whole


def judge(promise: Promise, groups: PublishedGroups) -> Judgement:
    """Judge coherence: measures the least size as `k`, the largest share of a value as `h`.

    References
    ----------
    Xu, Wang, Fu, Yu (2008), Anonymizing transaction databases for publication, definition 1.
    """
    known = whole(promise.parameters, "p")
    return judge_facts(
        promise.parameters, groups, Attacker(known, 0, known), PromisedNames("k", "h")
    )


JUDGE = Judge(
    "coherence",
    ("h", "k", "p", "sensitive", "values"),
    judge,
    idle(most={"k": 1}, least={"h": 1}),
    values=("values",),
    over_events=always,
    known=events_alone,
)
