"""Anatomize: groups in which no two records share the sensitive value, for releases as anatomy.

The groups are made from how often each sensitive value occurs, and from nothing else; the records
of a value are then dealt to them in the order of their quasi-identifiers, so that a group draws
its records from about the same place of every value.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from incrowd.compiling import compiled
from incrowd.errors import PrivacyError
from incrowd.methods.anatomize_several import anatomize_several
from incrowd.methods.base import Outcome, Task
from incrowd.methods.options import AnatomizeOptions
from incrowd.methods.reach import refuse_unreachable
from incrowd.privacy import AlphaK, ConfidenceBounding, Groups, Histogram, LDiversity
from incrowd.privacy.base import IntArray, PrivacyModel


def anatomize(task: Task, options: AnatomizeOptions | None = None) -> Outcome:
    """Groups of l or a few more records with different values of the sensitive attribute.

    While l values have records left, a group takes one record of each of the l most frequent; the
    fewer than l records that remain each join a group without their value. l is the smallest
    number with which every promised model holds in a group of l different values, or `options.l`.

    Notes
    -----
    Possible exactly when no value has more than one in l of the records: then at most one record of
    each value remains, and there are enough groups without it. O(n v / l) for n records of v
    values, and a sort of the distinct rows.

    References
    ----------
    Xiao and Tao (2006), Anatomy: simple and effective privacy preservation, fig. 3. Differs from
    the paper: records of a value are dealt in the order of their quasi-identifiers, not at random,
    and what remains joins the first groups that lack its value.
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
    group_of_deal, offsets, groups = _dealt(totals, l)
    if options.grouping == "blind":
        group_of_deal = _shuffled(group_of_deal, offsets)
    group_of_record = task.counts.deal(name, offsets, group_of_deal)
    sizes = np.bincount(group_of_deal, minlength=groups).astype(np.int64)
    _refuse_unkept(task, name, totals, offsets, group_of_deal, sizes)
    return Outcome(group_of_record, {}, sizes, 0, {"l": l})


def _needed(task: Task) -> int:
    """The smallest number of different values, once each, with which all models may hold."""
    return max(2, *(max(model.smallest_group, _values(model)) for model in task.models))


def _values(model: PrivacyModel) -> int:
    if isinstance(model, LDiversity):
        return math.ceil(model.l - 1e-9)
    if isinstance(model, AlphaK):
        return math.ceil(1 / model.alpha - 1e-9)
    return math.ceil(1 / model.C - 1e-9) if isinstance(model, ConfidenceBounding) else 1


def _refuse_ineligible(name: str, totals: IntArray, records: int, l: int) -> None:  # noqa: E741
    """Raise unless no value has more than one in l of the records."""
    most = int(totals.max())
    if most * l > records:
        raise PrivacyError(
            f"anatomize: the most frequent value of '{name}' has {most:,} of {records:,} records "
            f"({100 * most / records:.1f} %), so groups of {l} different values do not exist. The "
            f"largest l that does is {records // most}."
        )


def _dealt(totals: IntArray, l: int) -> tuple[IntArray, IntArray, int]:  # noqa: E741
    """The group of every record of every value, where each value begins, and how many groups."""
    offsets = np.concatenate(([0], np.cumsum(totals)))
    group_of_deal = np.full(int(offsets[-1]), -1, dtype=np.int64)
    groups = _deal(totals, offsets, l, group_of_deal)
    if bool((group_of_deal < 0).any()):
        raise AssertionError("a record is in no group")
    return group_of_deal, offsets, int(groups)


def _shuffled(group_of_deal: IntArray, offsets: IntArray) -> IntArray:
    """The groups of every value in random order, always the same: its records are dealt blindly."""
    drawn = np.random.Generator(np.random.PCG64(0)).random(len(group_of_deal))
    value = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return group_of_deal[np.lexsort((drawn, value))]


def _refuse_unkept(
    task: Task, name: str, totals: IntArray, offsets: IntArray, dealt: IntArray, sizes: IntArray
) -> None:
    """Raise when a model asks for more than different values in every group."""
    value = np.repeat(np.arange(len(totals)), np.diff(offsets))
    order = np.lexsort((value, dealt))
    histogram = Histogram(
        np.concatenate(([0], np.cumsum(sizes))),
        value[order],
        np.ones(len(order), dtype=np.int64),
        len(totals),
        totals,
    )
    groups = Groups(sizes, {name: histogram})
    broken = [model.name for model in task.models if not bool(model.holds(groups).all())]
    if broken:
        raise PrivacyError(
            f"anatomize: groups of different values do not satisfy {', '.join(broken)}. Use "
            "mondrian, or ask for a larger l."
        )


@compiled
def _deal(totals: Any, offsets: Any, l: int, group_of_deal: Any) -> Any:  # noqa: E741
    """Deal the records of each value to groups; returns how many groups there are."""
    left = totals.copy()
    chosen = np.zeros(len(totals), np.bool_)
    groups = 0
    open_values = 0
    for value in range(len(totals)):
        if left[value] > 0:
            open_values += 1
    while open_values >= l:
        chosen[:] = False
        for _ in range(l):
            best = -1
            for value in range(len(totals)):
                if not chosen[value] and left[value] > 0 and (best < 0 or left[value] > left[best]):
                    best = value
            chosen[best] = True
        for value in range(len(totals)):
            if chosen[value]:
                group_of_deal[offsets[value] + totals[value] - left[value]] = groups
                left[value] -= 1
                if left[value] == 0:
                    open_values -= 1
        groups += 1
    # What remains goes to the first groups that lack its value, if possible each to another one.
    joined = np.zeros(groups, np.bool_)
    has = np.zeros(groups, np.bool_)
    for value in range(len(totals)):
        has[:] = False
        for deal in range(offsets[value], offsets[value + 1] - left[value]):
            has[group_of_deal[deal]] = True
        for again in range(2):
            group = 0
            while left[value] > 0 and group < groups:
                if not has[group] and (again == 1 or not joined[group]):
                    group_of_deal[offsets[value] + totals[value] - left[value]] = group
                    left[value] -= 1
                    joined[group] = has[group] = True
                group += 1
    return groups
