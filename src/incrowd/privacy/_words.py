"""Words for the sentences of privacy models; parameters may be missing while a person types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Formatter
from typing import Any

from incrowd._runtime.sentences import listed

_MOST_NAMED = 3
"""Listed values that a sentence still names."""
_FACTS = {1: "one fact", 2: "any two facts", 3: "any three facts", 4: "any four facts"}


def told(
    wording: str,
    parameters: Mapping[str, Any],
    readings: Mapping[str, Mapping[str, str]] | None = None,
) -> str:
    """The wording with parameters filled in; an ellipsis stands for what is missing.

    `{k}` is a number, `{k:record}` so many records, `{L:facts}` so many facts about a person,
    `{C:cases}` a share as cases of a hundred. `{the}` is the sensitive attribute with an article,
    `{of}` without one, `{listed}` those values of it that are listed. What `readings` have for the
    choice of a parameter stands for `{parameter}`, and is filled in itself; the first is its
    default.

    Example
    -------
    >>> told("finds {k:record}, and is {C:cases} sure of {the}", {"k": 1, "sensitive": "diagnosis"})
    'finds 1 record, and is … of 100 cases sure of the diagnosis'
    """
    for name, of in (readings or {}).items():
        choice = parameters.get(name) or next(iter(of))
        wording = wording.replace(f"{{{name}}}", of.get(str(choice), "…"))
    return _Wording().vformat(wording, (), parameters)


class _Wording(Formatter):
    def get_value(self, key: int | str, _args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        named = {"the": _the, "of": _of, "listed": _listed}.get(str(key))
        return kwargs.get(str(key)) if named is None else named(kwargs)

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec == "facts":
            return _FACTS.get(value, f"any {number(value or None)} facts")
        if format_spec == "cases":
            share = f"{100 * value:g}" if isinstance(value, int | float) else "…"
            return f"{share} of 100 cases"
        return counted(value, format_spec) if format_spec else number(value)


def counted(many: object, thing: str, things: str | None = None) -> str:
    """A number with its noun: `1 record`, `20 records`."""
    told = number(many)
    return f"{told} {thing if told == '1' else things or thing + 's'}"


def number(value: object) -> str:
    """A number as people write it; an ellipsis where it is missing."""
    if value is None or value == "":
        return "…"
    if isinstance(value, float) and not value.is_integer():
        return f"{value:g}"
    return f"{int(value):,}" if isinstance(value, int | float) else str(value)


def _the(parameters: Mapping[str, Any]) -> str:
    """The sensitive attribute, or several."""
    named = parameters.get("sensitive")
    if isinstance(named, str) and named:
        return f"the {named}"
    if isinstance(named, Sequence) and not isinstance(named, str) and named:
        return f"the {listed(named, quoted=False)}"
    return "the sensitive column"


def _of(parameters: Mapping[str, Any]) -> str:
    """The sensitive attributes without an article, as in `values of diagnosis`."""
    return _the(parameters).removeprefix("the ")


def _listed(parameters: Mapping[str, Any]) -> str:
    """Which values a share is about."""
    values = parameters.get("values")
    if not values:
        return _the(parameters)
    if len(values) > _MOST_NAMED:
        return f"one of {len(values):,} listed values of {_of(parameters)}"
    named = " or ".join(map(str, values))
    return f"{_the(parameters)} {named}"
