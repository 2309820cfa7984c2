"""Plain sentences for what validation refuses: the place, what is allowed, the nearest name."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

from incrowd.errors import nearest

_TYPE_NAMES = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "a text",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping of names to values",
    "mapping_type": "a mapping of names to values",
    "model_type": "a mapping of names to values",
    "tuple_type": "a list",
}
_WORDS = {None: "nothing", True: "true", False: "false"}
_REPR = reprlib.Repr()
_REPR.maxlevel, _REPR.maxlist, _REPR.maxdict = 4, 20, 20
_REPR.maxstring = _REPR.maxlong = _REPR.maxother = 200
"""Enough for what is shown of a value; aliases of YAML can make it immensely large."""


def explain_validation(error: ValidationError, model: type[BaseModel], where: str) -> str:
    """One line per complaint of a validation: where, what is wrong, what is allowed."""
    lines: dict[Any, str] = {}
    for number, item in enumerate(error.errors()):
        place = _locate(model, item["loc"])
        # Of the branches of a union (int or float), the last and widest one speaks for all.
        lines[place.text if place.in_union else number] = _explain(item, place, where)
    return "\n".join(lines.values())


@dataclass(frozen=True)
class _FieldLocation:
    """A place in a validated structure, as people write it, and the model it belongs to."""

    text: str
    name: str
    owner: type[BaseModel]
    in_union: bool


def _explain(item: Any, place: _FieldLocation, where: str) -> str:
    kind = item["type"]
    got = _shown(item.get("input"))
    if kind == "extra_forbidden":
        legal = sorted(field.alias or name for name, field in place.owner.model_fields.items())
        return (
            f"{where}: unknown key '{place.text}'.{nearest(place.name, legal)} "
            f"Allowed: {', '.join(legal)}."
        )
    if kind == "missing":
        return f"{where}: '{place.text}' is missing."
    if kind == "literal_error":
        legal = _literals(item)
        choice = f"one of {', '.join(legal)}" if len(legal) > 1 else legal[0]
        return (
            f"{where}: {place.text} must be {choice}, got {got}."
            f"{nearest(str(item.get('input')), legal)}"
        )
    if kind == "value_error":
        before = f"{where}: {place.text}: " if place.text else f"{where}: "
        message = str(item["ctx"]["error"]).replace("\n", "\n" + before)
        return before + message + ("" if message.endswith((".", "?")) else ".")
    wanted = _bounds(kind, item.get("ctx", {})) or _TYPE_NAMES.get(kind)
    if wanted is not None:
        return f"{where}: {place.text} must be {wanted}, got {got}."
    return f"{where}: {place.text}: {item['msg']} (got {got})."


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
        whole = isinstance(bound, int) and kind.endswith("equal")
        return f"{'a whole number of' if whole else 'a number'} {phrase} {bound:g}"
    if kind == "too_short":
        noun = "a list" if context["field_type"] == "List" else "a mapping"
        plural = "entry" if context["min_length"] == 1 else "entries"
        return f"{noun} with at least {context['min_length']} {plural}"
    return None


def _literals(item: Any) -> list[str]:
    expected = str(item.get("ctx", {}).get("expected", ""))
    return [part.strip().strip("'") for part in expected.replace(" or ", ", ").split(",")]


def _shown(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return _WORDS[value]
    text = _REPR.repr(value)  # no longer than needed, however large the value is
    return text if len(text) <= 60 else text[:57] + "…"


def _locate(model: type[BaseModel], location: Sequence[str | int]) -> _FieldLocation:
    """Where a location of pydantic is; it also names the branch of a union, which people do not."""
    from pydantic import BaseModel

    owner, text, name, in_union = model, "", "", False
    annotation: Any = model
    for part in location:
        kinds = _kinds(annotation)
        if len(kinds) > 1:
            annotation, in_union = None, True
            continue
        annotation, name = kinds[0], str(part)
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            owner = annotation
            fields = owner.model_fields.items()
            annotation = next((f.annotation for n, f in fields if part in (n, f.alias)), None)
        else:
            annotation = (get_args(annotation) or (None,))[-1]
    return _FieldLocation(text, name, owner, in_union)


def _kinds(annotation: Any) -> list[Any]:
    """The types that an annotation allows, None aside."""
    if get_origin(annotation) is Annotated:
        return _kinds(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return [kind for kind in get_args(annotation) if kind is not NoneType]
    return [annotation]
