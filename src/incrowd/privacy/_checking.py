"""Any table judged by a privacy model, with no policy and no method: grouped, counted, measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl
from pydantic import ValidationError

from incrowd._runtime.validation_messages import explain_validation
from incrowd.counts import MemoryCounts
from incrowd.errors import InputError, ParameterError, nearest
from incrowd.hierarchies import Hierarchy, build
from incrowd.hierarchies.description import AttributePolicy
from incrowd.privacy._measurement import Measurement
from incrowd.privacy.base import PrivacyModel
from incrowd.privacy.counting.joint import with_joint
from incrowd.sources import describe, read
from incrowd.table import Column, Kind, MemoryTable
from incrowd.table.coding import code_column


def check_frame(
    model: PrivacyModel,
    frame: object,
    *,
    quasi: Sequence[str],
    kinds: Mapping[str, Any] | None = None,
) -> Measurement:
    """What a model measures on a table whose records are grouped by quasi-identifiers.

    Parameters
    ----------
    model
        The model, with its parameters.
    frame
        A pandas, polars or Arrow frame, or a path.
    quasi
        The columns by which records are grouped. Cells are compared as they are written, a
        missing one is a value of its own: so released labels may be judged, and raw values too.
    kinds
        What a column is, where the data do not show it: its type, or a mapping with `type`,
        `order`, `format` and `hierarchy` as in a policy, such as
        `{"grade": {"order": ["low", "high"]}, "illness": {"hierarchy": {"tree": {…}}}}`.

    Raises
    ------
    InputError
        A column is not there, a description in `kinds` is not legal, or the frame is not a table.
    """
    grouped, counted = _names(quasi), list(model.sensitive_attributes)
    asked = {name: _described(name, what) for name, what in (kinds or {}).items()}
    table = read(frame)
    _refuse_unknown([*grouped, *counted, *asked], table.columns, describe(frame))
    columns, hierarchies = [], {}
    for name in dict.fromkeys([*grouped, *counted]):
        column, hierarchy = _coded(table.get_column(name), asked.get(name), seen=name in counted)
        columns.append(column)
        if hierarchy is not None:
            hierarchies[name] = hierarchy
    by_name = {column.name: column for column in columns}
    coded = MemoryTable(tuple(columns), table.height, describe(frame))
    _, joint = with_joint(coded, [model])
    bound = model.bind({**by_name, **joint}, hierarchies)
    coded = replace(coded, columns=(*columns, *joint.values()))
    histograms = bound.counted_attributes
    counts = MemoryCounts(coded, grouped, histograms)
    found = counts.frequency_set(dict.fromkeys(grouped), sensitive=histograms)
    return bound.measure_set(found, by_name)


def _names(quasi: Sequence[str]) -> list[str]:
    """The quasi-identifiers, each once."""
    if isinstance(quasi, str) or not all(isinstance(name, str) for name in quasi):
        raise ParameterError('quasi: must be a list of column names, as in ["age", "sex"].')
    if not len(quasi):
        raise ParameterError("quasi: must name at least one column by which records are grouped.")
    return list(dict.fromkeys(quasi))


def _described(name: str, what: object) -> AttributePolicy:
    """What `kinds` says of a column, checked as a policy is."""
    described = {"type": what} if isinstance(what, str) else what
    if isinstance(described, AttributePolicy):
        return described
    if not isinstance(described, Mapping):
        raise ParameterError(
            f"kinds: '{name}' must be a type such as numeric, or a mapping with type, order, "
            "format or hierarchy."
        )
    try:
        return AttributePolicy.model_validate({"role": "sensitive", **described})
    except ValidationError as error:
        place = f"kinds: '{name}'"
        raise ParameterError(explain_validation(error, AttributePolicy, place)) from None


def _refuse_unknown(wanted: Sequence[str], present: Sequence[str], source: str) -> None:
    for name in wanted:
        if name not in present:
            raise InputError(f"No column '{name}' in {source}.{nearest(name, present)}")


def _coded(
    series: pl.Series, asked: AttributePolicy | None, *, seen: bool
) -> tuple[Column, Hierarchy | None]:
    """The coded column, in the order of its hierarchy if it was given one.

    Invariant: grouping needs no type. Only sensitive values, which may lie in an order, are
    looked at (`seen`); other cells are told apart by their text, as an attacker would.
    """
    asked = asked or AttributePolicy(role="sensitive")
    kind: Kind | None = asked.type
    if kind is None and asked.order is None and not seen:
        kind = "category"
    column = code_column(
        series,
        role="sensitive" if seen else "quasi",
        kind=kind,
        order=asked.order,
        date_format=asked.format,
    )
    return (column, None) if asked.hierarchy is None else build(column, asked.hierarchy)
