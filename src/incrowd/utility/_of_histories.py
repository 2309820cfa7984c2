"""What is left of histories whose events may be known: of the codes, of pairs of them, of time.

Invariant: a patient who shows a value had it, and one who had it shows a label that covers it, or
nothing: so the patients who show a value are at least those that an analyst may count. Those who
show a label that covers it are at most as many only where no event was left out.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd._runtime.plain_fields import PlainFields
from incrowd.attacks.atom_sets import Atoms, AtomsOfPatients
from incrowd.attacks.event_lookup import Lookup
from incrowd.attacks.event_sources import (
    PeopleAndEvents,
    WhereEvents,
    people_and_events,
    unit_of_source,
)
from incrowd.attacks.known_values import KnownValues, iso_dates
from incrowd.hierarchies.labels import Anything, Members, Plain, Range
from incrowd.labels import LabelWriting, Meaning
from incrowd.published.events import EventRows
from incrowd.published.opened import ReleaseLike
from incrowd.table.coding import parse_date
from incrowd.utility.published import Published

_PAIRED = 50
"""Pairs are looked at of so many of the most frequent values."""
_PAIRS = 100
_STEPS = (1, 10, 100)


@dataclass(frozen=True)
class CountOfValue(PlainFields):
    """How many patients have a value, or both values of a pair: in the source, and in a release."""

    values: tuple[str | None, ...]
    before: int
    at_least: int
    """Patients who show it: of those with that value alone."""
    covered: int
    """Patients of whom labels cover it, it among them."""


@dataclass(frozen=True)
class ShownLabels(PlainFields):
    """The share of the published events that show labels for so many values."""

    least: int
    most: int | None
    share: float


@dataclass(frozen=True)
class HistoryOfAttribute(PlainFields):
    """What is left of an attribute of events that attackers may know."""

    name: str
    labels: tuple[ShownLabels, ...]
    """By how many values they stand for; a label for one is a value as it was."""
    hidden: float
    """The share of the published events that show `*`."""
    values: int
    """Different values in the source."""
    vanished: int
    """Values that no patient of the release shows as they are."""
    counts: tuple[CountOfValue, ...]
    """Of each value, the most frequent first."""
    pairs: tuple[CountOfValue, ...]
    """Of the pairs of values that most patients have both of."""
    pairs_vanished: int
    pair_error: float | None
    """By how much the count of patients who show a pair falls short, on average over the pairs, as
    a share of those who have it."""
    days_before: float | None
    """Of dates: the days between neighbouring events of a patient, the median."""
    days: float | None
    """The same in the release, where it shows days."""
    unreadable: int
    """Labels that could not be read, and count as covering every value."""


@dataclass(frozen=True)
class LeftOfHistories(PlainFields):
    """What is left of a table of events that attackers may know."""

    table: str
    events_before: int
    """Different events of the patients of the source, each patient's once."""
    events: int
    unchanged: float
    """The share of the published events that show values alone."""
    attributes: tuple[HistoryOfAttribute, ...]


def left_of_histories(
    published: Published,
    release: ReleaseLike | Any,
    original: WhereEvents,
    hierarchies: Mapping[str, Meaning],
) -> tuple[LeftOfHistories, ...]:
    """What is left of events that attackers may know, table by table; none where there are none.

    `original` are the linked tables, or the one file, that the release was made from.
    """
    known = [
        name
        for rows in published.events
        for name, entry in rows.entries.items()
        if entry.get("role") == "quasi"
    ]
    if not known:
        return ()
    unit = unit_of_source(published.manifest)
    return left_of_source(release, people_and_events(original, known, [], unit), hierarchies)


def left_of_source(
    release: ReleaseLike | Any, source: PeopleAndEvents, hierarchies: Mapping[str, Meaning]
) -> tuple[LeftOfHistories, ...]:
    """The same of patients and events of the source that were read already."""
    shown = people_and_events(release, list(source.event_columns), [], None)
    table = {name: rows.table for rows in shown.events for name in rows.frame.columns}
    source = replace(
        source,
        events=tuple(replace(each, table=table[each.frame.columns[0]]) for each in source.events),
    )
    found = []
    for rows in shown.events:
        before = next(each for each in source.events if each.table == rows.table)
        alone = np.ones(rows.rows, dtype=np.bool_)
        for name in rows.frame.columns:
            column = rows.column(name)
            texts = [_covered(text, rows.entries[name]) == 1 for text in column.values]
            alone &= np.array([*texts, True])[column.codes]
        found.append(
            LeftOfHistories(
                rows.table,
                len(replace(source, events=(before,)).atoms().atom),
                rows.rows,
                float(alone.mean()) if rows.rows else 0.0,
                tuple(
                    _attribute(name, before, rows, source, shown, hierarchies)
                    for name in rows.frame.columns
                ),
            )
        )
    return tuple(found)


