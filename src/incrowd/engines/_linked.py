"""Several tables, linked: the patients coded as a table, and the rows of events that name them.

Invariant: each row of events belongs to exactly one patient of the table of patients, or is left
out and counted, which the policy must allow. Who is named is told by hashes with the same random
keys in all tables (`table/repeats.py`); no identifier is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from incrowd._runtime.arrays import IntArray
from incrowd._runtime.progress import Progress, silent
from incrowd.engines._profiles import refuse_groupless
from incrowd.engines.preparation import Gathered, Prepared, bound, roles_of
from incrowd.errors import PolicyError, SourceError
from incrowd.policy.linked import SAME, of_one, refuse_alike, refuse_unmatched
from incrowd.sources.source_guard import Watch, watched
from incrowd.table import MemoryTable
from incrowd.table.dictionary import ColumnDictionary
from incrowd.table.profiles import PATIENT, PATIENTS, Events, Histories, gathered, of_table
from incrowd.table.repeats import Linking, Repeats

if TYPE_CHECKING:
    from incrowd._runtime.secret_key import SecretKey
    from incrowd.policy import Policy
    from incrowd.sources import Source

_REMEDY = (
    "The table of patients has one row for each. If '{first}' varies within a patient, keep it in "
    "one of the `tables:`. If it should not, correct it, or say `take: most-frequent`."
)

_TAKEN = (
    f"'{PATIENT}' is the column of pseudonyms in a release of linked tables, and a column of {{}} "
    "that would be published. Call that one otherwise, or leave it out: give it the role "
    "identifier."
)


@dataclass(frozen=True)
class _Read:
    """One table as it was read: its columns, and whom each row names."""

    found: Gathered
    names: pl.DataFrame
    label: str


def prepare_linked(
    source: Source | Watch,
    policy: Policy,
    progress: Progress = silent,
    key: SecretKey | None = None,
) -> Prepared:
    """The tables of a source, coded as the policy says: profiles of patients, and their rows.

    Parameters
    ----------
    source
        The tables by their names.
    policy
        The policy, with `patients:` and `tables:`.
    progress
        Called as the work goes on.
    key
        What pseudonyms and shifts follow from, where somebody gave one.

    Raises
    ------
    PolicyError
        What does not fit, before anything is searched: a key that is missing, patients whose rows
        differ, rows that name nobody; with the counts and what to do.
    """
    watch = watched(source)
    linking = Linking(of_one(policy, PATIENTS).unit or "", key)
    own = _read(watch, policy, PATIENTS, linking, progress)
    patient, repeats = linking.patients(own.names)
    _refuse_missing(repeats, own.label)
    refuse_groupless(policy, repeats.distinct)
    whole, remarks = _patients(own, policy, patient, repeats)
    parts: dict[str, Events] = {}
    unmatched: dict[str, int] = {}
    found = own.found
    for name in policy.tables:
        each = _read(watch, policy, name, linking, progress)
        found = replace(found, unpublished={**found.unpublished, **each.found.unpublished})
        if not each.found.roles:
            remarks.append(f"{name} is not published: none of its columns is.")
            continue
        events, unmatched[name] = _matched(each, own, policy, name, linking)
        parts[name] = events
    left_out = {name: many for name, many in unmatched.items() if many}
    remarks += [
        f"{many:,} rows of {name} name nobody of {own.label}, and are left out."
        for name, many in left_out.items()
    ]
    columns = [column.name for events in parts.values() for column in events.columns]
    names = (*(column.name for column in whole.columns), *columns)
    progress("coding", 0, 1)
    pseudonyms = None if key is None else linking.pseudonyms(patient, key)
    histories = Histories(parts, names, left_out, pseudonyms)
    return bound(replace(found, key=key), policy, whole, histories, tuple(remarks))


def _read(watch: Watch, policy: Policy, name: str, linking: Linking, progress: Progress) -> _Read:
    """The columns of a table that have a role, named as linked tables name them, and the hashes."""
    source, asked = watch.source.tables[name], of_one(policy, name)
    assert asked.unit is not None
    called = {}
    dictionaries: dict[str, ColumnDictionary] = {}
    hashes: list[pl.DataFrame] = []
    roles, unpublished = {}, {}
    pieces = source.pieces(asked.query, asked.text_options)
    for frame in watch.read(pieces, progress):
        if not hashes:
            given, left_out = roles_of(frame.columns, asked, source.label)
            if name == PATIENTS:
                _refuse_names(policy, frame.columns)
            elif PATIENT in given:
                raise PolicyError(_TAKEN.format(source.label))
            called = {
                each: each if name == PATIENTS else of_table(name, each)
                for each in (*given, *left_out)
            }
            roles = {called[each]: role for each, role in given.items()}
            unpublished = {called[each]: why for each, why in left_out.items()}
            dictionaries = {
                each: ColumnDictionary(frame.get_column(each).alias(called[each])) for each in given
            }
        hashes.append(linking.hashes(frame.get_column(asked.unit)))
        if name == PATIENTS:
            linking.keep_names(frame.get_column(asked.unit))
        for each, dictionary in dictionaries.items():
            dictionary.add(frame.get_column(each))
    if not hashes:
        raise SourceError(f"{source.label} has no records.")
    names = pl.concat(hashes)
    by_name = {called[each]: dictionary for each, dictionary in dictionaries.items()}
    return _Read(Gathered(by_name, roles, names.height, unpublished), names, source.label)


def _refuse_names(policy: Policy, columns: list[str]) -> None:
    """Refuse columns of patients that are called as one of a table, or as the pseudonyms."""
    try:
        refuse_alike(policy, columns)
    except ValueError as error:
        raise PolicyError(f"{error}.") from None


def _refuse_missing(repeats: Repeats, label: str) -> None:
    """Refuse patients without a key."""
    if repeats.missing:
        raise PolicyError(
            f"key: '{repeats.column}' is missing in {repeats.missing:,} of {repeats.rows:,} rows "
            f"of {label}, so nobody knows whose they are. Give each its value, or leave those rows "
            "out."
        )


def _patients(
    own: _Read, policy: Policy, patient: IntArray, repeats: Repeats
) -> tuple[MemoryTable, list[str]]:
    """The table of patients, those with several rows taken for one, and what is to be said."""
    if PATIENT in own.found.roles:
        raise PolicyError(_TAKEN.format(own.label))
    table = own.found.table(policy, own.label)
    assert isinstance(table, MemoryTable)
    if not repeats.any:
        return table, []
    take = {name: asked.take for name, asked in policy.attributes.items() if asked.take is not None}
    whole, _ = gathered(table, patient, (), take, None, _REMEDY)
    more = int((np.bincount(patient) > 1).sum())
    told = (
        f"{more:,} of {repeats.distinct:,} patients have several rows in {own.label}, by "
        f"'{repeats.column}'; they were taken for one each. {SAME}"
    )
    return whole, [told]


def _matched(
    each: _Read, own: _Read, policy: Policy, name: str, linking: Linking
) -> tuple[Events, int]:
    """The rows of events whose patient is known, and how many others there were."""
    patient = linking.numbers(each.names)
    known = patient >= 0
    rows, others = len(patient), int((~known).sum())
    unit = policy.tables[name].unit
    if others == rows:
        raise PolicyError(
            f"No row of {each.label} names a patient of {own.label}. Is '{unit}' the column that "
            f"names the patient there, and '{linking.column}' the key? Name them in `tables.{name}."
            f"unit` and `patients.key`. {SAME}"
        )
    empty = each.names["h0"].null_count()
    lacking = f" ({empty:,} of them have no value)" if empty else ""
    refuse_unmatched(policy, name, (others, rows), each.label, own.label, lacking)
    columns = tuple(each.found.columns(policy))
    events = Events(columns, patient)
    return (events.chosen(known) if others else events), others
