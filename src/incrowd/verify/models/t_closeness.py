"""t-closeness: in each group the sensitive values are spread nearly as in the whole release.

All three distances are sums of whole numbers, divided once at the end, so they are exact up to
that division and the same on every run. Sums run over the values that a group has; what the
values it lacks would add is known from the totals alone.
"""

from __future__ import annotations

from collections.abc import Callable

from incrowd.verify.counting.groups import HistogramTables, PublishedGroups, UnjudgeableError
from incrowd.verify.files.layout import Promise
from incrowd.verify.models._declaration import Judge, idle
from incrowd.verify.models._trees import tree_steps
from incrowd.verify.models.base import SLACK, Judgement, column, judgement, number
from incrowd.verify.verdict import counted, shown, significant


def judge(promise: Promise, groups: PublishedGroups) -> Judgement:
    """Judge t-closeness: measures the distance of the farthest group as `t`."""
    most = number(promise.parameters, "t", 0, 1)
    sensitive = column(promise.parameters)
    distance = promise.parameters.get("distance")
    if not isinstance(distance, str) or distance not in _DISTANCES:
        raise UnjudgeableError(f"the parameter 'distance' must be one of {', '.join(_DISTANCES)}")
    made = groups.histogram(sensitive)
    measured = _by_value if sensitive in groups.events else _DISTANCES[distance]
    query, parameters = measured(promise, groups, made)
    farthest, failing = groups.row(
        f"SELECT max(distance), count_if(distance > $t) FROM ({query})",
        {**parameters, "t": most + SLACK},
    )
    sentence = (
        f"the farthest group is {farthest:.4g} away from all {groups.one}s in {shown(sensitive)},"
        f" promised at most {most:g}"
    )
    return judgement(failing, groups, sentence, {"t": significant(farthest)})


def _equal(
    _promise: Promise, groups: PublishedGroups, made: HistogramTables
) -> tuple[str, dict[str, object]]:
    """Half the sum of all differences, which is the sum of the positive ones alone."""
    query = (
        "SELECT sum(greatest(h.n::HUGEINT * $total - t.n::HUGEINT * size, 0))"
        " / (size::DOUBLE * $total) AS distance"
        f" FROM {made.groups} AS h JOIN {made.totals} AS t USING (value) GROUP BY g, size"
    )
    return query, {"total": groups.total}


def _by_value(
    _promise: Promise, groups: PublishedGroups, made: HistogramTables
) -> tuple[str, dict[str, object]]:
    """The largest difference of a value, where patients hold several: each is judged by itself."""
    query = (
        "SELECT max(abs(coalesce(h.n, 0)::HUGEINT * $total - t.n::HUGEINT * groups.n))"
        " / (groups.n::DOUBLE * $total) AS distance FROM groups CROSS JOIN"
        f" {made.totals} AS t LEFT JOIN {made.groups} AS h USING (g, value) GROUP BY g, groups.n"
    )
    return query, {"total": groups.total}


def _ordered(
    promise: Promise, groups: PublishedGroups, made: HistogramTables
) -> tuple[str, dict[str, object]]:
    """The sum over all ranks of the differences between cumulative shares, over m - 1.

    Between two values that a group has, next to each other in the order, its cumulative count is
    constant while that of all records grows. So the rank where the second overtakes the first
    (found in `steps`) parts the stretch in two, and prefix sums of the cumulative counts give
    both parts without visiting the ranks between.
    """
    order = _listed_order(promise, groups, made)
    groups.connection.execute(
        "CREATE OR REPLACE TEMP TABLE scale AS"
        " SELECT rank, value, cumulated, coalesce(sum(cumulated) OVER"
        " (ORDER BY rank ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)::HUGEINT AS prefix"
        " FROM (SELECT rank, value, sum(coalesce(n, 0)) OVER (ORDER BY rank)::HUGEINT AS cumulated"
        " FROM (SELECT unnest($order) AS text, generate_subscripts($order, 1) - 1 AS rank)"
        f" LEFT JOIN {made.totals} USING (text))",
        {"order": order},
    )
    groups.connection.execute(
        "CREATE OR REPLACE TEMP TABLE steps AS SELECT cumulated AS reached,"
        " max(rank) + 1 AS split, max(prefix) + cumulated AS split_prefix FROM scale"
        " GROUP BY cumulated UNION ALL SELECT -1, 0, 0"
    )
    (end,) = groups.row("SELECT max(prefix + cumulated) FROM scale")
    parameters = {"total": groups.total, "m": len(order), "end": end}
    return _ORDERED_DISTANCES.format(histogram=made.groups), parameters


