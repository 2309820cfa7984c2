"""Linked tables wherever their rows are: what columns are called, and what is refused or told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from incrowd.engines.gathering import roles_of
from incrowd.errors import PolicyError
from incrowd.policy.linked import of_one, refuse_alike, refuse_unmatched
from incrowd.table import Role
from incrowd.table.profiles import PATIENT, PATIENTS, of_table
from incrowd.table.repeats import SAME, Repeats

if TYPE_CHECKING:
    from incrowd.policy import Policy

REMEDY = (
    "The table of patients has one row for each. If '{first}' varies within a patient, keep it in "
    "one of the `tables:`. If it should not, correct it, or say `take: most-frequent`."
)
"""What to do where a column of patients differs between the rows of one."""

_TAKEN = (
    f"'{PATIENT}' is the column of pseudonyms in a release of linked tables, and a column of {{}} "
    "that would be published. Call that one otherwise, or leave it out: give it the role "
    "identifier."
)


@dataclass(frozen=True)
class ColumnsOfTable:
    """The columns of one of several tables, as all tables know them.

    Parameters
    ----------
    called
        What a column of the table is called among those of all, where it has a role.
    roles
        The role of each, by that name.
    unpublished
        Why the others are left out, by such names.
    """

    called: Mapping[str, str]
    roles: dict[str, Role]
    unpublished: dict[str, str]


def named_columns(policy: Policy, name: str, columns: Sequence[str], label: str) -> ColumnsOfTable:
    """What becomes of the columns of a table; refuses names that another thing has."""
    given, left_out = roles_of(columns, of_one(policy, name), label)
    if name == PATIENTS:
        try:
            refuse_alike(policy, columns)
        except ValueError as error:
            raise PolicyError(f"{error}.") from None
    elif PATIENT in given:
        raise PolicyError(_TAKEN.format(label))

    def among_all(column: str) -> str:
        return column if name == PATIENTS else of_table(name, column)

    return ColumnsOfTable(
        {column: among_all(column) for column in given},
        {among_all(column): role for column, role in given.items()},
        {among_all(column): why for column, why in left_out.items()},
    )


def refuse_pseudonyms(roles: Mapping[str, Role], label: str) -> None:
    """Refuse a column of patients that is called as their pseudonyms will be."""
    if PATIENT in roles:
        raise PolicyError(_TAKEN.format(label))


def refuse_missing(repeats: Repeats, label: str) -> None:
    """Refuse patients without a key."""
    missing = repeats.told_missing("key", label)
    if missing:
        raise PolicyError(missing)


def told_several(more: int, repeats: Repeats, label: str) -> str:
    """That so many patients had several rows, of which one was made."""
    return (
        f"{more:,} of {repeats.distinct:,} patients have several rows in {label}, by "
        f"'{repeats.column}'; they were taken for one each. {SAME}"
    )


def refuse_strangers(
    policy: Policy, name: str, counts: tuple[int, int, int], label: str, patients: str
) -> None:
    """Refuse rows of a table that name nobody, unless they are left out; and where no row does.

    Parameters
    ----------
    policy
        The policy.
    name
        The table.
    counts
        How many of its rows name nobody, how many of these have no value, and all rows.
    label, patients
        What the table is called, and the table of patients.
    """
    others, empty, rows = counts
    if others == rows:
        assert policy.patients is not None
        raise PolicyError(
            f"No row of {label} names a patient of {patients}. Is '{policy.tables[name].unit}' the "
            f"column that names the patient there, and '{policy.patients.key}' the key? Name them "
            f"in `tables.{name}.unit` and `patients.key`. {SAME}"
        )
    lacking = f" ({empty:,} of them have no value)" if empty else ""
    refuse_unmatched(policy, name, (others, rows), label, patients, lacking)


def told_unpublished(name: str) -> str:
    """That nothing of a table is published."""
    return f"{name} is not published: none of its columns is."


def told_left_out(unmatched: Mapping[str, int], label: str) -> list[str]:
    """How many rows of tables were left out because they name nobody."""
    return [
        f"{many:,} rows of {name} name nobody of {label}, and are left out."
        for name, many in unmatched.items()
    ]
