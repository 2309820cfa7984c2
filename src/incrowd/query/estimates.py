"""Counts from a release: how many records satisfy some conditions, as far as it tells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from incrowd._runtime.arrays import FloatArray
from incrowd._runtime.manifests import counts_rows
from incrowd._runtime.sentences import listed
from incrowd.errors import InputError, ParameterError, nearest
from incrowd.hierarchies.labels import Range
from incrowd.labels import Meaning
from incrowd.published.protected import protected
from incrowd.query._bounds import bounds
from incrowd.query._counting import count
from incrowd.query._events import asked_rows
from incrowd.query._intervals import interval
from incrowd.query._learning import learned_shares
from incrowd.query._spelled import as_shown
from incrowd.query.cells import LabelLimits
from incrowd.query.conditions import Condition, parse_conditions, refuse
from incrowd.query.meanings import LabelColumn
from incrowd.query.published_columns import read_column

if TYPE_CHECKING:
    from incrowd.published.opened import ReleaseLike
    from incrowd.published.parts import Parts
    from incrowd.table import Column


_ENOUGH_RANGES = 10
_DECIMALS = (
    "No label tells whether '{}' has decimals. If it has none, write < and >= with the ends of its "
    "ranges: what is certain is then closer."
)


CountedThing = Literal["records", "patients", "rows"]


@dataclass(frozen=True)
class Estimate:
    """How many published records satisfy a query; see `query`.

    Of patients with several rows `counted` says whether these are patients or rows, and `of_events`
    names, table by table, what one row must fit for its patient, or itself, to be counted.
    """

    count: float
    low: int
    """The lower end of the 95 % interval."""
    high: int
    """The upper end of it."""
    least: int
    """No table that could be behind the release has fewer."""
    most: int
    """No table that could be behind the release has more."""
    records: int
    """How many of what is counted are published."""
    suppressed: int = 0
    """How many records or patients are not, and in no count."""
    remarks: tuple[str, ...] = ()
    """What to know of this query, each in a sentence."""
    counted: CountedThing = "records"
    of_events: tuple[tuple[str, ...], ...] = ()

    @property
    def exact(self) -> bool:
        """Whether the release leaves no doubt about the count."""
        return self.least == self.most

    @property
    def share(self) -> float:
        """The count as a share of the published records."""
        return self.count / self.records

    def as_dict(self) -> dict[str, Any]:
        """The estimate for JSON."""
        return {
            "count": self.count,
            "interval_95": [self.low, self.high],
            "least": self.least,
            "most": self.most,
            "exact": self.exact,
            "counted": self.counted,
            self.counted: self.records,
            "suppressed": self.suppressed,
            "share": self.share,
            "remarks": list(self.remarks),
        }

    def one_sentence(self) -> str:
        """The estimate in one sentence for people, and another where one must know what counts."""
        of = f"of {self.records:,} published {self.counted} ({100 * self.share:.3g} %)"
        told = f"Exactly {round(self.count):,} {of}."
        if not self.exact:
            told = (
                f"About {_digits(self.count)} {of}; 95 %: {self.low:,} to {self.high:,}; "
                f"between {self.least:,} and {self.most:,} for certain."
            )
        told += self._what_counts()
        if self.suppressed:
            those = "patients, with all their rows," if self.counted == "rows" else self._who
            told += (
                f" {self.suppressed:,} {those} were left out of the release; any of them may "
                "satisfy it, too."
            )
        return told

    @property
    def _who(self) -> str:
        return "records" if self.counted == "records" else "patients"

    def _what_counts(self) -> str:
        """What one of those that are counted is, where rows have a part in it."""
        if self.counted == "rows":
            return " Rows are counted, not patients."
        if not self.of_events:
            return ""
        rows = [
            f"one row that satisfies {_CONDITIONS[len(names) > 1]} on {listed(names)}"
            for names in self.of_events
        ]
        return f" Counted are patients with at least {listed(rows, quoted=False)}."


def query(
    release: ReleaseLike | str | Path,
    text: str,
    *,
    hierarchies: Mapping[str, Meaning] | None = None,
    events: bool = False,
) -> Estimate:
    """The estimated number of published records that satisfy all conditions of a text.

    Of patients with several rows these are patients, or their rows where `events` are counted.

    Parameters
    ----------
    release
        A release of any kind, or the folder of one.
    text
        Conditions joined by `and`: `age between 40 and 60 and disease in ('Flu', HIV)`. The
        comparisons are = != < <= > >=, between, in, is missing and is not missing; names with
        spaces stand in double quotes, values in single ones. Several conditions may be about one
        attribute. A sensitive value may be in any spelling. An empty text counts all records.
    hierarchies
        For an attribute, the values under each label of its hierarchy, where labels do not say
        themselves what they stand for; they are taken to be all values of the attribute. The
        values under the top label also give the order of an attribute of type ordered.
    events
        Of patients with several rows: count rows, those that satisfy all conditions, instead of
        patients with at least one row that satisfies all conditions on what varies between rows.

    Notes
    -----
    Every value that a generalized cell may stand for is as likely, attributes are independent
    inside a record, and sensitive values in tables apart belong to any records of their group. A
    missing cell satisfies `is missing` alone. No table that could be behind the release has a count
    outside `least` and `most`; `incrowd.query._intervals` says what `low` and `high` are. One pass
    over the tables of the release.

    References
    ----------
    Xiao and Tao (2006), Anatomy, section 3; Gal, Chen, Gangopadhyay (2008), for several sensitive
    attributes.

    Example
    -------
    >>> import polars
    >>> from types import SimpleNamespace
    >>> frame = polars.DataFrame({"age": ["[30-40)", "[30-40)", "52"]})
    >>> entry = {"name": "age", "role": "quasi", "published": True, "type": "numeric",
    ...          "labels": "set", "decimals": 0, "domain": 23}
    >>> release = SimpleNamespace(
    ...     data=frame, tables={"data": frame}, manifest={"attributes": [entry]}
    ... )
    >>> query(release, "age >= 35").count
    2.0
    """
    from incrowd.published.parts import open_parts

    parts = open_parts(release)
    return estimate(parts, text, known_meanings(_entries(parts), hierarchies), events=events)


def estimate(
    parts: Parts, text: str, given: Mapping[str, Meaning], *, events: bool = False
) -> Estimate:
    """The same of a release that is taken apart, with what is known of its labels."""
    asked = _by_attribute(parts, parse_conditions(text))
    rows = asked_rows(parts, asked, events=events)
    columns = {name: published_column(parts, name, given.get(name)) for name in asked}
    for name in protected(_entries(parts), parts.manifest.get("promises", ())):
        if name in asked:
            asked[name] = as_shown(columns[name], asked[name])
    found = {name: _asked(parts, columns[name], each) for name, each in asked.items()}
    counted = count(parts, {name: each.shares for name, each in found.items()}, events=events)
    least, most = bounds(parts, {name: each.limits for name, each in found.items()}, events=events)
    opinions = [{name: each.opinions[at] for name, each in found.items()} for at in range(2)]
    low, high = interval(parts, opinions, events=events)
    of_events = tuple(tuple(n for n in asked if n in each.entries) for each in rows)
    names_of_events = {name for names in of_events for name in names}
    told = [
        text
        for name in asked
        for text in _unseen(
            columns[name], asked[name], "row" if name in names_of_events else "record"
        )
    ]
    told += [text for each in found.values() for text in each.remarks]
    if rows and parts.manifest.get("most_events") is not None:
        told.append(_CUT.format(parts.manifest["most_events"]))
    expected = min(max(counted.expected, least), most)
    return Estimate(
        expected,
        max(least, math.floor(min(low, expected))),
        min(most, math.ceil(max(high, expected))),
        least,
        most,
        rows[0].rows if events else parts.records,
        _left_out(parts),
        tuple(told),
        "rows" if events else "patients" if counts_rows(parts.manifest) else "records",
        tuple(names for names in of_events if names),
    )


def _entries(parts: Parts) -> dict[str, Any]:
    """The manifest's entry of every published attribute, those of events among them."""
    return {**parts.entries, **{n: e for each in parts.events for n, e in each.entries.items()}}


