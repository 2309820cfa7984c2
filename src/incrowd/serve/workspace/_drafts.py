"""Policies that the page and its users edit: as text with comments, and as a plain mapping.

A policy that comes over the network names files. It may name those of its own source only, so
that nobody reads another file of the machine through it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from incrowd._runtime.plain_yaml import dump, load
from incrowd._runtime.sentences import listed
from incrowd.errors import PolicyError
from incrowd.policy import Policy
from incrowd.policy.linked import of_one, refuse_unmatched
from incrowd.profiling.starting_policy import scalar
from incrowd.serve.workspace.linked_tables import LinkedTable
from incrowd.table.profiles import PATIENTS

_WIDTH = 100
_SOURCE = re.compile(r"(?m)^source:.*$")
_NOT_HERE = ("query", "spark")
"""Keys that reach beyond the file: databases and clusters."""


def checked(
    mapping: object, folder: Path, name: str, columns: Sequence[str]
) -> tuple[Policy, dict[str, Any]]:
    """The policy of a mapping and the mapping itself, which names this source.

    Parameters
    ----------
    mapping
        Of the shape of a policy file. Its `source:` is replaced.
    folder
        Where the source lies; hierarchy files must lie in it.
    name
        The file of the source.
    columns
        Its columns.

    Raises
    ------
    PolicyError
        The policy is not legal, does not fit the columns, or reaches beyond its own files.
    """
    from incrowd.engines.gathering import roles_of

    if isinstance(mapping, Mapping):
        mapping = {"source": name, **{k: v for k, v in mapping.items() if k != "source"}}
        _refuse_reaching(mapping, "policy")
    policy = _policy_within(mapping, folder)
    roles_of(columns, policy, name)
    assert isinstance(mapping, dict)
    return policy, _writable(mapping)


def checked_tables(
    mapping: object, folder: Path, tables: Sequence[LinkedTable]
) -> tuple[Policy, dict[str, Any]]:
    """The same for several tables, each of which reads its own file.

    Raises
    ------
    PolicyError
        As above; or its tables are not those that were found, or linked by other columns.
    """
    from incrowd.engines.gathering import roles_of

    if isinstance(mapping, Mapping):
        mapping = _of_own_files(mapping, tables)
    policy = _policy_within(mapping, folder)
    for each in tables:
        asked = of_one(policy, each.name)
        if asked.unit != each.unit:
            field = "key" if each.is_of_patients else "unit"
            raise PolicyError(
                f"policy: the page took '{each.unit}' for the column of {each.file} that names "
                f"patients, and counts by it. Leave `{field}: {each.unit}`, or run this policy on "
                "the command line."
            )
        roles_of(each.columns, asked, each.file)
        if not each.is_of_patients:
            refuse_unmatched(
                policy, each.name, (each.unmatched, each.rows), each.file, tables[0].file
            )
    assert isinstance(mapping, dict)
    return policy, _writable(mapping)


def _of_own_files(mapping: Mapping[Any, Any], tables: Sequence[LinkedTable]) -> dict[str, Any]:
    """The mapping with the file of each table in the place of what it names."""
    _refuse_reaching(mapping, "policy")
    changed = dict(mapping)
    events = mapping.get("tables")
    names = {each.name for each in tables if not each.is_of_patients}
    if not isinstance(events, Mapping) or set(events) != names or PATIENTS not in mapping:
        raise PolicyError(
            f"policy: the files of this page are `{PATIENTS}:` and, under `tables:`, "
            f"{listed(sorted(names))}. Name these, and no others; a table whose columns are all "
            "identifiers is not published."
        )
    changed["tables"] = dict(events)
    for each in tables:
        part, key = (changed, PATIENTS) if each.is_of_patients else (changed["tables"], each.name)
        if isinstance(part[key], Mapping):
            _refuse_reaching(part[key], key if each.is_of_patients else f"tables.{key}")
            part[key] = {**part[key], "source": each.file}
    return changed


def _refuse_reaching(mapping: Mapping[Any, Any], where: str) -> None:
    """Refuse keys that reach beyond the files that were given."""
    for key in _NOT_HERE:
        if key in mapping:
            raise PolicyError(
                f"{where}: `{key}:` is for the command line. Leave it out: the page works on "
                "the file that was given to it."
            )


def _policy_within(mapping: object, folder: Path) -> Policy:
    """The policy of a mapping, which names no file outside of a folder."""
    policy = Policy.from_mapping(mapping, base=folder)
    if policy.engine == "spark":
        raise PolicyError("policy: `engine: spark` is for the command line. Leave it out here.")
    for attribute, asked in policy.attributes.items():
        if asked.hierarchy is not None and asked.hierarchy.file is not None:
            refuse_outside(folder, asked.hierarchy.file, attribute)
    return policy


def _writable(mapping: dict[str, Any]) -> dict[str, Any]:
    """The mapping itself, where it can be written to a file."""
    try:
        as_text(mapping).encode("utf-8")
    except UnicodeEncodeError:
        raise PolicyError("policy: it holds half a character. Write it anew.") from None
    return mapping


def refuse_outside(folder: Path, file: str, attribute: str) -> None:
    """Refuse a hierarchy file that was not given to the page together with this source."""
    home = folder.resolve()
    path = (home / file).resolve()
    written = Path(file)
    # Hierarchies lie in folders of their own: beside them are the source, and what was read of it.
    odd = written.is_absolute() or ".." in written.parts or len(written.parts) < 2
    hidden = any(part.startswith(".") for part in written.parts)
    if odd or hidden or home not in path.parents or not path.is_file():
        raise PolicyError(
            f"Hierarchy of '{attribute}': the policy names a file that was not given to this page. "
            "Add the hierarchy first."
        )


def own_source(text: str, name: str) -> str:
    """The text of a policy with this source in the place of the one that it names.

    Comments stay. Where the line of the source cannot be told, the text is written anew.
    """
    line = f"source: {scalar(name)}"
    changed, many = _SOURCE.subn(lambda _: line, text, count=1)
    if not many:
        changed = f"{line}\n{text}"
    wanted = {**load(text), "source": name}
    try:
        same = load(changed) == wanted
    except yaml.YAMLError:
        same = False
    return changed if same else as_text(wanted)


def as_text(mapping: Mapping[str, Any]) -> str:
    """A mapping as the text of a policy file, which reads as the same mapping."""
    return dump(mapping, width=_WIDTH, flow=None)
