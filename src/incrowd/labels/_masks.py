"""Masks such as 142** or **248, and the texts that may stand behind them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_MASK = re.compile(r"(?P<prefix>[^*]*)\*+|\*+(?P<suffix>[^*]+)")


@dataclass(frozen=True)
class MaskedLabel:
    """A text of this length that begins with what is shown, or ends with it."""

    shown: str
    length: int
    at_end: bool = False

    @property
    def hidden(self) -> int:
        """How many characters it hides."""
        return self.length - len(self.shown)


def as_mask(label: str) -> MaskedLabel | None:
    """The mask that a label is, None if it is none."""
    match = _MASK.fullmatch(label)
    if match is None:
        return None
    if match["suffix"] is not None:
        return MaskedLabel(match["suffix"], len(label), at_end=True)
    return MaskedLabel(match["prefix"], len(label))


def shown_by(label: str, direction: str = "right") -> str:
    """What a mask shows, read away from the end that it shows; of a plain value all of it.

    `direction` is the end from which characters are hidden.
    """
    return (label if direction == "right" else label[::-1]).rstrip("*")


class MaskedTexts:
    """Texts by their beginnings or ends of a given length, each length prepared when asked for."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._tables: dict[tuple[int, int, bool, bool], dict[str, list[int]]] = {}

    def behind(self, mask: MaskedLabel, *, padded: bool = False) -> list[int]:
        """The positions of the texts that a mask may stand for; `padded`: with leading zeros."""
        size, length = len(mask.shown), mask.length
        key = (length, size, mask.at_end, padded)
        table = self._tables.get(key)
        if table is None:
            table = self._tables[key] = {}
            for at, text in enumerate(self._texts):
                whole = text.zfill(length) if padded else text
                if len(whole) == length:
                    part = whole[length - size :] if mask.at_end else whole[:size]
                    table.setdefault(part, []).append(at)
        return table.get(mask.shown, [])
