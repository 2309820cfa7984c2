"""The role of every column: a guess from its name and its content, with the reason.

The guess fails safe. What points to a person is not published; what others may know is a
quasi-identifier, and so is a column that nothing is known about, unless it is text of many values,
which may be names: that is not published either. Numbers that are given out, and names of those who
treat or are related, stay unpublished under a clinical word too (`lab_no`, `result_by`). Only
a clear clinical word, or one for an outcome, makes a column one that is published as it is
(`sensitive`, `target`); nothing makes it `keep`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from incrowd.errors import InputError
from incrowd.profiling._columns import ColumnFacts
from incrowd.profiling._concepts import Concept
from incrowd.profiling._vocabulary import NameMatch, match_name
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
_MOST_TEXTS = 100  # texts of an unknown kind, and their share of the records, that are no names
_MOST_TEXTS_SHARE = 0.2
_FEW_TEXTS = 12
_LONG_CODE = 7  # digits of numbers that are all as long, and hardly measures
_CODE = 5  # digits from which on numbers that hardly repeat are no counts
_MOST_DRAWN = 0.3  # different values per record of numbers given out once for a few records
_FEWEST_PEOPLE = 3
_MEASURES = ("age", "birth", "postal code", "place", "body", "money")  # ranges hide them
_MOST_CLASSES = 50

_IDENTIFYING_PATTERNS = {
    "e-mail": "e-mail addresses",
    "url": "internet addresses",
    "uuid": "identifiers (UUID)",
    "ip": "IP addresses",
    "social security": "social security numbers",
    "phone": "phone numbers",
}
CLINICAL_PATTERNS = {
    "icd-10": "codes of diagnoses (ICD-10)",
    "icd-o": "codes of tumors (ICD-O)",
    "ops": "codes of procedures (OPS)",
    "atc": "codes of medications (ATC)",
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
    if match is not None and match.concept.role == "identifier":
        return _named_identifier(facts, match.concept)
    if _unread_dates(facts, concept):
        return Guess("identifier", _UNREAD_DATES, firm=True, remarks=(_UNREAD_DATES_REMEDY,))
    if match is None:
        return _from_content(facts)
    if _given_out(facts, match):
        return Guess(
            "identifier",
            f"Looks like the identifier of {match.concept.what}: nearly every record has its own.",
            firm=True,
        )
    if match.people and facts.kind == "category" and not facts.inexact:
        return _people(facts)
    return _named(facts, match.concept)


def _given_out(facts: ColumnFacts, match: NameMatch) -> bool:
    """Whether a name such as `lab_no` or `result_id` stands over numbers that tell records apart.

    What is given out to be looked up must not be published, whatever it is the number of. Ranges
    hide measures; a number of a few records each tells as much as one of each.
    """
    if match.concept.key in _MEASURES or not (match.identifies or match.numbers):
        return False
    if match.concept.role != "quasi" and _singles_out(facts):
        return True
    if not match.numbers:
        return False
    drawn = facts.present > 3 and facts.distinct >= _MOST_DRAWN * facts.present
    codes = _codes(facts) and facts.pattern not in CLINICAL_PATTERNS
    return (drawn and codes) or (facts.present >= _MANY_RECORDS and _singles_out(facts))


def _people(facts: ColumnFacts) -> Guess:
    """A guess for texts that are about a person: a few kinds of people, or their names."""
    few = max(_FEWEST_PEOPLE, min(_FEW_TEXTS, _MOST_TEXTS_SHARE * facts.present))
    if facts.distinct <= few:
        return Guess("quasi", "Looks like a person of care or a relative: others may know it.")
    return Guess(
        "identifier",
        "Looks like a person of care or a relative, with many values, which may be names.",
        firm=True,
        remarks=("If it names nobody, make it quasi, with a hierarchy.",),
    )


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
        firm=True,
    )
    if facts.kind == "date" and concept.role != "quasi":
        return replace(guess, role="quasi", reason=_DATE_REASON, rank=_LAST_RANK)
    many = facts.records >= _MANY_RECORDS
    text = facts.kind == "category" and (facts.whole or not facts.inexact)
    shown = text and concept.role != "quasi"  # sets or ranges hide the others
    codes = _codes(facts) and concept.key not in _MEASURES
    if many and (shown or codes) and _singles_out(facts):
        return Guess(
            "identifier",
            f"Named like {concept.what}, but nearly every record has a value of its own.",
            concept=concept.key,
        )
    if concept.role == "target" and facts.distinct > _MOST_CLASSES:
        return _from_content(facts)
    return replace(guess, remarks=_spread_remarks(facts, guess.role))


def _unread_dates(facts: ColumnFacts, concept: Concept | None) -> bool:
    """Whether cells are dates that no format reads: as categories they would be listed whole."""
    if facts.kind != "category" or facts.nearly == "numeric":
        return False
    about_birth = concept is not None and concept.key == "birth"
    texts = facts.digits and facts.distinct > _FEW_TEXTS and not facts.inexact
    return facts.nearly == "date" or (about_birth and texts and facts.seen == "category")


_UNREAD_DATES = "Its cells look like dates, but no one format reads them all: left out."
_UNREAD_DATES_REMEDY = (
    "To publish it, write its dates in one way, with empty cells where there is none, and run init "
    "again, or give it the role quasi with `type: date` and `format:`, as in %d.%m.%Y."
)
_DATE_REASON = "A date in the life of a person: others may know it."


def _named_reason(concept: Concept) -> str:
    return {
        "quasi": f"Looks like {concept.what}: others may know it.",
        "sensitive": f"Looks like {concept.what}: to be kept private.",
        "target": f"Looks like {concept.what}: what analysts predict.",
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
    if facts.distinct == 1 and facts.present == facts.records:
        return Guess("quasi", "Every record has the same value: it tells nobody apart.")
    return _unsure(facts)


def _unsure(facts: ColumnFacts) -> Guess:
    """A guess where neither name nor content tells: protected, or left out if it may be names."""
    remarks: tuple[str, ...] = ()
    if facts.pattern in CLINICAL_PATTERNS:
        what = CLINICAL_PATTERNS[facts.pattern]
        remarks = (f"Its cells look like {what}; make it sensitive if they are.",)
    if _many_texts(facts):
        return Guess(
            "identifier",
            "Unsure, and text of many values, which may be names: left out.",
            firm=True,
            remarks=(*remarks, "If it names nobody, make it quasi, with a hierarchy."),
        )
    if _long_codes(facts) and facts.distinct > _MOST_TEXTS:
        return Guess(
            "identifier", "Unsure, and long numbers of one length, as codes are: left out."
        )
    return Guess(
        "quasi",
        "Unsure: neither name nor content tells, so it is protected.",
        remarks=(*remarks, *_spread_remarks(facts, "quasi")),
    )


def _many_texts(facts: ColumnFacts) -> bool:
    """Whether a column of texts has so many values that sets of them would list names."""
    if facts.kind != "category" or facts.inexact or facts.nearly == "numeric":
        return False
    if facts.distinct > _MOST_TEXTS:
        return True
    return facts.distinct > max(_FEW_TEXTS, _MOST_TEXTS_SHARE * facts.present)


def _long_codes(facts: ColumnFacts) -> bool:
    """Whether all are whole numbers of one length, longer than measures are."""
    return facts.whole and facts.length is not None and facts.length >= _LONG_CODE


def _codes(facts: ColumnFacts) -> bool:
    """Whether all are whole numbers of five digits or more, or codes of one such length.

    Numbers may have two lengths in a row, as those do that are counted up over 99,999. Counts and
    results that spread wider are measures.
    """
    if facts.bounds is not None:  # the written length would count the zeros of 120.0
        low, high = facts.bounds
        return facts.whole and low >= 10 ** (_CODE - 1) and len(str(high - 1)) <= len(str(low)) + 1
    signs = facts.length is not None and facts.length >= _CODE
    return signs and (facts.whole or facts.code)


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
    # Ranges hide numbers; sets of texts would list them, so texts that single out stay hidden.
    hidden = [
        i
        for i, g in enumerate(guesses)
        if g.role == "identifier" and not g.firm and columns[i].kind != "category"
    ]
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
