"""Counts: all that a method may ask of the records, wherever they live.

Two kinds of answers suffice for a method that decides from counts. A *frequency set* counts the
records of each combination of generalized values. A *partition* keeps every record in exactly one
node of a tree of splits and answers with the histograms of its nodes, or of the halves that a split
would make.
Such a method talks to these two interfaces only, so it runs alike on every home that gives them.
Anatomize, clustering and top-down-local also ask for single records in their order
(`RecordCounts`), which memory alone gives.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd.counts.groups import Groups
from incrowd.counts.placement import GroupOfRecord

Recoding = Mapping[str, IntArray | None]
"""For each attribute the generalized code of every code; None for the codes themselves."""
_NODES_AT_ONCE = 4_096
CodeRange = tuple[int, int]
"""The first and the last of some neighbouring codes."""


def run_of_code(runs: Sequence[CodeRange], codes: int) -> IntArray:
    """The place of each code's run; codes of no run have the place after the last."""
    places = np.full(codes, len(runs), dtype=np.int64)
    for place, (low, high) in enumerate(runs):
        places[low : high + 1] = place
    return places


@dataclass(frozen=True)
class FrequencySet:
    """How many records hold each combination of generalized codes that occurs.

    `codes[row]` is one combination, rows in ascending order; `groups` counts its records and,
    where asked for, the values of sensitive attributes among them.
    """

    attributes: tuple[str, ...]
    codes: IntArray
    groups: Groups


@dataclass(frozen=True)
class NodeHistograms:
    """The codes of one attribute that occur in each of some nodes, ascending, with their counts."""

    offsets: IntArray
    codes: IntArray
    counts: IntArray


@dataclass(frozen=True)
class JointHistograms:
    """The pairs of code and sensitive value that occur in nodes, ascending, with their counts."""

    offsets: IntArray
    codes: IntArray
    values: IntArray
    counts: IntArray


