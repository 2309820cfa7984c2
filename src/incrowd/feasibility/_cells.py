"""Cells: the combinations of some attributes' values, by how likely a record is to fall into each.

Cells that are equally likely are kept once, with their number, so that twenty binary attributes
are one line and not a million. Attributes are taken as independent: the chance of a cell is the
product of the chances of its values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from incrowd._runtime.arrays import FloatArray

FINE, COARSE = 4096, 1024
"""How many different chances are kept apart: for an answer, and for comparing attributes."""
_SAME = 1e-12  # chances that differ by less than this share are one
_LEAST = 1e-300  # where the product of many small chances would be 0


@dataclass(frozen=True)
class ChanceCells:
    """Chances in ascending order, each with the number of cells that have it."""

    chance: FloatArray
    number: FloatArray
    exact: bool = True
    """Whether all different chances are kept apart."""

    @property
    def total(self) -> float:
        """How many cells there are."""
        return float(self.number.sum())

    def times(self, other: ChanceCells, limit: int = FINE) -> ChanceCells:
        """The cells of two independent parts together, with at most about `limit` chances."""
        exact = self.exact and other.exact
        chance = np.multiply.outer(self.chance, other.chance).ravel()
        number = np.multiply.outer(self.number, other.number).ravel()
        chance = np.maximum(chance, _LEAST)
        if len(chance) > 4 * limit:  # too many to sort for equal ones
            return _thinned(chance, number, limit)
        found = _collected(chance, number, exact)
        return found if len(found.chance) <= limit else _thinned(found.chance, found.number, limit)


def uniform(domain: int) -> ChanceCells:
    """The cells of one attribute whose values are equally likely."""
    return ChanceCells(np.array([1.0 / domain]), np.array([float(domain)]))


def of_weights(weights: Sequence[float] | FloatArray) -> ChanceCells:
    """The cells of one attribute, each value as likely as its weight says."""
    given = np.asarray(weights, dtype=np.float64)
    given = given[given > 0]
    return _collected(given / given.sum(), np.ones(len(given)), exact=True)


def product(parts: Sequence[ChanceCells], limit: int = FINE) -> ChanceCells:
    """The cells of all attributes together; one cell that holds everyone when there is none.

    Notes
    -----
    Cost: per attribute, its number of different chances times at most `limit`.

    Example
    -------
    >>> cells = product([uniform(2), uniform(2), of_weights([3, 1])])
    >>> cells.chance.tolist(), cells.number.tolist()
    ([0.0625, 0.1875], [4.0, 4.0])
    """
    found = uniform(1)
    for part in sorted(parts, key=lambda each: len(each.chance)):
        found = found.times(part, limit)
    return found


def leaving_out_each(parts: Sequence[ChanceCells], limit: int = COARSE) -> list[ChanceCells]:
    """For each attribute, the cells of all the others.

    Products from the left and from the right are shared, so that the cost is three products per
    attribute, not one for every pair of them.
    """
    left, right = [uniform(1)], [uniform(1)]
    for part in parts[:-1]:
        left.append(left[-1].times(part, limit))
    for part in reversed(parts[1:]):
        right.append(right[-1].times(part, limit))
    return [before.times(after, limit) for before, after in zip(left, reversed(right), strict=True)]


def halved(weights: FloatArray) -> FloatArray:
    """Half as many values: the most frequent joined by the least frequent, and so on inwards.

    An attribute of two values or one becomes one value. What the values mean is not known here,
    so this is a fair picture of a coarser attribute and not a hierarchy.
    """
    ordered = np.sort(np.asarray(weights, dtype=np.float64))
    middle = len(ordered) // 2
    kept, merged = ordered[middle:].copy(), ordered[:middle]
    kept[len(kept) - middle :] += merged[::-1]
    return kept


def _thinned(chance: FloatArray, number: FloatArray, limit: int) -> ChanceCells:
    """At most `limit` different chances, near ones replaced by their mean.

    The chances still sum to 1. A chance moves by the width of its bin at most, up or down as often,
    so that what it changes in a smooth sum is of second order in the width.
    """
    logs = np.log(chance)
    low, high = float(logs.min()), float(logs.max())
    place = ((logs - low) * ((limit - 1) / (high - low))).astype(np.int64)
    together: FloatArray = np.bincount(place, weights=number, minlength=limit).astype(np.float64)
    mass = np.bincount(place, weights=number * chance, minlength=limit)
    held = together > 0
    return ChanceCells(mass[held] / together[held], together[held], exact=False)


def _collected(chance: FloatArray, number: FloatArray, exact: bool) -> ChanceCells:
    order = np.argsort(chance, kind="stable")
    chance, number = chance[order], number[order]
    starts = np.flatnonzero(np.append(True, np.diff(chance) > _SAME * chance[1:]))
    together: FloatArray = np.add.reduceat(number, starts, dtype=np.float64)
    mean: FloatArray = np.add.reduceat(number * chance, starts, dtype=np.float64) / together
    return ChanceCells(mean, together, exact)
