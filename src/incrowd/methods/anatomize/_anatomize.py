"""Anatomize: groups in which no two records share the sensitive value, for releases as anatomy.

Which values a group holds follows from how often each value occurs in its neighbourhood; which of
the records of a value it gets is drawn from secret randomness.
"""

from __future__ import annotations

import numpy as np

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd.counts.groups import Groups, segment_max
from incrowd.counts.histograms import histogram_of
from incrowd.errors import PrivacyError
from incrowd.methods.anatomize import AnatomizeOptions
from incrowd.methods.anatomize._assignment import deal_different, numbered_by
from incrowd.methods.anatomize._neighbourhoods import neighbourhoods
from incrowd.methods.anatomize._several import anatomize_several
from incrowd.methods.base import Outcome, RecordTask, Task
from incrowd.methods.reach import refuse_unreachable


def anatomize(task: RecordTask, options: AnatomizeOptions | None = None) -> Outcome:
    """Groups of l or a few more records with different values of the sensitive attribute.

    While l values have records left, a group takes one record of each of the l most frequent; the
    fewer than l records that remain each join a group without their value. l is the smallest
    number with which every promised model holds in a group of l different values, or `options.l`.
    With `grouping: similar` that is done in every neighbourhood by itself, with `blind` in the
    whole table. Records are taken at random, and groups are numbered by their quasi-identifiers,
    so that each record of a group may hold each of its values (see `_assignment.py` and
    `_neighbourhoods.py`).

    Notes
    -----
    Possible exactly when no value has more than one in l of the records: then at most one record of
    each value remains, and there are enough groups without it. O(n v / l) for n records of v
    values, and a sort of the records; `similar` adds O(d n log n) for d quasi-identifiers.

    References
    ----------
    Xiao and Tao (2006), Anatomy: simple and effective privacy preservation, fig. 3. Differs from
    the paper: what remains joins the first groups that lack its value, and `similar` deals within
    neighbourhoods.
    """
    options = options or AnatomizeOptions()
    if len(task.sensitive) != 1 or any(model.counts_jointly for model in task.models):
        return anatomize_several(task, options)
    (name,) = task.sensitive
    totals = task.counts.totals(name)
    l = options.l or _needed(task)  # noqa: E741
    _refuse_ineligible(name, totals, task.counts.records, l)
    refuse_unreachable(task)
    task.progress("grouping", 0, 1)

    def eligible(groups: Groups) -> BoolArray:
        found = groups.histograms[name]
        return segment_max(found.counts, found.offsets) * l <= groups.sizes

    if options.grouping == "similar":
        cell = neighbourhoods(task, l, eligible)
    else:
        cell = np.zeros(task.counts.records, dtype=np.int64)
    value = task.counts.codes_of_records(name).astype(np.int64)
    place = task.counts.row_of_records().astype(np.int64)
    group = numbered_by(place, deal_different(cell, value, l))
    sizes = np.bincount(group).astype(np.int64)
    _refuse_unkept(task, Groups(sizes, {name: histogram_of(group, len(sizes), value, totals)}))
    return Outcome(group.astype(np.int32), {}, sizes, 0, {"l": l})


def _needed(task: Task) -> int:
    """The smallest number of different values, once each, with which all models may hold."""
    return max(2, *(max(model.smallest_group, model.needed_values) for model in task.models))


def _refuse_ineligible(name: str, totals: IntArray, records: int, l: int) -> None:  # noqa: E741
    """Raise unless no value has more than one in l of the records."""
    most = int(totals.max())
    if most * l > records:
        raise PrivacyError(
            f"anatomize: the most frequent value of '{name}' has {most:,} of {records:,} records "
            f"({100 * most / records:.1f} %), so groups of {l} different values do not exist. The "
            f"largest l that does is {records // most}."
        )


def _refuse_unkept(task: Task, groups: Groups) -> None:
    """Raise when a model asks for more than different values in every group."""
    broken = [model.name for model in task.models if not bool(model.holds(groups).all())]
    if broken:
        raise PrivacyError(
            f"anatomize: groups of different values do not satisfy {', '.join(broken)}. Use "
            "mondrian, or ask for a larger l."
        )
