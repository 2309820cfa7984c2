"""Mondrian: groups by cutting the table again and again, as long as both halves stay private."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from incrowd.methods.options import Labels, MethodOptions

if TYPE_CHECKING:
    from incrowd.methods.base import Outcome, RowTask


class MondrianOptions(MethodOptions):
    """Mondrian: how a group is split, what its cells show, what its cuts may tell."""

    name: ClassVar[str] = "mondrian"
    place: ClassVar[int] = 1
    title: ClassVar[str] = "small groups, most information"
    suppresses: ClassVar[bool] = True
    reason: ClassVar[str] = "which keeps most information in small groups and accepts every model"

    split: Literal["loss", "median"] = Field(
        default="loss", description="where a group is cut: where least is lost, or at the median"
    )
    labels: Literal["set", "hierarchy"] = Field(
        default="set",
        description="what cells show: ranges and sets of values, or nodes of the hierarchy",
    )
    resist: Literal["nothing", "minimality", "minimality-proven"] = Field(
        default="nothing",
        description="what cuts hide from an attacker who knows the method: nothing, nearly all, "
        "or provably all that they tell of sensitive values",
    )

    @property
    def label_mode(self) -> Labels:
        """As the option `labels` says."""
        return self.labels

    @property
    def draws(self) -> bool:
        """Groups that are joined to hide others are drawn."""
        return self.resist == "minimality"

    def decide(self, task: RowTask) -> Outcome:
        """What its search finds; the compiled loops are loaded only now."""
        from incrowd.methods.mondrian._mondrian import mondrian

        return mondrian(task, self)
