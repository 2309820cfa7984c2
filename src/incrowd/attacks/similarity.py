"""Similarity: what a group gives away although its values differ, and how far it is from the table.

Three things that finding a person's group may tell: the value (all are the same), the category of
it (they differ, but are all of one kind), or that some value is more likely than in the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray
from incrowd._runtime.plain_fields import plain_fields
from incrowd.attacks.categories import (
    Given,
    ValueCategories,
    hierarchy_levels,
    listed_categories,
    promised_categories,
)
from incrowd.attacks.targets import Target, code_as_seen, code_as_text, columns_of, require_columns
from incrowd.errors import InputError, ParameterError
from incrowd.table import Column
from incrowd.table.packing import distinct_rows, distinct_rows_of
from incrowd.table.people import HeldByPatients

_SLACK = 1e-9


@dataclass(frozen=True)
class SimilarLevel:
    """How many records are in groups whose values lie under one node of a level."""

    level: int
    """1 is the level above the values."""
    nodes: int
    records: int


@dataclass(frozen=True)
class Similarity:
    """What groups tell of one sensitive attribute; see `similarity`."""

    target: str
    sensitive: str
    quasi: tuple[str, ...]
    records: int
    groups: int
    homogeneous: int
    """Records in groups that have one value."""
    categories_from: str | None
    """`given`, `manifest` or `hierarchy`; None without categories."""
    similar: int | None
    """Records in groups whose values are all of one category, the homogeneous ones among them."""
    by_category: tuple[int, ...]
    """The same by category, in the order of the categories: usually the most sensitive first."""
    levels: tuple[SimilarLevel, ...]
    """The same by every level of the hierarchy, if there is one."""
    threshold: float
    skewed: int
    """Records in groups where some value is at least `threshold` times as frequent as overall."""
    gained: int
    """Those of them whose own value is one that is so frequent."""
    largest_gain: float
    """The largest share of a value in a group over its share in the table."""
    average_gain: float
    """The same for a record's own value, averaged over records; 1 where groups tell nothing."""
    one: str = "record"
    """`record` or `patient`: what one of those that are counted is."""
    several: bool = False
    """Patients have several values, and what is said of groups with one value or one category is of
    those all of whose patients have one in common; `average_gain` is averaged over the values of
    all patients."""

    def as_dict(self) -> dict[str, Any]:
        """The result for JSON; what is counted, `records` or `patients`, is called so."""
        return plain_fields(self, without=("one",), names={"records": f"{self.one}s"})

    def one_sentence(self) -> str:
        """The result in one sentence for people."""
        group = "groups all of whom have" if self.several else "groups with"
        found = f"{_many(self.homogeneous)} in {group} one value of '{self.sensitive}'"
        if self.several:
            found += " in common"
        if self.similar is not None:
            found = (
                f"{_many(self.similar)} in groups whose values of '{self.sensitive}' are all of "
                "one category"
            )
            if self.several:
                found = (
                    f"{_many(self.similar)} in groups all of whom have values of "
                    f"'{self.sensitive}' of one category"
                )
            if self.homogeneous:
                found += f", {self.homogeneous:,} of them with one value"
        return (
            f"Of {self.records:,} {self.one}s, {found}; a value is up to {self.largest_gain:.3g} "
            "times as frequent in a group as in the table."
        )


