"""How a quasi-identifier may be generalized: a type and a hierarchy that fit its values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from incrowd.hierarchies import DATE_LEVELS
from incrowd.profiling._columns import ColumnFacts
from incrowd.profiling._roles import Guess
from incrowd.table import Kind

FEW_VALUES = 12
"""Up to this many categories need no hierarchy: the value, sets of values, or `*`."""

_MOST_AUTOMATIC = 1_000  # categories that `hierarchy: auto` joins
_AGE_WIDTHS = [5, 10, 20]
_OLDEST = 130
_YEARS = (1850, 2110)
_LONGEST_CODE = 12


@dataclass(frozen=True)
class Suggestion:
    """What a policy should say of a column beside its role.

    `type` is None where the package sees the type by itself. `hierarchy` is written as in a
    policy, None for no hierarchy.
    """

    type: Kind | None = None
    format: str | None = None
    hierarchy: Mapping[str, Any] | None = None
    remarks: tuple[str, ...] = ()


def suggest(facts: ColumnFacts, guess: Guess) -> Suggestion:
    """Return type, date format and hierarchy for a column of the guessed role."""
    if guess.role == "identifier":
        return Suggestion()
    if guess.role != "quasi":
        return Suggestion(type="category" if facts.inexact else None)
    if facts.kind == "date":
        assert facts.written is not None
        written = None if facts.written.is_iso else facts.written.format
        return Suggestion("date", written, {"dates": list(DATE_LEVELS)})
    if guess.concept == "postal code":
        return _postal(facts)
    if facts.kind == "numeric":
        return _numeric(facts, guess)
    return _category(facts)


def _numeric(facts: ColumnFacts, guess: Guess) -> Suggestion:
    assert facts.bounds is not None
    low, high = facts.bounds
    if guess.concept == "age" and facts.distinct > 2:
        if low >= 0 and high <= _OLDEST:
            return Suggestion("numeric", hierarchy=_ranges(low, high))
        return Suggestion(
            "numeric",
            hierarchy={"auto": True},
            remarks=(f"Some ages are not between 0 and {_OLDEST}: codes for unknown, or errors?",),
        )
    if guess.concept == "birth" and facts.whole and _YEARS[0] <= low and high <= _YEARS[1]:
        return Suggestion("numeric", hierarchy=_ranges(low, high))
    if facts.distinct <= 2:
        return Suggestion("category")
    return Suggestion("numeric", hierarchy={"auto": True})


def _ranges(low: int, high: int) -> dict[str, Any]:
    return {"intervals": {"start": low, "stop": high, "widths": list(_AGE_WIDTHS)}}


def _postal(facts: ColumnFacts) -> Suggestion:
    """Postal codes are masked from the right, as long as they all have one length."""
    length = facts.length
    if length is None and facts.kind == "numeric" and facts.whole:
        return Suggestion(
            "numeric",
            hierarchy={"auto": True},
            remarks=(
                "Its codes are numbers of different lengths: zeros in front may be lost. Restore "
                "them to mask digit by digit.",
            ),
        )
    if length is not None and length > 1:
        return Suggestion("category", hierarchy={"mask": {"length": length}})
    suggestion = _category(facts)
    remark = "Its codes differ in length, so they cannot be masked digit by digit."
    return Suggestion("category", None, suggestion.hierarchy, (remark, *suggestion.remarks))


def _category(facts: ColumnFacts) -> Suggestion:
    type_: Kind | None = None if facts.seen == "category" else "category"
    if facts.distinct <= FEW_VALUES:
        return Suggestion(type_)
    if facts.code and facts.length is not None and 3 <= facts.length <= _LONGEST_CODE:
        return Suggestion("category", hierarchy={"mask": {"length": facts.length}})
    if facts.distinct <= _MOST_AUTOMATIC:
        return Suggestion(type_, hierarchy={"auto": True})
    return Suggestion(
        type_,
        remarks=(
            f"It has {facts.distinct:,} categories, too many to join without knowing them. "
            "Give it a hierarchy file.",
        ),
    )
