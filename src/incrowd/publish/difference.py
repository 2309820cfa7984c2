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

from incrowd.errors import OutputError
from incrowd.publish.anatomy import COUNT, GROUP, file_name
from incrowd.publish.formulas import MARK, is_escaped
from incrowd.publish.lossy_join import CLASS
from incrowd.publish.owned import stated

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_RECORDS = {"generalized": "data", "anatomy": "qit", "lossy-join": "nss"}
"""The table with a row for each record, by how a release is published."""
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

    def as_dict(self) -> dict[str, Any]:
        """All of it for JSON."""
        return {
            "records": {"old": self.old_records, "new": self.new_records},
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
            f"The release that is replaced has {self.old_records:,} records, the new one "
            f"{self.new_records:,}"
        )
        if set(self.old_columns) != set(self.new_columns):
            return f"{told}. {joined(self.old_columns, self.new_columns)}{self._of_values()}"
        if self.gone is None:
            return f"{told}, published in another way. {joined(self.old_columns, self.new_columns)}"
        if self.same:
            return f"{told}, and they show the same: nothing follows from holding both."
        if not (self.gone or self.come or any(map(any, self.values.values()))):
            return f"{told}: the same, dealt to other groups. {held_together()}"
        return (
            f"{told}, with the same columns: {self.gone:,} records of the old one are not in the "
            f"new one, and {self.come:,} of the new one are not in the old one. "
            f"{held_together()}{self._of_values()}"
        )

    def _of_values(self) -> str:
        found = [
            f"{come:,} values of '{name}' came and {gone:,} went"
            for name, (gone, come) in self.values.items()
            if come or gone
        ]
        if not found:
            return ""
        more = f", and so on for {len(found) - _MOST:,} more" if found[_MOST:] else ""
        return f" Here {', '.join(found[:_MOST])}{more}."


def held_together() -> str:
    """What follows from two releases with the same columns."""
    return (
        "Each release is judged alone, and whoever kept the old one holds both: the sensitive "
        "values of records that came, went or changed in between follow from the difference, and "
        "the group of a record in one narrows down its group in the other."
    )


def joined(old: Sequence[str], new: Sequence[str]) -> str:
    """What follows from two releases with other columns, or published in another way."""
    common = [name for name in old if name in new]
    parts = [
        f"The old one alone has {_listed([name for name in old if name not in new])}"
        if set(old) - set(new)
        else "",
        f"the new one alone has {_listed([name for name in new if name not in old])}"
        if set(new) - set(old)
        else "",
    ]
    told = "; ".join(part for part in parts if part)
    told = f"{told[0].upper()}{told[1:]}. " if told else ""
    if not common:
        return f"{told}They share no column."
    return (
        f"{told}Whoever kept the old one can join both on what they share "
        f"({_listed(common)}): a record then tells more than either release was judged for."
    )


