"""delta-disclosure: every sensitive value is about as frequent in each group as in all records."""

from __future__ import annotations

from incrowd.verify.counting.groups import PublishedGroups
from incrowd.verify.files.layout import Promise
from incrowd.verify.models._declaration import Judge, always
from incrowd.verify.models.base import SLACK, Judgement, column, judgement, number
from incrowd.verify.verdict import shown, significant


def judge(promise: Promise, groups: PublishedGroups) -> Judgement:
    """Judge delta-disclosure: measures the largest |ln(share in group / share in all)| as `delta`.

    It is None, and no delta is enough, where a group lacks a value that other groups have.

    Notes
    -----
    The definition is strict: a number that cannot be told from delta itself fails. Cost: one pass
    over the values that each group has. Those it lacks are known from their number alone.

    References
    ----------
    Brickell and Shmatikov (2008), The cost of privacy: destruction of data-mining utility in
    anonymized data publishing.
    """
    delta = number(promise.parameters, "delta", 0)
    sensitive = column(promise.parameters)
    made = groups.histogram(sensitive)
    # Both products are whole numbers, so that equal shares give exactly 0.
    farthest, lacking, failing = groups.row(
        "SELECT max(farthest), count_if(lacks), count_if(lacks OR farthest >= $limit) FROM ("
        "SELECT farthest, coalesce(has, 0) < greatest(values, 1) AS lacks FROM groups"
        f" CROSS JOIN (SELECT count_if(n > 0) AS values FROM {made.totals}) LEFT JOIN ("
        "SELECT g, count(*) AS has, max(abs(ln("
        "(h.n::HUGEINT * $total)::DOUBLE / (t.n::HUGEINT * size)::DOUBLE))) AS farthest"
        f" FROM {made.groups} AS h JOIN {made.totals} AS t USING (value)"
        " WHERE h.n > 0 AND t.n > 0 GROUP BY g) USING (g))",
        {"total": groups.total, "limit": delta * (1 - SLACK / 2)},
    )
    name = shown(sensitive)
    told = (
        f"a group lacks a value of {name} that another has, so no delta is enough, promised"
        f" {delta:g}"
        if lacking
        else f"the logarithm of a share of {name} in a group is {farthest:.4g} away from that in"
        f" all {groups.one}s, promised less than {delta:g}"
    )
    measured = {"delta": None if lacking else significant(farthest)}
    return judgement(failing, groups, told, measured)


JUDGE = Judge("delta-disclosure", ("delta", "sensitive"), judge, over_events=always)
