"""Names of a package that are imported when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any


def late_names(module: str, names: Sequence[str]) -> Callable[[str], Any]:
    """What a package takes for its `__getattr__` to show these names of one of its modules."""

    def found(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module '{module.rpartition('.')[0]}' has no attribute '{name}'")
        return getattr(import_module(module), name)

    return found
