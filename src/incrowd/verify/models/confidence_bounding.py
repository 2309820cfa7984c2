"""Confidence bounding: no group gives a listed sensitive value away with more confidence than C."""

from __future__ import annotations

from incrowd.verify.counting.groups import PublishedGroups
from incrowd.verify.files.layout import Promise
from incrowd.verify.models._declaration import Judge, always, idle
from incrowd.verify.models._shares import judge_shares
from incrowd.verify.models.base import Judgement, column, judgement, listed_values, number
from incrowd.verify.verdict import shown, significant


def judge(promise: Promise, groups: PublishedGroups) -> Judgement:
    """Judge confidence bounding: measures the largest share of a listed value as `C`."""
    bound = number(promise.parameters, "C", 0, 1)
    sensitive = column(promise.parameters)
    values = listed_values(promise.parameters)
    largest, failing = judge_shares(groups, sensitive, values, bound)
    sentence = (
        f"a protected value of {shown(sensitive)} can be told with confidence {largest:.4g},"
        f" promised at most {bound:g}"
    )
    return judgement(failing, groups, sentence, {"C": significant(largest)})


JUDGE = Judge(
    "confidence-bounding",
    ("C", "sensitive", "values"),
    judge,
    idle(least={"C": 1}),
    values=("values",),
    over_events=always,
)
