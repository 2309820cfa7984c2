"""Exponential l: each sensitive attribute is l-diverse among records that agree on the others."""

from __future__ import annotations

from incrowd.verify.counting.groups import ApartError, PublishedGroups
from incrowd.verify.files.layout import Promise
from incrowd.verify.models._declaration import Judge, idle
from incrowd.verify.models._separate_tables import values_apart
from incrowd.verify.models.base import Judgement, jointly, listed_columns, partly, whole
from incrowd.verify.verdict import counted, shown


def judge(promise: Promise, groups: PublishedGroups) -> Judgement:
    """Judge exponential l: measures the fewest values among agreeing records of a group as `l`.

    References
    ----------
    Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam (2006), section 5, as read by Gal, Chen,
    Gangopadhyay (2008) after definition 6.
    """
    least = whole(promise.parameters, "l")
    sensitive = listed_columns(promise.parameters)
    try:
        together = groups.together(sensitive)
    except ApartError:
        return _judge_apart(groups, sensitive, least)
    names = [f"v{number}" for number in range(len(sensitive))]
    # The rows are distinct, so those that agree on all attributes but one differ in that one.
    counts = " UNION ALL ".join(
        "SELECT g, count(*) AS different FROM distinct_rows"
        f" GROUP BY {', '.join(['g', *(other for other in names if other != name)])}"
        for name in names
    )
    fewest, failing = groups.row(
        f"WITH distinct_rows AS MATERIALIZED ({together})"
        " SELECT min(different), count_if(different < $l) FROM"
        f" (SELECT min(different) AS different FROM ({counts}) GROUP BY g)",
        {"l": least},
    )
    listed = ", ".join(shown(name) for name in sensitive)
    among = "" if len(sensitive) == 1 else " among records that agree on the others"
    sentence = (
        f"the least diverse group has {counted(fewest, 'different value')} of"
        f" {'one of ' if among else ''}{listed}{among}, promised at least {least:,}"
    )
    return jointly(failing, groups, sentence, {"l": fewest}, {})


def _judge_apart(groups: PublishedGroups, sensitive: list[str], least: int) -> Judgement:
    """Judge what each attribute alone shows: it must have l values in every group anyway."""
    fewest, failing = values_apart(groups, sensitive, dict.fromkeys(sensitive, least))
    sentence = (
        f"the least diverse group has {counted(fewest, 'different value')} of one of"
        f" {', '.join(shown(name) for name in sensitive)}, where at least {least:,} are needed"
    )
    return partly(failing, groups, sentence, {})


JUDGE = Judge("exponential-l", ("l", "sensitive"), judge, idle(most={"l": 1}))
