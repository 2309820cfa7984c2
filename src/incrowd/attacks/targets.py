"""What an attack is played on: a release with its manifest, or any file or frame without one.

Of a release of several tables (anatomy, lossy join) it is the table of records that an attacker
looks people up in; the sensitive values stand in tables apart and belong to groups of records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd._runtime.manifests import Manifest, ManifestEntry
from incrowd.errors import InputError, ParameterError, SourceError
from incrowd.policy.units import one_counted
from incrowd.published.entries import (
    NOT_OF_PATIENTS,
    Described,
    largest_promised_k,
    published_entries,
)
from incrowd.published.layouts import RECORDS
from incrowd.published.opened import event_rows, is_release
from incrowd.table.coding import code_column

if TYPE_CHECKING:
    import polars as pl

    from incrowd.published.events import EventRows
    from incrowd.published.parts import Apart, Parts
    from incrowd.sources import SourceLike
    from incrowd.table import Column
    from incrowd.table.people import HeldByPatients

_COLUMNS_SHOWN = 20


@dataclass(frozen=True)
class Target(Described):
    """A table under attack; `parts` are those of a release of several tables, None otherwise.

    Of patients with several rows it is the table of patients, and `events` has their rows.
    """

    frame: pl.DataFrame
    name: str
    manifest: Manifest | None = None
    parts: Parts | None = None
    events: tuple[EventRows, ...] = ()
    gathered: Mapping[str, HeldByPatients] | None = None
    """Of patients of a raw file, what they hold of which they have several values."""

    @property
    def entries(self) -> dict[str, ManifestEntry]:
        """The manifest's entry of every published attribute, empty without a manifest."""
        return published_entries(self.manifest or {})

    @property
    def apart(self) -> dict[str, Apart]:
        """The table of every attribute that stands apart from the records."""
        tables = () if self.parts is None else self.parts.apart
        return {name: table for table in tables for name in table.columns}

    def table_apart(self, name: str) -> Apart:
        """The table of a sensitive attribute that stands apart from the records."""
        if name not in self.apart:
            raise InputError(
                f"'{name}' is no sensitive attribute of {self.name}, whose sensitive attributes "
                f"are {', '.join(self.apart)}."
            )
        return self.apart[name]

    @property
    def one(self) -> str:
        """What one of those in its table is called."""
        if self.manifest is not None:
            return one_counted(self.manifest)
        return "record" if self.gathered is None else "patient"

    @property
    def entries_of_events(self) -> dict[str, ManifestEntry]:
        """The manifest's entry of every published attribute of events."""
        return {name: entry for rows in self.events for name, entry in rows.entries.items()}

    @property
    def sensitive(self) -> list[str]:
        """The sensitive attributes of a release, those of events last."""
        entries = self.entries_of_events
        of_events = [name for name in entries if entries[name].get("role") == "sensitive"]
        return [*self.of_role("sensitive"), *of_events]

    def held(self, name: str) -> HeldByPatients | None:
        """Which values patients hold of an attribute of events; None of another attribute."""
        if self.gathered is not None:
            return self.gathered.get(name)
        return next((each.held(name) for each in self.events if name in each.entries), None)

    @property
    def promised_k(self) -> int | None:
        """The largest k that the manifest promises, None without one."""
        return largest_promised_k((self.manifest or {}).get("promises", ()))

    def refuse_named_groups(self, quasi: Sequence[str] | None) -> None:
        """Refuse quasi-identifiers where the tables give the groups."""
        if self.parts is not None and quasi is not None:
            raise ParameterError(
                f"quasi: the groups of {self.name} are given by its tables. Leave quasi out."
            )


def open_target(
    source: SourceLike,
    *,
    columns: Sequence[str] | None = None,
    query: str | None = None,
    header: bool | None = None,
) -> Target:
    """The table in a release, a release folder, a file, a database or a frame.

    `columns` are all that is read of a file or frame; a release is always read whole.
    """
    from incrowd.sources import describe, read

    if is_release(source):
        from incrowd.published.opened import as_release

        name = describe(source) if isinstance(source, str | Path) else "the release"
        return _of_release(as_release(source), name)
    return Target(read(source, query=query, header=header, columns=columns), describe(source))


