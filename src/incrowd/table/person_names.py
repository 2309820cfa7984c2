"""Names of columns that number people: what can be told of a column without a look at its cells."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

PEOPLE = (
    "patient", "person", "subject", "participant", "proband", "member", "paciente", "sujet",
    "versichert", "sozialversicherung", "insurance", "passport", "pat", "patnr", "pid", "mrn",
    "ssn", "nhs", "nir", "nhc", "dni", "nif", "curp", "cpf", "kvnr", "svnr",
)  # fmt: skip
"""How words begin in the names of columns whose values stand for people; short ones are whole."""
NUMBER_WORDS = frozenset(
    ("id", "no", "nr", "nbr", "num", "number", "nummer", "numero", "key", "bag", "tube", "beutel")
)
"""Words for numbers that are given out."""
_SHORT = 6
"""Words with fewer letters are compared whole, or together with what stands for a number."""
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W\d_]+|\d+")


def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a column name in lower case, without accents."""
    plain = unicodedata.normalize("NFKD", _CAMEL.sub(" ", name))
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    return tuple(_WORD.findall(plain.casefold()))


def speaks_of(name: str, beginnings: Sequence[str]) -> bool:
    """Whether a word of a name is one of these, or begins with one of the longer ones."""
    return any(_begins(word, beginnings) for word in words_of(name))


def numbers_people(name: str) -> bool:
    """Whether a column is called as one whose values tell people apart, and by nothing else.

    Example
    -------
    >>> [numbers_people(name) for name in ("patient", "PatientID", "id", "patient_age", "visit_id")]
    [True, True, True, False, False]
    """
    words = words_of(name)
    others = [word for word in words if word not in NUMBER_WORDS]
    if not others:
        return "id" in words
    return all(_begins(word, PEOPLE) for word in others)


def _begins(word: str, beginnings: Sequence[str]) -> bool:
    bare = word.removesuffix("s").removesuffix("nummer").removesuffix("id")
    return any(
        bare == each or (len(each) >= _SHORT and word.startswith(each)) for each in beginnings
    )
