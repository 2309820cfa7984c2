"""What an attacker finds who knows some values of a person, from lists of records alone."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

SLACK = Fraction(1, 10**9)
Cell = str | None
Choice = tuple[int, ...]


@dataclass(frozen=True)
class Person:
    """What a record shows, what it holds, and which crowds it is in whatever is known."""

    shows: tuple[Cell, ...]
    holds: Cell | int
    base: int = 0
    code: int = 0


def crowds(people: Iterable[Person], choice: Choice) -> list[list[Person]]:
    """The people who agree on the chosen attributes."""
    found: dict[tuple[object, ...], list[Person]] = {}
    for person in people:
        found.setdefault((person.base, *(person.shows[a] for a in choice)), []).append(person)
    return list(found.values())


def confidence(crowd: Sequence[Person], values: Sequence[object] | None) -> Fraction:
    """The largest share of a listed value (of any, without a list) in a crowd."""
    held: Counter[object] = Counter(person.holds for person in crowd)
    counted = list(held) if values is None else values
    return max((Fraction(held[value], len(crowd)) for value in counted), default=Fraction(0))


@dataclass(frozen=True)
class Promise:
    """At least K records in every crowd, listed values with a share of at most C."""

    K: int
    C: float
    values: Sequence[object] | None

    def broken_by(self, crowd: Sequence[Person]) -> bool:
        return len(crowd) < self.K or confidence(crowd, self.values) > Fraction(self.C) + SLACK


def varied(people: Sequence[Person]) -> list[int]:
    """The attributes that show at least two labels."""
    columns = zip(*(person.shows for person in people), strict=True)
    return [a for a, shown in enumerate(columns) if len(set(shown)) > 1]


def choices(attributes: Sequence[int], known: int) -> list[Choice]:
    return list(itertools.combinations(attributes, min(known, len(attributes))))


def is_private(people: Sequence[Person], known: int, promise: Promise) -> bool:
    """Definition 3.1 to the letter: every combination of at most `known` values, varied or not."""
    attributes = range(len(people[0].shows))
    return not any(
        promise.broken_by(crowd)
        for size in range(min(known, len(attributes)) + 1)
        for choice in itertools.combinations(attributes, size)
        for crowd in crowds(people, choice)
    )


def bad_cuts(
    people: Sequence[Person], choice: Choice, promise: Promise, low: int, high: int
) -> list[bool]:
    """For each code low..high-1, whether a cut after it leaves a bad crowd on either side."""
    found = []
    for last in range(low, high):
        left = [person for person in people if person.code <= last]
        right = [person for person in people if person.code > last]
        sides = [*crowds(left, choice), *crowds(right, choice)]
        found.append(any(promise.broken_by(crowd) for crowd in sides))
    return found
