"""The judges of the privacy models, one file each, by the model's name in the manifest."""

from incrowd.verify.models import (
    alpha_k,
    confidence_bounding,
    exponential_l,
    k_anonymity,
    l_diversity,
    lkc,
    multi_sensitive,
    p_sensitive,
    t_closeness,
)
from incrowd.verify.models.base import Judge, Judgement

JUDGES: dict[str, Judge] = {
    "alpha-k": alpha_k.judge,
    "confidence-bounding": confidence_bounding.judge,
    "exponential-l": exponential_l.judge,
    "k-anonymity": k_anonymity.judge,
    "l-diversity": l_diversity.judge,
    "lkc": lkc.judge,
    "multi-sensitive": multi_sensitive.judge,
    "p-sensitive": p_sensitive.judge,
    "t-closeness": t_closeness.judge,
}

__all__ = ["JUDGES", "Judge", "Judgement"]
