"""Tables that hospitals anonymized apart, brought to labels that all of them share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.errors import InputError
from incrowd.federation.run._generalize_then_integrate import IntegratedTable, one_table
from incrowd.hierarchies import Hierarchy
from incrowd.hierarchies.labels import plain_label
from incrowd.methods.geometry import shown_labels
from incrowd.policy import as_policy
from incrowd.policy.units import ROW
from incrowd.sources import read

if TYPE_CHECKING:
    import polars as pl

    from incrowd.policy import Policy
    from incrowd.table import Column

LabelMap = dict[str | None, str | None]
"""By the label that a hospital shows (None: missing) the one that all show."""


def with_common_labels(
    integrated: IntegratedTable,
    frames: Sequence[Any],
    policy: Policy | Mapping[str, Any] | str | Path,
) -> IntegratedTable:
    """The same records with one label for each value, whichever hospital they are from.

    Parameters
    ----------
    integrated
        What `generalize_then_integrate` made of `frames` under `policy`.
    frames, policy
        Where the hierarchies are from: an analyst who has these needs no records.

    Raises
    ------
    InputError
        Labels are not nodes of a hierarchy: numbers without one have ranges that overlap, and
        some methods show sets.

    Notes
    -----
    A label becomes the highest label above it that some hospital shows: if one shows Janitor and
    another Blue-collar, both show Blue-collar. So values can be compared and counted over all
    hospitals, at the price that the coarsest cut wins everywhere. Labels of a value lie on one path
    to the root, so the highest is well defined, and no finer labels would be the same for all.

    Invariant: for every attribute the new label follows from the old one. Crowds are joined, never
    parted, so what held of all crowds (see `generalize_then_integrate`) still holds. Cost: one pass
    over the different values of every attribute, and one sort of the records.

    Example
    -------
    >>> import polars
    >>> from incrowd.federation.run._generalize_then_integrate import generalize_then_integrate
    >>> policy = {
    ...     "attributes": {"job": {"role": "quasi", "hierarchy": {"tree": {
    ...         "Blue-collar": ["Janitor", "Mover"], "White-collar": ["Lawyer", "Doctor"]}}}},
    ...     "privacy": [{"k-anonymity": {"k": 2}}],
    ...     "method": "top-down-specialization",
    ... }
    >>> north = polars.DataFrame({"job": ["Mover", "Mover", "Janitor", "Janitor"]})
    >>> south = polars.DataFrame({"job": ["Mover", "Janitor", "Lawyer", "Doctor"]})
    >>> apart = generalize_then_integrate([north, south], policy)
    >>> with_common_labels(apart, [north, south], policy).data["job"].unique().sort().to_list()
    ['Blue-collar', 'White-collar']
    """
    import polars as pl

    from incrowd.engines.preparation import prepare

    # Each hospital looked at its own identifiers; two may number their patients alike.
    asked = as_policy(policy).model_copy(update={"unit": ROW})
    prepared = prepare((read(frame, **asked.text_options) for frame in frames), asked)
    new = {}
    for name in integrated.quasi:
        column, hierarchy = prepared.table[name], prepared.hierarchies[name]
        if shown_labels(column, hierarchy, asked.method.label_mode) != "hierarchy":
            raise InputError(
                f"The labels of '{name}' are not those of a hierarchy, so hospitals share none. "
                "Give it a `hierarchy:` in the policy, and take a method that shows its labels."
            )
        new[name] = common_labels(column, hierarchy, integrated.data[name])
    parts = tuple(
        part.with_columns(
            pl.col(name).replace_strict(list(labels), list(labels.values()), return_dtype=pl.String)
            for name, labels in new.items()
        )
        for part in integrated.parts
    )
    return replace(integrated, data=one_table(parts), parts=parts)


def common_labels(column: Column, hierarchy: Hierarchy, shown: pl.Series) -> LabelMap:
    """For every label in `shown`, the highest of them that lies on its path to the root."""
    present = set(shown.unique().to_list())
    highest: LabelMap = {}
    for code in range(column.cardinality):
        missing = code == column.missing_code
        first = None if missing else plain_label(column.values[code])
        above = hierarchy.ancestors(code)
        if missing:  # it has no label of its own below the root
            above = above[-1:]
        held = [label for label in (first, *above) if label in present]
        highest.update(dict.fromkeys(held, held[-1] if held else None))
    strange = present - set(highest)
    if strange:
        raise InputError(
            f"{len(strange)} label(s) of '{shown.name}' are not in its hierarchy. The table was "
            "made under another policy, or from other records."
        )
    return highest
