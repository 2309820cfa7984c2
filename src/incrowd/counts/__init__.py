"""The homes of the records: each answers with counts, and methods ask for nothing else."""

from incrowd.counts.base import (
    CodeRange,
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
    Splits,
    run_of_code,
)
from incrowd.counts.memory import MemoryCounts

__all__ = [
    "CodeRange",
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
    "Splits",
    "run_of_code",
]
