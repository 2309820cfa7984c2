"""What a policy says of dates (`time:`), whether it fits, and what a release tells of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from incrowd._runtime.sentences import listed
from incrowd.errors import nearest
from incrowd.hierarchies.description import FirstEvent, TimePolicy
from incrowd.policy.linked import like_it, place_of, table_of

if TYPE_CHECKING:
    from incrowd.policy._schema import Policy

WAYS = ("shift", "relative", "coarse")
"""What may become of dates, as manifests call it."""
FIRST = "first"
"""What `relative-to:` says for the earliest of a patient's dates."""
IN_MEMORY = (
    "`time:`: dates are changed in memory alone so far. Say `engine: memory`, or leave `time:` out."
)
OF_HOSPITALS = (
    "`time:` is not for runs among hospitals, which agree on all values before they count. Change "
    "the dates at each hospital first, and leave `time:` out."
)


def times_of(policy: Policy) -> dict[str, TimePolicy]:
    """What becomes of the dates of each attribute that says it."""
    return {name: asked.time for name, asked in policy.attributes.items() if asked.time is not None}


def check_times(policy: Policy) -> None:
    """Raise a ValueError where what becomes of dates does not fit the rest of the policy."""
    asked = times_of(policy)
    if asked and policy.publish != "generalized":
        raise ValueError(
            f"publish: {policy.publish} shows values as they are; with `time:` say `publish: "
            "generalized`"
        )
    for name, time in asked.items():
        _check_role(policy, name, time)
        _check_index(policy, name, time)
    _check_shifts(policy, asked)


def _check_role(policy: Policy, name: str, time: TimePolicy) -> None:
    where, role = place_of(policy, name), policy.attributes[name].role
    if role == "quasi" and policy.attributes[name].level == "event" and time.relative_to:
        _check_widths(where, time)
    elif role == "quasi":
        parts = f"[{time.coarse}]" if time.coarse is not None else "[month, year, decade]"
        raise ValueError(
            f"{where}: the dates of a quasi-identifier are made coarse as far as privacy "
            f"needs it, by its hierarchy: say `hierarchy: {{dates: {parts}}}` in place of `time:`; "
            "or give it the role keep or sensitive"
        )
    elif role not in ("keep", "sensitive"):
        raise ValueError(
            f"{where}: `time:` is for dates that are published, with the role keep or "
            f"sensitive; this one is {role}"
        )
    if policy.attributes[name].hierarchy is not None:
        raise ValueError(
            f"{where}: a hierarchy is over values of the source, and `time:` changes "
            "them; keep one of the two"
        )


def _check_widths(where: str, time: TimePolicy) -> None:
    """Refuse times since an event that attackers may know, where no ranges make them coarser."""
    widths = time.widths or []
    if not widths or any(after % before for before, after in pairwise(widths)):
        raise ValueError(
            f"{where}: times since an event that attackers may know are made coarse as far as "
            "privacy needs it: say `widths:`, each a multiple of the one before, as in [30, 90, "
            "360]; or give it the role keep or sensitive"
        )


def _check_shifts(policy: Policy, asked: Mapping[str, TimePolicy]) -> None:
    """Refuse shifts that differ, and dates beside them that would tell the shift."""
    shifts = {name: time for name, time in asked.items() if time.shift is not None}
    if not shifts:
        return
    if len({(time.days, time.weeks) for time in shifts.values()}) > 1:
        raise ValueError(
            f"attributes: the shifts of {listed(shifts)} differ, and a patient has one: "
            "intervals between columns would not survive. Say the same `shift:` and `weeks:` for "
            "all of them"
        )
    first = next(iter(shifts))
    for name, each in policy.attributes.items():
        shown, where = each.role in ("keep", "sensitive", "target"), place_of(policy, name)
        if shown and each.type == "date" and each.time is None:
            where = place_of(policy, name)
            raise ValueError(
                f"{where}: its dates are published as they are, and those of '{first}' "
                "are shifted: where both fall on one day the shift is told. Give it the same "
                "`time:`, or the role identifier to leave it out"
            )


def _check_index(policy: Policy, name: str, time: TimePolicy) -> None:
    """Refuse an event to count from that is none, or whose date would give all others away."""
    index = time.relative_to
    if index is None or index == FIRST:
        return
    where = place_of(policy, name)
    column = index.first if isinstance(index, FirstEvent) else index
    asked = policy.attributes.get(column)
    if asked is None:
        raise ValueError(
            f"{where}: relative-to names '{column}', which is not among the attributes."
            f"{nearest(column, [FIRST]) or like_it(policy, column)}"
        )
    if asked.role == "identifier":
        raise ValueError(
            f"{where}: relative-to names '{column}', an identifier, which nobody looks "
            "at. Give it the role keep, with `time: {coarse: year}` where it is a date"
        )
    if isinstance(index, FirstEvent):
        if asked.level != "event" or asked.time is not None:
            raise ValueError(
                f"{where}: relative-to names the first event with a value of '{column}', "
                "which is no column of codes with `level: event`"
            )
        _check_dated(policy, name, index)
        return
    if asked.level == "event" or column == name:
        raise ValueError(
            f"{where}: relative-to names '{column}', which has several dates for a "
            "patient, or is the column itself. Say `relative-to: first`, or name a column of "
            "patients"
        )
    if asked.role != "quasi" and asked.time is None:
        raise ValueError(
            f"{where}: the times since '{column}' would give each date away, for its "
            "dates are published as they are. Give it `time: {coarse: year}`, or the role quasi "
            "with `hierarchy: dates`"
        )


