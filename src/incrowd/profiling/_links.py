"""Which table holds the patients, and by which columns others name them: told by their values.

Values are compared as a run compares them, by hashes with random keys that are forgotten with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from incrowd.profiling._columns import ColumnFacts
from incrowd.profiling._roles import Guess
from incrowd.profiling._units import speaks_of_people
from incrowd.table.repeats import Linking

_MOSTLY = 0.9
"""A key may repeat in the few rows that a register has twice by mistake."""
_HALF = 0.5
"""So many rows of a table must name somebody for a column to link it."""


@dataclass(frozen=True)
class Examined:
    """One table of several: its cells, and what is known and guessed of each column."""

    frame: pl.DataFrame
    facts: Sequence[ColumnFacts]
    guesses: Sequence[Guess]


@dataclass(frozen=True)
class Link:
    """The column of a table that names patients: in how many rows, and how many of them find one.

    Parameters
    ----------
    column
        Its name.
    rows
        The rows of the table.
    found
        Those that name a patient of the table of patients.
    """

    column: str
    rows: int
    found: int

    @property
    def unmatched(self) -> int:
        """The rows that name nobody."""
        return self.rows - self.found


@dataclass(frozen=True)
class Links:
    """The table of patients, its key, and the columns of other tables that name its patients."""

    patients: str
    key: str
    tables: Mapping[str, Link]


def linked(tables: Mapping[str, Examined]) -> Links | None:
    """How tables hang together: on the table that most others name; None where none is named.

    Of several, that whose key or own name speaks of people, and then that whose rows most find.
    """
    found = [
        Links(name, key, links)
        for name, each in tables.items()
        for key in _keys(each)
        if (links := dict(_links(tables, name, key)))
    ]
    return max(found, key=_strength, default=None)


def _strength(links: Links) -> tuple[float, ...]:
    rows = sum(each.rows for each in links.tables.values())
    found = sum(each.found for each in links.tables.values())
    people = speaks_of_people(links.patients) or speaks_of_people(links.key)
    return (len(links.tables), people, found / rows)


def _keys(table: Examined) -> Iterator[str]:
    """The identifiers of a table that hardly repeat and are always there."""
    for facts, guess in zip(table.facts, table.guesses, strict=True):
        hardly = facts.distinct >= max(2, _MOSTLY * facts.present)
        if guess.role == "identifier" and hardly and facts.present == facts.records:
            yield facts.name


def _links(tables: Mapping[str, Examined], name: str, key: str) -> Iterator[tuple[str, Link]]:
    linking = Linking(key)
    linking.patients(linking.hashes(tables[name].frame.get_column(key)))
    for other, each in tables.items():
        if other != name:
            found = [
                (_likely(facts.name, key, link), link)
                for facts, guess in zip(each.facts, each.guesses, strict=True)
                if guess.role == "identifier" or _named(facts.name, key)
                if (link := _link(linking, each.frame, facts.name)).found >= _HALF * link.rows
            ]
            if found:
                yield other, max(found, key=lambda pair: pair[0])[1]


def _link(linking: Linking, frame: pl.DataFrame, column: str) -> Link:
    numbers = linking.numbers(linking.hashes(frame.get_column(column)))
    return Link(column, frame.height, int((numbers >= 0).sum()))


def _likely(column: str, key: str, link: Link) -> tuple[bool, int]:
    return _named(column, key), link.found


def _named(column: str, key: str) -> bool:
    """Whether a column is called as the key is, or as what stands for people."""
    return column.casefold() == key.casefold() or speaks_of_people(column)
