"""(alpha,k)-anonymity: groups of at least k, and no listed value too frequent in one."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from incrowd.privacy._shares import BoundedShares
from incrowd.privacy.parameters import Sensitive


class AlphaK(BoundedShares):
    """Every group has at least k records, and each listed value a share of at most alpha.

    References
    ----------
    Wong, Li, Fu, Wang (2006), (alpha, k)-anonymity.
    """

    name: ClassVar[str] = "alpha-k"
    place: ClassVar[int] = 5
    size: ClassVar[str] = "k"
    share: ClassVar[str] = "alpha"
    plain: ClassVar[str] = "A crowd, and no value too frequent in it"
    literature: ClassVar[str] = "(alpha, k)-anonymity"
    wording: ClassVar[str] = (
        "An attacker who knows all quasi-identifiers of a patient finds at least {k:record} that "
        "fit, and is sure of {listed} in at most {alpha:cases}."
    )
    over_events: ClassVar[str] = "alpha-k"
    summary: ClassVar[str] = (
        "An attacker finds at least k records that fit a person and is at most alpha sure of any "
        "listed value."
    )
    weakness: ClassVar[str] = "Values that are not listed may be disclosed."

    sensitive: Sensitive
    alpha: float = Field(gt=0, le=1, examples=[0.5], description="share of a value, at most")
    k: int = Field(ge=2, examples=[5], description="records that look alike, at least")
