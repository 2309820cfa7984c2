"""What every method says of itself: light, so that a policy can be checked without it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from pydantic import BaseModel, ConfigDict

from incrowd.counts import RowCounts

if TYPE_CHECKING:
    from incrowd.methods.base import Outcome, TaskAt

Labels = Literal["set", "hierarchy", "cut"]
"""What cells show: ranges and sets, nodes of the hierarchy, or nodes where there is a hierarchy and
ranges and sets elsewhere."""


class TraceStep(Protocol):
    """A step of a search as `--trace` shows it, whichever method made it."""

    @property
    def number(self) -> int:
        """Which step it is, counted from 1."""

    @property
    def attribute(self) -> str:
        """The attribute that it made more detailed."""

    @property
    def value(self) -> str | None:
        """The label that it replaced."""

    @property
    def children(self) -> tuple[str | None, ...]:
        """What it replaced it by."""

    @property
    def score(self) -> float:
        """What spoke for it."""

    @property
    def groups(self) -> int:
        """How many groups there are after it."""

    @property
    def touched(self) -> int:
        """How many records showed the label."""

    def as_dict(self) -> dict[str, object]:
        """The step for JSON."""


class AlternativeLevels(Protocol):
    """A choice of levels that keeps the promises, for a content expert to compare with others."""

    @property
    def value(self) -> float:
        """What it is worth."""

    @property
    def levels(self) -> Mapping[str, int]:
        """The level of each attribute."""

    @property
    def roots(self) -> tuple[str, ...]:
        """The attributes of which it shows nothing."""

    @property
    def suppressed(self) -> int:
        """How many records it drops."""

    @property
    def groups(self) -> int:
        """How many groups there are."""

    @property
    def smallest(self) -> int:
        """The records of its smallest group."""

    @property
    def average(self) -> float:
        """The records of a group, on average."""

    def as_dict(self) -> dict[str, Any]:
        """All of it for JSON."""


class Stepwise(Protocol):
    """A search that is private after every step, and may be ended after any."""

    def __iter__(self) -> Iterator[TraceStep]: ...

    def outcome(self) -> Outcome:
        """What the steps made so far decide."""
        ...


class MethodOptions(BaseModel, ABC):
    """A method: what a policy may set, what others ask of it, and how it decides.

    `name` is its name in the policy, and the fields are its options there.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: ClassVar[str]
    place: ClassVar[int] = 1000
    """Where it stands in lists of all methods."""
    title: ClassVar[str] = ""
    """What it is good for, in a few words."""
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
    knows_events: ClassVar[bool] = False
    """Whether it is for promises about attackers who know events of patients, and these alone."""
    hospitals: ClassVar[str] = ""
    """As what a policy of hospitals may name it; empty where they cannot run it together.

    What hospitals run is the search of top-down specialization, so no other method has it.
    """
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
    def refused_by_hospitals(self) -> str:
        """Why hospitals do not run it with these options, and what to do; empty where they may."""
        return ""

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

    @classmethod
    def suits(cls, *, partial: bool, classification: bool) -> bool:  # noqa: ARG003
        """Whether `method: auto` takes it for attackers who know a part, or to predict a class."""
        return False

    @classmethod
    def has(cls, what: str) -> bool:
        """Whether it has something that not every method has, as `steps` or `alternatives`."""
        return getattr(cls, what) is not getattr(MethodOptions, what)

    def steps(self, task: TaskAt[Any]) -> Stepwise | None:  # noqa: ARG002
        """Its search, to be followed step by step; None where it has no steps."""
        return None

    def alternatives(
        self,
        task: TaskAt[Any],  # noqa: ARG002
        n: int,  # noqa: ARG002
    ) -> Sequence[AlternativeLevels] | None:
        """So many of the best that it found, for a content expert to choose from, where it can."""
        return None

    @abstractmethod
    def decide(self, task: TaskAt[Any]) -> Outcome:
        """The groups of the records of a task, and what they show."""