def _check_dated(policy: Policy, name: str, index: FirstEvent) -> None:
    """Refuse a first event whose day no column tells."""
    table = table_of(policy, index.first)
    dated = any(
        time.relative_to == index
        and policy.attributes[other].level == "event"
        and table_of(policy, other) == table
        for other, time in times_of(policy).items()
    )
    if not dated:
        where = place_of(policy, name)
        raise ValueError(
            f"{where}: relative-to names the first event with a value of "
            f"'{index.first}', and no date of those events says the same, so nobody knows when it "
            "was. Give their date the same `time:`"
        )


def time_entry(time: TimePolicy, *, known: bool = False) -> dict[str, Any]:
    """What a manifest says of what became of dates: the way and its widths, never a shift.

    Of what attackers may `know` the ranges are labels, as those of other quasi-identifiers.
    """
    if time.shift is not None:
        return {"way": "shift", "days": time.days, "weeks": time.weeks}
    if time.coarse is not None:
        return {"way": "coarse", "period": time.coarse}
    index = time.relative_to
    to = {"to": "first"} if index == FIRST else {"to": "column", "column": index}
    if isinstance(index, FirstEvent):
        to = {"to": "event", "column": index.first}
    widths = {} if time.widths is None or known else {"widths": [*time.widths]}
    return {"way": "relative", **to, "unit": time.unit or "days", **widths}


def told_times(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """What became of the dates of a release and what they still tell, a sentence or more each."""
    entries = [each for each in manifest.get("attributes", ()) if each.get("time")]
    found = [*_told(entries), *_together(manifest, entries)] if entries else []
    if found and "pseudonyms" in manifest:
        found.append(told_key(manifest))
    return tuple(found)


def told_key(manifest: Mapping[str, Any]) -> str:
    """What follows from pseudonyms, and shifts, that hang on a key."""
    return (
        "Pseudonyms, and shifts of dates, follow from the secret key with the fingerprint "
        f"{manifest['pseudonyms']['fingerprint']}: they are the same in every release made with "
        "it. Who holds two of these can join them by 'patient', so each recipient needs a key of "
        "their own."
    )


def _told(entries: list[Mapping[str, Any]]) -> Iterator[str]:
    shifts = [each for each in entries if each["time"]["way"] == "shift"]
    if shifts:
        time = shifts[0]["time"]
        by = "whole weeks, " if time["weeks"] else ""
        kept = "weekdays and the season roughly" if time["weeks"] else "the season roughly"
        yield (
            f"{_names(shifts)}: each patient's dates moved by one random shift ({by}at most "
            f"{time['days']:,} days either way), so intervals are exact, and {kept} kept. A shift "
            "is a mask, not anonymity: who knows a rare interval between two events of a patient "
            "finds both dates, and then the shift."
        )
    for each in entries:
        time = each["time"]
        if time["way"] == "coarse":
            season = "" if time["period"] == "year" else " and its season"
            yield (
                f"'{each['name']}': the {time['period']} of each date alone. It still tells the "
                f"year of an event{season}."
            )
        if time["way"] == "relative":
            since = {
                "first": "the patient's earliest date",
                "column": f"'{time.get('column')}'",
                "event": f"the patient's first event with one value of '{time.get('column')}'",
            }[time["to"]]
            ranges = f", in ranges of {time['widths'][0]:,}" if "widths" in time else ""
            known = f" Who knows {since} of a person knows every date." * (time["to"] == "column")
            yield (
                f"'{each['name']}': {time['unit']} since {since}{ranges}. The calendar is gone; "
                f"intervals between events may still be rare, and tell whose they are.{known}"
            )


def _together(manifest: Mapping[str, Any], entries: list[Mapping[str, Any]]) -> Iterator[str]:
    """What columns of dates tell together, and neither does alone."""
    ways = {way: [e for e in entries if e["time"]["way"] == way] for way in WAYS}
    dates = [
        each
        for each in manifest["attributes"]
        if each.get("published") and each["role"] == "quasi" and each.get("type") == "date"
    ]
    periods = [*ways["coarse"], *dates]
    if ways["shift"] and periods:
        yield (
            f"{_names(periods)} {'are' if len(periods) > 1 else 'is'} not shifted: an event that "
            "falls into such a period, as a birth does, tells the shift as exactly as the period "
            "is, and several events more exactly."
        )
    elif ways["relative"] and ways["coarse"]:
        yield (
            f"{_names(ways['coarse'])} beside {_names(ways['relative'])}: of a patient with "
            "several events, periods and intervals together narrow down each day."
        )
    if ways["shift"] and ways["relative"]:
        yield (
            f"{_names(ways['shift'])} beside {_names(ways['relative'])}: who knows the day that is "
            "counted from knows the shift."
        )


def _names(entries: list[Mapping[str, Any]]) -> str:
    return listed([str(each["name"]) for each in entries])
