"""What a policy says of one attribute: its role, its type, its hierarchy, what is wanted of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from incrowd._runtime.plain_yaml import as_text
from incrowd.hierarchies.computed import DATE_LEVELS
from incrowd.sources.plain_paths import plain_path
from incrowd.table import Role
from incrowd.table.dates import reads_dates
from incrowd.table.profiles import Take
from incrowd.table.times import Period, TimeUnit

_SHIFT = re.compile("[1-9][0-9]{0,3} days")
_WEEK = 7
_Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class PolicyPart(BaseModel):
    """A part of a policy: unknown keys are errors, and nothing changes it."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Intervals(PolicyPart):
    """Nested half-open ranges; each width is a multiple of the one before."""

    start: _Number
    stop: _Number
    widths: list[_Number] = Field(min_length=1, max_length=100)


class Mask(PolicyPart):
    """Characters masked one by one: 14248 becomes 1424*, then 142**."""

    length: int = Field(ge=1, le=10_000, strict=True)
    direction: Literal["right", "left"] = "right"


class HierarchyPolicy(PolicyPart):
    """Where a hierarchy comes from; exactly one of the keys."""

    file: Annotated[str, AfterValidator(plain_path)] | None = None
    tree: dict[str, Any] | list[Any] | None = None
    intervals: Intervals | None = None
    mask: Mask | None = None
    dates: list[Literal["month", "quarter", "year", "decade"]] | None = None
    auto: bool | None = Field(default=None, strict=True)

    @field_validator("tree", mode="before")
    @classmethod
    def _tree_of_texts(cls, value: object) -> object:
        if not isinstance(value, Mapping | list | None):
            raise ValueError(
                "a tree is a mapping of labels to their values, as in "
                "`{Blue-collar: [Janitor, Mover], White-collar: [Lawyer]}`"
            )
        return _texts_of_tree(value)

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if sum(getattr(self, name) is not None for name in type(self).model_fields) != 1:
            legal = ", ".join(type(self).model_fields)
            raise ValueError(f"a hierarchy has exactly one of {legal}")
        return self


class RulePolicy(PolicyPart):
    """Two values of an attribute that no label should stand for both of."""

    apart: list[str] = Field(min_length=2, max_length=2)
    importance: float = Field(default=1.0, gt=0.0, strict=True, allow_inf_nan=False)

    @field_validator("apart", mode="before")
    @classmethod
    def _two_values(cls, value: object) -> object:
        if not isinstance(value, list) or len(value) != 2 or as_text(value[0]) == as_text(value[1]):
            raise ValueError("a rule names two different values, as in `apart: [64, 65]`")
        return [as_text(each) for each in value]


class FirstEvent(PolicyPart):
    """The first event of a patient that has a value: day 0 of times relative to it."""

    first: Annotated[str, BeforeValidator(as_text)] = Field(
        description="the column of events that has the value"
    )
    value: Annotated[str, BeforeValidator(as_text)]


class TimePolicy(PolicyPart):
    """What becomes of dates; exactly one of shift, relative-to and coarse."""

    shift: str | None = Field(
        default=None, description="each patient's dates move by one random shift, as in 180 days"
    )
    weeks: bool = Field(
        default=False, strict=True, description="shift by whole weeks, so that weekdays stay"
    )
    relative_to: FirstEvent | str | None = Field(
        default=None,
        alias="relative-to",
        description="count from `first`, the patient's earliest date; from a column of patients; "
        "or from the first event with a value",
    )
    unit: TimeUnit | None = Field(default=None, description="what is counted; days if left out")
    widths: list[Annotated[int, Field(ge=1, le=1_000_000, strict=True)]] | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="publish ranges of so many units, the first of these widths",
    )
    coarse: Period | None = Field(default=None, description="publish this part of the calendar")

    @field_validator("shift", mode="before")
    @classmethod
    def _number_of_days(cls, value: object) -> object:
        if value is not None and not (isinstance(value, str) and _SHIFT.fullmatch(value)):
            raise ValueError("a shift is a number of days, at most 9999, as in `shift: 180 days`")
        return value

    @field_validator("relative_to", mode="before")
    @classmethod
    def _index(cls, value: object) -> object:
        if isinstance(value, FirstEvent | None):
            return value
        if isinstance(value, Mapping) and {*value} == {"first", "value"}:
            return value
        if isinstance(value, list | Mapping):
            raise ValueError(
                "must be `first`, the name of a column of patients, or the first event with a "
                "value, as in `{first: code, value: E11.9}`"
            )
        return as_text(value)

    @field_validator("widths", mode="after")
    @classmethod
    def _ascending(cls, value: list[int] | None) -> list[int] | None:
        if value is not None and value != sorted({*value}):
            raise ValueError("widths ascend, as in [30, 90, 365]")
        return value

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        given = [each for each in (self.shift, self.relative_to, self.coarse) if each is not None]
        if len(given) != 1:
            raise ValueError(
                "`time:` has exactly one of shift, relative-to and coarse, as in "
                "`time: {shift: 180 days, weeks: true}`"
            )
        if self.weeks and self.shift is None:
            raise ValueError("`weeks:` is for `shift:`; leave it out")
        if self.weeks and self.days < _WEEK:
            raise ValueError("a shift by whole weeks needs at least 7 days")
        if self.relative_to is None and (self.unit is not None or self.widths is not None):
            raise ValueError("`unit:` and `widths:` are for `relative-to:`; leave them out")
        return self

    @property
    def days(self) -> int:
        """How far a shift goes at most, either way."""
        return 0 if self.shift is None else int(self.shift.split()[0])

    @property
    def width(self) -> int | None:
        """How many units a published range has; None where single units are published."""
        return self.widths[0] if self.widths else None


