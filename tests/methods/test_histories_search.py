"""The search for histories: trees, and what it gives back."""

import numpy as np

from incrowd.hierarchies.base import assemble
from incrowd.methods.histories._problem import HIDDEN, Facts, Power, Problem, axis_of
from incrowd.methods.histories._search import search
from incrowd.table import Column


def column_of(*values: str) -> Column:
    codes = np.arange(len(values), dtype=np.uint8)
    return Column("code", "quasi", "category", codes, values)


def test_an_axis_leaves_out_nodes_that_tell_no_more_than_another() -> None:
    paths = [["A0", "A", "*"], ["A0", "A", "*"], ["B0", "B", "*"], ["C", "C", "*"], ["C", "C", "*"]]
    _, hierarchy = assemble(column_of("a", "b", "c", "d", "e"), "given", paths)
    axis = axis_of(hierarchy)
    labels = [hierarchy.labels[a][b] for a, b in zip(axis.level, axis.number, strict=True)]
    assert labels == ["*", "A0", "c", "C", "a", "b", "d", "e"]
    assert axis.parent.tolist() == [-1, 0, 0, 0, 1, 1, 3, 3]
    assert axis.leaf.tolist() == [4, 5, 2, 6, 7]
    assert axis.loss.tolist() == [1, 0.25, 0, 0.25, 0, 0, 0, 0]


def test_a_value_with_the_text_of_its_parent_is_its_parent() -> None:
    _, hierarchy = assemble(
        column_of("A", "A1", "B"), "given", [["A", "*"], ["A", "*"], ["B", "*"]]
    )
    axis = axis_of(hierarchy)
    labels = [hierarchy.labels[a][b] for a, b in zip(axis.level, axis.number, strict=True)]
    assert labels == ["*", "A", "B", "A1"]
    assert axis.leaf.tolist() == [1, 3, 2]


def test_a_column_with_one_value_keeps_its_root() -> None:
    _, hierarchy = assemble(column_of("a"), "given", [["*"]])
    axis = axis_of(hierarchy)
    assert axis.parent.tolist() == [-1, 0]
    assert axis.leaf.tolist() == [1]


def test_nodes_come_back_for_every_row_and_axis() -> None:
    _, hierarchy = assemble(column_of("a", "b"), "given", [["*"], ["*"]])
    facts = Facts(np.array([0, 0, 1]), (np.array([0, 1, 0]),), (axis_of(hierarchy),), events=True)
    (nodes,) = search(Problem(2, (facts,), (Power(L=1, K=2),)))
    assert nodes.shape == (3, 1)
    assert nodes[1, 0] == HIDDEN
