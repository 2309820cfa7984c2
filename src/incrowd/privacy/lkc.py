"""LKC-privacy: for attackers who know at most L values of a person, however many there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from incrowd.counts import FrequencySet
from incrowd.counts.groups import Groups
from incrowd.privacy import _words as words
from incrowd.privacy._shares import BoundedShares
from incrowd.privacy.base import CrowdBounds, Measurement
from incrowd.table import Column


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

    L: int = Field(
        ge=1, le=10_000, examples=[2], description="facts that an attacker knows of a patient"
    )
    K: int = Field(ge=1, examples=[20], description="records that fit, at least")
    C: float = Field(
        default=1.0, gt=0, le=1, examples=[0.5], description="how sure an attacker may be, 0 to 1"
    )

    @classmethod
    def sentence(cls, p: Mapping[str, Any]) -> str:
        """What it promises with these parameters; no share where none is bounded."""
        if not p.get("sensitive") or p.get("C") in (None, 1):
            return words.told(f"{cls.wording.partition(',')[0]}.", p)
        return super().sentence(p)

    @classmethod
    def starting(cls, sensitive: Sequence[str]) -> dict[str, Any]:
        """Parameters to begin with; no C where nothing is sensitive."""
        asked = super().starting(sensitive)
        return asked if sensitive else {name: asked[name] for name in ("L", "K")}

    @model_validator(mode="after")
    def _counts_something(self) -> Self:
        if self.sensitive is None and (self.C < 1 or self.values is not None):
            raise ValueError(
                "a C below 1 and `values:` need `sensitive:`, the attribute whose values are "
                "protected"
            )
        return self

    @property
    def growing(self) -> bool:
        """More records never make a crowd smaller; but they may raise a share."""
        return self.C >= 1

    def reached(self, groups: Groups) -> dict[str, float]:
        """The smallest size and the largest share of groups over all quasi-identifiers."""
        numbers: dict[str, float] = {"K": int(groups.sizes.min())}
        if self.sensitive is not None:
            numbers["C"] = float(self.largest_shares(groups).max())
        return numbers

    def measure_set(self, found: FrequencySet, columns: Mapping[str, Column]) -> Measurement:
        """The smallest crowd and the largest confidence of any L values, and their causes."""
        from incrowd.privacy.counting.combinations import rows_of, weakest

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


def _label(column: Column, code: int) -> str | None:
    return None if code == column.missing_code else column.values[code]
