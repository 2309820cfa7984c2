"""Bundled data sets: real ones that may be shipped, and generators of registries."""

from incrowd.datasets._catalog import describe, export_hierarchies, load, names, policy
from incrowd.datasets.info import ColumnInfo, DatasetInfo

__all__ = [
    "ColumnInfo",
    "DatasetInfo",
    "describe",
    "export_hierarchies",
    "load",
    "names",
    "policy",
]
