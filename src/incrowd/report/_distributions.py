"""The distribution of a quasi-identifier, as it was and as the release lets expect it.

For a private report: what was is counted from the published records as they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import FloatArray, IntArray
from incrowd._runtime.manifests import ManifestEntry
from incrowd.errors import InputError
from incrowd.hierarchies.labels import Anything, Members, Plain, Range, parse, range_label
from incrowd.table.coding import format_date, format_number

if TYPE_CHECKING:
    from incrowd.hierarchies import Hierarchy
    from incrowd.methods.base import CellLabels
    from incrowd.table import Column

_STEPS = 14
_MOST_CATEGORIES = 12
_MOST_LABELS = 20_000
"""Attributes with more different labels get no picture."""
_MOST_MEMBERS = 20_000_000
OTHERS = "other values"
MISSING = "(missing)"


@dataclass(frozen=True)
class DistributionBar:
    """One bar of a distribution: the records before, and those to expect after."""

    label: str
    before: float
    after: float


@dataclass(frozen=True)
class Distribution:
    """A quasi-identifier in a few steps."""

    name: str
    steps: tuple[DistributionBar, ...]


def distribution(
    column: Column,
    hierarchy: Hierarchy,
    entry: ManifestEntry,
    cells: CellLabels,
    sizes: IntArray,
) -> Distribution | None:
    """The distribution of a published quasi-identifier, None where nothing is left to compare.

    Parameters
    ----------
    column, hierarchy, entry
        The attribute of the published records, and what the manifest says of it.
    cells, sizes
        What the groups show of it, and how many records they have.

    Notes
    -----
    Steps lie between ends of published ranges, or are published labels. A label spreads its
    records evenly: over its range, or over the values that it stands for.
    """
    shown = summed(cells.text_of_group, sizes, len(cells.texts))
    used = np.flatnonzero(shown)
    if not 1 < len(used) <= _MOST_LABELS:
        return None
    texts, held = [cells.texts[at] for at in used], shown[used]
    steps = _of_ranges(column, texts, held)
    if steps is None:
        steps = _of_labels(column, hierarchy, entry, texts, held)
    if steps is None or len(steps) < 2:
        return None
    return Distribution(column.name, tuple(steps))


def summed(
    places: IntArray, weights: npt.NDArray[np.integer] | FloatArray, many: int
) -> FloatArray:
    """What falls on each of `many` places, as real numbers."""
    return np.bincount(places, weights=weights.astype(np.float64), minlength=many).astype(
        np.float64
    )


def _of_ranges(
    column: Column, texts: Sequence[str | None], held: FloatArray
) -> list[DistributionBar] | None:
    """The steps between the ends of published ranges; None where labels are not all ranges."""
    if column.numbers is None:
        return None
    unit = 1 if column.kind == "date" else 10**column.decimals
    position = dict(zip(column.values, column.numbers.tolist(), strict=True))
    spans: list[tuple[int, int] | None] = []
    for text in texts:
        parsed = None if text is None else parse(text)
        if isinstance(parsed, Range) and parsed.dates == (column.kind == "date"):
            spans.append((int(parsed.low * Fraction(unit)), int(parsed.high * Fraction(unit))))
        elif isinstance(parsed, Plain) and parsed.text in position:
            spans.append((position[parsed.text], position[parsed.text] + 1))
        elif text is None or isinstance(parsed, Anything):
            spans.append(None)
        else:
            return None
    found = sorted({end for span in spans if span is not None for end in span})
    if len(found) < 2:
        return None
    cuts = np.array(found, dtype=np.int64)
    counts = column.counts()
    inside = np.searchsorted(cuts, column.numbers, side="right") - 1
    kept = (inside >= 0) & (inside < len(cuts) - 1)
    before = summed(inside[kept], counts[: len(column.values)][kept], len(cuts) - 1)
    after = np.zeros(len(cuts) - 1)
    widths = np.diff(cuts).astype(np.float64)
    for span, records in zip(spans, held, strict=True):
        if span is None:
            continue
        low, high = np.searchsorted(cuts, span)
        after[low:high] += records * widths[low:high] / (span[1] - span[0])
    everything = [
        span is None and text is not None for span, text in zip(spans, texts, strict=True)
    ]
    after += held[everything].sum() * widths / widths.sum()
    ends = _even(cuts)
    at = np.searchsorted(cuts, ends[:-1])
    before, after = np.add.reduceat(before, at), np.add.reduceat(after, at)
    steps = [
        DistributionBar(
            _between(column, ends[step], ends[step + 1]), float(before[step]), float(after[step])
        )
        for step in range(len(before))
    ]
    missing = np.array([text is None for text in texts])
    if column.missing or missing.any():
        steps.append(DistributionBar(MISSING, float(column.missing), float(held[missing].sum())))
    return steps


def _even(cuts: IntArray) -> IntArray:
    """Of the published ends those nearest to steps of one width, with the first and the last."""
    grid = np.linspace(float(cuts[0]), float(cuts[-1]), _STEPS + 1)
    right = np.clip(np.searchsorted(cuts, grid), 1, len(cuts) - 1)
    nearer = np.where(grid - cuts[right - 1] <= cuts[right] - grid, right - 1, right)
    found: IntArray = cuts[np.unique(np.concatenate(([0], nearer, [len(cuts) - 1])))]
    return found


def _between(column: Column, low: int, high: int) -> str:
    """The label of a step from one published end to another; of a single value just that."""
    low, high = int(low), int(high)
    if high - low > 1:
        return range_label(column, low, high)
    return format_date(low) if column.kind == "date" else format_number(low, column.decimals)


def _of_labels(
    column: Column,
    hierarchy: Hierarchy,
    entry: ManifestEntry,
    texts: Sequence[str | None],
    held: FloatArray,
) -> list[DistributionBar] | None:
    """A step for each label, with the values that no narrower published label stands for."""
    from incrowd.research.reading import LabelReader

    try:
        members = LabelReader(column, hierarchy, entry).members(texts)
    except InputError:
        return None
    if len(members.codes) > _MOST_MEMBERS:
        return None
    many = np.diff(members.offsets)
    label = np.repeat(np.arange(len(texts)), many)
    narrowest = np.full(column.cardinality, -1, dtype=np.int64)
    for at in np.argsort(-many, kind="stable"):
        narrowest[members.codes[members.offsets[at] : members.offsets[at + 1]]] = at
    expected = summed(members.codes, (held / many)[label], column.cardinality)
    known = narrowest >= 0
    before = summed(narrowest[known], column.counts()[known], len(texts))
    after = summed(narrowest[known], expected[known], len(texts))
    own = np.bincount(narrowest[known], minlength=len(texts))
    values = [*column.values, ""]
    names = []
    for at, text in enumerate(texts):
        codes = members.codes[members.offsets[at] : members.offsets[at + 1]]
        elsewhere = [values[code] for code in codes[narrowest[codes] != at]]
        names.append(_name(text, elsewhere, bool(own[at])))
    chosen = _largest(before, narrowest[known])
    others = np.ones(len(texts), dtype=np.bool_)
    others[chosen] = False
    if before[others].sum() > before.sum() / 2:
        return []  # labels without number: a picture of a few says nothing
    steps = [DistributionBar(names[at], float(before[at]), float(after[at])) for at in chosen]
    if before[others].sum() or after[others].sum():
        steps.append(
            DistributionBar(OTHERS, float(before[others].sum()), float(after[others].sum()))
        )
    return steps


def _name(text: str | None, elsewhere: Sequence[str], own: bool) -> str:
    """What a step stands for: its label without the values that narrower labels stand for."""
    if text is None:
        return MISSING
    parsed = parse(text)
    if isinstance(parsed, Members):
        left = [value for value in parsed.values if value not in elsewhere or not own]
        return ", ".join(value or MISSING for value in left)
    name = parsed.text if isinstance(parsed, Plain) else text
    return f"{name}, else" if elsewhere and own else name


def _largest(before: FloatArray, order: IntArray) -> list[int]:
    """The steps with most records, in the order of the values."""
    found = np.flatnonzero(before)
    most = set(found[np.argsort(-before[found], kind="stable")][:_MOST_CATEGORIES].tolist())
    return [at for at in dict.fromkeys(order.tolist()) if at in most]
