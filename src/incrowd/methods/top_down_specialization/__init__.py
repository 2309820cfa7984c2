"""Top-down specialization: from one label per attribute to as many as privacy allows."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from incrowd.counts import Counts
from incrowd.methods.options import Labels, MethodOptions

if TYPE_CHECKING:
    from incrowd.methods.base import Outcome, Task
    from incrowd.methods.top_down_specialization.search import TopDownSpecialization

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
    label_mode: ClassVar[Labels] = "cut"
    """Nodes of the hierarchy, or the ranges that were grown."""
    hospitals: ClassVar[str] = "{name: top-down-specialization, search: frugal}"

    search: Search = Field(
        default="best",
        description="in which order values are specialized; best: the one whose table is worth "
        "most",
    )

    @property
    def refused_by_hospitals(self) -> str:
        """The best of several searches opens the tables of all."""
        if self.search != "best":
            return ""
        return (
            "`search: best` makes three tables and publishes one; among hospitals all three would "
            f"be opened. Name one search: `method: {self.hospitals}` (or gain, or greedy as in the "
            "paper)."
        )

    @classmethod
    def suits(cls, *, partial: bool, classification: bool) -> bool:
        """Attackers who know a few of many values, and classes to predict, are what it is for."""
        return partial or classification

    def steps(self, task: Task) -> TopDownSpecialization:
        """Its search, in the order that the options name, or in the best one."""
        from incrowd.methods.top_down_specialization.search import (
            TopDownSpecialization,
            best_search,
        )

        order = best_search(task).order if self.search == "best" else self.search
        return TopDownSpecialization(task, order)

    def decide(self, task: Task) -> Outcome:
        """What its search finds; the compiled loops are loaded only now."""
        from incrowd.methods.top_down_specialization.search import top_down_specialization

        return top_down_specialization(task, self)
