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
from incrowd.table import Role

if TYPE_CHECKING:
    from incrowd.engines.preparation import Prepared
    from incrowd.publish.rows import ShownRows

ROLES: tuple[Role, ...] = ("keep", "target")
_RARE_CLASSES = 0.1
"""The share of the records that a target may single out, alone or with the columns to keep."""


def untouched(prepared: Prepared) -> list[str]:
    """The columns that are published as they are and that no model protects."""
    return _of_role(prepared, *ROLES)


def refuse_singled_out(prepared: Prepared) -> None:
    """Refuse records that a release of these would single out by its untouched columns."""
    _refuse(prepared, prepared.table.records, lambda columns: alone_in(prepared, columns))


def refuse_published(prepared: Prepared, rows: ShownRows) -> None:
    """Refuse what is singled out in published rows: the like of a record may be suppressed.

    Parameters
    ----------
    prepared
        The published records.
    rows
        What the table of records shows of them.
    """
    if prepared.histories is not None:
        refuse_singled_out(prepared)
    else:
        _refuse(prepared, rows.rows, rows.alone)


def alone_in(prepared: Prepared, columns: Sequence[str]) -> int:
    """How many records have values in some columns that no other record has.

    Of patients with several rows, how many have a row with values that no other patient has.

    Cost: one pass over the distinct rows, wherever they are.
    """
    if not columns:
        return 0
    table, histories = prepared.table, prepared.histories
    if histories is None:
        return table.alike(columns).alone
    return histories.singled_out(table, columns)


def _of_role(prepared: Prepared, *roles: Role) -> list[str]:
    found = [column.name for column in prepared.table.of_role(*roles)]
    if prepared.histories is None:
        return found
    found += [column.name for column in prepared.histories.columns if column.role in roles]
    return [name for name in prepared.histories.names if name in found]


def _refuse(prepared: Prepared, records: int, alone: Callable[[list[str]], int]) -> None:
    kept = _of_role(prepared, "keep")
    columns = kept
    found = alone(kept)
    if not found and len(kept) < len(untouched(prepared)):
        columns = untouched(prepared)
        found = alone(columns)
        found = found if found > records * _RARE_CLASSES else 0
    if found:
        by_itself = {name: _alone_by_itself(prepared, name) for name in columns}
        patients = prepared.histories is not None
        raise UnprotectedError(_refusal(found, records, by_itself, patients=patients))


def _alone_by_itself(prepared: Prepared, name: str) -> int:
    if prepared.histories is not None:
        return alone_in(prepared, [name])
    return int((prepared.table[name].counts() == 1).sum())


def _refusal(alone: int, records: int, by_itself: dict[str, int], *, patients: bool) -> str:
    """Why a release is refused, and what to do about it."""
    named = [
        f"'{name}'" + (f" (by itself {count:,})" if count else "")
        for name, count in by_itself.items()
    ]
    who = "patients have a row that is" if patients else "records are"
    return (
        f"{alone:,} of {records:,} {who} unique on the columns published as they are: "
        f"{listed(named, quoted=False)}. Who knows these values of a person finds the record, "
        "whatever is promised. Give such a column the role quasi, or identifier to leave it out; "
        "dates can be made coarse (`time:`). To publish it nevertheless: --accept-unprotected, in "
        "Python accept_unprotected=True."
    )
