"""Plain sentences for what validation refuses: the place, what is allowed, the nearest name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, get_args

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

from incrowd.errors import nearest

_TYPE_NAMES = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "a text",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping of names to values",
    "mapping_type": "a mapping of names to values",
    "model_type": "a mapping of names to values",
    "tuple_type": "a list",
}


def explain_validation(error: ValidationError, model: type[BaseModel], where: str) -> str:
    """One line per complaint of a validation: where, what is wrong, what is allowed."""
    return "\n".join(_explain(item, model, where) for item in error.errors())


def _explain(item: Any, model: type[BaseModel], where: str) -> str:
    location: Sequence[str | int] = item["loc"]
    place = ".".join(str(part) for part in location)
    kind = item["type"]
    got = _shown(item.get("input"))
    if kind == "extra_forbidden":
        owner = _model_at(model, location[:-1])
        legal = sorted(field.alias or name for name, field in owner.model_fields.items())
        unknown = str(location[-1])
        return (
            f"{where}: unknown key '{place}'.{nearest(unknown, legal)} Allowed: {', '.join(legal)}."
        )
    if kind == "missing":
        return f"{where}: '{place}' is missing."
    if kind == "literal_error":
        legal = _literals(item)
        return (
            f"{where}: {place} must be one of {', '.join(legal)}, got {got}."
            f"{nearest(str(item.get('input')), legal)}"
        )
    if kind == "value_error":
        message = str(item["ctx"]["error"])
        return f"{where}: {place + ': ' if place else ''}{message}"
    wanted = _bounds(kind, item.get("ctx", {})) or _TYPE_NAMES.get(kind)
    if wanted is not None:
        return f"{where}: {place} must be {wanted}, got {got}."
    return f"{where}: {place}: {item['msg']} (got {got})."


def _bounds(kind: str, context: dict[str, Any]) -> str | None:
    words = {
        "greater_than_equal": ("ge", "at least"),
        "greater_than": ("gt", "above"),
        "less_than_equal": ("le", "at most"),
        "less_than": ("lt", "below"),
    }
    if kind in words:
        key, phrase = words[kind]
        bound = context[key]
        noun = (
            "a whole number of" if isinstance(bound, int) and kind.endswith("equal") else "a number"
        )
        return f"{noun} {phrase} {bound}"
    if kind == "too_short":
        return f"a list of at least {context['min_length']}"
    return None


def _literals(item: Any) -> list[str]:
    expected = str(item.get("ctx", {}).get("expected", ""))
    return [part.strip().strip("'") for part in expected.replace(" or ", ", ").split(",")]


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _model_at(model: type[BaseModel], location: Sequence[str | int]) -> type[BaseModel]:
    """The model class that a location inside a validated structure belongs to."""
    from pydantic import BaseModel

    for part in location:
        if not isinstance(part, str):
            continue
        field = next((f for name, f in model.model_fields.items() if part in (name, f.alias)), None)
        if field is None:
            continue
        inner = next((t for t in _nested(field.annotation) if _is_model(t, BaseModel)), None)
        if inner is not None:
            model = inner
    return model


def _nested(annotation: Any) -> list[Any]:
    return [annotation, *(n for a in get_args(annotation) for n in _nested(a))]


def _is_model(candidate: Any, base: type[Any]) -> bool:
    return isinstance(candidate, type) and issubclass(candidate, base)