def columns_of(manifest: Mapping[str, Any]) -> list[str]:
    """The attributes that a release publishes; none where its manifest does not say."""
    return [str(entry["name"]) for entry in _entries(manifest)]


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
    Both are read as text, and their rows are counted in SQL, once for the records and once for
    each attribute that both publish as it is.
    """
    from incrowd.verify.records import connected, within

    first, second = stated(old) or {}, stated(new) or {}
    try:
        with within(memory), connected() as connection:
            return _found(connection, _Side(old, first), _Side(new, second))
    except (KeyError, TypeError, AttributeError, ValueError, StopIteration):
        raise OutputError(
            f"The release in '{old}' cannot be read, so nobody can say what follows from "
            "replacing it. Move it away, or choose another `output:`."
        ) from None


@dataclass(frozen=True)
class _Side:
    """One of the two releases."""

    folder: Path
    manifest: Mapping[str, Any]

    @property
    def kind(self) -> str:
        return str(self.manifest["publish"])

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(columns_of(self.manifest))

    @property
    def untouched(self) -> list[str]:
        """The attributes that are published as they are."""
        roles = ("sensitive", "target", "keep")
        return [str(each["name"]) for each in _entries(self.manifest) if each.get("role") in roles]

    def records(self) -> str:
        """SQL: the records as they are shown, without the numbers of their groups."""
        table = _RECORDS[self.kind]
        names = [name for name in self._names(table) if name not in _NUMBERS]
        return self._select(table, sorted(names))

    def values(self, name: str) -> str:
        """SQL: the values `v` of an attribute, and how many records `n` have each."""
        table = next(
            each
            for each in (_RECORDS[self.kind], "ss", f"st_{file_name(name)}")
            if name in self._names(each)
        )
        weight = [COUNT] if table.startswith("st_") else []
        column, *many = self._quoted(table, [name, *weight])
        n = f"CAST({many[0]} AS BIGINT)" if many else "1"
        return f"SELECT {column} AS v, {n} AS n FROM ({self._read(table)})"

    def _select(self, table: str, names: Sequence[str]) -> str:
        return f"SELECT {', '.join(self._quoted(table, names))} FROM ({self._read(table)})"

    def _quoted(self, table: str, names: Sequence[str]) -> list[str]:
        """The columns of these names as SQL calls them."""
        there = self._names(table)
        columns = [f"c{there.index(name)}" for name in names]
        if is_escaped(self.manifest) and self._files(table)[0].endswith(".csv"):
            quote = MARK.replace("'", "''")
            return [f"regexp_replace({each}, '^{quote}', '')" for each in columns]
        return columns

    def _files(self, table: str) -> list[str]:
        found = [name for name in self.manifest["files"] if Path(name.split("/")[0]).stem == table]
        return sorted(name for name in found if not name.endswith(".html"))

    def _names(self, table: str) -> list[str]:
        files = self._files(table)
        return list(self.manifest["files"][files[0]]["columns"]) if files else []

    def _read(self, table: str) -> str:
        """SQL: all cells of a table as text, the empty one where a cell is missing."""
        from incrowd.verify.readers import csv_sources, parquet_source

        names = [f"c{number}" for number in range(len(self._names(table)))]
        files = self._files(table)
        listed = [glob.escape(str(self.folder / file)).replace("'", "''") for file in files]
        # The last way has room for long lines: labels can list many values.
        ways = csv_sources(names, "false")
        source = parquet_source(names, "false") if files[0].endswith(".parquet") else ways[-1]
        quoted = "', '".join(listed)
        return source.replace("?", f"['{quoted}']", 1)


def _found(connection: DuckDBPyConnection, old: _Side, new: _Side) -> Difference:
    both = [name for name in old.untouched if name in new.untouched]
    values = {name: _values(connection, old.values(name), new.values(name)) for name in both}
    gone = come = None
    if set(old.columns) == set(new.columns) and old.kind == new.kind:
        gone = _many(connection, f"{old.records()} EXCEPT ALL {new.records()}")
        come = _many(connection, f"{new.records()} EXCEPT ALL {old.records()}")
    return Difference(
        int(old.manifest["records"]["published"]),
        int(new.manifest["records"]["published"]),
        old.columns,
        new.columns,
        gone,
        come,
        values,
        _same(old, new) or (old.kind == "generalized" and gone == come == 0),
    )


def _same(old: _Side, new: _Side) -> bool:
    """Whether all tables are the same bytes."""
    first, second = (
        {name: entry["sha256"] for name, entry in side.manifest["files"].items() if "rows" in entry}
        for side in (old, new)
    )
    return first == second


def _values(connection: DuckDBPyConnection, old: str, new: str) -> tuple[int, int]:
    """How many values went and came, each as often as records have it."""
    changes = (
        f"SELECT sum(n) AS n FROM (SELECT v, n FROM ({new}) UNION ALL SELECT v, -n FROM ({old}))"
        " GROUP BY v"
    )
    ((gone, come),) = connection.execute(
        f"SELECT coalesce(-sum(n) FILTER (n < 0), 0)::BIGINT,"
        f" coalesce(sum(n) FILTER (n > 0), 0)::BIGINT FROM ({changes})"
    ).fetchall()
    return int(gone), int(come)


def _many(connection: DuckDBPyConnection, query: str) -> int:
    ((many,),) = connection.execute(f"SELECT count(*) FROM ({query})").fetchall()
    return int(many)


def _entries(manifest: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    listed = manifest.get("attributes")
    entries = listed if isinstance(listed, list) else []
    return [each for each in entries if isinstance(each, Mapping) and each.get("published")]


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:_MOST])
    return f"{shown} and {len(names) - _MOST:,} more" if names[_MOST:] else shown
