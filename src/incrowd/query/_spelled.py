"""Conditions on protected values, which are asked for in any spelling.

A release has one spelling of each such value, perhaps not that of the source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from incrowd.labels import as_texts
from incrowd.query.conditions import BY_ORDER, Condition, Value
from incrowd.query.meanings import LabelColumn
from incrowd.table.spellings import folded


def as_shown(column: LabelColumn, conditions: Sequence[Condition]) -> list[Condition]:
    """The conditions with each value written as the column has it, where it has it.

    Invariant: a condition finds the same records whichever spelling of a value it is asked with.
    Numbers and dates are read, so they have no spellings.
    """
    if column.entry.get("type") in ("numeric", "date"):
        return list(conditions)
    texts = dict.fromkeys(column.labels)
    texts |= dict.fromkeys(
        t for values in (column.meaning or {}).values() for t in as_texts(values)
    )
    known: dict[str, list[str]] = {}
    for text in texts:
        known.setdefault(folded(text), []).append(text)
    return [_written(condition, known) for condition in conditions]


def _written(condition: Condition, known: Mapping[str, Sequence[str]]) -> Condition:
    by_order = condition.operator in BY_ORDER
    values: list[Value] = []
    for value in condition.values:
        texts = known.get(folded(value.text), [value.text])
        if by_order:  # an end is one value
            texts = [value.text if value.text in texts else texts[0]]
        values += [replace(value, text=text) for text in texts]
    return replace(condition, values=tuple(values))
