"""Methods: each finds a grouping of the records.

Four do so from counts alone; anatomize, clustering and top-down-local place single records, and
need them in memory (`RecordCounts`). Histories looks at the rows of patients beside their groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from incrowd._runtime.late import late_names
from incrowd.methods.anatomize import AnatomizeOptions
from incrowd.methods.mondrian import MondrianOptions
from incrowd.methods.options import MethodOptions
from incrowd.methods.registry import METHOD_OPTIONS, run
from incrowd.methods.top_down_specialization import TopDownSpecializationOptions

if TYPE_CHECKING:
    from incrowd.methods.base import Outcome, TaskAt
    from incrowd.methods.lattice.outcomes import node_outcome
    from incrowd.methods.lattice.rollup import FrequencySets
    from incrowd.methods.reach import refuse_unreachable

__all__ = [
    "METHOD_OPTIONS",
    "AnatomizeOptions",
    "FrequencySets",
    "MethodOptions",
    "MondrianOptions",
    "Outcome",
    "TaskAt",
    "TopDownSpecializationOptions",
    "node_outcome",
    "refuse_unreachable",
    "run",
]
__getattr__ = late_names(
    __name__,
    {
        "FrequencySets": "incrowd.methods.lattice.rollup",
        "Outcome": "incrowd.methods.base",
        "TaskAt": "incrowd.methods.base",
        "node_outcome": "incrowd.methods.lattice.outcomes",
        "refuse_unreachable": "incrowd.methods.reach",
    },
)
"""What methods are made of, loaded when it is first asked for: policies are read without it."""
