"""What a researcher wants of an attribute: how much it weighs, and values to be kept apart.

A data constraint rule names two values and an importance. For categories it says that no label
may stand for both. For numbers and dates it is a cut: no label may reach from the first value, or
below, to the second, or above, such as from 64 to 65.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from incrowd._runtime.arrays import FloatArray
from incrowd._runtime.sentences import listed
from incrowd.errors import ParameterError
from incrowd.table import Column
from incrowd.table.coding import parse_date, parse_number


@dataclass(frozen=True)
class Rule:
    """Two values that no label should cover both of, and how much that matters."""

    first: str
    second: str
    importance: float

    def __str__(self) -> str:
        return f"{self.first} apart from {self.second}"


@dataclass(frozen=True)
class Interest:
    """What the researcher wants of one attribute.

    `weight` is its share of the research value of a table. `base` is added to the importance of
    the rules that hold and to that of all rules, so that breaking all of them leaves something.
    """

    name: str
    weight: float
    rules: tuple[Rule, ...] = ()
    base: float = 0.0

    @property
    def importance(self) -> float:
        """What all rules and the base value make together."""
        return sum(rule.importance for rule in self.rules) + self.base

    def pairs(self, column: Column) -> FloatArray:
        """For each rule the codes it keeps apart, the lower one first, and its importance.

        For numbers and dates these are the codes next to the cut: the highest at or below the
        first value and the lowest at or above the second. In both cases a run of codes low..high
        breaks a rule when low is at most its first code and high at least its second.

        Returns
        -------
        array of shape (rules, 3)
            Codes are whole numbers.
        """
        bound = np.zeros((len(self.rules), 3))
        for place, rule in enumerate(self.rules):
            bound[place] = (*sorted(self._codes(rule, column)), rule.importance)
        return bound

    def _codes(self, rule: Rule, column: Column) -> tuple[int, int]:
        if column.numbers is not None:
            return self._beside_cut(rule, column)
        absent = [each for each in (rule.first, rule.second) if each not in column.values]
        if absent:
            raise ParameterError(
                f"Rules of '{self.name}': {listed(absent)} does not occur in it. Write values as "
                "the data has them, or leave the rule out."
            )
        return column.values.index(rule.first), column.values.index(rule.second)

    def _beside_cut(self, rule: Rule, column: Column) -> tuple[int, int]:
        numbers = column.numbers
        assert numbers is not None
        low, high = sorted(
            (self._position(rule.first, column), self._position(rule.second, column))
        )
        if not low < high:
            raise ParameterError(
                f"Rules of '{self.name}': {rule} names one value twice. Name the two that are to "
                "be kept apart, as in `apart: [64, 65]`."
            )
        below = int(np.searchsorted(numbers, low, side="right")) - 1
        above = int(np.searchsorted(numbers, high, side="left"))
        if below < 0 or above >= len(numbers):
            side = f"{rule.first} or lower" if below < 0 else f"{rule.second} or higher"
            raise ParameterError(
                f"Rules of '{self.name}': no record has {side}, so there is nothing to keep apart "
                "there. Correct the rule, or leave it out."
            )
        return below, above

    def _position(self, text: str, column: Column) -> float:
        """Where a value lies on the axis of a column of numbers or dates."""
        if column.kind == "date":
            day = parse_date(text)
            if day is not None:
                return day
            raise ParameterError(
                f"Rules of '{self.name}': '{text}' is not a date. Write dates as YYYY-MM-DD."
            )
        number = parse_number(text)
        if number is None:
            raise ParameterError(
                f"Rules of '{self.name}': '{text}' is not a number, but the attribute is numeric. "
                "Name two numbers, as in `apart: [64, 65]`."
            )
        return number[0] * 10.0 ** (column.decimals - number[1])
