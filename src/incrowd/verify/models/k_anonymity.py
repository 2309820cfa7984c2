"""k-anonymity: every group holds at least k records."""

from __future__ import annotations

from incrowd.verify.counting.groups import PublishedGroups
from incrowd.verify.files.layout import Promise
from incrowd.verify.models._declaration import Judge, idle
from incrowd.verify.models.base import Judgement, judgement, whole
from incrowd.verify.verdict import counted


def judge(promise: Promise, groups: PublishedGroups) -> Judgement:
    """Judge k-anonymity: measures the size of the smallest group as `k`."""
    k = whole(promise.parameters, "k")
    (failing,) = groups.row("SELECT count(*) FROM groups WHERE n < $k", {"k": k})
    sentence = (
        f"the smallest group has {counted(groups.smallest, groups.one)}, promised at least {k:,}"
    )
    return judgement(failing, groups, sentence, {"k": groups.smallest})


JUDGE = Judge("k-anonymity", ("k",), judge, idle(most={"k": 1}))
