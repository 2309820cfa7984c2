"""How many values of its domain a published cell stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from incrowd.errors import InputError
from incrowd.hierarchies.labels import Anything, Members, Range, parse

FloatArray = npt.NDArray[np.float64]


def domain_of(entry: Mapping[str, Any]) -> int:
    """The number of values of an attribute's domain, as its manifest entry states it."""
    domain = entry.get("domain")
    if _is_count(domain):
        return domain
    raise InputError(
        f"The manifest states no domain of '{entry.get('name')}', so its loss cannot be "
        "measured. Make the release again with this version."
    )


def cell_weights(cells: Sequence[str | None], entry: Mapping[str, Any]) -> FloatArray:
    """For each different cell of a column, how many values of the domain it stands for.

    A value or a missing cell 1, a range its width in steps of the column (days for dates), a set
    its members, `*` the domain, a hierarchy's label what the manifest says. Cells whose weight
    is unknown are an error that names the attribute and their number.
    """
    weights = [_weight(cell, entry) for cell in cells]
    unknown = sum(weight is None for weight in weights)
    if unknown:
        raise InputError(
            f"Attribute '{entry.get('name')}': {unknown:,} of {len(cells):,} different labels have "
            "no known weight. The manifest must list the weights of its hierarchy's labels."
        )
    return np.array(weights, dtype=np.float64)


def cell_losses(cells: Sequence[str | None], entry: Mapping[str, Any]) -> FloatArray:
    """NCP of each different cell: (weight - 1) / (domain - 1), from 0 to 1."""
    domain, weights = domain_of(entry), cell_weights(cells, entry)
    if domain == 1:
        return np.zeros(len(cells))
    return np.minimum(1.0, (weights - 1) / (domain - 1))


def _weight(cell: str | None, entry: Mapping[str, Any]) -> float | None:
    if cell is None:
        return 1
    by_hierarchy = entry.get("labels") == "hierarchy"
    known = entry.get("weights")
    if by_hierarchy and isinstance(known, Mapping) and cell in known:
        return float(known[cell]) if _is_count(known[cell]) else None
    parsed = parse(cell)
    if isinstance(parsed, Anything):
        return domain_of(entry)
    if isinstance(parsed, Members):
        return len(parsed.values)
    if isinstance(parsed, Range):
        return _width(parsed, entry)
    escaped = cell.startswith("\\")
    return 1 if escaped or not by_hierarchy or isinstance(known, Mapping) else None


def _width(parsed: Range, entry: Mapping[str, Any]) -> float | None:
    """The values in a range, None where the type of the attribute has no such ranges."""
    if entry.get("type") != ("date" if parsed.dates else "numeric"):
        return None
    decimals = 0 if parsed.dates else entry.get("decimals", 0)
    if not isinstance(decimals, int) or parsed.high <= parsed.low:
        return None
    return float((parsed.high - parsed.low) * 10**decimals)


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
