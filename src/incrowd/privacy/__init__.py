"""Privacy models: each judges the counts of groups, and nothing else."""

from incrowd.counts.groups import Groups, Histogram
from incrowd.privacy.base import Certainty, CrowdBounds, Measurement, PrivacyModel
from incrowd.privacy.beta_likeness import BetaLikeness
from incrowd.privacy.confidence import AlphaK, ConfidenceBounding
from incrowd.privacy.delta_disclosure import DeltaDisclosure
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.l_alpha_diversity import LAlphaDiversity
from incrowd.privacy.l_diversity import LDiversity
from incrowd.privacy.lkc import LKC
from incrowd.privacy.multi_sensitive import ExponentialL, MultiSensitive
from incrowd.privacy.p_sensitive import PSensitive
from incrowd.privacy.t_closeness import TCloseness

MODELS: dict[str, type[PrivacyModel]] = {
    model.name: model
    for model in (
        KAnonymity,
        LDiversity,
        TCloseness,
        PSensitive,
        AlphaK,
        ConfidenceBounding,
        LKC,
        MultiSensitive,
        ExponentialL,
        LAlphaDiversity,
        DeltaDisclosure,
        BetaLikeness,
    )
}
"""Every privacy model by its name in a policy."""

__all__ = [
    "LKC",
    "MODELS",
    "AlphaK",
    "BetaLikeness",
    "Certainty",
    "ConfidenceBounding",
    "CrowdBounds",
    "DeltaDisclosure",
    "ExponentialL",
    "Groups",
    "Histogram",
    "KAnonymity",
    "LAlphaDiversity",
    "LDiversity",
    "Measurement",
    "MultiSensitive",
    "PSensitive",
    "PrivacyModel",
    "TCloseness",
]
