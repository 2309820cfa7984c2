"""Methods: each finds a grouping of the records.

Four do so from counts alone; anatomize, clustering and top-down-local place single records, and
need them in memory (`RecordCounts`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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
_LATE = {
    "FrequencySets": "lattice.rollup",
    "Outcome": "base",
    "TaskAt": "base",
    "node_outcome": "lattice.outcomes",
    "refuse_unreachable": "reach",
}
"""What methods are made of, loaded when it is first asked for: policies are read without it."""


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LATE[name]}"), name)