@dataclass(frozen=True)
class Splits:
    """One way to halve each of some nodes: the codes of one attribute that go to the left half.

    Entry i halves node `nodes[i]` on attribute number `attributes[i]`; its left codes are
    `left[offsets[i]:offsets[i + 1]]`.
    """

    nodes: IntArray
    attributes: IntArray
    offsets: IntArray
    left: IntArray

    def __len__(self) -> int:
        return len(self.nodes)

    def take(self, chosen: IntArray) -> Splits:
        """The chosen splits, in the given order."""
        lengths = np.diff(self.offsets)[chosen]
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        source = np.repeat(self.offsets[chosen] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return Splits(self.nodes[chosen], self.attributes[chosen], offsets, self.left[source])

    @staticmethod
    def join(parts: Sequence[Splits]) -> Splits:
        """All splits of several lists, one list after the other."""
        if not parts:
            empty = np.zeros(0, dtype=np.int64)
            return Splits(empty, empty, np.zeros(1, dtype=np.int64), empty)
        shifts = np.cumsum([0, *(len(part.left) for part in parts[:-1])])
        offsets = [part.offsets[:-1] + shift for part, shift in zip(parts, shifts, strict=True)]
        total = sum(len(part.left) for part in parts)
        return Splits(
            np.concatenate([part.nodes for part in parts]),
            np.concatenate([part.attributes for part in parts]),
            np.concatenate([*offsets, np.array([total])]),
            np.concatenate([part.left for part in parts]),
        )


class Extents(NamedTuple):
    """The smallest code, the largest, and how many different ones: of every attribute, per node.

    These arrays have the shape (nodes, attributes); `records` counts the records of each node.
    """

    low: IntArray
    high: IntArray
    distinct: IntArray
    records: IntArray


class Partition(ABC):
    """Every record in exactly one node; nodes are numbered as they arise, the whole table is 0."""

    @abstractmethod
    def sizes(self, nodes: IntArray) -> IntArray:
        """How many records each node holds."""

    @abstractmethod
    def histograms(
        self, attribute: int, nodes: IntArray, *, recoding: IntArray | None = None
    ) -> NodeHistograms:
        """The codes of an attribute that occur in each node, with their counts.

        With a recoding, of each code of the attribute, the recoded ones. A method asks for no more
        than it needs: some homes open what they answer.
        """

    @abstractmethod
    def joint_histograms(
        self,
        attribute: int,
        sensitive: str,
        nodes: IntArray,
        *,
        recoding: IntArray | None = None,
        values: IntArray | None = None,
    ) -> JointHistograms:
        """The pairs of a code of an attribute and a sensitive value that occur in each node.

        `recoding` is that of the attribute, `values` that of the sensitive values.
        """

    def crowds(
        self,
        attribute: int,
        nodes: IntArray,
        shown: Sequence[IntArray],
        *,
        recoding: IntArray,
        sensitive: str | None = None,
        values: IntArray | None = None,
    ) -> list[IntArray]:
        """The records of nodes in each crowd of a child and one of the things that nodes show.

        Each of `shown` is a number for each node; its answer counts by (number, child, value), of
        which there is one without a sensitive attribute.
        """
        if sensitive is None:
            sizes = self.histograms(attribute, nodes, recoding=recoding)
            offsets, child, counts = sizes.offsets, sizes.codes, sizes.counts
            value = np.zeros(len(child), dtype=np.int64)
        else:
            joint = self.joint_histograms(
                attribute, sensitive, nodes, recoding=recoding, values=values
            )
            offsets, child, value, counts = joint.offsets, joint.codes, joint.values, joint.counts
        node = np.repeat(np.arange(len(nodes)), np.diff(offsets))
        shape = (int(recoding.max()) + 1, 1 if values is None else int(values.max()) + 1)
        pair = child * shape[1] + value
        found = []
        for numbers in shown:
            span = int(numbers.max(initial=-1)) + 1
            key = numbers[node] * (shape[0] * shape[1]) + pair
            table = np.bincount(key, weights=counts, minlength=span * shape[0] * shape[1])
            found.append(table.astype(np.int64).reshape(span, *shape))
        return found

    @abstractmethod
    def groups(self, nodes: IntArray, sensitive: Sequence[str]) -> Groups:
        """Sizes and sensitive histograms of nodes, as privacy models judge them."""

    @abstractmethod
    def specialize(self, attribute: int, nodes: IntArray, child_of_code: IntArray) -> IntArray:
        """Split nodes by the child (from 0) that each code of an attribute belongs to.

        Returns the numbers of the new nodes by (node, child), -1 where there is no record. Codes
        that no record of the nodes has may have the child -1.
        """

    @abstractmethod
    def group_of_records(self, group_of_node: IntArray) -> GroupOfRecord:
        """For each record of the source, the group that its node was given (-1: suppressed)."""


class HalvingPartition(Partition):
    """A partition that tells single codes of its nodes, and halves them."""

    def portions(self, nodes: IntArray) -> Iterator[IntArray]:
        """Nodes in portions, of which each can be looked at as a whole."""
        for begin in range(0, len(nodes), _NODES_AT_ONCE):
            yield nodes[begin : begin + _NODES_AT_ONCE]

    def foresee(self, nodes: IntArray, sensitive: Sequence[str]) -> None:
        """Be told that the histograms of all attributes will be asked for.

        Some homes count them at once, also with each of the sensitive attributes.
        """
        del nodes, sensitive

    @abstractmethod
    def extents(self, nodes: IntArray) -> Extents:
        """The extents of all attributes in each node."""

    @abstractmethod
    def half_extents(
        self, splits: Splits, *, counting: Sequence[int] | None = None
    ) -> tuple[Extents, Extents]:
        """The extents of the left and the right halves that splits would make.

        `counting` names the attributes whose different codes are needed (None: all); of the
        others a home may say that there are none.
        """

    @abstractmethod
    def half_groups(self, splits: Splits, sensitive: Sequence[str]) -> tuple[Groups, Groups]:
        """Sizes and sensitive histograms of the halves that splits would make."""

    @abstractmethod
    def split(self, splits: Splits) -> tuple[IntArray, IntArray]:
        """Halve nodes; returns the numbers of the new left and right nodes."""

    @abstractmethod
    def gather(self, nodes: IntArray) -> int:
        """Put the records of nodes into one new node; returns its number.

        The nodes must not have been split. They and all that they are parts of are not to be asked
        about any more.
        """


class Counts(ABC):
    """One home of the records, with what every home answers, hospitals too: sums over all records.

    A home answers more by being `RowCounts`, or `RecordCounts`. A method names the one it needs.
    """

    attributes: tuple[str, ...]
    records: int
    opens: ClassVar[bool] = False
    """Whether others see what is answered: a method then asks later, and for less at a time."""

    @abstractmethod
    def frequency_set(self, recoding: Recoding) -> FrequencySet:
        """The frequency set of the attributes in `recoding`, which may be counted ones."""

    def frequency_sets(self, recodings: Sequence[Recoding]) -> list[FrequencySet]:
        """Several frequency sets, which some homes answer at once."""
        return [self.frequency_set(recoding) for recoding in recodings]

    @abstractmethod
    def partition(self) -> Partition:
        """A fresh partition: all records in node 0."""

    @abstractmethod
    def totals(self, sensitive: str) -> IntArray:
        """How often each code of a sensitive attribute occurs."""

    def occurring(self, attribute: int, runs: Sequence[CodeRange]) -> BoolArray:  # noqa: ARG002
        """For each run of codes of an attribute, whether a record has one of them.

        Columns that were coded from their own records have no code that does not occur.
        """
        return np.ones(len(runs), np.bool_)

    def agreed(self, partition: Partition, holds: Callable[[Partition], bool]) -> bool:  # noqa: ARG002
        """Whether nobody who keeps records objects to what the counts of all allow.

        `holds` judges a partition: where there are several who keep records, each judges that of
        the others, since it knows its own.
        """
        return True


class RowCounts(Counts):
    """A home that has the rows of all records in one place, in memory or in an engine."""

    most_rows: int | None = None
    """How many rows a frequency set may have to be asked for; None where there is no limit."""

    @abstractmethod
    def frequency_set(self, recoding: Recoding, *, sensitive: Sequence[str] = ()) -> FrequencySet:
        """The frequency set of the attributes, with the histograms of sensitive attributes."""

    def fineness(self, recoding: Recoding, smallest: int) -> tuple[int, int]:
        """How many rows a frequency set has, and how many records are in rows below a size."""
        sizes = self.frequency_set(recoding).groups.sizes
        return len(sizes), int(sizes[sizes < smallest].sum())

    @abstractmethod
    def partition(self) -> HalvingPartition:
        """A fresh partition: all records in node 0."""

    @abstractmethod
    def groups_of(self, recoding: Recoding, codes: IntArray, groups: IntArray) -> GroupOfRecord:
        """For each record the group of the combination of recoded codes that it has.

        `codes` are all combinations of the frequency set, in any order, `groups` their groups.
        """


class RecordCounts(RowCounts):
    """A home that tells single records, in their order: those of the source are in memory."""

    @abstractmethod
    def codes_of_records(self, sensitive: str) -> npt.NDArray[np.integer]:
        """For each record its code of a sensitive attribute."""

    @abstractmethod
    def row_of_records(self) -> npt.NDArray[np.integer]:
        """For each record its row in the frequency set of all attributes as they are."""

    @abstractmethod
    def assign(self, group_of_sorted: IntArray) -> npt.NDArray[np.int32]:
        """The group of every record, given for the records sorted by all that is counted.

        Sorted by the attributes, then by the sensitive ones; equal records in their own order.
        """
