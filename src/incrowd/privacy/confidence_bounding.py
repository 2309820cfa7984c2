"""Confidence bounding: nobody is too sure of a listed value of anyone in a group."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from incrowd.privacy._shares import BoundedShares
from incrowd.privacy.parameters import Sensitive


class ConfidenceBounding(BoundedShares):
    """In every group, each listed sensitive value has a share of at most C.

    References
    ----------
    Wang, Fung, Yu (2007), Handicapping attacker's confidence.
    """

    name: ClassVar[str] = "confidence-bounding"
    place: ClassVar[int] = 6
    share: ClassVar[str] = "C"
    plain: ClassVar[str] = "A limit on how sure anyone can be"
    literature: ClassVar[str] = "confidence bounding"
    wording: ClassVar[str] = (
        "An attacker who finds the records that look alike is sure of {listed} in at most "
        "{C:cases}. How many look alike is not limited."
    )
    over_events: ClassVar[str] = "confidence-bounding"
    summary: ClassVar[str] = (
        "An attacker who finds a person's group is at most C sure of any listed value."
    )
    weakness: ClassVar[str] = "Alone it hides no identity: a group may be a single record."

    sensitive: Sensitive
    C: float = Field(gt=0, le=1, examples=[0.5], description="how sure an attacker may be, 0 to 1")
