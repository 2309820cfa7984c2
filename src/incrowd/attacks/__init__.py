"""Attacks: how exposed a file is, and what linking it with a list of people gives away."""

from incrowd.attacks.combinations import Combination
from incrowd.attacks.exposure import (
    AttributeExposure,
    GroupSizes,
    Journalist,
    Prosecutor,
    Risk,
    SensitiveExposure,
    risk,
)
from incrowd.attacks.linkage import Disclosure, Linkage, link

__all__ = [
    "AttributeExposure",
    "Combination",
    "Disclosure",
    "GroupSizes",
    "Journalist",
    "Linkage",
    "Prosecutor",
    "Risk",
    "SensitiveExposure",
    "link",
    "risk",
]
