"""Profile: what a file holds, column by column, with a guess for every role and its reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from incrowd._runtime.plain_fields import PlainFields, plain, plain_fields
from incrowd._runtime.unchanged import Unchanged, unchanged
from incrowd.profiling._columns import ColumnFacts, measure
from incrowd.profiling._events import guess_event
from incrowd.profiling._roles import Guess, guess_roles
from incrowd.profiling._suggestions import Suggestion, suggest
from incrowd.profiling._units import UnitGuess, guess_unit, no_patients
from incrowd.profiling._varying import Varying, role_of_events, varying
from incrowd.sources import SourceLike, as_source, read
from incrowd.sources.files import TextOptions
from incrowd.table import Kind, Role
from incrowd.table.date_formats import DateFormat
from incrowd.table.dictionary import as_text
from incrowd.table.repeats import repeats_in
from incrowd.table.spellings import fold

_MANY_QUASI = 15


@dataclass(frozen=True)
class ColumnProfile(PlainFields):
    """One column: what it holds, which role it probably has and why. No cell of it is kept.

    `kind` is numeric, category or date, and `format` how its dates are written when that is not
    YYYY-MM-DD. `missing`, `uniqueness` and `top_share` are shares of the records: those without a
    value, those with a value that no other record has, those with the most frequent value.
    `type` and `hierarchy` are what a policy should say; None where it need not say anything.
    `rank` orders sensitive attributes, the most harmful first.
    """

    name: str
    kind: Kind
    format: str | None
    distinct: int
    missing: float
    uniqueness: float
    top_share: float
    role: Role
    reason: str
    type: Kind | None
    hierarchy: Mapping[str, Any] | None
    rank: int
    warnings: tuple[str, ...]
    level: str = "patient"
    """`event` where it varies between the rows of a patient."""
    take: str | None = None
    """Which value stands for a patient where a few differ between rows."""


@dataclass(frozen=True)
class Profile:
    """A whole file: its columns in order, its number of records, and how it was read.

    `unit` is what a row probably is, as `unit:` of a policy says it. `reading` holds the options
    that a policy must repeat to read the same records: query, separator, encoding, header. `chosen`
    tells that only some columns were read. `patients` is how many there are where some have several
    rows, which are gathered, and else None.
    """

    source: str
    records: int
    columns: tuple[ColumnProfile, ...]
    unit: UnitGuess
    warnings: tuple[str, ...] = ()
    reading: Mapping[str, str | bool] = field(default_factory=dict)
    chosen: bool = False
    patients: int | None = None

    def __getitem__(self, name: str) -> ColumnProfile:
        return next(column for column in self.columns if column.name == name)

    def of_role(self, *roles: Role) -> tuple[ColumnProfile, ...]:
        """The columns of these roles, in the order of the file."""
        return tuple(column for column in self.columns if column.role in roles)

    @property
    def counted(self) -> str:
        """What a run by these guesses counts, in the singular."""
        return "record" if self.patients is None else "patient"

    @property
    def how_many(self) -> int:
        """How many of what is counted."""
        return self.records if self.patients is None else self.patients

    @property
    def unchanged(self) -> tuple[Unchanged, ...]:
        """The columns that a release by these roles publishes as they are, with the reason.

        Which promise there is about them, the person who reads the policy decides.
        """
        shown = [(column.name, column.role) for column in self.columns]
        return tuple(
            replace(each, why=f"role {each.role}. {self[each.column].reason}")
            for each in unchanged(shown, "generalized", ())
        )

    def as_dict(self) -> dict[str, Any]:
        """The profile as plain values, for JSON."""
        without = ("reading", "chosen", *(("patients",) if self.patients is None else ()))
        return {**plain_fields(self, without=without), "unchanged": plain(self.unchanged)}


def profile(
    source: SourceLike,
    *,
    query: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    columns: Sequence[str] | None = None,
) -> Profile:
    """Return what a file, frame or database holds, with a role and a reason for every column.

    Parameters
    ----------
    source, query, separator, encoding, header, columns
        As for `incrowd.sources.read`.

    Raises
    ------
    InputError
        The source cannot be read, or every column looks like an identifier.

    Notes
    -----
    Every cell is looked at, so a type holds for all records; what free text, addresses and codes
    look like is judged from about ten thousand cells of a column. No cell is kept: bounds of
    numbers are rounded outward to tens.

    Examples
    --------
    >>> import polars
    >>> table = polars.DataFrame({"age": [34, 51, 34, 47], "sex": ["F", "M", "F", "M"]})
    >>> [(column.name, column.role) for column in profile(table).columns]
    [('age', 'quasi'), ('sex', 'quasi')]
    """
    text = TextOptions(separator=separator, encoding=encoding, header=header)
    table = as_source(source)
    frame = read(table, query=query, **text, columns=columns)
    with ThreadPoolExecutor() as pool:
        facts = list(pool.map(measure, frame.get_columns()))
    guesses = guess_roles(facts)
    described = tuple(
        described_column(frame, each, guess, suggest(each, guess))
        for each, guess in zip(facts, guesses, strict=True)
    )
    identifiers = [each.name for each in described if each.role == "identifier"]
    repeats = repeats_in(frame, identifiers)
    unit = guess_unit(repeats)
    repeating = [each for each in repeats if each.any and each.column == unit.unit]
    patients = repeating[0].distinct if repeating else None
    if patients is not None:
        of_patients = _by_patient(frame, unit.unit, described, facts)
        if any(each.role == "quasi" for each in of_patients):
            described = of_patients
        else:
            unit, patients = no_patients(unit), None
    options = {"query": query, **text}
    return Profile(
        source=table.label,
        records=frame.height,
        columns=described,
        unit=unit,
        warnings=_warnings(described),
        reading={name: value for name, value in options.items() if isinstance(value, str | bool)},
        chosen=columns is not None,
        patients=patients,
    )


def _by_patient(
    frame: pl.DataFrame,
    unit: str,
    columns: Sequence[ColumnProfile],
    facts: Sequence[ColumnFacts],
) -> tuple[ColumnProfile, ...]:
    """The columns with what varies between the rows of a patient, and the role that follows."""
    found = varying(frame, unit, [each.name for each in columns if each.name != unit])
    described = []
    for column, measured in zip(columns, facts, strict=True):
        seen = found.get(column.name)
        if seen is None or not seen.differing:
            described.append(column)
        elif column.role == "identifier":
            described.append(_left_out(frame, column, measured, seen))
        elif seen.take is not None:
            reason = f"{column.reason} {seen.told} The most frequent value is taken."
            described.append(replace(column, reason=reason, take=seen.take))
        else:
            described.append(_of_events(column, seen))
    return tuple(described)


def _left_out(
    frame: pl.DataFrame, column: ColumnProfile, facts: ColumnFacts, seen: Varying
) -> ColumnProfile:
    """A column that names nobody for sure and varies: codes of a clinical kind are sensitive."""
    if seen.level != "event" or not column.warnings:
        return column
    guess = guess_event(facts, "")
    if guess.role != "sensitive":
        return replace(column, reason=f"{column.reason} {seen.told}", level="event", warnings=())
    told = described_column(frame, facts, guess, suggest(facts, guess))
    return _of_events(told, seen)


def _of_events(column: ColumnProfile, seen: Varying) -> ColumnProfile:
    """A column that varies within a patient; what others may know of events stays out."""
    role = role_of_events(column.role)
    reason = f"{column.reason} {seen.told}"
    if column.role == "quasi":
        reason += (
            " Not published: of events it takes a promise about who knows some of a patient's, and "
            "the role quasi."
        )
    plain = role == "identifier"
    return replace(
        column, role=role, reason=reason, level="event",
        type=None if plain else column.type, hierarchy=None,
    )  # fmt: skip


def described_column(
    frame: pl.DataFrame, facts: ColumnFacts, guess: Guess, suggestion: Suggestion
) -> ColumnProfile:
    """What a profile says of a column of a frame."""
    return replace(_described(facts, guess, suggestion), distinct=_values(frame, facts, guess))


def _described(facts: ColumnFacts, guess: Guess, suggestion: Suggestion) -> ColumnProfile:
    written = facts.written
    seen = facts.remarks if guess.role != "identifier" or facts.nearly is not None else ()
    return ColumnProfile(
        name=facts.name,
        kind=facts.kind,
        format=None if written is None or written.is_iso else written.format,
        distinct=facts.distinct,
        missing=facts.missing,
        uniqueness=facts.uniqueness,
        top_share=facts.top_share,
        role=guess.role,
        reason=_with_format(guess, written),
        type=suggestion.type,
        hierarchy=suggestion.hierarchy,
        rank=guess.rank,
        warnings=(*guess.remarks, *suggestion.remarks, *seen),
    )


def _values(frame: pl.DataFrame, facts: ColumnFacts, guess: Guess) -> int:
    """How many values a column has; spellings of a sensitive one are one, as in a run."""
    if guess.role != "sensitive" or facts.kind != "category":
        return facts.distinct
    return len(fold(as_text(frame[facts.name]).drop_nulls().unique().to_list()).values)


def _with_format(guess: Guess, written: DateFormat | None) -> str:
    """The reason, with how the dates are written where that is not plain."""
    if written is None or written.is_iso or guess.role == "identifier":
        return guess.reason
    how = f"written {written.format}"
    if written.ambiguous:
        how += ", or month first: no number above 12 tells"
    return f"{guess.reason.removesuffix('.')} ({how})."


def _warnings(columns: Sequence[ColumnProfile]) -> tuple[str, ...]:
    quasi = sum(column.role == "quasi" for column in columns)
    if quasi <= _MANY_QUASI:
        return ()
    return (
        f"{quasi} columns are quasi-identifiers. With more than about {_MANY_QUASI} little detail "
        "survives: drop (role identifier) what the release does not need.",
    )
