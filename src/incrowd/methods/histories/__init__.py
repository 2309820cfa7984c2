"""Histories: what may be known of the events of patients, generalized or hidden row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from incrowd.counts import RecordCounts
from incrowd.methods.options import MethodOptions

if TYPE_CHECKING:
    from incrowd.methods.base import Outcome, RecordTask


class HistoriesOptions(MethodOptions):
    """Histories: whether a label means the same everywhere, what is kept, how long is searched."""

    name: ClassVar[str] = "histories"
    place: ClassVar[int] = 8
    title: ClassVar[str] = "events of patients, each as precise as a crowd allows"
    reason: ClassVar[str] = "for attackers who know events of a patient"
    suppresses: ClassVar[bool] = True
    knows_events: ClassVar[bool] = True
    needs: ClassVar[type] = RecordCounts
    draws: ClassVar[bool] = True
    """Which of several rows with equal labels a patient keeps is drawn."""

    recoding: Literal["local", "global"] = Field(
        default="local",
        description="whether each row has a label of its own, or a value one label everywhere",
    )
    keep: Literal["precise", "exact"] = Field(
        default="precise",
        description="what is kept first: little loss over all events, or many exact values",
    )
    seconds: float | None = Field(
        default=None,
        gt=0,
        strict=True,
        allow_inf_nan=False,
        description="how long is searched at most; left out: until nothing is gained",
    )

    def decide(self, task: RecordTask) -> Outcome:
        """What its search finds; the compiled loops are loaded only now."""
        from incrowd.methods.histories._histories import histories

        return histories(task, self)
