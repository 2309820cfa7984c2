"""Parts of the calendar as labels: a year, a decade, a quarter, a month."""

from __future__ import annotations

import re
from datetime import date

from incrowd.table.dates import EPOCH

_CALENDAR = re.compile(r"(\d{4})(?:(s)|-(\d{2})|-Q([1-4]))?", re.ASCII)


def calendar_days(label: str) -> tuple[int, int] | None:
    """The days of a year (1950), a decade (1950s), a month (1950-03) or a quarter (1950-Q1).

    As days since 1970-01-01, from the first to before the second; None for any other label.
    """
    match = _CALENDAR.fullmatch(label)
    if match is None:
        return None
    year, month, months = int(match[1]), 1, 12
    if match[2]:
        months = 120
    elif match[3]:
        month, months = int(match[3]), 1
    elif match[4]:
        month, months = int(match[4]) * 3 - 2, 3
    if not ((year >= 1 or match[2]) and 1 <= month <= 12):
        return None
    begin = year * 12 + month - 1
    return first_day(begin), first_day(begin + months)


def first_day(month: int) -> int:
    """The first day of a month, counted from January of the year 0; days as above.

    Of one before the calendar the first day of the same month in its first year, and of one after
    it the calendar's last day.
    """
    year = max(month // 12, date.min.year)
    day = date.max if year > date.max.year else date(year, month % 12 + 1, 1)
    return (day - EPOCH).days
