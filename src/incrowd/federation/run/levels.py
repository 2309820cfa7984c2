"""Levels of protection: whom hospitals must trust, in words and in numbers.

`own` (the default) trusts nobody, `joint` that more than half of the hospitals are honest, `honest`
everybody. docs/federation-security.md says who may be dishonest, and what then holds.
"""

from __future__ import annotations

from collections.abc import Sequence

from incrowd.policy import HospitalsPolicy, Policy
from incrowd.privacy.base import PrivacyModel

_STEP = 10


def least_crowd(models: Sequence[PrivacyModel]) -> int:
    """The smallest crowd that is private: the largest K of all models."""
    return max((model.bounds.K for model in models if model.bounds is not None), default=1)


def step_of_counts(models: Sequence[PrivacyModel]) -> int:
    """What hospitals round their counts to: K, or ten records where no model has a K."""
    least = least_crowd(models)
    return least if least > 1 else _STEP


def level_in_words(asked: HospitalsPolicy) -> str:
    """Whom the hospitals of a run trust, and what holds then."""
    if asked.level == "own":
        return (
            "Protection own: nobody needs to be trusted. The records of each hospital, as the "
            "release shows them, keep the policy alone, whatever the others bring, say or pool"
        )
    if asked.level == "joint":
        few = "any one hospital" if asked.without == 1 else f"any {asked.without} hospitals"
        also = f", also after {few} took own or invented records off" if asked.without else ""
        return (
            f"Protection joint: the release keeps the policy{also}. That is computed under "
            "encryption, and holds while more than half of the hospitals are honest"
        )
    m = " (m: 1 holds only if the hospital that is feared objects itself)" if asked.without else ""
    return (
        f"Protection NONE among the hospitals (trust: honest){m}: one that brings invented "
        "records, or is curious, can find out records of the others. Outsiders see the release"
    )


def opened_in_words(policy: Policy, hospitals: int) -> list[str]:
    """What is opened on the way to a release, at the level that the policy asks for."""
    from incrowd.federation.protocols.secret_shares import threshold_of

    asked, step = policy.hospitals, step_of_counts(policy.privacy)
    rounded = (
        f"the sums are of the release, and of counts that each hospital rounds to multiples of "
        f"{step} before they leave it; nothing below {step} is in them"
    )
    if asked.level == "own":
        return [
            rounded,
            "opened as yes or no: whether any hospital objects to a specialization for the sake of "
            f"its own records, or has {least_crowd(policy.privacy)} records or more under a label; "
            "each also learns whether one of the others does",
        ]
    if asked.level == "joint":
        return [
            rounded,
            "opened as yes or no: whether a specialization is allowed, and then which labels any "
            "hospital has",
            f"more than {threshold_of(hospitals)} of the hospitals together: the counts behind "
            "such an answer",
        ]
    objects = ", or objects to a specialization" if asked.without else ""
    return [
        "the sums are exact counts over all, also of specializations that are rejected, and may be "
        "small",
        f"opened as yes or no: whether any hospital has a value, or lacks a cell of a column"
        f"{objects}; each also learns whether one of the others does",
        "each hospital can take its own records off the release and the sums",
    ]
