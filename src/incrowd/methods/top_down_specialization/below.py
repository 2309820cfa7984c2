"""Below: the records that show one value, counted by leaf and by the codes under the value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import FloatArray, IntArray
from incrowd.counts import CodeRange, JointHistograms, NodeHistograms, Partition
from incrowd.counts.groups import Groups, Histogram
from incrowd.methods.top_down_specialization.cut import child_of_code
from incrowd.methods.top_down_specialization.leaves import Leaves
from incrowd.privacy.base import CrowdBounds
from incrowd.privacy.counting.combinations import CrowdRows, protected_numbers


class Below:
    """Counts of the records of one value: all that its specialization is judged by.

    Parameters
    ----------
    leaves
        The table as it is now.
    attribute, value
        The value that may be specialized.
    children
        What it would be specialized into; empty for an interval that may be cut anywhere, whose
        codes are then counted one by one.
    partition
        Whose records are counted, where not those of the leaves.

    Notes
    -----
    The home of the records is asked only when an answer is needed, and only for counts by child
    and protected value: once for the sizes, unless they follow from what was asked before, and
    once for each sensitive attribute. Only the records of the value are touched.
    """

    def __init__(
        self,
        leaves: Leaves,
        attribute: int,
        value: int,
        children: Sequence[CodeRange] = (),
        partition: Partition | None = None,
    ) -> None:
        self._leaves = leaves
        self._partition = partition or leaves.partition
        self._attribute = attribute
        self.leaves = leaves.showing(attribute, value)
        self._nodes = leaves.nodes(self.leaves)
        self._recoding = child_of_code(children) if children else None
        self._joint: dict[tuple[str, bytes], JointHistograms] = {}
        self._records: NodeHistograms | None = None

    def numbering(self, children: Sequence[CodeRange]) -> IntArray:
        """The child of each code that is counted here: of a child, itself."""
        return np.arange(len(children)) if self._recoding is not None else child_of_code(children)

    @property
    def _sizes(self) -> NodeHistograms:
        """The records by leaf and code, from what is known of them already if possible."""
        if self._records is None:
            joint = next(iter(self._joint.values()), None)
            self._records = (
                self._partition.histograms(self._attribute, self._nodes, recoding=self._recoding)
                if joint is None
                else _without_values(joint)
            )
        return self._records

    @property
    def touched(self) -> int:
        """How many records show the value."""
        return int(self._leaves.sizes(self.leaves).sum())

    def records(self, child_of_code: IntArray, children: int) -> IntArray:
        """How many records each leaf has under each child of the value."""
        place = _places(self._sizes.offsets)
        key = place * children + child_of_code[self._sizes.codes]
        counts = np.bincount(
            key, weights=self._sizes.counts, minlength=len(self.leaves) * children
        ).astype(np.int64)
        return counts.reshape(len(self.leaves), children)

    def squares_by_cut(self, low: int, high: int) -> tuple[IntArray, FloatArray, float]:
        """For each cut of the value's codes, the records on its left and how squares fall.

        The fall of a leaf of n records with l of them on the left is n^2 - l^2 - (n - l)^2. Also
        returns the sum of n^2.
        """
        offsets, counts = self._sizes.offsets, self._sizes.counts
        totals = self._leaves.sizes(self.leaves)
        upto = np.cumsum(counts)
        before = np.repeat(upto[offsets[:-1]] - counts[offsets[:-1]], np.diff(offsets))
        left = upto - before
        whole = np.repeat(totals, np.diff(offsets))
        fall = 2.0 * left * (whole - left)
        # From its code to the next one of the leaf a cut has this fall: add what each code changes.
        change = np.diff(fall, prepend=0.0)
        falls = np.bincount(self._sizes.codes - low, weights=change, minlength=high - low + 1)
        lefts = np.bincount(self._sizes.codes - low, weights=counts, minlength=high - low + 1)
        squares = float((totals.astype(np.float64) ** 2).sum())
        left_of_cut: IntArray = np.cumsum(lefts)[:-1].astype(np.int64)
        fall_of_cut: FloatArray = np.cumsum(falls)[:-1].astype(np.float64)
        return left_of_cut, fall_of_cut, squares

    def rows(
        self, bounds: CrowdBounds, child_of_code: IntArray, children: int, others: list[int]
    ) -> CrowdRows:
        """The records as rows of what the bounds count: leaf, child, protected value."""
        place, code, value, protected, counts = self._entries(bounds)
        # By value first: the walk counts one protected value at a time.
        pairs = len(self.leaves) * children
        weights = np.bincount(value * pairs + place * children + child_of_code[code], counts)
        found = np.flatnonzero(weights)
        pair = found % pairs
        values, spans = self._shown(pair // children, others)
        return CrowdRows(
            values,
            spans,
            (pair % children).astype(np.int32),
            children,
            weights[found].astype(np.int64),
            (found // pairs).astype(np.int32),
            protected,
        )

    def rows_by_code(self, bounds: CrowdBounds, others: list[int]) -> tuple[CrowdRows, IntArray]:
        """The records as rows in ascending order of their codes, and these codes."""
        place, code, value, protected, counts = self._entries(bounds)
        # In 16 bits NumPy sorts by radix, an order of magnitude faster.
        narrow = code.astype(np.uint16) if code.max(initial=0) < 1 << 16 else code
        order = np.argsort(narrow, kind="stable")
        values, spans = self._shown(place[order], others)
        nothing = np.zeros(len(order), np.int32)
        rows = CrowdRows(values, spans, nothing, 1, counts[order], value[order], protected)
        return rows, code[order]

    def groups(self, child_of_code: IntArray, children: int, totals: dict[str, IntArray]) -> Groups:
        """The groups over all quasi-identifiers that the children would be in."""
        records = self.records(child_of_code, children).ravel()
        held = np.flatnonzero(records)
        histograms = {}
        for name, total in totals.items():
            joint = self._joint_of(name, None)
            key = _places(joint.offsets) * children + child_of_code[joint.codes]
            key = key * len(total) + joint.values
            distinct, number = np.unique(key, return_inverse=True)
            counts = np.bincount(number, weights=joint.counts).astype(np.int64)
            per_group = np.bincount(distinct // len(total), minlength=len(records))[held]
            offsets = np.concatenate(([0], np.cumsum(per_group)))
            histograms[name] = Histogram.of(offsets, distinct % len(total), counts, total)
        return Groups(records[held], histograms)

    def _entries(
        self, bounds: CrowdBounds
    ) -> tuple[IntArray, IntArray, npt.NDArray[np.int32], int, IntArray]:
        """Leaf, code, number of the protected value (of how many) and count of all entries."""
        if bounds.sensitive is None:
            sizes = self._sizes
            nothing = np.zeros(len(sizes.codes), np.int32)
            return _places(sizes.offsets), sizes.codes, nothing, 0, sizes.counts
        number, protected = protected_numbers(bounds.listed, bounds.cardinality)
        if self._recoding is None:
            joint = self._joint_of(bounds.sensitive, None)
            value = number[joint.values]
        else:
            joint = self._joint_of(bounds.sensitive, number.astype(np.int64))
            value = joint.values.astype(np.int32)
        return _places(joint.offsets), joint.codes, value, protected, joint.counts

    def _joint_of(self, sensitive: str, values: IntArray | None) -> JointHistograms:
        key = (sensitive, b"" if values is None else values.tobytes())
        if key not in self._joint:
            self._joint[key] = self._partition.joint_histograms(
                self._attribute, sensitive, self._nodes, recoding=self._recoding, values=values
            )
        return self._joint[key]

    def _shown(self, place: IntArray, others: list[int]) -> tuple[npt.NDArray[np.int32], IntArray]:
        """What rows show of the other attributes; nothing listed stands for the leaf itself."""
        if not others:
            return place.astype(np.int32)[:, None], np.array([len(self.leaves)])
        shown = self._leaves.values(self.leaves)[:, others]
        return shown[place], shown.max(axis=0, initial=0).astype(np.int64) + 1


def _places(offsets: IntArray) -> IntArray:
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def _without_values(joint: JointHistograms) -> NodeHistograms:
    """The counts by code alone; entries of a code are neighbours."""
    begins = np.ones(len(joint.codes), np.bool_)
    begins[1:] = joint.codes[1:] != joint.codes[:-1]
    begins[joint.offsets[:-1][joint.offsets[:-1] < len(begins)]] = True
    first = np.flatnonzero(begins)
    offsets = np.searchsorted(first, joint.offsets)
    counts = np.add.reduceat(joint.counts, first) if len(first) else joint.counts
    return NodeHistograms(offsets, joint.codes[first], counts)
