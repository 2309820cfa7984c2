"""Where a count lies in 95 of 100 cases, as far as the published files can tell.

It is made from the published cells alone: nothing of the source is needed, and nothing told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from incrowd._runtime.arrays import FloatArray
from incrowd.query._counting import Counted, count

if TYPE_CHECKING:
    from incrowd.published.parts import Parts

_NORMAL = 1.96
"""Standard errors of chance on each side of a 95 % interval."""
_MANY_LABELS = 0.7
_ONE_LABEL = 1.0
_NARROW = 0.02
_ALIKE = 0.1
_WITHIN_GROUPS = 0.5


def interval(
    parts: Parts, opinions: Sequence[Mapping[str, FloatArray]], *, events: bool = False
) -> tuple[float, float]:
    """The ends of a 95 % interval around the counts of several opinions on what labels hold.

    Parameters
    ----------
    parts
        The release.
    opinions
        For each opinion the share of each label that satisfies the conditions, by attribute.
    events
        Whether the rows of patients are counted, and not these.

    Notes
    -----
    What is under a label is the same for all records that show it, so their errors do not cancel:
    they are added up by label. A label of which the share s should satisfy a condition may be off
    by c s^0.02 (1 - s)^0.5 upward and by c (1 - s)^0.02 s^0.5 downward: nearly anything of half a
    label, and not little of a narrow part of it, since people ask for what is frequent. Labels err
    independently, but for the share `_ALIKE` of the variance that they have in common; c is 0.7
    where many labels add up and 1 where it comes to a single one. Where sensitive values stand
    apart, all groups may be off in the same direction by `_WITHIN_GROUPS` of their standard errors,
    and by more where groups with more of the one have more of the other: what goes together from
    group to group does so inside them as well.

    These five numbers were chosen on releases of some tables and tried on those of others, which
    the tests repeat. They hold for usual tables and usual questions; what always holds are the
    bounds.
    """
    low, high = np.inf, -np.inf
    for shares in opinions:
        counted = count(parts, shares, events=events)
        alike = _WITHIN_GROUPS + (1 - _WITHIN_GROUPS) * counted.together
        chance = _NORMAL**2 * (counted.variance + (alike * counted.deviations) ** 2)
        down, up = _off(parts, shares, counted)
        low = min(low, counted.expected - np.sqrt(chance + down))
        high = max(high, counted.expected + np.sqrt(chance + up))
    return float(low), float(high)


def _off(parts: Parts, shares: Mapping[str, FloatArray], counted: Counted) -> tuple[float, float]:
    """The squares of how far counts may be off downward and upward, for what labels hide."""
    down = up = 0.0
    shown = [(name, column, counted.by_record) for name, column in parts.columns.items()]
    for rows, by_row in counted.by_row:
        shown += [(name, rows.column(name), by_row) for name in rows.entries if name in shares]
    for name, column, weights in shown:
        if name not in shares:
            continue
        share = shares[name]
        held = np.bincount(column.codes, weights, minlength=len(share))
        doubtful = (share > 0) & (share < 1) & (held > 0)
        share = share[doubtful]
        whole = held[doubtful] / share
        up += _together(whole * share**_NARROW * (1 - share) ** 0.5)
        down += _together(whole * (1 - share) ** _NARROW * share**0.5)
    return down, up


def _together(deviations: FloatArray) -> float:
    """The square of how far the sum over labels may be off."""
    alone, all_alike = float((deviations**2).sum()), float(deviations.sum()) ** 2
    if not alone:
        return 0.0
    labels = all_alike / alone  # how many of equal size would add up so
    factor = _MANY_LABELS + (_ONE_LABEL - _MANY_LABELS) / labels
    return factor**2 * ((1 - _ALIKE) * alone + _ALIKE * all_alike)
