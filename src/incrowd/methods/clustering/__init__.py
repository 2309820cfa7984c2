"""Clustering: records join their nearest until every group is private."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from incrowd._runtime.late import late_names
from incrowd.counts import RecordCounts
from incrowd.methods.options import Labels, MethodOptions

if TYPE_CHECKING:
    from incrowd.methods.base import Outcome, RecordTask
    from incrowd.methods.clustering._clustering import clustering

Distance = Literal["ncp", "research-value", "euclidean"]
"""What makes a merge of two clusters dear."""


class ClusteringOptions(MethodOptions):
    """Clustering: by what clusters are near, whether cells may be hidden, ranges overlap."""

    name: ClassVar[str] = "clustering"
    place: ClassVar[int] = 6
    title: ClassVar[str] = "groups of near records"
    needs: ClassVar[type] = RecordCounts
    label_mode: ClassVar[Labels] = "cut"
    """Nodes where there is a hierarchy, ranges and sets elsewhere."""

    distance: Distance = Field(default="ncp", description="what makes a merge of two groups dear")
    suppression: bool = Field(
        default=False,
        strict=True,
        description="whether a group may show * in an attribute where that costs less",
    )
    overlap: Literal["allow", "forbid"] = Field(
        default="allow", description="whether published ranges of one attribute may overlap"
    )

    @property
    def values_research(self) -> bool:
        """Weights count for all but the plain distance."""
        return self.distance != "euclidean"

    def decide(self, task: RecordTask) -> Outcome:
        """What its search finds; the compiled loops are loaded only now."""
        from incrowd.methods.clustering._clustering import clustering

        return clustering(task, self)


__all__ = ["ClusteringOptions", "clustering"]
__getattr__ = late_names(__name__, dict.fromkeys(__all__, f"{__name__}._clustering"))
