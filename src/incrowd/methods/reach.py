"""What no grouping of a table reaches, refused before any work, with the best that it does."""

from __future__ import annotations

import numpy as np

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
        for name in ("k", "K"):
            least = getattr(model, name, 0)
            if least > task.counts.records:
                raise ParameterError(
                    f"{model.name}: {name} is {least:,}, but the table has only "
                    f"{task.counts.records:,} records."
                )
    whole = task.counts.partition().groups(np.zeros(1, dtype=np.int64), task.sensitive)
    failing = [model for model in task.models if not model.reaches(whole)]
    if failing:
        best = "; ".join(f"{m.name} ({_shown(m.measure(whole).numbers)})" for m in failing)
        raise PrivacyError(
            "The privacy asked for cannot be reached: even with all records in one group the table "
            f"reaches only {best}. Ask for that, or leave records out that cause it."
        )


def _shown(numbers: object) -> str:
    assert isinstance(numbers, dict)
    return ", ".join(f"{name} = {value:.9g}" for name, value in numbers.items())
