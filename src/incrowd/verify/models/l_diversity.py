"""l-diversity in four kinds: distinct, entropy, recursive (c, l), and frequency."""

from __future__ import annotations

from collections.abc import Callable

from incrowd.verify.counting.groups import PublishedGroups
from incrowd.verify.files.layout import Promise
from incrowd.verify.models._declaration import Judge, Parameters, any_value
from incrowd.verify.models._shares import judge_shares
from incrowd.verify.models.base import SLACK, Judgement, column, judgement, kind_of, number, whole
from incrowd.verify.verdict import counted, shown, significant


def judge(promise: Promise, groups: PublishedGroups) -> Judgement:
    """Judge l-diversity: measures the l of the least diverse group as `l`.

    For the recursive kind `c` is measured too: the promised l holds for every c above it, and for
    none when it is None, since a group has fewer than l values.
    """
    kind = kind_of(promise.parameters, _KINDS)
    return _KINDS[kind](promise.parameters, groups)


def _judge_distinct(parameters: Parameters, groups: PublishedGroups) -> Judgement:
    least = whole(parameters, "l")
    sensitive = column(parameters)
    fewest, failing = groups.row(
        "SELECT min(different), count_if(different < $l) FROM ("
        f"SELECT count(*) AS different FROM {groups.histogram(sensitive).groups} GROUP BY g)",
        {"l": least},
    )
    sentence = (
        f"the least diverse group has {counted(fewest, 'different value')} of {shown(sensitive)},"
        f" promised at least {least:,}"
    )
    return judgement(failing, groups, sentence, {"l": fewest})


def _judge_entropy(parameters: Parameters, groups: PublishedGroups) -> Judgement:
    least = number(parameters, "l", 1)
    sensitive = column(parameters)
    # -sum p ln p with p = n / size is ln size - (sum n ln n) / size.
    smallest, failing = groups.row(
        "SELECT min(effective), count_if(effective < $l) FROM ("
        "SELECT exp(ln(size) - fsum(n * ln(n)) / size) AS effective"
        f" FROM {groups.histogram(sensitive).groups} GROUP BY g, size)",
        {"l": least - SLACK},
    )
    sentence = (
        f"the least diverse group is worth {smallest:.4g} equally frequent values of"
        f" {shown(sensitive)}, promised at least {least:g}"
    )
    return judgement(failing, groups, sentence, {"l": significant(smallest)})


def _judge_recursive(parameters: Parameters, groups: PublishedGroups) -> Judgement:
    least = whole(parameters, "l")
    c = number(parameters, "c", 0)
    sensitive = column(parameters)
    # The tail r_i + ... + r_m shrinks with i, so the ranks where r_1 < c * tail are the first ones
    # and their number is the largest l that the group reaches with this c. The comparison is
    # strict and has no slack: a group at the limit itself fails by definition.
    reached, needed, short, failing = groups.row(
        "SELECT min(reached), max(first / tail), count_if(tail IS NULL),"
        " count_if(tail IS NULL OR first >= $c * tail) FROM ("
        "SELECT first, count_if(first < $c * tail) AS reached,"
        " max(tail) FILTER (rank = $l) AS tail FROM ("
        "SELECT g, max(n) OVER (PARTITION BY g) AS first, row_number() OVER descending AS rank,"
        " sum(n) OVER (descending ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)::BIGINT AS tail"
        f" FROM {groups.histogram(sensitive).groups}"
        " WINDOW descending AS (PARTITION BY g ORDER BY n DESC)) GROUP BY g, first)",
        {"l": least, "c": float(c)},
    )
    needs = f"a group has fewer than {least:,}" if short else f"c above {needed:.4g} is needed"
    sentence = (
        f"the least diverse group reaches l = {reached} of {shown(sensitive)} with c = {c:g},"
        f" promised {least:,}; for that, {needs}"
        if failing
        else f"every group reaches l = {least:,} of {shown(sensitive)} with c = {c:g}, as promised"
    )
    measured = {"l": reached, "c": None if short else significant(needed)}
    return judgement(failing, groups, sentence, measured)


def _judge_frequency(parameters: Parameters, groups: PublishedGroups) -> Judgement:
    least = number(parameters, "l", 1)
    sensitive = column(parameters)
    largest, failing = judge_shares(groups, sensitive, None, 1 / least)
    sentence = (
        f"the most frequent value of {shown(sensitive)} in a group has a share of {largest:.4g},"
        f" promised at most 1/{least:g}"
    )
    return judgement(failing, groups, sentence, {"l": significant(1 / largest)})


_KINDS: dict[str, Callable[[Parameters, PublishedGroups], Judgement]] = {
    "distinct": _judge_distinct,
    "entropy": _judge_entropy,
    "recursive": _judge_recursive,
    "frequency": _judge_frequency,
}


def _by_frequency(parameters: Parameters) -> bool:
    """Return whether each value is judged by itself; others count what a group holds together."""
    return parameters.get("kind") == "frequency"


JUDGE = Judge(
    "l-diversity",
    ("l", "kind", "c", "sensitive"),
    judge,
    any_value,
    over_events=_by_frequency,
)
