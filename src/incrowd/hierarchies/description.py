"""What a policy says of one attribute: its role, its type, its hierarchy, what is wanted of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from incrowd._runtime.plain_yaml import as_text
from incrowd.hierarchies.computed import DATE_LEVELS
from incrowd.sources.plain_paths import plain_path
from incrowd.table import Role
from incrowd.table.dates import reads_dates
from incrowd.table.profiles import Take

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

    @model_validator(mode="after")
    def _order_fits(self) -> Self:
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
