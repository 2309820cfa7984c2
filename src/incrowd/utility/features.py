"""Published cells as the features of a classifier: bounds of ranges, shares of values.

Only the different cells of a column are read, once; what depends on which records are the
training part (the domain behind `*`, the list of values, the rare ones that are joined) is fitted
on it alone, by `matrices`.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray
from incrowd.errors import SourceError
from incrowd.hierarchies.labels import Anything, Members, Plain
from incrowd.labels import LabelWriting, place_of
from incrowd.table.coding import looks_numeric, parse_date, parse_number
from incrowd.utility.published import coded_cells

Matrix = npt.NDArray[np.float32]

MOST_LABELS = 200
"""Of one attribute, the most frequent labels that have a feature of their own."""
_MOST_TOGETHER = 1_000
_FEWEST_LABELS = 10
_MISSING, _ANYTHING = "", "*"

Bounds = tuple[float, float]


def require_trees(what: str) -> None:
    """Refuse what needs scikit-learn, saying what to install, when that is absent."""
    try:
        importlib.import_module("sklearn.tree")
    except ImportError:
        raise SourceError(
            f'{what} scikit-learn, which is not installed: pip install "incrowd[evaluation]"'
        ) from None


@dataclass(frozen=True)
class _CellFeature:
    """What one cell says: the bounds of its number, its shares of values, or both."""

    bounds: Bounds | None = None
    shares: Mapping[str, float] | None = None


@dataclass(frozen=True)
class ReadColumn:
    """A column whose cells have been read: for each record the code of its cell.

    Cell c lies between low[c] and high[c], NaN where that is the whole domain, and has
    share[i] of the value key[i] wherever cell[i] is c.
    """

    name: str
    codes: IntArray
    low: FloatArray
    high: FloatArray
    cell: IntArray
    key: IntArray
    share: FloatArray
    keys: int


def read_attribute(series: pl.Series, kind: str, entry: Mapping[str, Any] | None) -> ReadColumn:
    """The attribute of a column; `entry` is the manifest's where cells are generalized labels.

    Numbers and dates have bounds: a range its own, a value itself and the next one, a set its
    least and its largest, `*` and a missing cell those of the whole domain. Missing cells, and
    labels that are no range, have an indicator of their own. Other attributes have shares of
    values: a value, a label of a hierarchy, `*` and missing one of themselves, a set an equal
    share of each member.
    """
    column = coded_cells(series)
    texts: list[str | None] = [*column.values, None]
    writing = LabelWriting("exact") if entry is None else LabelWriting.of(entry)
    if kind not in ("numeric", "date"):
        readings = [_category(text, writing) for text in texts]
    else:
        written = _written(column.values) if kind == "date" and entry is None else None
        decimals = (entry or {}).get("decimals")
        step = 10.0**-decimals if isinstance(decimals, int) else 1.0
        readings = [_ordered(text, kind, writing, step, written) for text in texts]
    numbers = {key: None for reading in readings for key in reading.shares or ()}
    place = {key: at for at, key in enumerate(sorted(numbers))}
    triples = [
        (cell, place[key], share)
        for cell, reading in enumerate(readings)
        for key, share in (reading.shares or {}).items()
    ]
    nowhere = (np.nan, np.nan)
    low, high = np.array([reading.bounds or nowhere for reading in readings]).T
    return ReadColumn(
        name=series.name,
        codes=column.codes.astype(np.int64),
        low=low,
        high=high,
        cell=np.array([cell for cell, _, _ in triples], dtype=np.int64),
        key=np.array([key for _, key, _ in triples], dtype=np.int64),
        share=np.array([share for _, _, share in triples], dtype=np.float64),
        keys=len(place),
    )


def kind_of(series: pl.Series, entry: Mapping[str, Any]) -> str:
    """The type of an attribute: the manifest's, or what the cells show where it was not asked.

    Columns that are kept are never typed by a policy that does not say so; their numbers and
    dates are numbers and dates all the same.
    """
    stated = str(entry.get("type", "category"))
    if entry.get("role") != "keep" or stated != "category":
        return stated
    texts = coded_cells(series).values
    if looks_numeric(texts) and len({parse_number(text) for text in texts}) == len(texts):
        return "numeric"
    return "date" if texts and all(parse_date(text) is not None for text in texts) else stated


def matrices(
    attributes: Sequence[ReadColumn], train: IntArray, test: IntArray
) -> tuple[Matrix, Matrix]:
    """The features of the training and of the test records, fitted on the training part alone.

    Without any attribute there is one constant feature.

    Notes
    -----
    Four bytes a record and feature, and at most about 1,000 features of labels in all: the most
    frequent of each attribute, at most 200, have one each, and the others share one.
    """
    labelled = sum(attribute.keys > 0 for attribute in attributes)
    most = max(_FEWEST_LABELS, min(MOST_LABELS, _MOST_TOGETHER // max(labelled, 1)))
    tables = [fit(attribute, train, most) for attribute in attributes]
    return _gather(attributes, tables, train), _gather(attributes, tables, test)


def fit(attribute: ReadColumn, train: IntArray, most: int = MOST_LABELS) -> Matrix:
    """The features of every different cell of an attribute, as the training records define them.

    First the lower bound and, unless it follows from the lower one, the upper; then the shares of
    the `most` frequent values, and of all others together where there are more. A value that no
    training record has counts with the others, or not at all.
    """
    counts = np.bincount(attribute.codes[train], minlength=len(attribute.low))
    blocks = [*_bound_features(attribute, counts > 0), *_share_features(attribute, counts, most)]
    if not blocks:
        return np.empty((len(attribute.low), 0), dtype=np.float32)
    return np.column_stack(blocks).astype(np.float32)


def _bound_features(attribute: ReadColumn, seen: BoolArray) -> list[FloatArray]:
    bounded = seen & ~np.isnan(attribute.low)
    if not bounded.any():
        return []
    low = np.where(np.isnan(attribute.low), attribute.low[bounded].min(), attribute.low)
    high = np.where(np.isnan(attribute.high), attribute.high[bounded].max(), attribute.high)
    pairs = np.unique(np.column_stack([low[seen], high[seen]]), axis=0)
    follows = len(np.unique(pairs[:, 0])) == len(pairs)
    return [low] if follows else [low, high]


def _share_features(attribute: ReadColumn, counts: IntArray, most: int) -> list[FloatArray]:
    weights = np.bincount(
        attribute.key, weights=attribute.share * counts[attribute.cell], minlength=attribute.keys
    )
    known = np.flatnonzero(weights > 0)
    order = known[np.argsort(-weights[known], kind="stable")]
    width = min(len(order), most)
    if not width:
        return []
    joined = len(order) > most
    column = np.full(attribute.keys, width, dtype=np.int64)
    column[order[:width]] = np.arange(width)
    table = np.zeros((len(attribute.low), width + 1))
    np.add.at(table, (attribute.cell, column[attribute.key]), attribute.share)
    return [table if joined else table[:, :width]]


def _gather(attributes: Sequence[ReadColumn], tables: Sequence[Matrix], rows: IntArray) -> Matrix:
    width = sum(table.shape[1] for table in tables)
    matrix = np.zeros((len(rows), max(width, 1)), dtype=np.float32)
    begin = 0
    for attribute, table in zip(attributes, tables, strict=True):
        end = begin + table.shape[1]
        matrix[:, begin:end] = table[attribute.codes[rows]]
        begin = end
    return matrix


def _category(text: str | None, writing: LabelWriting) -> _CellFeature:
    """What a cell of any other attribute says."""
    if text is None:
        return _CellFeature(shares={_MISSING: 1.0})
    found = writing.read(text, "category")
    if isinstance(found, Anything):
        return _CellFeature(shares={_ANYTHING: 1.0})
    if isinstance(found, Members) and text not in writing.general:
        return _CellFeature(shares=_equal_shares(found))
    return _CellFeature(shares={_own(found.text if isinstance(found, Plain) else text): 1.0})


def _ordered(
    text: str | None, kind: str, writing: LabelWriting, step: float, written: str | None
) -> _CellFeature:
    """What a cell of a number or date says."""
    if text is None:
        return _CellFeature(shares={_MISSING: 1.0})
    found = writing.read(text, kind)
    if isinstance(found, Anything):
        return _CellFeature()
    if isinstance(found, Members):
        return _members(found, kind, step)
    span = writing.span(text, kind, written)
    if span is None:
        return _CellFeature(shares={_own(text): 1.0})
    low, high = span
    return _CellFeature((float(low), float(low) + step if high is None else float(high)))


def _members(parsed: Members, kind: str, step: float) -> _CellFeature:
    """The least and the largest member of a set, and its shares of those that have no place."""
    places = [_value(member, kind, step, None) for member in parsed.values]
    known = [place for place in places if place is not None]
    shares = {
        key: share
        for (key, share), place in zip(_equal_shares(parsed).items(), places, strict=True)
        if place is None
    }
    if not known:
        return _CellFeature(None, shares)
    return _CellFeature((min(low for low, _ in known), max(high for _, high in known)), shares)


def _equal_shares(parsed: Members) -> dict[str, float]:
    each = 1 / len(parsed.values)  # the members of a set differ
    return {_own(member) if member else _MISSING: each for member in parsed.values}


def _value(text: str, kind: str, step: float, written: str | None) -> Bounds | None:
    """A number or day and the next one, None where the text is neither."""
    place = place_of(text, kind, written)
    return None if place is None else (float(place), float(place) + step)


def _written(values: Sequence[str]) -> str | None:
    """The format of the dates of an original, None for YYYY-MM-DD."""
    from incrowd.table.date_formats import date_format

    found = date_format(pl.Series(list(values), dtype=pl.String))
    return None if found is None or found.is_iso else found.format


def _own(text: str) -> str:
    """The key of a value or label, apart from those of `*` and missing."""
    return "=" + text
