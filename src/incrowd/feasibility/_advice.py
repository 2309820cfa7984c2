"""Advice: which attribute stands most in the way, and how many records would be enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from incrowd._runtime.arrays import FloatArray
from incrowd.feasibility._cells import COARSE, ChanceCells, halved, leaving_out_each, of_weights
from incrowd.feasibility._closed_form import QUICK, chance_of, expected_below

MOST_RECORDS = 10**15
"""More records than these are not counted: nobody has them."""
_DIGITS = 6  # of chances and shares; what differs after them is taken as the same


@dataclass(frozen=True)
class Advice:
    """What becomes of the chance when one attribute is coarser, or not there."""

    attribute: str
    values: int
    halved: float
    """The chance with half as many values of the attribute."""
    left_out: float
    """The chance without the attribute."""
    below_k: float
    """The records expected in groups below k without the attribute."""


def advise(
    names: Sequence[str], weights: Sequence[FloatArray], records: int, k: int
) -> list[Advice]:
    """What each attribute costs, the one to generalize or leave out first at the top.

    Leaving an attribute out, or making it coarser, never lowers the chance: groups can only grow.
    The order is by the chance without it; where all chances are as good as 0 or 1, by the records
    then expected in groups below k; and of attributes that are alike, the one with more values.

    Notes
    -----
    Chances are thinned to about a thousand different ones, which is enough for an order.
    Cost: about five products of cells, and two closed forms, per attribute.
    """
    parts = [of_weights(each) for each in weights]
    found = []
    for name, given, others in zip(names, weights, leaving_out_each(parts), strict=True):
        coarser = others.times(of_weights(halved(given)), COARSE)
        found.append(
            Advice(
                attribute=name,
                values=len(given),
                halved=chance_of(coarser, records, k, work=QUICK).value,
                left_out=chance_of(others, records, k, work=QUICK).value,
                below_k=expected_below(others, records, k),
            )
        )

    def order(each: Advice) -> tuple[float, float, int]:
        return -round(each.left_out, _DIGITS), round(each.below_k / records, _DIGITS), -each.values

    return sorted(found, key=order)


def records_needed(cells: ChanceCells, records: int, k: int, target: float) -> int | None:
    """How many records have a chance of `target`: the number nearest to `records` on its way up.

    Where `records` have less than the target, the first larger number found that reaches it; where
    they have as much or more, the smallest one below them from which the chance is as high. None
    where 10^15 are not enough.

    Notes
    -----
    The chance rises with the records once each combination is likely to occur. Below that it may
    fall, since records too few to show the rare combinations do not show any that is too small. So
    the search doubles (or halves) the number and then closes in by halves; the answer is a number
    at which the chance crosses the target.
    """

    def reaches(number: int) -> bool:
        return chance_of(cells, number, k, work=QUICK).value >= target

    enough = max(records, k)
    if reaches(enough):
        too_few = enough
        while reaches(too_few):
            if too_few == k:
                return k
            enough, too_few = too_few, max(k, too_few // 2)
    else:
        too_few = enough
        while not reaches(enough):
            if enough > MOST_RECORDS:
                return None
            too_few, enough = enough, enough * 2
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        too_few, enough = (too_few, middle) if reaches(middle) else (middle, enough)
    return enough
