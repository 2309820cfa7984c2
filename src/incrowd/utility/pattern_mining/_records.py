"""The records that patterns are sought in: raw tables and releases, read into one shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from incrowd._runtime.arrays import IntArray
from incrowd.errors import InputError, ParameterError, nearest
from incrowd.hierarchies.labels import Plain
from incrowd.labels import Meaning
from incrowd.query.estimates import known_meanings
from incrowd.query.meanings import LabelColumn
from incrowd.query.published_columns import read_column
from incrowd.sources import describe, read
from incrowd.table.coding import number_text
from incrowd.utility.features import kind_of
from incrowd.utility.pattern_mining._features import CodedLabels
from incrowd.utility.pattern_mining.tree import Records
from incrowd.utility.published import Published, coded_cells, open_published

_ROLES = ("quasi", "sensitive", "target", "keep")


@dataclass(frozen=True)
class ClassedRecords:
    """Records with a class, and how many were left out for want of one."""

    records: Records
    kinds: Mapping[str, str]
    without_class: int


def open_table(
    table: Any, control: str, features: Sequence[str] | None, kinds: Mapping[str, str] | None = None
) -> ClassedRecords:
    """The records of a raw table; types are seen from its cells where they are not given."""
    if features is not None:
        frame = read(table, columns=[*_distinct(features, control), control])
    else:
        frame = read(table)
        if control not in frame.columns:
            near = nearest(control, frame.columns)
            raise InputError(f"No column '{control}' in {describe(table)}.{near}")
    names = [name for name in frame.columns if name != control]
    told = dict(kinds or {})
    for name in names:
        if name not in told:
            told[name] = kind_of(frame[name], {"role": "keep"})
    shown, classes = _told(frame, control, coded_cells(frame[control]).values, describe(table))
    columns = {name: _raw(shown[name], told[name]) for name in names}
    return ClassedRecords(
        Records(columns, classes[0], classes[1]), told, frame.height - shown.height
    )


def open_released(
    release: Any,
    control: str,
    features: Sequence[str] | None,
    hierarchies: Mapping[str, Meaning] | None,
) -> tuple[ClassedRecords, Published]:
    """The published records of a release, and the release."""
    published = open_published(release)
    given = known_meanings(published.entries, hierarchies)
    able = [name for name in published.of_role(*_ROLES) if name in published.frame.columns]
    _refuse_hidden(published, control, able)
    names = [name for name in able if name != control]
    if features is not None:
        names = _distinct(features, control)
        for name in names:
            if name not in able:
                near = nearest(name, able)
                raise InputError(f"The release has no '{name}' among its records.{near}")
    frame = published.frame.select([*names, control])
    kinds = {name: kind_of(frame[name], published.entries[name]) for name in [*names, control]}
    values = _exact_values(published, control, kinds[control], given.get(control))
    shown, classes = _told(frame, control, values, "The release")
    columns = {}
    for name in names:
        entry = {**published.entries[name], "type": kinds[name]}
        columns[name] = _labelled(shown[name], entry, given.get(name))
    records = Records(columns, classes[0], classes[1])
    return ClassedRecords(records, kinds, frame.height - shown.height), published


def refuse_unreadable(records: Records) -> None:
    """Refuse labels that do not tell their values: no raw rule can be asked of them."""
    for attribute in records.attributes.values():
        read_column(attribute.column).cells.refuse_unreadable()


def _raw(series: pl.Series, kind: str) -> CodedLabels:
    """A column of a raw table; dates written in whatever way as YYYY-MM-DD."""
    from incrowd.attacks.known_values import iso_dates

    cells = iso_dates(series) if kind == "date" else series
    return _labelled(cells.alias(series.name), {"role": "keep", "type": kind})


def _labelled(
    cells: pl.Series, entry: Mapping[str, Any], meaning: Meaning | None = None
) -> CodedLabels:
    column = coded_cells(cells)
    labels = LabelColumn(cells.name, column.values, column.missing > 0, entry, meaning)
    return CodedLabels(labels, column.codes.astype(np.int64))


def _told(
    frame: pl.DataFrame, control: str, values: Sequence[str | None], name: str
) -> tuple[pl.DataFrame, tuple[IntArray, tuple[str, ...]]]:
    """The records with a cell of the control attribute, and the class of each.

    `values` gives the value of each different cell, None where the cell stands for several.
    """
    column = coded_cells(frame[control])
    rows = np.flatnonzero(column.codes < len(column.values))
    names = sorted({number_text(value) for value in values if value is not None})
    if len(names) < 2:
        raise InputError(
            f"{name} shows {len(names)} value(s) of '{control}' exactly, so there is nothing to "
            "tell apart. Choose a control attribute with at least two, published as they are "
            "(role target, sensitive or keep, or a quasi-identifier that is not all generalized)."
        )
    place = {text: at for at, text in enumerate(names)}
    lookup = [-1 if value is None else place[number_text(value)] for value in values]
    classes = np.array([*lookup, -1], dtype=np.int64)[column.codes[rows]]
    return frame[rows], (classes, tuple(names))


def _exact_values(
    published: Published, control: str, kind: str, meaning: Meaning | None
) -> list[str | None]:
    """The value of each different cell of the control attribute, None where it is generalized."""
    column = published.column(control)
    labels = list(column.values)
    entry = published.entries[control]
    asked = LabelColumn(control, labels, column.missing > 0, {**entry, "type": kind}, meaning)
    if asked.writing.exact:
        return list(labels)
    cells = read_column(asked).cells
    sure = (cells.weight == 1) & ~cells.unreadable
    published_alone = replace(asked.writing, meaning=None)
    read = [published_alone.read(label, kind) for label in labels]
    return [
        found.text if sure[code] and isinstance(found, Plain) else None
        for code, found in enumerate(read)
    ]


def _refuse_hidden(published: Published, control: str, able: Sequence[str]) -> None:
    if control in able:
        return
    if control in published.entries:
        raise InputError(
            f"'{control}' is published apart from the records, so no tree can tell its values "
            "apart. Publish the release as generalized, or choose a control attribute beside them."
        )
    raise InputError(f"The release publishes no '{control}'.{nearest(control, able)}")


def _distinct(features: Sequence[str], control: str) -> list[str]:
    if isinstance(features, str) or not features:
        raise ParameterError("features must be a list of names of attributes.")
    if control in features:
        raise ParameterError(f"'{control}' is the control attribute, so it cannot be a feature.")
    return list(dict.fromkeys(features))
