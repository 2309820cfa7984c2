"""What can be seen of one column: its type, how its values spread, what its cells look like.

Only counts, shares and rounded bounds leave this module; no cell of the data does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

import polars as pl

from incrowd._runtime.arrays import MAX_EXACT
from incrowd.sources.missing_marks import MARKS
from incrowd.table.coding import parse_number
from incrowd.table.date_formats import DateFormat, date_format, date_like_share
from incrowd.table.dates import ISO
from incrowd.table.stray_cells import NEARLY_ALL, NUMBER, nearly

SeenKind = Literal["numeric", "category", "date"]

_PADDED = r"^[+-]?0[0-9]"
_COMMA_NUMBER = r"^[+-]?[0-9]+,[0-9]+$"
_MOST_DECIMALS = 300
_SAMPLE = 10_000
_FEWEST_COMPACT_DATES = 3
_EIGHT_DIGITS = (10_000_000, 99_999_999)

# What cells look like: a name, the pattern, and the share of cells that must follow it.
_PATTERNS: tuple[tuple[str, str, float], ...] = (
    ("e-mail", r"^[^@\s]+@[^@\s]+\.[A-Za-z]{2,}$", 0.2),
    ("url", r"^(?i:https?://|www\.)\S+$", 0.2),
    ("uuid", r"^(?i:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})$", 0.5),
    ("ip", r"^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)$", 0.8),
    ("social security", r"^\d{3}-\d{2}-\d{4}$", 0.8),
    ("atc", r"^[A-V]\d{2}[A-Z]{2}\d{2}$", 0.9),
    ("icd-10", r"^[A-TV-Za-tv-z]\d[0-9A-Za-z]\.[0-9A-Za-z-]{1,4}[*+!]?$", 0.5),
    ("icd-10", r"^[A-TV-Za-tv-z]\d{2}(?:\.?[0-9A-Za-z-]{1,4})?[*+!]?$", 0.9),
    ("icd-o", r"^\d{4}/\d$", 0.9),
    ("ops", r"^\d-\d{2}[0-9a-z](?:\.[0-9a-z]{1,2})?$", 0.9),
)
_PHONE = r"^(?:\+|00?)?[\d\s()/.-]{6,20}$"
_PHONE_MARK = r"^(?:\+|0)|[\s()/-]"


@dataclass(frozen=True)
class ColumnFacts:
    """Everything that is known of one column, without any of its cells.

    `kind` is what the column is, `seen` what the package takes it for when a policy gives no
    type. `bounds` holds multiples of ten, the lower at most and the upper above every number.
    `length` is the length of all cells of a text column, when it is one. `digits` tells that
    nearly every text holds one. `nearly` is what nearly all cells are, when some are not. `pattern`
    names what the cells look like.
    """

    name: str
    records: int
    present: int
    distinct: int
    singletons: int
    largest: int
    kind: SeenKind = "category"
    seen: SeenKind = "category"
    written: DateFormat | None = None
    whole: bool = False
    consecutive: bool = False
    inexact: bool = False
    bounds: tuple[int, int] | None = None
    length: int | None = None
    code: bool = False
    words: float = 0.0
    digits: bool = False
    nearly: SeenKind | None = None
    pattern: str | None = None
    remarks: tuple[str, ...] = ()

    @property
    def missing(self) -> float:
        """The share of records without a value."""
        return 1.0 - self.present / self.records if self.records else 0.0

    @property
    def uniqueness(self) -> float:
        """The share of records that nobody shares the value with."""
        return self.singletons / self.records if self.records else 0.0

    @property
    def top_share(self) -> float:
        """The share of records with the most frequent value."""
        return self.largest / self.records if self.records else 0.0

    @property
    def always_new(self) -> bool:
        """Whether no value occurs twice."""
        return self.present > 0 and self.distinct == self.present


def measure(series: pl.Series) -> ColumnFacts:
    """Return what can be seen of one column of a frame."""
    timed = isinstance(series.dtype, pl.Datetime) and _has_times(series)
    cells = _plain(series)
    counted = cells.drop_nulls().alias("value").value_counts(name="count")
    values, counts = counted.get_columns()
    facts = ColumnFacts(
        name=series.name,
        records=len(series),
        present=len(cells) - cells.null_count(),
        distinct=len(values),
        singletons=int((counts == 1).sum()),
        largest=int(counts.max() or 0),  # type: ignore[arg-type]
    )
    if not facts.distinct:
        return facts
    if cells.dtype == pl.Date and values.max() == date.max:  # "never", which is not a date
        cells, values = cells.cast(pl.String), values.cast(pl.String)
    if cells.dtype == pl.Date:
        written = DateFormat(ISO, timed=timed)
        remarks = (_TIME_LEFT_OUT,) * timed
        return replace(facts, kind="date", seen="date", written=written, remarks=remarks)
    if cells.dtype.is_numeric():
        return _measure_numbers(facts, values)
    return _measure_texts(facts, cells, values, counts)


def _plain(series: pl.Series) -> pl.Series:
    """Return a column as numbers, days or text, with empty cells missing."""
    dtype = series.dtype
    if dtype.is_float():
        return series.fill_nan(None)
    if isinstance(dtype, pl.Datetime):
        return series.dt.date()
    if dtype.is_numeric() or dtype == pl.Date:
        return series
    text = series.cast(pl.String)
    empty = text == ""
    return text.set(empty, None) if empty.any() else text


def _has_times(series: pl.Series) -> bool:
    """Whether points in time are other than midnight."""
    present = series.drop_nulls()
    return not bool((present == present.dt.truncate("1d")).all())


def _measure_numbers(facts: ColumnFacts, values: pl.Series) -> ColumnFacts:
    """The facts of numbers from a home that knows them as such."""
    if values.dtype.is_float() and not bool((values == values.round(0)).all()):
        decimals = _decimals(values.cast(pl.String))
        return _as_numbers(facts, values.cast(pl.Float64), decimals)
    if facts.distinct >= _FEWEST_COMPACT_DATES and bool(values.is_between(*_EIGHT_DIGITS).all()):
        texts = values.cast(pl.Int64).cast(pl.String)
        dates = _as_dates(facts, texts, seen="numeric")
        if dates is not None:
            return dates
    whole = values.cast(pl.Float64)
    shortest, longest = (len(f"{float(str(n)):.0f}") for n in (whole.min(), whole.max()))
    facts = replace(facts, length=shortest if shortest == longest else None)
    return _as_numbers(facts, whole, 0)


def _measure_texts(
    facts: ColumnFacts, cells: pl.Series, values: pl.Series, counts: pl.Series
) -> ColumnFacts:
    sample = _sample_of(cells)
    facts = replace(facts, remarks=_unknown_words(values, counts))
    facts = _with_texts(facts, values)
    numbers = _share(sample, NUMBER)
    if numbers == 1.0 and bool(_contains(values, NUMBER).all()):
        return _measure_written_numbers(facts, values.str.strip_chars())
    dates = _as_dates(facts, values, seen="category")
    if dates is not None:
        return dates
    facts = _near_misses(facts, values, counts, sample, numbers)
    words = float(sample.str.count_matches(r"\S+").mean() or 0.0)  # type: ignore[arg-type]
    digits = _share(sample, r"[0-9]") >= NEARLY_ALL
    return replace(facts, words=words, digits=digits, pattern=_pattern(facts, sample))


def _measure_written_numbers(facts: ColumnFacts, texts: pl.Series) -> ColumnFacts:
    """The facts of texts that are all numbers; with zeros in front they are codes."""
    if bool(texts.str.contains(_PADDED).any()):
        return facts
    numbers = texts.cast(pl.Float64, strict=False)
    if facts.length == 8 and facts.distinct >= _FEWEST_COMPACT_DATES:
        dates = _as_dates(facts, texts, seen="numeric")
        if dates is not None:
            return dates
    return _as_numbers(facts, numbers, _decimals(texts))


def _as_numbers(facts: ColumnFacts, numbers: pl.Series, decimals: int) -> ColumnFacts:
    """The facts of a column whose values are all numbers."""
    low, high = float(numbers.min()), float(numbers.max())  # type: ignore[arg-type]
    furthest = max(abs(low), abs(high))
    if decimals > _MOST_DECIMALS or furthest * 10.0**decimals >= MAX_EXACT:
        return replace(
            facts,
            seen="numeric",
            inexact=True,
            whole=decimals == 0,
            remarks=(*facts.remarks, _INEXACT),
        )
    consecutive = decimals == 0 and facts.always_new and high - low + 1 == facts.distinct
    return replace(
        facts,
        kind="numeric",
        seen="numeric",
        whole=decimals == 0,
        consecutive=consecutive,
        bounds=(math.floor(low / 10) * 10, (math.floor(high / 10) + 1) * 10),
    )


_TIME_LEFT_OUT = (
    "The time of day is left out: only the day is published, as it is written, in its own zone."
)
_INEXACT = (
    "Its numbers have more digits than can be ordered exactly, so they are read as categories."
)


def _decimals(texts: pl.Series) -> int:
    """The most decimals that a number is written with, zeros at the end aside.

    More than the most, when a number with an exponent cannot be ordered exactly.
    """
    pointed = texts.filter(texts.str.contains("[.eE]"))
    if not len(pointed):
        return 0
    powers = pointed.str.contains("[eE]")
    parsed = [parse_number(text) for text in pointed.filter(powers)]
    plain = pointed.filter(~powers).str.strip_chars_end("0")
    fractions = plain.str.len_bytes() - plain.str.find(".", literal=True) - 1
    return max(
        int(fractions.max() or 0),  # type: ignore[arg-type]
        max((_MOST_DECIMALS + 1 if each is None else each[1] for each in parsed), default=0),
    )


def _as_dates(facts: ColumnFacts, texts: pl.Series, *, seen: SeenKind) -> ColumnFacts | None:
    """The facts of a column whose values are all dates, or None when they are not."""
    written = date_format(texts)
    if written is None:
        return None
    remarks = list(facts.remarks)
    if written.short_year:
        remarks.append(
            "Years have two digits: 69 to 99 are read as 1969 to 1999, 00 to 68 as 20xx."
        )
    if written.timed:
        remarks.append(_TIME_LEFT_OUT)
    return replace(
        facts,
        kind="date",
        seen="date" if written.is_iso else seen,
        written=written,
        remarks=tuple(remarks),
    )


_BLANKS = (
    "Some cells begin or end with a blank, which makes them other values unless the attribute is "
    "sensitive."
)


def _with_texts(facts: ColumnFacts, values: pl.Series) -> ColumnFacts:
    """The facts with what the written form of the values tells: their length, stray blanks."""
    lengths = values.str.len_chars()
    shortest, longest = int(str(lengths.min())), int(str(lengths.max()))
    remarks = facts.remarks
    if bool((values.str.strip_chars().str.len_chars() != lengths).any()):
        remarks = (*remarks, _BLANKS)
    return replace(
        facts,
        length=shortest if shortest == longest else None,
        code=shortest == longest
        and bool(values.str.contains("^[0-9A-Za-z]+$").all())
        and bool(values.str.contains("[0-9]").all()),
        remarks=remarks,
    )


def _unknown_words(values: pl.Series, counts: pl.Series) -> tuple[str, ...]:
    if int(values.str.len_chars().min() or 0) > max(map(len, MARKS)):  # type: ignore[arg-type]
        return ()
    found = values.str.strip_chars().str.to_lowercase().is_in(["", *MARKS])
    cells = int(counts.filter(found).sum())
    if not cells:
        return ()
    are, them = ("cells hold", "them") if cells > 1 else ("cell holds", "it")
    return (f"{cells:,} {are} a word or sign for unknown. Make {them} empty to count as missing.",)


def _near_misses(
    facts: ColumnFacts, values: pl.Series, counts: pl.Series, sample: pl.Series, numbers: float
) -> ColumnFacts:
    """The facts with a remark where nearly all cells are numbers or dates, but not all."""
    found = nearly(values, counts)
    if found is not None:
        return replace(facts, nearly=found.kind, remarks=(*facts.remarks, found.told))
    remark = ""
    if numbers + _share(sample, _COMMA_NUMBER) >= NEARLY_ALL:
        remark = (
            "Its numbers have a decimal comma, so they are read as categories. Write a point for "
            "ranges."
        )
    elif date_like_share(sample) >= NEARLY_ALL:
        told = "Its cells look like dates, but not all are real dates in one format."
        return replace(facts, nearly="date", remarks=(*facts.remarks, told))
    return replace(facts, remarks=(*facts.remarks, remark)) if remark else facts


def _pattern(facts: ColumnFacts, sample: pl.Series) -> str | None:
    for name, pattern, enough in _PATTERNS:
        if _share(sample, pattern) >= enough:
            return name
    digits = sample.str.count_matches(r"\d")
    phones = sample.str.contains(_PHONE) & sample.str.contains(_PHONE_MARK) & (digits >= 7)
    if float(phones.mean() or 0.0) >= NEARLY_ALL and facts.distinct * 2 >= facts.present:  # type: ignore[arg-type]
        return None if date_like_share(sample) >= NEARLY_ALL else "phone"
    return None


def _sample_of(cells: pl.Series) -> pl.Series:
    """Up to about ten thousand cells, evenly spread over the records, without blanks around."""
    present = cells.drop_nulls()
    return present.gather_every(max(1, len(present) // _SAMPLE)).str.strip_chars()


def _contains(values: pl.Series, pattern: str) -> pl.Series:
    return values.str.strip_chars().str.contains(pattern)


def _share(texts: pl.Series, pattern: str) -> float:
    return float(texts.str.contains(pattern).sum()) / max(len(texts), 1)
