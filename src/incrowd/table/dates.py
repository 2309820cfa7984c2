"""The one reader of dates: which day a text stands for, in ISO form or in a given format.

What `init` recognizes, `anonymize` reads: both ask this module. A time of day after the date is
checked and left out, with its fraction of a second and its zone: the day is the one that is
written, in the zone that is written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache

EPOCH = date(1970, 1, 1)
"""Days are counted from this one."""
ISO = "%Y-%m-%d"
"""The format that a policy need not state."""
ISO_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_ZONE = "(?:[Zz]|[+-][0-9]{2}(?::?[0-9]{2}(?::?[0-9]{2})?)?)"
ISO_TIME = (
    "(?:[ Tt](?:[01][0-9]|2[0-3]):[0-5][0-9](?::(?:[0-5][0-9]|60)(?:[.,][0-9]{1,9})?)?"
    f" ?{_ZONE}?)?"
)
"""What may follow an ISO date, or nothing; as a pattern that Python and Rust understand."""

_ISO_CELL = re.compile(f"({ISO_DATE}){ISO_TIME}")
_DIRECTIVES = {
    "%H": "(?:[01]?[0-9]|2[0-3])",
    "%I": "(?:0?[1-9]|1[0-2])",
    "%M": "[0-5][0-9]",
    "%S": "(?:[0-5][0-9]|60)",
    "%f": "[0-9]{1,9}",
    "%p": "[AaPp][Mm]",
    "%z": _ZONE,
    "%%": "%",
}
_LONGEST_FORMAT = 100
_TIMES = ("%H", "%I", "%M", "%S", "%f", "%p", "%z")
_TOKEN = re.compile("%.|[^%]", re.DOTALL)


def day_of(text: str, date_format: str | None = None) -> date | None:
    """The day that a text stands for, or None if it is no date.

    Without a format, and with that of ISO, YYYY-MM-DD is read, alone or with a time behind it.
    """
    try:
        if date_format is None or date_format == ISO:
            match = _ISO_CELL.fullmatch(text)
            return None if match is None else date.fromisoformat(match[1])
        return _reader(date_format).day(text)
    except (ValueError, re.error):
        return None


def reads_dates(date_format: str) -> bool:
    """Whether dates written in a format can be read back, at least their year."""
    if len(date_format) > _LONGEST_FORMAT:
        return False
    example = datetime(2001, 2, 3, tzinfo=UTC)
    try:
        found = day_of(example.strftime(date_format), date_format)
    except (ValueError, re.error):
        return False
    return found is not None and found.year == example.year


def time_pattern(written: str) -> str | None:
    """The pattern of a time of day in a format such as %H:%M; None where it is none."""
    pattern = ""
    for token in _TOKEN.findall(written):
        if len(token) == 2 and token not in _DIRECTIVES:
            return None
        pattern += _DIRECTIVES.get(token, re.escape(token))
    return pattern


@dataclass(frozen=True)
class _Reader:
    """A format taken apart: the date, with the mark behind it, and the pattern of the time."""

    date_format: str
    time: re.Pattern[str] | None

    def day(self, text: str) -> date | None:
        if self.time is None:
            return _strptime(text, self.date_format)
        mark = self.date_format[-1]
        places = [at for at, character in enumerate(text) if character == mark]
        behind = next((at + 1 for at in places if self.time.fullmatch(text, at + 1)), None)
        return None if behind is None else _strptime(text[:behind], self.date_format)


@lru_cache(maxsize=256)
def _reader(date_format: str) -> _Reader:
    """The time of day is read apart where it stands last, behind a mark that is no digit."""
    tokens = _TOKEN.findall(date_format)
    first = next((at for at, token in enumerate(tokens) if token in _TIMES), len(tokens))
    before, after = "".join(tokens[:first]), "".join(tokens[first:])
    pattern = time_pattern(after)
    marked = first > 0 and len(tokens[first - 1]) == 1 and not tokens[first - 1].isalnum()
    marked = marked or (first > 0 and tokens[first - 1] in ("T", "t"))
    if not after or pattern is None or not marked:
        return _Reader(date_format, None)
    return _Reader(before, re.compile(pattern))


@lru_cache(maxsize=1 << 16)
def _strptime(text: str, date_format: str) -> date:
    return datetime.strptime(text, date_format).date()
