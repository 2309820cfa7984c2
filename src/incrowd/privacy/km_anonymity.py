"""k^m-anonymity: who knows m events of a patient finds at least k patients."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from incrowd.privacy._attacker import Adversary, AgainstKnownEvents


class KmAnonymity(AgainstKnownEvents):
    """Any m events of a patient are shared by at least k patients.

    An event is a row of a table of events, by the labels of its quasi-identifiers together; each is
    counted once for a patient (a set). For every patient and every choice of up to m of its events,
    at least k patients have all of these. It is LKC-privacy with L = m events, K = k, C = 1, and
    no quasi-identifier of the patient.

    Invariant: patients who have some events have any fewer of them, and coarser ones, so supports
    of the largest choices are the smallest. Labels may differ between patients (local recoding):
    patients whose labels are equal are at least k, and who knows true values finds them all, see
    `privacy/_attacker.py`.

    References
    ----------
    Terrovitis, Mamoulis, Kalnis (2008), Privacy-preserving anonymization of set-valued data.

    Example
    -------
    >>> import polars
    >>> frame = polars.DataFrame({"who": [1, 1, 2, 2, 3, 3], "code": list("ababac")})
    >>> KmAnonymity(k=2, m=1).check(frame, quasi=["code"], unit="who").numbers
    {'k': 1}
    >>> KmAnonymity(k=2, m=2).check(frame[:4], quasi=["code"], unit="who").holds
    True
    """

    name: ClassVar[str] = "km-anonymity"
    place: ClassVar[int] = 20
    size: ClassVar[str] = "k"
    against_events: ClassVar[str] = "km-anonymity"
    plain: ClassVar[str] = "A crowd for any few events"
    literature: ClassVar[str] = "k^m-anonymity"
    wording: ClassVar[str] = (
        "An attacker who knows up to {m:event} of a patient, and nothing else, finds at least "
        "{k:record} that fit."
    )
    summary: ClassVar[str] = (
        "An attacker who knows at most m events of a person, and nothing else, finds at least k "
        "records."
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
        """Who knows m events."""
        return Adversary(self.m, self.k, attributes=0, events=self.m, protected=self._protected)
