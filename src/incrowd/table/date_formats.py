"""How the dates of a column are written: a strptime format that every cell follows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

import polars as pl

from incrowd.errors import InputError
from incrowd.table.coding import parse_date
from incrowd.table.dates import ISO, ISO_DATE, ISO_TIME, day_of, time_pattern

_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_LIKELY_DAYS = (date(1850, 1, 1), date(2100, 12, 31))
_ISO_LENGTH = len("YYYY-MM-DD")
_READABLE_DAYS = (date.min, date(9999, 12, 30))  # the last day of all means "never"
_TIMES = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p")
"""The times of day that may follow a date, each also with a zone."""


@dataclass(frozen=True)
class DateFormat:
    """How the dates of a column are written.

    `ambiguous` when day and month could also be the other way round in every single cell,
    `short_year` when years have two digits, `timed` when a time of day follows.
    """

    format: str
    ambiguous: bool = False
    short_year: bool = False
    timed: bool = False

    @property
    def is_iso(self) -> bool:
        """Whether it is the format that a policy need not state."""
        return self.format == ISO


@dataclass(frozen=True)
class _Shape:
    """One way to write a date: its pattern, and the formats that it may mean, likeliest first."""

    pattern: str
    formats: tuple[str, ...]


def _shapes() -> Iterator[_Shape]:
    day = "[0-9]{1,2}"
    yield _Shape(ISO_DATE, (ISO,))
    for mark in "-/.":
        literal = re.escape(mark)
        yield _Shape(f"[0-9]{{4}}{literal}{day}{literal}{day}", (f"%Y{mark}%m{mark}%d",))
        for digits, year in ((4, "%Y"), (2, "%y")):
            yield _Shape(
                f"{day}{literal}{day}{literal}[0-9]{{{digits}}}",
                (f"%d{mark}%m{mark}{year}", f"%m{mark}%d{mark}{year}"),
            )
    for mark in ("-", " ", ""):
        yield _Shape(f"{day}{mark}(?i:{_MONTHS}){mark}[0-9]{{4}}", (f"%d{mark}%b{mark}%Y",))
    yield _Shape("[0-9]{8}", ("%Y%m%d",))


_SHAPES = tuple(_shapes())
DATE_LIKE = "^(?:" + "|".join(shape.pattern for shape in _SHAPES[:-1]) + ")(?:[ T].*)?$"
"""What a date looks like at first glance, real or not; eight digits in a row are none."""


def date_format(values: pl.Series) -> DateFormat | None:
    """Return how the dates are written that a column of texts holds, or None if it holds others.

    Every one of `values` must be a real date in that format. Eight digits in a row are dates only
    when all of them are, in the years 1850 to 2100.
    """
    if not len(values):
        return None
    texts = values.str.strip_chars()
    first = str(texts[0])
    if bool(texts.str.contains(f"^{ISO_DATE}{ISO_TIME}$").all()):
        found = _readable(texts.str.extract(f"^({ISO_DATE})"), (ISO,), "")
        timed = bool((texts.str.len_bytes() > _ISO_LENGTH).any())
        return None if found is None else replace(found, timed=timed)
    for shape in _SHAPES:
        matched = re.match(shape.pattern, first)
        if matched is None:
            continue
        for written in _time_parts(first[matched.end() :]):
            full = f"^({shape.pattern}){time_pattern(written)}$"
            if bool(texts.str.contains(full).all()):
                days = texts.str.extract(f"^({shape.pattern})")
                return _readable(days, shape.formats, written)
    return None


def format_beside_release(series: pl.Series, table: str) -> str | None:
    """How a column of a table writes what is dates in a release; None where that is YYYY-MM-DD.

    Raises
    ------
    InputError
        When cells are no dates, or could be several: nothing would be found of the release.
    """
    if series.dtype != pl.String:
        return None
    texts = series.unique().drop_nulls()
    texts = texts.filter(texts != "")
    if all(parse_date(text) is not None for text in texts):
        return None
    written = date_format(texts)
    if written is None or written.ambiguous:
        why = "may have day or month first" if written is not None else "are not all dates"
        raise InputError(
            f"Column '{series.name}' of the {table}: its cells {why}, but the release has dates "
            "there. Write them as YYYY-MM-DD."
        )
    return written.format


def date_like_share(texts: pl.Series) -> float:
    """Return the share of texts that look like a date at first glance."""
    return float(texts.str.strip_chars().str.contains(DATE_LIKE).sum()) / max(len(texts), 1)


def _time_parts(rest: str) -> Iterator[str]:
    """Yield the formats that what stands after the first date may have."""
    if not rest:
        yield ""
    elif rest[0] in " T":
        for time in _TIMES:
            for zone in ("", "%z", " %z"):
                yield f"{rest[0]}{time}{zone}"


def _readable(days: pl.Series, formats: Sequence[str], written: str) -> DateFormat | None:
    """Return the first of the formats that all days can be read by."""
    good = [each for each in formats if _all_real(days, each)]
    if not good:
        return None
    return DateFormat(
        good[0] + written,
        ambiguous=len(good) > 1,
        short_year="%y" in good[0],
        timed=bool(written),
    )


def _all_real(days: pl.Series, written: str) -> bool:
    parsed = days.str.to_date(written, strict=False)
    if parsed.null_count():
        return False
    low, high = _LIKELY_DAYS if written == "%Y%m%d" else _READABLE_DAYS
    if not bool(parsed.is_between(low, high).all()):
        return False
    return all(day_of(text, written) is not None for text in days.unique())
