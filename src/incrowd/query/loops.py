"""Many counts at once: compiled loops over records and groups, the queries shared among threads.

A query is a row of conditions, one in each slot: `attribute[query, slot]` (-1 for none) must lie
from `low` to before `high`. Slot 0 is for a sensitive attribute, the others for quasi-identifiers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from incrowd._runtime.compiling import compiled
from incrowd._runtime.threads import even_runs, in_threads

_WORTH_A_THREAD = 64


def shared(queries: int, work: Callable[[slice], None]) -> None:
    """Do the work of all queries, a run of them in each thread."""
    in_threads(even_runs(np.ones(queries, dtype=np.int64), _WORTH_A_THREAD), work)


@compiled
def true_counts(
    attribute: Any, low: Any, high: Any, codes: Any, order: Any, starts: Any, out: Any
) -> None:
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


@compiled
def expected_counts(
    attribute: Any, low: Any, high: Any, first_value: Any, last_value: Any,
    sizes: Any,
    value_group: Any, value_count: Any,
    row_group: Any, row_times: Any, row_labels: Any,
    rows_of: Any, rows_begin: Any,
    label_begin: Any, run_begin: Any, run_low: Any, run_high: Any, weight: Any,
    out: Any,
) -> None:  # fmt: skip
    """The expected number of records that satisfy each query, as `count` gives it.

    The values of the sensitive condition are those from `first_value[query]` on: each in a group,
    so many times. A row is a group, a label of every quasi-identifier, and how many records show
    them. The labels of attribute a begin at `label_begin[a]`; each covers the runs from its
    `run_begin` on, and stands in the rows `rows_of[a]` from its `rows_begin` on. The rows of the
    rarest condition are looked at for the others.
    """
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
            begin, rows = label_begin[a], 0
            for label in range(begin, label_begin[a + 1]):
                inside = 0
                for run in range(run_begin[label], run_begin[label + 1]):
                    inside += max(0, min(last, run_high[run]) - max(first, run_low[run]))
                share[conditions, label - begin] = inside / weight[label]
                if inside > 0:
                    rows += rows_begin[label + 1] - rows_begin[label]
            if best < 0 or rows < rarest:
                best, rarest = conditions, rows
            asked[conditions] = a
            conditions += 1
        sensitive = attribute[query, 0] >= 0
        values = 0
        for value in range(first_value[query], last_value[query]):
            matching[value_group[value]] += value_count[value]
            values += value_count[value]
        total = 0.0
        if conditions == 0:
            total = float(values)
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
