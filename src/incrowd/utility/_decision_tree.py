"""A decision tree in the manner of C4.5: grown by information gain, pruned by expected error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd.utility.features import Matrix

CONFIDENCES = (0.001, 0.01, 0.03, 0.1, 0.25)
"""How sure pruning must be, from the smallest trees to those of C4.5's own setting."""
FEWEST_IN_LEAF = 5
_FOLDS = 3


@dataclass(frozen=True)
class PrunedTree:
    """A tree that predicts; `class_of_node` gives each node the class of what it was pruned to."""

    grown: Any
    class_of_node: IntArray
    confidence: float

    def predict(self, features: Matrix) -> IntArray:
        """The class of every record."""
        predicted: IntArray = self.class_of_node[self.grown.apply(features)]
        return predicted


def train_tree(features: Matrix, classes: IntArray, *, seed: int = 0) -> PrunedTree:
    """The pruned tree of these records; the pruning is chosen among them by cross-validation.

    Notes
    -----
    C4.5 is replaced by scikit-learn's tree (binary splits, entropy, leaves of at least 5 records)
    with C4.5's error-based pruning: a subtree becomes a leaf when the upper confidence limit of
    the leaf's error is no worse than those of its leaves together. C4.5 fixes the confidence at
    25 %; on features of single labels that leaves too large a tree, so it is chosen in three
    folds of the training records, the strongest pruning among equals. Cost: four trees are
    grown, each in O(features x records x log records) for each level.

    References
    ----------
    Quinlan (1993), C4.5: Programs for machine learning, chapter 4.

    Example
    -------
    >>> import numpy
    >>> features = numpy.arange(40, dtype=numpy.float32).reshape(-1, 1)
    >>> train_tree(features, numpy.repeat([0, 1], 20)).predict(features[[3, 35]]).tolist()
    [0, 1]
    """
    wrong = np.zeros(len(CONFIDENCES), dtype=np.int64)
    fold = _folds(classes, seed)
    for number in range(_FOLDS):
        inside, outside = fold != number, fold == number
        grown = _grow(features[inside], classes[inside], seed)
        node = grown.apply(features[outside])
        for at, confidence in enumerate(CONFIDENCES):
            wrong[at] += int((_pruned(grown, confidence)[node] != classes[outside]).sum())
    confidence = CONFIDENCES[int(np.argmin(wrong))]
    grown = _grow(features, classes, seed)
    return PrunedTree(grown, _pruned(grown, confidence), confidence)


def _grow(features: Matrix, classes: IntArray, seed: int) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(
        criterion="entropy", min_samples_leaf=FEWEST_IN_LEAF, random_state=seed
    )
    return tree.fit(features, classes)


def _folds(classes: IntArray, seed: int) -> IntArray:
    """The fold of every record, each class spread evenly over them."""
    shuffled = np.random.default_rng(seed).permutation(len(classes))
    by_class = shuffled[np.argsort(classes[shuffled], kind="stable")]
    fold = np.empty(len(classes), dtype=np.int64)
    fold[by_class] = np.arange(len(classes)) % _FOLDS
    return fold


def _pruned(grown: Any, confidence: float) -> IntArray:
    """The class that each node predicts once the tree is pruned.

    Nodes are numbered so that children come after their parent.
    """
    from scipy.special import betaincinv

    tree = grown.tree_
    size = np.asarray(tree.weighted_n_node_samples)
    right_ones = np.rint(tree.value[:, 0, :].max(axis=1) * size)
    limit = betaincinv(size - right_ones + 1, right_ones, 1 - confidence)
    expected: list[float] = (size * limit).tolist()
    left, right = tree.children_left.tolist(), tree.children_right.tolist()
    subtree, leaf = expected.copy(), [True] * len(expected)
    for node in range(len(expected) - 1, -1, -1):
        if left[node] >= 0:
            below = subtree[left[node]] + subtree[right[node]]
            if below < expected[node]:
                subtree[node], leaf[node] = below, False
    chosen: list[int] = grown.classes_[tree.value[:, 0, :].argmax(axis=1)].tolist()
    for node, inner in enumerate(left):
        if inner >= 0 and leaf[node]:
            for child in (inner, right[node]):
                chosen[child], leaf[child] = chosen[node], True
    return np.array(chosen, dtype=np.int64)
