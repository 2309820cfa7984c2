"""Deletions of sensitive values, from the definitions and figures of the paper, over plain rows.

Gal, Chen, Gangopadhyay (2008), A privacy protection model for patient data with multiple sensitive
attributes. A row is a tuple with a cell for each sensitive attribute; a value is an attribute and
one of its cells, so that no two attributes share any. A limit of None is no limit.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Cell = str | None
Row = tuple[Cell, ...]
Value = tuple[int, Cell]
Limits = Sequence[int | None]


def in_order(rows: Sequence[Row]) -> list[Row]:
    """Rows as incrowd numbers their combinations: ascending, a missing cell after all others."""
    return sorted(rows, key=lambda row: [(cell is None, cell or "") for cell in row])


def values_of(row: Row) -> list[Value]:
    return list(enumerate(row))


def within(chosen: Sequence[Value], limits: Limits) -> bool:
    taken = Counter(attribute for attribute, _ in chosen)
    return all(limit is None or taken[a] <= limit for a, limit in enumerate(limits))


def fewest(rows: Sequence[Row], limits: Limits) -> int | None:
    """The size of the smallest set of values within the limits that every row holds one of."""
    different = set(rows)
    values = sorted({value for row in different for value in values_of(row)}, key=str)
    for number in range(len(values) + 1):
        for chosen in itertools.combinations(values, number):
            deleted = set(chosen)
            if within(chosen, limits) and all(deleted & set(values_of(row)) for row in different):
                return number
    return None


def is_diverse(rows: Sequence[Row], l: int, limits: Limits) -> bool:  # noqa: E741
    """Definitions 6 and 7, without k; rows that can never all be deleted pass."""
    needed = fewest(rows, limits)
    return needed is None or needed >= l


def rarest_first(rows: Sequence[Row]) -> list[Row]:
    """Fig. 6, lines 1 to 3; rows of the same total frequency stay in the order they are in."""
    frequency = Counter(value for row in rows for value in values_of(row))
    return sorted(rows, key=lambda row: sum(frequency[value] for value in values_of(row)))


def independent_rows(rows: Sequence[Row], most: int) -> list[Row]:
    """Fig. 6, lines 4 to 10: rows that share no value, up to `most`."""
    chosen: list[Row] = []
    for row in rarest_first(rows):
        taken = {value for other in chosen for value in values_of(other)}
        if not taken & set(values_of(row)):
            chosen.append(row)
        if len(chosen) == most:
            break
    return chosen


def most_frequent(rows: Sequence[Row], number: int, limits: Limits) -> list[tuple[Value, int]]:
    """Fig. 7, line 7: the values most frequent in the rows, as many as the limits leave."""
    frequency = Counter(value for row in rows for value in values_of(row))
    selected: list[tuple[Value, int]] = []
    for value, count in frequency.most_common():
        chosen = [other for other, _ in selected]
        if len(selected) < number and within([*chosen, value], limits):
            selected.append((value, count))
    return selected


def proves(rows: Sequence[Row], number: int, limits: Limits) -> bool:
    """Theorem 6: whether the rows surely need as many deletions, from frequencies alone.

    With as many values, each deletes a row or more: one value fewer cannot delete all rows if
    these delete no more rows than there are. If the limits leave fewer values, then all of them
    together must miss a row, which is never deleted.
    """
    selected = most_frequent(rows, number, limits)
    together = sum(count for _, count in selected)
    return together <= len(rows) if len(selected) == number else together < len(rows)


@dataclass(frozen=True)
class Step:
    """The rows collected so far, and how many deletions they are proved to need."""

    rows: tuple[Row, ...]
    proved: int


def steps_with_limits(rows: Sequence[Row], needed: int, limits: Limits) -> Iterator[Step]:
    """Fig. 7 step by step, first for the number proved so far, then for one more."""
    collected = independent_rows(rows, needed)
    proved = len(collected)
    yield Step(tuple(collected), proved)
    if proved >= needed:
        return
    waiting = rarest_first(rows)
    for row in collected:
        waiting.remove(row)
    for row in waiting:
        if not proves([*collected, row], proved, limits):
            continue
        collected.append(row)
        proved += proves(collected, proved + 1, limits)
        yield Step(tuple(collected), proved)
        if proved == needed:
            return


def proved_with_limits(rows: Sequence[Row], needed: int, limits: Limits) -> int:
    """How many deletions fig. 7 proves, up to `needed`."""
    *_, last = steps_with_limits(rows, needed, limits)
    return last.proved


def greedy_says_yes(rows: Sequence[Row], l: int, limits: Limits) -> bool:  # noqa: E741
    """Fig. 6 without limits, fig. 7 with some."""
    if all(limit is None for limit in limits):
        return len(independent_rows(rows, l)) >= l
    return proved_with_limits(rows, l, limits) >= l


def fewest_where_others_agree(rows: Sequence[Row]) -> int:
    """Exponential l: the fewest values of an attribute among rows that agree on all others."""
    return min(
        len({other[a] for other in rows if without(other, a) == without(row, a)})
        for row in rows
        for a in range(len(row))
    )


def without(row: Row, attribute: int) -> Row:
    return row[:attribute] + row[attribute + 1 :]
