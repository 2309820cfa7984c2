"""What promises say about the values of a sensitive attribute, in words that fit the models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from incrowd.privacy import PrivacyModel

_NOTHING = {"C": 1.0, "alpha": 1.0, "t": 1.0}
"""A share that may be as large as this bounds nothing."""
_ONE = ("l", "p")
"""So many values remain: where it is one, nothing is promised."""
_COUNTING = ("p-sensitive", "multi-sensitive", "exponential-l")
"""Models that count values and say nothing of their shares, beside those of the kind distinct."""


@dataclass(frozen=True)
class Bound:
    """What is promised about an attribute.

    `shares` is whether it limits how sure an attacker may be, or only that values remain; `listed`
    whether about some values alone; `known` against how many known quasi-identifiers, None where
    against all.
    """

    shares: bool
    listed: bool = False
    known: int | None = None

    @property
    def strength(self) -> tuple[bool, bool, float]:
        """By what the strongest of several bounds is chosen."""
        return not self.listed, self.shares, float("inf") if self.known is None else self.known

    def words(self, quasi: int) -> str:
        """The bound as a sentence, in a release with so many quasi-identifiers."""
        told = "the promises above bound how sure an attacker may be"
        if not self.shares:
            told = "promised is that several values remain, not how frequent each may be"
        if self.listed:
            told += ", of the listed values alone"
        if self.known is not None and self.known < quasi:
            told += f", for someone who knows up to {self.known} quasi-identifiers"
        return told


@dataclass(frozen=True)
class Promises:
    """What is promised of sensitive attributes, and of crowds for who knows less than all.

    `crowds` has pairs: how many quasi-identifiers may be known, how many records fit then.
    """

    bounds: Mapping[str, Bound]
    crowds: tuple[tuple[int, int], ...]


def promises_of(models: Sequence[PrivacyModel], quasi: int) -> Promises:
    """What models promise about a release with so many quasi-identifiers."""
    return Promises(bounds_of(models), crowds_promised(models, quasi))


def bounds_of(models: Sequence[PrivacyModel]) -> Mapping[str, Bound]:
    """The strongest bound on each attribute that models are about."""
    found: dict[str, Bound] = {}
    for model in models:
        one = _bound(model)
        if one is None:
            continue
        spared = [name for name, most in getattr(model, "limits", {}).items() if not most]
        for name in model.sensitive_attributes:
            if name in spared:  # its values are never ruled out: one may fill a group
                continue
            if name not in found or one.strength > found[name].strength:
                found[name] = one
    return found


def crowds_promised(models: Sequence[PrivacyModel], quasi: int) -> tuple[tuple[int, int], ...]:
    """How many quasi-identifiers may be known, and how large a crowd is promised then.

    Only promises about fewer than all; each tells more than those before it.
    """
    from incrowd.privacy import LKC

    lkc = [model for model in models if isinstance(model, LKC)]
    pairs = {(each.L, each.K) for each in lkc if each.K > 1 and quasi > each.L}
    return tuple(
        (known, crowd)
        for known, crowd in sorted(pairs)
        if not any(
            other != (known, crowd) and other[0] >= known and other[1] >= crowd for other in pairs
        )
    )


def _bound(model: PrivacyModel) -> Bound | None:
    for name, most in _NOTHING.items():
        share = getattr(model, name, None)
        if model.name != "l-alpha-diversity" and share is not None and share >= most:
            return None
    if any(getattr(model, name, 2) <= 1 for name in _ONE):
        return None
    counting = model.name in _COUNTING or getattr(model, "kind", None) == "distinct"
    return Bound(
        shares=not counting,
        listed=getattr(model, "values", None) is not None,
        known=getattr(model, "L", None),
    )
