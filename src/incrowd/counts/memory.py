"""The records in memory: distinct coded rows with their weights, collapsed once at the start."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import IntArray
from incrowd.counts import _halves, _nodes
from incrowd.counts._recoded import Renumbered, recoded_histograms
from incrowd.counts.base import (
    Extents,
    FrequencySet,
    HalvingPartition,
    JointHistograms,
    NodeHistograms,
    Recoding,
    RecordCounts,
    Splits,
)
from incrowd.counts.groups import Groups, Histogram
from incrowd.counts.histograms import counted_groups
from incrowd.table import MemoryTable, code_dtype
from incrowd.table.packing import RowNumbers, distinct_rows


class MemoryCounts(RecordCounts):
    """Counts over the distinct rows of a coded table.

    Rows that agree on all quasi-identifiers and all sensitive attributes asked about are one row
    with a weight, so the cost of every answer follows the distinct rows, not the records.
    """

    def __init__(
        self, table: MemoryTable, attributes: Sequence[str], sensitive: Sequence[str] = ()
    ) -> None:
        self.attributes = tuple(attributes)
        self.sensitive = tuple(sensitive)
        self.records = table.records
        named = [table[name] for name in (*self.attributes, *self.sensitive)]
        self.cardinalities = np.array([column.cardinality for column in named], dtype=np.int64)
        self.row_of_record, representative = distinct_rows(
            [column.codes for column in named], self.cardinalities.tolist(), table.rows
        )
        self.row_of_record = self.row_of_record.astype(np.uint32)
        weights = table.tally.count(self.row_of_record)
        if weights.min(initial=1) < 1:
            raise AssertionError("a row stands for no record")
        wide = weights.max(initial=0) > np.iinfo(np.int32).max
        self.weights: npt.NDArray[np.signedinteger] = weights.astype(np.int64 if wide else np.int32)
        dtype = code_dtype(int(self.cardinalities.max(initial=1)))
        self.codes: npt.NDArray[np.unsignedinteger] = np.empty(
            (len(representative), len(named)), dtype=dtype
        )
        for position, column in enumerate(named):
            self.codes[:, position] = column.codes[representative]

    def frequency_set(self, recoding: Recoding, *, sensitive: Sequence[str] = ()) -> FrequencySet:
        """The frequency set of the recoded attributes, by one pass over the distinct rows."""
        names = tuple(recoding)
        columns, cardinalities = self._recoded(recoding)
        number, representative = distinct_rows(columns, cardinalities, len(self.codes))
        combinations = np.empty((len(representative), len(names)), dtype=np.int64)
        for position, column in enumerate(columns):
            combinations[:, position] = column[representative]
        return FrequencySet(
            names, combinations, self._grouped(number, len(representative), sensitive)
        )

    def partition(self) -> MemoryPartition:
        """A fresh partition: all records in node 0."""
        return MemoryPartition(self)

    def groups_of(
        self, recoding: Recoding, codes: IntArray, groups: IntArray
    ) -> npt.NDArray[np.int32]:
        """For each record the group of the combination of recoded codes that it has."""
        columns, cardinalities = self._recoded(recoding)
        number, _ = distinct_rows(columns, cardinalities, len(self.codes))
        # Rows are numbered in ascending order of their combinations.
        in_order = groups[np.lexsort(codes.T[::-1])].astype(np.int32)
        return in_order[number][self.row_of_record]

    def codes_of_records(self, sensitive: str) -> npt.NDArray[np.integer]:
        """For each record its code of a sensitive attribute."""
        codes: npt.NDArray[np.integer] = self.codes[:, self.column_of(sensitive)]
        return codes[self.row_of_record]

    def row_of_records(self) -> npt.NDArray[np.integer]:
        """For each record its row in the frequency set of all attributes as they are."""
        many = len(self.attributes)
        columns = [self.codes[:, position] for position in range(many)]
        number, _ = distinct_rows(columns, self.cardinalities[:many].tolist(), len(self.codes))
        return number[self.row_of_record]

    def assign(self, group_of_sorted: IntArray) -> npt.NDArray[np.int32]:
        """The group of every record, given for the records sorted by all that is counted."""
        group = np.empty(self.records, dtype=np.int32)
        group[np.argsort(self.row_of_record, kind="stable")] = group_of_sorted
        return group

    def totals(self, sensitive: str) -> IntArray:
        """How often each code of a sensitive attribute occurs."""
        position = self.column_of(sensitive)
        return np.bincount(
            self.codes[:, position],
            weights=self.weights,
            minlength=int(self.cardinalities[position]),
        ).astype(np.int64)

    def column_of(self, sensitive: str) -> int:
        """The position of a sensitive attribute among the coded columns."""
        return len(self.attributes) + self.sensitive.index(sensitive)

    def _recoded(self, recoding: Recoding) -> tuple[list[npt.NDArray[np.integer]], list[int]]:
        """The recoded columns of the distinct rows, and how many codes each may have."""
        columns: list[npt.NDArray[np.integer]] = []
        cardinalities = []
        for name, mapping in recoding.items():
            position = (self.attributes + self.sensitive).index(name)
            codes = self.codes[:, position]
            columns.append(codes if mapping is None else mapping[codes])
            cardinalities.append(
                int(self.cardinalities[position]) if mapping is None else int(mapping.max()) + 1
            )
        return columns, cardinalities

    def _grouped(self, number: RowNumbers, groups: int, sensitive: Sequence[str]) -> Groups:
        values = {name: self.codes[:, self.column_of(name)] for name in sensitive}
        totals = {name: self.totals(name) for name in sensitive}
        return counted_groups(number, groups, values, totals, self.weights)


class MemoryPartition(HalvingPartition):
    """Nodes as runs of neighbouring rows; a split moves the rows of its node in place."""

    def __init__(self, counts: MemoryCounts) -> None:
        self._counts = counts
        places = np.arange(len(counts.codes), dtype=np.uint32)
        self._rows = _nodes.CodedRows(counts.codes.copy(), counts.weights.copy(), places)
        self._starts = np.zeros(1, dtype=np.int64)
        self._ends = np.array([len(counts.codes)], dtype=np.int64)
        self._dimensions = len(counts.attributes)
        self._totals = {name: counts.totals(name) for name in counts.sensitive}

    def sizes(self, nodes: IntArray) -> IntArray:
        """How many records each node holds."""
        return _nodes.node_sizes(self._rows, self._starts[nodes], self._ends[nodes])

    def histograms(
        self, attribute: int, nodes: IntArray, *, recoding: IntArray | None = None
    ) -> NodeHistograms:
        """The codes of an attribute that occur in each node, with their counts."""
        starts, ends = self._starts[nodes], self._ends[nodes]
        if recoding is not None:
            child = Renumbered(attribute, recoding)
            offsets, codes, _, counts = recoded_histograms(self._rows, starts, ends, child)
            return NodeHistograms(offsets, codes, counts)
        cardinality = int(self._counts.cardinalities[attribute])
        return NodeHistograms(
            *_nodes.node_histograms(self._rows, starts, ends, attribute, cardinality)
        )

    def joint_histograms(
        self,
        attribute: int,
        sensitive: str,
        nodes: IntArray,
        *,
        recoding: IntArray | None = None,
        values: IntArray | None = None,
    ) -> JointHistograms:
        """The pairs of a code of an attribute and a sensitive value that occur in each node."""
        starts, ends = self._starts[nodes], self._ends[nodes]
        column, cardinality = self._counts.column_of(sensitive), len(self._totals[sensitive])
        if recoding is None and values is None:
            return JointHistograms(
                *_nodes.joint_histograms(self._rows, starts, ends, attribute, column, cardinality)
            )
        if recoding is None:
            recoding = np.arange(self._counts.cardinalities[attribute])
        if values is None:
            values = np.arange(cardinality)
        child, value = Renumbered(attribute, recoding), Renumbered(column, values)
        return JointHistograms(*recoded_histograms(self._rows, starts, ends, child, value))

    def extents(self, nodes: IntArray) -> Extents:
        """The extents of all attributes in each node."""
        cardinalities = self._counts.cardinalities[: self._dimensions]
        starts, ends = self._starts[nodes], self._ends[nodes]
        return _nodes.node_extents(self._rows, starts, ends, cardinalities)

    def half_extents(
        self,
        splits: Splits,
        *,
        counting: Sequence[int] | None = None,  # noqa: ARG002 - all are counted in one loop
    ) -> tuple[Extents, Extents]:
        """The extents of the left and the right halves that splits would make."""
        starts, ends = self._starts[splits.nodes], self._ends[splits.nodes]
        cardinalities = self._counts.cardinalities[: self._dimensions]
        found = _halves.half_extents(self._rows, starts, ends, splits, cardinalities)
        return Extents(*(each[0] for each in found)), Extents(*(each[1] for each in found))

    def groups(self, nodes: IntArray, sensitive: Sequence[str]) -> Groups:
        """Sizes and sensitive histograms of nodes, as privacy models judge them."""
        histograms = {}
        for name in sensitive:
            found = self.histograms(self._counts.column_of(name), nodes)
            total = self._totals[name]
            histograms[name] = Histogram.of(found.offsets, found.codes, found.counts, total)
        return Groups(self.sizes(nodes), histograms)

    def half_groups(self, splits: Splits, sensitive: Sequence[str]) -> tuple[Groups, Groups]:
        """Sizes and sensitive histograms of the halves that splits would make."""
        starts, ends = self._starts[splits.nodes], self._ends[splits.nodes]
        cardinalities = self._counts.cardinalities
        split = self._left_codes(splits)
        sizes = _halves.half_sizes(self._rows, starts, ends, split)
        left: dict[str, Histogram] = {}
        right: dict[str, Histogram] = {}
        for name in sensitive:
            column = self._counts.column_of(name)
            left[name], right[name] = (
                Histogram.of(*half, self._totals[name])
                for half in _halves.half_histograms(
                    self._rows, starts, ends, split, column, int(cardinalities[column])
                )
            )
        return Groups(sizes[0], left), Groups(sizes[1], right)

    def split(self, splits: Splits) -> tuple[IntArray, IntArray]:
        """Halve nodes; returns the numbers of the new left and right nodes."""
        starts, ends = self._starts[splits.nodes], self._ends[splits.nodes]
        middles = _halves.move_rows(self._rows, starts, ends, self._left_codes(splits))
        first = len(self._starts)
        self._starts = np.concatenate((self._starts, starts, middles))
        self._ends = np.concatenate((self._ends, middles, ends))
        left = np.arange(first, first + len(splits), dtype=np.int64)
        return left, left + len(splits)

    def gather(self, nodes: IntArray) -> int:
        """Put the records of nodes into one new node: their rows first, the others after them."""
        inside = np.zeros(len(self._rows.codes), dtype=np.bool_)
        for start, end in zip(self._starts[nodes], self._ends[nodes], strict=True):
            inside[start:end] = True
        order = np.argsort(~inside, kind="stable")
        self._rows = _nodes.CodedRows(*(each[order] for each in self._rows))
        # The rows of any other node stay neighbours, as all of them move on by as many places.
        place = np.append(np.argsort(order), len(order))
        lengths = self._ends - self._starts
        starts = place[self._starts]
        self._starts = np.append(starts, 0)
        self._ends = np.append(starts + lengths, int(inside.sum()))
        return len(self._starts) - 1

    def specialize(self, attribute: int, nodes: IntArray, child_of_code: IntArray) -> IntArray:
        """Split nodes by the child of their records' codes; the new nodes by (node, child)."""
        children = int(child_of_code.max(initial=-1)) + 1
        bounds = _nodes.sort_rows(
            self._rows, self._starts[nodes], self._ends[nodes], attribute, child_of_code, children
        )
        starts, ends = bounds[:, :-1], bounds[:, 1:]
        made = ends > starts
        first = len(self._starts)
        numbers = np.full(made.shape, -1, dtype=np.int64)
        numbers[made] = np.arange(first, first + int(made.sum()))
        self._starts = np.concatenate((self._starts, starts[made]))
        self._ends = np.concatenate((self._ends, ends[made]))
        return numbers

    def group_of_records(self, group_of_node: IntArray) -> npt.NDArray[np.int32]:
        """For each row of the table, the group that its node was given (-1: suppressed)."""
        group_of_row = np.full(len(self._rows.codes), -2, dtype=np.int32)
        nodes = np.flatnonzero(group_of_node >= -1)
        _nodes.label_rows(
            group_of_row, self._rows.origin, self._starts[nodes], self._ends[nodes],
            group_of_node[nodes],
        )  # fmt: skip
        return group_of_row[self._counts.row_of_record]

    def _left_codes(self, splits: Splits) -> _halves.LeftCodes:
        """The codes that go to the left, with more than any code of an attribute that is split."""
        widest = int(self._counts.cardinalities[: self._dimensions].max())
        return _halves.LeftCodes.of(splits, widest)
