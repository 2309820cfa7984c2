"""Recursive partitioning: the buckets of records in which one class leads by far.

The tree is grown by information gain, which is the likelihood-ratio test of a split. From the root
down, the first node that is pure enough is a bucket and is not parted further.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray
from incrowd._runtime.plain_fields import plain, plain_fields
from incrowd.utility.pattern_mining._features import CodedLabels, Feature, features_of
from incrowd.utility.pattern_mining._rules import (
    RuleCondition,
    RuleConditions,
    rule_text,
    surely,
    tidied,
)


@dataclass(frozen=True)
class Records:
    """Records with their classes: `classes[r]` is a number of `names`, -1 where it is not told."""

    attributes: Mapping[str, CodedLabels]
    classes: IntArray
    names: tuple[str, ...]

    @property
    def size(self) -> int:
        """How many records there are."""
        return len(self.classes)

    def chance(self, rule: RuleConditions) -> FloatArray:
        """For each record the chance that it satisfies a rule, `perhaps` left out of the rule.

        1 where it surely does, 0 where it surely does not, as far as its cells tell.
        """
        found = np.ones(self.size)
        for name in dict.fromkeys(condition.attribute for condition in rule):
            attribute = self.attributes[name]
            asked = [condition for condition in rule if condition.attribute == name]
            found *= attribute.chances(asked)[attribute.codes]
        return found


@dataclass(frozen=True)
class BucketLimits:
    """What makes a bucket: how many records, how pure, after how many conditions."""

    size: int
    purity: float
    depth: int


@dataclass(frozen=True)
class Bucket:
    """A pattern: records under a rule, most of them of one class."""

    rule: RuleConditions
    leading: str
    records: int
    purity: float
    """The share of the records that have the leading class."""
    sure: int
    """The records that surely satisfy the rule; all of them in a raw table."""
    sure_purity: float | None
    """The share of these that have the leading class, None when there are none."""

    @property
    def text(self) -> str:
        """The rule as a person reads it."""
        return rule_text(self.rule)

    def as_dict(self) -> dict[str, Any]:
        """The bucket for JSON."""
        return {
            "rule": self.text,
            "conditions": plain(self.rule),
            "class": self.leading,
            **plain_fields(self, without=("rule", "leading")),
        }


def find_buckets(records: Records, limits: BucketLimits) -> tuple[Bucket, ...]:
    """The buckets of a table, the largest first.

    Notes
    -----
    Binary splits by entropy, both sides with at least as many records as a bucket. Of two nodes on
    one path only the upper one is a bucket. A class that is not told never leads and counts against
    purity. O(features x records x log records) for each level; 4 bytes a record and feature.

    Example
    -------
    >>> import numpy
    >>> from incrowd.query.meanings import LabelColumn
    >>> age = LabelColumn("age", ["20", "30", "40", "50"], False, {"type": "numeric"})
    >>> codes = numpy.arange(40) % 4
    >>> labels = {"age": CodedLabels(age, codes)}
    >>> records = Records(labels, (codes > 1).astype(int), ("n", "y"))
    >>> [(each.text, each.leading) for each in find_buckets(records, BucketLimits(5, 0.95, 3))]
    [('age < 31', 'n'), ('age >= 31', 'y')]
    """
    features = [
        feature
        for attribute in records.attributes.values()
        for feature in features_of(attribute, limits.size)
    ]
    if not features or records.size < 2 * limits.size:
        return ()
    matrix = np.empty((records.size, len(features)), dtype=np.float32)
    for at, feature in enumerate(features):
        matrix[:, at] = feature.by_label[records.attributes[feature.attribute].codes]
    nodes = _Splitting(records, features, matrix).pure_nodes(limits)
    found = [_bucket(records, rows, rule) for rows, rule in nodes]
    return tuple(sorted(found, key=lambda each: (-each.records, each.text)))


@dataclass(frozen=True)
class _Splitting:
    """The records of a table with each feature of each of them, by which they are split."""

    records: Records
    features: Sequence[Feature]
    matrix: npt.NDArray[np.float32]

    def pure_nodes(self, limits: BucketLimits) -> Iterator[tuple[IntArray, list[RuleCondition]]]:
        """The uppermost nodes in which one class leads: their records and conditions."""
        from sklearn.tree import DecisionTreeClassifier

        classifier = DecisionTreeClassifier(
            criterion="entropy", random_state=0, max_depth=limits.depth,
            min_samples_leaf=limits.size,
        )  # fmt: skip
        tree = classifier.fit(self.matrix, self.records.classes).tree_
        everyone = np.arange(self.records.size)
        whole = _shares(self.records, everyone)
        waiting: list[tuple[int, IntArray, list[RuleCondition]]] = [(0, everyone, [])]
        while waiting:
            node, rows, rule = waiting.pop()
            share = _shares(self.records, rows)
            leading = int(share.argmax())
            # What the whole table shows as well is no pattern.
            if rule and share[leading] >= limits.purity and share[leading] > whole[leading]:
                yield rows, rule
            elif tree.children_left[node] >= 0:
                at = int(tree.feature[node])
                right = self.matrix[rows, at] > tree.threshold[node]
                sides = self._sides(rows, right, at)
                waiting.append((int(tree.children_left[node]), rows[~right], [*rule, sides[0]]))
                waiting.append((int(tree.children_right[node]), rows[right], [*rule, sides[1]]))

    def _sides(
        self, rows: IntArray, right: BoolArray, chosen: int
    ) -> tuple[RuleCondition, RuleCondition]:
        """What the records on the left and on the right satisfy, in the surest words.

        Several features may part the records of a node in one way: the one is taken whose
        conditions more sides surely satisfy, the tree's own choice among equals.
        """
        best: tuple[RuleCondition, RuleCondition] | None = None
        for at in (chosen, *(at for at in range(len(self.features)) if at != chosen)):
            numbers, feature = self.matrix[rows, at], self.features[at]
            one, other = numbers[~right], numbers[right]
            if one.max() < other.min():
                left_side, right_side = feature.sides(float(one.max()), float(other.min()))
            elif other.max() < one.min():
                right_side, left_side = feature.sides(float(other.max()), float(one.min()))
            else:
                continue
            found = (
                _settled(self.records, rows[~right], left_side),
                _settled(self.records, rows[right], right_side),
            )
            if best is None or sum(s.sure for s in found) > sum(s.sure for s in best):
                best = found
            if best[0].sure and best[1].sure:
                break
        assert best is not None
        return best


def _settled(records: Records, rows: IntArray, condition: RuleCondition) -> RuleCondition:
    """The condition as a sure one where all these records surely satisfy it."""
    attribute = records.attributes[condition.attribute]
    sure = surely(attribute.chances([condition]))[attribute.codes[rows]]
    return replace(condition, sure=bool(sure.all()))


def _bucket(records: Records, rows: IntArray, conditions: Sequence[RuleCondition]) -> Bucket:
    """The bucket of a node; conditions that all its records surely satisfy are written so."""
    settled = [_settled(records, rows, condition) for condition in conditions]
    rule = tidied(settled)
    share = _shares(records, rows)
    leading = int(share.argmax())
    certain = np.flatnonzero(surely(records.chance(rule)))
    return Bucket(
        rule=rule,
        leading=records.names[leading],
        records=len(rows),
        purity=float(share[leading]),
        sure=len(certain),
        sure_purity=float(_shares(records, certain)[leading]) if len(certain) else None,
    )


def _shares(records: Records, rows: IntArray) -> FloatArray:
    """The share of each class among some records, those of no told class among them."""
    told = records.classes[rows]
    counts = np.bincount(told[told >= 0], minlength=len(records.names))
    return counts / max(len(rows), 1)
