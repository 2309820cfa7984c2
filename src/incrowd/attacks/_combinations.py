"""Which combinations of quasi-identifiers single records out, and how many records each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import comb

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd._runtime.plain_fields import PlainFields

ALL_UP_TO = 10
"""With at most this many attributes, all their combinations are counted."""
_SIZES_BEYOND = 3
_MOST_COMBINATIONS = 12_000
_SPAN_PER_ROW = 8
_SMALL_SPAN = 1 << 12


@dataclass(frozen=True)
class Combination(PlainFields):
    """A combination of attributes, and how many records are unique on it."""

    attributes: tuple[str, ...]
    uniques: int
    share: float


def largest_size(attributes: int) -> int:
    """How many attributes the counted combinations have at most.

    All of them up to 10 attributes; beyond that 3, and fewer where even those would be more than
    12,000 combinations.
    """
    if attributes <= ALL_UP_TO:
        return attributes
    size = _SIZES_BEYOND
    while size > 1 and sum(comb(attributes, each) for each in range(1, size + 1)) > (
        _MOST_COMBINATIONS
    ):
        size -= 1
    return size


def count_uniques(
    columns: Sequence[npt.NDArray[np.integer]], cardinalities: Sequence[int], sizes: IntArray
) -> dict[tuple[int, ...], int]:
    """For each combination of columns (ascending positions), how many records are unique on it.

    `columns` hold the codes of the distinct rows and `sizes` how many records share each row.
    Combinations without a unique record are left out.

    Notes
    -----
    A row that is alone on some attributes is alone on all more. So each combination is counted
    from one with an attribute less, on the rows that are not alone there, and these become few
    quickly: attributes with many values come first.
    """
    if not bool((sizes == 1).any()):
        return {}
    order = sorted(range(len(columns)), key=lambda at: (-cardinalities[at], at))
    walk = _Walk(
        [columns[at] for at in order],
        [max(cardinalities[at], 1) for at in order],
        sizes == 1,
        largest_size(len(columns)),
    )
    return {
        tuple(sorted(order[at] for at in chosen)): uniques
        for chosen, uniques in walk.below((), walk.everything())
        if uniques
    }


@dataclass(frozen=True)
class _RowsOfCrowds:
    """The rows that are not alone on some attributes, and the number of the crowd of each.

    `rows` is None for all rows. `uniques` counts the records that are alone.
    """

    rows: IntArray | None
    crowd: IntArray
    crowds: int
    uniques: int


@dataclass(frozen=True)
class _Walk:
    """Depth-first over the combinations, adding one attribute at a time."""

    columns: list[npt.NDArray[np.integer]]
    cardinalities: list[int]
    one_record: BoolArray
    largest: int

    def everything(self) -> _RowsOfCrowds:
        """All rows in one crowd."""
        return _RowsOfCrowds(None, np.zeros(len(self.one_record), dtype=np.int64), 1, 0)

    def below(
        self, chosen: tuple[int, ...], crowds: _RowsOfCrowds
    ) -> Iterator[tuple[tuple[int, ...], int]]:
        """Every combination that adds later attributes to `chosen`, with its uniques."""
        for at in range(chosen[-1] + 1 if chosen else 0, len(self.columns)):
            added = (*chosen, at)
            last = len(added) == self.largest or at == len(self.columns) - 1
            split = self._split(crowds, at, last=last) if len(crowds.crowd) else crowds
            yield added, split.uniques
            if not last:
                yield from self.below(added, split)

    def _split(self, before: _RowsOfCrowds, at: int, *, last: bool) -> _RowsOfCrowds:
        """The crowds that remain when one more attribute tells rows apart; if last, unnamed."""
        cardinality = self.cardinalities[at]
        codes = self.columns[at] if before.rows is None else self.columns[at][before.rows]
        number, numbers = _numbered(before.crowd * cardinality + codes, before.crowds * cardinality)
        many = np.bincount(number, minlength=numbers) > 1
        stays = many[number]
        alone = np.flatnonzero(~stays) if before.rows is None else before.rows[~stays]
        uniques = before.uniques + int(np.count_nonzero(self.one_record[alone]))
        if last:
            return _RowsOfCrowds(before.rows, before.crowd, before.crowds, uniques)
        rows = np.flatnonzero(stays) if before.rows is None else before.rows[stays]
        rank = np.cumsum(many) - 1
        return _RowsOfCrowds(rows, rank[number[stays]], int(rank[-1]) + 1, uniques)


def _numbered(key: IntArray, span: int) -> tuple[IntArray, int]:
    """Equal keys get equal numbers below the second result, which is of the order of the keys."""
    if span <= _SPAN_PER_ROW * len(key) + _SMALL_SPAN:
        return key, span
    distinct, number = np.unique(key, return_inverse=True)
    return number, len(distinct)


def strongest(
    counted: dict[tuple[int, ...], int], names: Sequence[str], records: int, top: int
) -> tuple[Combination, ...]:
    """The combinations that single out most, none with an attribute that adds nothing.

    Ranked by uniques, then by fewer attributes, then by the order of the attributes. A
    combination is left out when dropping one of its attributes leaves as many uniques.
    """
    ranked = sorted(counted, key=lambda chosen: (-counted[chosen], len(chosen), chosen))
    needed = (chosen for chosen in ranked if _all_needed(chosen, counted))
    return tuple(_combination(chosen, counted, names, records) for chosen in islice(needed, top))


def strongest_of_each_size(
    counted: dict[tuple[int, ...], int], names: Sequence[str], records: int
) -> tuple[Combination, ...]:
    """For each number of attributes the combination that singles out most, if any does."""
    best: dict[int, tuple[int, ...]] = {}
    for chosen in sorted(counted, key=lambda each: (-counted[each], each)):
        best.setdefault(len(chosen), chosen)
    return tuple(_combination(best[size], counted, names, records) for size in sorted(best))


def _all_needed(chosen: tuple[int, ...], counted: dict[tuple[int, ...], int]) -> bool:
    return all(
        counted.get(tuple(each for each in chosen if each != at), 0) < counted[chosen]
        for at in chosen
    )


def _combination(
    chosen: tuple[int, ...],
    counted: dict[tuple[int, ...], int],
    names: Sequence[str],
    records: int,
) -> Combination:
    uniques = counted[chosen]
    return Combination(tuple(names[at] for at in chosen), uniques, uniques / records)
