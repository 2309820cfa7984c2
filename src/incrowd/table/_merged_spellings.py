"""The cells of a protected column with one code for all spellings of a value, and what that did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from incrowd._runtime.sentences import listed
from incrowd.table._table import Codes, Tally, narrow
from incrowd.table.spellings import Folding, fold

_SHOWN = 3
"""The values written in several ways whose records a remark names."""
_SPELLINGS_SHOWN = 5
_UNSEEN = (
    "Column '{}': {:,} records show nothing there but blanks or characters that nobody sees. They "
    "are taken for missing cells."
)
_REWRITTEN = (
    "Column '{}': {} no record has in ASCII digits{}. The release has {} in these digits, a text "
    "that the source does not have."
)


@dataclass(frozen=True)
class Merged:
    """Texts in ascending order, the code of every cell (missing = last), and the missing.

    `unseen`, `respelled` and `rewritten` tell a person of cells that show nothing, of values
    written in several ways, and of those published as no record writes them: how many, and in which
    records to look for them. They show no cell.

    Invariant: a value whose text no cell of the source has is among those that `rewritten` counts.
    """

    texts: list[str]
    codes: Codes
    missing: int
    unseen: tuple[str, ...]
    respelled: tuple[str, ...]
    rewritten: tuple[str, ...]


def merged(name: str, texts: Sequence[str], codes: Codes, tally: Tally) -> Merged:
    """The values of a column and the codes of its cells, given those of its texts."""
    folding = fold(texts)
    many = len(folding.values)
    lookup = narrow(np.array([*folding.value_of, many], dtype=np.int64), many + 1)
    found = lookup[codes]
    missing = tally.records(found == many)[0]
    unseen = missing - tally.records(codes == len(texts))[0]
    blank = (_UNSEEN.format(name, unseen),) if unseen else ()
    spellings = folding.spellings
    spellings.pop(many, None)
    told = (_respelled(name, folding, spellings, texts, codes, tally),) if spellings else ()
    anew = _rewritten(name, folding.rewritten(texts), found, tally)
    return Merged(list(folding.values), found, missing, blank, told, anew)


def _rewritten(name: str, values: Sequence[int], codes: Codes, tally: Tally) -> tuple[str, ...]:
    if not values:
        return ()
    first = tally.records(np.isin(codes, values))[1]
    place = "" if first < 0 else f" (the first in record {first + 1:,})"
    if len(values) == 1:
        return (_REWRITTEN.format(name, "there is 1 number that", place, "it"),)
    return (_REWRITTEN.format(name, f"there are {len(values):,} numbers that", place, "them"),)


def _respelled(
    name: str,
    folding: Folding,
    spellings: dict[int, list[int]],
    texts: Sequence[str],
    codes: Codes,
    tally: Tally,
) -> str:
    other = np.zeros(len(texts) + 1, dtype=np.bool_)
    for value, places in spellings.items():
        other[[place for place in places if texts[place] != folding.values[value]]] = True
    values = f"{len(spellings):,} values are" if len(spellings) > 1 else "1 value is"
    return (
        f"Column '{name}': {values} written in {sum(map(len, spellings.values())):,} ways, which "
        "differ only in case, blanks, width, characters that nobody sees or the form of a number"
        f"{_places(list(spellings.values()), codes, tally)}. Each is one value for every privacy "
        f"model and has one spelling in the release; {tally.records(other[codes])[0]:,} "
        "records have another in the source. Codes that mean different things need names that "
        "differ in more than that."
    )


def _places(spellings: list[list[int]], codes: Codes, tally: Tally) -> str:
    """The first records with each spelling of some values; nothing where records have no order."""
    told = []
    for texts in spellings[:_SHOWN]:
        first = sorted(tally.records(codes == text)[1] for text in texts)
        if first[0] < 0:
            return ""
        numbers = (f"{record + 1:,}" for record in first)
        told.append(listed(numbers, _SPELLINGS_SHOWN, quoted=False))
    return f" (one value: records {'; another: records '.join(told)})"
