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
from incrowd.errors import PolicyError
from incrowd.policy import Policy
from incrowd.profiling.starting_policy import scalar

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
    from incrowd.engines.preparation import roles_of

    if isinstance(mapping, Mapping):
        mapping = {"source": name, **{k: v for k, v in mapping.items() if k != "source"}}
        for key in _NOT_HERE:
            if key in mapping:
                raise PolicyError(
                    f"policy: `{key}:` is for the command line. Leave it out: the page works on "
                    "the file that was given to it."
                )
    policy = Policy.from_mapping(mapping, base=folder)
    if policy.engine == "spark":
        raise PolicyError("policy: `engine: spark` is for the command line. Leave it out here.")
    for attribute, asked in policy.attributes.items():
        if asked.hierarchy is not None and asked.hierarchy.file is not None:
            refuse_outside(folder, asked.hierarchy.file, attribute)
    roles_of(columns, policy, name)
    assert isinstance(mapping, dict)
    try:
        as_text(mapping).encode("utf-8")
    except UnicodeEncodeError:
        raise PolicyError("policy: it holds half a character. Write it anew.") from None
    return policy, mapping


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
