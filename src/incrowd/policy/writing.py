"""A policy back into YAML: the same policy wherever the file is put, its paths made to fit."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from incrowd._runtime.plain_yaml import dump
from incrowd.hierarchies.description import AttributePolicy
from incrowd.policy._schema import Policy
from incrowd.policy.linked import ReadTable
from incrowd.table.profiles import PATIENTS

_READING = ("source", "query", "separator", "encoding", "header")


def policy_mapping(policy: Policy) -> dict[str, Any]:
    """The policy as plain mappings, lists, texts and numbers; what is as by default is left out.

    `Policy.from_mapping` makes the same policy of it. The method is always named.

    Example
    -------
    >>> from incrowd import Policy
    >>> policy = {"attributes": {"age": "quasi"}, "privacy": [{"k-anonymity": {"k": 2}}]}
    >>> policy_mapping(Policy.from_mapping(policy))["privacy"]
    [{'k-anonymity': {'k': 2}}]
    """
    rest = policy.model_dump(
        mode="json",
        by_alias=True,
        exclude_defaults=True,
        exclude={*_READING, "attributes", "privacy", "method", "patients", "tables"},
    )
    told: dict[str, Any] = {
        key: getattr(policy, key) for key in _READING if getattr(policy, key) is not None
    }
    if policy.patients is None:
        told["attributes"] = _attributes(policy.attributes)
    else:
        rest.pop("unit")
        told["patients"] = _table(policy.patients)
        told["tables"] = {name: _table(each) for name, each in policy.tables.items()}
    told["privacy"] = [
        {each.name: each.model_dump(mode="json", by_alias=True, exclude_defaults=True)}
        for each in policy.privacy
    ]
    options = policy.method.model_dump(mode="json", exclude_defaults=True)
    told["method"] = {"name": policy.method.name, **options} if options else policy.method.name
    return {**told, **rest}


def policy_text(
    policy: Policy,
    folder: Path,
    *,
    source: str | Mapping[str, str] | None,
    output: str,
    remarks: tuple[str, ...] = (),
) -> str:
    """The policy as a YAML file that runs from a folder.

    Parameters
    ----------
    policy
        The policy; comments of the file it came from are not kept.
    folder
        Where the file will be put: the paths in it are relative to that.
    source
        What the file names as its source; None for a policy without one. Of linked tables the
        source of each, by its name.
    output
        The release folder that it names.
    remarks
        Comments at the top, a line each.
    """
    told = policy_mapping(policy)
    linked = "patients" in told
    tables = {PATIENTS: told["patients"], **told["tables"]} if linked else {"": told}
    for name, table in tables.items():
        table.pop("source", None)
        if isinstance(source, Mapping) and name in source:
            first = {"source": source[name], **table}
            table.clear()
            table.update(first)
        for asked in table["attributes"].values():
            if isinstance(asked, dict) and "file" in asked.get("hierarchy", {}):
                file = asked["hierarchy"]["file"]
                asked["hierarchy"] = {"file": moved(file, policy.base, folder)}
    whole = {**({"source": source} if isinstance(source, str) else {}), **told, "output": output}
    comments = "".join(f"# {_one_line(each)}\n" for each in remarks)
    return comments + dump(whole)


def moved(path: str, base: Path, folder: Path) -> str:
    """A path that was relative to one folder, relative to another; a full path stays one."""
    found = (base / path).expanduser()
    if Path(path).is_absolute():
        return path
    try:
        return Path(os.path.relpath(found.resolve(), folder.resolve())).as_posix()
    except ValueError:  # another drive
        return found.resolve().as_posix()


def _table(table: ReadTable) -> dict[str, Any]:
    told = table.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return {**told, "attributes": _attributes(table.attributes)}


def _attributes(attributes: Mapping[str, AttributePolicy]) -> dict[str, Any]:
    return {name: _attribute(each) for name, each in attributes.items()}


def _attribute(asked: AttributePolicy) -> str | dict[str, Any]:
    told = asked.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return str(told["role"]) if len(told) == 1 else told


def _one_line(text: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in text)
