"""Columns that are published as they are: how many records their values single out.

The roles `keep` and `target` are published untouched, and no model looks at them. Who knows these
values of a person finds the record by them, however large its group is. How many records that is
true of is said in every release. Where a record is the only one with its values in all columns to
keep, the release is refused, unless the person at the keyboard accepts it; no policy can. Classes
of a target are what analysts study, and a rare one is said, not refused; a target that singles out
more than a few is no class, and is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from incrowd._runtime.sentences import listed
from incrowd.errors import UnprotectedError

if TYPE_CHECKING:
    from incrowd.publish.rows import ShownRows
    from incrowd.table import Role, Table

ROLES: tuple[Role, ...] = ("keep", "target")
_RARE_CLASSES = 0.1
"""The share of the records that a target may single out, alone or with the columns to keep."""


def untouched(table: Table) -> list[str]:
    """The columns that are published as they are and that no model protects."""
    return [column.name for column in table.of_role(*ROLES)]


def refuse_singled_out(table: Table) -> None:
    """Refuse records that a release of this table would single out by its untouched columns."""
    _refuse(table, table.records, lambda columns: alone_in(table, columns))


def refuse_published(table: Table, rows: ShownRows) -> None:
    """Refuse what is singled out in published rows: the like of a record may be suppressed."""
    _refuse(table, rows.rows, rows.alone)


def _refuse(table: Table, records: int, alone: Callable[[list[str]], int]) -> None:
    kept = [column.name for column in table.of_role("keep")]
    columns = kept
    found = alone(kept)
    if not found and len(kept) < len(untouched(table)):
        columns = untouched(table)
        found = alone(columns)
        found = found if found > records * _RARE_CLASSES else 0
    if found:
        by_itself = {name: int((table[name].counts() == 1).sum()) for name in columns}
        raise UnprotectedError(_refusal(found, records, by_itself))


def _refusal(alone: int, records: int, by_itself: dict[str, int]) -> str:
    """Why a release is refused, and what to do about it."""
    named = [
        f"'{name}'" + (f" (by itself {count:,})" if count else "")
        for name, count in by_itself.items()
    ]
    return (
        f"{alone:,} of {records:,} records are unique on the columns published as they are: "
        f"{listed(named, quoted=False)}. Who knows these values of a person finds the record, "
        "whatever is promised. Give such a column the role quasi, or identifier to leave it "
        "out. To publish it nevertheless: --accept-unprotected, in Python accept_unprotected=True."
    )


def alone_in(table: Table, columns: Sequence[str]) -> int:
    """How many records of a table have values in some columns that no other record has.

    Cost: one pass over the distinct rows, wherever they are.
    """
    return table.alike(columns).alone if columns else 0
