"""Risk by power: how many patients somebody finds who knows so many events of one of them.

Invariant: who knows some events of a patient finds all patients who have them, and cannot tell
these apart; the chance of a right guess is 1 / their number (the support of what is known).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray
from incrowd._runtime.console import percent
from incrowd._runtime.plain_fields import PlainFields
from incrowd._runtime.progress import Progress, silent
from incrowd._runtime.sentences import listed
from incrowd.attacks.atom_sets import DrawnSets, sets_of_each
from incrowd.attacks.event_sources import PeopleAndEvents, WhereEvents, people_and_events
from incrowd.errors import ParameterError

POWERS = (1, 2, 3, 5)
"""So many events are known, where nothing else is asked."""
FEW = 5
_MOST_SETS = 4_000_000
_FEWEST_DRAWS, _MOST_DRAWS = 4, 1_000
_SURE = 1.96


@dataclass(frozen=True)
class KnownEvents(PlainFields):
    """What somebody finds who knows so many events of a patient, on average over patients.

    Every patient counts alike; of each, the sets of so many of their events that were looked at.
    Who has fewer events is looked up by all of them.
    """

    events: int
    attributes: bool
    """Whether all patient-level quasi-identifiers are known too."""
    average: float
    """1 / patients found."""
    largest: float
    fewest: int
    """How many patients are found at least, where any is."""
    singled_out: float
    """How often the patient is the only one found."""
    below: float
    """How often fewer than `few` are found."""
    ever_singled_out: float
    """The share of patients of whom at least one looked at set finds them alone."""
    ever_below: float
    sets: int
    """How many sets were looked at."""
    drawn: int
    """Patients of whom some sets were drawn at random, from more than are looked at."""
    margin: float
    """By how much average, singled_out and below may differ from those over all sets, with a
    confidence of 95 %; 0 where all were looked at."""
    fewer: int
    """Patients who have fewer events than that."""
    nobody: float = 0.0
    """How often nobody is found: true values that a release does not show."""

    def sentence(self, few: int, beside: str = "") -> str:
        """The result in one sentence for people."""
        known = _many(self.events, "event")
        sure = ", in all draws," if self.drawn else ""
        found = (
            f"Who knows {known} of a patient{beside} finds{sure} at least "
            f"{_many(self.fewest, 'patient')}: in {percent(self.singled_out)} of the cases the "
            f"patient alone, in {percent(self.below)} fewer than {few}."
        )
        found += f" In {percent(self.nobody)} it finds nobody." if self.nobody else ""
        if not self.ever_singled_out:
            return found
        least = "At least " if self.drawn else ""
        return (
            f"{found} {least}{percent(self.ever_singled_out)} of the patients are found alone by "
            f"{known} of theirs."
        )


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


@dataclass(frozen=True)
class RiskByPower:
    """How exposed patients are to somebody who knows some of their events; see `risk_by_power`."""

    source: str
    patients: int
    events: tuple[str, ...]
    """The columns that a known event is told by; those of one table are known together."""
    different: int
    """How many different events there are."""
    average_events: float
    """Different events of a patient."""
    quasi: tuple[str, ...]
    """What else is known of a patient where `attributes` says so."""
    few: int
    draws: int
    """Of each patient so many sets are looked at, at most."""
    known: tuple[KnownEvents, ...]
    remarks: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """All of it for JSON."""
        from incrowd._runtime.plain_fields import plain_fields

        return plain_fields(self)

    def sentences(self) -> list[str]:
        """What each power finds, in words."""
        beside = f" and {listed(self.quasi, quoted=False)}"
        return [each.sentence(self.few, beside * each.attributes) for each in self.known]


def risk_by_power(
    source: WhereEvents,
    *,
    events: Sequence[str] | None = None,
    quasi: Sequence[str] | None = None,
    unit: str | None = None,
    powers: Sequence[int] = POWERS,
    few: int = FEW,
    draws: int | None = None,
    query: str | None = None,
    header: bool | None = None,
    progress: Progress = silent,
) -> RiskByPower:
    """How many patients somebody finds who knows 1, 2, 3 or 5 events of one of them.

    Parameters
    ----------
    source
        A folder or several files of linked tables, frames by their names, one file, frame or
        database with a `unit`; or a release, whose labels are then what is known.
    events
        The columns that tell an event, in linked tables `table.column`. Those of one table together
        are one event. Of a release by default its quasi-identifiers of events, or else all of them.
    quasi
        Columns of patients, all of which may be known beside. Of a release its quasi-identifiers by
        default.
    unit
        The column that tells patients apart, where it is called otherwise in the tables
        `patients.Id,conditions.PATIENT`; in linked tables it is found by its name where it speaks
        of people.
    powers
        How many events are known.
    few
        Count who is found among fewer than so many patients.
    draws
        How many sets of events are looked at of each patient; where there are no more, all of them.
        By default 4 to 1,000, so that there are about 4 million.
    query, header
        As for `incrowd.sources.read`.
    progress
        Called with (stage, done, whole) as the work goes on.

    Notes
    -----
    An event that stands several times in the rows of a patient is one: known is that a patient had
    it. Draws follow from the question alone, so that the same question has the same answer.

    References
    ----------
    El Emam (2013), Guide to the De-Identification of Personal Health Information (the power of an
    adversary); Terrovitis, Mamoulis, Kalnis (2008), Privacy-preserving anonymization of set-valued
    data.

    Example
    -------
    >>> import polars
    >>> visits = polars.DataFrame({"who": [1, 1, 2, 2, 3], "code": ["a", "b", "a", "b", "a"]})
    >>> found = risk_by_power(visits, events=["code"], unit="who", powers=[1, 2])
    >>> [(each.events, each.fewest, round(each.average, 3)) for each in found.known]
    [(1, 2, 0.389), (2, 2, 0.444)]
    """
    check_powers(powers, few, draws)
    progress("reading", 0, 1)
    found = people_and_events(source, events, quasi, unit, query=query, header=header)
    return power_of(found, powers=powers, few=few, draws=draws, progress=progress)


def power_of(
    found: PeopleAndEvents,
    *,
    powers: Sequence[int] = POWERS,
    few: int = FEW,
    draws: int | None = None,
    progress: Progress = silent,
) -> RiskByPower:
    """The same of patients who were read already."""
    atoms = found.atoms()
    groups = found.groups() if found.people.columns else None
    draws = draws_for(found.patients) if draws is None else draws
    told: list[KnownEvents] = []
    together = None if groups is None else atoms.and_of(groups)
    for done, many in enumerate(powers):
        progress("counting patients", done, len(powers))
        sets = sets_of_each(atoms, many, draws)
        told.append(measured(sets, atoms.supports(sets.sets), many, few, attributes=False))
        if together is not None and groups is not None:
            beside = (groups.atom + atoms.atoms)[sets.owner].astype(np.int32)
            supports = together.supports(np.column_stack((sets.sets, beside)))
            told.append(measured(sets, supports, many, few, attributes=True))
    told.sort(key=lambda each: each.attributes)
    return RiskByPower(
        source=found.name,
        patients=found.patients,
        events=found.event_columns,
        different=atoms.atoms,
        average_events=len(atoms.atom) / found.patients,
        quasi=tuple(found.people.columns),
        few=few,
        draws=draws,
        known=tuple(told),
        remarks=found.remarks,
    )


def draws_for(patients: int) -> int:
    """How many sets of each patient are looked at, where nobody says it."""
    return min(max(_MOST_SETS // patients, _FEWEST_DRAWS), _MOST_DRAWS)


def check_powers(powers: Sequence[int], few: object, draws: object) -> None:
    """Return when these can be asked; raise ParameterError otherwise."""
    if not powers or not all(_at_least(each, 1) for each in powers):
        raise ParameterError("powers: must be whole numbers of at least 1.")
    if not _at_least(few, 1):
        raise ParameterError(f"few: must be a whole number of at least 1, got {few!r}.")
    if draws is not None and not _at_least(draws, 2):
        raise ParameterError(f"draws: must be a whole number of at least 2, got {draws!r}.")


def _at_least(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def measured(
    sets: DrawnSets, supports: IntArray, many: int, few: int, *, attributes: bool
) -> KnownEvents:
    """The figures of sets, given how many patients have each of them."""
    counts = np.bincount(sets.owner)
    some = supports > 0
    risk = np.divide(1, supports, out=np.zeros(len(supports)), where=some)
    figures = (
        risk,
        *(each.astype(float) for each in (supports == 1, some & (supports < few), ~some)),
    )
    means, margins = zip(
        *(_over_patients(each, sets.owner, counts, sets.drawn) for each in figures), strict=True
    )
    alone, among = (np.bincount(sets.owner, each) > 0 for each in figures[1:3])
    fewest = int(supports[some].min()) if some.any() else 0
    return KnownEvents(
        events=many,
        attributes=attributes,
        average=means[0],
        largest=1 / fewest if fewest else 0.0,
        fewest=fewest,
        singled_out=means[1],
        below=means[2],
        ever_singled_out=float(alone.mean()),
        ever_below=float(among.mean()),
        sets=len(supports),
        drawn=int(sets.drawn.sum()),
        margin=max(margins),
        fewer=sets.fewer,
        nobody=means[3],
    )


def _over_patients(
    figure: FloatArray, owner: IntArray, counts: IntArray, drawn: BoolArray
) -> tuple[float, float]:
    """The average over patients of the average over their sets, and how far draws may be off."""
    mean = np.bincount(owner, figure) / counts
    if not drawn.any():
        return float(mean.mean()), 0.0
    squares = np.bincount(owner, figure**2) / counts - mean**2
    each = np.where(drawn, np.maximum(squares, 0) / np.maximum(counts - 1, 1), 0)
    return float(mean.mean()), _SURE * math.sqrt(float(each.sum())) / len(counts)