_ORDERED_DISTANCES = """
SELECT (size * min(prefix) + sum(
      CASE
        WHEN split <= rank THEN size * (next_prefix - prefix) - (next_rank - rank) * level
        WHEN split >= next_rank THEN (next_rank - rank) * level - size * (next_prefix - prefix)
        ELSE (split - rank) * level - size * (split_prefix - prefix)
           + size * (next_prefix - split_prefix) - (next_rank - split) * level
      END
    )) / (greatest($m - 1, 1) * size::DOUBLE * $total) AS distance
FROM (
    SELECT *, level // size AS whole_level
    FROM (
        SELECT g, size::HUGEINT AS size, rank, prefix,
               sum(n) OVER ranks::HUGEINT * $total AS level,
               lead(rank, 1, $m) OVER ranks AS next_rank,
               lead(prefix, 1, $end::HUGEINT) OVER ranks AS next_prefix
        FROM {histogram} JOIN scale USING (value)
        WINDOW ranks AS (PARTITION BY g ORDER BY rank)
    )
)
ASOF JOIN steps ON whole_level >= reached
GROUP BY g, size
"""


def _listed_order(promise: Promise, groups: PublishedGroups, made: HistogramTables) -> list[str]:
    order = promise.extra.get("order")
    if not isinstance(order, list) or not all(isinstance(each, str) for each in order):
        raise UnjudgeableError("the ordered distance needs the 'order' of the values as a list")
    if len(set(order)) != len(order):
        raise UnjudgeableError("the 'order' lists one value twice")
    _demand_exactly(groups, made, order, "order")
    return order


def _hierarchical(
    promise: Promise, groups: PublishedGroups, made: HistogramTables
) -> tuple[str, dict[str, object]]:
    """The earth mover's distance over the tree of the values.

    The ground distance is the height of the lowest common ancestor over the tree's height. That is
    the length of the way from leaf to leaf when each edge is half as long as the heights at its
    ends differ. On a tree the least work is the sum over edges of length times what must cross,
    and what must cross is the difference between the shares below the edge. A group that has
    nothing below an edge adds a term known from the totals, summed up front as `all_absent`.
    """
    steps = tree_steps(promise.extra.get("ancestors"))
    _demand_exactly(groups, made, list(set(steps.leaves)), "ancestors")
    groups.connection.execute(
        "CREATE OR REPLACE TEMP TABLE edges AS"
        " SELECT value, edge, rise::HUGEINT AS rise,"
        " sum(n) OVER (PARTITION BY edge)::HUGEINT AS below"
        " FROM (SELECT unnest($leaves) AS text, unnest($edges) AS edge, unnest($rises) AS rise)"
        f" JOIN {made.totals} USING (text)",
        {"leaves": steps.leaves, "edges": steps.edges, "rises": steps.rises},
    )
    (all_absent,) = groups.row(
        "SELECT coalesce(sum(rise * below), 0) FROM (SELECT DISTINCT edge, rise, below FROM edges)"
    )
    query = _HIERARCHICAL_DISTANCES.format(histogram=made.groups)
    return query, {"total": groups.total, "all_absent": all_absent, "height": steps.height}


_HIERARCHICAL_DISTANCES = """
SELECT (
      sum(rise * (abs(here::HUGEINT * $total - below * size) - below * size))
      + size::HUGEINT * $all_absent
    ) / (2::DOUBLE * $height * size * $total) AS distance
FROM (
    SELECT g, size, edge, sum(n) AS here
    FROM {histogram} JOIN edges USING (value)
    GROUP BY g, size, edge
)
JOIN (SELECT DISTINCT edge, rise, below FROM edges) USING (edge)
GROUP BY g, size
"""


def _demand_exactly(
    groups: PublishedGroups, made: HistogramTables, known: list[str], key: str
) -> None:
    """Demand that a promise lists the published values and no other.

    One that it lacks has no distance; one too many would make known what no record shows, and
    could stretch the scale until every group seems near.
    """
    unlisted, unpublished = groups.row(
        f"SELECT count_if(known.text IS NULL), count_if({made.totals}.text IS NULL)"
        f" FROM {made.totals} FULL JOIN (SELECT unnest($known::VARCHAR[]) AS text) AS known"
        " USING (text)",
        {"known": known},
    )
    if unlisted:
        raise UnjudgeableError(f"its '{key}' lacks {counted(unlisted, 'published value')}")
    if unpublished:
        listed = counted(unpublished, "value")
        raise UnjudgeableError(f"its '{key}' lists {listed} that no published record has")


_DISTANCES: dict[
    str, Callable[[Promise, PublishedGroups, HistogramTables], tuple[str, dict[str, object]]]
] = {
    "equal": _equal,
    "ordered": _ordered,
    "hierarchical": _hierarchical,
}


JUDGE = Judge(
    "t-closeness",
    ("t", "distance", "sensitive"),
    judge,
    idle(least={"t": 1}),
    beside={("distance", "ordered"): "order", ("distance", "hierarchical"): "ancestors"},
    over_events=lambda parameters: parameters.get("distance") == "equal",
)