def _attribute(
    name: str,
    before: EventRows,
    rows: EventRows,
    source: PeopleAndEvents,
    shown: PeopleAndEvents,
    hierarchies: Mapping[str, Meaning],
) -> HistoryOfAttribute:
    entry = rows.entries[name]
    cells = before.frame[name]
    dates = entry.get("type") == "date"
    values = KnownValues(
        iso_dates(cells) if dates else cells, declared_numeric=entry.get("type") == "numeric"
    )
    lookup = Lookup(_alone(source, before, name), _alone(shown, rows, name), {name: entry},
                    hierarchies)  # fmt: skip
    had, exact = lookup.events(), _exact(rows, name, values, shown.patients)
    counts = np.bincount(had.atom, minlength=had.atoms)
    order = [each for each in np.argsort(-counts, kind="stable").tolist() if counts[each]]
    single = np.array(order, dtype=np.int32).reshape(-1, 1)
    paired = np.array(
        [*itertools.combinations(order[:_PAIRED], 2)], dtype=np.int32
    ).reshape(-1, 2)  # fmt: skip
    both = had.supports(paired)
    most = np.argsort(-both, kind="stable")[:_PAIRS]
    paired = paired[most][both[most] > 0]
    told = [
        _counts(sets, values, (had.supports(sets), exact.supports(sets), lookup.supports(sets)))
        for sets in (single, paired)
    ]
    short = [1 - min(each.at_least / each.before, 1) for each in told[1]]
    labels, hidden = _shown(rows, name)
    return HistoryOfAttribute(
        name=name,
        labels=labels,
        hidden=hidden,
        values=len(order),
        vanished=sum(not each.at_least for each in told[0]),
        counts=told[0],
        pairs=told[1],
        pairs_vanished=sum(not each.at_least for each in told[1]),
        pair_error=float(np.mean(short)) if short else None,
        days_before=_days_between(before.patient, values.texts, values.people) if dates else None,
        days=_days_shown(rows, name) if dates else None,
        unreadable=dict(lookup.unreadable).get(name, 0),
    )


def _alone(people: PeopleAndEvents, rows: EventRows, name: str) -> PeopleAndEvents:
    return replace(people, events=(replace(rows, frame=rows.frame.select(name)),))


def _exact(rows: EventRows, name: str, values: KnownValues, patients: int) -> AtomsOfPatients:
    """Which values patients show as they are, by the numbers of the source's values."""
    column, writing = rows.column(name), LabelWriting.of(rows.entries[name])
    numbers = [_value(text, writing, rows.entries[name].get("type"), values)
               for text in column.values]  # fmt: skip
    number = np.array([*numbers, values.missing[0] if values.has_missing else -1])[column.codes]
    there = number >= 0
    return AtomsOfPatients.of(
        patients, values.cardinality, rows.patient[there], number[there].astype(np.int64)
    )


def _value(text: str, writing: LabelWriting, kind: object, values: KnownValues) -> int:
    """The number of the value that a label is, -1 where it is none."""
    read = writing.read(text, kind)
    if text in writing.general or isinstance(read, Anything):
        return -1
    first, after = values.equal_to(read.text if isinstance(read, Plain) else text)
    return first if after > first else -1


def _counts(
    sets: Atoms, values: KnownValues, counted: tuple[IntArray, IntArray, IntArray]
) -> tuple[CountOfValue, ...]:
    texts = [*values.texts, None]
    return tuple(
        CountOfValue(tuple(texts[each] for each in members), *numbers)
        for members, *numbers in zip(
            sets.tolist(), *(each.tolist() for each in counted), strict=True
        )
    )


def _covered(label: str, entry: Mapping[str, Any]) -> float:
    """How many values a label stands for, infinity for `*`; of ranges how wide they are."""
    writing = LabelWriting.of(entry)
    read = writing.read(label, entry.get("type"))
    if isinstance(read, Anything):
        return np.inf
    if label in writing.general:
        return float(writing.general[label])
    if isinstance(read, Range):
        return float(read.high - read.low)
    return float(len(read.values)) if isinstance(read, Members) else 1.0


def _shown(rows: EventRows, name: str) -> tuple[tuple[ShownLabels, ...], float]:
    """The shares of labels by how many values they stand for, and that of `*`."""
    column = rows.column(name)
    sizes = np.array([*(_covered(each, rows.entries[name]) for each in column.values), 1.0])
    shown = sizes[column.codes]
    found = []
    for below, most in zip((0, *_STEPS), (*_STEPS, None), strict=True):
        here = (shown > below) & (shown < np.inf if most is None else shown <= most)
        if here.any():
            found.append(ShownLabels(below + 1, most, float(here.mean())))
    return tuple(found), float(np.isinf(shown).mean()) if len(shown) else 0.0


def _days_shown(rows: EventRows, name: str) -> float | None:
    column = rows.column(name)
    return _days_between(rows.patient, column.values, column.codes.astype(np.int64))


def _days_between(patient: IntArray, texts: Any, codes: IntArray) -> float | None:
    """The median of the days between neighbouring different days of a patient."""
    found = [parse_date(each) for each in texts]
    days = np.array([*(np.nan if each is None else each for each in found), np.nan])[codes]
    there = ~np.isnan(days)
    pairs = np.unique(np.column_stack((patient[there], days[there].astype(np.int64))), axis=0)
    same = pairs[1:, 0] == pairs[:-1, 0] if len(pairs) else np.zeros(0, dtype=np.bool_)
    gaps = (pairs[1:, 1] - pairs[:-1, 1])[same] if len(pairs) else np.zeros(0)
    return float(np.median(gaps)) if len(gaps) else None
