"""Elimination: what is left of a person's values once an attacker has ruled some of them out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd._runtime.manifests import counts_rows
from incrowd._runtime.plain_fields import plain_fields
from incrowd._runtime.sentences import listed
from incrowd.attacks.targets import Target, code_as_seen, code_as_text, columns_of
from incrowd.errors import InputError, ParameterError
from incrowd.published.opened import as_release, is_release
from incrowd.published.originals import original_records
from incrowd.sources import SourceLike, describe
from incrowd.table import Column
from incrowd.table.packing import distinct_rows, distinct_rows_of

MOST_VALUES = 10
"""More values ruled out than this are refused: the search for them grows with every value."""


@dataclass(frozen=True)
class AttributeElimination:
    """How many records are left with one value of a sensitive attribute: their own."""

    name: str
    average_values: float
    """Different values of the attribute in the group of a record, averaged over records."""
    exposed_at_once: int
    """Nothing is ruled out: the group of the record has no other value."""
    exposed_single: int
    """Only values of this attribute are ruled out."""
    exposed_multi: int
    """Values of any of the sensitive attributes are ruled out."""


@dataclass(frozen=True)
class Elimination:
    """What an attacker learns who rules out values; see `eliminate`.

    The counts without an attribute are of records exposed in at least one of them.
    """

    target: str
    records: int
    groups: int
    values: int
    """How many values of a person the attacker can rule out."""
    quasi: tuple[str, ...]
    joint: bool
    """Whether the target shows which values of several attributes belong together. Where it does
    not (anatomy), ruling out a value of one attribute tells nothing of another."""
    exposed_at_once: int
    exposed_single: int
    exposed_multi: int
    attributes: tuple[AttributeElimination, ...]
    one: str = "record"
    """`record` or `patient`: what one of those that are counted is."""

    def as_dict(self) -> dict[str, Any]:
        """The result for JSON; what is counted, `records` or `patients`, is called so."""
        return plain_fields(self, without=("one",), names={"records": f"{self.one}s"})

    def one_sentence(self) -> str:
        """The result in one sentence for people."""
        many = "none" if self.exposed_multi == 0 else f"{self.exposed_multi:,}"
        what = "1 value" if self.values == 1 else f"{self.values} values"
        verb = "loses" if self.exposed_multi < 2 else "lose"
        return (
            f"Of {self.records:,} {self.one}s, {many} {verb} all but one value of a sensitive "
            f"attribute to someone who rules out {what}; {self.exposed_at_once:,} had no other."
        )


class BeforeAfter(NamedTuple):
    """The same attack on the original file and on the release made of it."""

    before: Elimination
    after: Elimination


def eliminate(
    target: Any,
    *,
    values: int = 1,
    quasi: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
) -> Elimination:
    """How many records lose all but one sensitive value to someone who rules out a few.

    The attacker has found the group of a person by the quasi-identifiers, and knows of up to
    `values` sensitive values that they are not the person's. A value ruled out removes all records
    of the group that hold it. The record of a person is exposed in an attribute when some choice
    of so many values leaves the person's own value of it alone.

    Parameters
    ----------
    target
        A release of any kind, the folder of one, or a file or frame.
    values
        How many values the attacker can rule out, from 1 to 10.
    quasi
        The columns that the attacker knows. Of a release, its quasi-identifiers by default; in a
        release of several tables the groups are given, and none may be named.
    sensitive
        The attributes that are asked about and that values are ruled out of. Of a release, its
        sensitive attributes by default.

    Notes
    -----
    Attributes of events, of which a patient has several values, are refused; of a release they are
    left out where others are sensitive.

    A person's own values are never ruled out, and a missing cell is a value of its own. For values
    of any attribute the answer is a minimum set cover for each distinct row of a group and each
    attribute, decided exactly; `incrowd.attacks._elimination_loops` says how. Cost: a sort of the
    records, then for groups of s records and m attributes about m^2 s steps for each record at
    most, and where the bounds tell nothing a search of up to m^`values` nodes.

    A group in which at least l values of any of these attributes must be deleted to delete all
    records (multi-sensitive l) exposes nobody to l - 2 values: those that remove all records with
    another value, and that value, would delete the group with l - 1. In the same way l distinct
    values of an attribute expose nobody to l - 2 values of that attribute.

    References
    ----------
    Gal, Chen, Gangopadhyay (2008), A privacy protection model for patient data with multiple
    sensitive attributes, section 1 (the attack, on figure 1).

    Example
    -------
    >>> import polars
    >>> patients = polars.DataFrame({
    ...     "ward": ["A"] * 4,
    ...     "disease": ["Heart", "Heart", "Flu", "Stomach"],
    ...     "treatment": ["Medicine", "Surgery", "IV", "IV"],
    ... })
    >>> found = eliminate(patients, quasi=["ward"], sensitive=["disease", "treatment"])
    >>> found.exposed_single, found.exposed_multi
    (0, 4)
    """
    if isinstance(values, bool) or not isinstance(values, int) or not 1 <= values <= MOST_VALUES:
        raise ParameterError(
            f"values: must be a whole number from 1 to {MOST_VALUES}, got {values!r}. The search "
            "grows with every value more that is ruled out."
        )
    opened, names, apart = columns_of(target, quasi, sensitive)
    opened.refuse_named_groups(quasi)
    of_events = [name for name in apart if opened.held(name) is not None]
    if sensitive is None and len(of_events) < len(apart):
        apart = [name for name in apart if name not in of_events]
    elif of_events:
        raise InputError(
            f"{listed(of_events)}: patients have several values, so that none is left alone when "
            "others are ruled out: this attack asks for one value of each patient. What all "
            "patients of a group have in common tells --similarity (in Python "
            "incrowd.attacks.similarity)."
        )
    if not apart:
        raise InputError(
            f"{opened.name[0].upper()}{opened.name[1:]} has no sensitive attribute. Name the "
            "columns whose values must not become known with `sensitive`."
        )
    tables = _held(opened, names, apart)
    sizes = tables[0].group_sizes
    different = np.column_stack([each for table in tables for each in table.different()])
    at_once, single = different == 1, different - 1 <= values
    if len(tables) == 1 and len(apart) > 1:
        multi, weights = tables[0].exposed_jointly(values, single), tables[0].counts
    else:
        multi, weights = single, sizes
    return Elimination(
        target=opened.name,
        records=int(sizes.sum()),
        groups=len(sizes),
        values=values,
        quasi=tuple(names),
        joint=opened.parts is None or opened.parts.kind != "anatomy",
        exposed_at_once=_records(at_once, sizes),
        exposed_single=_records(single, sizes),
        exposed_multi=_records(multi, weights),
        attributes=tuple(
            AttributeElimination(
                name,
                float((different[:, at] * sizes).sum() / sizes.sum()),
                _records(at_once[:, [at]], sizes),
                _records(single[:, [at]], sizes),
                _records(multi[:, [at]], weights),
            )
            for at, name in enumerate(apart)
        ),
        one=opened.one,
    )


def eliminate_before_after(
    release: Any, original: SourceLike, *, values: int = 1, sensitive: Sequence[str] | None = None
) -> BeforeAfter:
    """The attack on the file that a release was made of, and on the release.

    The original needs the quasi-identifiers and sensitive attributes of the release, under the
    same names, and of patients with several rows what tells these apart; nothing else is read of
    it.
    """
    after = eliminate(release, values=values, sensitive=sensitive)
    asked = [each.name for each in after.attributes]
    manifest = as_release(release).manifest if is_release(release) else {}
    if not counts_rows(manifest):
        before = eliminate(original, values=values, quasi=after.quasi, sensitive=asked)
        return BeforeAfter(before, after)
    known = original_records(original, list(dict.fromkeys([*after.quasi, *asked])), manifest).frame
    before = eliminate(known, values=values, quasi=after.quasi, sensitive=asked)
    return BeforeAfter(replace(before, one=after.one, target=describe(original)), after)


def _records(exposed: BoolArray, weights: IntArray) -> int:
    """How many records lie in rows that are exposed in at least one attribute."""
    return int(weights[exposed.any(axis=1)].sum())


@dataclass(frozen=True)
class _HeldRows:
    """The distinct rows of sensitive values of every group, rows of a group together.

    `counts` records hold each row; a row is of the group with that number in `group`.
    """

    codes: list[IntArray]
    cardinalities: list[int]
    group: IntArray
    counts: IntArray
    group_sizes: IntArray

    def different(self) -> list[IntArray]:
        """For each attribute, how many different values each group has."""
        found = []
        for codes, cardinality in zip(self.codes, self.cardinalities, strict=True):
            _, first = distinct_rows(
                [self.group, codes], [len(self.group_sizes), cardinality], len(codes)
            )
            found.append(np.bincount(self.group[first], minlength=len(self.group_sizes)))
        return found

    def exposed_jointly(self, most: int, alone: BoolArray) -> BoolArray:
        """For each row and attribute, whether ruling out values of any attribute exposes it."""
        from incrowd.attacks._elimination_loops import exposed_jointly

        begins = np.cumsum([0, *self.cardinalities])
        values = np.column_stack(self.codes) + begins[:-1]
        rows = np.bincount(self.group, minlength=len(self.group_sizes))
        offsets = np.concatenate(([0], np.cumsum(rows)))
        return exposed_jointly(offsets, values, int(begins[-1]), most, alone)


def _held(target: Target, quasi: Sequence[str], sensitive: Sequence[str]) -> list[_HeldRows]:
    """The rows of values: one table of all attributes, or one of each (anatomy)."""
    if target.parts is None:
        code = code_as_seen if target.manifest is None else code_as_text
        known = [code(target.frame[name]) for name in quasi]
        number, _ = distinct_rows_of(known, target.frame.height)
        ones = np.ones(target.frame.height, dtype=np.int64)
        columns = [code(target.frame[name], sensitive=True) for name in sensitive]
        return [_collapsed(columns, number, ones, int(number.max()) + 1)]
    groups = len(target.parts.group_sizes)
    tables = [target.table_apart(name) for name in sensitive]
    if target.parts.kind == "anatomy":
        return [
            _collapsed([table.columns[name]], table.group, table.counts, groups)
            for name, table in zip(sensitive, tables, strict=True)
        ]
    (table,) = target.parts.apart
    return [_collapsed([table.columns[n] for n in sensitive], table.group, table.counts, groups)]


def _collapsed(
    columns: Sequence[Column], group: npt.NDArray[np.integer], counts: IntArray, groups: int
) -> _HeldRows:
    """Equal rows of a group as one, those with rare values first: they bound a search best."""
    cardinalities = [column.cardinality for column in columns]
    number, first = distinct_rows(
        [group, *(column.codes for column in columns)], [groups, *cardinalities], len(group)
    )
    held = np.bincount(number, weights=counts).astype(np.int64)
    of_row = group[first].astype(np.int64)
    codes = [column.codes[first].astype(np.int64) for column in columns]
    sizes = np.bincount(of_row, weights=held, minlength=groups).astype(np.int64)
    common = np.zeros(len(first), dtype=np.int64)
    for column, cardinality in zip(codes, cardinalities, strict=True):
        pair, _ = distinct_rows([of_row, column], [groups, cardinality], len(first))
        common += np.bincount(pair)[pair]
    order = np.lexsort((common, of_row))
    return _HeldRows(
        [each[order] for each in codes], cardinalities, of_row[order], held[order], sizes
    )
