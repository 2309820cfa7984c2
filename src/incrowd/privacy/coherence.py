"""(h, k, p)-coherence: who knows p events finds k patients, and is sure of no secret of theirs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

from pydantic import Field, model_validator

from incrowd.privacy._attacker import Adversary, AgainstKnownEvents
from incrowd.privacy.base import Certainty
from incrowd.privacy.parameters import PROTECTED, Values


class Coherence(AgainstKnownEvents):
    """Any p events of a patient are shared by k patients, of whom at most the share h has a secret.

    For every patient and every choice of up to p of its events that are not protected, at least k
    patients have all of these, and of them at most the share h holds any one protected value. It is
    LKC-privacy with L = p events, K = k, C = h, and no quasi-identifier of the patient.

    Invariant: the size of a support only grows with fewer or coarser events. A share may grow too,
    so choices of every size up to p are counted for it. What is protected is part of no choice: who
    knows a secret has nothing left to learn of it. Of several secrets each is judged by itself.
    Why equal labels suffice is told in `privacy/_attacker.py`.

    References
    ----------
    Xu, Wang, Fu, Yu (2008), Anonymizing transaction databases for publication.

    Example
    -------
    >>> import polars
    >>> frame = polars.DataFrame({"who": [1, 2, 3], "code": list("aaa"), "secret": list("xyx")})
    >>> model = Coherence(h=0.5, k=3, p=1, sensitive="secret", values=["x"])
    >>> found = model.check(frame, quasi=["code"], unit="who")
    >>> found.holds, round(found.numbers["h"], 2)
    (False, 0.67)
    """

    name: ClassVar[str] = "coherence"
    place: ClassVar[int] = 21
    size: ClassVar[str] = "k"
    share: ClassVar[str] = "h"
    against_events: ClassVar[str] = "coherence"
    plain: ClassVar[str] = "A crowd without a secret for any few events"
    literature: ClassVar[str] = "(h, k, p)-coherence"
    wording: ClassVar[str] = (
        "An attacker who knows up to {p:event} of a patient, and nothing else, finds at least "
        "{k:record} that fit, and is sure of {listed} in at most {h:cases}."
    )
    summary: ClassVar[str] = (
        "An attacker who knows at most p events of a person, and nothing else, finds at least k "
        "records and is at most h sure of any listed value."
    )
    weakness: ClassVar[str] = (
        "Who knows more than p events, what a person never had, or how many events there were, "
        "may find fewer records, and be surer."
    )

    sensitive: str | list[str] = Field(description=PROTECTED)
    values: Values | None = Field(default=None, min_length=1, description="left out: all values")
    h: float = Field(gt=0, le=1, examples=[0.5], description="how sure an attacker may be, 0 to 1")
    k: int = Field(ge=2, examples=[5], description="records that fit, at least")
    p: int = Field(
        ge=1, le=10_000, examples=[2], description="events that an attacker knows of a patient"
    )

    @model_validator(mode="after")
    def _names_each_once(self) -> Self:
        named = self.sensitive_attributes
        if not named or len({*named}) < len(named):
            raise ValueError("`sensitive:` names each attribute once, and at least one")
        return self

    @property
    def attacker(self) -> Adversary:
        """Who knows p events."""
        return Adversary(self.p, self.k, self.h, 0, self.p, protected=self._protected)

    @property
    def certainty(self) -> Mapping[str, Certainty]:
        """A share below 1 bounds how sure of the protected values an attacker may be."""
        if self.h >= 1:
            return {}
        one = Certainty("shares", self.values is not None, self.p, facts=True)
        return dict.fromkeys(self.sensitive_attributes, one)