_CONDITIONS = {False: "the conditions", True: "all conditions together"}
_CUT = (
    "The release has at most {:,} rows of each patient (`most-events`), drawn at random where "
    "there were more: the rows that are left are counted, and whoever has one."
)


@dataclass(frozen=True)
class _Selectivity:
    """What some conditions ask of an attribute, label by label.

    The share that satisfies them, every value as likely; two opinions on that share, the same and
    what labels tell together; and whether a label may and must satisfy them.
    """

    shares: FloatArray
    opinions: tuple[FloatArray, FloatArray]
    limits: LabelLimits
    remarks: tuple[str, ...] = ()


def _asked(parts: Parts, column: LabelColumn, conditions: Sequence[Condition]) -> _Selectivity:
    reading = read_column(column, conditions)
    wanted = reading.wanted(conditions)
    shares, limits = reading.cells.shares(wanted), reading.cells.limits(wanted)
    shown = _beside(parts, column.name)
    if shown is None:
        return _Selectivity(shares, (shares, shares), limits)
    codes = shown.codes
    records = np.bincount(codes, minlength=len(shares)).astype(np.int64)
    learned = learned_shares(reading.cells, records, wanted, shares)
    sure = limits
    told: tuple[str, ...] = ()
    if _may_hide_decimals(column):
        finer = read_column(column, conditions, finer=True)
        sure = finer.cells.limits(finer.wanted(conditions))
        differ = (sure.possible != limits.possible) | (sure.certain != limits.certain)
        told = (_DECIMALS.format(column.name),) if bool(differ[records > 0].any()) else ()
    opinions = reading.cells.doubted(shares, sure), reading.cells.doubted(learned, sure)
    return _Selectivity(shares, opinions, sure, told)


