"""Risk by power before and after: of the source, and of the release that was made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from incrowd._runtime.plain_fields import PlainFields
from incrowd._runtime.progress import Progress, silent
from incrowd.attacks._power import (
    FEW,
    POWERS,
    KnownEvents,
    RiskByPower,
    check_powers,
    draws_for,
    measured,
    power_of,
)
from incrowd.attacks.atom_sets import sets_of_each
from incrowd.attacks.event_lookup import Lookup
from incrowd.attacks.event_sources import (
    PeopleAndEvents,
    WhereEvents,
    people_and_events,
    unit_of_source,
)
from incrowd.errors import InputError
from incrowd.labels import Meaning
from incrowd.published.entries import published_entries
from incrowd.table.profiles import PATIENTS

_MOST_DRAWS = 100
"""Of each patient: labels that cover much are looked up for longer than values."""


@dataclass(frozen=True)
class PowerBeforeAfter(PlainFields):
    """Whom known events find in the source, and in its release; see `power_before_after`."""

    before: RiskByPower
    """In the source."""
    after: RiskByPower
    """In the release, by labels that are equal to those of one of its patients."""
    looked_up: RiskByPower
    """In the release, by the true values of a patient of the source: whom these fit."""
    unreadable: tuple[tuple[str, int], ...]
    """Attributes with labels that could not be read, and how many: they fit everybody."""


def power_before_after(
    release: WhereEvents,
    original: WhereEvents,
    *,
    events: Sequence[str] | None = None,
    quasi: Sequence[str] | None = None,
    unit: str | None = None,
    powers: Sequence[int] = POWERS,
    few: int = FEW,
    draws: int | None = None,
    hierarchies: Mapping[str, Meaning] | None = None,
    header: bool | None = None,
    progress: Progress = silent,
) -> PowerBeforeAfter:
    """How many patients known events find in a source, and in the release that was made of it.

    Parameters
    ----------
    release
        The release, or its folder.
    original
        What it was made from, with the same names of columns: the linked tables, or the one file.
    events, quasi, powers, few, draws, progress
        As for `risk_by_power` of the release.
    unit
        As for `risk_by_power` of the original; by default what the release says.
    hierarchies
        For attributes of the release the values under each label of their hierarchies.
    header
        Of an original in text files, as for `incrowd.sources.read`.

    Notes
    -----
    An attacker knows true values, and finds the patients whose labels cover these: at least those
    with labels equal to the patient's own, and with `recoding: local` others too. So the release is
    asked in both ways. Whom nobody fits, since an event was left out, is `nobody`, at no risk.
    """
    check_powers(powers, few, draws)
    progress("reading", 0, 1)
    shown = people_and_events(release, events, quasi, None)
    manifest = shown.manifest or {}
    linked = "tables" in manifest
    unit = unit_of_source(manifest) if unit is None else unit
    own = [f"{PATIENTS}.{each}" if linked else each for each in shown.people.columns]
    source = people_and_events(original, shown.event_columns, own, unit, header=header)
    draws = min(draws_for(source.patients), _MOST_DRAWS) if draws is None else draws
    before = power_of(source, powers=powers, few=few, draws=draws, progress=progress)
    after = power_of(shown, powers=powers, few=few, draws=draws, progress=progress)
    entries = dict(published_entries(manifest))
    for rows in shown.events:
        entries |= rows.entries
    if any("time" in entries[each] for each in shown.event_columns):
        raise InputError(
            "The release shows changed days, so true ones say nothing there. Name other columns of "
            "events, or leave the original out."
        )
    lookup = Lookup(_alike(source, shown), shown, entries, hierarchies or {})
    known = _looked_up(lookup, powers, few, draws, progress)
    found = replace(before, source=shown.name, patients=source.patients, known=known, remarks=())
    return PowerBeforeAfter(before, after, found, lookup.unreadable)


def _alike(source: PeopleAndEvents, shown: PeopleAndEvents) -> PeopleAndEvents:
    """The source with tables called as those of the release."""
    named = {column: rows.table for rows in shown.events for column in rows.frame.columns}
    events = tuple(replace(each, table=named[each.frame.columns[0]]) for each in source.events)
    return replace(source, events=events)


def _looked_up(
    lookup: Lookup, powers: Sequence[int], few: int, draws: int, progress: Progress
) -> tuple[KnownEvents, ...]:
    events, own = lookup.events(), lookup.own()
    columns = len(lookup.people.people.columns)
    told = []
    for done, many in enumerate(powers):
        progress("looking patients up", done, len(powers))
        sets = sets_of_each(events, many, draws)
        told.append(measured(sets, lookup.supports(sets.sets), many, few, attributes=False))
        if columns:
            beside = sets_of_each(own, columns, 1).sets[sets.owner]
            supports = lookup.supports(np.column_stack((sets.sets, beside)))
            told.append(measured(sets, supports, many, few, attributes=True))
    return tuple(sorted(told, key=lambda each: each.attributes))
