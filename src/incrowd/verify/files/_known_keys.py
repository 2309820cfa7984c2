"""Every key that a manifest may have, with the kind of what it holds: the one list of them.

A manifest is as public as the tables, and a key that nobody judges could carry anything. So each
level has just these keys, in this order, and texts are of kinds that hold no sentence: words,
versions, digests, names of columns. Names of columns that are not published, and the numbers that
no count confirms, are said to be not judged (`not_judged`).

To add a key, add it here, in the place where the manifest is written.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from incrowd.verify.verdict import shown

KeyCheck: TypeAlias = Callable[[object], bool]

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
_VERSION = re.compile(r"[0-9]{1,4}(\.[0-9]{1,4}){1,3}((a|b|rc|\.dev|\.post)[0-9]{1,4})?")
_DATE_FORMAT = re.compile(r"(%[A-Za-z]|[-/.:, T]){1,30}")
_BASE64 = re.compile(r"[A-Za-z0-9+/=]{1,100}")
_HEX = re.compile(r"[0-9a-f]{64}")
_FINGERPRINT = re.compile(r"[0-9a-f]{16}")
_LARGEST = 2**63
_COUNTS = ("source", "published", "suppressed", "missing_dropped")


def _text(pattern: re.Pattern[str]) -> KeyCheck:
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None


def _name(value: object) -> bool:
    return isinstance(value, str)


def _names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _flag(value: object) -> bool:
    return isinstance(value, bool)


def _number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return -_LARGEST < value < _LARGEST and not math.isnan(value)


def _whole(value: object) -> bool:
    return isinstance(value, int) and _number(value)


def _anything(value: object) -> bool:  # noqa: ARG001 - its parts are looked at one by one
    return True


def _or_none(kind: KeyCheck) -> KeyCheck:
    return lambda value: value is None or kind(value)


def _weights(value: object) -> bool:
    """Labels, which must be published ones, with whole numbers, in the order of the labels."""
    return (
        isinstance(value, dict) and all(map(_whole, value.values())) and [*value] == sorted(value)
    )


def _counts(value: object) -> bool:
    """Names, which must be those of published columns, with whole numbers."""
    return isinstance(value, dict) and all(map(_whole, value.values()))


word = _text(_WORD)

TOP: Mapping[str, KeyCheck] = {
    "format": _name,
    "incrowd": _text(_VERSION),
    "publish": word,
    "unit": _name,
    "records": _anything,
    "patients": _anything,
    "most_events": _whole,
    "tables": _anything,
    "unmatched": _counts,
    "events_left_out": _counts,
    "pseudonyms": _anything,
    "suppression_limit": _number,
    "attributes": _anything,
    "promises": _anything,
    "method": _anything,
    "goal": word,
    "utility": _anything,
    "spreadsheet": _anything,
    "unprotected": _anything,
    "hospitals": _anything,
    "files": _anything,
    "measured": _anything,
    "groups": _anything,
    "digest": _text(_HEX),
    "signature": _anything,
}
INSIDE: Mapping[str, Mapping[str, KeyCheck]] = {
    "records": dict.fromkeys(_COUNTS, _whole),
    "patients": dict.fromkeys(_COUNTS, _whole),
    "pseudonyms": {"fingerprint": _text(_FINGERPRINT)},
    "utility": dict.fromkeys(("ncp", "information_kept"), _number),
    "hospitals": {"number": _whole, "protect": word, "m": _whole},
    "spreadsheet": {"escaped": _flag, "cells": _counts, "names": _whole},
    "unprotected": {"columns": _names, "unique": _whole},
    "signature": {"algorithm": word, "key": _text(_BASE64), "value": _text(_BASE64)},
}
ATTRIBUTE: Mapping[str, KeyCheck] = {
    "name": _name,
    "role": word,
    "level": word,
    "table": word,
    "published": _flag,
    "type": word,
    "format": _text(_DATE_FORMAT),
    "time": _anything,
    "domain": _or_none(_number),
    "decimals": _or_none(_whole),
    "missing": _flag,
    "labels": word,
    "hierarchy": _or_none(word),
    "levels": _whole,
    "weights": _weights,
    "ncp": _number,
}
TABLE: Mapping[str, KeyCheck] = {"rows": _whole, "rows_per_patient": _anything}
STEP: Mapping[str, KeyCheck] = {"from": _whole, "to": _whole, "patients": _whole}
TIME: Mapping[str, KeyCheck] = {
    "way": word,
    "days": _whole,
    "weeks": _flag,
    "to": word,
    "column": _name,
    "unit": word,
    "widths": lambda value: isinstance(value, list) and all(map(_whole, value)),
    "period": word,
}
FILE: Mapping[str, KeyCheck] = {
    "sha256": _text(_HEX),
    "bytes": _whole,
    "rows": _whole,
    "columns": _names,
}
PROMISE: Mapping[str, KeyCheck] = {
    "model": word,
    "parameters": _anything,
    "order": _anything,
    "ancestors": _anything,
}
METHOD: Mapping[str, KeyCheck] = {
    "name": word,
    "options": _anything,
    "l": _whole,
    "order": word,
    "steps": _whole,
    "levels": _name,
}

NOT_JUDGED = (
    "unit", "unmatched", "events_left_out", "pseudonyms", "method", "goal", "utility",
    "spreadsheet", "hospitals",
)  # fmt: skip
"""What a manifest tells beside its promises, and no published file confirms."""


def strange_keys(raw: Mapping[str, Any]) -> list[str]:
    """Return every problem with the keys of a manifest: unknown, out of order, of another kind."""
    problems = [*_level(raw, TOP, "the manifest")]
    for key, keys in INSIDE.items():
        if raw.get(key) is not None:
            problems += _level(raw[key], keys, shown(key))
    for number, each in enumerate(_list(raw.get("attributes")), start=1):
        problems += _level(each, ATTRIBUTE, f"attribute {number}")
        if "time" in _object(each):
            problems += _level(each["time"], TIME, f"'time' of attribute {number}")
    for number, each in enumerate(_list(raw.get("promises")), start=1):
        problems += _level(each, PROMISE, f"promise {number}")
    for name, each in _object(raw.get("tables")).items():
        problems += _level(each, TABLE, f"table {shown(name)}")
        for step in _list(_object(each).get("rows_per_patient")):
            problems += _level(step, STEP, f"a step of table {shown(name)}")
    for name, each in _object(raw.get("files")).items():
        problems += _level(each, FILE, f"file {shown(name)}")
    if raw.get("method") is not None:
        problems += _method(raw["method"], _quasi(raw))
    listed = _object(_object(raw.get("spreadsheet")).get("cells"))
    if not {*listed} <= {each.get("name") for each in map(_object, _list(raw.get("attributes")))}:
        problems.append("the cells of 'spreadsheet' are not those of its columns")
    return problems


def _level(found: object, keys: Mapping[str, KeyCheck], where: str) -> Iterator[str]:
    """Every problem of one object of a manifest."""
    if not isinstance(found, dict):
        yield f"{where} must be an object"
        return
    unknown = [key for key in found if key not in keys]
    if unknown:
        yield f"{where} has the unknown key {shown(unknown[0])}"
    elif [*found] != [key for key in keys if key in found]:
        yield f"{where} has its keys in another order"
    for key, kind in keys.items():
        if key in found and not kind(found[key]):
            yield f"{shown(key)} of {where} is not of its kind"


def _method(method: object, quasi: list[str]) -> Iterator[str]:
    """Every problem with how a release says it was made."""
    yield from _level(method, METHOD, "'method'")
    found = _object(method)
    options = found.get("options", {})
    if not isinstance(options, dict) or not all(
        word(key) and (value is None or _flag(value) or _number(value) or word(value))
        for key, value in options.items()
    ):
        yield "the options of 'method' are not of their kind"
    if not _are_levels(found.get("levels", ""), quasi):
        yield "the levels of 'method' are not those of quasi-identifiers"


def _are_levels(text: object, quasi: list[str]) -> bool:
    """Whether a text gives the levels of quasi-identifiers, as in "age: 2, zip: 1"."""
    if not isinstance(text, str):
        return False
    for name in quasi:
        if match := re.match(re.escape(name) + r": [0-9]{1,4}(, |\Z)", text):
            text = text[match.end() :]
    return not text


def _quasi(raw: Mapping[str, Any]) -> list[str]:
    found = (_object(each) for each in _list(raw.get("attributes")))
    return [str(each.get("name")) for each in found if each.get("role") == "quasi"]


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
