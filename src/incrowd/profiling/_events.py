"""The role of a column of events: what others may know of an event is not published yet."""

from __future__ import annotations

from dataclasses import replace

from incrowd.profiling._columns import ColumnFacts
from incrowd.profiling._roles import CLINICAL_PATTERNS, Guess, guess_role
from incrowd.profiling._varying import role_of_events
from incrowd.profiling._vocabulary import match_name
from incrowd.table.person_names import words_of

_UNSURE = "Unsure: neither name nor content tells, so it is left out."
_KNOWN = "Left out: of events it takes a promise about who knows some, and the role quasi."
_FEW = 0.5
"""Where a larger share of the rows has a value of its own, a column works as a number."""


def guess_event(facts: ColumnFacts, table: str) -> Guess:
    """The guess for a column of a table of events, from its name, its content and the table.

    As in a flat file, dates, places, costs and what nobody knows stay out. Codes of a clinical
    kind, and the `code` of a table that is named for something clinical, are sensitive: nobody
    should learn them.
    """
    guess = guess_role(facts)
    if guess.role == "sensitive":
        return guess
    code = _clinical_code(facts, table)
    if code is not None and not guess.concept and facts.pattern not in ("uuid", "phone"):
        return Guess("sensitive", code)
    if guess.role == "identifier":
        return replace(guess, remarks=())
    role = role_of_events(guess.role)
    if role == "identifier":
        reason = f"{guess.reason} {_KNOWN}" if guess.firm else _UNSURE
        return replace(guess, role=role, reason=reason, remarks=())
    return replace(guess, role=role, reason="Looks like a class of events: to be kept private.")


def _clinical_code(facts: ColumnFacts, table: str) -> str | None:
    """Why a column holds codes of something clinical; None where nothing tells."""
    if facts.singletons > _FEW * facts.present or facts.kind == "date":
        return None
    if facts.pattern in CLINICAL_PATTERNS:
        return f"Its cells look like {CLINICAL_PATTERNS[facts.pattern]}: to be kept private."
    named = match_name(table)
    clinical = named is not None and named.concept.role == "sensitive"
    if named is not None and clinical and words_of(facts.name)[-1:] == ("code",):
        return f"The code in a table that looks like {named.concept.what}: to be kept private."
    return None