def _beside(parts: Parts, name: str) -> Column | None:
    """The column of the table of records, or of rows of patients, that an attribute stands in."""
    for rows in parts.events:
        if name in rows.entries:
            return rows.column(name)
    return parts.columns.get(name)


def _may_hide_decimals(column: LabelColumn) -> bool:
    """Whether values may have decimals that no label has.

    The ends of ranges of a hierarchy say nothing of them. Ranges of a method end a step after a
    value: it takes many of them, all at whole numbers, to tell that there are only such.
    """
    if column.writing.exact or column.entry.get("type") != "numeric":
        return False
    if column.entry.get("labels") == "hierarchy":
        return True
    ranges = sum(
        isinstance(column.writing.read(label, "numeric"), Range) for label in column.labels
    )
    return 0 < ranges < _ENOUGH_RANGES


def _left_out(parts: Parts) -> int:
    """How many records of the source are not published, as the manifest states it."""
    counts = parts.manifest.get("records")
    if not isinstance(counts, Mapping):
        return 0
    stated = [counts.get("suppressed"), counts.get("missing_dropped")]
    return sum(number for number in stated if isinstance(number, int))


def published_column(parts: Parts, name: str, meaning: Meaning | None) -> LabelColumn:
    """The labels of an attribute, whichever table of the release they stand in."""
    column = _beside(parts, name)
    for apart in parts.apart:
        column = apart.columns.get(name, column)
    if column is None:
        raise InputError(f"The release lacks the column '{name}' that its manifest describes.")
    return LabelColumn(name, column.values, column.missing > 0, _entries(parts)[name], meaning)


def known_meanings(
    entries: Mapping[str, Any], hierarchies: Mapping[str, Meaning] | None
) -> Mapping[str, Meaning]:
    """The meanings of labels by attribute; those of an unknown attribute are refused."""
    given = hierarchies or {}
    for name, meaning in given.items():
        if name not in entries:
            raise ParameterError(
                f"hierarchies: the release has no attribute '{name}'.{nearest(name, entries)}"
            )
        if not isinstance(meaning, Mapping) or any(isinstance(v, str) for v in meaning.values()):
            raise ParameterError(
                f"hierarchies: give for '{name}' a list of values for each label of its hierarchy."
            )
    return given


def _by_attribute(parts: Parts, conditions: Sequence[Condition]) -> dict[str, list[Condition]]:
    """The conditions on each attribute, once it is sure that all are published."""
    found: dict[str, list[Condition]] = {}
    entries = _entries(parts)
    for condition in conditions:
        name = condition.attribute
        if name not in entries:
            known = [str(each["name"]) for each in parts.manifest["attributes"]]
            if name in known or name in parts.manifest.get("events", ()):
                refuse(condition.position, f"'{name}' is not published in this release.")
            near = nearest(name, entries)
            refuse(condition.position, f"the release has no attribute '{name}'.{near}")
        found.setdefault(name, []).append(condition)
    return found


def _unseen(column: LabelColumn, conditions: Sequence[Condition], one: str) -> list[str]:
    """A sentence for each value asked for that a column of plain text does not show."""
    if not column.writing.exact or column.entry.get("type") != "category":
        return []
    asked = [
        value.text for each in conditions if each.operator in ("=", "in") for value in each.values
    ]
    return [
        f"No {one} shows the value '{text}' of '{column.name}'.{nearest(text, column.labels)}"
        for text in asked
        if text not in column.labels
    ]


def _digits(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"
