"""How many values masks such as 142** may stand for, as far as the published cells tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from incrowd.labels import shown_by

_DIGITS = frozenset("0123456789*")
_MOST = 1 << 53


@dataclass(frozen=True)
class ShownMasks:
    """The different cells of a masked column, with how many records show each.

    A mask stands for at most as many values as there are records behind it, and, where the column
    shows digits alone, for at most ten times as many with every character that it hides.
    """

    records: Mapping[str, int]
    direction: str = "right"
    """The end from which characters are hidden."""

    def most(self, mask: str) -> int:
        """The most values that a mask may stand for; 1 if it hides nothing."""
        shown = shown_by(mask, self.direction)
        hidden = len(mask) - len(shown)
        return max(2, min(self._begins[shown], self._texts(hidden))) if hidden else 1

    def hull(self) -> int:
        """The most values behind the narrowest mask that covers all that is shown."""
        texts = [shown_by(mask, self.direction) for mask in self.records if mask != "*"]
        if not texts:
            return 0
        longest = max(len(mask) for mask in self.records)
        first, last = min(texts), max(texts)
        shared = 0
        while shared < min(len(first), len(last)) and first[shared] == last[shared]:
            shared += 1
        return max(len(texts), min(self._begins[""], self._texts(longest - shared)))

    @cached_property
    def _begins(self) -> dict[str, int]:
        """How many records show each beginning of a text."""
        found: dict[str, int] = {}
        for mask, many in self.records.items():
            text = shown_by(mask, self.direction)
            for end in range(len(text) + 1):
                found[text[:end]] = found.get(text[:end], 0) + many
        return found

    @cached_property
    def _digits(self) -> bool:
        return all(_DIGITS.issuperset(mask) for mask in self.records)

    def _texts(self, hidden: int) -> int:
        return int(10 ** min(hidden, 15)) if self._digits else _MOST
