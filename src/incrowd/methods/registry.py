"""The method that a policy's options name, run on a task."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from incrowd.errors import ParameterError

if TYPE_CHECKING:
    from incrowd.methods.base import Outcome, TaskAt
    from incrowd.methods.options import MethodOptions


def run(task: TaskAt[Any], options: MethodOptions) -> Outcome:
    """What the method decides on the task; its compiled loops are loaded only now."""
    if not options.runs_on(type(task.counts)):
        raise ParameterError(f"{options.name} asks for more than the home of the records answers.")
    module, _, name = options.function.partition(":")
    outcome: Outcome = getattr(import_module(module), name)(task, options)
    return outcome
