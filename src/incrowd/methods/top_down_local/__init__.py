"""Top-down local recoding: all records start under one label and are specialized, node by node."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from incrowd.counts import RecordCounts
from incrowd.methods.options import MethodOptions

if TYPE_CHECKING:
    from incrowd.methods.base import Outcome, RecordTask


class TopDownLocalOptions(MethodOptions):
    """Top-down local recoding: whether records may move on to other groups at the end."""

    name: ClassVar[str] = "top-down-local"
    place: ClassVar[int] = 3
    title: ClassVar[str] = "groups refined record by record"
    needs: ClassVar[type] = RecordCounts
    draws: ClassVar[bool] = True
    """Which of equal records goes where is drawn."""

    relocate: bool = Field(
        default=True,
        strict=True,
        description="whether records may move on to other groups at the end",
    )

    def decide(self, task: RecordTask) -> Outcome:
        """What its search finds; the compiled loops are loaded only now."""
        from incrowd.methods.top_down_local._top_down_local import top_down_local

        return top_down_local(task, self)
