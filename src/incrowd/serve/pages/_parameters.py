"""The parameters of privacy models as fields of a form: which kind, what they mean, what fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le
from yaml import YAMLError

from incrowd._runtime.plain_yaml import load
from incrowd.privacy import MODELS, Means
from incrowd.privacy.parameters import is_structured, meaning

ParameterKind = Literal[
    "whole",
    "number",
    "choice",
    "switch",
    "attribute",
    "attributes",
    "values",
    "limits",
    "categories",
    "weights",
    "text",
    "yaml",
]
_FIRST = get_args(ParameterKind)[:6]
"""What comes first, in this order; all else stands as the model has it."""
LONG: tuple[ParameterKind, ...] = ("values", "limits", "categories", "weights", "yaml")
"""What takes a line of its own."""

_LABELS: dict[ParameterKind, str] = {
    "attribute": "Sensitive column",
    "attributes": "Sensitive column",
    "values": "Values to protect",
}
_OF_MEANING: dict[Means, ParameterKind] = {
    Means.VALUES: "values",
    Means.CATEGORIES: "categories",
    Means.LIMITS: "limits",
    Means.WEIGHTS: "weights",
}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a model as a field: what it is called, what it means, what may stand in."""

    name: str
    kind: ParameterKind
    needed: bool
    options: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    default: object = None
    label: str = ""
    """What the field is called."""
    hint: str = ""
    """What it means, in a few words."""
    with_: tuple[str, str] | None = None
    """The other parameter, and its value, with which alone it goes."""

    step: float = 0.05


def offered() -> dict[str, str]:
    """Every privacy model with its title, the common ones first."""
    common = sorted(
        (each for each in MODELS.values() if each.common), key=lambda each: each.title()
    )
    models = dict.fromkeys([*common, *MODELS.values()])
    return {each.name: each.title() for each in models}


def parameters(model: str) -> list[Parameter]:
    """The fields of a privacy model, numbers first, read off the model itself."""
    found = []
    for name, field in MODELS[model].parameters().items():
        low = high = None
        for each in field.metadata:
            if isinstance(each, Ge):
                low = float(each.ge)  # type: ignore[arg-type]
            if isinstance(each, Gt):
                low = float(each.gt)  # type: ignore[arg-type]
            if isinstance(each, Le):
                high = float(each.le)  # type: ignore[arg-type]
        kind, options = _kind(meaning(name, field), field.annotation)
        short = kind in ("whole", "number")
        found.append(
            Parameter(
                name,
                kind,
                field.is_required(),
                options,
                low,
                high,
                default=None if field.is_required() else field.default,
                label=_LABELS.get(kind, field.title or (name if short else name.capitalize())),
                hint=field.description or "",
                with_=MODELS[model].only_with.get(name),
                step=1 if int in (field.annotation, *get_args(field.annotation)) else 0.05,
            )
        )
    return sorted(found, key=lambda each: (*_FIRST, each.kind).index(each.kind))


def cleaned(model: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters as a policy writes them: whole numbers whole, empty fields left out."""
    kept: dict[str, Any] = {}
    for each in parameters(model):
        value = asked.get(each.name)
        if value is None or value == "" or value == [] or value == {}:
            continue
        if isinstance(value, float) and value.is_integer() and each.kind == "whole":
            value = int(value)
        kept[each.name] = value
    for name, (other, value) in MODELS[model].only_with.items():
        if kept.get(other) != value:
            kept.pop(name, None)
    named = kept.get("sensitive", [])
    for each in parameters(model):
        if each.kind == "limits" and each.name in kept:
            kept[each.name] = {name: n for name, n in kept[each.name].items() if name in named}
    return {name: value for name, value in kept.items() if value != {}}


def categories_of(text: str) -> list[list[str]]:
    r"""The categories that a person wrote, a line for each.

    Example
    -------
    >>> categories_of("HIV, Hepatitis\n\nFlu")
    [['HIV', 'Hepatitis'], ['Flu']]
    """
    lines = [[part.strip() for part in line.split(",")] for line in text.splitlines()]
    return [kept for line in lines if (kept := [part for part in line if part])]


def text_of(categories: object) -> str:
    """Categories as a person writes them; empty where they are given by a level."""
    if not isinstance(categories, list):
        return ""
    return "\n".join(", ".join(map(str, each)) for each in categories)


def written(text: str) -> object:
    r"""A parameter that a person wrote as YAML; the text itself where it is none.

    Example
    -------
    >>> written("[1, 2]"), written("a: 3"), written("[1,")
    ([1, 2], {'a': 3}, '[1,')
    """
    try:
        return load(text)
    except YAMLError:
        return text


def _kind(means: Means | None, annotation: Any) -> tuple[ParameterKind, tuple[str, ...]]:
    if means is Means.COLUMNS:
        return ("attributes" if get_origin(annotation) is list else "attribute"), ()
    if means is not None:
        return _OF_MEANING[means], ()
    if get_origin(annotation) is Literal:
        return "choice", tuple(map(str, get_args(annotation)))
    if is_structured(annotation):
        return "yaml", ()
    kinds = (annotation, *get_args(annotation))
    if bool in kinds:
        return "switch", ()
    return ("number" if float in kinds else "whole" if int in kinds else "text"), ()
