"""Anatomize for several sensitive attributes: groups dealt from cells of many records.

Records that agree on all quasi-identifiers form one bundle and are never told apart: so the group
of a record follows from what is published of it, and whoever holds the original can check what the
tables apart do not show together. The bundles are first put into cells, either those of Mondrian,
which keep similar quasi-identifiers together, or cells that each mirror the sensitive values of the
whole table, blind to quasi-identifiers. Then every cell is dealt into as many groups as it can.
"""

from __future__ import annotations

import numpy as np

from incrowd.counts.histograms import histogram_of
from incrowd.counts.packing import distinct_rows
from incrowd.errors import ParameterError
from incrowd.methods.base import Outcome, Task
from incrowd.methods.dealing import Bundles, deal_cells
from incrowd.methods.mondrian import cells as mondrian_cells
from incrowd.methods.options import AnatomizeOptions, MondrianOptions
from incrowd.methods.reach import refuse_unreachable
from incrowd.privacy import Groups
from incrowd.privacy.base import IntArray
from incrowd.privacy.multi_sensitive import Jointly

_GROUPS_A_CELL = 16
"""The groups that a blind cell has records for: a choice for every record, at little cost."""


def anatomize_several(task: Task, options: AnatomizeOptions) -> Outcome:
    """Groups in which several sensitive attributes are diverse together, as small as can be.

    A cell with n records is dealt into n / s groups, where s is the smallest size that the models
    allow; where one of the groups does not hold, the cell is dealt anew into fewer. Every group
    first collects l rows that share no sensitive value, from the most frequent values to the
    rarest; all other records go to the smallest group.

    Notes
    -----
    `similar` starts from the groups of Mondrian, so its groups are never larger. `blind` looks at
    quasi-identifiers only to keep equal ones together. O(n g m) for n records, m attributes and g
    groups in a cell, once for each time that a cell is dealt; `similar` adds Mondrian's own cost.

    References
    ----------
    The model is that of Gal, Chen, Gangopadhyay (2008), Definition 6; the paper partitions only.
    """
    model = _model(task)
    refuse_unreachable(task)
    task.progress("grouping", 0, 1)
    whole = dict.fromkeys(task.counts.attributes)
    held = task.counts.frequency_set(whole, sensitive=task.sensitive).groups
    rows = held.histograms[model.counted_attributes[0]]
    bundles = Bundles(held.sizes, rows.offsets, rows.values, model.numbered_values)
    row_of_record = task.counts.row_of_records()
    wanted = options.l or int(getattr(model, "l", 1))
    if options.grouping == "similar":
        cell = np.empty(len(held), dtype=np.int64)
        cells = mondrian_cells(task, MondrianOptions())
        assert isinstance(cells, np.ndarray)
        cell[row_of_record] = cells
        group, _ = _dealt(task, held, bundles, cell, wanted)
    else:
        group = _dealt_blind(task, held, bundles, wanted)
    sizes = np.bincount(group, weights=held.sizes).astype(np.int64)
    return Outcome(group[row_of_record].astype(np.int32), {}, sizes, 0, {"l": wanted})


def _model(task: Task) -> Jointly:
    """The one model over several attributes, by whose rows groups are made."""
    found = {m.counted_attributes: m for m in task.models if isinstance(m, Jointly)}
    if len(found) != 1:
        raise ParameterError(
            "anatomize groups by one sensitive attribute, or by several that one model protects "
            "together: promise multi-sensitive for all of them, or use mondrian."
        )
    return next(iter(found.values()))


def _dealt_blind(task: Task, held: Groups, bundles: Bundles, wanted: int) -> IntArray:
    """The group of each bundle, from cells that all have about the same sensitive values."""
    order = np.argsort(bundles.rows[bundles.offsets[:-1]], kind="stable")
    cells = max(1, task.counts.records // (_GROUPS_A_CELL * task.smallest_group))
    while True:
        cell = np.empty(len(order), dtype=np.int64)
        cell[order] = np.arange(len(order)) % cells
        group, private = _dealt(task, held, bundles, cell, wanted)
        if private or cells == 1:
            return group
        cells //= 2


def _dealt(
    task: Task, held: Groups, bundles: Bundles, cell: IntArray, wanted: int
) -> tuple[IntArray, bool]:
    """The group of each bundle, dealt within cells, and whether all groups hold.

    Only a cell that does not hold as a whole leaves a group that does not.
    """
    records = np.bincount(cell, weights=bundles.sizes).astype(np.int64)
    many = np.maximum(records // task.smallest_group, 1)
    dealt = np.zeros(len(cell), dtype=np.int64)
    private = True
    waiting = np.flatnonzero(records)
    whole = len(waiting)
    while len(waiting):
        task.progress("grouping", whole - len(waiting), whole)
        mine = np.flatnonzero(np.isin(cell, waiting))
        dealt[mine] = deal_cells(bundles, mine, cell[mine], many, wanted)
        found, first = distinct_rows(
            [cell[mine], dealt[mine]], [len(many), int(many.max())], len(mine)
        )
        failing = ~task.judge(joined(held, mine, found.astype(np.int64), len(first)))
        failures = np.bincount(cell[mine][first[failing]], minlength=len(many))
        private &= not bool((failures[many == 1]).any())
        again = (failures > 0) & (many > 1)
        many[again] = np.maximum(many[again] - np.maximum(failures[again] // 2, 1), 1)
        waiting = np.flatnonzero(again)
    number, _ = distinct_rows([cell, dealt], [len(many), int(dealt.max()) + 1], len(cell))
    return number.astype(np.int64), private


def joined(groups: Groups, rows: IntArray, number: IntArray, many: int) -> Groups:
    """The counts of some rows joined into groups of the given numbers."""
    sizes = np.bincount(number, weights=groups.sizes[rows], minlength=many).astype(np.int64)
    histograms = {}
    for name, found in groups.histograms.items():
        lengths = np.diff(found.offsets)[rows]
        begins = np.concatenate(([0], np.cumsum(lengths)))
        entry = np.repeat(found.offsets[rows] - begins[:-1], lengths) + np.arange(begins[-1])
        owner = np.repeat(number, lengths)
        histograms[name] = histogram_of(
            owner, many, found.values[entry], found.total, found.counts[entry]
        )
    return Groups(sizes, histograms)
