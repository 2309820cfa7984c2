"""Linkage by events: a list of people with some of their events, looked up in a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd._runtime.plain_fields import plain_fields
from incrowd._runtime.sentences import listed
from incrowd.attacks._whose_rows import gathered
from incrowd.attacks.atom_sets import sets_of_each
from incrowd.attacks.event_lookup import Lookup
from incrowd.attacks.event_sources import PeopleAndEvents
from incrowd.errors import InputError, ParameterError
from incrowd.labels import Meaning
from incrowd.published.entries import largest_promised_k, published_entries
from incrowd.published.events import EventRows
from incrowd.published.opened import as_release, event_rows, is_release
from incrowd.table.person_names import PEOPLE, numbers_people, speaks_of

if TYPE_CHECKING:
    import polars as pl

    from incrowd.sources import SourceLike

_STEPS = (0, 1, 2, 5, 10, 20, 50, 100, 1_000)


@dataclass(frozen=True)
class PeopleWhoFit:
    """How many people of a list fit so many patients of a release."""

    least: int
    most: int | None
    """None: as many as there are."""
    people: int


@dataclass(frozen=True)
class EventLinkage:
    """Whom a list of people with some of their events finds in a release; see `link_events`.

    Whether a match is right cannot be known from the two: the person may not be in the release, and
    an event of a person who is may be left out of it. `candidates` holds for each person, in the
    order of the list, how many patients fit.
    """

    target: str
    known: str
    on: tuple[tuple[str, str], ...]
    """(column of the release, column of the list)"""
    patients: int
    people: int
    average_events: float
    """Different known events of a person."""
    matched: int
    """People whom at least one patient fits."""
    matched_one: int
    k: int | None
    matched_below_k: int | None
    smallest_candidates: int | None
    average_candidates: float | None
    average_probability: float | None
    """1 / patients that fit, averaged over the people matched."""
    fitting: tuple[PeopleWhoFit, ...]
    unreadable: tuple[tuple[str, int], ...]
    """Attributes with labels that could not be read, and how many: they fit everybody."""
    candidates: IntArray = field(repr=False, compare=False)
    remarks: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The result for JSON, without that of single people."""
        told = plain_fields(
            self,
            without=("candidates",),
            names={"known": "list", "unreadable": "unreadable_labels"},
        )
        return {**told, "on": dict(self.on), "unreadable_labels": dict(self.unreadable)}

    def one_sentence(self) -> str:
        """The result in one sentence for people."""
        who = "person" if self.people == 1 else "people"
        below = self.matched_below_k
        few = "" if below is None else f", and {_fit(below)} fewer than {self.k:,}"
        return (
            f"Of {self.people:,} {who} on the list, known by {self.average_events:,.1f} events "
            f"each, {_fit(self.matched_one)} exactly one of the {self.patients:,} patients{few}."
        )


def _fit(people: int) -> str:
    return {0: "none fits", 1: "1 fits"}.get(people, f"{people:,} fit")


