"""Columns that are published as they are: how many records their values single out.

The roles `keep` and `target` are published untouched, and no model looks at them. Who knows these
values of a person finds the record by them, however large its group is. So a release in which a
record is the only one with its values in these columns together is refused, unless the person at
the keyboard accepts it; no policy can.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.counts.packing import distinct_rows
from incrowd.errors import UnprotectedError
from incrowd.publish.outside import OutsideRows

if TYPE_CHECKING:
    from incrowd.publish.rows import ShownRows
    from incrowd.table import Role, Table

ROLES: tuple[Role, ...] = ("keep", "target")


def untouched(table: Table) -> list[str]:
    """The columns that are published as they are and that no model protects."""
    return [column.name for column in table.of_role(*ROLES)]


def refuse_singled_out(table: Table) -> None:
    """Refuse records that a release of this table would single out by its untouched columns."""
    columns = untouched(table)
    alone = alone_in(table, columns)
    if alone:
        by_itself = {name: int((table[name].counts() == 1).sum()) for name in columns}
        raise UnprotectedError(told(alone, table.records, by_itself))


def refuse_stated(manifest: Mapping[str, Any]) -> None:
    """Refuse a release whose manifest says that its untouched columns single records out."""
    stated = manifest.get("unprotected")
    if stated is not None and stated["unique"]:
        by_itself = dict.fromkeys(stated["columns"], 0)
        published = manifest["records"]["published"]
        raise UnprotectedError(told(stated["unique"], published, by_itself))


def told(alone: int, records: int, by_itself: dict[str, int]) -> str:
    """Why a release is refused, and what to do about it."""
    listed = ", ".join(
        f"'{name}'" + (f" (by itself {count:,})" if count else "")
        for name, count in by_itself.items()
    )
    return (
        f"{alone:,} of {records:,} records are unique on the columns published as they are: "
        f"{listed}. Who knows these values of a person finds the record, whatever is promised. "
        "Give such a column the role quasi, or identifier to leave it out. To publish it "
        "nevertheless: --accept-unprotected, in Python accept_unprotected=True."
    )


def alone_in(table: Table, columns: Sequence[str]) -> int:
    """How many records of a table have values in some columns that no other record has.

    Cost: one pass over the distinct rows, wherever they are.
    """
    if not columns:
        return 0
    if table.home is not None:
        names = [table.home.sql_name(name) for name in columns]
        return _alone_by(table.home.engine, table.home.table, names)
    chosen = [table[name] for name in columns]
    number, _ = distinct_rows(
        [column.codes for column in chosen], [column.cardinality for column in chosen], table.rows
    )
    return int((np.bincount(number, table.weights) == 1).sum())


def alone_on(rows: ShownRows, columns: Sequence[str]) -> int:
    """The same of published rows."""
    if not columns:
        return 0
    chosen = [rows.names.index(name) for name in columns]
    if isinstance(rows, OutsideRows):
        with rows.query() as query:
            keys = [rows.keys[place] for place in chosen]
            return _alone_by(rows.groups.rows.engine, f"({query})", keys)
    shown = [rows.columns[place] for place in chosen]
    number, _ = distinct_rows(
        [column.codes for column in shown],
        [len(column.texts) for column in shown],
        len(rows.times),
    )
    return int((np.bincount(number, rows.times) == 1).sum())


def _alone_by(engine: Any, source: str, names: Sequence[str]) -> int:
    listed = ", ".join(names)
    found = engine.ask(
        f"SELECT CAST(count(*) AS BIGINT) AS n FROM (SELECT {listed} FROM {source} r "
        f"GROUP BY {listed} HAVING sum(n) = 1) q"
    )
    return int(found["n"][0])
