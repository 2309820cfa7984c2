"""Spellings of one value: texts of a sensitive attribute that a reader takes for the same.

Whoever finds `HIV`, `hiv` and `"HIV "` in a group knows what its patients have, so for every
privacy model these are one value. Two texts are one value where their keys are equal (`folded`):
where they agree after Unicode's compatibility forms (NFKC), case folding, blanks and characters
that nobody sees, and where both are one number. What differs in letters alone, such as synonyms or
abbreviations, stays apart, and so does a raised number beside a digit: a power is no digit.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MAX_PREC, Context, Decimal
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_NUMBER = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:e([+-]?)([0-9]+))?")
"""Each text matches in one way at most, so that a long one takes no longer than its length."""
_PLAIN_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")
_DIGITS = frozenset("0123456789")
_RAISED = ("<super>", "<sub>", "<circle>", "<fraction>")
_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX)
_SHORT = 1_000
_DOTLESS = "\N{LATIN SMALL LETTER DOTLESS I}"
_DOTS = re.compile("i\N{COMBINING DOT ABOVE}+")
_BLANK = "\N{BRAILLE PATTERN BLANK}"
_UNSEEN = (
    (0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2065, 0x2065),
    (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0xE0000, 0xE0FFF),
)  # fmt: skip
"""Characters that show nothing and are neither format nor control characters: joiners, fillers,
variation selectors (Default_Ignorable_Code_Point)."""
_LOOK_ALIKES = {
    "\N{MINUS SIGN}": "-",
    "\N{LEFT SINGLE QUOTATION MARK}": "'",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "\N{MODIFIER LETTER APOSTROPHE}": "'",
    "\N{LEFT DOUBLE QUOTATION MARK}": '"',
    "\N{RIGHT DOUBLE QUOTATION MARK}": '"',
}
"""What programs put in the place of an ASCII character while one types."""


def folded(text: str) -> str:
    r"""The key of a text: equal for texts that are spellings of one value.

    It is empty for a text that shows nothing, and its own key.

    Example
    -------
    >>> {folded(text) for text in ("HIV", "hiv", " HIV ", "H\u200bIV", "\uff28\uff29\uff36")}
    {'hiv'}
    >>> {folded(text) for text in ("200", "200.0", "2e2", "+200", "0200")}
    {'2e2'}
    >>> folded("H\u2082O") == folded("H2O"), folded("10\u2075") == folded("105")
    (True, False)
    """
    if text.isascii() and text.isprintable():
        key = " ".join(text.lower().split())
    else:
        key, before = text, ""
        while key != before:
            before, key = key, _dotted(_lowered(key).casefold())
    number = _NUMBER.fullmatch(key)
    return key if number is None else _number_key(number, key)


def plain(text: str) -> str:
    """The text as a person types it: compatibility forms, no unseen characters, single blanks.

    Invariant: what is raised stays as it is, so that no text becomes a number by it.
    """
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    runs = groupby(text.translate(_CHARACTERS), _is_raised)
    return _seen("".join("".join(run) if raised else _nfkc("".join(run)) for raised, run in runs))


def _lowered(text: str) -> str:
    """The text as `plain` has it, with raised characters as ordinary ones.

    Those that make a number beside a digit stay: 10 to the power of 5 is not 105.
    """
    runs = ["".join(run) for _, run in groupby(text.translate(_CHARACTERS), _is_raised)]
    put = []
    for before, run, after in zip(["", *runs], runs, [*runs[1:], ""], strict=False):
        beside = before[-1:] in _DIGITS or after[:1] in _DIGITS
        kept = beside and _is_raised(run[0]) and any(map(_is_numeral, run))
        put.append(run if kept else _nfkc(run))
    return _seen("".join(put))


def _seen(text: str) -> str:
    return " ".join(text.translate(_CHARACTERS).split())


def _nfkc(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _is_numeral(character: str) -> bool:
    return unicodedata.category(character) == "No"


def _is_raised(character: str) -> bool:
    """Whether it is a number or sign out of line: a power, an index, in a circle, a fraction."""
    return unicodedata.decomposition(character).startswith(_RAISED) or _is_numeral(character)


def _dotted(text: str) -> str:
    """The text whose i has one dot, however a Turkish keyboard or program wrote it."""
    return _DOTS.sub("i", text.replace(_DOTLESS, "i"))


class _Characters(dict[int, str]):
    """For each character what a key has in its place; looked up once."""

    def __missing__(self, code: int) -> str:
        self[code] = put = _put_for(chr(code))
        return put


def _put_for(character: str) -> str:
    if character.isspace() or character == _BLANK:
        return " "
    category = unicodedata.category(character)
    if category in ("Cf", "Cc") or any(a <= ord(character) <= b for a, b in _UNSEEN):
        return ""
    if category == "Nd":
        return str(unicodedata.decimal(character))
    return "-" if category == "Pd" else _LOOK_ALIKES.get(character, character)


_CHARACTERS = _Characters()


def _number_key(number: re.Match[str], text: str) -> str:
    """A number as its digits and a power of ten, the same however it is written."""
    sign, whole, fraction, power_sign, power = number.groups(default="")
    if not whole + fraction:
        return text
    digits = (whole + fraction).lstrip("0")
    shown = digits.rstrip("0")
    if not shown:
        return "0e0"
    moved = len(digits) - len(shown) - len(fraction)
    return f"{'-' if sign == '-' else ''}{shown}e{_sum(power_sign, power.lstrip('0'), moved)}"


def _sum(sign: str, digits: str, other: int) -> str:
    """The sum of a whole number, given by its digits, and another; there may be many digits."""
    if len(digits) < _SHORT:
        return str(int(f"{sign}{digits or '0'}") + other)
    return format(_EXACT.add(Decimal(f"{sign}{digits}"), other), "f")


@dataclass(frozen=True)
class Folding:
    """Texts taken for values: `values` in ascending order, and the value of each text.

    `value_of[i]` is the position in `values` of the value that text i is a spelling of; that after
    the last one for a text that shows nothing, which is a missing cell.
    """

    values: tuple[str, ...]
    value_of: tuple[int, ...]

    @property
    def spellings(self) -> dict[int, list[int]]:
        """Of each value that is written in several ways, which texts are its spellings."""
        found: dict[int, list[int]] = {}
        for text, value in enumerate(self.value_of):
            found.setdefault(value, []).append(text)
        return {value: texts for value, texts in found.items() if len(texts) > 1}

    def rewritten(self, texts: Sequence[str]) -> list[int]:
        """The values that none of the texts is: numbers that nobody wrote in ASCII digits."""
        return sorted(set(range(len(self.values))) - set(self._written(texts)))

    def _written(self, texts: Sequence[str]) -> list[int]:
        shown = (*self.values, None)
        return [at for at, text in zip(self.value_of, texts, strict=True) if shown[at] == text]


def fold(texts: Sequence[str]) -> Folding:
    """The values that texts are spellings of.

    Invariant: the spelling that stands for a value is chosen by the spellings alone, never by how
    many records have one or in which order they come, so it is the same wherever they are counted.
    """
    places_of: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        places_of.setdefault(folded(text), []).append(place)
    places_of.pop("", None)
    chosen = {key: _chosen([texts[place] for place in at]) for key, at in places_of.items()}
    order = sorted(chosen, key=chosen.__getitem__)
    value_of = [len(order)] * len(texts)
    for value, key in enumerate(order):
        for place in places_of[key]:
            value_of[place] = value
    return Folding(tuple(chosen[key] for key in order), tuple(value_of))


def _chosen(spellings: Sequence[str]) -> str:
    """The spelling that stands for all: as a person types it, then the first in text order.

    A number that nobody wrote in ASCII digits is written so (`Folding.rewritten`).
    """
    if len(spellings) == 1 and spellings[0].isascii():
        return spellings[0]
    best = min(spellings, key=_oddness)
    return plain(best) if _NUMBER.fullmatch(plain(best).lower()) else best


def _oddness(text: str) -> tuple[bool, bool, str]:
    return _PLAIN_NUMBER.fullmatch(text) is None, plain(text) != text, text


def by_key(values: Iterable[str]) -> dict[str, str]:
    """The values by their keys, to find the one that a text names."""
    return {folded(value): value for value in values}


def spelled_as(series: pl.Series, values: Iterable[str]) -> pl.Series:
    """The cells of a column, each that is a spelling of one of the values written as that one.

    Other cells are written in one of their own spellings; those that show nothing are missing.
    """
    import polars as pl

    from incrowd.table.dictionary import as_text

    cells = as_text(series)
    texts = cells.unique().drop_nulls().to_list()
    folding, known = fold(texts), by_key(values)
    written: Mapping[str, str | None] = {
        text: known.get(folded(text), (*folding.values, None)[value])
        for text, value in zip(texts, folding.value_of, strict=True)
    }
    return cells.replace_strict(
        list(written), list(written.values()), default=None, return_dtype=pl.String
    )