def link_events(
    target: Any,
    known: SourceLike,
    *,
    person: str | None = None,
    on: Mapping[str, str] | Sequence[str] | None = None,
    k: int | None = None,
    hierarchies: Mapping[str, Meaning] | None = None,
    header: bool | None = None,
) -> EventLinkage:
    """How many patients of a release fit people of whom some events are known.

    Parameters
    ----------
    target
        A release of patients with several rows or tables, or the folder of one.
    known
        The list: a file or frame with a row for each known event, in which a person may stand
        several times. Cells of one table in one row are one event; those that are empty are not
        known. Columns of patients are repeated in all rows of a person.
    person
        The column of the list that tells people apart; by default the one that is called so.
    on
        The shared columns: their names, or {column of the release: column of the list}. By default
        the columns of the same name; of events with or without their table.
    k
        Count the people who fit fewer patients than this; by default the largest k promised.
    hierarchies
        For attributes of the release, the values under each label of their hierarchies.
    header
        Of a list in a text file, as for `incrowd.sources.read`.

    Notes
    -----
    A patient fits a known event when the labels of one of their rows cover it, and a person when
    all known events and columns fit. What a release leaves out is not found: a person one of whose
    known events is left out may fit nobody, or others only. A label that cannot be read fits
    everybody.

    Example
    -------
    >>> from types import SimpleNamespace
    >>> import polars
    >>> rows = polars.DataFrame({"patient": ["1", "1", "2"], "code": ["{a|b}", "c", "a"]})
    >>> entry = {"name": "code", "role": "quasi", "level": "event", "published": True}
    >>> manifest = {"patients": {"published": 2}, "unit": "who", "attributes": [entry]}
    >>> release = SimpleNamespace(data=rows, tables={"data": rows}, manifest=manifest)
    >>> people = polars.DataFrame({"who": ["Ada", "Ada", "Bob"], "code": ["a", "c", "a"]})
    >>> link_events(release, people).candidates.tolist()
    [1, 2]
    """
    from incrowd.sources import describe, read

    if k is not None and (not isinstance(k, int) or isinstance(k, bool) or k < 1):
        raise ParameterError(f"k: must be a whole number of at least 1, got {k!r}.")
    if not is_release(target):
        raise InputError("Known events are looked up in a release: name its folder.")
    release = as_release(target)
    name = describe(target) if isinstance(target, str | Path) else "the release"
    rows = event_rows(release)
    own = published_entries(release.manifest)
    listed_people = read(known, header=header)
    told = describe(known)
    entries = {**own, **{each: entry for table in rows for each, entry in table.entries.items()}}
    pairs = _shared(name, rows, list(own), listed_people.columns, told, on)
    person = _person(listed_people.columns, person, told, [theirs for _, theirs in pairs])
    _refuse_changed(entries, pairs)
    shown = _release_side(name, release.data, rows, dict(pairs))
    asked = _list_side(listed_people, told, person, shown, dict(pairs))
    lookup = Lookup(asked, shown, entries, hierarchies or {})
    events, others = lookup.events(), lookup.own()
    most = int(np.diff(events.ends).max())
    sets = np.column_stack(
        (
            sets_of_each(events, max(most, 1), 1).sets,
            sets_of_each(others, max(len(asked.people.columns), 1), 1).sets,
        )
    )
    candidates = lookup.supports(sets)
    k = largest_promised_size(release.manifest) if k is None else k
    matched = candidates[candidates > 0]
    return EventLinkage(
        target=name,
        known=told,
        on=tuple(pairs),
        patients=shown.patients,
        people=asked.patients,
        average_events=len(events.atom) / asked.patients,
        matched=len(matched),
        matched_one=int(np.count_nonzero(matched == 1)),
        k=k,
        matched_below_k=None if k is None else int(np.count_nonzero(matched < k)),
        smallest_candidates=int(matched.min()) if len(matched) else None,
        average_candidates=float(matched.mean()) if len(matched) else None,
        average_probability=float((1 / matched).mean()) if len(matched) else None,
        fitting=_fitting(candidates),
        unreadable=lookup.unreadable,
        candidates=candidates,
        remarks=_remarks(candidates),
    )


def largest_promised_size(manifest: Mapping[str, Any]) -> int | None:
    """The largest crowd that a release promises: its largest k or K; None without one."""
    promises = list(manifest.get("promises", ()))
    sizes = [each.get("parameters", {}).get("K") for each in promises]
    found = [each for each in (largest_promised_k(promises), *sizes) if isinstance(each, int)]
    return max(found, default=None)


def _remarks(candidates: IntArray) -> tuple[str, ...]:
    nobody = int(np.count_nonzero(candidates == 0))
    if not nobody:
        return ()
    return (
        f"{nobody:,} of the people fit nobody: they are not in the release, it leaves out one of "
        "their known events, or the list is written otherwise.",
    )


