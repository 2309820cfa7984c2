"""What a key of a manifest may hold: texts, counts, shares, names."""

from __future__ import annotations

from typing import Literal, TypeAlias, TypeGuard

AttributeKind: TypeAlias = Literal["numeric", "category", "date", "ordered"]


def is_text(value: object) -> TypeGuard[str]:
    """Whether it is a text that says something."""
    return isinstance(value, str) and value != ""


def is_kind(value: object) -> TypeGuard[AttributeKind]:
    """Whether it is the kind of an attribute."""
    return value in ("numeric", "category", "date", "ordered")


def is_hex(value: object) -> bool:
    """Whether it is a SHA-256 in hexadecimal."""
    return isinstance(value, str) and len(value) == 64 and set(value) <= set("0123456789abcdef")


def is_count(value: object) -> bool:
    """Whether it is a whole number that counts something."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def is_share(value: object) -> bool:
    """Whether it is a number from 0 to 1."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def are_names(value: object) -> TypeGuard[list[str]]:
    """Whether it is a list of different names, at least one."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(is_text(each) for each in value)
        and len(set(value)) == len(value)
    )
