"""The layout of manifest format 1: every key that the judge relies on, checked and typed.

A missing or mistyped key that a promise rests on is a problem, and so is a key that is not known
(see `_known_keys.py`): the release then fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from incrowd.verify.files._guards import (
    AttributeKind,
    are_names,
    is_count,
    is_hex,
    is_kind,
    is_share,
    is_text,
)
from incrowd.verify.files._known_keys import NOT_JUDGED, strange_keys
from incrowd.verify.files.linked import (
    PATIENTS,
    StatedTable,
    least_told,
    read_linked,
    strange_left_out,
    strange_tables,
)
from incrowd.verify.files.published import PublishedTable, part_number, tables_of
from incrowd.verify.files.times import strange_times
from incrowd.verify.verdict import shown

FORMAT = "incrowd-release/1"
KINDS = (GENERALIZED, ANATOMY, LOSSY_JOIN) = ("generalized", "anatomy", "lossy-join")
ROLES = frozenset({"identifier", "quasi", "sensitive", "target", "keep"})
COUNTS = ("source", "published", "suppressed", "missing_dropped")
ROW = "row"
"""The unit of releases whose rows are counted as different patients."""
PATIENT, EVENT = "patient", "event"
"""The column that tells whose a row is, and the level of attributes that vary within a patient."""
DATA = "data"
DATA_FILES = (f"{DATA}.csv", f"{DATA}.parquet")
TABLES = (".csv", ".parquet")


@dataclass(frozen=True)
class ManifestAttribute:
    """A column of the source: its role, whether it is published, and how it is written there."""

    name: str
    role: str
    published: bool
    kind: AttributeKind = "category"
    date_format: str | None = None
    labels: tuple[str, ...] = ()
    """The labels whose weight the manifest gives."""
    of_events: bool = False
    """Whether it may differ between the rows of a patient."""
    table: str | None = None
    """The table that it stands in, where there are several."""
    time: Mapping[str, Any] | None = None
    """What became of its dates, where they were changed."""


@dataclass(frozen=True)
class PublishedFile:
    """A file of the release as the manifest describes it."""

    name: str
    sha256: str
    bytes: int
    rows: int | None
    columns: tuple[str, ...] | None


@dataclass(frozen=True)
class Promise:
    """A promised privacy model; `extra` holds the keys beside model and parameters."""

    model: str
    parameters: Mapping[str, Any]
    extra: Mapping[str, Any]


@dataclass(frozen=True)
class Layout:
    """A manifest whose layout is right."""

    publish: str
    records: Mapping[str, int]
    suppression_limit: float
    attributes: tuple[ManifestAttribute, ...]
    promises: tuple[Promise, ...]
    files: tuple[PublishedFile, ...]
    measured: tuple[Mapping[str, Any], ...] | None
    groups: Mapping[str, Any] | None
    unit: str = ROW
    escaped: bool = False
    """Whether cells of its files are escaped for spreadsheets."""
    unprotected: Mapping[str, Any] | None = None
    """What the manifest says of records that are alone on the untouched columns."""
    not_judged: tuple[str, ...] = ()
    """The keys of the manifest that no published file confirms."""
    of_patients: bool = False
    """Whether rows are those of patients who may have several, so that `records` are patients."""
    most_events: int | None = None
    """How many rows a patient has at most, where that is promised."""
    linked: tuple[StatedTable, ...] | None = None
    """The tables of events that hang on a table of patients; None of one table of rows."""
    stable: bool = False
    """Whether pseudonyms are said to follow from a key; else they are numbers of this release."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of the table of records, that of pseudonyms first."""
        return (PATIENT, *self.published) if self.of_patients else self.published

    @property
    def events(self) -> tuple[str, ...]:
        """The names of the published attributes that may differ between the rows of a patient."""
        return tuple(a.name for a in self.attributes if a.published and a.of_events)

    @property
    def published(self) -> tuple[str, ...]:
        """The names of the published attributes."""
        return tuple(each.name for each in self.attributes if each.published)

    @property
    def quasi(self) -> tuple[str, ...]:
        """The names of the published quasi-identifiers of records, or of the patients."""
        named = (a for a in self.attributes if a.published and not a.of_events)
        return tuple(a.name for a in named if a.role == "quasi")

    @property
    def known_events(self) -> tuple[str, ...]:
        """The names of the published attributes of events that may be known: quasi-identifiers."""
        named = (a for a in self.attributes if a.published and a.of_events)
        return tuple(a.name for a in named if a.role == "quasi")

    @property
    def known_tables(self) -> tuple[str, ...]:
        """The tables whose events may be known; the one of records has the name of its file."""
        tables = {a.name: a.table or DATA for a in self.attributes}
        return tuple(tables[name] for name in self.known_events)

    @property
    def least_told(self) -> int:
        """How many of something tell of nobody: as many as the largest promised crowd."""
        return least_told(p.parameters.get(name) for p in self.promises for name in ("k", "K"))

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The names of the published sensitive attributes."""
        return tuple(a.name for a in self.attributes if a.published and a.role == "sensitive")

    @property
    def untouched(self) -> tuple[str, ...]:
        """The names of the attributes published as they are that no promise may be about."""
        roles = ("keep", "target")
        return tuple(a.name for a in self.attributes if a.published and a.role in roles)

    @property
    def timed(self) -> tuple[str, ...]:
        """The names of the published attributes whose dates were changed."""
        return tuple(a.name for a in self.attributes if a.published and a.time is not None)

    @property
    def kinds(self) -> dict[str, str]:
        """The attributes whose cells are numbers or dates: those that are published as they are."""
        pseudonyms = {PATIENT: "whole"} if self.of_patients and not self.stable else {}
        return pseudonyms | {
            each.name: each.kind
            for each in self.attributes
            if each.published
            and each.kind in ("numeric", "date")
            and (each.role != "quasi" or self.publish != GENERALIZED)
        }

    @property
    def tables(self) -> tuple[PublishedTable, ...]:
        """The published tables, each one file or several parts."""
        return tables_of(self.files)

    def of_one(self, table: str) -> Layout:
        """The layout of one of several linked tables, whose columns it calls as the table does."""
        own = tuple(
            each if table == PATIENTS else replace(each, name=each.name.removeprefix(f"{table}."))
            for each in self.attributes
            if each.table == table
        )
        return replace(self, attributes=own, linked=None)

    @property
    def data_tables(self) -> tuple[PublishedTable, ...]:
        """The tables that hold records, of a generalized release."""
        return tuple(each for each in self.tables if each.name in DATA_FILES)


def read_layout(raw: Mapping[str, Any]) -> tuple[Layout | None, list[str]]:
    """Return the typed manifest and no problems, or None and every problem found."""
    problems: list[str] = []
    if raw.get("format") != FORMAT:
        problems.append(f"'format' must be '{FORMAT}'")
    if not is_hex(raw.get("digest")):
        problems.append("'digest' must be a SHA-256 in hexadecimal")
    texts = ("incrowd", "publish")
    problems += [f"'{key}' must be a text" for key in texts if not is_text(raw.get(key))]
    if not is_share(raw.get("suppression_limit")):
        problems.append("'suppression_limit' must be a number from 0 to 1")
    layout = Layout(
        publish=str(raw.get("publish")),
        records=_read_records(raw, problems),
        suppression_limit=raw.get("suppression_limit", 0.0),
        attributes=_read_attributes(raw.get("attributes"), problems),
        promises=_read_promises(raw.get("promises"), problems),
        files=_read_files(raw.get("files"), problems),
        measured=_read_measured(raw.get("measured"), problems),
        groups=raw.get("groups"),
        escaped=_read_escaped(raw.get("spreadsheet"), problems),
        unit=raw.get("unit", ROW),
        unprotected=raw.get("unprotected"),
        not_judged=tuple(key for key in NOT_JUDGED if key in raw),
        of_patients="patients" in raw,
        most_events=raw.get("most_events"),
        linked=read_linked(raw, problems),
        stable="pseudonyms" in raw,
    )
    problems += _strange_patients(layout)
    problems += strange_tables(layout)
    problems += strange_left_out(raw, layout)
    problems += strange_times(layout)
    if not _is_unit(layout.unit, layout.attributes):
        problems.append("'unit' must be 'row', or an identifier that is not published")
    if layout.groups is not None and not isinstance(layout.groups, dict):
        problems.append("'groups' must be an object")
    problems += strange_keys(raw) if not problems else []
    return (None, problems) if problems else (layout, problems)


def _is_unit(value: object, attributes: tuple[ManifestAttribute, ...]) -> bool:
    """Whether a unit is the row, or a column that told patients apart and is not published.

    Releases of earlier versions name none: they counted rows.
    """
    return value == ROW or any(
        each.name == value and each.role == "identifier" and not each.published
        for each in attributes
    )


def _strange_patients(layout: Layout) -> list[str]:
    """Return every problem with what a manifest says of patients who may have several rows."""
    problems = []
    if layout.of_patients:
        if layout.unit == ROW:
            problems.append("'patients' are counted, and 'unit' tells none apart")
        if layout.publish != GENERALIZED:
            problems.append(f"patients with several rows are published as {GENERALIZED}")
        if PATIENT in layout.published:
            problems.append(f"'{PATIENT}' is the column of pseudonyms, and of an attribute")
    elif layout.most_events is not None:
        problems.append("'most_events' is promised of patients, and none are counted")
    elif layout.stable:
        problems.append("'pseudonyms' are of patients, and none are counted")
    elif layout.events:
        problems.append(f"{shown(layout.events[0])} is of events, and no 'patients' are counted")
    roles = {each.role for each in layout.attributes if each.published and each.of_events}
    if roles - {"quasi", "sensitive", "keep"}:
        problems.append("attributes of events are quasi, sensitive or kept as they are")
    return problems


def _read_records(raw: Mapping[str, Any], problems: list[str]) -> dict[str, int]:
    if ("records" in raw) == ("patients" in raw):
        problems.append("either 'records' or 'patients' must be counted")
        return {}
    named = "records" if "records" in raw else "patients"
    found = raw[named] if isinstance(raw[named], dict) else {}
    wrong = [key for key in COUNTS if not is_count(found.get(key))]
    if wrong:
        problems.append(f"'{named}' must give {', '.join(wrong)} as whole numbers from 0 up")
        return {}
    return {key: found[key] for key in COUNTS}


def _read_attributes(value: object, problems: list[str]) -> tuple[ManifestAttribute, ...]:
    if not isinstance(value, list) or not value:
        problems.append("'attributes' must be a list of one or more objects")
        return ()
    attributes: list[ManifestAttribute] = []
    for number, each in enumerate(value, start=1):
        found = each if isinstance(each, dict) else {}
        name, role, published = (found.get(key) for key in ("name", "role", "published"))
        if found.get("level", EVENT) != EVENT:
            problems.append(f"attribute {number} has a 'level' that is not '{EVENT}'")
        elif not (is_text(name) and isinstance(role, str) and isinstance(published, bool)):
            problems.append(f"attribute {number} must have a 'name', a 'role' and 'published'")
        elif role not in (ROLES if published else {*ROLES, "other"}):
            problems.append(f"attribute {shown(name)} is in a role that is not known")
        else:
            kind, written = found.get("type"), found.get("format")
            attributes.append(
                ManifestAttribute(
                    name,
                    role,
                    published,
                    kind if is_kind(kind) else "category",
                    written if is_text(written) else None,
                    tuple(weighed) if isinstance(weighed := found.get("weights"), dict) else (),
                    "level" in found,
                    told if isinstance(told := found.get("table"), str) else None,
                    _object(found["time"]) if "time" in found else None,
                )
            )
    if len({attribute.name for attribute in attributes}) != len(attributes):
        problems.append("'attributes' names one column twice")
    return tuple(attributes)


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _read_promises(value: object, problems: list[str]) -> tuple[Promise, ...]:
    if not isinstance(value, list) or not value:
        problems.append("'promises' must be a list of one or more privacy models")
        return ()
    promises: list[Promise] = []
    for number, each in enumerate(value, start=1):
        found = dict(each) if isinstance(each, dict) else {}
        model, parameters = found.pop("model", None), found.pop("parameters", None)
        if isinstance(model, str) and model and isinstance(parameters, dict):
            promises.append(Promise(model, parameters, found))
        else:
            problems.append(f"promise {number} must have a 'model' and 'parameters'")
    return tuple(promises)


def _read_files(value: object, problems: list[str]) -> tuple[PublishedFile, ...]:
    if not isinstance(value, dict) or not value:
        problems.append("'files' must be an object of one or more files")
        return ()
    files: list[PublishedFile] = []
    for name, each in value.items():
        found = each if isinstance(each, dict) else {}
        rows, columns = found.get("rows"), found.get("columns")
        if not (is_hex(found.get("sha256")) and is_count(found.get("bytes"))):
            problems.append(f"file {shown(name)} must have a 'sha256' and 'bytes'")
        elif is_count(rows) and are_names(columns) and name.endswith(TABLES):
            described = (rows, tuple(columns))
            files.append(PublishedFile(name, found["sha256"], found["bytes"], *described))
        elif name not in DATA_FILES and part_number(name) is None:
            files.append(PublishedFile(name, found["sha256"], found["bytes"], None, None))
        else:
            problems.append(f"file {shown(name)} must have 'rows' and different 'columns'")
    return tuple(files)


def _read_escaped(value: object, problems: list[str]) -> bool:
    if value is None:
        return False
    found = value if isinstance(value, dict) else {}
    told, cells = found.get("escaped"), found.get("cells")
    if (
        isinstance(told, bool)
        and isinstance(cells, dict)
        and all(map(is_count, cells.values()))
        and is_count(found.get("names"))
        and len(found) == 3
    ):
        return told
    problems.append("'spreadsheet' must say whether cells are 'escaped', with counts of them")
    return False


def _read_measured(value: object, problems: list[str]) -> tuple[Mapping[str, Any], ...] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        problems.append("'measured' must be a list of objects")
        return None
    return tuple(value)
