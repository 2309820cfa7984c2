"""Top-down specialization: from one label per attribute to as many as privacy allows."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from incrowd.counts import Counts
from incrowd.methods.options import Labels, MethodOptions

if TYPE_CHECKING:
    from incrowd.methods.base import Outcome, Task

Order = Literal["frugal", "gain", "greedy"]
"""An order in which values are specialized."""


Search = Literal["best", "frugal", "gain", "greedy"]
"""One of the orders, or the best of them."""


class TopDownSpecializationOptions(MethodOptions):
    """Top-down specialization: how the next value to specialize is chosen."""

    name: ClassVar[str] = "top-down-specialization"
    place: ClassVar[int] = 2
    title: ClassVar[str] = "many columns, or a target"
    predicts: ClassVar[bool] = True
    reason: ClassVar[str] = (
        "which keeps many attributes useful when an attacker knows only some of them, and what "
        "predicts a target"
    )
    needs: ClassVar[type] = Counts

    search: Search = "best"

    @property
    def label_mode(self) -> Labels:
        """Nodes of the hierarchy, or the ranges that were grown."""
        return "cut"

    def decide(self, task: Task) -> Outcome:
        """What its search finds; the compiled loops are loaded only now."""
        from incrowd.methods.top_down_specialization.search import top_down_specialization

        return top_down_specialization(task, self)
