"""YAML without its traps: keys and codes stay as they are written, and no key stands twice.

Plain YAML reads 012345 as octal, yes as true and 2020-01-01 as a date. Here only what looks like
a decimal number is one, only true and false are truth values, and keys are always texts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml

_TAG = "tag:yaml.org,2002:"
_MOST_REPEATED = 100_000
"""Entries that a text may stand for when it repeats some by aliases."""


class WrittenFloat(float):
    """A number that remembers how it was written: as codes, 250.10 and 250.1 differ."""

    written: str


def load(text: str) -> Any:
    """The content of a YAML text; raises yaml.YAMLError where it is not one."""
    try:
        return yaml.load(text, Loader=_PlainLoader)  # noqa: S506 - it is a safe loader
    except (ValueError, LookupError, AttributeError, RecursionError):
        # An explicit tag that does not fit, as in `!!int abc`, a number of 5,000 digits, or lists
        # within lists without end.
        raise yaml.YAMLError from None


def dump(content: Mapping[str, Any], *, width: int = 96, flow: bool | None = False) -> str:
    """A mapping as YAML that `load`, and every other reader, reads as the same.

    `flow` is whether lists and mappings stand on one line; None for those without further ones.
    """
    return yaml.dump(
        dict(content),
        Dumper=_PlainDumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=flow,
        width=width,
    )


def as_text(value: object) -> object:
    """A value of an attribute as text, also one that YAML reads as a number or a truth value.

    What cannot be such a value (nothing, a list, a mapping) comes back as it is.
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, WrittenFloat):
        return value.written
    return str(value) if isinstance(value, int | float) else value


def _entries(node: yaml.Node, known: dict[int, int]) -> int:
    """How many entries a node stands for, those of aliases each time; fails where it has no end."""
    if id(node) not in known:
        known[id(node)] = _MOST_REPEATED + 1  # until it is counted, it holds itself
        inside = node.value if isinstance(node, yaml.SequenceNode | yaml.MappingNode) else []
        if isinstance(node, yaml.MappingNode):
            inside = [value for _, value in inside]
        known[id(node)] = 1 + sum(_entries(each, known) for each in inside)
    return known[id(node)]


class _PlainLoader(yaml.SafeLoader):
    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - filled just below

    def get_single_node(self) -> yaml.Node | None:
        node: yaml.Node | None = super().get_single_node()
        if node is not None:
            known: dict[int, int] = {}
            whole = _entries(node, known)
            if whole > len(known) and whole > _MOST_REPEATED:
                raise yaml.constructor.ConstructorError(
                    None, None, "aliases (*name) make it too large", node.start_mark
                )
        return node

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
        return super().construct_mapping(node, deep)

    def construct_written_float(self, node: Any) -> WrittenFloat:
        number = WrittenFloat(self.construct_yaml_float(node))
        number.written = node.value
        return number


class _PlainDumper(yaml.SafeDumper):
    """Writes texts so that they are read as texts again; no anchors, which people stumble over."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    # Readers differ in what they take for a number or a date, as in 1e5; all of it begins so.
    style = "'" if text[:1] in tuple("+-.0123456789") else None
    try:
        plain = load(text) == text
    except yaml.YAMLError:
        plain = False
    if not plain or not text.isprintable():  # other ends of lines would come back as blanks
        style = '"'
    return dumper.represent_scalar(_TAG + "str", text, style=style)


def _number(dumper: yaml.SafeDumper, number: float) -> yaml.ScalarNode:
    if isinstance(number, WrittenFloat):
        return dumper.represent_scalar(_TAG + "float", number.written)
    return dumper.represent_float(number)


_PlainDumper.add_representer(str, _text)
_PlainDumper.add_multi_representer(float, _number)


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
