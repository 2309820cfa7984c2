"""From a task to arrays that are searched, and from the nodes found to what a release shows.

What may be known of patients are their quasi-identifiers and the distinct rows of the tables with
quasi columns. A row with a protected value is no such fact: it is published with that value, and
`*` in the other quasi columns, whoever holds it. Of several rows of a patient that show the same,
one is published, drawn from secret randomness.

Where patients and events stand in one table, a patient of whom no row is left is not published at
all. Then others have lost a neighbour, so all is searched again among those who are left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from incrowd._runtime import randomness
from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd.errors import PrivacyError
from incrowd.hierarchies import ROOT_LABEL
from incrowd.hierarchies.labels import plain_label
from incrowd.labels import ranked
from incrowd.methods.base import CellLabels, Outcome, RecordTask, ShownEvents, joined_groups
from incrowd.methods.histories._asked import (
    AskedFacts,
    KnownColumn,
    KnownTable,
    asked_of,
    refuse_impossible,
)
from incrowd.methods.histories._problem import HIDDEN, HowToSearch
from incrowd.methods.histories._search import search
from incrowd.table.packing import distinct_rows

if TYPE_CHECKING:
    from incrowd.methods.histories import HistoriesOptions


def histories(task: RecordTask, options: HistoriesOptions) -> Outcome:
    """What patients and their events show, so that whoever knows a few facts finds a crowd.

    Parameters
    ----------
    task
        The counts of patients, with the rows of their events.
    options
        How it is searched.

    Raises
    ------
    PrivacyError
        Not even all patients together keep what is promised, or more of them than may be are left
        without any row of a flat table.

    Notes
    -----
    What is searched, and how long it takes, is told by the search.

    Example
    -------
    >>> import polars
    >>> from incrowd import anonymize
    >>> frame = polars.DataFrame({"who": [1, 1, 2, 2, 3, 3], "code": list("ababab")})
    >>> policy = {
    ...     "unit": "who",
    ...     "attributes": {"who": "identifier", "code": {"role": "quasi", "level": "event"}},
    ...     "privacy": [{"km-anonymity": {"k": 2, "m": 2}}],
    ... }
    >>> anonymize(frame, policy).data["code"].to_list()
    ['a', 'b', 'a', 'b', 'a', 'b']
    """
    tables = task.tables
    assert tables is not None, "a policy asks for it where patients have events alone"
    asked = asked_of(task, tables)
    how = HowToSearch(options.recoding, options.keep, options.seconds, task.goal)
    kept = np.ones(asked.patients, dtype=np.bool_)
    while True:
        refuse_impossible(task, asked, kept)
        nodes = search(asked.problem(kept), how, task.progress)
        found = _all_nodes(asked, kept, nodes)
        lost = kept & ~_with_rows(asked, found) if tables.histories.flat else ~kept & kept
        if not lost.any():
            return _outcome(asked, kept, found)
        kept &= ~lost
        _refuse_too_many(task, int((~kept).sum()))


def _refuse_too_many(task: RecordTask, lost: int) -> None:
    if lost > task.most_suppressed:
        raise PrivacyError(
            f"The privacy asked for cannot be reached within `suppression:`: of {lost:,} of "
            f"{task.counts.records:,} patients, more than {task.most_suppressed:,}, all rows are "
            "left out, as too few others share what they show. Allow more `suppression:`, give the "
            "columns of events coarser hierarchies, or ask for less; in linked tables (`tables:`) "
            "patients stay without their rows."
        )


def _all_nodes(asked: AskedFacts, kept: BoolArray, nodes: Sequence[IntArray]) -> list[IntArray]:
    """The nodes of all facts; those of patients who are not kept are hidden."""
    found = []
    for facts, some in zip(
        [*asked.own_facts, *(table.facts for table in asked.tables)], nodes, strict=True
    ):
        every = np.full((len(facts.patient), len(facts.axes)), HIDDEN, dtype=np.int64)
        every[kept[facts.patient]] = some
        found.append(every)
    return found


def _with_rows(asked: AskedFacts, nodes: Sequence[IntArray]) -> BoolArray:
    """Which patients have a row that is published, in the one table there is."""
    found = np.zeros(asked.patients, dtype=np.bool_)
    for table, shown in zip(asked.tables, nodes[len(asked.own_facts) :], strict=True):
        found[table.patient[_published(table, shown)]] = True
    return found


def _published(table: KnownTable, nodes: IntArray) -> BoolArray:
    """Which rows show something: protected ones, and those whose fact is not hidden."""
    shown = np.append(nodes[:, 0] != HIDDEN, True)
    published: BoolArray = shown[table.fact]
    return published


def _outcome(asked: AskedFacts, kept: BoolArray, nodes: Sequence[IntArray]) -> Outcome:
    """The groups of patients who look alike, and the rows that are published of them."""
    own = np.concatenate(
        [np.zeros((asked.patients, 0), dtype=np.int64), *nodes[: len(asked.own_facts)]], axis=1
    )[kept]
    labels = {each.column.name: _cells(each, own[:, at]) for at, each in enumerate(asked.own)}
    place = np.where(kept, np.cumsum(kept) - 1, -1)
    ones = np.ones(int(kept.sum()), dtype=np.int64)
    outcome = joined_groups(place, labels, ones, asked.patients)
    events = {
        table.name: _shown(table, kept, shown)
        for table, shown in zip(asked.tables, nodes[len(asked.own_facts) :], strict=True)
    }
    return replace(outcome, events=events)


def _shown(table: KnownTable, kept: BoolArray, nodes: IntArray) -> ShownEvents:
    """The rows of a table that are published: of each patient those that differ, drawn."""
    published = _published(table, nodes)
    hidden = int((kept[table.patient] & ~published).sum())
    rows = np.flatnonzero(published & kept[table.patient])
    rows = rows[randomness.permutation(len(rows))]
    cells = [_cells_of_rows(each, table, nodes, rows, at) for at, each in enumerate(table.columns)]
    _, first = distinct_rows(
        [table.patient[rows], *(each.text_of_group for each in cells)],
        [int(table.patient.max(initial=0)) + 1, *(len(each.texts) for each in cells)],
        len(rows),
    )
    chosen = first[np.argsort(rows[first])]
    labels = {
        each.column.name: CellLabels(
            shown.texts, shown.text_of_group[chosen], shown.loss_of_group[chosen]
        )
        for each, shown in zip(table.columns, cells, strict=True)
    }
    return ShownEvents(rows[chosen], labels, hidden)


def _cells(known: KnownColumn, node: IntArray) -> CellLabels:
    """What nodes show, and what that loses."""
    texts, place = ranked([known.text(each) for each in range(len(known.axis.parent))])
    return CellLabels(texts, place[node], known.axis.loss[node])


def _cells_of_rows(
    known: KnownColumn, table: KnownTable, nodes: IntArray, rows: IntArray, at: int
) -> CellLabels:
    """What rows show in a column: the node of their fact; of those that are none, what is theirs.

    That is the protected value as it is, or `*` where another column of the row has one.
    """
    many = len(known.axis.parent)
    texts: list[str | None] = [known.text(each) for each in range(many)]
    code, secret = known.column.codes[rows].astype(np.int64), table.protected[rows, at]
    values = np.unique(code[secret])
    texts += [plain_label(known.column.values[each]) for each in values]
    no_fact = table.fact[rows] < 0
    node = np.where(no_fact, 0, np.append(nodes[:, at], 0)[table.fact[rows]])
    assert texts[0] == ROOT_LABEL
    node[secret] = many + np.searchsorted(values, code[secret])
    losses = np.append(known.axis.loss, np.zeros(len(values)))
    number: dict[str | None, int] = {}
    same = np.array([number.setdefault(text, len(number)) for text in texts], dtype=np.int64)
    ordered, place = ranked([*number])
    return CellLabels(ordered, place[same[node]], losses[node])
