"""LKC-privacy: for attackers who know at most L values of a person, however many there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, PrivateAttr, model_validator

from incrowd._runtime.arrays import BoolArray
from incrowd.counts import FrequencySet
from incrowd.counts.groups import Groups
from incrowd.errors import ParameterError
from incrowd.privacy import _words as words
from incrowd.privacy._attacker import Adversary, Protected, bound_to_values, unescaped
from incrowd.privacy._measurement import Measurement
from incrowd.privacy._shares import BoundedShares
from incrowd.privacy.base import Certainty, CrowdBounds
from incrowd.privacy.parameters import PROTECTED
from incrowd.table import Column

if TYPE_CHECKING:
    from incrowd.hierarchies import Hierarchy


class LKC(BoundedShares):
    """Any L values of a person are shared by K records, and give a sensitive value to at most C.

    Every combination of at most L quasi-identifier values that occurs in the table is shared by
    at least K records, and the share of each listed sensitive value (of any, without a list) among
    them is at most C. With L as large as the number of quasi-identifiers this is k-anonymity
    (C = 1), confidence bounding (K = 1) or (alpha,k)-anonymity.

    Invariant: a crowd of fewer attributes is a union of crowds of more. Its size is their sum and
    its shares lie between theirs, so only combinations of exactly min(L, attributes) values need
    counting, an attribute that shows a single label adds nothing, and the model is monotone. For
    the same reason a table whose every full group has K records and shares of at most C is
    LKC-private for every L: that is what `holds` says of a group.

    With `events` the values that may be known are also events of a patient: a row of a table of
    events, by its labels, is one of the L, of which at most `attributes` are quasi-identifiers of
    the patient and at most `events` are events. What is counted then are patients who have all of
    some atoms, and `holds` says of such a support whether it is large enough. Why equal labels
    suffice, though the same code may be `E11.9` here and `E08-E13` there, is told where attackers
    are (`privacy/_attacker.py`).

    Notes
    -----
    `check` counts every choice of L out of the attributes that vary: C(d, L) passes over the
    distinct rows.

    References
    ----------
    Mohammed, Fung, Hung, Lee (2010), Centralized and distributed anonymization for
    high-dimensional healthcare data, Definition 3.1.

    Example
    -------
    >>> import polars
    >>> frame = polars.DataFrame({"job": ["Mover", "Mover", "Lawyer"], "age": [34, 58, 34]})
    >>> found = LKC(L=1, K=2).check(frame, quasi=["job", "age"])
    >>> found.numbers["K"], found.causes["K"]
    (1, {'job': 'Lawyer'})
    """

    name: ClassVar[str] = "lkc"
    place: ClassVar[int] = 7
    common: ClassVar[bool] = True
    size: ClassVar[str] = "K"
    share: ClassVar[str] = "C"
    partial: ClassVar[str] = "L"
    against_events: ClassVar[str] = "lkc {events: 2}"
    knows_patients: ClassVar[bool] = True
    plain: ClassVar[str] = "Attackers who know a few facts"
    literature: ClassVar[str] = "LKC-privacy"
    wording: ClassVar[str] = (
        "An attacker who knows {L:facts} about a patient finds at least {K:record} that fit, and "
        "is sure of {listed} in at most {C:cases}."
    )
    summary: ClassVar[str] = (
        "An attacker who knows at most L values of a person finds at least K records and is at "
        "most C sure of any listed value."
    )
    weakness: ClassVar[str] = (
        "An attacker who knows more than L values may find fewer records, or a single one."
    )

    sensitive: str | list[str] | None = Field(  # type: ignore[assignment]  # one without events
        default=None, description=PROTECTED
    )
    L: int = Field(
        ge=1, le=10_000, examples=[2], description="facts that an attacker knows of a patient"
    )
    K: int = Field(ge=1, examples=[20], description="records that fit, at least")
    C: float = Field(
        default=1.0, gt=0, le=1, examples=[0.5], description="how sure an attacker may be, 0 to 1"
    )
    attributes: int | None = Field(
        default=None,
        ge=0,
        le=10_000,
        description="of the facts, how many are of the patient at most; left out: all",
    )
    events: int | None = Field(
        default=None,
        ge=1,
        le=10_000,
        description="of the facts, how many are events at most; left out: no event is known",
    )
    atoms: Literal["set", "counted"] = Field(
        default="set", description="what is known of events: that there was one (`set`)"
    )

    _protected: Protected = PrivateAttr(default_factory=dict)

    @classmethod
    def sentence(cls, p: Mapping[str, Any]) -> str:
        """What it promises with these parameters; no share where none is bounded."""
        if p.get("events"):
            return words.told(_with_events(cls.wording, p), p)
        if not p.get("sensitive") or p.get("C") in (None, 1):
            return words.told(f"{cls.wording.partition(',')[0]}.", p)
        return super().sentence(p)

    @classmethod
    def starting(cls, sensitive: Sequence[str]) -> dict[str, Any]:
        """Parameters to begin with; no C where nothing is sensitive."""
        asked = super().starting(sensitive)
        return asked if sensitive else {name: asked[name] for name in ("L", "K")}

    @model_validator(mode="after")
    def _events_fit(self) -> Self:
        if self.atoms == "counted":
            raise ValueError(
                "`atoms: counted`, how often a patient had an event, is not supported yet. Leave "
                "`atoms:` out: that there was an event is what is known (`set`)"
            )
        if self.events is None:
            if self.attributes is not None:
                raise ValueError(
                    "`attributes:` goes with `events:`, how many events an attacker knows; say "
                    "`events:`, or leave it out"
                )
            if isinstance(self.sensitive, list):
                raise ValueError(
                    "several sensitive attributes go with `events:`; without it name one, and "
                    "promise the model once for each"
                )
        elif self.events > self.L or (self.attributes or 0) > self.L:
            raise ValueError(
                "`attributes:` and `events:` say how many of the L facts are of each kind, so "
                "neither is larger than L"
            )
        if isinstance(self.sensitive, list) and len({*self.sensitive}) < max(
            len(self.sensitive), 1
        ):
            raise ValueError("`sensitive:` names each attribute once, and at least one")
        return self

    @model_validator(mode="after")
    def _counts_something(self) -> Self:
        if self.sensitive is None and (self.C < 1 or self.values is not None):
            raise ValueError(
                "a C below 1 and `values:` need `sensitive:`, the attribute whose values are "
                "protected"
            )
        return self

    @property
    def attacker(self) -> Adversary | None:
        """Who knows so many atoms, where some may be events."""
        if self.events is None:
            return None
        return Adversary(
            self.L, self.K, self.C, self.attributes, self.events, protected=self._protected
        )

    @property
    def counted_attributes(self) -> tuple[str, ...]:
        """None where events are known: the method counts who holds what, in every support."""
        return super().counted_attributes if self.events is None else ()

    @property
    def judges_events(self) -> bool:
        """Whether its sensitive attributes may be of events: where events are known as well."""
        return self.events is not None

    @property
    def bounds(self) -> CrowdBounds | None:
        """The bounds on crowds of records; None where events are known, which no record has."""
        return super().bounds if self.events is None else None

    @property
    def certainty(self) -> Mapping[str, Certainty]:
        """A share below 1 bounds how sure of the protected values an attacker may be."""
        if self.events is None or self.C >= 1:
            return super().certainty
        one = Certainty("shares", self.values is not None, self.L, facts=True)
        return dict.fromkeys(self.sensitive_attributes, one)

    def bind(self, columns: Mapping[str, Column], hierarchies: Mapping[str, Hierarchy]) -> Self:
        """The model with its listed values as the column writes them, and their codes."""
        if self.events is None:
            return super().bind(columns, hierarchies)
        bound, protected = bound_to_values(self, columns, hierarchies)
        bound._protected = protected
        return bound

    def promise(self) -> dict[str, object]:
        """The model and its parameters; those about events only where these are known."""
        left_out = {"atoms"} if self.events is not None else {"attributes", "events", "atoms"}
        asked = self.model_dump(mode="json", exclude=left_out)
        return {**super().promise(), "parameters": asked}

    def promise_about(self, published: Mapping[str, set[str]]) -> dict[str, object]:
        """The promise, without any value that no published record has (by attribute)."""
        return super().promise_about(published if self.events is None else unescaped(published))

    def check(
        self,
        frame: object,
        quasi: Sequence[str],
        *,
        kinds: Mapping[str, Any] | None = None,
        unit: str | None = None,
        attributes: Sequence[str] = (),
    ) -> Measurement:
        """Judge any table, grouped by its quasi-identifiers; with `events`, a row for each event.

        Then `quasi` are the columns of events, `unit` tells patients apart, and `attributes` are
        the quasi-identifiers of patients.
        """
        if self.events is None:
            if unit is not None or attributes:
                raise ParameterError(
                    "lkc: `unit` and `attributes` are for attackers who know events; leave them "
                    "out, or say `events`."
                )
            return super().check(frame, quasi, kinds=kinds)
        from incrowd.privacy._checking_events import check_events

        return check_events(self, frame, quasi=quasi, unit=unit, attributes=attributes)

    def holds(self, groups: Groups) -> BoolArray:
        """For each group, whether it is large enough and no listed value has too large a share."""
        return super().holds(groups) if self.events is None else groups.sizes >= self.K

    @property
    def growing(self) -> bool:
        """More records never make a crowd smaller; but they may raise a share."""
        return self.C >= 1

    def reached(self, groups: Groups) -> dict[str, float]:
        """The smallest size and the largest share of groups over all quasi-identifiers."""
        numbers: dict[str, float] = {"K": int(groups.sizes.min())}
        if self.sensitive is not None and self.events is None:
            numbers["C"] = float(self.largest_shares(groups).max())
        return numbers

    def measure_set(self, found: FrequencySet, columns: Mapping[str, Column]) -> Measurement:
        """The smallest crowd and the largest confidence of any L values, and their causes."""
        from incrowd.privacy.counting.combinations import rows_of, weakest

        assert not isinstance(self.sensitive, list)
        varied = [a for a in range(found.codes.shape[1]) if np.ptp(found.codes[:, a])]
        counted = (self.sensitive, self._listed, self._cardinality)
        bounds = CrowdBounds(self.L, self.K, self.C, *counted)
        rows, place = rows_of(found.codes[:, varied], found.groups, bounds)
        weak = weakest(rows, self.L, self.K, self.C)

        def named(choice: tuple[int, ...], row: int) -> dict[str, str | None]:
            names = [found.attributes[varied[a]] for a in choice]
            codes = found.codes[place[row], [varied[a] for a in choice]]
            return {n: _label(columns[n], int(c)) for n, c in zip(names, codes, strict=True)}

        numbers: dict[str, float] = {"K": weak.smallest}
        causes = {"K": named(weak.smallest_choice, weak.smallest_row)}
        if self.sensitive is not None:
            numbers["C"] = weak.surest
            causes["C"] = named(weak.surest_choice, weak.surest_row)
        return Measurement(weak.failing == 0, numbers, weak.failing, causes)


def _with_events(wording: str, p: Mapping[str, Any]) -> str:
    """The wording for attackers who know events; no share where none is bounded."""
    parts = ["at most {events:event}"]
    if p.get("attributes") is not None:
        parts.insert(0, "at most {attributes:quasi-identifier}")
    known = wording.replace(
        "about a patient", f"about a patient, {' and '.join(parts)} among them,"
    )
    bounded = p.get("sensitive") and p.get("C") not in (None, 1)
    return known if bounded else f"{known[: known.index(', and is sure')]}."


def _label(column: Column, code: int) -> str | None:
    return None if code == column.missing_code else column.values[code]
