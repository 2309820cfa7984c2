"""The cells of changed dates against the form that the manifest states of them.

That a date was moved, and by how much, no file shows. What it shows is whether a column that is
said to have months has nothing finer than months, and times since an event nothing but times.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from incrowd.verify.files.layout import PATIENT
from incrowd.verify.files.times import COARSE, RELATIVE, SHIFT
from incrowd.verify.verdict import TIMES, Finding, counted, listed, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from incrowd.verify.counting.records import PublishedRecords
    from incrowd.verify.files.layout import Layout

_YEAR = "(?!0000)[0-9]{4}"
_PERIODS = {
    "month": re.compile(f"{_YEAR}-(0[1-9]|1[0-2])"),
    "quarter": re.compile(f"{_YEAR}-Q[1-4]"),
    "year": re.compile(_YEAR),
}
_WHOLE = "0|-?[1-9][0-9]{0,6}"
_NUMBER = re.compile(_WHOLE)
_RANGE = re.compile(rf"\[({_WHOLE})-({_WHOLE})\)")
_ZERO = r"0|\[0-[0-9]+\)"


def judge_times(layout: Layout, records: PublishedRecords) -> list[Finding]:
    """Return the judgement on the columns of changed dates, if there are any."""
    timed = {each.name: each.time for each in layout.attributes if each.time is not None}
    if not timed:
        return []
    wrong = []
    for name, time in timed.items():
        if name not in records.keys:
            wrong.append(f"no column {shown(name)}")
        elif odd := _odd(name, time, records, known=name in layout.known_events):
            wrong.append(f"{counted(odd, 'value')} of {shown(name)} that {_told(time)}")
    if wrong:
        return [Finding(TIMES, False, f"there is {listed(wrong)}")]
    told = "; ".join(f"{shown(name)}: {_form(time)}" for name, time in timed.items())
    return [Finding(TIMES, True, told)]


def judge_firsts(
    found: list[Finding], parts: Sequence[tuple[Layout, PublishedRecords]]
) -> list[Finding]:
    """Return the findings on changed dates, or that times since the first do not begin at it.

    The earliest date of a patient is no time after itself. Where nobody has a 0, the numbers may be
    those of days in the calendar. Of histories that were cut the first row may be gone, and so it
    may be where rows are left out, as attackers may know events.
    """
    cut = any(layout.most_events is not None or layout.known_events for layout, _ in parts)
    late = 0 if cut else _without_first(parts)
    if not late:
        return found
    one = "patient" if parts[0][0].of_patients else "row"
    told = f"the times of {counted(late, one)} since the first date do not begin at 0"
    wrong = "; ".join([*(each.detail for each in found if not each.holds), told])
    return [Finding(TIMES, False, wrong)]


def _without_first(parts: Sequence[tuple[Layout, PublishedRecords]]) -> int:
    """Return how many patients, or rows, have times since their first date, and none that is 0."""
    told = []
    for layout, records in parts:
        by_patient = layout.of_patients and PATIENT in records.columns
        who = records.sql_name(PATIENT) if by_patient else "row_number() OVER ()::VARCHAR"
        cells = [
            records.sql_name(each.name)
            for each in layout.attributes
            if each.time is not None and each.time.get("to") == "first"
            if each.name in records.keys
        ]
        if cells:
            listed_cells = ", ".join(cells)
            told.append(
                f"SELECT who, unnest([{listed_cells}]) AS cell FROM"
                f" (SELECT {who} AS who, {listed_cells} FROM {records.table})"
            )
    if not told:
        return 0
    ((late,),) = (
        parts[0][1]
        .connection.execute(
            f"SELECT count(*) FROM (SELECT who FROM ({' UNION ALL '.join(told)}) WHERE cell <> ''"
            f" GROUP BY who HAVING NOT bool_or(regexp_full_match(cell, '{_ZERO}')))"
        )
        .fetchall()
    )
    return int(late)


def _odd(name: str, time: Mapping[str, Any], records: PublishedRecords, *, known: bool) -> int:
    """Return how many different cells of a column are in another form than the stated one.

    What may be known shows ranges of any width beside numbers, and `*`.
    """
    if time["way"] == SHIFT:
        return 0  # days, as those of any column of dates, which could not be read otherwise
    column = records.sql_name(name)
    found = records.connection.execute(
        f"SELECT DISTINCT {column} FROM {records.table} WHERE {column} <> ''"
    ).fetchall()
    if known:
        return sum(not _is_label(str(cell), time) for (cell,) in found)
    return sum(not _is_right(str(cell), time) for (cell,) in found)


def _is_label(cell: str, time: Mapping[str, Any]) -> bool:
    number, spread = _NUMBER.fullmatch(cell), _RANGE.fullmatch(cell)
    if cell == "*" or (number is None and spread is None):
        return cell == "*"
    return not (time["to"] == "first" and cell.lstrip("[").startswith("-"))


def _is_right(cell: str, time: Mapping[str, Any]) -> bool:
    if time["way"] == COARSE:
        return _PERIODS[time["period"]].fullmatch(cell) is not None
    width = time["widths"][0] if "widths" in time else None
    match = (_NUMBER if width is None else _RANGE).fullmatch(cell)
    if match is None or (time["to"] == "first" and cell.lstrip("[").startswith("-")):
        return False
    if width is None:
        return True
    low, high = int(match[1]), int(match[2])
    return high - low == width and not low % int(width)


def _told(time: Mapping[str, Any]) -> str:
    """Return what a cell in another form is not, in words."""
    if time["way"] == COARSE:
        return f"is no {time['period']}"
    what = f"a range of {time['widths'][0]:,} {time['unit']}" if "widths" in time else "a number"
    return f"is not {what}" + (" from 0 on" if time["to"] == "first" else "")


def _form(time: Mapping[str, Any]) -> str:
    if time["way"] == SHIFT:
        return "days, said to be shifted; the files cannot show that"
    if time["way"] == RELATIVE:
        ranges = f", in ranges of {time['widths'][0]:,}" if "widths" in time else ""
        return f"{time['unit']} since an event{ranges}, and no date"
    return f"nothing finer than the {time['period']}"
