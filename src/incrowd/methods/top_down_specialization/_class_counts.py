"""Class counts: how the classes lie over the values of each attribute, and what a split tells."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from incrowd._runtime.arrays import FloatArray, IntArray
from incrowd.counts import CodeRange, run_of_code
from incrowd.methods.base import Task

_MOST_STRATA = 32
_MOST_CELLS = 1 << 22
"""A table of codes by strata by classes has about this many cells at most."""


class ClassCounts(ABC):
    """For each attribute, how many records of each stratum and class have codes in a run.

    What a value tells about the class depends on its own attribute alone, so no specialization
    changes it (Mohammed et al. 2010, section 4.3.1). Strata are the values of the sensitive
    attributes, which every reader of the release sees; the rarest are joined. Without `stratified`
    there is one.
    """

    def __init__(self, task: Task, target: str, *, stratified: bool) -> None:
        self._task, self._target = task, target
        totals = task.counts.totals(target)
        self._classes = len(totals)
        codes = max(column.cardinality for column in task.columns)
        cells = codes * max(int(np.count_nonzero(totals)), 1)
        room = min(_MOST_STRATA, _MOST_CELLS // cells) if stratified else 1
        strata = _strata(task, target, room) if room > 1 else {}
        self._recoded = {name: mapping for name, (mapping, _) in strata.items()}
        self._strata = [number for _, number in strata.values()]

    @abstractmethod
    def of(self, attribute: int, runs: Sequence[CodeRange]) -> IntArray:
        """How many records of each stratum and class are in each run of codes."""

    def expect(self, attribute: int, runs: Sequence[CodeRange]) -> None:  # noqa: B027 - nothing to do
        """Be told which runs will be asked about next."""

    def _counted(self, attribute: int, recoding: IntArray | None, codes: int) -> IntArray:
        """The counts of an attribute's recoded codes by (code, stratum, class)."""
        name = self._task.columns[attribute].name
        found = self._task.counts.frequency_set(
            {name: recoding, **self._recoded, self._target: None}
        )
        table = np.zeros((codes, *self._strata, self._classes), dtype=np.int64)
        table[tuple(found.codes.T)] = found.groups.sizes
        return table.reshape(codes, -1, self._classes)


def class_counts(task: Task, target: str, *, stratified: bool) -> ClassCounts:
    """The class counts of a task, of all codes at once or of runs as they are asked about."""
    kind = CountsOfRuns if task.counts.opens else CountsOfCodes
    return kind(task, target, stratified=stratified)


class CountsOfCodes(ClassCounts):
    """One frequency set per attribute, asked for once: how many records have codes up to each."""

    def __init__(self, task: Task, target: str, *, stratified: bool) -> None:
        super().__init__(task, target, stratified=stratified)
        self._upto: list[IntArray] = []
        for attribute, column in enumerate(task.columns):
            table = self._counted(attribute, None, column.cardinality)
            self._upto.append(np.concatenate((np.zeros_like(table[:1]), np.cumsum(table, axis=0))))

    def of(self, attribute: int, runs: Sequence[CodeRange]) -> IntArray:
        """How many records of each stratum and class are in each run of codes."""
        upto = self._upto[attribute]
        low, high = np.array(runs, dtype=np.int64).T
        counts: IntArray = upto[high + 1] - upto[low]
        return counts

    def halves(self, attribute: int, run: CodeRange, cuts: IntArray) -> tuple[IntArray, IntArray]:
        """The strata and classes left and right of some cuts (0: after the first code)."""
        upto = self._upto[attribute]
        low, high = run
        left = upto[low + 1 + cuts] - upto[low]
        return left, upto[high + 1] - upto[low] - left

    def spread_cuts(self, attribute: int, run: CodeRange, most: int) -> IntArray:
        """All cuts of a run or, of more than `most`, so many that divide its records evenly."""
        low, high = run
        if high - low <= most:
            return np.arange(high - low)
        upto = self._upto[attribute][low + 1 : high + 2].sum(axis=(1, 2))
        upto = upto - self._upto[attribute][low].sum()
        even = np.searchsorted(upto, np.arange(1, most + 1) * upto[-1] / (most + 1))
        return np.unique(np.minimum(even, high - low - 1))


