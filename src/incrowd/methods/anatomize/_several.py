"""Anatomize for several sensitive attributes: groups dealt from cells of many records.

Cells are neighbourhoods, which keep similar quasi-identifiers together, or each mirror the
sensitive values of the whole table, blind to quasi-identifiers. Then every cell is dealt into as
many groups as it can.
"""

from __future__ import annotations

import numpy as np

from incrowd._runtime import randomness
from incrowd._runtime.arrays import IntArray
from incrowd.counts.histograms import counted_groups
from incrowd.errors import ParameterError
from incrowd.methods.anatomize import AnatomizeOptions
from incrowd.methods.anatomize._assignment import deal_apart, numbered_by
from incrowd.methods.anatomize._neighbourhoods import neighbourhoods
from incrowd.methods.base import Outcome, RecordTask, Task
from incrowd.methods.reach import refuse_unreachable
from incrowd.privacy.counting.joint import Jointly
from incrowd.table.packing import distinct_rows

_GROUPS_A_CELL = 16
"""The groups that a blind cell has records for: a choice for every record, at little cost."""


def anatomize_several(task: RecordTask, options: AnatomizeOptions) -> Outcome:
    """Groups in which several sensitive attributes are diverse together, as small as can be.

    A cell with n records is dealt into n / s groups, where s is the smallest size that the models
    allow; where one of the groups does not hold, the cell is dealt anew into fewer. Every group
    first collects l records that share no sensitive value, from the most frequent values to the
    rarest; all other records go to the smallest group.

    Notes
    -----
    O(n g m) for n records, m attributes and g groups in a cell, once for each time that a cell is
    dealt; `similar` adds O(d n log n) for d quasi-identifiers.

    References
    ----------
    The model is that of Gal, Chen, Gangopadhyay (2008), Definition 6; the paper partitions only.
    """
    model = _model(task)
    refuse_unreachable(task)
    task.progress("grouping", 0, 1)
    held = {name: task.counts.codes_of_records(name) for name in task.sensitive}
    row = held[model.counted_attributes[0]].astype(np.int64)
    wanted = options.l or model.apart
    cells = _RecordsInCells(task, held, row, model.numbered_values, wanted)
    if options.grouping == "similar":
        group, _ = cells.dealt(neighbourhoods(task, task.smallest_group, task.satisfied))
    else:
        group = _dealt_blind(cells)
    group = numbered_by(task.counts.row_of_records().astype(np.int64), group)
    sizes = np.bincount(group).astype(np.int64)
    return Outcome(group.astype(np.int32), {}, sizes, 0, {"l": wanted})


def _model(task: Task) -> Jointly:
    """The one model over several attributes, by whose rows groups are made."""
    found = {m.counted_attributes: m for m in task.models if isinstance(m, Jointly)}
    if len(found) != 1:
        raise ParameterError(
            "anatomize groups by one sensitive attribute, or by several that one model protects "
            "together: promise multi-sensitive for all of them, or use mondrian."
        )
    return next(iter(found.values()))


def _dealt_blind(cells: _RecordsInCells) -> IntArray:
    """The group of each record, from cells that all have about the same sensitive values."""
    order = randomness.shuffled_within(cells.row)
    many = max(1, len(order) // (_GROUPS_A_CELL * cells.task.smallest_group))
    while True:
        cell = np.empty(len(order), dtype=np.int64)
        cell[order] = np.arange(len(order)) % many
        group, private = cells.dealt(cell)
        if private or many == 1:
            return group
        many //= 2


class _RecordsInCells:
    """The records of cells, to be dealt into groups: the row of sensitive values that each holds.

    `held` has the code of each record, by what the models count.
    """

    def __init__(
        self, task: Task, held: dict[str, np.ndarray], row: IntArray, values: IntArray, wanted: int
    ) -> None:
        self.task = task
        self.row = row
        self._held = held
        self._values = values
        self._wanted = wanted
        self._totals = {name: task.counts.totals(name) for name in held}

    def dealt(self, cell: IntArray) -> tuple[IntArray, bool]:
        """The group of each record, dealt within cells, and whether all groups hold.

        Only a cell that does not hold as a whole leaves a group that does not.
        """
        records = np.bincount(cell)
        many = np.maximum(records // self.task.smallest_group, 1)
        dealt = np.zeros(len(cell), dtype=np.int64)
        private = True
        waiting = np.flatnonzero(records)
        whole = len(waiting)
        while len(waiting):
            self.task.progress("grouping", whole - len(waiting), whole)
            mine = np.flatnonzero(np.isin(cell, waiting))
            dealt[mine] = deal_apart(cell[mine], self.row[mine], self._values, many, self._wanted)
            found, first = distinct_rows(
                [cell[mine], dealt[mine]], [len(many), int(many.max())], len(mine)
            )
            values = {name: codes[mine] for name, codes in self._held.items()}
            groups = counted_groups(found.astype(np.int64), len(first), values, self._totals)
            failing = ~self.task.satisfied(groups)
            failures = np.bincount(cell[mine][first[failing]], minlength=len(many))
            private &= not bool((failures[many == 1]).any())
            again = (failures > 0) & (many > 1)
            many[again] = np.maximum(many[again] - np.maximum(failures[again] // 2, 1), 1)
            waiting = np.flatnonzero(again)
        number, _ = distinct_rows([cell, dealt], [len(many), int(dealt.max()) + 1], len(cell))
        return number.astype(np.int64), private