def _fitting(candidates: IntArray) -> tuple[PeopleWhoFit, ...]:
    """The people by how many patients fit, those steps that somebody is in."""
    found = []
    for least, after in zip(_STEPS, (*_STEPS[1:], None), strict=True):
        below = len(candidates) if after is None else np.count_nonzero(candidates < after)
        people = int(below) - int(np.count_nonzero(candidates < least))
        if people:
            found.append(PeopleWhoFit(least, None if after is None else after - 1, people))
    return tuple(found)


def _shared(
    name: str,
    rows: Sequence[EventRows],
    own: Sequence[str],
    theirs: Sequence[str],
    known: str,
    on: Mapping[str, str] | Sequence[str] | None,
) -> list[tuple[str, str]]:
    """(column of the release, column of the list) of all shared columns, which are there."""
    from incrowd.sources.columns import chosen

    events = [each for table in rows for each in table.entries]
    if on is None:
        last = [each.rpartition(".")[2] for each in events]
        pairs = [(each, each) for each in (*own, *events) if each in theirs]
        pairs += [
            (each, short)
            for each, short in zip(events, last, strict=True)
            if each not in theirs and short in theirs and last.count(short) == 1
            and short not in own
        ]  # fmt: skip
    else:
        pairs = list(on.items()) if isinstance(on, Mapping) else [(each, each) for each in on]
        chosen([*own, *events], [ours for ours, _ in pairs], name)
        chosen(theirs, [there for _, there in pairs], known)
    if not any(ours in events for ours, _ in pairs):
        raise InputError(
            f"{known} has no column of an event that {name} shows"
            f"{f': {listed(events, 20)}' if events else ', which has no events'}. Name shared "
            "columns with `on`, as {column of the release: column of the list}."
        )
    return pairs


def _person(theirs: Sequence[str], person: str | None, known: str, shared: Sequence[str]) -> str:
    """The column of the list that tells its people apart."""
    from incrowd.sources.columns import chosen

    if person is not None:
        chosen(theirs, [person], known)
        return person
    named = [each for each in theirs if each not in shared and numbers_people(each)]
    found = [each for each in named if speaks_of(each, PEOPLE)] or named
    if len(found) != 1:
        others = [each for each in theirs if each not in shared]
        if len(others) != 1:
            raise InputError(
                f"Nothing tells which column of {known} names its people. Say it: --person COLUMN "
                '(in Python person="COLUMN").'
            )
        found = others
    return found[0]


def _refuse_changed(
    entries: Mapping[str, Mapping[str, Any]], pairs: Sequence[tuple[str, str]]
) -> None:
    changed = [ours for ours, _ in pairs if "time" in entries[ours]]
    if changed:
        raise InputError(
            f"{listed(changed)}: the release shows changed days, so true ones say nothing here. "
            "Leave the column out: name the others with --on."
        )


def _release_side(
    name: str, people: pl.DataFrame, rows: Sequence[EventRows], shared: Mapping[str, str]
) -> PeopleAndEvents:
    events = tuple(
        EventRows(table.table, table.frame.select(asked), table.patient, table.entries)
        for table in rows
        if (asked := [each for each in table.entries if each in shared])
    )
    own = [each for each in people.columns if each in shared]
    return PeopleAndEvents(name, people.height, people.select(own), events)


def _list_side(
    people: pl.DataFrame,
    known: str,
    person: str,
    release: PeopleAndEvents,
    shared: Mapping[str, str],
) -> PeopleAndEvents:
    """The people of the list, with columns called as those of the release."""
    own = release.people.columns
    found = gathered(people, person, [shared[each] for each in own], known)
    many = int(found.patient.max()) + 1
    of_people = found.frame
    of_people.columns = own
    events = []
    for table in release.events:
        names = table.frame.columns
        frame = people.select(shared[each] for each in names)
        frame.columns = names
        events.append(EventRows(table.table, frame, found.patient, {}))
    return PeopleAndEvents(known, many, of_people, tuple(events))
