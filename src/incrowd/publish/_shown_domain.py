"""The domain of a quasi-identifier, as far as its published labels and the policy show it.

Invariant: everything here follows from the published labels, from how many records show each, and
from what the policy lists (a tree, a file, intervals). So the manifest, and every figure made from
it, tells nothing of the source that the published tables do not: no extreme that no label reaches,
no decimal that no label has, no number of values behind a mask.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

from incrowd.hierarchies.labels import Members, Plain, parse
from incrowd.labels.reading import AxisSpan, decimals_of, place_of, span_of
from incrowd.publish._shown_masks import ShownMasks
from incrowd.table import Kind


@dataclass(frozen=True)
class Listed:
    """What the policy says of a domain, whatever the data hold."""

    values: int | None = None
    """How many values its tree or its file lists."""
    below: Mapping[str, int] | None = None
    """How many of them lie under each label; values need no entry."""
    bounds: tuple[Fraction, ...] = ()
    """The start, the stop and the widths of its intervals."""


@dataclass(frozen=True)
class ShownDomain:
    """What the cells of a generalized quasi-identifier tell of its domain.

    `records` has how many records show each label, None the missing cells; `rule` is the kind of
    the hierarchy, `direction` the end from which a mask hides characters.
    """

    kind: Kind
    labels: Literal["set", "hierarchy"]
    records: Mapping[str | None, int]
    rule: str
    listed: Listed = Listed()
    direction: str = "right"

    @cached_property
    def missing(self) -> bool:
        """Whether it is shown that cells are missing: by one, in a set, by `*` for a range."""
        if None in self.records or any("" in members for members in self._sets.values()):
            return True
        # Without a hierarchy, numbers show * only where missing cells are among them.
        return self.labels == "set" and self._on_axis and self._anything

    @cached_property
    def decimals(self) -> int:
        """The most decimals that a label has, and as many more as make every range a range.

        A range that is a single step wide would be a value, so its values have decimals.
        """
        if self.kind != "numeric":
            return 0
        bounds = self.listed.bounds
        spans = [span for each in self._spans.values() for span in each]
        ends = [end for span in spans for end in span if end is not None]
        decimals = max(map(decimals_of, [*ends, *bounds]), default=0)
        widths = [b - a for a, b in spans if b is not None]
        narrow = min([*widths, bounds[1] - bounds[0]] if bounds else widths, default=Fraction(2))
        while 0 < narrow * 10**decimals < 2:
            decimals += 1
        return decimals

    @cached_property
    def size(self) -> int | None:
        """How many values the domain has, the missing one counted where it is shown.

        That is what the policy lists, else the hull of all labels, with one value more for what
        `*` may be. None where `*` is all there is to see.
        """
        if self.listed.values is not None:
            return self.listed.values + self.missing
        if self.listed.bounds:
            start, stop = self.listed.bounds[:2]
            return int((stop - start) * 10**self.decimals) + self.missing
        hull = self._hull()
        if not hull and self._anything:
            return None
        return hull + (self._anything or self.missing)

    @cached_property
    def weights(self) -> dict[str, int]:
        """How many values of the domain each label stands for that is not a value itself."""
        found: dict[str, int] = {}
        for label in self.records:
            weight = self.size if label == "*" else self._weight(label)
            if label is not None and weight is not None and weight > 1:
                found[label] = weight if self.size is None else min(weight, self.size)
        return dict(sorted(found.items()))

    @property
    def _anything(self) -> bool:
        return "*" in self.records

    @property
    def _masked(self) -> bool:
        return self.labels == "hierarchy" and self.rule == "mask"

    @property
    def _on_axis(self) -> bool:
        return self.kind in ("numeric", "date")

    def _weight(self, label: str | None) -> int:
        if label is None:
            return 1
        if self.listed.below is not None:
            return self.listed.below.get(label, 1)
        if self._masked:
            return self._masks.most(label)
        if label in self._sets:
            return len(self._sets[label])
        return sum(high - low for low, high in map(self._steps, self._spans.get(label, ())))

    def _hull(self) -> int:
        """The values from the smallest to the largest that a label reaches, or all that occur."""
        if self._on_axis:
            ends = [self._steps(span) for each in self._spans.values() for span in each]
            return max(b for _, b in ends) - min(a for a, _ in ends) if ends else 0
        if self._masked:
            return self._masks.hull()
        values = {value for members in self._sets.values() for value in members if value}
        for label in self.records:
            parsed = None if label is None or label in self._sets else parse(label)
            if isinstance(parsed, Plain):
                values.add(parsed.text)
        return len(values)

    def _steps(self, span: AxisSpan) -> tuple[int, int]:
        step = 10**self.decimals
        low = int(span[0] * step)
        return low, low + 1 if span[1] is None else int(span[1] * step)

    @cached_property
    def _masks(self) -> ShownMasks:
        return ShownMasks({k: n for k, n in self.records.items() if k is not None}, self.direction)

    @cached_property
    def _sets(self) -> dict[str, tuple[str, ...]]:
        """The members of labels that list them."""
        if self.labels == "hierarchy" and (self.listed.below is not None or self._masked):
            return {}
        parsed = {label: parse(label) for label in self.records if label is not None}
        return {label: p.values for label, p in parsed.items() if isinstance(p, Members)}

    @cached_property
    def _spans(self) -> dict[str, list[AxisSpan]]:
        """The numbers or days that each label covers; none where it does not say."""
        if not self._on_axis:
            return {}
        return {label: self._span(label) for label in self.records if label is not None}

    def _span(self, label: str) -> list[AxisSpan]:
        parsed = parse(label)
        if isinstance(parsed, Members):
            places = (place_of(text, self.kind) for text in parsed.values)
            return [(place, None) for place in places if place is not None]
        span = span_of(label, self.kind, calendar=self.rule == "dates")
        return [] if span is None else [span]
