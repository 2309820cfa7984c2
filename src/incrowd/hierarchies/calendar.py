"""Parts of the calendar as labels: a year, a decade, a quarter, a month."""

from __future__ import annotations

import re
from datetime import date

_CALENDAR = re.compile(r"(\d{4})(?:(s)|-(\d{2})|-Q([1-4]))?", re.ASCII)
_EPOCH = date(1970, 1, 1)


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
    after = year * 12 + month - 1 + months
    last = date.max if after // 12 > date.max.year else date(after // 12, after % 12 + 1, 1)
    return (date(max(year, 1), month, 1) - _EPOCH).days, (last - _EPOCH).days
