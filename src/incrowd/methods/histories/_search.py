"""The search: which node every row of every table shows."""

from __future__ import annotations

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd._runtime.progress import Progress, silent
from incrowd.methods.histories._problem import HIDDEN, Facts, HowToSearch, Problem


def search(
    problem: Problem,
    options: HowToSearch | None = None,  # noqa: ARG001
    progress: Progress = silent,  # noqa: ARG001
) -> list[IntArray]:
    """For each of the facts the node that every row shows on every axis, or HIDDEN on all."""
    return [_nothing(facts) for facts in problem.facts]


def _nothing(facts: Facts) -> IntArray:
    """Roots for attributes of patients, nothing for events."""
    return np.full((len(facts.patient), len(facts.axes)), HIDDEN if facts.events else 0)
