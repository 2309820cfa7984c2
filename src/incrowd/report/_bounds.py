"""What promises say about the values of a sensitive attribute, in words that fit the models.

Models tell themselves what they bound (`PrivacyModel.certainty` and `.bounds`). What none of them
names is told as not bounded, whatever models there may be.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from incrowd.privacy import Certainty, PrivacyModel

_WORDS = {
    "shares": "the promises above bound how sure an attacker may be",
    "distance": "promised is how far a group may be from the whole table, not how sure an attacker "
    "may be",
    "several": "promised is that several values remain, not how frequent each may be",
}


@dataclass(frozen=True)
class Promises:
    """What is promised of sensitive attributes, and of crowds for who knows less than all.

    `crowds` has pairs: how many quasi-identifiers may be known, how many records fit then. `known`
    says what somebody finds who knows events of patients as well, a sentence for each promise.
    """

    bounds: Mapping[str, Certainty]
    crowds: tuple[tuple[int, int], ...]
    known: tuple[str, ...] = ()


def promises_of(models: Sequence[PrivacyModel], quasi: int) -> Promises:
    """What models promise about a release with so many quasi-identifiers."""
    known = tuple(
        about("patients", model.sentence(model.model_dump(by_alias=True)))
        for model in models
        if model.attacker is not None
    )
    return Promises(bounds_of(models), crowds_promised(models, quasi), known)


def about(who: str, sentence: str) -> str:
    """A sentence of a model, about those who are counted."""
    one = who.removesuffix("s")
    return re.sub(r"\brecord(s?)\b", rf"{one}\1", sentence)


def bounds_of(models: Sequence[PrivacyModel]) -> Mapping[str, Certainty]:
    """The strongest bound on each attribute of which a model says that it bounds something."""
    found: dict[str, Certainty] = {}
    for model in models:
        for name, one in model.certainty.items():
            if name not in found or one.strength > found[name].strength:
                found[name] = one
    return found


def bound_in_words(bound: Certainty, quasi: int) -> str:
    """A bound as a sentence, in a release with so many quasi-identifiers."""
    told = _WORDS[bound.kind]
    if bound.listed:
        told += ", of the listed values alone"
    if bound.facts:
        told += f", for someone who knows up to {bound.known} facts of a patient"
    elif bound.known is not None and bound.known < quasi:
        told += f", for someone who knows up to {bound.known} quasi-identifiers"
    return told


def crowds_promised(models: Sequence[PrivacyModel], quasi: int) -> tuple[tuple[int, int], ...]:
    """How many quasi-identifiers may be known, and how large a crowd is promised then.

    Only promises about fewer than all; each tells more than those before it.
    """
    bounds = [model.bounds for model in models]
    pairs = {
        (each.known, each.K)
        for each in bounds
        if each is not None and each.known is not None and each.K > 1 and quasi > each.known
    }
    return tuple(
        (known, crowd)
        for known, crowd in sorted(pairs)
        if not any(
            other != (known, crowd) and other[0] >= known and other[1] >= crowd for other in pairs
        )
    )
