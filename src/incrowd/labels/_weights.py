"""How many values of its domain a published cell stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np

from incrowd._runtime.arrays import FloatArray
from incrowd._runtime.manifests import ManifestEntry
from incrowd.errors import InputError
from incrowd.hierarchies.labels import Anything, Members, Range, parse
from incrowd.labels._masks import MaskedTexts, as_mask
from incrowd.labels._reading import LabelWriting
from incrowd.table.coding import parse_date, parse_number


def domain_of(entry: ManifestEntry) -> int:
    """The number of values of an attribute's domain, as its manifest entry states it."""
    domain = entry.get("domain")
    if _is_count(domain):
        return domain
    raise InputError(
        f"The manifest states no domain of '{entry.get('name')}', so its loss cannot be "
        "measured. Make the release again with this version."
    )


def beside_original(
    entry: ManifestEntry, values: Sequence[str], *, missing: bool
) -> dict[str, Any]:
    """The entry with what the values of the original add: decimals, and a domain that holds them.

    A manifest counts only what its labels show; who compares a release with the table it was made
    from counts the steps and the values of that table, `missing` among them or not.
    """
    kind, shown = entry.get("type"), int(entry.get("missing") is True)
    stated, decimals = entry.get("domain") or 0, entry.get("decimals") or 0
    finer, own = decimals, len(values)
    made = entry.get("hierarchy") not in ("tree", "file")
    if kind in ("numeric", "date") and made:
        days = (parse_date(text) for text in values)
        numbers = (parse_number(text) for text in values)
        places = [(day, 0) for day in days if day is not None]
        if kind == "numeric":
            places = [number for number in numbers if number is not None]
        finer = max([decimals, *(place[1] for place in places)])
        steps = [digits * 10 ** (finer - many) for digits, many in places]
        own = max(steps) - min(steps) + 1 if steps else 0
    scale = 10 ** (finer - decimals)
    domain = max((stated - shown) * scale + shown, own + (missing or shown))
    found = {**entry, "decimals": finer, "domain": domain}
    if "weights" in entry:
        weights = {label: weight * scale for label, weight in entry["weights"].items()}
        weights.pop("*", None)
        if made and kind == "category":
            weights |= _behind_masks(list(weights), values)
            found["domain"] = own + (missing or shown)
        found["weights"] = weights
    return found


def _behind_masks(labels: Sequence[str], values: Sequence[str]) -> dict[str, int]:
    """How many of the values stand behind each mask among the labels, if any do."""
    texts, masks = MaskedTexts(values), {label: as_mask(label) for label in labels}
    many = {label: len(texts.behind(mask)) for label, mask in masks.items() if mask is not None}
    return {label: behind for label, behind in many.items() if behind}


def cell_weights(cells: Sequence[str | None], entry: ManifestEntry) -> FloatArray:
    """For each different cell of a column, how many values of the domain it stands for.

    A value or a missing cell 1, a range its width in steps of the column (days for dates), a set
    its members, `*` the domain, a hierarchy's label what the manifest says. Cells whose weight
    is unknown are an error that names the attribute and their number.
    """
    if LabelWriting.of(entry).exact:
        return np.ones(len(cells))
    weights = [_weight(cell, entry) for cell in cells]
    unknown = sum(weight is None for weight in weights)
    if unknown:
        raise InputError(
            f"Attribute '{entry.get('name')}': {unknown:,} of {len(cells):,} different labels have "
            "no known weight. The manifest must list the weights of its hierarchy's labels."
        )
    return np.array(weights, dtype=np.float64)


def cell_losses(cells: Sequence[str | None], entry: ManifestEntry) -> FloatArray:
    """NCP of each different cell: (weight - 1) / (domain - 1), from 0 to 1.

    A `*` loses all there is, also where nothing else is shown and no domain is known.
    """
    if entry.get("domain") is None and all(cell in (None, "*") for cell in cells):
        return np.array([float(cell is not None) for cell in cells])
    domain, weights = domain_of(entry), cell_weights(cells, entry)
    if domain == 1:
        return np.zeros(len(cells))
    return np.minimum(1.0, (weights - 1) / (domain - 1))


def _weight(cell: str | None, entry: ManifestEntry) -> float | None:
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


def _width(parsed: Range, entry: ManifestEntry) -> float | None:
    """The values in a range, None where the type of the attribute has no such ranges."""
    if entry.get("type") != ("date" if parsed.dates else "numeric"):
        return None
    decimals = 0 if parsed.dates else entry.get("decimals", 0)
    if not isinstance(decimals, int) or parsed.high <= parsed.low:
        return None
    return float((parsed.high - parsed.low) * 10**decimals)


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
