"""Results as plain values: the fields of a dataclass as JSON holds them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from typing import Any


class PlainFields:
    """A dataclass that tells all of its fields, in their order."""

    def as_dict(self) -> dict[str, Any]:
        """All of it for JSON."""
        return plain_fields(self)


def plain_fields(
    record: Any, *, without: Collection[str] = (), names: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The fields of a dataclass as plain values, some left out, some under other names."""
    called = names or {}
    return {
        called.get(each.name, each.name): plain(getattr(record, each.name))
        for each in fields(record)
        if each.name not in without
    }


def plain(value: Any) -> Any:
    """A value with lists for sequences, and with results as they tell themselves."""
    if hasattr(value, "as_dict"):
        return value.as_dict()
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return plain_fields(value) if is_dataclass(value) else value
