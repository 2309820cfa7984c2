"""(k, k^m)-anonymity: who knows all of a patient but m events alone finds at least k patients."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from incrowd.privacy._attacker import Adversary, AgainstKnownEvents


class KKm(AgainstKnownEvents):
    """Patients who look alike are at least k, and so are those who share any m events as well.

    The quasi-identifiers of a patient are known together: the tuple of their labels is one atom.
    For every patient and every choice of up to m of its events, at least k patients have the same
    tuple and all of these events. With m events it is k-anonymity of the patients and
    k^m-anonymity within each of their groups.

    Invariant: patients who share the tuple and some events share any fewer of these, so supports
    of the largest choices are the smallest; groups of equal tuples are disjoint, and events are
    counted within each. Why equal labels suffice where labels differ between patients is told in
    `privacy/_attacker.py`.

    References
    ----------
    Poulis, Loukides, Gkoulalas-Divanis, Skiadopoulos (2013), Anonymizing data with relational and
    transaction attributes.

    Example
    -------
    >>> import polars
    >>> frame = polars.DataFrame({"who": [1, 2, 3, 4], "sex": list("FFMM"), "code": list("aaab")})
    >>> model = KKm(k=2, m=1)
    >>> model.check(frame, quasi=["code"], unit="who", attributes=["sex"]).numbers
    {'k': 1}
    """

    name: ClassVar[str] = "k-km"
    place: ClassVar[int] = 22
    size: ClassVar[str] = "k"
    against_events: ClassVar[str] = "k-km"
    knows_patients: ClassVar[bool] = True
    plain: ClassVar[str] = "A crowd for who a patient is and any few events"
    literature: ClassVar[str] = "(k, k^m)-anonymity"
    wording: ClassVar[str] = (
        "An attacker who knows all quasi-identifiers of a patient and up to {m:event} finds at "
        "least {k:record} that fit."
    )
    summary: ClassVar[str] = (
        "An attacker who knows all quasi-identifiers of a person and at most m events finds at "
        "least k records."
    )
    weakness: ClassVar[str] = (
        "Who knows more than m events, what a person never had, or how many events there were, "
        "may find fewer records; and all of those who fit may share what is not known."
    )

    k: int = Field(ge=2, examples=[5], description="records that fit, at least")
    m: int = Field(
        ge=1, le=10_000, examples=[2], description="events that an attacker knows of a patient"
    )

    @property
    def attacker(self) -> Adversary:
        """Who knows the tuple of a patient's quasi-identifiers, one atom, and m events."""
        return Adversary(self.m + 1, self.k, 1.0, 1, self.m, jointly=True)
