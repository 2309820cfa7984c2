"""Policies of several tables: one of patients, and tables of events that name them.

Invariant: once a policy is validated, its `attributes` are those of the patients under their own
names and those of a table as `table.column`, with the level `event`. So whatever reads attributes
reads those of linked tables, and no name of a patients' attribute begins like that of a table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator

from incrowd._runtime.plain_yaml import as_text
from incrowd._runtime.sentences import listed
from incrowd.errors import PolicyError, nearest
from incrowd.hierarchies.description import AttributePolicy, FirstEvent, PolicyPart, TimePolicy
from incrowd.policy.naming import attribute, texts
from incrowd.policy.reach import plain_source
from incrowd.sources.files import TextOptions
from incrowd.table.profiles import PATIENTS, column_of, of_table
from incrowd.table.repeats import SAME

if TYPE_CHECKING:
    from incrowd.policy._schema import Policy

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
_RESERVED = ("data", "manifest", "report", "qit", "nss", "ss")
"""Names of other files of a release."""
_OF_ONE_FILE = {
    "source": "source", "query": "query", "separator": "separator", "encoding": "encoding",
    "header": "header", "missing_values": "missing-values", "attributes": "attributes",
    "other": "other",
}  # fmt: skip
"""What stands at the top for one file, and in each table where there are several."""
ColumnName = Annotated[str, BeforeValidator(as_text)]
Attributes = dict[str, Annotated[AttributePolicy, BeforeValidator(attribute)]]


class ReadTable(PolicyPart):
    """One of several tables: where it is read from, and what its columns are."""

    source: str | None = None
    query: str | None = None
    separator: str | None = None
    encoding: str | None = None
    header: bool | None = Field(default=None, strict=True)
    missing_values: Annotated[list[str] | None, BeforeValidator(texts)] = Field(
        default=None, min_length=1, alias="missing-values"
    )
    attributes: Attributes = Field(default_factory=dict)
    other: Literal["drop", "keep"] | None = None

    @field_validator("attributes", mode="before")
    @classmethod
    def _named_by_texts(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        return {str(name): spec for name, spec in value.items()}

    @property
    def text_options(self) -> TextOptions:
        """How its text file is written."""
        return TextOptions(
            separator=self.separator,
            encoding=self.encoding,
            header=self.header,
            missing_values=self.missing_values,
        )


class PatientsPolicy(ReadTable):
    """The table of the patients."""

    key: ColumnName = Field(description="the identifier column that tells patients apart")


class TablePolicy(ReadTable):
    """A table of events, each of which names its patient."""

    unit: ColumnName = Field(description="the column that names the patient of a row")
    unmatched: Literal["refuse", "drop"] = Field(
        default="refuse",
        description="what becomes of rows whose patient the table of patients does not have",
    )


def check_tables(policy: Policy) -> None:
    """Raise a ValueError where the tables of a policy do not fit together.

    What is wrong within an attribute is told by whoever looks at attributes.
    """
    patients = policy.patients
    if patients is None:
        raise ValueError("`tables:` hang on a table of patients; add `patients:`, with its `key:`")
    given = [said for field, said in _OF_ONE_FILE.items() if getattr(policy, field)]
    given += ["header"] * (policy.header is False)
    if given:
        raise ValueError(
            f"`{given[0]}:` at the top is for one file. Beside `patients:` say it in `patients:`, "
            "and in each of the `tables:`"
        )
    if not policy.tables:
        raise ValueError(
            "`patients:` needs `tables:` of events. For one table alone, say `source:` and "
            "`attributes:` at the top"
        )
    if policy.unit not in (None, patients.key):
        raise ValueError(
            f"unit: '{policy.unit}' is not the key of the patients. Leave it out, or say `unit: "
            f"{patients.key}`"
        )
    _check_names(policy)
    for name, each in tables_of(policy).items():
        where = PATIENTS if name == PATIENTS else f"tables.{name}"
        if each.source is not None:
            try:
                plain_source(each.source, each.query)
            except ValueError as error:
                raise ValueError(f"{where}.{error}") from None
        _check_attributes(each, where)


def is_reserved(name: str) -> bool:
    """Whether releases have, or may have, another file of this name than a table of patients."""
    return name.lower() in _RESERVED or name.lower().startswith("st_")


def _check_names(policy: Policy) -> None:
    """Refuse names of tables that cannot be names of files, or of columns that look like them."""
    seen: set[str] = set()
    for name in policy.tables:
        if not _NAME.fullmatch(name):
            raise ValueError(
                f"tables: '{name[:60]}' cannot be the name of a file of the release; take letters, "
                "digits, _ and -, a letter first, at most 40"
            )
        if is_reserved(name) or name.lower() in (PATIENTS, *seen):
            raise ValueError(
                f"tables: '{name}' is the name of another file of the release; call the table "
                "otherwise"
            )
        seen.add(name.lower())
    assert policy.patients is not None
    refuse_alike(policy, policy.patients.attributes)


def refuse_alike(policy: Policy, columns: Any) -> None:
    """Refuse columns of patients with a name that is that of a table's column.

    Raises
    ------
    ValueError
        With the name.
    """
    for column in columns:
        table = column.partition(".")[0]
        if table in policy.tables and "." in column:
            raise ValueError(
                f"patients: the column '{column}' would be taken for one of the table '{table}'. "
                "Call the column or the table otherwise"
            )


def _check_attributes(table: ReadTable, where: str) -> None:
    """Refuse a column that names patients and is published, and levels in the wrong table."""
    field, level = ("key", "event") if isinstance(table, PatientsPolicy) else ("unit", "patient")
    column = _whose(table)
    role = table.attributes[column].role if column in table.attributes else "identifier"
    if role != "identifier":
        raise ValueError(
            f"{where}.attributes.{column}: the role of '{column}' is {role}, and as the `{field}:` "
            "of the table it names patients; give it the role identifier, which is never "
            "published, or leave it out"
        )
    for name, asked in table.attributes.items():
        if "level" in asked.model_fields_set and asked.level == level:
            raise ValueError(
                f"{where}.attributes.{name}: what varies within a patient stands in one of the "
                "`tables:`, what does not in `patients:`; leave `level:` out"
            )


def merged(policy: Policy) -> dict[str, AttributePolicy]:
    """The attributes of all tables: those of patients, then those of events as `table.column`."""
    found: dict[str, AttributePolicy] = {}
    for name, table in tables_of(policy).items():
        own = {_whose(table): AttributePolicy(role="identifier"), **table.attributes}
        for column, asked in own.items():
            if name == PATIENTS:
                found[column] = asked
            else:
                changed = {"level": "event", "time": _within(table, name, asked.time)}
                found[of_table(name, column)] = asked.model_copy(update=changed)
    return found


def _within(table: ReadTable, name: str, time: TimePolicy | None) -> TimePolicy | None:
    """What becomes of dates, with a column of the same table called as all tables know it."""
    index = None if time is None else time.relative_to
    if time is None or not isinstance(index, FirstEvent) or index.first not in table.attributes:
        return time
    whole = index.model_copy(update={"first": of_table(name, index.first)})
    return time.model_copy(update={"relative_to": whole})


def tables_of(policy: Policy) -> dict[str, ReadTable]:
    """The tables of a policy that has several, by name; that of the patients is the first."""
    assert policy.patients is not None
    return {PATIENTS: policy.patients, **policy.tables}


def _whose(table: ReadTable) -> str:
    """The column that names the patient of a row."""
    assert isinstance(table, PatientsPolicy | TablePolicy)
    return table.key if isinstance(table, PatientsPolicy) else table.unit


def of_one(policy: Policy, name: str) -> Policy:
    """What a policy says of one of its tables, as if that were its flat file."""
    table = tables_of(policy)[name]
    unit = _whose(table)
    attributes = {unit: AttributePolicy(role="identifier"), **table.attributes}
    return policy.model_copy(
        update={
            "patients": None,
            "tables": {},
            "unit": unit,
            "query": table.query,
            "other": table.other,
            "attributes": attributes,
            **table.text_options,
        }
    )


def table_of(policy: Policy, name: str) -> str:
    """The table of an attribute, among several."""
    table, _, column = name.partition(".")
    return table if table in policy.tables and column else PATIENTS


def place_of(policy: Policy, name: str) -> str:
    """Where a policy says something of an attribute, as people write it."""
    if policy.patients is None:
        return f"attributes.{name}"
    table = table_of(policy, name)
    where = PATIENTS if table == PATIENTS else f"tables.{table}"
    return f"{where}.attributes.{column_of(table, name)}"


def like_it(policy: Policy, name: str) -> str:
    """A suggestion of the attribute that was meant, also where its table was left out."""
    alike = [each for each in policy.attributes if each.partition(".")[2] == name]
    if policy.patients is not None and alike:
        return f" Did you mean {listed(alike, last=' or ')}?"
    return nearest(name, policy.attributes)


def refuse_unmatched(
    policy: Policy, name: str, counts: tuple[int, int], file: str, patients: str, lacking: str = ""
) -> None:
    """Refuse rows of a table that name nobody, unless the policy leaves them out.

    Parameters
    ----------
    policy
        The policy.
    name
        The table.
    counts
        How many of its rows name nobody, and how many there are.
    file, patients
        What the table is called, and the table of patients.
    lacking
        What is known of those rows besides.

    Raises
    ------
    PolicyError
        With the counts and what to do.
    """
    table, (others, rows) = policy.tables[name], counts
    if others and table.unmatched == "refuse":
        raise PolicyError(
            f"{others:,} of {rows:,} rows of {file} name nobody of {patients} by '{table.unit}'"
            f"{lacking}. {SAME} Correct them, or leave those rows out: say `unmatched: drop` in "
            f"`tables.{name}`."
        )


def refuse_linked(policy: Policy, what: str) -> None:
    """Refuse a policy of several tables where one file is worked on.

    Parameters
    ----------
    policy
        The policy.
    what
        What works on one file, as the beginning of a sentence.

    Raises
    ------
    PolicyError
        With the way out.
    """
    if policy.patients is not None:
        raise PolicyError(
            f"{what} works on one file, and this policy has `patients:` and `tables:`. Give a "
            "policy for the table of patients alone."
        )
