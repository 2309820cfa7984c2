"""Records that may not move: each hospital counts its own, and only sums over all are opened.

Every hospital runs the same method over this home, in step with the others. Whenever the method
asks for counts, each counts its own records, the counts are added up behind masks, and all go on
with the sums. So all take the same decisions, nobody can ask for counts that the method does not
need, and the table is that of the pooled records.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd.counts.base import CodeRange, Counts, FrequencySet, Partition, Recoding, run_of_code
from incrowd.counts.groups import Groups
from incrowd.counts.hospitals.descent import AnonymousRows, anonymous_rows
from incrowd.counts.hospitals.partition import (
    HospitalPartition,
    recoded_values,
    refuse_too_many,
    steps_of,
)
from incrowd.counts.memory import MemoryCounts
from incrowd.errors import FederationError
from incrowd.table import Column

_AT_ONCE = 1 << 18
"""So many counts go into one sum; more are added up piece by piece. Each hospital is shown what all
sent, so a message holds as many vectors as there are hospitals."""


class Answering(Protocol):
    """How hospitals answer together; each passes its own counts, all get the same answer."""

    @property
    def hospitals(self) -> int:
        """How many hospitals there are."""

    def sum(self, request: Mapping[str, Any], counts: IntArray) -> IntArray:
        """The sums over all hospitals."""

    def any(self, request: Mapping[str, Any], marks: BoolArray) -> BoolArray:
        """For each place, whether some hospital has a mark there."""


@dataclass
class Opened:
    """What a run has opened beside the release: counts, and how many of them are small."""

    cells: int = 0
    small: int = 0


class HospitalCounts(Counts):
    """The records of all hospitals, as one of them sees them.

    Parameters
    ----------
    own
        The own records; their codes are those that all agreed on.
    shown
        The columns that are published as they are, of the own records.
    meeting
        The hospitals, this one among them.
    dropped
        How many own records were left out before.
    m
        1: nothing is specialized to which a hospital objects, since with its own records taken
        away the rest would not be private.
    step
        Every hospital rounds what it counts to multiples of this, and what is less to 0, before it
        is added up; 1 leaves counts as they are. How many records take part, and the rows of the
        release, are never rounded.
    small
        Sums below this are small crowds; how many of them are opened is counted.

    Notes
    -----
    An answer of n counts costs each hospital one pass over the own records concerned and 8 n bytes
    for a masked vector. What is opened is exactly what methods ask for.
    """

    opens: ClassVar[bool] = True

    def __init__(
        self,
        own: MemoryCounts,
        shown: Sequence[Column],
        meeting: Answering,
        *,
        dropped: int = 0,
        m: int = 0,
        step: int = 1,
        small: int = 1,
    ) -> None:
        self.own = own
        self.attributes = own.attributes
        self.meeting = meeting
        self.shown = tuple(shown)
        self._m = m
        self.step, self._small = step, small
        self.opened = Opened()
        left_out = int(self.told(np.array([dropped]))[0])
        records = self.exact_sum({"ask": "records"}, np.array([own.records, left_out]))
        self.records, self.dropped = int(records[0]), int(records[1])
        self._totals: dict[str, IntArray] = {}
        self._own_sets: dict[tuple[str, ...], FrequencySet] = {}
        self._upto: dict[int, IntArray] = {}

    def told(self, counts: IntArray) -> IntArray:
        """Own counts as the others may learn them: rounded, and nothing of a small crowd."""
        step = self.step
        if step == 1:
            return counts
        return np.where(counts < step, 0, (counts + step // 2) // step * step)

    def sum(self, request: Mapping[str, Any], counts: IntArray) -> IntArray:
        """The sums of counts, as far as the others may learn them, over all hospitals."""
        return self.rounded_sum(request, self.told(counts))

    def rounded_sum(self, request: Mapping[str, Any], counts: IntArray) -> IntArray:
        """The sums of what was rounded already; all but the release is opened here."""
        sums = self.exact_sum(request, counts)
        self.opened.cells += sums.size
        self.opened.small += int(np.count_nonzero((sums > 0) & (sums < self._small)))
        return sums

    def exact_sum(self, request: Mapping[str, Any], counts: IntArray) -> IntArray:
        """The sums of counts over all hospitals, in pieces where there are very many."""
        if counts.size <= _AT_ONCE:
            return self.meeting.sum(request, counts)
        pieces = range(0, counts.size, _AT_ONCE)
        return np.concatenate(
            [
                self.meeting.sum({**request, "from": begin}, counts[begin : begin + _AT_ONCE])
                for begin in pieces
            ]
        )

    def frequency_set(self, recoding: Recoding) -> FrequencySet:
        """The combinations of recoded values that occur; all that could are counted."""
        return self.frequency_sets([recoding])[0]

    def frequency_sets(self, recodings: Sequence[Recoding]) -> list[FrequencySet]:
        """Several frequency sets, behind one another in one sum."""
        shapes = [self._shape(recoding) for recoding in recodings]
        counts = [self._own_counts(*each) for each in zip(recodings, shapes, strict=True)]
        asked = [
            [[name, None if codes is None else steps_of(codes)] for name, codes in recoding.items()]
            for recoding in recodings
        ]
        sums = self.sum({"ask": "combinations", "of": asked}, np.concatenate(counts))
        found: list[FrequencySet] = []
        begin = 0
        for recoding, shape in zip(recodings, shapes, strict=True):
            end = begin + math.prod(shape)
            held = np.flatnonzero(sums[begin:end])
            codes = np.stack(np.unravel_index(held, shape), axis=1).astype(np.int64)
            groups = Groups(sums[begin:end][held])
            found.append(FrequencySet(tuple(recoding), codes, groups))
            begin = end
        return found

    def _own_counts(self, recoding: Recoding, shape: tuple[int, ...]) -> IntArray:
        """The own records by recoded values; records are passed over once for each set of names."""
        refuse_too_many(math.prod(shape))
        names = tuple(recoding)
        if names not in self._own_sets:
            self._own_sets[names] = self.own.frequency_set(dict.fromkeys(names))
        found = self._own_sets[names]
        key = np.zeros(len(found.codes), dtype=np.int64)
        for place, codes in enumerate(recoding.values()):
            column = found.codes[:, place]
            key = key * shape[place] + (column if codes is None else codes[column])
        sizes = np.bincount(key, weights=found.groups.sizes, minlength=math.prod(shape))
        return sizes.astype(np.int64)

    def _shape(self, recoding: Recoding) -> tuple[int, ...]:
        """How many recoded values each attribute may have."""
        known = self.attributes + self.own.sensitive
        return tuple(
            int(self.own.cardinalities[known.index(name)])
            if codes is None
            else recoded_values(codes)
            for name, codes in recoding.items()
        )

    def partition(self) -> HospitalPartition:
        """A fresh partition: all records in node 0."""
        return HospitalPartition(self)

    def totals(self, sensitive: str) -> IntArray:
        """How often each code of a sensitive attribute occurs; the release shows that too."""
        if sensitive not in self._totals:
            request = {"ask": "totals", "of": sensitive}
            self._totals[sensitive] = self.sum(request, self.own.totals(sensitive))
        return self._totals[sensitive]

    def own_sizes(self, attribute: int, runs: Sequence[CodeRange]) -> IntArray:
        """For each run of codes, how many of the own records have one of them."""
        upto = self._own_upto(attribute)
        low, high = np.array(runs, dtype=np.int64).reshape(-1, 2).T
        return upto[high + 1] - upto[low]

    def own_pairs(
        self, attribute: int, runs: Sequence[CodeRange], sensitive: str, number: IntArray
    ) -> IntArray:
        """How many of the own records there are by run of codes and number of a value."""
        place = run_of_code(runs, int(self.own.cardinalities[attribute]))
        recoding: Recoding = {self.attributes[attribute]: place, sensitive: number}
        shape = (len(runs) + 1, recoded_values(number))
        return self._own_counts(recoding, shape).reshape(shape)[: len(runs)]

    def occurring(self, attribute: int, runs: Sequence[CodeRange]) -> BoolArray:
        """For each run of codes, whether some record has one of them; not how many do."""
        request = {"ask": "occurring", "in": self.attributes[attribute], "runs": list(runs)}
        return self.meeting.any(request, self.own_sizes(attribute, runs) > 0)

    def _own_upto(self, attribute: int) -> IntArray:
        """How many of the own records have a code below each."""
        if attribute not in self._upto:
            found = self.own.frequency_set({self.attributes[attribute]: None})
            sizes = np.zeros(int(self.own.cardinalities[attribute]), dtype=np.int64)
            sizes[found.codes[:, 0]] = found.groups.sizes
            self._upto[attribute] = np.concatenate(([0], np.cumsum(sizes)))
        return self._upto[attribute]

    def agreed(self, partition: Partition, holds: Callable[[Partition], bool]) -> bool:
        """Whether no hospital objects that the records of the others would not be private."""
        if not self._m:
            return True
        assert isinstance(partition, HospitalPartition)
        objects = not holds(partition.of_others())
        return not bool(self.meeting.any({"ask": "objections"}, np.array([objects]))[0])

    def rows(self, group_of_record: npt.NDArray[np.int32], groups: int) -> AnonymousRows:
        """All records of all hospitals by group and shown values, without their owners."""
        return anonymous_rows(self.sum_of_rows, group_of_record, groups, self.shown)

    def sum_of_rows(self, step: int, counts: IntArray) -> IntArray:
        """The sums of a step from groups down to records, in which each record is counted once.

        Raises
        ------
        FederationError
            When own records are left out, or there are more or fewer than the hospitals said they
            have: that number was agreed on, and others than agreed may not come in later.
        """
        sums = self.exact_sum({"ask": "rows", "step": step}, counts)
        outside = (sums < counts) | (sums > self.records)
        if outside.any() or int(sums.sum()) != self.records:
            raise FederationError(
                "The rows of the hospitals are not the records that they said they have: someone "
                "brings others, or leaves some out. Nothing was published."
            )
        return sums
