"""What a parameter of a privacy model holds, said by its type and not by its name."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, Field, WithJsonSchema
from pydantic.fields import FieldInfo

from incrowd.errors import ParameterError
from incrowd.table.spellings import folded

PROTECTED = "what nobody should learn of a patient"
VALUE_SCHEMA: dict[str, Any] = {"type": ["string", "number", "boolean"]}
"""A value in a policy file; numbers and truth values are taken as they are written."""


class Means(Enum):
    """What a parameter holds beside numbers and choices: a policy, a page and a report ask."""

    COLUMNS = "columns"
    """The columns that the model protects: the parameter `sensitive`."""
    VALUES = "values"
    """Values of these columns."""
    CATEGORIES = "categories"
    """Lists of values, or the level of a hierarchy with the order of its labels."""
    LIMITS = "limits"
    """A whole number for each of some of these columns."""
    WEIGHTS = "weights"
    """How categories weigh."""

    @property
    def lists_values(self) -> bool:
        """Whether it holds values, which may be those of suppressed records."""
        return self in (Means.VALUES, Means.CATEGORIES)


Sensitive = Annotated[str, Field(description=PROTECTED)]
"""The one column that a model protects."""
ListedValue = Annotated[str, WithJsonSchema(VALUE_SCHEMA)]
"""A value of a column."""
Values = Annotated[list[ListedValue], Means.VALUES]
"""Values of the columns that a model protects."""
Categories = Annotated[list[list[ListedValue]], Means.CATEGORIES]
"""Values of the columns that a model protects, in lists of those that go together."""
Limits = Annotated[dict[str, Annotated[int, Field(ge=0)]], Means.LIMITS]
"""Whole numbers for some of the columns that a model protects."""


def meaning(name: str, field: FieldInfo) -> Means | None:
    """What a parameter holds; None for numbers, choices and what its type does not say."""
    if name == "sensitive":
        return Means.COLUMNS
    return next((each for each in _said(field) if isinstance(each, Means)), None)


def is_structured(annotation: Any) -> bool:
    """Whether a parameter may be a list or a mapping, so that no single text stands for it."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return True
    return get_origin(annotation) in (list, dict) or any(map(is_structured, get_args(annotation)))


def holds_texts(annotation: Any) -> bool:
    """Whether a parameter may hold texts that are no choice of the model's."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return any(holds_texts(field.annotation) for field in annotation.model_fields.values())
    if annotation in (str, Any, object, list, dict):
        return True
    inside = () if get_origin(annotation) is Literal else get_args(annotation)
    return any(map(holds_texts, inside))


def published_alone(held: Any, published: Mapping[str, str]) -> Any:
    """Values, in lists or lists of lists, as they are published (by key); others are left out."""
    if not isinstance(held, list):
        raise ParameterError("A promise must list its values, to be made without unpublished ones.")
    return [
        published_alone(each, published) if isinstance(each, list) else published[folded(each)]
        for each in held
        if isinstance(each, list) or folded(each) in published
    ]


def _said(field: FieldInfo) -> list[Any]:
    """What the type of a parameter says beside its kind, at any depth."""
    found, waiting = list(field.metadata), [field.annotation]
    while waiting:
        parts = get_args(waiting.pop())
        found += parts[1:]
        waiting += parts
    return found
