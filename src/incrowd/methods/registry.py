"""Every method by name, and how one is run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from incrowd._runtime.registry import Registry
from incrowd.errors import ParameterError
from incrowd.methods.options import MethodOptions

if TYPE_CHECKING:
    from incrowd.methods.base import Outcome, TaskAt


def _declared(held: object) -> tuple[str, int] | None:
    """The name and place of a method, if it is one."""
    if isinstance(held, type) and issubclass(held, MethodOptions) and "name" in vars(held):
        return held.name, held.place
    return None


METHOD_OPTIONS: Registry[type[MethodOptions]] = Registry(
    "method", "incrowd.methods", "incrowd.methods", _declared, rooms=True
)
"""Every method by its name in a policy: each package of this room, and entry points."""
DEFAULT_METHOD = "mondrian"
"""What `method: auto`, and a policy that names no method, takes where no other says it suits."""


def run(task: TaskAt[Any], options: MethodOptions) -> Outcome:
    """What the method decides on the task; its compiled loops are loaded only now."""
    if not options.runs_on(type(task.counts)):
        raise ParameterError(f"{options.name} asks for more than the home of the records answers.")
    return options.decide(task)
