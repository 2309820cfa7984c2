"""The role of every column: a guess from its name and its content, with the reason.

The guess fails safe. What points to a person is not published; what others may know is a
quasi-identifier, and so is every column that nothing is known about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from incrowd.errors import InputError
from incrowd.profiling.columns import ColumnFacts
from incrowd.profiling.vocabulary import Concept, match_name
from incrowd.table import Role

MOST_PROMOTED = 3
"""How many columns become quasi-identifiers when none looks like one."""

_MANY_RECORDS = 50  # from here on it means something that hardly a value occurs twice
_NEARLY_UNIQUE = 0.9
_MOSTLY_UNIQUE = 0.5
_SENTENCE_WORDS = 5.0
_LONG_SENTENCE_WORDS = 8.0
_FEW_PER_VALUE = 0.05  # an `id` with fewer values per record than this names groups,
_MOST_GROUPS = 100  # if there are not more of them than this

_IDENTIFYING_PATTERNS = {
    "e-mail": "e-mail addresses",
    "url": "internet addresses",
    "uuid": "identifiers (UUID)",
    "ip": "IP addresses",
    "social security": "social security numbers",
    "phone": "phone numbers",
}
_SENSITIVE_PATTERNS = {
    "icd-10": ("diagnosis", "codes of diagnoses (ICD-10)", 1),
    "icd-o": ("diagnosis", "codes of tumors (ICD-O)", 1),
    "ops": ("procedure", "codes of procedures (OPS)", 2),
    "atc": ("medication", "codes of medications (ATC)", 3),
}
_LAST_RANK = 9


@dataclass(frozen=True)
class Guess:
    """The role of one column, why, and how sure: `firm` guesses are not overturned later.

    `rank` orders the sensitive attributes and the targets, the most important first.
    """

    role: Role
    reason: str
    concept: str = ""
    rank: int = _LAST_RANK
    firm: bool = False
    remarks: tuple[str, ...] = ()


def guess_roles(columns: Sequence[ColumnFacts]) -> list[Guess]:
    """Return a guess for every column of a table, at most one target and one quasi at least.

    Raises
    ------
    InputError
        Every column points to a person, so that nothing would be left to publish.
    """
    guesses = [guess_role(facts) for facts in columns]
    return _at_least_one_quasi(columns, _one_target(guesses))


def guess_role(facts: ColumnFacts) -> Guess:
    """Return the guess for one column, from its name and its content alone."""
    if not facts.distinct:
        return Guess("identifier", "Every cell is missing, so it is left out.", firm=True)
    match = match_name(facts.name)
    concept = match.concept if match is not None else None
    seen = _identifying_content(facts, concept)
    if seen is not None:
        return seen
    if match is None:
        return _from_content(facts)
    if match.concept.role == "identifier":
        return _named_identifier(facts, match.concept)
    if match.identifies and match.concept.role != "quasi" and _singles_out(facts):
        return Guess(
            "identifier",
            f"Looks like the identifier of {match.concept.what}: nearly every record has its own.",
            firm=True,
        )
    return _named(facts, match.concept)


def _identifying_content(facts: ColumnFacts, concept: Concept | None) -> Guess | None:
    """A guess for cells that point to a person whatever the name of their column says."""
    if facts.pattern in _IDENTIFYING_PATTERNS:
        what = _IDENTIFYING_PATTERNS[facts.pattern]
        return Guess("identifier", f"Its cells look like {what}: never published.", firm=True)
    known = concept is not None and concept.role != "identifier"
    words = _LONG_SENTENCE_WORDS if known else _SENTENCE_WORDS
    if facts.words >= words and facts.distinct >= _MOSTLY_UNIQUE * facts.present:
        return Guess(
            "identifier",
            "Its cells are free text, which may name anybody: never published.",
            firm=True,
        )
    return None


def _named_identifier(facts: ColumnFacts, concept: Concept) -> Guess:
    """A guess for a column named like an identifier; a weak name with few values is a group."""
    few = facts.distinct <= min(_MOST_GROUPS, max(1, _FEW_PER_VALUE * facts.present))
    if concept.weak and few:
        return Guess(
            "quasi",
            "Named like an identifier, but many records share each value: "
            "others may know the group of a person.",
        )
    return Guess("identifier", f"Looks like {concept.what}: never published.", firm=True)


def _named(facts: ColumnFacts, concept: Concept) -> Guess:
    """A guess for a column whose name speaks of something, by that and its type."""
    guess = Guess(
        concept.role,
        _named_reason(concept),
        concept=concept.key,
        rank=concept.rank,
        firm=concept.role != "keep",
    )
    if facts.kind == "date" and concept.role != "quasi":
        return replace(guess, role="quasi", reason=_DATE_REASON, rank=_LAST_RANK)
    if concept.role == "keep":
        return guess if not _singles_out(facts) else _from_content(facts)
    many = facts.records >= _MANY_RECORDS
    text = facts.kind == "category" and (facts.whole or not facts.inexact)
    if many and text and concept.role != "quasi" and _singles_out(facts):
        return Guess(
            "identifier",
            f"Named like {concept.what}, but nearly every record has a value of its own.",
            concept=concept.key,
        )
    return replace(guess, remarks=_spread_remarks(facts, guess.role))


_DATE_REASON = "A date in the life of a person: others may know it."


def _named_reason(concept: Concept) -> str:
    return {
        "quasi": f"Looks like {concept.what}: others may know it.",
        "sensitive": f"Looks like {concept.what}: to be kept private.",
        "target": f"Looks like {concept.what}: what analysts predict.",
        "keep": f"Looks like {concept.what}: says nothing about a person.",
    }[concept.role]


def _from_content(facts: ColumnFacts) -> Guess:
    """A guess for a column whose name says nothing."""
    if facts.kind == "date":
        return Guess("quasi", _DATE_REASON, concept="date", firm=True)
    if _singles_out(facts) and facts.inexact and not facts.whole:
        return Guess(
            "identifier", "Numbers with too many digits for ranges: left out until rounded."
        )
    if _singles_out(facts):
        return Guess("identifier", "Nearly every record has a value of its own: it singles out.")
    if facts.pattern in _SENSITIVE_PATTERNS:
        concept, what, rank = _SENSITIVE_PATTERNS[facts.pattern]
        reason = f"Its cells look like {what}: to be kept private."
        return Guess("sensitive", reason, concept=concept, rank=rank, firm=True)
    if facts.distinct == 1 and facts.present == facts.records:
        return Guess("keep", "Every record has the same value: it tells nobody apart.")
    return _unsure(facts)


def _unsure(facts: ColumnFacts) -> Guess:
    return Guess(
        "quasi",
        "Unsure: neither name nor content tells, so it is protected.",
        remarks=_spread_remarks(facts, "quasi"),
    )


def _spread_remarks(facts: ColumnFacts, role: Role) -> tuple[str, ...]:
    """What to check where the values hardly repeat."""
    if facts.records < _MANY_RECORDS or facts.distinct < _MOSTLY_UNIQUE * facts.present:
        return ()
    spread = f"{facts.distinct:,} different values in {facts.present:,} records"
    if role == "quasi":
        return (f"{spread} cost much detail; make it an identifier if nobody needs it.",)
    return (f"{spread} single people out; make it quasi if others may know it.",)


def _singles_out(facts: ColumnFacts) -> bool:
    """Whether nearly every record has a value of its own, so that the column works as a number.

    Measures with decimals hardly ever repeat and dates often do not: they are not meant. In a
    small table numbers may all differ by chance, unless they count up one by one.
    """
    many = facts.present >= _MANY_RECORDS
    if facts.kind == "date" or facts.present < 2:
        return False
    if facts.inexact and not facts.whole:
        return many and facts.singletons >= _MOSTLY_UNIQUE * facts.present
    if facts.kind == "numeric":
        if not facts.whole:
            return False
        unique = facts.singletons >= _NEARLY_UNIQUE * facts.present
        return (facts.consecutive and facts.present > 3) or (many and unique)
    unique = many and facts.singletons >= _MOSTLY_UNIQUE * facts.present
    return unique or (facts.always_new and facts.present > 3)


def _one_target(guesses: list[Guess]) -> list[Guess]:
    """The guesses with the likeliest target only; other outcomes are sensitive."""
    targets = [i for i, guess in enumerate(guesses) if guess.role == "target"]
    if not targets:
        return guesses
    first = min(targets, key=lambda i: (guesses[i].rank, i))
    return [
        replace(
            guess,
            role="sensitive",
            reason="Looks like another class or outcome: to be kept private.",
            rank=_LAST_RANK,
        )
        if guess.role == "target" and i != first
        else guess
        for i, guess in enumerate(guesses)
    ]


def _at_least_one_quasi(columns: Sequence[ColumnFacts], guesses: list[Guess]) -> list[Guess]:
    """The guesses with the most identifying columns as quasi-identifiers when there is none."""
    if any(guess.role == "quasi" for guess in guesses):
        return guesses
    shown = [i for i, guess in enumerate(guesses) if guess.role != "identifier"]
    if len(shown) > 1:
        # What harms most when it is learned stays sensitive: there is something to protect.
        harmful = [i for i in shown if guesses[i].role == "sensitive"]
        worst = min(harmful, key=lambda i: (guesses[i].rank, i), default=None)
        shown = [i for i in shown if i != worst]
    hidden = [i for i, g in enumerate(guesses) if g.role == "identifier" and not g.firm]
    candidates = sorted(shown or hidden, key=lambda i: (-columns[i].distinct, i))
    if candidates:
        chosen = set(candidates[:MOST_PROMOTED])
        return [
            replace(guess, role="quasi", reason=_PROMOTED, rank=_LAST_RANK)
            if i in chosen
            else guess
            for i, guess in enumerate(guesses)
        ]
    raise InputError(
        "Every column looks like an identifier of a person or is empty, so nothing would be left "
        "to publish. Add the columns that the release is about, or write the policy by hand."
    )


_PROMOTED = "No column looks like a quasi-identifier; this one tells records apart best."