class CountsOfRuns(ClassCounts):
    """A frequency set of the runs that are asked about, where every answer is opened to others."""

    def __init__(self, task: Task, target: str, *, stratified: bool) -> None:
        super().__init__(task, target, stratified=stratified)
        self._known: dict[tuple[int, CodeRange], IntArray] = {}

    def of(self, attribute: int, runs: Sequence[CodeRange]) -> IntArray:
        """How many records of each stratum and class are in each run of codes."""
        self.expect(attribute, runs)
        return np.stack([self._known[attribute, run] for run in runs])

    def expect(self, attribute: int, runs: Sequence[CodeRange]) -> None:
        """Ask for the runs that are not known yet, all at once."""
        new = sorted({run for run in runs if (attribute, run) not in self._known})
        if not new:
            return
        number = run_of_code(new, self._task.columns[attribute].cardinality)
        table = self._counted(attribute, number, int(number.max()) + 1)
        self._known.update(((attribute, run), table[place]) for place, run in enumerate(new))


def gain_bits(parts: Sequence[IntArray]) -> FloatArray:
    """How many bits of the class the parts of a whole tell, all records and strata together.

    Each part counts by (…, stratum, class). Entropies are times the records: n log2 n - sum of
    c log2 c.
    """
    whole = np.sum(parts, axis=0)
    bits = entropy_bits(whole) - np.sum([entropy_bits(part) for part in parts], axis=0)
    return np.asarray(bits.sum(axis=-1), dtype=np.float64)


def chance_bits(parts: Sequence[IntArray]) -> FloatArray:
    """How many bits the parts would seem to tell if they told nothing.

    In each stratum twice the gain in nats is then near chi-square with
    (parts - 1)(classes - 1) degrees of freedom, whose mean they are.
    """
    filled = np.sum([part.sum(axis=-1) > 0 for part in parts], axis=0)
    classes = (np.sum(parts, axis=0) > 0).sum(axis=-1)
    freedom = np.maximum(filled - 1, 0) * np.maximum(classes - 1, 0)
    return np.asarray(freedom.sum(axis=-1) / (2 * np.log(2)), dtype=np.float64)


def identity_bits(sizes: Sequence[IntArray]) -> FloatArray:
    """How many bits of identity the parts of a whole tell, all records together."""
    whole = np.sum(sizes, axis=0)
    bits = _n_log_n(whole) - np.sum([_n_log_n(size) for size in sizes], axis=0)
    return np.asarray(bits, dtype=np.float64)


def _strata(task: Task, target: str, room: int) -> dict[str, tuple[IntArray, int]]:
    """For sensitive attributes, the stratum of each value and how many there are."""
    chosen: dict[str, tuple[IntArray, int]] = {}
    for name in task.sensitive:
        totals = task.counts.totals(name)
        number = min(int(np.count_nonzero(totals)), room)
        if name == target or number < 2:
            continue
        by_frequency = np.argsort(-totals, kind="stable")
        mapping = np.full(len(totals), number - 1, dtype=np.int64)
        mapping[by_frequency[: number - 1]] = np.arange(number - 1)
        chosen[name] = (mapping, number)
        room //= number
    return chosen


def entropy_bits(counts: IntArray | FloatArray) -> FloatArray:
    """Entropy of the classes times the records, over the last axis."""
    bits: FloatArray = _n_log_n(counts.sum(axis=-1)) - _n_log_n(counts).sum(axis=-1)
    return bits


def _n_log_n(counts: IntArray | FloatArray) -> FloatArray:
    return np.asarray(counts * np.log2(np.maximum(counts, 1)), dtype=np.float64)