def columns_of(
    source: SourceLike,
    quasi: Sequence[str] | None,
    sensitive: Sequence[str] | None,
    query: str | None = None,
    header: bool | None = None,
    beside: Sequence[str] = (),
) -> tuple[Target, list[str], list[str]]:
    """The table, its quasi-identifiers and its sensitive attributes, all sure to be there.

    Of a file that is no release, columns `beside` these are read too.
    """
    names, apart = two_lists(quasi, sensitive)
    columns = None if not names else list(dict.fromkeys([*names, *(apart or ()), *beside]))
    target = open_target(source, columns=columns, query=query, header=header)
    if names is None:
        names = target.of_role("quasi")
    if apart is None:
        apart = [name for name in target.sensitive if name not in names]
    if not names:
        raise no_quasi(target.name, target.frame.columns)
    _refuse_both(names, apart)
    require_columns(target, names, apart)
    return target, names, apart


def two_lists(
    quasi: Sequence[str] | None, sensitive: Sequence[str] | None
) -> tuple[list[str] | None, list[str] | None]:
    """The names of quasi-identifiers and of sensitive attributes, none of them both."""
    names, apart = name_list(quasi, "quasi"), name_list(sensitive, "sensitive")
    _refuse_both(names or (), apart or ())
    return names, apart


def _refuse_both(names: Sequence[str], apart: Sequence[str]) -> None:
    both = [name for name in names if name in apart]
    if both:
        raise ParameterError(
            f"'{both[0]}' is named as quasi and as sensitive. Choose one for each column."
        )


def no_quasi(name: str, columns: Sequence[str]) -> InputError:
    """The error that lists what could be a quasi-identifier."""
    some = ", ".join(columns[:_COLUMNS_SHOWN])
    more = " …" if len(columns) > _COLUMNS_SHOWN else ""
    return InputError(
        "No quasi-identifier is named. Name the columns that an attacker may know of a "
        f"person, such as age, sex and zip; {name} has: {some}{more}."
    )


def require_columns(target: Target, names: Sequence[str], sensitive: Sequence[str] = ()) -> None:
    """Return when the target has all these columns; raise InputError with the nearest name.

    Those that are sensitive may stand apart from the records, or in the rows of patients.
    """
    from incrowd.sources.columns import chosen

    events = [name for rows in target.events for name in rows.entries]
    for name in names:
        if name in events:
            raise InputError(f"'{name}' {NOT_OF_PATIENTS}")
    known = [*target.frame.columns, *target.apart, *events]
    chosen(known, [*names, *sensitive], target.name)
    if names:
        chosen(target.frame.columns, names, target.name)


def name_list(names: object, parameter: str) -> list[str] | None:
    """The names as a list, None as None; anything but different names of columns is refused."""
    if names is None:
        return None
    if (
        isinstance(names, str)
        or not isinstance(names, Sequence)
        or not all(isinstance(name, str) for name in names)
        or len(set(names)) < len(names)
    ):
        raise ParameterError(f"{parameter}: must be a list of column names, each only once.")
    return list(names)


def code_as_seen(series: pl.Series, *, sensitive: bool = False) -> Column:
    """The coded column, its type seen from the data; text when its numbers cannot be ordered.

    Of a sensitive one, spellings of one value have one code: an attacker can read.
    """
    try:
        return code_column(series, role="sensitive" if sensitive else "quasi")
    except SourceError:
        return code_as_text(series, sensitive=sensitive)


def code_as_text(series: pl.Series, *, sensitive: bool = False) -> Column:
    """The coded column with every different text (of a sensitive one: value) as one of its own."""
    return code_column(series, role="sensitive" if sensitive else "quasi", kind="category")


def _of_release(release: Any, name: str) -> Target:
    kind = release.manifest.get("publish", "generalized")
    if kind != "generalized":
        from incrowd.published.parts import open_parts

        parts = open_parts(release)
        records = release.tables[RECORDS[kind]].select(list(parts.columns))
        return Target(records, name, release.manifest, parts)
    target = Target(release.data, name, release.manifest, events=event_rows(release))
    if not target.frame.height:
        raise InputError(f"{name[0].upper()}{name[1:]} has no published records.")
    return target
