"""Attacks: how exposed a file is, who is found by linking it, what groups tell."""

from incrowd.attacks._combinations import Combination
from incrowd.attacks._elimination import (
    AttributeElimination,
    BeforeAfter,
    Elimination,
    eliminate,
    eliminate_before_after,
)
from incrowd.attacks._event_linkage import EventLinkage, PeopleWhoFit, link_events
from incrowd.attacks._journalist import Journalist
from incrowd.attacks._linkage import Disclosure, Linkage, link
from incrowd.attacks._power import KnownEvents, RiskByPower, risk_by_power
from incrowd.attacks._power_before_after import PowerBeforeAfter, power_before_after
from incrowd.attacks.exposure import (
    AttributeExposure,
    GroupSizes,
    Prosecutor,
    Risk,
    SensitiveExposure,
    risk,
)
from incrowd.attacks.similarity import Similarity, SimilarLevel, similarity

__all__ = [
    "AttributeElimination",
    "AttributeExposure",
    "BeforeAfter",
    "Combination",
    "Disclosure",
    "Elimination",
    "EventLinkage",
    "GroupSizes",
    "Journalist",
    "KnownEvents",
    "Linkage",
    "PeopleWhoFit",
    "PowerBeforeAfter",
    "Prosecutor",
    "Risk",
    "RiskByPower",
    "SensitiveExposure",
    "SimilarLevel",
    "Similarity",
    "eliminate",
    "eliminate_before_after",
    "link",
    "link_events",
    "power_before_after",
    "risk",
    "risk_by_power",
    "similarity",
]
