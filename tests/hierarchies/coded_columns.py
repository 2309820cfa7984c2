"""Small columns for hierarchies, and hierarchies as plain dictionaries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from incrowd.hierarchies import Hierarchy
from incrowd.table import Column
from incrowd.table.coding import code_column


def coded(
    cells: Sequence[Any], kind: Any = "category", *, order: Sequence[str] | None = None
) -> Column:
    """The quasi-identifier `ward` with these cells (None = missing)."""
    texts = [None if cell is None else str(cell) for cell in cells]
    series = pl.Series("ward", texts, dtype=pl.String)
    return code_column(series, role="quasi", kind=kind, order=order)


def cells(column: Column) -> list[str | None]:
    """The cells that the codes of a column stand for."""
    texts = [*column.values, None]
    return [texts[int(code)] for code in column.codes]


def paths(column: Column, hierarchy: Hierarchy) -> dict[str | None, tuple[str, ...]]:
    """The labels above every value, from level 1 to the root; missing under None."""
    values = [*column.values, *([None] if column.missing else [])]
    return {value: hierarchy.ancestors(code) for code, value in enumerate(values)}


def weighed(hierarchy: Hierarchy) -> list[dict[str, int]]:
    """Per level from 1 up: label -> how many values of the domain it stands for."""
    return [
        dict(zip(labels, (int(w) for w in weights), strict=True))
        for labels, weights in zip(hierarchy.labels[1:], hierarchy.weights[1:], strict=True)
    ]


def assert_is_a_tree(column: Column, hierarchy: Hierarchy) -> None:
    """What must hold of every hierarchy, whoever built it."""
    cardinality = max(column.cardinality, 1)
    assert hierarchy.node_of.shape == (hierarchy.height + 1, cardinality)
    assert hierarchy.node_of[0].tolist() == list(range(cardinality))
    assert len(hierarchy.labels[-1]) == 1, "one root"
    for level in range(hierarchy.height + 1):
        nodes = hierarchy.node_of[level]
        assert nodes[0] == 0, "numbered from 0"
        assert set(np.diff(nodes).tolist()) <= {0, 1}, "every node covers neighbouring codes"
        assert nodes[-1] + 1 == len(hierarchy.labels[level]) == len(hierarchy.weights[level])
        if level:
            below = hierarchy.node_of[level - 1]
            parents: dict[int, int] = {}
            for child, parent in zip(below.tolist(), nodes.tolist(), strict=True):
                assert parents.setdefault(child, parent) == parent, "nested"
    assert hierarchy.weights[-1].tolist() == [hierarchy.total]
    assert_losses_climb(hierarchy)


def assert_losses_climb(hierarchy: Hierarchy) -> None:
    """Losses lie in 0..1, start at 0, end at 1 (or 0 in a domain of one), and never fall."""
    losses = hierarchy.losses()
    assert ((losses >= 0) & (losses <= 1)).all()
    along = np.array([losses[level, nodes] for level, nodes in enumerate(hierarchy.node_of)])
    assert (along[0] == 0).all()
    assert (along[-1] == (1 if hierarchy.total > 1 else 0)).all()
    assert (np.diff(along, axis=0) >= 0).all()
