"""The judges of the privacy models, one file each, by the model's name in the manifest."""

from incrowd.verify.models import (
    alpha_k,
    beta_likeness,
    confidence_bounding,
    delta_disclosure,
    exponential_l,
    k_anonymity,
    l_alpha_diversity,
    l_diversity,
    lkc,
    multi_sensitive,
    p_sensitive,
    t_closeness,
)
from incrowd.verify.models.base import Judge, Judgement

JUDGES: dict[str, Judge] = {
    "alpha-k": alpha_k.judge,
    "beta-likeness": beta_likeness.judge,
    "confidence-bounding": confidence_bounding.judge,
    "delta-disclosure": delta_disclosure.judge,
    "exponential-l": exponential_l.judge,
    "k-anonymity": k_anonymity.judge,
    "l-alpha-diversity": l_alpha_diversity.judge,
    "l-diversity": l_diversity.judge,
    "lkc": lkc.judge,
    "multi-sensitive": multi_sensitive.judge,
    "p-sensitive": p_sensitive.judge,
    "t-closeness": t_closeness.judge,
}

__all__ = ["JUDGES", "Judge", "Judgement"]
