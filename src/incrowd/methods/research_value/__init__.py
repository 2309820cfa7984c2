"""Research value: every attribute at the level that keeps most of what a researcher wants of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from incrowd._runtime.late import late_names
from incrowd.methods.options import MethodOptions

if TYPE_CHECKING:
    from incrowd.methods.base import Outcome, RowTask
    from incrowd.methods.research_value._research_value import (
        Alternative,
        alternatives,
        research_value,
    )

ResearchSearch = Literal["best-first", "global", "local", "hybrid", "distributed"]
"""How levels of generalization are searched for the highest research value."""


class ResearchValueOptions(MethodOptions):
    """Research value: how the levels are searched that keep most of what a researcher wants."""

    name: ClassVar[str] = "research-value"
    place: ClassVar[int] = 5
    title: ClassVar[str] = "levels that researchers want"
    suppresses: ClassVar[bool] = True
    values_research: ClassVar[bool] = True
    """It does: weights and rules are what it searches by."""

    search: ResearchSearch = Field(
        default="best-first",
        description="how the levels are searched; best-first, global and hybrid find the best",
    )

    def alternatives(self, task: RowTask, n: int) -> list[Alternative]:
        """The best strings with no other one below them."""
        from incrowd.methods.research_value._research_value import alternatives

        return alternatives(task, self, n)

    def decide(self, task: RowTask) -> Outcome:
        """What its search finds; the compiled loops are loaded only now."""
        from incrowd.methods.research_value._research_value import research_value

        return research_value(task, self)


__all__ = ["Alternative", "ResearchValueOptions", "alternatives", "research_value"]
__getattr__ = late_names(__name__, dict.fromkeys(__all__, f"{__name__}._research_value"))
