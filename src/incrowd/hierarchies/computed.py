"""Hierarchies that follow from a rule: nested ranges, masked characters, parts of a date."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import pairwise

import numpy as np

from incrowd._runtime.arrays import MAX_EXACT, IntArray
from incrowd.errors import HierarchyError
from incrowd.hierarchies.base import ROOT_LABEL, Hierarchy, assemble, refuse_uncovered
from incrowd.hierarchies.calendar import first_day
from incrowd.hierarchies.labels import range_label
from incrowd.table import Column
from incrowd.table.coding import parse_number
from incrowd.table.dates import EPOCH

DATE_LEVELS = ("month", "quarter", "year", "decade")


def flat(column: Column) -> tuple[Column, Hierarchy]:
    """The hierarchy of a column that has none: the value, or `*`."""
    spread = None
    domain = None
    if column.numbers is not None and len(column.numbers):
        domain = int(column.numbers[-1] - column.numbers[0]) + 1
        spread = [np.full(len(column.values), domain, dtype=np.int64)]
    return assemble(
        column, "flat", [[ROOT_LABEL] for _ in column.values], weigh=spread, domain=domain
    )


def intervals(
    column: Column, *, start: float, stop: float, widths: Sequence[float]
) -> tuple[Column, Hierarchy]:
    """Nested half-open ranges from `start` to `stop`, their bounds at multiples of each width.

    With start 1, stop 99 and widths 30, 60 the levels are [1-30) [30-60) [60-99), then
    [1-60) [60-99), then *. Each width is a multiple of the one before. A range at an end that
    would be shorter than half a width, such as [90-99), is joined to the one beside it. Bounds
    may have more decimals than the values; the column then counts in steps as fine as theirs.
    """
    if column.kind != "numeric" or column.numbers is None:
        raise HierarchyError(
            f"Hierarchy of '{column.name}': intervals need a numeric column, this one is "
            f"{column.kind}."
        )
    column, (low, high, *steps) = _in_common_steps(column, (start, stop, *widths))
    _refuse_bad_widths(column.name, low, high, steps)
    numbers = column.numbers
    assert numbers is not None
    refuse_uncovered(
        column,
        (numbers >= low) & (numbers < high),
        f"the intervals from {start:g} to below {stop:g}",
    )
    levels = [_ranges(numbers, low, high, step) for step in steps]
    texts = [
        [range_label(column, int(a), int(b)) for a, b in zip(left, right, strict=True)]
        for left, right in levels
    ]
    paths = [[*labels, ROOT_LABEL] for labels in zip(*texts, strict=True)]
    weigh = [right - left for left, right in levels]
    weigh.append(np.full(len(numbers), high - low, dtype=np.int64))
    return assemble(column, "intervals", paths, weigh=weigh, domain=high - low)


def mask(column: Column, *, length: int, direction: str = "right") -> tuple[Column, Hierarchy]:
    """Characters masked one by one from the right (or left): 14248, 1424*, 142** … *."""
    values = column.values
    fits = np.array([len(value) == length for value in values], dtype=np.bool_)
    refuse_uncovered(column, fits, f"the mask of length {length} (they are longer or shorter)")

    def masked(value: str, hidden: int) -> str:
        if direction == "left":
            return "*" * hidden + value[hidden:]
        return value[: length - hidden] + "*" * hidden

    paths = [
        [*(masked(value, hidden) for hidden in range(1, length)), ROOT_LABEL] for value in values
    ]
    if column.kind != "category":
        column = replace(column, kind="category", values=values, numbers=None, decimals=0)
    return assemble(column, "mask", paths)


def dates(column: Column, *, levels: Sequence[str] = DATE_LEVELS) -> tuple[Column, Hierarchy]:
    """Days under months, quarters, years and decades (those of them that are listed)."""
    if column.kind != "date" or column.numbers is None:
        raise HierarchyError(
            f"Hierarchy of '{column.name}': dates need a date column, this one is {column.kind}. "
            "Give it `type: date` (and `format:` if it is not written YYYY-MM-DD)."
        )
    if not len(column.numbers):
        return flat(column)
    chosen = [level for level in DATE_LEVELS if level in levels]
    first, last = int(column.numbers[0]), int(column.numbers[-1])
    days = [EPOCH + timedelta(days=int(number)) for number in column.numbers]
    paths = [[*(_date_label(day, level) for level in chosen), ROOT_LABEL] for day in days]
    weigh = []
    for level in chosen:
        bounds = [_date_bounds(day, level) for day in days]
        weigh.append(
            np.array([min(b, last + 1) - max(a, first) for a, b in bounds], dtype=np.int64)
        )
    weigh.append(np.full(len(days), last - first + 1, dtype=np.int64))
    return assemble(column, "dates", paths, weigh=weigh, domain=last - first + 1)


def _ranges(numbers: IntArray, low: int, high: int, step: int) -> tuple[IntArray, IntArray]:
    """The range of each number: where it begins, and where it ends.

    Invariant: a bound that stays at some width stays at every smaller one that divides it, since
    it is at least half a width away from low and high. So levels are nested.
    """
    first, last = low // step, (high - 1) // step
    if first < last and 2 * ((first + 1) * step - low) < step:
        first += 1
    if first < last and 2 * (high - last * step) < step:
        last -= 1
    index = np.clip(numbers // step, first, last)
    begins = np.where(index == first, low, index * step)
    ends = np.where(index == last, high, (index + 1) * step)
    return begins, ends


def _in_common_steps(column: Column, bounds: Sequence[float]) -> tuple[Column, list[int]]:
    """The column and the bounds counted in the finest steps that any of them is written in."""
    assert column.numbers is not None
    parsed = [parse_number(repr(float(bound))) for bound in bounds]
    exact = [bound for bound in parsed if bound is not None]
    decimals = max([column.decimals, *(places for _, places in exact)])
    finer = 10 ** (decimals - column.decimals)
    scaled = [digits * 10 ** (decimals - places) for digits, places in exact]
    reached = [*scaled, *(int(number) * finer for number in column.numbers)]
    if len(exact) < len(parsed) or max(map(abs, reached)) > MAX_EXACT:
        raise HierarchyError(
            f"Hierarchy of '{column.name}': intervals with that many digits cannot be compared "
            "exactly. Round their start, stop and widths."
        )
    return replace(column, numbers=column.numbers * finer, decimals=decimals), scaled


def _refuse_bad_widths(name: str, low: int, high: int, steps: list[int]) -> None:
    if low >= high:
        raise HierarchyError(f"Hierarchy of '{name}': intervals need start below stop.")
    if not steps or steps[0] < 1:
        raise HierarchyError(f"Hierarchy of '{name}': widths must be above 0.")
    for before, after in pairwise(steps):
        if after <= before or after % before:
            raise HierarchyError(
                f"Hierarchy of '{name}': each width must be a multiple of the one before, as in "
                "widths: [5, 10, 30]."
            )


def _date_label(day: date, level: str) -> str:
    return {
        "month": f"{day.year:04d}-{day.month:02d}",
        "quarter": f"{day.year:04d}-Q{(day.month - 1) // 3 + 1}",
        "year": f"{day.year:04d}",
        "decade": f"{day.year // 10 * 10:04d}s",
    }[level]


def _date_bounds(day: date, level: str) -> tuple[int, int]:
    """First day of the part of the calendar that a label names, and the first day after it."""
    months = {"month": 1, "quarter": 3, "year": 12, "decade": 120}[level]
    begin = (day.year * 12 + day.month - 1) // months * months
    return first_day(begin), first_day(begin + months)
