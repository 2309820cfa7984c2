"""Categories of sensitive values as an attacker sees them: listed, promised, or of a hierarchy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd._runtime.manifests import Manifest
from incrowd.attacks.targets import code_as_seen, code_as_text
from incrowd.errors import HierarchyError, ParameterError, nearest
from incrowd.hierarchies import build
from incrowd.privacy import MODELS
from incrowd.privacy.parameters import Means
from incrowd.table.spellings import folded

if TYPE_CHECKING:
    from incrowd.policy import HierarchyPolicy
    from incrowd.table import Column

Given = Mapping[Any, Any] | Sequence[Sequence[Any]]
"""The category of each value, or the values of each category; None or '' for missing cells."""

_BY_TEXT = ("file", "tree", "mask")


@dataclass(frozen=True)
class ValueCategories:
    """So many categories, and the number of the category of every code of a column."""

    number: int
    of_code: IntArray


def listed_categories(column: Column, given: Given) -> ValueCategories:
    """The categories that are given for the values of a column.

    They are numbered in the order of the lists, or as the mapping first names them. A value without
    one is refused; values are counted, never named.
    """
    category = _of_mapping(given) if isinstance(given, Mapping) else _of_lists(given)
    number = len(given) if not isinstance(given, Mapping) else len(set(category.values()))
    texts = [folded(text) for text in _texts(column)]
    uncovered = [text for text in texts if text not in category]
    if uncovered:
        told = " Missing cells are one of them; name them ''." if "" in uncovered else ""
        raise ParameterError(
            f"categories: {len(uncovered):,} value(s) of '{column.name}' are in no category. Put "
            f"every value into one.{told}"
        )
    return ValueCategories(number, np.array([category[text] for text in texts], dtype=np.int64))


def promised_categories(manifest: Manifest | None, attribute: str) -> Given | None:
    """The categories of an attribute in the first promise of a manifest that has some."""
    for promise in (manifest or {}).get("promises", ()):
        parameters, model = promise.get("parameters", {}), MODELS.get(str(promise.get("model")))
        if model is None or parameters.get("sensitive") != attribute:
            continue
        for name, means in model.means().items():
            if means is Means.CATEGORIES and parameters.get(name) is not None:
                lists: Given = parameters[name]
                return lists
    return None


def hierarchy_levels(column: Column, hierarchy: object, kind: object) -> list[ValueCategories]:
    """The nodes of every level between the values and the root, as categories of a column.

    `hierarchy` is written as in a policy, `kind` the type of the attribute in a manifest. A missing
    cell is a node of its own.
    """
    import polars as pl

    asked = _asked(hierarchy)
    # The values alone, one row each, so that rows of the tree are rows of the column's dictionary.
    series = pl.Series(column.name, [text or None for text in _texts(column)], dtype=pl.String)
    by_text = any(getattr(asked, name) is not None for name in _BY_TEXT)
    numeric = kind == "numeric" and asked.mask is None
    code = code_as_seen if numeric or not by_text else code_as_text
    values, tree = build(code(series, sensitive=True), asked)
    if tree.height < 2:
        raise HierarchyError(
            f"The hierarchy of '{column.name}' has no level between its values and the top, so it "
            "tells no categories."
        )
    return [
        ValueCategories(len(tree.labels[level]), tree.node_of[level][values.codes])
        for level in range(1, tree.height)
    ]


def policy_hierarchy(policy: str | Path, attribute: str) -> HierarchyPolicy:
    """The hierarchy that a policy file gives to an attribute, its file found from anywhere."""
    from incrowd.policy import Policy

    read = Policy.from_file(Path(policy))
    if attribute not in read.attributes:
        raise ParameterError(
            f"{Path(policy).name} has no attribute '{attribute}'."
            f"{nearest(attribute, list(read.attributes))}"
        )
    asked = read.attributes[attribute].hierarchy
    if asked is None:
        raise ParameterError(
            f"{Path(policy).name} gives '{attribute}' no hierarchy. Give it one (`hierarchy:`), or "
            "list the categories of its values."
        )
    if asked.file is None:
        return asked
    return asked.model_copy(update={"file": str(read.base / asked.file)})


def _asked(hierarchy: object) -> HierarchyPolicy:
    from pydantic import ValidationError

    from incrowd.policy import AttributePolicy

    if isinstance(hierarchy, Path):
        hierarchy = str(hierarchy)
    try:
        asked = AttributePolicy.model_validate({"role": "sensitive", "hierarchy": hierarchy})
    except ValidationError as error:
        told = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise ParameterError(f"hierarchy: {told}.") from None
    assert asked.hierarchy is not None
    return asked.hierarchy


def _texts(column: Column) -> list[str]:
    """The text of every code, empty for the code of missing cells."""
    return [*column.values, *([""] if column.missing else [])]


def _of_mapping(given: Mapping[Any, Any]) -> dict[str, int]:
    numbers: dict[str, int] = {}
    return {
        _key(value): numbers.setdefault(_text(label), len(numbers))
        for value, label in given.items()
    }


def _of_lists(given: object) -> dict[str, int]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise ParameterError(
            "categories: must be lists of values, the most sensitive first, as in "
            "[['HIV', 'Cancer'], ['Flu']], or the category of each value, as in {'HIV': 'secret'}."
        )
    category: dict[str, int] = {}
    for number, values in enumerate(given):
        if isinstance(values, str) or not isinstance(values, Sequence):
            raise ParameterError(
                f"categories: category {number + 1} must be a list of values, as in "
                "['HIV', 'Cancer']."
            )
        for value in values:
            if category.setdefault(_key(value), number) != number:
                raise ParameterError(
                    f"categories: a value of category {number + 1} stands in an earlier one too. "
                    "List each value once."
                )
    return category


def _key(value: object) -> str:
    """The key of a value: an attacker takes its spellings for one."""
    return folded(_text(value))


def _text(value: object) -> str:
    return "" if value is None else str(value)
