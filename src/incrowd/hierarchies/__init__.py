"""Hierarchies of values, and the labels that generalized cells show."""

from incrowd.hierarchies._automatic import automatic
from incrowd.hierarchies._building import build
from incrowd.hierarchies.base import ROOT_LABEL, Hierarchy
from incrowd.hierarchies.computed import DATE_LEVELS, dates, flat, intervals, mask
from incrowd.hierarchies.explicit import from_file, from_lines, from_tree

__all__ = [
    "DATE_LEVELS",
    "ROOT_LABEL",
    "Hierarchy",
    "automatic",
    "build",
    "dates",
    "flat",
    "from_file",
    "from_lines",
    "from_tree",
    "intervals",
    "mask",
]
