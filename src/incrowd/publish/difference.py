"""What two releases tell together: how far the new one differs from the one that it replaces.

Each release was judged alone. Whoever kept the old one holds both, and whatever differs between
them is about the records that came, went or changed in between: so it is counted, and said.
"""

from __future__ import annotations

import glob
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd._runtime.manifests import Manifest, ManifestEntry, counts_in, counts_rows
from incrowd._runtime.sentences import listed
from incrowd.errors import OutputError
from incrowd.publish.ownership import stated
from incrowd.published.escaping import is_escaped
from incrowd.published.layouts import CLASS, COUNT, GROUP, RECORDS, file_name
from incrowd.table.profiles import PATIENT, PATIENTS, column_of
from incrowd.verify.counting.records import connected, within
from incrowd.verify.files.escaped import undone_source
from incrowd.verify.files.readers import csv_sources, parquet_source

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_NUMBERS = (GROUP, CLASS)
"""Columns that number groups, anew in every release."""
_MOST = 4


@dataclass(frozen=True)
class Difference:
    """A new release against the old one, as anybody finds it who has both."""

    old_records: int
    new_records: int
    old_columns: tuple[str, ...]
    new_columns: tuple[str, ...]
    gone: int | None = None
    """Records as the old one shows them that the new one does not; None where columns differ."""
    come: int | None = None
    values: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Of each attribute that both publish as it is, how many values went and how many came."""
    same: bool = False
    """Whether both tell the same: the same records in the same groups."""
    of_patients: bool = False
    """Whether patients, who may have several rows, are counted in both."""
    what: str = "records"
    """What went and came: records, patients, or rows of these, the numbers of patients aside."""

    def as_dict(self) -> dict[str, Any]:
        """All of it for JSON."""
        return {
            self._who: {"old": self.old_records, "new": self.new_records},
            "columns": {"old": list(self.old_columns), "new": list(self.new_columns)},
            "same": self.same,
            "differ": None if self.gone is None else {"gone": self.gone, "come": self.come},
            "values": {
                name: {"gone": gone, "come": come} for name, (gone, come) in self.values.items()
            },
        }

    def sentence(self) -> str:
        """What differs and what can follow from it, for who replaces the old release."""
        told = (
            f"The release that is replaced has {self.old_records:,} {self._who}, the new one "
            f"{self.new_records:,}"
        )
        both = both_tell(self.old_columns, self.new_columns)
        if set(self.old_columns) != set(self.new_columns):
            return f"{told}. {both}{self._of_values()}"
        if self.gone is None:
            return f"{told}, published in another way. {both}"
        if self.same:
            return f"{told}, and they show the same: nothing follows from holding both."
        if not (self.gone or self.come or any(map(any, self.values.values()))):
            if self.of_patients:
                return (
                    f"{told}: the same {self.what}, under other numbers of patients. "
                    f"{held_together()}"
                )
            return f"{told}: the same, dealt to other groups. {held_together()}"
        return (
            f"{told}, with the same columns: {self.gone:,} {self.what} of the old one are not in "
            f"the new one, and {self.come:,} of the new one are not in the old one. "
            f"{held_together()}{self._of_values()}"
        )

    @property
    def _who(self) -> str:
        return "patients" if self.of_patients else "records"

    def _of_values(self) -> str:
        found = [
            f"{come:,} values of '{name}' came and {gone:,} went"
            for name, (gone, come) in self.values.items()
            if come or gone
        ]
        if not found:
            return ""
        return f" Here {listed(found, _MOST, quoted=False)}."


def held_together() -> str:
    """What follows from two releases with the same columns."""
    return (
        "Each release is judged alone, and whoever kept the old one holds both: the sensitive "
        "values of records that came, went or changed in between follow from the difference, and "
        "the group of a record in one narrows down its group in the other."
    )


def both_tell(old: Sequence[str], new: Sequence[str]) -> str:
    """What follows from two releases with other columns, or published in another way."""
    common = [name for name in old if name in new]
    parts = [
        f"The old one alone has {listed([name for name in old if name not in new], _MOST)}"
        if set(old) - set(new)
        else "",
        f"the new one alone has {listed([name for name in new if name not in old], _MOST)}"
        if set(new) - set(old)
        else "",
    ]
    told = "; ".join(part for part in parts if part)
    told = f"{told[0].upper()}{told[1:]}. " if told else ""
    if not common:
        return f"{told}They share no column."
    return (
        f"{told}Whoever kept the old one can join both on what they share "
        f"({listed(common, _MOST)}): a record then tells more than either release was judged for."
    )


def columns_of(manifest: Manifest) -> list[str]:
    """The attributes that a release publishes; none where its manifest does not say."""
    return [str(entry.get("name")) for entry in _entries(manifest)]


def difference(old: Path, new: Path, memory: int | None = None) -> Difference:
    """How the release in one folder differs from that in another.

    Parameters
    ----------
    old, new
        Folders of releases.
    memory
        How many bytes counting may take; beyond that it goes to disk.

    Raises
    ------
    OutputError
        When the old release cannot be read: nobody could say what follows from replacing it.

    Notes
    -----
    Every table is read once, as text, and its different rows are counted in SQL.
    """
    try:
        with within(memory), connected() as connection:
            first, second = _Side(connection, old, "old"), _Side(connection, new, "new")
            return _found(first, second, connection)
    except (KeyError, TypeError, AttributeError, ValueError):
        raise OutputError(
            f"The release in '{old}' cannot be read, so nobody can say what follows from "
            "replacing it. Move it away, or choose another `output:`."
        ) from None


class _Side:
    """One of the two releases, its records counted in a database."""

    def __init__(self, connection: DuckDBPyConnection, folder: Path, name: str) -> None:
        self._connection = connection
        self._folder = folder
        self._name = name
        self.manifest: Manifest = stated(folder) or {}
        self.kind = str(self.manifest["publish"])
        self.columns = tuple(columns_of(self.manifest))
        self.linked = "tables" in self.manifest
        table = PATIENTS if self.linked else RECORDS[self.kind]
        self.of_patients = counts_rows(self.manifest)
        numbers = (PATIENT,) if self.of_patients else _NUMBERS
        self.keys = sorted(name for name in self._columns(table) if name not in numbers)
        """The columns of the records, without the numbers of their groups or patients."""
        self.records = self._counted(table, self.keys)

    @property
    def untouched(self) -> list[str]:
        """The attributes that are published as they are."""
        roles = ("sensitive", "target", "keep")
        return [str(each["name"]) for each in _entries(self.manifest) if each.get("role") in roles]

    def values(self, name: str) -> str:
        """SQL: the values `k0` of an attribute, and how many records `n` have each."""
        if name in self.keys:
            return f"SELECT k{self.keys.index(name)} AS k0, n FROM {self.records}"
        (entry,) = (each for each in _entries(self.manifest) if each["name"] == name)
        if self.linked:
            table = str(entry["table"])
            counted = self._counted(table, [column_of(table, name)])
            return f"SELECT k0, n FROM {counted}"
        apart = f"st_{file_name(name)}"
        if self._columns(apart):
            counted = self._counted(apart, [name, COUNT])
            return f"SELECT k0, CAST(k1 AS BIGINT) * n AS n FROM {counted}"
        return f"SELECT k0, n FROM {self._counted('ss', [name])}"

    def _counted(self, table: str, names: Sequence[str]) -> str:
        """A new table of the database: cells `k0`, `k1`, … of these columns, and `n` rows each."""
        import duckdb

        files = [name for name in self.manifest["files"] if Path(name.split("/")[0]).stem == table]
        there = self._columns(table)
        keys = ", ".join(f"c{there.index(name)} AS k{key}" for key, name in enumerate(names))
        made = f"{self._name}_{self._number()}"
        paths = [glob.escape(str(self._folder / file)) for file in files]
        ways = _ways(files[0], len(there), escaped=is_escaped(self.manifest))
        for way in ways:
            query = f"SELECT {keys}, count(*) AS n FROM ({way}) GROUP BY ALL"
            try:
                self._connection.execute(f"CREATE TABLE {made} AS {query}", [paths])
                break
            except duckdb.Error:  # a line may be longer than this way has room for
                if way is ways[-1]:
                    raise
        return made

    def _columns(self, table: str) -> list[str]:
        """The columns of a table in the order of its files; none where there is no such table."""
        listed = self.manifest["files"].items()
        return next(
            (
                list(entry["columns"])
                for name, entry in listed
                if Path(name.split("/")[0]).stem == table and "columns" in entry
            ),
            [],
        )

    def _number(self) -> int:
        ((many,),) = self._connection.execute("SELECT count(*) FROM duckdb_tables()").fetchall()
        return int(many)


def _ways(file: str, columns: int, *, escaped: bool) -> list[str]:
    """SQL that gives all cells of files as text, the empty one where a cell is missing."""
    names = [f"c{number}" for number in range(columns)]
    if file.endswith(".parquet"):
        return [parquet_source(names, "false")]
    ways = csv_sources(names, "false")
    return [undone_source(names, way) for way in ways] if escaped else ways


def _found(old: _Side, new: _Side, connection: DuckDBPyConnection) -> Difference:
    def changes(before: str, after: str, keys: int) -> tuple[int, int]:
        """How many rows went and came, each as often as it is there."""
        listed = ", ".join(f"k{number}" for number in range(keys))
        both = f"SELECT {listed}, n FROM {after} UNION ALL SELECT {listed}, -n FROM {before}"
        ((gone, come),) = connection.execute(
            "SELECT coalesce(-sum(n) FILTER (n < 0), 0)::BIGINT,"
            " coalesce(sum(n) FILTER (n > 0), 0)::BIGINT"
            f" FROM (SELECT sum(n) AS n FROM ({both}) GROUP BY {listed})"
        ).fetchall()
        return int(gone), int(come)

    values = {
        name: changes(f"({old.values(name)})", f"({new.values(name)})", 1)
        for name in old.untouched
        if name in new.untouched
    }
    gone = come = None
    both_patients = old.of_patients and new.of_patients
    if set(old.columns) == set(new.columns) and old.kind == new.kind and old.keys == new.keys:
        gone, come = changes(old.records, new.records, len(old.keys))
    return Difference(
        int(counts_in(old.manifest)["published"]),
        int(counts_in(new.manifest)["published"]),
        old.columns,
        new.columns,
        gone,
        come,
        values,
        _same(old, new)
        or (old.kind == "generalized" and not old.of_patients and gone == come == 0),
        both_patients,
        "rows" if both_patients and not old.linked else "patients" if both_patients else "records",
    )


def _same(old: _Side, new: _Side) -> bool:
    """Whether all tables are the same bytes."""
    first, second = (
        {name: entry["sha256"] for name, entry in side.manifest["files"].items() if "rows" in entry}
        for side in (old, new)
    )
    return first == second


def _entries(manifest: Manifest) -> list[ManifestEntry]:
    found = manifest.get("attributes")
    entries = found if isinstance(found, list) else []
    return [each for each in entries if isinstance(each, Mapping) and each.get("published")]
