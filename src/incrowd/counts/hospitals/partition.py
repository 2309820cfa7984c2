"""The partition of hospitals' records: nodes that all know, and own records in some of them."""

from __future__ import annotations

import copy
import hashlib
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import IntArray
from incrowd.counts.base import JointHistograms, NodeHistograms, Partition
from incrowd.counts.groups import Groups, Histogram
from incrowd.errors import ParameterError

if TYPE_CHECKING:
    from incrowd.counts.hospitals.descent import AnonymousRows
    from incrowd.counts.hospitals.home import HospitalCounts
    from incrowd.counts.memory import MemoryPartition


_MOST_COUNTS = 1 << 27


class _Children(NamedTuple):
    """Children that nodes are counted by, and with them the values of a sensitive attribute."""

    attribute: int
    recoding: IntArray
    sensitive: str | None = None
    values: IntArray | None = None


class HospitalPartition(Partition):
    """The nodes that all know, and for each the node of the own records in it, if there are any.

    A node exists where the sum over all hospitals is above 0, whoever has its records.
    """

    def __init__(self, counts: HospitalCounts) -> None:
        self._counts = counts
        self._own: MemoryPartition = counts.own.partition()
        self._own_node = np.zeros(1, dtype=np.int64)
        self._about = ""
        self._sums: dict[str, IntArray] = {}
        """What was opened about the nodes that were asked about last."""
        self._records: tuple[str, int, bytes, IntArray] = ("", 0, b"", self._own_node)
        """The records by (node, child) that were opened last, and of what they are."""
        self._own_key: tuple[Any, ...] = ()
        self._own_counts: IntArray = self._own_node
        """The own counts that were made last."""
        self._of_others = False
        self.rows: AnonymousRows | None = None
        """The records of the last `group_of_records`."""

    def of_others(self) -> HospitalPartition:
        """The same nodes with the own records taken away, as far as their counts were asked for."""
        others = copy.copy(self)
        others._of_others = True
        return others

    def sizes(self, nodes: IntArray) -> IntArray:
        """How many records each node holds."""
        own, held = self._held(nodes)
        counts = np.zeros(len(nodes), dtype=np.int64)
        counts[held] = self._own.sizes(own)
        return self._summed({"ask": "sizes"}, nodes, counts)

    def histograms(
        self, attribute: int, nodes: IntArray, *, recoding: IntArray | None = None
    ) -> NodeHistograms:
        """The recoded values of an attribute that occur in each node, with their counts."""
        sums = self._children(nodes, self._coarser(attribute, recoding))[:, :, 0]
        node, code = np.nonzero(sums)
        return NodeHistograms(_offsets(node, len(nodes)), code, sums[node, code])

    def joint_histograms(
        self,
        attribute: int,
        sensitive: str,
        nodes: IntArray,
        *,
        recoding: IntArray | None = None,
        values: IntArray | None = None,
    ) -> JointHistograms:
        """The pairs of recoded values that occur in each node."""
        if values is None:
            values = np.arange(len(self._counts.own.totals(sensitive)))
        asked = self._coarser(attribute, recoding)._replace(sensitive=sensitive, values=values)
        sums = self._children(nodes, asked)
        node, code, value = np.nonzero(sums)
        return JointHistograms(_offsets(node, len(nodes)), code, value, sums[node, code, value])

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

        Only these crowds are opened, not the counts of nodes that they are made of.
        """
        asked = _Children(attribute, recoding, sensitive, values)
        own = self._own_children(nodes, asked)
        counts = []
        for numbers in shown:
            table = np.zeros((recoded_values(numbers), *own.shape[1:]), dtype=np.int64)
            np.add.at(table, numbers, own)
            counts.append(table)
        request = {
            **self._request(asked),
            "ask": "crowds",
            "shown": [_digest(numbers) for numbers in shown],
        }
        sums = self._summed(request, nodes, np.concatenate([each.ravel() for each in counts]))
        ends = np.cumsum([each.size for each in counts])
        return [
            sums[end - each.size : end].reshape(each.shape)
            for each, end in zip(counts, ends.tolist(), strict=True)
        ]

    def groups(self, nodes: IntArray, sensitive: Sequence[str]) -> Groups:
        """Sizes and sensitive histograms of nodes, as privacy models judge them."""
        own, held = self._held(nodes)
        found = self._own.groups(own, sensitive)
        histograms = {}
        for name in sensitive:
            part = found.histograms[name]
            counts = np.zeros((len(nodes), part.cardinality), dtype=np.int64)
            counts[held[part.groups], part.values] = part.counts
            request = {"ask": "groups", "of": name}
            sums = self._summed(request, nodes, counts.ravel()).reshape(counts.shape)
            node, value = np.nonzero(sums)
            offsets = _offsets(node, len(nodes))
            total = sums.sum(axis=0) if self._of_others else self._counts.totals(name)
            histograms[name] = Histogram.of(offsets, value, sums[node, value], total)
        return Groups(self.sizes(nodes), histograms)

    def specialize(self, attribute: int, nodes: IntArray, child_of_code: IntArray) -> IntArray:
        """Split nodes by the child of their records' codes; the new nodes by (node, child)."""
        records = self._made(attribute, nodes, child_of_code)
        made = records > 0
        first = len(self._own_node)
        numbers = np.full(made.shape, -1, dtype=np.int64)
        numbers[made] = np.arange(first, first + int(made.sum()))
        own, held = self._held(nodes)
        own_number = np.full(made.shape, -1, dtype=np.int64)
        if len(held):
            found = self._own.specialize(attribute, own, child_of_code)
            own_number[held, : found.shape[1]] = found
        self._own_node = np.concatenate((self._own_node, own_number[made]))
        return numbers

    def group_of_records(self, group_of_node: IntArray) -> npt.NDArray[np.int32]:
        """The group of every record of all hospitals, in the order of `rows`."""
        groups = int(group_of_node.max()) + 1
        self.rows = self._counts.rows(self.group_of_own_records(group_of_node), groups)
        return self.rows.group_of_record()

    def group_of_own_records(self, group_of_node: IntArray) -> npt.NDArray[np.int32]:
        """The group of every own record."""
        nodes = np.flatnonzero(group_of_node >= 0)
        own, held = self._held(nodes)
        group_of_own = np.full(int(own.max(initial=0)) + 1, -2, dtype=np.int64)
        group_of_own[own] = group_of_node[nodes[held]]
        return self._own.group_of_records(group_of_own)

    def _made(self, attribute: int, nodes: IntArray, child_of_code: IntArray) -> IntArray:
        """How many records of all hospitals each node has under each child, as opened last."""
        if self._records[:3] != (_digest(nodes), attribute, child_of_code.tobytes()):
            self._children(nodes, _Children(attribute, child_of_code))
        return self._records[3]

    def _coarser(self, attribute: int, recoding: IntArray | None) -> _Children:
        """What is asked about an attribute; refuses to count it by single values."""
        if recoding is None:
            raise ParameterError(
                f"'{self._counts.attributes[attribute]}' would be counted by single values, which "
                "hospitals do not open. Give it a hierarchy."
            )
        return _Children(attribute, recoding)

    def _children(self, nodes: IntArray, asked: _Children) -> IntArray:
        """How many records of all hospitals each node has by (node, child, value)."""
        own = self._own_children(nodes, asked)
        sums = self._summed(self._request(asked), nodes, own.ravel()).reshape(own.shape)
        if not self._of_others:
            recoding = asked.recoding.tobytes()
            self._records = (self._about, asked.attribute, recoding, sums.sum(axis=2))
        return sums

    def _own_children(self, nodes: IntArray, asked: _Children) -> IntArray:
        """The own records by (node, child, value); those that were counted last are kept."""
        attribute, recoding, sensitive, values = asked
        key = (
            attribute, sensitive, recoding.tobytes(), nodes.tobytes(),
            b"" if values is None else values.tobytes(),
        )  # fmt: skip
        if key != self._own_key:
            own, held = self._held(nodes)
            shape = (
                len(nodes),
                recoded_values(recoding),
                1 if values is None else recoded_values(values),
            )
            refuse_too_many(math.prod(shape))
            counts = np.zeros(shape, np.int64)
            if sensitive is None:
                found = self._own.histograms(attribute, own, recoding=recoding)
                node = np.repeat(held, np.diff(found.offsets))
                counts[node, found.codes, 0] = found.counts
            else:
                joint = self._own.joint_histograms(
                    attribute, sensitive, own, recoding=recoding, values=values
                )
                node = np.repeat(held, np.diff(joint.offsets))
                counts[node, joint.codes, joint.values] = joint.counts
            self._own_key, self._own_counts = key, counts
        return self._own_counts

    def _request(self, asked: _Children) -> dict[str, Any]:
        """What is asked about children, in words that all hospitals understand alike."""
        name, steps = self._counts.attributes[asked.attribute], steps_of(asked.recoding)
        request: dict[str, Any] = {"ask": "children", "of": name, "in": steps}
        if asked.sensitive is not None and asked.values is not None:
            request |= {"with": asked.sensitive, "values": steps_of(asked.values)}
        return request

    def _held(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """The own nodes among some nodes, and their places there."""
        own = self._own_node[nodes]
        held = np.flatnonzero(own >= 0)
        return own[held], held

    def _summed(self, request: dict[str, Any], nodes: IntArray, counts: IntArray) -> IntArray:
        """The sums of counts about nodes; what was opened about them is not asked again."""
        about = _digest(nodes)
        if about != self._about:
            self._sums, self._about = {}, about
        request = {**request, "nodes": len(nodes), "at": about}
        key = repr(request)
        if key not in self._sums:
            self._sums[key] = self._counts.sum(request, counts)
        sums = self._sums[key]
        return sums - counts if self._of_others else sums


def refuse_too_many(counts: int) -> None:
    """Refuse a request for more counts than hospitals can add up at once."""
    if counts > _MOST_COUNTS:
        raise ParameterError(
            f"{counts:,} counts at once are more than hospitals can add up. Give attributes with "
            "very many values a hierarchy with more levels."
        )


def recoded_values(codes: IntArray) -> int:
    """How many recoded values there may be."""
    return int(codes.max(initial=-1)) + 1


def steps_of(codes: IntArray) -> list[list[int]]:
    """A recoding as the codes at which it changes, each with what it changes to."""
    begins = np.flatnonzero(np.diff(codes, prepend=codes[:1] - 1))
    return [[int(begin), int(codes[begin])] for begin in begins]


def _digest(nodes: IntArray) -> str:
    return hashlib.sha256(np.ascontiguousarray(nodes).tobytes()).hexdigest()[:16]


def _offsets(node: IntArray, nodes: int) -> IntArray:
    return np.searchsorted(node, np.arange(nodes + 1))
