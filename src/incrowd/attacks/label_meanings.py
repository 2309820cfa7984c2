r"""What the labels of a published column stand for, among the values of an identified list.

Read as incrowd writes them: ranges `[30-60)`, sets, `*`, escaped values. Read as others write
them: masks (`423***`, `3*`, `***45`), comparisons (`>25`, `<=40`, `90+`), `30-39` and `[21, 60]`
for numbers, years, months, quarters and decades for dates. Everything else is a plain value, or
a label of a hierarchy.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import IntArray
from incrowd.attacks.known_values import NOBODY, KnownValues, Span
from incrowd.hierarchies.calendar import calendar_days
from incrowd.hierarchies.labels import NUMBER, Anything, Members, Plain, Range, parse
from incrowd.labels import LabelWriting, as_mask
from incrowd.table.coding import parse_date

_COMPARISON = re.compile(r"(>=|<=|>|<|≥|≤)\s*(\S+)")
_AND_MORE = re.compile(rf"({NUMBER})\s*\+")
_FROM_TO = re.compile(rf"({NUMBER})\s*[-–]\s*({NUMBER})")
_BRACKETS = re.compile(rf"([\[\](])\s*({NUMBER})\s*[,;]\s*({NUMBER})\s*([\[\])])")
_FURTHEST = float("inf")

Found = Span | IntArray | None
"""A run of codes, any codes, or None: the label cannot be read so."""


@dataclass(frozen=True)
class LabelCoverage:
    """Which codes of the list each label covers: a run of codes, and for some a row of bits more.

    `bits[more[label]]` are further codes, packed; row 0 has none.
    """

    low: IntArray
    high: IntArray
    more: IntArray
    bits: npt.NDArray[np.uint8]
    unreadable: int

    @property
    def single(self) -> bool:
        """Whether every label covers at most one code."""
        return len(self.bits) == 1 and bool((self.high - self.low <= 1).all())


def read_labels(
    labels: Sequence[str | None], values: KnownValues, writing: LabelWriting
) -> LabelCoverage:
    """Which of the list's values each label covers; None is a missing cell.

    A label that cannot be read covers everyone, since an attacker cannot rule it out, and is
    counted. In a table without a manifest, a column that shows no generalized label at all and
    shares values with the list holds plain values: those not on the list cover nobody.
    """
    if writing.exact:
        return _exact(labels, values)
    found = [_read(label, values, writing) for label in labels]
    unknown = [reading is None for reading in found]
    if writing.labels is None and any(unknown) and _looks_raw(labels, values, writing):
        found = [NOBODY if reading is None else reading for reading in found]
        unknown = []
    low, high, more = (np.zeros(len(labels), dtype=np.int64) for _ in range(3))
    bits = [np.zeros((values.cardinality + 7) // 8, dtype=np.uint8)]
    for at, reading in enumerate(found):
        if isinstance(reading, np.ndarray):
            row = np.zeros(values.cardinality, dtype=np.bool_)
            row[reading] = True
            bits.append(np.packbits(row, bitorder="little"))
            more[at] = len(bits) - 1
        else:
            low[at], high[at] = values.everyone if reading is None else reading
    return LabelCoverage(low, high, more, np.stack(bits), sum(unknown))


def _exact(labels: Sequence[str | None], values: KnownValues) -> LabelCoverage:
    """Cells that are values as they were, whatever they look like."""
    spans = [values.missing if text is None else values.equal_to(text) for text in labels]
    low, high = np.array(spans, dtype=np.int64).reshape(len(spans), 2).T
    none, bits = np.zeros(len(labels), dtype=np.int64), np.zeros((1, 1), dtype=np.uint8)
    return LabelCoverage(low, high, none, bits, 0)


def _looks_raw(labels: Sequence[str | None], values: KnownValues, writing: LabelWriting) -> bool:
    """Whether plain values are all that a column shows, and some are on the list."""
    shown = [label for label in labels if label is not None]
    meaning = writing.meaning or {}
    return any(values.equal_to(label) != NOBODY for label in shown) and all(
        label not in meaning and isinstance(parse(label), Plain) and _pattern(label, values) is None
        for label in shown
    )


def _read(label: str | None, values: KnownValues, writing: LabelWriting) -> Found:
    """What one label covers, None if it cannot be read."""
    if label is None:
        return values.missing
    parsed = parse(label)
    if isinstance(parsed, Anything):
        return values.everyone
    if isinstance(parsed, Range):
        return _either(_range(parsed, values), label, values, writing)
    if isinstance(parsed, Members):
        return _either(_tidied(values.codes_of(parsed.values)), label, values, writing)
    return _plain(label, parsed.text, values, writing)


def _plain(label: str, text: str, values: KnownValues, writing: LabelWriting) -> Found:
    """What a label covers that is a value, a label of a hierarchy or a pattern."""
    escaped = label != text
    readings: list[Found] = []
    if writing.meaning is not None and label in writing.meaning:
        readings.append(_tidied(values.codes_of(writing.meaning[label])))
    if not escaped and writing.may_be_pattern(label):
        readings.append(_pattern(label, values))
    known = [reading for reading in readings if reading is not None]
    if label in writing.general and not known:
        return None
    if label not in writing.general:
        equal = values.equal_to(text)
        if equal != NOBODY or values.is_a_value(text) or escaped or writing.labels is not None:
            known.append(equal)
    return _either(_joined(known), label, values, writing)


def _either(reading: Found, label: str, values: KnownValues, writing: LabelWriting) -> Found:
    """The reading, and without a manifest also the value that is written the same way."""
    if writing.labels is not None:
        return reading
    same = values.equal_to(label)
    return reading if same == NOBODY else _joined([same] if reading is None else [reading, same])


def _range(parsed: Range, values: KnownValues) -> Found:
    low, high = float(parsed.low), float(parsed.high)
    if parsed.dates:
        return values.days_between(low, high)
    if values.dates:  # years
        first, after = _new_year(parsed.low), _new_year(parsed.high)
        return None if first is None or after is None else values.days_between(first, after)
    return values.numbers_between(low, high, closed="low")


def _pattern(label: str, values: KnownValues) -> Found:
    """What a label covers that is written as a pattern, None if it is none."""
    if match := _COMPARISON.fullmatch(label):
        return _comparison(match[1], match[2], values)
    if values.numeric:
        if match := _AND_MORE.fullmatch(label):
            return values.numbers_between(float(match[1]), _FURTHEST, closed="both")
        if match := _FROM_TO.fullmatch(label):
            low, high = float(match[1]), float(match[2])
            return values.numbers_between(low, high, closed="both") if low <= high else None
        if match := _BRACKETS.fullmatch(label):
            ends = {(True, True): "both", (True, False): "low", (False, True): "high"}
            closed = ends.get((match[1] == "[", match[4] == "]"), "neither")
            return values.numbers_between(float(match[2]), float(match[3]), closed=closed)
    if values.dates and (days := calendar_days(label)) is not None:
        return values.days_between(*days)
    mask = as_mask(label)
    return None if mask is None else _tidied(values.behind(mask))


def _comparison(sign: str, text: str, values: KnownValues) -> Found:
    above = sign in (">", ">=", "≥")
    closed = "both" if sign not in (">", "<") else "high" if above else "low"
    day = parse_date(text)
    if day is not None:
        days = (day, _FURTHEST) if above else (-_FURTHEST, day)
        return values.days_between(*days, closed=closed)
    if re.fullmatch(NUMBER, text) is None:
        return None
    numbers = (float(text), _FURTHEST) if above else (-_FURTHEST, float(text))
    return values.numbers_between(*numbers, closed=closed)


def _new_year(year: Fraction) -> int | None:
    days = calendar_days(f"{int(year):04d}") if year.denominator == 1 else None
    return None if days is None else days[0]


def _joined(readings: Sequence[Span | IntArray]) -> Found:
    """All codes that any of the readings covers; None when there is no reading."""
    if len(readings) < 2:
        return readings[0] if readings else None
    codes = [np.arange(*each) if isinstance(each, tuple) else each for each in readings]
    return _tidied(np.unique(np.concatenate(codes)))


def _tidied(codes: IntArray) -> Span | IntArray:
    """The ascending codes as a run where they are one."""
    if not len(codes):
        return NOBODY
    low, high = int(codes[0]), int(codes[-1]) + 1
    return (low, high) if high - low == len(codes) else codes
