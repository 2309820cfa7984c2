"""Risk: how exposed the records of a file are to someone who knows their quasi-identifiers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, overload

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import IntArray
from incrowd._runtime.plain_fields import plain_fields
from incrowd._runtime.progress import Progress, silent
from incrowd.attacks._combinations import (
    Combination,
    count_uniques,
    largest_size,
    strongest,
    strongest_of_each_size,
)
from incrowd.attacks._journalist import Journalist, journalist_risk
from incrowd.attacks._power import RiskByPower, risk_by_power
from incrowd.attacks._risk_parameters import check_numbers, refuse_beside_events
from incrowd.attacks.event_sources import WhereEvents
from incrowd.attacks.exposed_records import Exposed, exposed
from incrowd.attacks.targets import Target
from incrowd.errors import ParameterError
from incrowd.sources import SourceLike
from incrowd.table import Column
from incrowd.table.packing import RowNumbers, distinct_rows, distinct_rows_of

THRESHOLDS = (0.33, 0.2, 0.09, 0.05)
"""Risks that data authorities accept: groups of 3, 5, 11 and 20."""
_WRITTEN = {0.33: 3, 0.09: 11}
"""1/3 and 1/11 as they are written: a group of 3 or of 11 is not above them."""
_SLACK = 1e-9


@dataclass(frozen=True)
class GroupSizes:
    """The groups of records that agree on all quasi-identifiers."""

    count: int
    smallest: int
    average: float
    largest: int

    @classmethod
    def of(cls, sizes: IntArray, records: int) -> Self:
        """How many groups of these sizes there are, and how large."""
        return cls(len(sizes), int(sizes.min()), records / len(sizes), int(sizes.max()))


@dataclass(frozen=True)
class Prosecutor:
    """Risk of a person known to be in the file: 1 / (size of the group)."""

    highest: float
    average: float
    lowest: float
    share_at_highest: float
    share_above: tuple[tuple[float, float], ...]
    """(threshold, share of the records whose risk is above it), as asked for."""

    def as_dict(self) -> dict[str, Any]:
        """The risk for JSON."""
        above = [{"threshold": threshold, "share": share} for threshold, share in self.share_above]
        return {**plain_fields(self), "share_above": above}


@dataclass(frozen=True)
class AttributeExposure:
    """One quasi-identifier alone: how many values it has, how many records are unique on it."""

    name: str
    distinct: int
    uniques: int
    share: float


@dataclass(frozen=True)
class SensitiveExposure:
    """What the groups give away about one sensitive attribute, without singling anyone out."""

    name: str
    homogeneous_records: int
    homogeneous_share: float
    confidence_per_group: float
    """The share of the most frequent value of a group, averaged over groups."""
    confidence_per_record: float
    """The same averaged over records: how often the best guess is right."""
    several: bool = False
    """Patients have several values of it: a group is homogeneous where all of its patients have one
    in common, and the most frequent value is that of most patients."""


@dataclass(frozen=True)
class Risk:
    """How exposed a file is; see `risk`. What it counts, in `records` and elsewhere, says `one`."""

    source: str
    records: int
    quasi: tuple[str, ...]
    groups: GroupSizes
    uniques: int
    unique_share: float
    prosecutor: Prosecutor
    journalist: Journalist | None
    marketer: float
    marketer_basis: str
    """`sample` (the attacker knows who is in the file), `population` or `sampling fraction`."""
    attributes: tuple[AttributeExposure, ...]
    combinations: tuple[Combination, ...]
    combinations_by_size: tuple[Combination, ...]
    combinations_up_to: int
    """The most attributes that a counted combination has."""
    sensitive: tuple[SensitiveExposure, ...]
    one: str = "record"
    """`record` or `patient`: what one of those that are counted is."""
    rows: int | None = None
    """How many rows the patients have, where they may have several."""
    remarks: tuple[str, ...] = ()
    """What to know of whose the rows are, each in a sentence."""

    def as_dict(self) -> dict[str, Any]:
        """The risk for JSON; what is counted, `records` or `patients`, is called so."""
        many = f"{self.one}s"
        left_out = ("unique_share", "marketer_basis", "one")
        return {
            **plain_fields(self, without=left_out, names={"records": many}),
            "uniques": {many: self.uniques, "share": self.unique_share},
            "marketer": {"average": self.marketer, "basis": self.marketer_basis},
        }


@overload
def risk(
    source: WhereEvents,
    *,
    events: Sequence[str],
    quasi: Sequence[str] | None = None,
    query: str | None = None,
    header: bool | None = None,
    unit: str | None = None,
    progress: Progress = silent,
) -> RiskByPower: ...


@overload
def risk(
    source: SourceLike,
    *,
    quasi: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    population: SourceLike = None,
    sampling_fraction: float | None = None,
    thresholds: Sequence[float] = THRESHOLDS,
    top: int = 10,
    query: str | None = None,
    header: bool | None = None,
    unit: str | None = None,
    memory: int | str | None = None,
    progress: Progress = silent,
) -> Risk: ...


def risk(
    source: WhereEvents, *, events: Sequence[str] | None = None, **asked: Any
) -> Risk | RiskByPower:
    """How exposed a file, a frame or a release is to someone who knows the quasi-identifiers.

    With `events`, to someone who knows some events of a patient: see
    `incrowd.attacks.risk_by_power`.

    Parameters
    ----------
    source
        A path, a folder or pattern of files, a database URL, a frame of pandas, polars or Arrow, a
        release or the folder of one. Linked tables are a folder with a file for each, or a mapping,
        that of the patients called `patients`; `unit` tells these apart.
    events
        Columns of the events that an attacker may know some of. The source may then be linked
        tables: a folder, several files, or frames by their names.
    quasi
        The columns that an attacker may know. Of a release, its quasi-identifiers by default.
    sensitive
        Columns whose values must not become known, of linked tables as `table.column`. Of a
        release, its sensitive attributes by default.
    population
        A path or frame with the quasi-identifiers of everyone the records may belong to.
    sampling_fraction
        In place of a population: the share of it that the file holds, above 0 and at most 1.
    thresholds
        Prosecutor risks to count the records above (strictly).
    top
        How many combinations of quasi-identifiers to list.
    query
        SQL that selects the records, or the name of their table; for a database URL only.
    header
        Of a text file only, as for `incrowd.sources.read`.
    unit
        The column that tells patients apart, who are then counted, each once: their rows are
        gathered, in memory. `row` says that each row is another patient. Left out, rows are
        counted, and a remark says so where a column that numbers people repeats. Not for releases,
        which know.
    memory
        How much memory counting may take, in bytes or as in "4GB"; beyond that it works on disk.
        Left out, it does so for files of more than a quarter of the memory. Not for releases.
    progress
        Called with (stage, done, whole) as the work goes on.

    Notes
    -----
    Quasi-identifiers must be the same in all rows of a patient. Of a sensitive attribute a patient
    may have several values: each is judged by itself, by the share of the patients of a group who
    have it. So it is of releases of patients with several rows.

    Of a release of several tables, the records are told apart by the exact quasi-identifiers that
    it publishes, and sensitive values are those of its groups. A missing cell is a value of its
    own. Of up to 10 quasi-identifiers all combinations are
    counted, of more those of at most 3. Cost: one sort of the records (on disk, one aggregation),
    and per combination one sort of the distinct rows of a larger combination. In memory are all
    records as codes, on disk only the distinct rows; the figures are the same.

    References
    ----------
    El Emam (2013), Guide to the De-Identification of Personal Health Information (the three
    attackers); `incrowd.attacks.population.expected_risk` for the sampling fraction.

    Example
    -------
    >>> import polars
    >>> frame = polars.DataFrame({"age": [34, 34, 51], "sex": ["F", "F", "M"]})
    >>> risk(frame, quasi=["age", "sex"]).uniques
    1
    """
    if events is None:
        return _risk_of_records(source, **asked)
    refuse_beside_events(asked)
    return risk_by_power(source, events=events, **asked)


def _risk_of_records(
    source: SourceLike,
    *,
    quasi: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    population: SourceLike = None,
    sampling_fraction: float | None = None,
    thresholds: Sequence[float] = THRESHOLDS,
    top: int = 10,
    query: str | None = None,
    header: bool | None = None,
    unit: str | None = None,
    memory: int | str | None = None,
    progress: Progress = silent,
) -> Risk:
    check_numbers(sampling_fraction, thresholds, top)
    if population is not None and sampling_fraction is not None:
        raise ParameterError("Give a population or a sampling_fraction, not both.")
    seen = exposed(
        source,
        quasi,
        sensitive,
        query=query,
        header=header,
        unit=unit,
        memory=memory,
        progress=progress,
    )
    columns, records = seen.quasi, seen.records
    names = [column.name for column in columns]
    progress("counting groups", 0, 1)
    number, representative = distinct_rows_of(columns, seen.rows)
    sizes = seen.tally.count(number)
    rows = [column.codes[representative] for column in columns]
    journalist = journalist_risk(columns, rows, sizes, population, sampling_fraction, seen.name)
    progress("counting combinations", 0, 1)
    counted = count_uniques(rows, [column.cardinality for column in columns], sizes)
    uniques = int(np.count_nonzero(sizes == 1))
    return Risk(
        source=seen.name,
        records=records,
        quasi=tuple(names),
        groups=GroupSizes.of(sizes, records),
        uniques=uniques,
        unique_share=uniques / records,
        prosecutor=prosecutor_risk(sizes, thresholds),
        journalist=journalist,
        marketer=len(sizes) / records if journalist is None else journalist.average,
        marketer_basis="sample" if journalist is None else journalist.basis,
        attributes=tuple(
            AttributeExposure(column.name, column.cardinality, alone, alone / records)
            for column, alone in zip(columns, _alone(counted, len(columns)), strict=True)
        ),
        combinations=strongest(counted, names, records, top),
        combinations_by_size=strongest_of_each_size(counted, names, records),
        combinations_up_to=largest_size(len(names)),
        sensitive=tuple(sensitive_exposure(seen, name, number, sizes) for name in seen.wanted),
        one=seen.one,
        rows=seen.gathered_from,
        remarks=seen.remarks,
    )


def _alone(counted: dict[tuple[int, ...], int], attributes: int) -> list[int]:
    return [counted.get((at,), 0) for at in range(attributes)]


def safe_size(threshold: float) -> int:
    """The smallest group whose risk is not above a threshold.

    Example
    -------
    >>> [safe_size(threshold) for threshold in THRESHOLDS], safe_size(0.25)
    ([3, 5, 11, 20], 4)
    """
    written = _WRITTEN.get(float(threshold))
    return math.ceil(1 / (threshold + _SLACK)) if written is None else written


def prosecutor_risk(sizes: IntArray, thresholds: Sequence[float]) -> Prosecutor:
    """The prosecutor risk of records in groups of these sizes."""
    records, smallest = int(sizes.sum()), int(sizes.min())
    above = [
        (float(threshold), int(sizes[sizes < safe_size(threshold)].sum()) / records)
        for threshold in thresholds
    ]
    return Prosecutor(
        highest=1 / smallest,
        average=len(sizes) / records,
        lowest=1 / int(sizes.max()),
        share_at_highest=int(sizes[sizes == smallest].sum()) / records,
        share_above=tuple(above),
    )


def sensitive_exposure(
    seen: Exposed, name: str, number: RowNumbers, sizes: IntArray
) -> SensitiveExposure:
    """What groups give away of an attribute; `number` is the group of each row."""
    if name in seen.held:
        group, _, counts = seen.held[name].in_groups(number, len(sizes))
        return _by_counts(name, group, counts, sizes, several=True)
    if name not in seen.sensitive:
        assert seen.target is not None
        return _sensitive_apart(seen.target, name)
    weights = seen.tally.count(np.arange(len(number)))
    return _exposed(seen.sensitive[name], number, weights, sizes)


def _sensitive_apart(target: Target, name: str) -> SensitiveExposure:
    """The same of an attribute that stands apart: its groups are those of the release."""
    assert target.parts is not None
    table = target.apart[name]
    return _exposed(table.columns[name], table.group, table.counts, target.parts.group_sizes)


def _exposed(
    column: Column, group: npt.NDArray[np.integer], held: IntArray, sizes: IntArray
) -> SensitiveExposure:
    """What groups give away when `held` records of a group hold the value of each row."""
    pair, representative = distinct_rows(
        [group, column.codes], [len(sizes), column.cardinality], len(group)
    )
    counts = np.bincount(pair, weights=held).astype(np.int64)
    return _by_counts(column.name, group[representative], counts, sizes)


def _by_counts(
    name: str,
    group: npt.NDArray[np.integer],
    counts: IntArray,
    sizes: IntArray,
    *,
    several: bool = False,
) -> SensitiveExposure:
    """The same when `counts[i]` of those in `group[i]` hold one value, each value once a group."""
    largest = np.zeros(len(sizes), dtype=np.int64)
    np.maximum.at(largest, group, counts)
    records = int(sizes.sum())
    homogeneous = int(sizes[largest == sizes].sum())
    return SensitiveExposure(
        name=name,
        homogeneous_records=homogeneous,
        homogeneous_share=homogeneous / records,
        confidence_per_group=float((largest / sizes).mean()),
        confidence_per_record=int(largest.sum()) / records,
        several=several,
    )
