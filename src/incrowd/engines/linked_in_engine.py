"""Several tables, linked in an SQL engine: the patients a table there, and their rows others.

What `_linked.py` does to rows in memory is done here by joins on the hash of the patient, which
rows of all tables have by one key. Nothing of the size of the rows, or of the patients, is in
memory while they are linked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from incrowd._runtime.progress import Progress
from incrowd.engines._engine_profiles import named_by
from incrowd.engines.gathering import Gathered
from incrowd.engines.linked_columns import (
    REMEDY,
    refuse_missing,
    refuse_pseudonyms,
    refuse_strangers,
    told_left_out,
    told_several,
    told_unpublished,
)
from incrowd.engines.preparation import Prepared, bound, refuse_groupless
from incrowd.table.profiles import PATIENTS
from incrowd.table.repeats import Repeats
from incrowd.table.sql_engine import SqlEngine
from incrowd.table.sql_histories import WHO, SqlEvents, SqlHistories
from incrowd.table.sql_profiles import TakenBy, gathered_in_engine
from incrowd.table.sql_table import SqlTable

if TYPE_CHECKING:
    from incrowd._runtime.secret_key import SecretKey
    from incrowd.policy import Policy

_LISTED = ", ".join(WHO)


@dataclass(frozen=True)
class ReadIntoEngine:
    """One table as it was read: its columns, and its rows in an engine, which know whom they name.

    `missing` is how many rows name nobody.
    """

    found: Gathered
    missing: int
    label: str


def prepare_linked_in_engine(
    read: Callable[[str], ReadIntoEngine],
    policy: Policy,
    progress: Progress,
    key: SecretKey | None,
) -> Prepared:
    """The tables that `read` gives by their names, coded as the policy says and linked.

    Raises
    ------
    PolicyError
        What does not fit, as rows in memory are refused.
    """
    own = read(PATIENTS)
    assert own.found.stayed is not None
    engine = own.found.stayed.rows.engine
    repeats = _repeats(own, policy, engine)
    refuse_missing(repeats, own.label)
    refuse_groupless(policy, repeats.distinct)
    refuse_pseudonyms(own.found.roles, own.label)
    remarks = []
    if repeats.any:
        remarks.append(told_several(_with_several(own, engine), repeats, own.label))
    people = _patients(own, policy)
    parts: dict[str, SqlEvents] = {}
    unmatched: dict[str, int] = {}
    found = own.found
    for name in policy.tables:
        each = read(name)
        found = replace(found, unpublished={**found.unpublished, **each.found.unpublished})
        if not each.found.roles:
            remarks.append(told_unpublished(name))
            continue
        events, others = _events(each, policy).matched(people.sql_rows.table)
        refuse_strangers(
            policy, name, (others, each.missing, each.found.records), each.label, own.label
        )
        parts[name], unmatched[name] = events, others
    left_out = {name: many for name, many in unmatched.items() if many}
    remarks += told_left_out(left_out, own.label)
    varying = [column.name for events in parts.values() for column in events.columns]
    names = (*(column.name for column in people.columns), *varying)
    progress("coding", 0, 1)
    histories = SqlHistories(parts, names, people.sql_rows.table, unmatched=left_out, engine=engine)
    found = replace(found, key=key)
    return bound(found, policy, people, named_by(histories, key), tuple(remarks))


def _repeats(own: ReadIntoEngine, policy: Policy, engine: SqlEngine) -> Repeats:
    """How often the key of the patients repeats."""
    assert own.found.stayed is not None
    assert policy.patients is not None
    both = f"SELECT {_LISTED} FROM {own.found.stayed.rows.table} GROUP BY {_LISTED}"
    counted = engine.ask(f"SELECT count(*) AS many FROM ({both})")
    rows, different = own.found.records, int(counted["many"][0])
    return Repeats(policy.patients.key, rows, rows - own.missing, different)


def _with_several(own: ReadIntoEngine, engine: SqlEngine) -> int:
    """How many patients have several rows in their table."""
    assert own.found.stayed is not None
    rows = own.found.stayed.rows.table
    each = f"SELECT {_LISTED} FROM {rows} GROUP BY {_LISTED} HAVING count(*) > 1"
    return int(engine.ask(f"SELECT count(*) AS many FROM ({each})")["many"][0])


def _patients(own: ReadIntoEngine, policy: Policy) -> SqlTable:
    """The table of patients, those with several rows taken for one; its rows as read are gone."""
    table = own.found.table(policy, own.label)
    assert isinstance(table, SqlTable)
    take = {name: asked.take for name, asked in policy.attributes.items() if asked.take is not None}
    names = [column.name for column in table.columns]
    people = gathered_in_engine(table, names, TakenBy(take, None), REMEDY)
    table.sql_rows.engine.drop(table.sql_rows.table)
    return people


def _events(each: ReadIntoEngine, policy: Policy) -> SqlEvents:
    """All rows of a table of events."""
    table = each.found.table(policy, each.label)
    assert isinstance(table, SqlTable)
    return SqlEvents(
        table.columns, table.records, table.name, sql_rows=table.sql_rows, codes=table.codes
    )
