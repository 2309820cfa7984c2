"""Incognito: every attribute at one level of its hierarchy, the best such table there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from incrowd._runtime.late import late_names
from incrowd.methods.lattice import LatticeMetric
from incrowd.methods.options import MethodOptions

if TYPE_CHECKING:
    from incrowd.methods.base import Outcome, RowTask
    from incrowd.methods.incognito._incognito import incognito, minimal_solutions


class IncognitoOptions(MethodOptions):
    """Incognito: what the best of all full-domain generalizations has least of."""

    name: ClassVar[str] = "incognito"
    place: ClassVar[int] = 4
    title: ClassVar[str] = "one level for each whole column"
    suppresses: ClassVar[bool] = True

    metric: LatticeMetric = Field(
        default="loss", description="what the table has least of, of all that keep the promises"
    )

    def decide(self, task: RowTask) -> Outcome:
        """What its search finds; the compiled loops are loaded only now."""
        from incrowd.methods.incognito._incognito import incognito

        return incognito(task, self)


__all__ = ["IncognitoOptions", "incognito", "minimal_solutions"]
__getattr__ = late_names(__name__, dict.fromkeys(__all__, f"{__name__}._incognito"))
