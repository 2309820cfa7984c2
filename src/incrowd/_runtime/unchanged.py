"""What a release publishes unchanged, column by column, with the sentence why.

One list for everyone who must hear of it: whoever drafts a policy (`init`), starts a run (the
page), makes a release (`anonymize`), judges it (`verify`, from the manifest) or reads its report.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from incrowd._runtime.plain_fields import PlainFields

_SENTENCES = {
    "keep": "role keep: no promise protects it",
    "target": "role target, for analysts to predict: no promise protects it",
    "quasi": "quasi-identifier, shown exactly: only which sensitive value is whose is hidden",
}
_SENSITIVE = {
    (True, True): "sensitive: a promise limits how sure anyone can be of it, by group",
    (True, False): "sensitive, but no promise is about it: who finds the record reads it",
    (False, True): "sensitive, in a table apart: a promise limits how sure anyone can be of it",
    (False, False): "sensitive, in a table apart, but no promise is about it",
}


@dataclass(frozen=True)
class Unchanged(PlainFields):
    """A column whose cells are published as they are in the source, and why."""

    column: str
    role: str
    why: str


def unchanged(
    roles: Iterable[tuple[str, str]], publish: str, promised: Iterable[str]
) -> tuple[Unchanged, ...]:
    """Return the columns that a release shows as they are, in their order.

    Parameters
    ----------
    roles
        The published columns with their roles.
    publish
        `generalized`, `anatomy` or `lossy-join`.
    promised
        The sensitive attributes that a privacy model is about.
    """
    together, named = publish == "generalized", set(promised)
    found = []
    for column, role in roles:
        if role == "sensitive":
            found.append(Unchanged(column, role, _SENSITIVE[together, column in named]))
        elif role in _SENTENCES and not (role == "quasi" and together):
            found.append(Unchanged(column, role, _SENTENCES[role]))
    return tuple(found)


def promised_in(parameters: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the sensitive attributes that models with these parameters name."""
    named = [each.get("sensitive") for each in parameters]
    listed = [each if isinstance(each, list) else [each] for each in named]
    return {name for each in listed for name in each if isinstance(name, str)}
