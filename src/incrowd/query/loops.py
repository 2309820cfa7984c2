"""Many counts at once: compiled loops over records and groups, the queries shared among threads.

A query is a row of conditions, one in each slot: `attribute[query, slot]` (-1 for none) must lie
from `low` to before `high`. Slot 0 is for a sensitive attribute, the others for quasi-identifiers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import FloatArray, IntArray, Ints
from incrowd._runtime.compiling import compiled
from incrowd._runtime.threads import even_runs, in_threads

_WORTH_A_THREAD = 64


def shared(queries: int, work: Callable[[slice], None]) -> None:
    """Do the work of all queries, a run of them in each thread."""
    in_threads(even_runs(np.ones(queries, dtype=np.int64), _WORTH_A_THREAD), work)


@compiled
def true_counts(
    attribute: IntArray, low: IntArray, high: IntArray, codes: Ints, order: Ints,
    starts: IntArray, out: IntArray,
) -> None:  # fmt: skip
    """How many records satisfy each query.

    `codes[a, record]` is the code of a record, `order[a]` the records in the order of these codes,
    and `starts[a, code]` where those of a code begin. The records of the rarest condition are
    looked at, one by one, for the others.
    """
    slots = attribute.shape[1]
    for query in range(len(out)):
        best, rarest = -1, 0
        for slot in range(slots):
            a = attribute[query, slot]
            if a >= 0:
                held = starts[a, high[query, slot]] - starts[a, low[query, slot]]
                if best < 0 or held < rarest:
                    best, rarest = slot, held
        if best < 0:
            out[query] = codes.shape[1]
            continue
        a = attribute[query, best]
        found = 0
        for place in range(starts[a, low[query, best]], starts[a, high[query, best]]):
            record = order[a, place]
            fits = True
            for slot in range(slots):
                other = attribute[query, slot]
                if other >= 0 and slot != best:
                    code = codes[other, record]
                    if code < low[query, slot] or code >= high[query, slot]:
                        fits = False
                        break
            if fits:
                found += 1
        out[query] = found


class Conditions(NamedTuple):
    """The conditions of queries, a line each, and which values the sensitive one asks for.

    These are the values from `first_value[query]` to before `last_value[query]`.
    """

    attribute: IntArray
    low: IntArray
    high: IntArray
    first_value: IntArray
    last_value: IntArray


class SensitiveCounts(NamedTuple):
    """How large each group is, and the sensitive values: each in a group, so many times."""

    sizes: IntArray
    group: IntArray
    times: IntArray


class ReleasedRows(NamedTuple):
    """The distinct rows: a group, how many records show it, a label of every quasi-identifier.

    A label stands in the rows `of_label` from its `begin` on.
    """

    group: IntArray
    times: FloatArray
    labels: npt.NDArray[np.int32]
    of_label: IntArray
    begin: IntArray


class LabelRuns(NamedTuple):
    """The labels of all attributes, those of attribute a from `begin[a]` on.

    A label covers the runs from its `run_begin` on, each from `run_low` to before `run_high`, and
    has a weight.
    """

    begin: IntArray
    run_begin: IntArray
    run_low: IntArray
    run_high: IntArray
    weight: IntArray


@compiled
def expected_counts(
    wanted: Conditions, values: SensitiveCounts, rows: ReleasedRows, labels: LabelRuns,
    out: FloatArray,
) -> None:  # fmt: skip
    """The expected number of records that satisfy each query, as `count` gives it.

    The rows of the rarest condition are looked at for the others.
    """
    attribute, low, high, first_value, last_value = wanted
    sizes, value_group, value_count = values
    row_group, row_times, row_labels, rows_of, rows_begin = rows
    label_begin, run_begin, run_low, run_high, weight = labels
    slots = attribute.shape[1]
    most = 1
    for a in range(len(label_begin) - 1):
        most = max(most, label_begin[a + 1] - label_begin[a])
    share = np.empty((slots, most), np.float64)
    asked = np.empty(slots, np.int64)
    matching = np.zeros(len(sizes), np.int64)
    for query in range(len(out)):
        conditions, best, rarest = 0, -1, 0
        for slot in range(1, slots):
            a = attribute[query, slot]
            if a < 0:
                continue
            first, last = low[query, slot], high[query, slot]
            begin, held = label_begin[a], 0
            for label in range(begin, label_begin[a + 1]):
                inside = 0
                for run in range(run_begin[label], run_begin[label + 1]):
                    inside += max(0, min(last, run_high[run]) - max(first, run_low[run]))
                share[conditions, label - begin] = inside / weight[label]
                if inside > 0:
                    held += rows_begin[label + 1] - rows_begin[label]
            if best < 0 or held < rarest:
                best, rarest = conditions, held
            asked[conditions] = a
            conditions += 1
        sensitive = attribute[query, 0] >= 0
        satisfying = 0
        for value in range(first_value[query], last_value[query]):
            matching[value_group[value]] += value_count[value]
            satisfying += value_count[value]
        total = 0.0
        if conditions == 0:
            total = float(satisfying)
        else:
            a = asked[best]
            for label in range(label_begin[a], label_begin[a + 1]):
                likely = share[best, label - label_begin[a]]
                if likely == 0.0:
                    continue
                for place in range(rows_begin[label], rows_begin[label + 1]):
                    row = rows_of[place]
                    group = row_group[row]
                    if sensitive and matching[group] == 0:
                        continue
                    chance = likely * row_times[row]
                    for c in range(conditions):
                        if c != best:
                            chance *= share[c, row_labels[row, asked[c]]]
                    if sensitive:
                        chance = chance * matching[group] / sizes[group]
                    total += chance
        for value in range(first_value[query], last_value[query]):
            matching[value_group[value]] = 0
        out[query] = total
