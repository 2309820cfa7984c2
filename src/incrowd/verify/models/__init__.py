"""The judges of the privacy models, one file each, by the model's name in the manifest."""

from incrowd._runtime.registry import Registry
from incrowd.verify.models._declaration import Judge
from incrowd.verify.models.base import (
    Judgement,
    column,
    judgement,
    listed_columns,
    listed_values,
    number,
    whole,
)


def _declared(held: object) -> tuple[str, int] | None:
    """The name of a judge, if it is one; their order says nothing."""
    return (held.name, 0) if isinstance(held, Judge) else None


JUDGES: Registry[Judge] = Registry("judge", "incrowd.judges", "incrowd.verify.models", _declared)
"""Every judge by the name of its model: each file of this room, and entry points."""

__all__ = [
    "JUDGES",
    "Judge",
    "Judgement",
    "column",
    "judgement",
    "listed_columns",
    "listed_values",
    "number",
    "whole",
]
