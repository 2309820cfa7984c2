"""The homes of the records: each answers with counts, and methods ask for nothing else."""

from incrowd.counts.base import (
    Counts,
    Extents,
    FrequencySet,
    HalvingPartition,
    JointHistograms,
    NodeHistograms,
    Partition,
    Recoding,
    RecordCounts,
    RowCounts,
    Run,
    Splits,
    run_of_code,
)
from incrowd.counts.memory import MemoryCounts

__all__ = [
    "Counts",
    "Extents",
    "FrequencySet",
    "HalvingPartition",
    "JointHistograms",
    "MemoryCounts",
    "NodeHistograms",
    "Partition",
    "Recoding",
    "RecordCounts",
    "RowCounts",
    "Run",
    "Splits",
    "run_of_code",
]
