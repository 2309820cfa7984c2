"""(alpha, k)-anonymity: k records in each group, no value with more than a share alpha of it."""

from __future__ import annotations

from incrowd.verify.counting.groups import PublishedGroups
from incrowd.verify.files.layout import Promise
from incrowd.verify.models._declaration import Judge, always, idle
from incrowd.verify.models._shares import judge_shares
from incrowd.verify.models.base import Judgement, column, judgement, listed_values, number, whole
from incrowd.verify.verdict import counted, shown, significant


def judge(promise: Promise, groups: PublishedGroups) -> Judgement:
    """Judge (alpha, k)-anonymity: measures the largest share as `alpha`, the least size as `k`."""
    alpha = number(promise.parameters, "alpha", 0, 1)
    k = whole(promise.parameters, "k")
    sensitive = column(promise.parameters)
    values = listed_values(promise.parameters)
    largest, failing = judge_shares(groups, sensitive, values, alpha, k)
    sentence = (
        f"the smallest group has {counted(groups.smallest, groups.one)}, promised at least {k:,},"
        f" and the largest share of a value of {shown(sensitive)} in a group is {largest:.4g},"
        f" promised at most {alpha:g}"
    )
    measured = {"alpha": significant(largest), "k": groups.smallest}
    return judgement(failing, groups, sentence, measured)


JUDGE = Judge(
    "alpha-k",
    ("alpha", "k", "sensitive", "values"),
    judge,
    idle(most={"k": 1}, least={"alpha": 1}),
    values=("values",),
    over_events=always,
)
