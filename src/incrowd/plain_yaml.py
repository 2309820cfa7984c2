"""YAML without its traps: keys and codes stay as they are written, and no key stands twice.

Plain YAML reads 012345 as octal, yes as true and 2020-01-01 as a date. Here only what looks like
a decimal number is one, only true and false are truth values, and keys are always texts.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

_TAG = "tag:yaml.org,2002:"


class WrittenFloat(float):
    """A number that remembers how it was written: as codes, 250.10 and 250.1 differ."""

    written: str


def load(text: str) -> Any:
    """The content of a YAML text; raises yaml.YAMLError where it is not one."""
    try:
        return yaml.load(text, Loader=_PlainLoader)
    except (ValueError, LookupError, AttributeError):
        # An explicit tag that does not fit, as in `!!int abc`, or a number of 5,000 digits.
        raise yaml.YAMLError from None


def as_text(value: object) -> object:
    """A value of an attribute as text, also one that YAML reads as a number or a truth value.

    What cannot be such a value (nothing, a list, a mapping) comes back as it is.
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, WrittenFloat):
        return value.written
    return str(value) if isinstance(value, int | float) else value


class _PlainLoader(yaml.SafeLoader):
    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - filled just below

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            problem = None
            if not isinstance(key, yaml.ScalarNode):
                problem = "a key must be a text, not a list or a mapping"
            elif key.value in seen:
                problem = f"the key '{key.value}' stands twice"
            if problem is not None:
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            key.tag = _TAG + "str"
            seen.add(key.value)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping

    def construct_written_float(self, node: Any) -> WrittenFloat:
        number = WrittenFloat(self.construct_yaml_float(node))
        number.written = node.value
        return number


def _resolve_plainly() -> None:
    add = _PlainLoader.add_implicit_resolver
    add(_TAG + "bool", re.compile(r"^(?:true|false)$"), list("tf"))
    add(_TAG + "null", re.compile(r"^(?:null|~|)$"), ["n", "~", ""])
    add(_TAG + "int", re.compile(r"^[-+]?(?:0|[1-9][0-9]*)$"), list("-+0123456789"))
    add(
        _TAG + "float",
        re.compile(r"^[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?$"),
        list("-+0123456789."),
    )
    _PlainLoader.add_constructor(_TAG + "float", _PlainLoader.construct_written_float)


_resolve_plainly()
