"""What the name of a column says: words for what patient tables hold, in six languages.

A name is taken apart into words (`PatientAge`, `patient_age` and `patient age` are the same), and
whole words are compared, so that `age` is found in `age_at_admission` but not in `stage` or
`dosage`. A word also matches its plural in -s. Accents do not matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from incrowd.profiling._concepts import CONCEPTS, Concept
from incrowd.table import Role
from incrowd.table.person_names import NUMBER_WORDS, words_of

_ROLE_ORDER: tuple[Role, ...] = ("identifier", "quasi", "sensitive", "target", "keep")

_TRAITS = frozenset(
    ("age", "birth", "sex", "postal code", "place", "origin", "education", "occupation")
)


@dataclass(frozen=True)
class NameMatch:
    """The concept that a name speaks of, and what other words of it say.

    `identifies` tells of a word such as `id`, `numbers` of one for numbers that are given out, as
    `no`, and `people` of a person, unless the name goes on to a trait of theirs, as their town.
    """

    concept: Concept
    identifies: bool
    numbers: bool = False
    people: bool = False


def match_name(name: str) -> NameMatch | None:
    """Return what a column name speaks of, or None when no word of it is known.

    Of several concepts a strong one comes before a weak one, a longer phrase before a shorter
    one, and then the one whose role protects more.
    """
    words = words_of(name)
    found = list(_matches(words))
    if not found:
        return None
    best = min(
        found,
        key=lambda each: (each[0].weak, -each[1], _ROLE_ORDER.index(each[0].role), each[0].rank),
    )
    keys = {concept.key for concept, _ in found}
    return NameMatch(
        best[0],
        identifies="identifier" in keys,
        numbers=not NUMBER_WORDS.isdisjoint(words),
        people="people" in keys and keys.isdisjoint(_TRAITS),
    )


def _matches(words: tuple[str, ...]) -> Iterator[tuple[Concept, int]]:
    """Yield every concept that the words hold a phrase of, with the length of the phrase.

    A number at the end is passed over where a phrase must be the whole name: `LAST_2` is `last`.
    """
    bare = words[:-1] if len(words) > 1 and words[-1].isdecimal() else words
    for at, word in enumerate(words):
        for first in {word, word.removesuffix("s")}:
            for concept, phrase in _phrases().get(first, ()):
                here = words[at : at + len(phrase)]
                if concept.alone and here != bare:
                    continue
                if len(here) == len(phrase) and all(map(_same, here, phrase)):
                    yield concept, len(phrase)


def _same(word: str, wanted: str) -> bool:
    return word in (wanted, wanted + "s")


@cache
def _phrases() -> dict[str, list[tuple[Concept, tuple[str, ...]]]]:
    """All phrases by their first word."""
    phrases: dict[str, list[tuple[Concept, tuple[str, ...]]]] = {}
    for concept in CONCEPTS:
        for text in concept.words.split(","):
            phrase = words_of(text)
            phrases.setdefault(phrase[0], []).append((concept, phrase))
    return phrases
