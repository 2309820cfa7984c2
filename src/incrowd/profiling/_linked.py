"""Profile of several files: the table of patients, those of their events, and a policy for all."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from incrowd._runtime.plain_fields import PlainFields, plain
from incrowd._runtime.sentences import listed
from incrowd.errors import InputError
from incrowd.methods.registry import DEFAULT_METHOD
from incrowd.policy.linked import is_reserved
from incrowd.profiling._columns import ColumnFacts, measure
from incrowd.profiling._events import guess_event
from incrowd.profiling._links import Examined, Link, linked
from incrowd.profiling._roles import guess_role, guess_roles
from incrowd.profiling._suggestions import suggest
from incrowd.profiling._units import UnitGuess
from incrowd.profiling._varying import varying
from incrowd.profiling.profiles import ColumnProfile, Profile, described_column
from incrowd.profiling.starting_policy import (
    WIDTH,
    attribute_lines,
    header_lines,
    one_line,
    privacy_lines,
    refuse_few,
    scalar,
)
from incrowd.sources import Source, as_source, read
from incrowd.sources.files import FILE_ENDINGS, TextOptions, ending_of
from incrowd.table.profiles import of_table
from incrowd.table.repeats import repeats_in


@dataclass(frozen=True)
class LinkedTableProfile(PlainFields):
    """A table of events: where it is, by which column it names patients, and its columns."""

    name: str
    source: str
    records: int
    unit: str
    unmatched: int
    columns: tuple[ColumnProfile, ...]


@dataclass(frozen=True)
class LinkedProfile:
    """Several files as one: the patients with their key, and the tables of their events.

    Parameters
    ----------
    whole
        All columns as one profile, of as many records as there are patients; those of events are
        called `table.column`.
    patients
        The table of patients; its `unit` is the key.
    tables
        The others.
    sources
        Where each lies, by its name; that of the patients under `patients`.
    """

    whole: Profile
    patients: Profile
    tables: tuple[LinkedTableProfile, ...]
    sources: Mapping[str, Source]

    def as_dict(self) -> dict[str, Any]:
        """The profile as plain values, for JSON."""
        return {**self.patients.as_dict(), "tables": plain(self.tables)}


def several_tables(given: str | Path) -> list[Path]:
    """The files of a folder, where they are tables with different columns; else none."""
    folder = Path(given)
    if not folder.is_dir():
        return []
    files = sorted(
        each
        for each in folder.iterdir()
        if each.is_file()
        and ending_of(each) in FILE_ENDINGS
        and not each.name.startswith((".", "_"))
    )
    if len(files) < 2:
        return []
    columns = [next(as_source(each).pieces(None, TextOptions())).columns for each in files]
    return files if any(each != columns[0] for each in columns) else []


def profile_tables(
    files: list[Path],
    *,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
) -> LinkedProfile:
    """What several files hold, and how they hang together.

    Parameters
    ----------
    files
        The files, one for each table.
    separator, encoding, header
        As for `incrowd.sources.read`, for all of them.

    Raises
    ------
    InputError
        A file cannot be read, or no table is named by the others.
    """
    text = TextOptions(separator=separator, encoding=encoding, header=header)
    sources = {name: as_source(path) for name, path in _names(files).items()}
    tables = {name: _examined(source, text) for name, source in sources.items()}
    links = linked(tables)
    if links is None:
        raise InputError(
            f"None of {listed(each.label for each in sources.values())} holds identifiers that a "
            "column of another names, so nothing tells how they hang together. Profile one file, "
            "or write `patients:` and `tables:` by hand (docs/unit.md)."
        )
    reading = {name: value for name, value in text.items() if isinstance(value, str | bool)}
    patients = _patients(sources[links.patients].label, tables[links.patients], links.key, reading)
    events = tuple(
        _events(name, sources[name].label, tables[name], link)
        for name, link in links.tables.items()
    )
    apart = [
        each.label for name, each in sources.items() if name not in (links.patients, *links.tables)
    ]
    warnings = list(patients.warnings)
    if apart:
        warnings.append(
            f"{listed(apart)} is left out: no column of it names the patients of {patients.source}."
        )
    columns = [
        *patients.columns,
        *(
            replace(column, name=of_table(each.name, column.name))
            for each in events
            for column in each.columns
        ),
    ]
    whole = replace(patients, columns=tuple(columns), warnings=tuple(warnings))
    places = {
        "patients": sources[links.patients],
        **{each.name: sources[each.name] for each in events},
    }
    return LinkedProfile(whole, patients, events, places)


def _names(files: list[Path]) -> dict[str, Path]:
    """A name for each table that can be that of a file of the release."""
    found: dict[str, Path] = {}
    for path in files:
        stem = re.sub(r"[^A-Za-z0-9_-]+", "-", path.name.split(".")[0]).strip("-_")[:36]
        name = stem if stem[:1].isalpha() else f"table-{stem}"
        name = f"t-{name}" if is_reserved(name) else name
        while name.lower() in map(str.lower, found):
            name = f"{name[:36]}-{len(found)}"
        found[name] = path
    return found


def _examined(source: Source, text: TextOptions) -> Examined:
    frame = read(source, **text)
    with ThreadPoolExecutor() as pool:
        facts = list(pool.map(measure, frame.get_columns()))
    return Examined(frame, facts, [guess_role(each) for each in facts])


def _patients(label: str, table: Examined, key: str, reading: Mapping[str, str | bool]) -> Profile:
    """The table of patients, as a flat file is profiled; its key is an identifier."""
    guesses = guess_roles(table.facts)
    columns = [
        described_column(table.frame, facts, guess, suggest(facts, guess))
        for facts, guess in zip(table.facts, guesses, strict=True)
    ]
    own = [each.name for each in columns if each.role != "identifier"]
    for name, seen in varying(table.frame, key, own).items():
        if seen.differing:
            at = next(i for i, each in enumerate(columns) if each.name == name)
            reason = f"{columns[at].reason} {seen.told} The most frequent value is taken."
            columns[at] = replace(columns[at], reason=reason, take="most-frequent")
    unit = UnitGuess(key, f"'{key}' tells patients apart: it is what the other tables name.")
    return Profile(
        source=label,
        records=repeats_in(table.frame, [key])[0].distinct,
        columns=tuple(columns),
        unit=unit,
        reading=reading,
    )


def _events(name: str, label: str, table: Examined, link: Link) -> LinkedTableProfile:
    """A table of events: what others may know of these stays out, as in a flat file."""
    columns = []
    for facts in table.facts:
        guess = guess_event(facts, name)
        column = described_column(table.frame, facts, guess, suggest(facts, guess))
        if facts.name == link.column:
            share = f"{link.found:,} of {link.rows:,} rows"
            reason = f"Names the patient: {share} find one in the table of patients."
            column = replace(column, role="identifier", reason=reason, warnings=())
        kind = "category" if guess.role == "sensitive" and _is_code(facts) else column.type
        columns.append(
            replace(column, level="event", type=kind, hierarchy=None, format=column.format)
        )
    return LinkedTableProfile(
        name, label, table.frame.height, link.column, link.unmatched, tuple(columns)
    )


def _is_code(facts: ColumnFacts) -> bool:
    """Whether the numbers of a column are codes, of which no range makes sense."""
    return facts.kind == "numeric" and facts.whole


def linked_policy(
    profile: LinkedProfile,
    *,
    source_names: Mapping[str, str],
    policy_name: str = "policy.yaml",
    k: int = 5,
) -> str:
    """A policy for the profiled files as YAML text, with a reason beside every role.

    Parameters
    ----------
    profile
        What `profile_tables` found.
    source_names
        Each file as the policy names it, relative to where the policy will lie.
    policy_name
        The file that the text will be written to, for the command that it recommends.
    k
        The smallest group; lowered to half the patients where there are few.

    Raises
    ------
    InputError
        There are fewer than four patients.
    """
    whole, patients = profile.whole, profile.patients
    refuse_few(patients, k, 2)
    lowered = max(2, min(k, patients.records // 2))
    tables = listed((each.name for each in profile.tables), quoted=False)
    begin = (
        f"A starting policy for {patients.records:,} patients of {patients.source}, with {tables}."
    )
    check = "Check `key` and `unit` too: they tell whose the rows are. Patients are counted."
    blocks = [
        *header_lines(whole, begin, check, policy_name),
        "patients:",
        *_source_lines(source_names["patients"], patients),
        *_told(patients.unit.reason),
        f"  key: {scalar(patients.unit.unit)}",
        "  attributes:",
        *(f"  {line}" for line in attribute_lines(patients.columns)),
        "tables:",
        *(line for each in profile.tables for line in _table_lines(each, profile, source_names)),
        "privacy:",
        *privacy_lines(whole, lowered, 2, asked=k, one="patient"),
        f"method: {{name: {DEFAULT_METHOD}, split: loss, labels: set}}",
        "suppression: 0.02                   # at most this share of the patients may be dropped",
        "output: release",
    ]
    return "\n".join(blocks) + "\n"


def _table_lines(
    table: LinkedTableProfile, profile: LinkedProfile, source_names: Mapping[str, str]
) -> Iterator[str]:
    yield f"  {scalar(table.name)}:"
    yield from (f"  {line}" for line in _source_lines(source_names[table.name], profile.patients))
    yield f"    unit: {scalar(table.unit)}"
    if table.unmatched:
        yield from _told(
            f"Check: {table.unmatched:,} of {table.records:,} rows name nobody of "
            f"{profile.patients.source}. Correct them, or take the # away to leave them out:", 4,
        )  # fmt: skip
        yield "    # unmatched: drop"
    if all(each.role == "identifier" for each in table.columns):
        yield from _told(
            "No column of it is published as it stands: give one a role to keep it.", 4
        )
    yield "    attributes:"
    plain_columns = [replace(each, level="patient") for each in table.columns]
    yield from (f"    {line}" for line in attribute_lines(plain_columns))


def _source_lines(source: str, patients: Profile) -> Iterator[str]:
    yield f"  source: {scalar(source)}"
    for option, value in patients.reading.items():
        written = str(value).lower() if isinstance(value, bool) else scalar(value)
        yield f"  {option}: {written}"


def _told(text: str, indent: int = 2) -> Iterator[str]:
    for line in textwrap.wrap(text, WIDTH - 2 - indent):
        yield f"{' ' * indent}# {one_line(line)}"
