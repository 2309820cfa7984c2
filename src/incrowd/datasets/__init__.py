"""Bundled data sets: real ones that may be shipped, generators of registries and of histories."""

from incrowd.datasets._catalog import describe, export_hierarchies, load, names, policy
from incrowd.datasets.info import ColumnInfo, DatasetInfo
from incrowd.datasets.patient_histories import (
    GeneratedHistories,
    WrittenHistories,
    load_histories,
    write_histories,
)

__all__ = [
    "ColumnInfo",
    "DatasetInfo",
    "GeneratedHistories",
    "WrittenHistories",
    "describe",
    "export_hierarchies",
    "load",
    "load_histories",
    "names",
    "policy",
    "write_histories",
]
