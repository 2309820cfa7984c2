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
from incrowd.engines._linked_on_disk import prepare_linked_on_disk
from incrowd.engines.gathering import Gathered
from incrowd.engines.linked_columns import (
    REMEDY,
    ColumnsOfTable,
    named_columns,
    refuse_missing,
    refuse_pseudonyms,
    refuse_strangers,
    told_left_out,
    told_several,
    told_unpublished,
)
from incrowd.engines.preparation import Prepared, bound, refuse_groupless
from incrowd.errors import SourceError
from incrowd.policy.linked import of_one
from incrowd.sources.source_guard import Watch, watched
from incrowd.table import MemoryTable
from incrowd.table.dictionary import ColumnDictionary
from incrowd.table.profiles import PATIENTS, Events, Histories, gathered
from incrowd.table.repeats import Linking, Repeats

if TYPE_CHECKING:
    from incrowd._runtime.secret_key import SecretKey
    from incrowd.policy import Policy
    from incrowd.sources import Source


@dataclass(frozen=True)
class _Read:
    """One table as it was read: its columns, and whom each row names."""

    found: Gathered
    names: pl.DataFrame
    label: str


def prepare_linked(
    source: Source | Watch,
    policy: Policy,
    memory: int | None = None,
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
    memory
        How many bytes rows may take, which are then on disk; None to have them in memory.
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
    if memory is not None:
        return prepare_linked_on_disk(watch, policy, memory, progress, key)
    linking = Linking(of_one(policy, PATIENTS).unit or "", key)
    own = _read(watch, policy, PATIENTS, linking, progress)
    patient, repeats = linking.patients(own.names)
    refuse_missing(repeats, own.label)
    refuse_groupless(policy, repeats.distinct)
    whole, remarks = _patients(own, policy, patient, repeats)
    parts: dict[str, Events] = {}
    unmatched: dict[str, int] = {}
    found = own.found
    for name in policy.tables:
        each = _read(watch, policy, name, linking, progress)
        found = replace(found, unpublished={**found.unpublished, **each.found.unpublished})
        if not each.found.roles:
            remarks.append(told_unpublished(name))
            continue
        events, unmatched[name] = _matched(each, own, policy, name, linking)
        parts[name] = events
    left_out = {name: many for name, many in unmatched.items() if many}
    remarks += told_left_out(left_out, own.label)
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
    dictionaries: dict[str, ColumnDictionary] = {}
    hashes: list[pl.DataFrame] = []
    columns = ColumnsOfTable({}, {}, {})
    pieces = source.pieces(asked.query, asked.text_options)
    for frame in watch.read(pieces, progress):
        if not hashes:
            columns = named_columns(policy, name, frame.columns, source.label)
            dictionaries = {
                each: ColumnDictionary(frame.get_column(each).alias(called))
                for each, called in columns.called.items()
            }
        hashes.append(linking.hashes(frame.get_column(asked.unit)))
        if name == PATIENTS:
            linking.keep_names(frame.get_column(asked.unit))
        for each, dictionary in dictionaries.items():
            dictionary.add(frame.get_column(each))
    if not hashes:
        raise SourceError(f"{source.label} has no records.")
    names = pl.concat(hashes)
    by_name = {columns.called[each]: dictionary for each, dictionary in dictionaries.items()}
    found = Gathered(by_name, columns.roles, names.height, columns.unpublished)
    return _Read(found, names, source.label)


def _patients(
    own: _Read, policy: Policy, patient: IntArray, repeats: Repeats
) -> tuple[MemoryTable, list[str]]:
    """The table of patients, those with several rows taken for one, and what is to be said."""
    refuse_pseudonyms(own.found.roles, own.label)
    table = own.found.table(policy, own.label)
    assert isinstance(table, MemoryTable)
    if not repeats.any:
        return table, []
    take = {name: asked.take for name, asked in policy.attributes.items() if asked.take is not None}
    whole, _ = gathered(table, patient, (), take, None, REMEDY)
    more = int((np.bincount(patient) > 1).sum())
    return whole, [told_several(more, repeats, own.label)]


def _matched(
    each: _Read, own: _Read, policy: Policy, name: str, linking: Linking
) -> tuple[Events, int]:
    """The rows of events whose patient is known, and how many others there were."""
    patient = linking.numbers(each.names)
    known = patient >= 0
    rows, others = len(patient), int((~known).sum())
    empty = each.names["h0"].null_count()
    refuse_strangers(policy, name, (others, empty, rows), each.label, own.label)
    columns = tuple(each.found.columns(policy))
    events = Events(columns, patient)
    return (events.chosen(known) if others else events), others
