"""What no grouping of a table reaches, refused before any work, with the best that it does."""

from __future__ import annotations

import numpy as np

from incrowd.counts import Partition
from incrowd.errors import ParameterError, PrivacyError
from incrowd.methods.base import Task


def refuse_not_monotone(task: Task) -> None:
    """Raise when a coarser table may break a model that a finer one satisfies."""
    for model in task.models:
        if not model.monotone:
            raise ParameterError(
                f"{model.name}: joining two groups that satisfy it may give one that does not, so "
                "no method here can search for groups under it."
            )


def refuse_unreachable(task: Task) -> None:
    """Raise when not even all records in one group satisfy the models.

    All models are monotone: what the whole table does not satisfy, no grouping of it does.
    """
    refuse_not_monotone(task)
    for model in task.models:
        name, least = model.size, model.least_records
        if least > task.counts.records:
            # Among several who keep records, all may know: their sum is not bad input of one.
            kind = PrivacyError if task.counts.opens else ParameterError
            raise kind(
                f"{model.name}: {name} is {least:,}, but there are only "
                f"{task.counts.records:,} records. Ask for less."
            )
    partition = task.counts.partition()
    whole = partition.groups(np.zeros(1, dtype=np.int64), task.sensitive)
    failing = [model for model in task.models if not model.reaches(whole)]
    if failing:
        best = "; ".join(f"{m.name} ({_shown(m.measure(whole).numbers)})" for m in failing)
        raise PrivacyError(
            "The privacy asked for cannot be reached: even with all records in one group the table "
            f"reaches only {best}. Ask for that, or leave records out that cause it."
        )
    if not task.counts.agreed(partition, lambda others: _reached(task, others)):
        raise PrivacyError(
            "The privacy asked for cannot be reached without the records of any one hospital: even "
            "with all records in one group, those of the others do not satisfy it."
        )


def _reached(task: Task, partition: Partition) -> bool:
    """Whether all records of a partition in one group satisfy the models."""
    whole = partition.groups(np.zeros(1, dtype=np.int64), task.sensitive)
    return all(model.reaches(whole) for model in task.models)


def _shown(numbers: object) -> str:
    assert isinstance(numbers, dict)
    return ", ".join(f"{name} = {value:.9g}" for name, value in numbers.items())
