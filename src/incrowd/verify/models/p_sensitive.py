"""p-sensitive k-anonymity: k records and p different sensitive values in each group."""

from __future__ import annotations

from incrowd.verify.counting.groups import PublishedGroups
from incrowd.verify.files.layout import Promise
from incrowd.verify.models._declaration import Judge, idle
from incrowd.verify.models.base import Judgement, column, judgement, whole
from incrowd.verify.verdict import counted, shown


def judge(promise: Promise, groups: PublishedGroups) -> Judgement:
    """Judge p-sensitivity: measures the fewest values as `p` and the smallest size as `k`."""
    p = whole(promise.parameters, "p")
    k = whole(promise.parameters, "k")
    sensitive = column(promise.parameters)
    fewest, failing = groups.row(
        "SELECT min(different), count_if(different < $p OR size < $k) FROM ("
        f"SELECT size, count(*) AS different FROM {groups.histogram(sensitive).groups}"
        " GROUP BY g, size)",
        {"p": p, "k": k},
    )
    sentence = (
        f"the smallest group has {counted(groups.smallest, groups.one)}, promised at least {k:,},"
        f" and the least diverse one {counted(fewest, 'different value')} of {shown(sensitive)},"
        f" promised at least {p:,}"
    )
    return judgement(failing, groups, sentence, {"p": fewest, "k": groups.smallest})


JUDGE = Judge("p-sensitive", ("p", "k", "sensitive"), judge, idle(most={"k": 1, "p": 1}))
