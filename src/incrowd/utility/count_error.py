"""How far a count from a release may be off, attribute by attribute, told coarsely.

Invariant: it follows from the published labels, from how many records show each, and from the
manifest's entry: it is what anyone finds who asks the release.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from incrowd.errors import InputError
from incrowd.hierarchies.labels import Members, Plain
from incrowd.labels import LabelWriting
from incrowd.table.coding import code_column, format_date

STEPS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 10.0)
_MOST_RECORDS = 20_000


def count_error(entry: Mapping[str, Any], records: Mapping[str | None, int]) -> float | None:
    """Half the 95 % interval of a count over the count, rounded up to a step; 10 for all above 1.

    The condition is one that people ask: numbers and dates below the middle of the label that the
    middle record shows, other values equal to the most frequent one. None where no condition can
    be asked, for labels without their meaning or where nothing is shown.

    Parameters
    ----------
    entry
        The manifest's entry of the attribute.
    records
        How many records show each label, None the missing cells.
    """
    from incrowd.query.estimates import estimate

    condition = _condition(entry, records)
    if condition is None:
        return None
    try:
        found = estimate(_parts(entry, records), condition, {})
    except InputError:
        return None
    if found.exact:
        return 0.0
    off = (found.high - found.low) / 2 / max(found.count, 1)
    return next((step for step in STEPS if off <= step), STEPS[-1])


def told_error(error: float | None) -> str:
    """The error as people read it."""
    if error is None:
        return "-"
    if error == 0:
        return "exact"
    return "± more than 100 %" if error > 1 else f"± {100 * error:.0f} %"


def _parts(entry: Mapping[str, Any], records: Mapping[str | None, int]) -> Any:
    """A release of this one column; of many records a smaller one with the same shares."""
    import polars as pl

    from incrowd.published.parts import Parts

    whole = sum(records.values())
    shrunk = max(1.0, whole / _MOST_RECORDS)
    labels, many = list(records), [max(1, round(n / shrunk)) for n in records.values()]
    column = code_column(pl.Series("", labels, pl.String), role="keep", kind="category")
    codes = np.repeat(column.codes, many)
    name = str(entry["name"])
    manifest = {"attributes": [{**entry, "name": name, "published": True}]}
    group = np.zeros(len(codes), dtype=np.int64)
    columns = {name: replace(column, name=name, codes=codes)}
    return Parts("generalized", manifest, columns, group, np.array([len(codes)]), ())


def _condition(entry: Mapping[str, Any], records: Mapping[str | None, int]) -> str | None:
    name = '"' + str(entry["name"]).replace('"', '""') + '"'
    if entry.get("type") in ("numeric", "date"):
        cut = _middle(entry, records)
        if cut is None:
            return None
        day = format_date(int(cut)) if entry["type"] == "date" else _digits(cut)
        return f"{name} < '{day}'"
    writing, values = LabelWriting.of(entry), Counter[str]()
    for label, many in records.items():
        found = None if label is None else writing.read(label, entry.get("type"))
        if isinstance(found, Members):
            values.update(dict.fromkeys(found.values, many))
        elif isinstance(found, Plain):
            values[found.text] += many
    values.pop("", None)
    if not values:
        return None
    most = max(values, key=lambda value: (values[value], value))
    return f"{name} = '" + most.replace("'", "''") + "'"


def _middle(entry: Mapping[str, Any], records: Mapping[str | None, int]) -> Fraction | None:
    """The middle of the label of the middle record, by where labels begin."""
    writing, placed = LabelWriting.of(entry), []
    for label, many in records.items():
        span = None if label is None else writing.span(label, entry["type"])
        if span is not None:
            low, high = span
            placed.append(((low, low + (entry["type"] == "date") if high is None else high), many))
    half, below = sum(many for _, many in placed) / 2, 0
    for (low, high), many in sorted(placed):
        below += many
        if below >= half:
            middle = (low + high) / 2
            whole = entry["type"] == "date" or not entry.get("decimals")
            return Fraction(-(-middle // 1)) if whole else middle
    return None


def _digits(number: Fraction) -> str:
    """A number of finitely many decimals, as it is written."""
    return f"{float(number):.6f}" if number.denominator > 1 else str(int(number))
