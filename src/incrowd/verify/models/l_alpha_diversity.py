"""(l, alpha)-diversity in three kinds: diverse groups that are not all of the sensitive categories.

The values of the sensitive attribute are parted into categories, most sensitive first. A category
weighs the more the less sensitive it is, from 0 to 1, and a group weighs what its records do.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

from incrowd.verify.counting.groups import PublishedGroups, UnjudgeableError
from incrowd.verify.files.layout import Promise
from incrowd.verify.models._declaration import Judge, Parameters, any_value, idle
from incrowd.verify.models.base import SLACK, Judgement, column, judgement, kind_of, number, whole
from incrowd.verify.verdict import counted, shown, significant


def judge(promise: Promise, groups: PublishedGroups) -> Judgement:
    """Judge (l, alpha)-diversity: measures the total weight of the lightest group as `alpha`.

    Measures also the l of the least diverse group as `l`, for the entropy kind in categories;
    for the recursive kind `c` instead, above which the promised l holds, or None where no c is
    enough, since a group has fewer than l categories.

    Notes
    -----
    All kinds demand l different values in each group. The entropy and the recursive kind need not
    count them: both hold only in groups of at least l categories, and each category that a group
    has brings a value of its own. Cost: one pass over the histogram of the groups, which is then
    as small as the categories are few.

    References
    ----------
    Sun, Li, Wang (2010), definitions 3 to 6. Differs from the paper: its example of sensitivity
    weights does not follow from definition 3; the definition is followed here. A single category
    is both the first, of weight 0, and the last, of weight 1; here it weighs 0.
    """
    kind = kind_of(promise.parameters, _KINDS)
    sensitive = column(promise.parameters)
    alpha = number(promise.parameters, "alpha", 0)
    _count_categories(groups, sensitive, promise.parameters)
    # A group without values, which only tables that do not fit together have, weighs nothing.
    (lightest,) = groups.row(
        "SELECT min(coalesce(weight, 0)) FROM groups LEFT JOIN category_weights USING (g)"
    )
    failing, sentence, measured = _KINDS[kind](promise.parameters, groups, sensitive, alpha)
    sentence += (
        f"; the records of the lightest group weigh {lightest:.4g}, promised at least {alpha:g}"
    )
    return judgement(failing, groups, sentence, {**measured, "alpha": significant(lightest)})


def category_weights(parameters: Parameters, categories: int) -> list[float]:
    """Return the weight of each category, from 0 for the first to 1 for the last.

    The step from category i - 1 to i is proportional to 1, or to 1 / (i - 1)^beta.
    """
    weights = parameters.get("weights")
    if weights == "uniform":
        beta = 0.0
    elif isinstance(weights, dict) and [*weights] == ["sensitivity"]:
        beta = number(weights, "sensitivity", 1)
    else:
        raise UnjudgeableError(
            "the parameter 'weights' must be 'uniform', or the beta of 'sensitivity'"
        )
    if categories == 1:
        return [0.0]
    # A negative power goes to 0 where the positive one is too large for a float.
    reached = [0.0, *accumulate(float(step) ** -beta for step in range(1, categories))]
    return [each / reached[-1] for each in reached]


def _count_categories(groups: PublishedGroups, sensitive: str, parameters: Parameters) -> None:
    """Make the tables `category_counts` and, of the total weight by group, `category_weights`.

    The first has for each category `place` that a group `g` has its number `n` of records and
    how many `different` values they have.
    """
    categories = _read_categories(parameters)
    weights = category_weights(parameters, len(categories))
    made = groups.histogram(sensitive)
    listed = [(text, place) for place, texts in enumerate(categories) for text in texts]
    groups.connection.execute(
        "CREATE OR REPLACE TEMP TABLE categories AS"
        " SELECT unnest($texts::VARCHAR[]) AS text, unnest($places::BIGINT[]) AS place",
        {"texts": [text for text, _ in listed], "places": [place for _, place in listed]},
    )
    (unlisted,) = groups.row(
        f"SELECT count(*) FROM {made.totals} ANTI JOIN categories USING (text)"
    )
    if unlisted:
        raise UnjudgeableError(f"its 'categories' lack {counted(unlisted, 'published value')}")
    groups.connection.execute(
        "CREATE OR REPLACE TEMP TABLE category_counts AS"
        " SELECT g, place, sum(n) AS n, count(*) AS different"
        f" FROM {made.groups} JOIN categories ON value = text WHERE n > 0 GROUP BY g, place"
    )
    groups.connection.execute(
        "CREATE OR REPLACE TEMP TABLE category_weights AS"
        " SELECT g, fsum(n * ($weights::DOUBLE[])[place + 1]) AS weight"
        " FROM category_counts GROUP BY g",
        {"weights": weights},
    )


def _read_categories(parameters: Parameters) -> list[list[str]]:
    """Return the values of each category; a category may be empty, and keeps its place."""
    found = parameters.get("categories")
    if (
        not isinstance(found, list)
        or not found
        or not all(isinstance(texts, list) for texts in found)
        or not all(isinstance(text, str) for texts in found for text in texts)
    ):
        raise UnjudgeableError("the parameter 'categories' must be a list of lists of values")
    listed = [text for texts in found for text in texts]
    if len({*listed}) != len(listed):
        raise UnjudgeableError("its 'categories' list one value twice")
    return found


_JudgedDiversity = tuple[int, str, dict[str, "int | float | None"]]


def _judge_distinct(
    parameters: Parameters, groups: PublishedGroups, sensitive: str, alpha: float
) -> _JudgedDiversity:
    least = whole(parameters, "l")
    fewest, failing = _judge_reached(groups, "sum(different)::BIGINT", least, alpha)
    sentence = (
        f"the least diverse group has {counted(fewest, 'different value')} of {shown(sensitive)},"
        f" promised at least {least:,}"
    )
    return failing, sentence, {"l": fewest}


def _judge_entropy(
    parameters: Parameters, groups: PublishedGroups, sensitive: str, alpha: float
) -> _JudgedDiversity:
    least = number(parameters, "l", 1)
    # -sum p ln p with p = n / size is ln size - (sum n ln n) / size.
    effective = "exp(ln(sum(n)) - fsum(n * ln(n)) / sum(n))"
    smallest, failing = _judge_reached(groups, effective, least - SLACK, alpha)
    sentence = (
        f"the least diverse group is worth {smallest:.4g} equally frequent categories of"
        f" {shown(sensitive)}, promised at least {least:g}"
    )
    return failing, sentence, {"l": significant(smallest)}


def _judge_reached(
    groups: PublishedGroups, reached: str, least: float, alpha: float
) -> tuple[Any, int]:
    """Return the least that a group reaches, and how many reach too little or weigh too little."""
    smallest, failing = groups.row(
        "SELECT min(coalesce(reached, 0)),"
        " count_if(coalesce(reached, 0) < $least OR coalesce(weight, 0) < $alpha)"
        " FROM groups LEFT JOIN category_weights USING (g) LEFT JOIN"
        f" (SELECT g, {reached} AS reached FROM category_counts GROUP BY g) USING (g)",
        {"least": least, "alpha": alpha - SLACK},
    )
    return smallest, failing


def _judge_recursive(
    parameters: Parameters, groups: PublishedGroups, sensitive: str, alpha: float
) -> _JudgedDiversity:
    least = whole(parameters, "l")
    c = number(parameters, "c", 0)
    # The comparison is strict and has no slack: a group at the limit itself fails by definition.
    needed, short, failing = groups.row(
        "SELECT max(first / tail), count_if(tail IS NULL),"
        " count_if(tail IS NULL OR first >= $c * tail OR weight < $alpha)"
        " FROM groups LEFT JOIN category_weights USING (g) LEFT JOIN ("
        "SELECT g, max(n) AS first, max(tail) FILTER (rank = $l) AS tail FROM ("
        "SELECT g, n, row_number() OVER descending AS rank,"
        " sum(n) OVER (descending ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS tail"
        " FROM category_counts WINDOW descending AS (PARTITION BY g ORDER BY n DESC))"
        " GROUP BY g) USING (g)",
        {"l": least, "c": float(c), "alpha": alpha - SLACK},
    )
    needs = (
        f"a group has fewer than {least:,} categories of {shown(sensitive)}, so no c is enough"
        if short
        else f"l = {least:,} needs a c above {needed:.4g} in categories of {shown(sensitive)}"
    )
    sentence = f"{needs}, promised {c:g}"
    return failing, sentence, {"c": None if short else significant(needed)}


_KINDS: dict[str, Callable[[Parameters, PublishedGroups, str, float], _JudgedDiversity]] = {
    "distinct": _judge_distinct,
    "entropy": _judge_entropy,
    "recursive": _judge_recursive,
}


JUDGE = Judge(
    "l-alpha-diversity",
    ("l", "alpha", "kind", "c", "sensitive", "categories", "weights"),
    judge,
    lambda p: any_value(p) and idle(most={"alpha": 0})(p),
    values=("categories",),
)
