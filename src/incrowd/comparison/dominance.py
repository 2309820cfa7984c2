"""Where policies stand: the risks that a release leaves, and which policies another one beats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from incrowd._runtime.plain_fields import PlainFields
from incrowd.report.crowds import Crowds, crowds_of
from incrowd.report.of_events import most_held, told_of_source

if TYPE_CHECKING:
    from incrowd.comparison._candidates import Candidate
    from incrowd.engines.preparation import Prepared
    from incrowd.report.evidence import Evidence

_SLACK = 1e-9
"""Figures that differ by less are the same."""
_Figures = tuple[float | None, ...]


@dataclass(frozen=True)
class Risks(PlainFields):
    """What an attacker who knows all quasi-identifiers can do, each as a chance from 0 to 1."""

    average: float
    """To point at the record of a person, averaged over records (prosecutor, marketer)."""
    highest: float
    """The same, for the person who is easiest to find."""
    guess: float | None = None
    """To guess a sensitive value, where it is easiest to guess; None without such an attribute."""


@dataclass(frozen=True)
class ReleaseRisks:
    """The risks of a release, and what they are to be held against."""

    after: Risks
    before: Risks
    """Of the source."""
    attribute: str | None = None
    """The sensitive attribute whose values are guessed best."""
    by_chance: float | None = None
    """How often a guess at its most frequent value is right, without any release."""

    def as_dict(self) -> dict[str, Any]:
        """The risks for JSON."""
        return {
            **self.after.as_dict(),
            "attribute": self.attribute,
            "by_chance": self.by_chance,
            "before": self.before.as_dict(),
        }


def release_risks(evidence: Evidence, source: Prepared) -> ReleaseRisks:
    """The risks of a release, and those of its source, for who holds it.

    Parameters
    ----------
    evidence
        What was counted in the release for its report.
    source
        The records before.

    Notes
    -----
    Where quasi-identifiers are published as they are (anatomy, lossy join), finding the record of
    a person is as easy as in the source, and so is the risk: what such a release takes away is the
    tie to sensitive values, which is the third risk. It is that of the attribute with the best
    guess, the share of records whose value is the most frequent one of their group; of an attribute
    of events, the share of patients who have the value that most of their group have.
    """
    told = evidence.after.told
    worst = max(told, key=lambda name: told[name].best) if told else None
    guess = None if worst is None else told[worst].best / evidence.after.records
    table = source.table
    quasi = [column.name for column in table.of_role("quasi")]
    own = [] if worst is None or worst not in table else [worst]
    exact = crowds_of(table.alike(quasi), own)
    told = {**exact.told, **told_of_source(source, [] if worst is None or own else [worst])}
    sure = None if worst is None else told[worst].best / exact.records
    return ReleaseRisks(
        _risks(evidence.identity, guess), _risks(exact, sure), worst, _by_chance(source, worst)
    )


def _risks(crowds: Crowds, guess: float | None) -> Risks:
    return Risks(crowds.count / crowds.records, 1 / crowds.smallest, guess)


def _by_chance(source: Prepared, attribute: str | None) -> float | None:
    table = source.table
    if attribute is None or not table.records:
        return None
    if attribute not in table:
        return most_held(source, attribute)
    return float(table[attribute].counts().max() / table.records)


def dominated(candidates: Sequence[Candidate]) -> dict[str, str]:
    """The policies that another one beats, by name, with the name of one that does.

    A policy beats another when none of its three risks is higher, it keeps no less information,
    and one of the four is better. Of several that do, the one that keeps most is named.

    Notes
    -----
    O(n^2) for n policies. What beats another may be beaten itself; the one that is named is not,
    since whatever beats it would beat the other too and keep as much.
    """
    figures = {each.name: has for each in candidates if (has := _figures(each)) is not None}
    found = {}
    for name, own in figures.items():
        better = [other for other, its in figures.items() if _beats(its, own)]
        if better:
            # The one that keeps most, then has least risk, then comes first.
            found[name] = min(better, key=lambda each: [one or 0.0 for one in figures[each]])
    return found


def _figures(candidate: Candidate) -> _Figures | None:
    """All of which less is better: the information lost, and the risks."""
    if candidate.risk is None or candidate.ncp is None:
        return None
    after = candidate.risk.after
    return (candidate.ncp, after.average, after.highest, after.guess)


def _beats(own: _Figures, other: _Figures) -> bool:
    if (own[-1] is None) != (other[-1] is None):  # one names nothing sensitive: who can tell
        return False
    pairs = [(a, b) for a, b in zip(own, other, strict=True) if a is not None and b is not None]
    no_worse = all(a <= b + _SLACK for a, b in pairs)
    return no_worse and any(a < b - _SLACK for a, b in pairs)