def similarity(
    target: Any,
    *,
    sensitive: str,
    categories: Given | None = None,
    hierarchy: Any = None,
    level: int | None = None,
    quasi: Sequence[str] | None = None,
    threshold: float = 2.0,
) -> Similarity:
    """How many records have their value, or its category, told by the group they are in.

    The attacker has found the group of a person by the quasi-identifiers.

    Parameters
    ----------
    target
        A release of any kind, the folder of one, or a file or frame.
    sensitive
        The attribute that is asked about.
    categories
        Lists of values, or a mapping of values to categories; '' or None stands for missing cells.
        Of a release that promises l-alpha-diversity of the attribute, its categories by default.
    hierarchy
        Instead of categories: a hierarchy of the attribute as a policy writes it (the path of a
        file, `{"tree": …}`, `{"intervals": …}`); its nodes are the categories.
    level
        The level of the hierarchy that `similar` and `by_category` are about, 1 by default; all
        levels are counted in any case.
    quasi
        The columns that the attacker knows. Of a release, its quasi-identifiers by default; in a
        release of several tables the groups are given, and none may be named.
    threshold
        How many times as frequent as in the table a value must be in a group to count, above 1.

    Notes
    -----
    A missing cell is a value of its own. The gain of a value in a group is its share there over its
    share in the table: what finding the group adds to what the table tells of everyone. Small
    groups gain on some value by chance alone: with two records, each of the two values is half the
    group. `gained` and `average_gain` are about the value that the person has, so a group in which
    all values are as likely counts little.

    A group of l distinct values is of one category only where a category has l values or more: no
    similarity is left once l exceeds the largest category.

    Of an attribute of events a patient has a set of values, and each value is judged by itself:
    shares are those of the patients of a group who have it. A patient is in a homogeneous group
    where all of its patients have one value in common, in a similar one where all have values of
    one category, whatever others they have.

    Cost: one sort of the records, then linear in the different values of groups.

    References
    ----------
    Sun, Li, Wang (2010), A family of enhanced (l, alpha)-diversity models for privacy preserving
    data publishing, sections 1.1 and 5 (similarity); Machanavajjhala et al. (2006), l-diversity
    (homogeneity); Li, Li, Venkatasubramanian (2007), t-closeness (skewness).

    Example
    -------
    >>> import polars
    >>> patients = polars.DataFrame({
    ...     "ward": ["A", "A", "B", "B"], "disease": ["HIV", "Cancer", "Cancer", "Flu"]
    ... })
    >>> kinds = [["HIV", "Cancer"], ["Flu"]]
    >>> found = similarity(patients, quasi=["ward"], sensitive="disease", categories=kinds)
    >>> found.homogeneous, found.similar, found.by_category
    (0, 2, (2, 0))
    """
    _refuse_bad_numbers(level, threshold)
    if not isinstance(sensitive, str):
        raise ParameterError("sensitive: must be the name of one attribute.")
    if categories is not None and hierarchy is not None:
        raise ParameterError("Give categories or a hierarchy, not both.")
    if level is not None and hierarchy is None:
        raise ParameterError("level: is one of a hierarchy; give that too.")
    opened, names, _ = columns_of(target, quasi, None if quasi is None else [sensitive])
    if sensitive in names or opened.entries_of_events.get(sensitive, {}).get("role") == "quasi":
        raise InputError(
            f"'{sensitive}' is a quasi-identifier of {opened.name}: the attacker knows it. Name "
            "a sensitive attribute."
        )
    require_columns(opened, names, [sensitive])
    opened.refuse_named_groups(quasi)
    held = _held(opened, names, sensitive)
    entry = opened.entries.get(sensitive, {})
    levels, origin, chosen = [], None, None
    if hierarchy is not None:
        levels, origin = hierarchy_levels(held.column, hierarchy, entry.get("type")), "hierarchy"
        chosen = _chosen(levels, level or 1, sensitive)
    else:
        given, origin = categories, "given"
        if given is None:
            given, origin = promised_categories(opened.manifest, sensitive), "manifest"
        chosen = None if given is None else listed_categories(held.column, given)
    similar, by_category = (None, ()) if chosen is None else held.alike(chosen)
    gains = held.gains()
    frequent = gains >= threshold - _SLACK
    highest = np.zeros(len(held.sizes))
    np.maximum.at(highest, held.group, gains)
    return Similarity(
        target=opened.name,
        sensitive=sensitive,
        quasi=tuple(names),
        records=held.records,
        groups=len(held.sizes),
        homogeneous=held.homogeneous(),
        categories_from=None if chosen is None else origin,
        similar=similar,
        by_category=tuple(map(int, by_category)),
        levels=tuple(
            SimilarLevel(number, each.number, held.alike(each)[0])
            for number, each in enumerate(levels, start=1)
        ),
        threshold=float(threshold),
        skewed=int(held.sizes[highest >= threshold - _SLACK].sum()),
        gained=held.holders(frequent),
        largest_gain=float(gains.max()),
        average_gain=float((gains * held.counts).sum() / held.counts.sum()),
        one=opened.one,
        several=held.people is not None,
    )


