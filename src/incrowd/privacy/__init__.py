"""Privacy models: each judges the counts of groups, and nothing else."""

from incrowd._runtime.registry import Registry
from incrowd.counts.groups import Groups, Histogram
from incrowd.privacy._attacker import Adversary
from incrowd.privacy._measurement import Measurement
from incrowd.privacy.alpha_k import AlphaK
from incrowd.privacy.base import Certainty, CrowdBounds, PrivacyModel
from incrowd.privacy.beta_likeness import BetaLikeness
from incrowd.privacy.coherence import Coherence
from incrowd.privacy.confidence_bounding import ConfidenceBounding
from incrowd.privacy.delta_disclosure import DeltaDisclosure
from incrowd.privacy.exponential_l import ExponentialL
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.k_km import KKm
from incrowd.privacy.km_anonymity import KmAnonymity
from incrowd.privacy.l_alpha_diversity import LAlphaDiversity
from incrowd.privacy.l_diversity import LDiversity
from incrowd.privacy.lkc import LKC
from incrowd.privacy.multi_sensitive import MultiSensitive
from incrowd.privacy.p_sensitive import PSensitive
from incrowd.privacy.parameters import Categories, Limits, Means, Sensitive, Values
from incrowd.privacy.t_closeness import TCloseness


def _declared(held: object) -> tuple[str, int] | None:
    """The name and place of a model, if it is one."""
    if isinstance(held, type) and issubclass(held, PrivacyModel) and "name" in vars(held):
        return held.name, held.place
    return None


MODELS: Registry[type[PrivacyModel]] = Registry(
    "privacy model", "incrowd.models", "incrowd.privacy", _declared
)
"""Every privacy model by its name in a policy: each file of this room, and entry points."""

__all__ = [
    "LKC",
    "MODELS",
    "Adversary",
    "AlphaK",
    "BetaLikeness",
    "Categories",
    "Certainty",
    "Coherence",
    "ConfidenceBounding",
    "CrowdBounds",
    "DeltaDisclosure",
    "ExponentialL",
    "Groups",
    "Histogram",
    "KAnonymity",
    "KKm",
    "KmAnonymity",
    "LAlphaDiversity",
    "LDiversity",
    "Limits",
    "Means",
    "Measurement",
    "MultiSensitive",
    "PSensitive",
    "PrivacyModel",
    "Sensitive",
    "TCloseness",
    "Values",
]
