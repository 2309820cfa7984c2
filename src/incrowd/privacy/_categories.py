"""Categories of sensitive values: how a policy gives them, what they weigh, and their counts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from incrowd._runtime.arrays import IntArray
from incrowd._runtime.sentences import listed
from incrowd.counts.groups import Histogram
from incrowd.errors import ParameterError
from incrowd.privacy.parameters import VALUE_SCHEMA
from incrowd.table.spellings import folded

if TYPE_CHECKING:
    from incrowd.hierarchies import Hierarchy

LARGEST = 1 << 62
"""Whole numbers stay below this, so that they and their sums fit into 64 bits."""
_DENSE = 64

_TEXTS = {"type": "array", "items": VALUE_SCHEMA}
CATEGORIES_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"type": "array", "items": _TEXTS, "minItems": 2},
        {
            "type": "object",
            "properties": {
                "level": {"type": "integer", "minimum": 1},
                "order": {**_TEXTS, "minItems": 2},
            },
            "required": ["level", "order"],
            "additionalProperties": False,
        },
    ]
}
"""Categories in a policy file; numbers and truth values are taken as they are written."""
WEIGHTS_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"const": "uniform"},
        {
            "type": "object",
            "properties": {"sensitivity": {"type": "number", "minimum": 1}},
            "required": ["sensitivity"],
            "additionalProperties": False,
        },
    ]
}
"""The weights of categories in a policy file."""


class _StrictPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class CategoryLevel(_StrictPart):
    """Categories by the labels of a level of the attribute's hierarchy, most sensitive first."""

    level: int
    order: list[str]


class SensitivityWeights(_StrictPart):
    """Weights whose steps shrink from the most sensitive category on, as 1 / i^sensitivity."""

    sensitivity: float


def legal_categories(value: object) -> object:
    """Lists of values, or a level with the order of its labels; a ValueError for anything else."""
    if isinstance(value, CategoryLevel):
        return value
    if isinstance(value, Mapping):
        return _legal_level(value)
    if isinstance(value, list):
        return _legal_lists(value)
    raise ValueError(
        "must be lists of values, the most sensitive first, as in [[HIV, Cancer], [Flu]], or a "
        "level of the attribute's hierarchy, as in {level: 1, order: [Secret, Public]}"
    )


def legal_weights(value: object) -> object:
    """`uniform`, or a sensitivity of at least 1; a ValueError for anything else."""
    if value == "uniform" or isinstance(value, SensitivityWeights):
        return value
    beta = value.get("sensitivity") if isinstance(value, Mapping) and len(value) == 1 else None
    if not isinstance(beta, int | float) or isinstance(beta, bool) or not 1 <= beta < math.inf:
        raise ValueError("must be uniform, or {sensitivity: beta} with a number of at least 1")
    return {"sensitivity": beta}


def lists_of_level(
    asked: CategoryLevel, attribute: str, values: Sequence[str], hierarchy: Hierarchy | None
) -> list[list[str]]:
    """The values under each label of a level of the attribute's hierarchy, in the order asked for.

    Raises a ParameterError where the hierarchy has no such level, or where a label of it that
    covers values is not in the order; labels are counted, never named, for they may be values.
    """
    if hierarchy is None or hierarchy.kind == "flat":
        raise ParameterError(
            f"categories by level need a hierarchy of '{attribute}'. Give it one, or list the "
            "values of each category."
        )
    if asked.level > hierarchy.height:
        raise ParameterError(
            f"categories: level is {asked.level}, but the hierarchy of '{attribute}' has only "
            f"{hierarchy.height} level(s) above the values."
        )
    labels = hierarchy.labels[asked.level]
    lists: dict[str, list[str]] = {label: [] for label in asked.order}
    left_out = set(labels) - set(lists)
    if left_out:
        told = "" if "" not in left_out else " Missing cells have a label of their own, ''."
        raise ParameterError(
            f"categories: {len(left_out)} of the {len(set(labels))} labels at level {asked.level} "
            f"that cover values of '{attribute}' are not in the order. List all of them, the most "
            f"sensitive first.{told}"
        )
    for value, node in zip(values, hierarchy.node_of[asked.level], strict=True):
        lists[labels[node]].append(value)
    return list(lists.values())


def weight_parts(number: int, beta: float) -> list[int] | list[float]:
    """The weights of so many categories, as parts of the last one, which weighs 1.

    They rise from 0 in steps that are to each other as 1, 1/2^beta, 1/3^beta and so on; all are
    equal with a beta of 0. Where beta is whole and they are not too large they are whole numbers,
    so that comparisons are exact.

    Example
    -------
    >>> weight_parts(4, 0), weight_parts(4, 2)
    ([0, 1, 2, 3], [0, 36, 45, 49])
    """
    if float(beta).is_integer() and (beta <= 64 or number == 2):
        unit = math.lcm(*range(1, number)) ** int(beta)
        if unit * number < LARGEST:
            return [0, *accumulate(unit // i ** int(beta) for i in range(1, number))]
    return [0.0, *accumulate(float(i) ** -beta for i in range(1, number))]


def by_category(histogram: Histogram, category_of: IntArray, number: int) -> Histogram:
    """The histogram of the categories of values, group by group."""
    groups = len(histogram.offsets) - 1
    keys = histogram.groups * number + category_of[histogram.values]
    if number <= _DENSE:
        dense = np.bincount(keys, weights=histogram.counts, minlength=groups * number)
        found = np.flatnonzero(dense)
        counts = dense[found]
    else:
        found, place = np.unique(keys, return_inverse=True)
        counts = np.bincount(place, weights=histogram.counts, minlength=len(found))
    filled = np.bincount(found // number, minlength=groups)
    total = np.bincount(category_of, weights=histogram.total, minlength=number)
    return Histogram(
        np.concatenate(([0], np.cumsum(filled))),
        found % number,
        counts.astype(np.int64),
        number,
        total.astype(np.int64),
    )


def _legal_lists(value: list[Any]) -> list[Any]:
    """Categories as lists of values, of which none stands twice."""
    for number, each in enumerate(value, start=1):
        if not isinstance(each, list) or not all(isinstance(text, str) for text in each):
            raise ValueError(f"category {number} must be a list of values, as in [HIV, Cancer]")
    if len(value) < 2:
        raise ValueError("at least two categories are needed, the most sensitive first")
    times = Counter(text for each in value for text in each)
    places = Counter(key for each in value for key in {folded(text) for text in each})
    twice = [text for text, often in times.items() if often > 1 or places[folded(text)] > 1]
    if twice:
        raise ValueError(f"{listed(twice)} stands twice; list each value once, in one category")
    return value


def _legal_level(value: Mapping[Any, Any]) -> dict[str, Any]:
    """A level of a hierarchy and the order of its labels, of which none stands twice."""
    level, order = value.get("level"), value.get("order")
    if set(value) != {"level", "order"}:
        raise ValueError("needs `level` and `order`, as in {level: 1, order: [Secret, Public]}")
    if not isinstance(level, int) or isinstance(level, bool) or level < 1:
        raise ValueError("level must be a whole number of at least 1, the level above the values")
    if not isinstance(order, list) or not all(isinstance(text, str) for text in order):
        raise ValueError("order must be a list of the labels of that level, most sensitive first")
    if len(order) < 2 or len(set(order)) < len(order):
        raise ValueError("order must list two or more different labels, the most sensitive first")
    return {"level": level, "order": order}