@dataclass(frozen=True)
class _HeldValues:
    """The values of groups: `counts[i]` records of `group[i]` hold the value with code `value[i]`.

    A group has each of its values once. Where a patient may have several, `people` says who has
    which, and `group_of` the group of each patient.
    """

    column: Column
    group: IntArray
    value: IntArray
    counts: IntArray
    sizes: IntArray
    people: HeldByPatients | None = None
    group_of: IntArray | None = None

    @property
    def records(self) -> int:
        return int(self.sizes.sum())

    def gains(self) -> FloatArray:
        """For each value of a group its share there over its share in the table."""
        total = np.bincount(self.value, weights=self.counts, minlength=self.column.cardinality)
        inside = self.counts * float(self.records)
        return inside / (self.sizes[self.group] * total[self.value])

    def homogeneous(self) -> int:
        """How many records are in groups with one value; patients, with one in common."""
        if self.people is None:
            return int(self.sizes[np.bincount(self.group) == 1].sum())
        return _in_common(self.group, self.counts, self.sizes)

    def holders(self, of_group: BoolArray) -> int:
        """How many records hold some of the values of groups."""
        if self.people is None or self.group_of is None:
            return int(self.counts[of_group].sum())
        pairs, cardinality = self.people, self.column.cardinality
        chosen = self.group[of_group] * cardinality + self.value[of_group]
        theirs = self.group_of[pairs.patient] * cardinality + pairs.code
        return len(np.unique(pairs.patient[np.isin(theirs, chosen)]))

    def alike(self, categories: ValueCategories) -> tuple[int, IntArray]:
        """How many records are in groups with one category, and how many by category.

        Of patients with several values, in groups all of whom have values of one; a group may count
        for several categories then.
        """
        alone = self._of_one(categories)
        by_category = (alone * self.sizes).sum(axis=1).astype(np.int64)
        return int(self.sizes[alone.any(axis=0)].sum()), by_category

    def _of_one(self, categories: ValueCategories) -> BoolArray:
        """For each category and group whether the group is of that one."""
        groups, number = len(self.sizes), categories.number
        if self.people is not None and self.group_of is not None:
            kind = categories.of_code[self.people.code]
            one_each = np.unique(self.people.patient * number + kind)
            whose, of_kind = one_each // number, one_each % number
            place = of_kind * groups + self.group_of[whose]
            having = np.bincount(place, minlength=groups * number)
            all_have: BoolArray = having.reshape(number, groups) == self.sizes
            return all_have
        of_value = categories.of_code[self.value]
        low, high = np.full(groups, number), np.full(groups, -1)
        np.minimum.at(low, self.group, of_value)
        np.maximum.at(high, self.group, of_value)
        found = np.zeros((number, groups), dtype=np.bool_)
        alone = np.flatnonzero(low == high)
        found[low[alone], alone] = True
        return found


def _in_common(group: IntArray, counts: IntArray, sizes: IntArray) -> int:
    """How many patients are in groups all of whom have one value in common."""
    return int(sizes[np.unique(group[counts == sizes[group]])].sum())


def _held(target: Target, quasi: Sequence[str], sensitive: str) -> _HeldValues:
    people = target.held(sensitive)
    if people is not None:
        known = [code_as_text(target.frame[name]) for name in quasi]
        number, _ = distinct_rows_of(known, target.frame.height)
        of_patient = number.astype(np.int64)
        sizes = np.bincount(of_patient).astype(np.int64)
        found, values, counts = people.in_groups(of_patient, len(sizes))
        return _HeldValues(people.column, found, values, counts, sizes, people, of_patient)
    if target.parts is None:
        code = code_as_seen if target.manifest is None else code_as_text
        known = [code(target.frame[name]) for name in quasi]
        records = target.frame.height
        number, _ = distinct_rows_of(known, records)
        group, held = number.astype(np.int64), np.ones(records, dtype=np.int64)
        column = code(target.frame[sensitive], sensitive=True)
    else:
        table = target.table_apart(sensitive)
        group, held, column = table.group, table.counts, table.columns[sensitive]
    sizes = np.bincount(group, weights=held).astype(np.int64)
    pair, first = distinct_rows(
        [group, column.codes], [len(sizes), column.cardinality], len(column.codes)
    )
    counts = np.bincount(pair, weights=held).astype(np.int64)
    return _HeldValues(column, group[first], column.codes[first].astype(np.int64), counts, sizes)


def _chosen(levels: Sequence[ValueCategories], level: int, sensitive: str) -> ValueCategories:
    if level > len(levels):
        raise ParameterError(
            f"level: is {level}, but the hierarchy of '{sensitive}' has only {len(levels)} "
            "level(s) between the values and the top."
        )
    return levels[level - 1]


def _refuse_bad_numbers(level: object, threshold: object) -> None:
    whole = isinstance(level, int) and not isinstance(level, bool)
    if level is not None and not (whole and level >= 1):  # type: ignore[operator]
        raise ParameterError(f"level: must be a whole number of at least 1, got {level!r}.")
    number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
    if not (number and 1 < threshold < float("inf")):  # type: ignore[operator]
        raise ParameterError(f"threshold: must be a number above 1, got {threshold!r}.")


def _many(records: int) -> str:
    return "none is" if not records else "1 is" if records == 1 else f"{records:,} are"