class AttributePolicy(PolicyPart):
    """One attribute: its role, its type, its hierarchy, what a researcher wants of it."""

    role: Role
    level: Literal["patient", "event"] = Field(
        default="patient", description="whether it may vary between the rows of a patient"
    )
    take: Take | None = Field(
        default=None, description="which value stands for a patient whose rows differ"
    )
    type: Literal["numeric", "category", "date", "ordered"] | None = None
    format: str | None = Field(default=None, description="how dates are written, as in %d.%m.%Y")
    order: list[str] | None = Field(default=None, description="the values of an ordered attribute")
    time: TimePolicy | None = Field(
        default=None, description="what becomes of dates: shifted, relative to an event, coarse"
    )
    hierarchy: HierarchyPolicy | None = None
    weight: float | None = Field(
        default=None, gt=0.0, strict=True, allow_inf_nan=False, description="beside the others'"
    )
    rules: list[RulePolicy] | None = Field(default=None, description="values to be kept apart")

    @field_validator("hierarchy", mode="before")
    @classmethod
    def _short_hierarchy(cls, value: object) -> object:
        if value == "auto":
            return {"auto": True}
        if value == "dates":
            value = {"dates": "all"}
        if isinstance(value, Mapping) and value.get("dates") == "all":
            return {**value, "dates": list(DATE_LEVELS)}
        if isinstance(value, str):
            return {"file": value}
        if not isinstance(value, Mapping | HierarchyPolicy | None):
            legal = ", ".join(HierarchyPolicy.model_fields)
            raise ValueError(f"a hierarchy is the name of a file, `auto`, or one of {legal}")
        return value

    @field_validator("order", mode="before")
    @classmethod
    def _texts(cls, value: object) -> object:
        return [as_text(each) for each in value] if isinstance(value, list) else value

    @field_validator("order", mode="after")
    @classmethod
    def _each_once(cls, value: list[str] | None) -> list[str] | None:
        if value is not None and len(set(value)) < len(value):
            raise ValueError("a value stands twice; list each value once, the lowest first")
        return value

    @field_validator("format", mode="after")
    @classmethod
    def _readable_dates(cls, value: str | None) -> str | None:
        if value is not None and not reads_dates(value):
            raise ValueError(
                f"'{value[:100]}' does not describe dates; write %d for the day, %m for the month "
                "and %Y for the year, as in %d.%m.%Y"
            )
        return value

    @property
    def kind(self) -> Literal["numeric", "category", "date", "ordered"] | None:
        """The type that is asked for; None where it is seen from the data."""
        return self.type if self.time is None else "date"

    @model_validator(mode="after")
    def _order_fits(self) -> Self:
        if self.time is not None and (self.type not in (None, "date") or self.order is not None):
            raise ValueError("`time:` is for dates; leave `type:` and `order:` out")
        kind = "ordered" if self.order is not None else self.type
        if self.format is not None and kind not in (None, "date"):
            raise ValueError(f"`format:` is for dates, this attribute is {kind}")
        if self.order is not None and self.type not in (None, "ordered"):
            raise ValueError(f"`order:` is for ordered attributes, this one is {self.type}")
        if self.type == "ordered" and self.order is None:
            raise ValueError("an ordered attribute needs `order:`, the list of its values")
        return self


def _texts_of_tree(node: object) -> object:
    """The tree with all labels and values as texts."""
    if isinstance(node, Mapping):
        return {as_text(label): _texts_of_tree(below) for label, below in node.items()}
    return [_texts_of_tree(each) for each in node] if isinstance(node, list) else as_text(node)
