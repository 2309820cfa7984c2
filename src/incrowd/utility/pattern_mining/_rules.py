"""The rules of patterns: conditions on attributes, written for people and asked of cells.

A raw cell satisfies a condition or not. A published cell may stand for several values, so it does
surely, surely not, or perhaps. A condition that is not `sure` is satisfied by cells that perhaps
do, and says so: `age perhaps < 28`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from incrowd._runtime.arrays import FloatArray
from incrowd._runtime.plain_fields import PlainFields
from incrowd.query.conditions import Condition, Operator, Value
from incrowd.query.meanings import LabelColumn
from incrowd.query.published_columns import Reading, read_column
from incrowd.query.wanted import NumberAxis, Wanted
from incrowd.table.coding import parse_date

RuleOperator = Literal[">=", "<", "in", "not in"]
PERHAPS = 0.5
"""The chance of a cell of which nothing is known."""

_BARE = re.compile(r"[^\s\"'(),=<>!]+")
_WORDS = ("and", "or", "not", "between", "in", "is", "missing", "perhaps")
_SURE = 1 - 1e-12
_AS_ASKED: dict[RuleOperator, Operator] = {">=": ">=", "<": "<", "in": "in", "not in": "!="}


@dataclass(frozen=True)
class RuleCondition(PlainFields):
    """One condition on one attribute.

    `values` are one bound, or the values of a list, the empty text for a missing cell. `label` is
    what the hierarchy calls the list; without values, a label of which no more is known.
    """

    attribute: str
    operator: RuleOperator
    values: tuple[str, ...]
    label: str | None = None
    sure: bool = True

    def __str__(self) -> str:
        """The condition as a person reads it; a sure one as `incrowd query` does."""
        name = _quoted(self.attribute, '"')
        perhaps = "" if self.sure else "perhaps "
        if self.operator in (">=", "<"):
            return f"{name} {perhaps}{self.operator} {_quoted(self.values[0], chr(39))}"
        if self.label is not None:
            sign = "in" if self.operator == "in" else "not in"
            return f"{name} {perhaps}{sign} {_quoted(self.label, chr(39))}"
        if self.operator == "not in":
            return " and ".join(
                f"{name} {perhaps}{_different(value)}" for value in sorted(self.values)
            )
        if self.values == ("",):
            return f"{name} {perhaps}is missing"
        shown = [_quoted(value, "'") if value else "missing" for value in self.values]
        if len(shown) == 1:
            return f"{name} {perhaps}= {shown[0]}"
        return f"{name} {perhaps}in ({', '.join(shown)})"


RuleConditions = tuple[RuleCondition, ...]
"""Conditions that all hold."""


def rule_text(rule: RuleConditions) -> str:
    """The rule as a person reads it.

    Example
    -------
    >>> young = RuleCondition("age", "<", ("28",), sure=False)
    >>> rule_text((RuleCondition("gain", "<", ("7298",)), young))
    'gain < 7298 and age perhaps < 28'
    """
    return " and ".join(str(condition) for condition in rule) or "every record"


def tidied(rule: Sequence[RuleCondition]) -> RuleConditions:
    """The rule without what follows from another condition on the same attribute.

    Of several bounds on one side the tightest counts, and a value that must be this one needs no
    word on what it must not be. Attributes stay in the order in which they first occur.
    """
    named = {each.attribute for each in rule if _one_value(each)}
    kept: dict[tuple[str, str, bool, object], RuleCondition] = {}
    for condition in rule:
        if condition.attribute in named and not _one_value(condition):
            continue
        bound = condition.operator in (">=", "<")
        which = None if bound else (condition.values, condition.label)
        key = (condition.attribute, condition.operator, condition.sure, which)
        if key not in kept or (bound and _tighter(condition, kept[key])):
            kept[key] = condition
    order = list(dict.fromkeys(condition.attribute for condition in rule))
    return tuple(sorted(kept.values(), key=lambda each: order.index(each.attribute)))


def _one_value(condition: RuleCondition) -> bool:
    return condition.operator == "in" and condition.sure and len(condition.values) == 1


def _tighter(condition: RuleCondition, other: RuleCondition) -> bool:
    ours, theirs = _place(condition.values[0]), _place(other.values[0])
    return ours > theirs if condition.operator == ">=" else ours < theirs


def _place(bound: str) -> Fraction:
    """Where a bound stands among the numbers, or the dates, of its attribute."""
    day = parse_date(bound)
    return Fraction(bound) if day is None else Fraction(day)


def as_asked(conditions: Sequence[RuleCondition]) -> list[Condition]:
    """The conditions in the language of queries, missing cells left out."""
    return [
        Condition(
            each.attribute,
            _AS_ASKED[each.operator],
            tuple(Value(value, 1) for value in each.values if value),
            1,
        )
        for each in conditions
    ]


def chances(
    column: LabelColumn, conditions: Sequence[RuleCondition], reading: Reading | None = None
) -> FloatArray:
    """For each label (then for a missing cell) the chance that it satisfies all conditions.

    A missing cell is a value of its own: it satisfies `!=`, and no comparison. A label of which
    nothing is known satisfies everything perhaps. `reading` is the column's, if it is at hand.

    Notes
    -----
    1 where every value that the label may stand for satisfies them, 0 where none does, and in
    between the share of the values that do. O(values that the labels list).
    """
    listed = [each for each in conditions if each.values or each.label is None]
    if reading is None or not _knows(reading, listed):
        reading = read_column(column, as_asked(listed))
    found = np.ones(len(column.labels) + 1)
    if listed:
        found = shares(reading, wanted_of(reading, listed))
    for condition in conditions:
        if not condition.values and condition.label is not None:
            found *= _same_label(column, condition)
    return found


def wanted_of(reading: Reading, conditions: Sequence[RuleCondition]) -> Wanted:
    """What satisfies all conditions on one attribute."""
    found: Wanted | None = None
    for condition, asked in zip(conditions, as_asked(conditions), strict=True):
        missing = condition.operator in ("in", "not in") and (
            ("" in condition.values) == (condition.operator == "in")
        )
        one = replace(reading.axis.wanted(asked), missing=missing)
        found = one if found is None else found.both(one)
    assert found is not None
    return found


def shares(reading: Reading, wanted: Wanted) -> FloatArray:
    """For each label the chance that it is wanted, `PERHAPS` where nothing is known of it."""
    cells = reading.cells
    unplaced = [label for label, cell in cells.vague.items() if cell.unplaced]
    readable = replace(
        cells,
        unreadable=np.zeros_like(cells.unreadable),
        vague={label: cell for label, cell in cells.vague.items() if not cell.unplaced},
    )
    result = readable.shares(wanted)
    result[cells.unreadable] = PERHAPS
    result[unplaced] = PERHAPS
    return result


def surely(chance: FloatArray) -> Any:
    """Where a chance is certainty, whatever rounding made of it."""
    return chance >= _SURE


def _knows(reading: Reading, conditions: Sequence[RuleCondition]) -> bool:
    """Whether a reading has a place for every value of the conditions."""
    axis = reading.axis
    return isinstance(axis, NumberAxis) or all(
        value in axis.positions for each in conditions for value in each.values if value
    )


def _same_label(column: LabelColumn, condition: RuleCondition) -> FloatArray:
    same = np.array([*(label == condition.label for label in column.labels), False])
    result: FloatArray = (same == (condition.operator == "in")).astype(np.float64)
    return result


def _different(value: str) -> str:
    return f"!= {_quoted(value, chr(39))}" if value else "is not missing"


def _quoted(text: str, quote: str) -> str:
    """The text as the language of queries writes it."""
    if _BARE.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return quote + text.replace(quote, quote * 2) + quote
