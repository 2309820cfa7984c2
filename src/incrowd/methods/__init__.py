"""Methods: each finds a grouping of the records.

Four do so from counts alone; anatomize, clustering and top-down-local place single records, and
need them in memory (`RecordCounts`).
"""

from incrowd.methods.anatomize import AnatomizeOptions
from incrowd.methods.mondrian import MondrianOptions
from incrowd.methods.options import MethodOptions
from incrowd.methods.registry import METHOD_OPTIONS, run
from incrowd.methods.top_down_specialization import TopDownSpecializationOptions

__all__ = [
    "METHOD_OPTIONS",
    "AnatomizeOptions",
    "MethodOptions",
    "MondrianOptions",
    "TopDownSpecializationOptions",
    "run",
]
