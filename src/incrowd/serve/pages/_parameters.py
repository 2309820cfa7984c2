"""The parameters of privacy models as fields of a form: which kind, what they mean, what fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le

from incrowd.privacy import MODELS

Kind = Literal[
    "whole",
    "number",
    "choice",
    "attribute",
    "attributes",
    "values",
    "limits",
    "categories",
    "weights",
]

_MEANINGS: dict[str, tuple[str, str]] = {
    "k": ("k", "records that look alike, at least"),
    "K": ("K", "records that fit, at least"),
    "L": ("L", "facts that an attacker knows of a patient"),
    "C": ("C", "how sure an attacker may be, 0 to 1"),
    "l": ("l", "values, at least"),
    "p": ("p", "different values, at least"),
    "t": ("t", "distance from the whole table, 0 to 1"),
    "c": ("c", "only for the kind recursive: larger allows more"),
    "alpha": ("alpha", "see the sentence above"),
    "beta": ("beta", "gain of belief, in times the table's share"),
    "delta": ("delta", "difference of logarithms, above 0"),
    "kind": ("Kind", "how variety is counted"),
    "distance": ("Distance", "when values count as near"),
    "check": ("Check", "exact, or quicker and never too lax"),
    "sensitive": ("Sensitive column", "what nobody should learn of a patient"),
    "values": ("Values to protect", "none chosen: all values"),
    "limits": ("Limits", "values of it that an attacker may rule out; empty: no limit"),
    "categories": (
        "Categories",
        "a line for each, the most sensitive first; values separated by commas",
    ),
    "weights": ("Sensitivity", "empty: categories weigh in equal steps; else at least 1"),
}
_STARTS: dict[str, dict[str, Any]] = {
    "k-anonymity": {"k": 5},
    "l-diversity": {"l": 2, "kind": "distinct"},
    "lkc": {"L": 2, "K": 20, "C": 0.5},
    "t-closeness": {"t": 0.3, "distance": "equal"},
    "p-sensitive": {"p": 2, "k": 5},
    "alpha-k": {"alpha": 0.5, "k": 5},
    "confidence-bounding": {"C": 0.5},
    "multi-sensitive": {"k": 5, "l": 2},
    "exponential-l": {"l": 2},
    "l-alpha-diversity": {"l": 2, "alpha": 1.0, "kind": "distinct"},
    "delta-disclosure": {"delta": 2.0},
    "beta-likeness": {"beta": 3.0, "kind": "basic"},
}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a model as a field: what it is called, what it means, what may stand in."""

    name: str
    kind: Kind
    needed: bool
    options: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    default: object = None

    @property
    def label(self) -> str:
        """What the field is called."""
        return _MEANINGS.get(self.name, (self.name, ""))[0]

    @property
    def hint(self) -> str:
        """What the field means, in a few words."""
        return _MEANINGS.get(self.name, (self.name, ""))[1]


def parameters(model: str) -> list[Parameter]:
    """The fields of a privacy model, numbers first, read off the model itself."""
    found = []
    for name, field in MODELS[model].model_fields.items():
        told = field.alias or name.removesuffix("_")
        low = high = None
        for each in field.metadata:
            if isinstance(each, Ge):
                low = float(each.ge)  # type: ignore[arg-type]
            if isinstance(each, Gt):
                low = float(each.gt)  # type: ignore[arg-type]
            if isinstance(each, Le):
                high = float(each.le)  # type: ignore[arg-type]
        kind, options = _kind(told, field.annotation)
        default = None if field.is_required() else field.default
        found.append(Parameter(told, kind, field.is_required(), options, low, high, default))
    order: Sequence[Kind] = ("whole", "number", "choice", "attribute", "attributes")
    return sorted(found, key=lambda each: order.index(each.kind) if each.kind in order else 9)


def beginning(model: str, sensitive: Sequence[str]) -> dict[str, Any]:
    """The parameters a model begins with, for the first of the sensitive columns."""
    started = dict(_STARTS.get(model, {}))
    for each in parameters(model):
        if each.kind == "attribute" and sensitive:
            started[each.name] = sensitive[0]
        if each.kind == "attributes":
            started[each.name] = list(sensitive[:2])
    if model == "lkc" and not sensitive:
        started.pop("C")
    return started


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
    if kept.get("C") == 1:
        kept["C"] = 1.0
    if model in ("l-diversity", "l-alpha-diversity") and kept.get("kind") != "recursive":
        kept.pop("c", None)
    if model == "multi-sensitive":
        named = kept.get("sensitive", [])
        limits = {name: n for name, n in kept.get("limits", {}).items() if name in named}
        kept.pop("limits", None)
        if limits:
            kept["limits"] = limits
    return kept


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


def _kind(name: str, annotation: Any) -> tuple[Kind, tuple[str, ...]]:
    special: dict[str, Kind] = {
        "values": "values",
        "limits": "limits",
        "categories": "categories",
        "weights": "weights",
    }
    if name in special:
        return special[name], ()
    if get_origin(annotation) is Literal:
        return "choice", tuple(map(str, get_args(annotation)))
    if name == "sensitive":
        return ("attributes" if get_origin(annotation) is list else "attribute"), ()
    return ("number" if annotation is float or float in get_args(annotation) else "whole"), ()
