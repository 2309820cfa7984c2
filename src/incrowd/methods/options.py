"""The options of every method, by name: light, so that a policy can be checked without them."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from incrowd._runtime.registry import Registry
from incrowd.counts import Counts, RecordCounts, RowCounts

Labels = Literal["set", "hierarchy", "cut"]
"""What cells show: ranges and sets, nodes of the hierarchy, or nodes where there is a hierarchy and
ranges and sets elsewhere."""


Order = Literal["frugal", "gain", "greedy"]
"""An order in which values are specialized."""
Search = Literal["best", "frugal", "gain", "greedy"]
"""One of the orders, or the best of them."""

LatticeMetric = Literal["loss", "precision", "discernibility"]
"""What a table with one level per attribute costs."""


ResearchSearch = Literal["best-first", "global", "local", "hybrid", "distributed"]
"""How levels of generalization are searched for the highest research value."""


Distance = Literal["ncp", "research-value", "euclidean"]
"""What makes a merge of two clusters dear."""


class MethodOptions(BaseModel):
    """What a policy may set for a method; `name` is the method's name in the policy."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: ClassVar[str]
    title: ClassVar[str] = ""
    """What it is good for, in a few words."""
    function: ClassVar[str]
    """What runs it on a task with these options, as `module:name`: loaded only then."""
    reason: ClassVar[str] = ""
    """Why `method: auto` takes it, where it may."""
    suppresses: ClassVar[bool] = False
    """Whether it may drop records."""
    predicts: ClassVar[bool] = False
    """Whether it keeps what predicts a target when that is the goal."""
    generalizes: ClassVar[bool] = True
    """Whether its groups are alike in quasi-identifiers, so that labels may stand for them."""
    needs: ClassVar[type] = RowCounts
    """What a home of the records must be for the method to run there."""
    any_order: ClassVar[bool] = False
    """Whether the order of single records is nothing to the method: equal ones may be counted."""

    @property
    def label_mode(self) -> Labels:
        """What the cells of quasi-identifiers show."""
        return "hierarchy"

    @property
    def values_research(self) -> bool:
        """Whether the method asks what a researcher wants of each attribute."""
        return False

    @property
    def draws(self) -> bool:
        """Whether secret randomness decides, so that no two runs give the same bytes."""
        return False

    @classmethod
    def runs_on(cls, home: type) -> bool:
        """Whether a home of the records answers what the method asks."""
        return issubclass(home, cls.needs)

    def as_dict(self) -> dict[str, object]:
        """The method and its options as the manifest states them."""
        return {"name": self.name, "options": self.model_dump(mode="json")}


class MondrianOptions(MethodOptions):
    """Mondrian: how a group is split, what its cells show, what its cuts may tell."""

    name: ClassVar[str] = "mondrian"
    title: ClassVar[str] = "small groups, most information"
    function: ClassVar[str] = "incrowd.methods.mondrian:mondrian"
    suppresses: ClassVar[bool] = True
    reason: ClassVar[str] = "which keeps most information in small groups and accepts every model"

    split: Literal["loss", "median"] = "loss"
    labels: Literal["set", "hierarchy"] = "set"
    resist: Literal["nothing", "minimality", "minimality-proven"] = "nothing"

    @property
    def label_mode(self) -> Labels:
        """As the option `labels` says."""
        return self.labels

    @property
    def draws(self) -> bool:
        """Groups that are joined to hide others are drawn."""
        return self.resist == "minimality"


class TopDownSpecializationOptions(MethodOptions):
    """Top-down specialization: how the next value to specialize is chosen."""

    name: ClassVar[str] = "top-down-specialization"
    title: ClassVar[str] = "many columns, or a target"
    function: ClassVar[str] = "incrowd.methods.top_down_specialization:top_down_specialization"
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


class TopDownLocalOptions(MethodOptions):
    """Top-down local recoding: whether records may move on to other groups at the end."""

    name: ClassVar[str] = "top-down-local"
    title: ClassVar[str] = "groups refined record by record"
    function: ClassVar[str] = "incrowd.methods.top_down_local:top_down_local"
    needs: ClassVar[type] = RecordCounts

    relocate: bool = Field(default=True, strict=True)

    @property
    def draws(self) -> bool:
        """Which of equal records goes where is drawn."""
        return True


class IncognitoOptions(MethodOptions):
    """Incognito: what the best of all full-domain generalizations has least of."""

    name: ClassVar[str] = "incognito"
    title: ClassVar[str] = "one level for each whole column"
    function: ClassVar[str] = "incrowd.methods.incognito:incognito"
    suppresses: ClassVar[bool] = True

    metric: LatticeMetric = "loss"


class ResearchValueOptions(MethodOptions):
    """Research value: how the levels are searched that keep most of what a researcher wants."""

    name: ClassVar[str] = "research-value"
    title: ClassVar[str] = "levels that researchers want"
    function: ClassVar[str] = "incrowd.methods.research_value:research_value"
    suppresses: ClassVar[bool] = True

    search: ResearchSearch = "best-first"

    @property
    def values_research(self) -> bool:
        """It does: weights and rules are what it searches by."""
        return True


class ClusteringOptions(MethodOptions):
    """Clustering: by what clusters are near, whether cells may be hidden, ranges overlap."""

    name: ClassVar[str] = "clustering"
    title: ClassVar[str] = "groups of near records"
    function: ClassVar[str] = "incrowd.methods.clustering:clustering"
    needs: ClassVar[type] = RecordCounts

    distance: Distance = "ncp"
    suppression: bool = Field(default=False, strict=True)
    overlap: Literal["allow", "forbid"] = "allow"

    @property
    def label_mode(self) -> Labels:
        """Nodes where there is a hierarchy, ranges and sets elsewhere."""
        return "cut"

    @property
    def values_research(self) -> bool:
        """Weights count for all but the plain distance."""
        return self.distance != "euclidean"


class AnatomizeOptions(MethodOptions):
    """Anatomize: how many different sensitive values a group has, and which records it takes.

    Groups are made of records with `similar` quasi-identifiers, or `blind` to them.
    """

    name: ClassVar[str] = "anatomize"
    title: ClassVar[str] = "exact values, shown apart by group"
    function: ClassVar[str] = "incrowd.methods.anatomize:anatomize"
    generalizes: ClassVar[bool] = False
    needs: ClassVar[type] = RecordCounts
    any_order: ClassVar[bool] = True

    l: int | None = Field(default=None, ge=2, strict=True)  # noqa: E741
    grouping: Literal["similar", "blind"] = "similar"

    @property
    def draws(self) -> bool:
        """Records are dealt at random."""
        return True


def _declared(held: object) -> tuple[str, int] | None:
    """The name of a method whose options these are; they stand in the order of this file."""
    if isinstance(held, type) and issubclass(held, MethodOptions) and "name" in vars(held):
        return held.name, 0
    return None


METHOD_OPTIONS: Registry[type[MethodOptions]] = Registry(
    "method", "incrowd.methods", "incrowd.methods.options", _declared
)
"""The options of every method by its name in a policy: those of this file, and entry points."""
