"""Research value (RV): how much of what a researcher wants of an attribute its labels keep.

RV is the weight of the attribute, times what its labels keep of its values, times the share of its
data constraint rules that hold. At the most specific level it is the weight.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from incrowd.counts import NodeHistograms
    from incrowd.hierarchies import Hierarchy
    from incrowd.research.rules import Interest
    from incrowd.table import Column


def attribute_value(
    interest: Interest,
    column: Column,
    low: IntArray,
    high: IntArray,
    sizes: IntArray,
    members: NodeHistograms | None = None,
) -> float:
    """The research value of one attribute in groups whose labels cover the codes low..high.

    Parameters
    ----------
    interest
        Weight and rules of the attribute.
    column
        The attribute as it was coded.
    low, high, sizes
        For each group the smallest and the largest code under its label, and its records.
    members
        The codes under each label, where a label is a set and not the whole run low..high.

    Notes
    -----
    Numbers and dates: w x (sum R0 N0 / sum R N) x (sum DR / sum DR0), where N records have a label
    that spans R values of the domain, and R0 = 1. Other attributes: w x (labels / values) x the
    same share of rules. Where labels overlap, as in local recoding, there may be more labels than
    values; each value then counts the mean of 1 / (values under its label) over the records that
    may hold it, which for labels that do not overlap adds up to their number. Cost: O(groups x
    rules + codes).

    References
    ----------
    Morton (2012), An improved utility driven approach towards k-anonymity using data constraint
    rules, "Utility Metric". Goes beyond the thesis: categories under labels that overlap.

    Example
    -------
    >>> from incrowd.research.rules import Interest
    >>> from incrowd.table import Column
    >>> ages = Column("age", "quasi", "numeric", np.arange(50), tuple(map(str, range(50))),
    ...               np.arange(50))
    >>> low, high = np.array([0, 10, 25]), np.array([9, 24, 49])
    >>> round(attribute_value(Interest("age", 0.2), ages, low, high, np.array([25, 45, 55])), 4)
    0.0109
    """
    low, high = as_labelled(column, low, high, members)
    broken = broken_rules(interest, column, low, high, members)
    if column.numbers is not None:
        kept = span_ratio(spans(column, low, high), sizes)
    else:
        kept = label_ratio(column, low, high, sizes, members)
    return interest.weight * kept * rule_ratio(interest, broken)


def level_values(
    interest: Interest, column: Column, hierarchy: Hierarchy, records: IntArray
) -> FloatArray:
    """The research value of an attribute at each level of its hierarchy, level 0 first.

    `records` counts the records of each code. It never rises with the level: nodes of a level are
    unions of nodes below, so spans and what they break only grow, and labels grow fewer.
    """
    pairs = interest.pairs(column)
    first, second = pairs[:, 0].astype(np.int64), pairs[:, 1].astype(np.int64)
    found = np.zeros(hierarchy.height + 1)
    for level, node_of in enumerate(hierarchy.node_of):
        if column.numbers is not None:
            sizes = np.bincount(node_of, weights=records)
            kept = span_ratio(hierarchy.weights[level].astype(np.float64), sizes)
        else:
            kept = (int(node_of.max()) + 1) / column.cardinality
        broken = node_of[first] == node_of[second]
        found[level] = interest.weight * kept * rule_ratio(interest, broken)
    return found


def level_value(interest: Interest, column: Column, hierarchy: Hierarchy, level: int) -> float:
    """The research value of an attribute with all its records at one level of its hierarchy."""
    return float(level_values(interest, column, hierarchy, column.counts())[level])


def as_labelled(
    column: Column, low: IntArray, high: IntArray, members: NodeHistograms | None = None
) -> tuple[IntArray, IntArray]:
    """The codes that labels cover: missing cells among numbers are shown as `*`, so all of them."""
    if column.numbers is None or not column.missing or members is not None:
        return low, high
    mixed = (high == column.missing_code) & (low != high)
    return np.where(mixed, 0, low), high


def spans(column: Column, low: IntArray, high: IntArray) -> FloatArray:
    """How many values of the domain the ranges of codes low..high span, 1 for a single one."""
    assert column.numbers is not None
    places = np.append(column.numbers, column.numbers[-1:] + 1).astype(np.float64)
    return places[high] - places[low] + 1 if len(column.numbers) else np.ones(len(low))


def span_ratio(widths: FloatArray, sizes: IntArray | FloatArray) -> float:
    """The records over the sum of what their labels span."""
    spanned = float((widths * sizes).sum())
    return float(sizes.sum()) / spanned if spanned else 0.0


def label_ratio(
    column: Column,
    low: IntArray,
    high: IntArray,
    sizes: IntArray,
    members: NodeHistograms | None = None,
) -> float:
    """The labels over the values they stand for; see `attribute_value` where labels overlap."""
    many = column.cardinality
    if members is None:
        widths = high - low + 1.0
        holding = _added_to_runs(low, high, sizes / widths, many)
        inverse = _added_to_runs(low, high, sizes / widths**2, many)
    else:
        widths = np.diff(members.offsets).astype(np.float64)
        group = np.repeat(np.arange(len(widths)), np.diff(members.offsets))
        share = sizes / widths
        holding = _added_to_codes(members.codes, share[group], many)
        inverse = _added_to_codes(members.codes, (share / widths)[group], many)
    covered = holding > 1e-9
    return float((inverse[covered] / holding[covered]).sum()) / many


def broken_rules(
    interest: Interest,
    column: Column,
    low: IntArray,
    high: IntArray,
    members: NodeHistograms | None = None,
) -> BoolArray:
    """For each rule, whether some label covers both of its values."""
    broken = np.zeros(len(interest.rules), dtype=np.bool_)
    for place, (first, second, _) in enumerate(interest.pairs(column)):
        if members is None:
            broken[place] = bool(((low <= first) & (high >= second)).any())
        else:
            group = np.repeat(np.arange(len(low)), np.diff(members.offsets))
            holds = np.zeros((2, len(low)), dtype=np.bool_)
            for side, code in enumerate((first, second)):
                holds[side, group[members.codes == code]] = True
            broken[place] = bool(holds.all(axis=0).any())
    return broken


def rule_ratio(interest: Interest, broken: BoolArray) -> float:
    """The importance of the rules that hold over that of all, the base value in both."""
    if not interest.rules:
        return 1.0
    kept = sum(r.importance for r, gone in zip(interest.rules, broken, strict=True) if not gone)
    return (kept + interest.base) / interest.importance


def _added_to_runs(low: IntArray, high: IntArray, added: FloatArray, many: int) -> FloatArray:
    """For each of so many codes, the sum of what the runs over it add."""
    steps = _added_to_codes(low, added, many + 1) - _added_to_codes(high + 1, added, many + 1)
    return np.cumsum(steps)[:many]


def _added_to_codes(codes: IntArray, added: FloatArray, many: int) -> FloatArray:
    """For each of so many codes, the sum of what is added to it."""
    return np.bincount(codes, weights=added, minlength=many).astype(np.float64)
