"""Linkage: matching a release, or a raw file, with a list of people by what both show."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd._runtime.arrays import BoolArray, IntArray, Ints
from incrowd._runtime.plain_fields import plain_fields
from incrowd.attacks._common_values import CommonValues
from incrowd.attacks._whose_rows import people_of_list, whose_records
from incrowd.attacks.known_values import KnownValues, iso_dates
from incrowd.attacks.label_meanings import read_labels
from incrowd.attacks.targets import Target, code_as_text, name_list, open_target, require_columns
from incrowd.errors import InputError, ParameterError
from incrowd.labels import LabelWriting, Meaning
from incrowd.table.packing import distinct_rows, distinct_rows_of
from incrowd.table.people import HeldByPatients
from incrowd.table.person_names import numbers_people

if TYPE_CHECKING:
    import polars as pl

    from incrowd.attacks.compatibility import SharedAttribute

_Between = tuple[IntArray, IntArray]

# Columns of raw files with such names tell who a person is, or number the rows.
_IDENTIFIER = re.compile(r"(?:.*[_\- .])?(?:id|identifier|name|names|ssn|mrn)", re.IGNORECASE)


@dataclass(frozen=True)
class Disclosure:
    """People whose candidates all share one value of a sensitive attribute.

    Of an attribute of which patients have several values: whose candidates all have one in common.
    """

    name: str
    people: int
    in_a_crowd: int
    """Those of them with two or more candidates: disclosed although not singled out."""


@dataclass(frozen=True)
class Linkage:
    """What linking a table with an identified list finds; see `link`. Records may be patients, as
    `one` says.

    Whether a match is correct cannot be known from the two tables: the person may not be in the
    target at all. `candidates` holds for each person, in the order of the list, how many records
    may be theirs, and `only_record` the position of the record where it is one, -1 elsewhere.
    """

    target: str
    known: str
    on: tuple[tuple[str, str], ...]
    """(column of the target, column of the list)"""
    records: int
    people: int
    matched: int
    matched_one: int
    k: int | None
    matched_below_k: int | None
    smallest_candidates: int | None
    average_candidates: float | None
    average_probability: float | None
    """1 / candidates, averaged over the people matched."""
    records_singled_out: int
    disclosed: tuple[Disclosure, ...]
    unreadable: tuple[tuple[str, int], ...]
    """Attributes with labels that could not be read, and how many: they match everyone."""
    values_apart: bool
    """The release has exact quasi-identifiers, and sensitive values by group only: whoever is
    matched to a record is known to be in the data, and has one of the values of its group."""
    candidates: IntArray = field(repr=False, compare=False)
    only_record: IntArray = field(repr=False, compare=False)
    one: str = "record"
    """`record` or `patient`: what a person of the list is matched to."""
    remarks: tuple[str, ...] = ()
    """What to know of the list, each in a sentence."""

    def as_dict(self) -> dict[str, Any]:
        """The linkage for JSON, without the results of single people.

        What people are matched to, `records` or `patients`, is called so.
        """
        many = f"{self.one}s"
        told = plain_fields(
            self,
            without=("candidates", "only_record", "one"),
            names={
                "known": "list",
                "unreadable": "unreadable_labels",
                "records": many,
                "records_singled_out": f"{many}_singled_out",
            },
        )
        return {**told, "on": dict(self.on), "unreadable_labels": dict(self.unreadable)}

    def one_sentence(self) -> str:
        """The result in one sentence for people."""
        one = self.matched_one
        who = "person" if self.people == 1 else "people"
        verb = "none is" if one == 0 else "1 is" if one == 1 else f"{one:,} are"
        told = f"Of {self.people:,} {who} on the list, {verb} matched to exactly one {self.one}."
        if self.values_apart and self.matched:
            told += (
                " The release has exact quasi-identifiers: a match shows who is in the data, and "
                "the values of a group of records."
            )
        return told


def link(
    target: Any,
    known: Any,
    *,
    on: Mapping[str, str] | Sequence[str] | None = None,
    k: int | None = None,
    hierarchies: Mapping[str, Meaning] | None = None,
    sensitive: Sequence[str] | None = None,
    unit: str | None = None,
) -> Linkage:
    """How many people of an identified list a table gives away, by the columns that both show.

    Parameters
    ----------
    target
        A release, the folder of one, or any file or frame, generalized or raw.
    known
        The list: a file or frame with one row per person, such as a voter list. Where a column
        that numbers people repeats, rows of one person that are alike in what is linked are taken
        for one; where they are not, a remark says that some count several times.
    on
        The shared columns: their names, or {column of the target: column of the list}. By
        default the quasi-identifiers of a release, or the columns of the same name (without
        those named as identifiers, such as `id` or `last_name`).
    k
        Count the people matched to fewer records than this; of a release by default the largest
        k that it promises.
    hierarchies
        For an attribute of the target, the values under each label of its hierarchy.
    sensitive
        The attributes to look up among the candidates; of a release its sensitive ones by
        default.
    unit
        Of a raw file the column that tells patients apart, whose rows are then gathered, so that
        people are matched to patients, by what is the same in all rows of one; `row` says that each
        row is another patient. A release knows.

    Notes
    -----
    A person and a record are compatible when the record's label covers the person's value in
    every shared column; `incrowd.attacks.label_meanings` has the labels understood. A missing cell
    is a value of its own and matches only missing cells and `*`. A label that cannot be read
    matches everyone, since nothing rules it out, and is counted in `unreadable`.

    Of a release of several tables the list is linked with the table of records. Its
    quasi-identifiers are exact, so most people are found: the attacker learns that they are in the
    data. A sensitive value is disclosed when the groups of all candidates together hold one.

    Of a release of patients with several rows, people are matched to patients. Of an attribute that
    varies within a patient a value is disclosed when all candidates have it, whatever others they
    have.

    References
    ----------
    Sweeney (2002), k-anonymity: a model for protecting privacy, section 2 (linking a medical
    table with a voter list).

    Example
    -------
    >>> import polars
    >>> patients = polars.DataFrame({"zip": ["423***", "423***"], "age": [">25", ">40"]})
    >>> voters = polars.DataFrame({"name": ["Omar"], "zip": ["423245"], "age": [38]})
    >>> link(patients, voters).one_sentence()
    'Of 1 person on the list, 1 is matched to exactly one record.'
    """
    from incrowd.sources import describe, read

    attacked, people = open_target(target), read(known)
    pairs = _shared_columns(attacked, people, on, describe(known))
    if k is not None and (not isinstance(k, int) or isinstance(k, bool) or k < 1):
        raise ParameterError(f"k: must be a whole number of at least 1, got {k!r}.")
    apart = name_list(sensitive, "sensitive")
    if apart is None:
        apart = [name for name in attacked.sensitive if name not in dict(pairs)]
    require_columns(attacked, list(dict(pairs)), apart)
    attacked, told = whose_records(attacked, list(dict(pairs)), apart, unit)
    people, seen = people_of_list(people, dict(pairs).values(), attacked.manifest)
    sides = _Sides(attacked, people, pairs, hierarchies or {})
    held = {name: each for name in apart if (each := attacked.held(name)) is not None}
    own = [name for name in apart if name not in held]
    found = sides.match([_values_of_records(attacked, name) for name in own], list(held.values()))
    k = attacked.promised_k if k is None else k
    candidates = found.candidates
    matched = candidates[candidates > 0]
    singled = found.only_record[found.only_record >= 0]
    return Linkage(
        target=attacked.name,
        known=describe(known),
        on=tuple(pairs),
        records=attacked.frame.height,
        people=len(candidates),
        matched=len(matched),
        matched_one=int(np.count_nonzero(matched == 1)),
        k=k,
        matched_below_k=None if k is None else int(np.count_nonzero(matched < k)),
        smallest_candidates=int(matched.min()) if len(matched) else None,
        average_candidates=float(matched.mean()) if len(matched) else None,
        average_probability=float((1 / matched).mean()) if len(matched) else None,
        records_singled_out=len(np.unique(singled)),
        disclosed=tuple(
            Disclosure(
                name,
                int(np.count_nonzero(same)),
                int(np.count_nonzero(same & (candidates > 1))),
            )
            for name, same in zip([*own, *held], found.alike, strict=True)
        ),
        unreadable=sides.unreadable,
        values_apart=attacked.parts is not None,
        candidates=candidates,
        only_record=found.only_record,
        one=attacked.one,
        remarks=(*told, *seen),
    )


def _shared_columns(
    target: Target,
    people: pl.DataFrame,
    on: Mapping[str, str] | Sequence[str] | None,
    known: str,
) -> list[tuple[str, str]]:
    """(column of the target, column of the list) for all shared columns, which are there."""
    from incrowd.sources.columns import chosen

    if on is None:
        columns = (
            target.of_role("quasi")
            if target.manifest is not None
            else [name for name in target.frame.columns if not _names_a_person(name)]
        )
        pairs = [(name, name) for name in columns if name in people.columns]
        if not pairs:
            raise InputError(
                f"{target.name} and {known} share no column to link on. Name them with `on`, "
                "as {column of the table: column of the list} where their names differ."
            )
        return pairs
    if isinstance(on, Mapping):
        ours, theirs = name_list(list(on), "on"), name_list(list(on.values()), "on")
    else:
        ours = theirs = name_list(on, "on")
    if not ours or not theirs:
        raise ParameterError("on: must name at least one column.")
    require_columns(target, ours)
    chosen(people.columns, theirs, known)
    return list(zip(ours, theirs, strict=True))


def _names_a_person(column: str) -> bool:
    """Whether a column of a raw file is called as one that tells who a person is."""
    return _IDENTIFIER.fullmatch(column) is not None or numbers_people(column)


@dataclass(frozen=True)
class _CandidateCounts:
    """For each person: candidates, the only record, and whether each sensitive value is alike."""

    candidates: IntArray
    only_record: IntArray
    alike: list[BoolArray]


class _Sides:
    """The people and the records, both reduced to distinct rows of codes."""

    def __init__(
        self,
        target: Target,
        people: pl.DataFrame,
        pairs: Sequence[tuple[str, str]],
        hierarchies: Mapping[str, Meaning],
    ) -> None:
        self._columns = [code_as_text(target.frame[ours]) for ours, _ in pairs]
        kinds = [target.entries.get(ours, {}).get("type") for ours, _ in pairs]
        self._values = [
            KnownValues(
                iso_dates(people[theirs]) if kind == "date" else people[theirs],
                declared_numeric=kind == "numeric",
            )
            for kind, (_, theirs) in zip(kinds, pairs, strict=True)
        ]
        self._writing = [_writing(target, ours, hierarchies.get(ours)) for ours, _ in pairs]
        self._row_of_record, self._record_of_row = distinct_rows_of(
            self._columns, target.frame.height
        )
        self._person_number, self._first_person = distinct_rows(
            [values.people for values in self._values],
            [values.cardinality for values in self._values],
            people.height,
        )
        self._shared = [self._share(at) for at in range(len(pairs))]
        self.unreadable = tuple(
            (ours, each.coverage.unreadable)
            for (ours, _), each in zip(pairs, self._shared, strict=True)
            if each.coverage.unreadable
        )

    def _share(self, at: int) -> SharedAttribute:
        from incrowd.attacks.compatibility import SharedAttribute

        column, values = self._columns[at], self._values[at]
        labels: list[str | None] = [*column.values, None]
        return SharedAttribute(
            people=values.people[self._first_person],
            cardinality=values.cardinality,
            rows=column.codes[self._record_of_row].astype(np.int64),
            coverage=read_labels(labels, values, self._writing[at]),
        )

    def match(
        self, sensitive: Sequence[_Between], held: Sequence[HeldByPatients] = ()
    ) -> _CandidateCounts:
        """Count the candidates of every person.

        Whether all have one value of each sensitive attribute, then one in common of each `held`.
        """
        from incrowd.attacks.compatibility import compatible_pairs

        people = len(self._first_person)
        sizes = np.bincount(self._row_of_record).astype(np.int64)
        candidates = np.zeros(people, dtype=np.int64)
        only_record = np.full(people, -1, dtype=np.int64)
        rows = len(self._record_of_row)
        extremes = [_extremes(self._row_of_record, rows, *between) for between in sensitive]
        alike = [np.zeros(people, dtype=np.bool_) for _ in sensitive]
        common = [CommonValues.of(each, self._row_of_record, sizes) for each in held]
        shared = [np.zeros(people, dtype=np.bool_) for _ in held]
        for pairs in compatible_pairs(self._shared, people):
            starts = pairs.offsets[:-1]
            if not len(starts):
                continue
            candidates[pairs.people] = np.add.reduceat(sizes[pairs.rows], starts)
            single = candidates[pairs.people] == 1
            only_record[pairs.people[single]] = self._record_of_row[pairs.rows[starts[single]]]
            for same, (low, high) in zip(alike, extremes, strict=True):
                same[pairs.people] = np.minimum.reduceat(
                    low[pairs.rows], starts
                ) == np.maximum.reduceat(high[pairs.rows], starts)
            for same, values in zip(shared, common, strict=True):
                same[pairs.people] = values.of_all(pairs.rows, pairs.offsets)
        number = self._person_number
        return _CandidateCounts(
            candidates[number], only_record[number], [same[number] for same in (*alike, *shared)]
        )


def _extremes(group: Ints, many: int, lowest: IntArray, highest: IntArray) -> _Between:
    """The smallest and the largest code of a sensitive attribute in each of `many` groups."""
    low = np.full(many, int(lowest.max()), dtype=np.int64)
    high = np.full(many, -1, dtype=np.int64)
    np.minimum.at(low, group, lowest)
    np.maximum.at(high, group, highest)
    return low, high


def _values_of_records(target: Target, name: str) -> _Between:
    """The smallest and the largest code that each record, or the group of it, may hold."""
    if name not in target.apart:
        codes = code_as_text(target.frame[name], sensitive=True).codes.astype(np.int64)
        return codes, codes
    assert target.parts is not None
    table, groups = target.apart[name], len(target.parts.group_sizes)
    codes = table.columns[name].codes.astype(np.int64)
    low, high = _extremes(table.group, groups, codes, codes)
    return low[target.parts.group], high[target.parts.group]


def _writing(target: Target, name: str, meaning: Meaning | None) -> LabelWriting:
    if target.manifest is None:
        return LabelWriting(meaning=meaning)
    return LabelWriting.of(target.entries.get(name, {"role": "quasi"}), meaning)
