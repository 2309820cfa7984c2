"""Arguments of commands as the values they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd._runtime.plain_yaml import load
from incrowd.errors import ParameterError

if TYPE_CHECKING:
    from incrowd.engines.preparation import Prepared


def names(text: str | None) -> list[str] | None:
    """The names in a list separated by commas."""
    if text is None:
        return None
    return [name.strip() for name in text.split(",") if name.strip()]


def pairs(text: str | None) -> dict[str, str] | None:
    """Shared columns: each name, or name=other where the list calls it otherwise."""
    listed = names(text)
    if listed is None:
        return None
    return {name.partition("=")[0]: name.partition("=")[2] or name for name in listed}


def ranges(texts: Sequence[str]) -> dict[str, list[Any]]:
    """Parameters with the values they take, from texts as `k=2,5,10`."""
    from yaml import YAMLError

    found: dict[str, list[Any]] = {}
    for text in texts:
        name, equal, listed = text.partition("=")
        name, values = name.strip(), names(listed) or []
        if not (name and equal and values):
            raise ParameterError(
                f"--over: write a parameter and its values, as in k=2,5,10: {text!r}."
            )
        if name in found:
            raise ParameterError(f"--over: {name} stands twice; list all its values in one.")
        try:
            found[name] = [load(value) for value in values]
        except YAMLError:
            raise ParameterError(
                f"--over: the values of {name} cannot be read: {text!r}."
            ) from None
    return found


def read_already(
    source: str | Path | None, header: bool | None, missing: list[str] | None = None
) -> Any:
    """A release folder or file as it was given, or its table where its form was spoken of."""
    from incrowd.published.opened import is_release
    from incrowd.sources import read

    if source is None or (header is None and not missing) or is_release(source):
        return source
    return read(source, header=header, missing_values=missing)


def label_meanings(
    policy: Path | None, source: str | None = None
) -> dict[str, dict[str, list[str]]] | None:
    """For each quasi-identifier of a policy, the values under every label of its hierarchy.

    `source` takes the place of the source that the policy names.
    """
    if policy is None:
        if source is not None:
            raise ParameterError("--source is read as a policy says: give --policy too.")
        return None
    prepared = prepared_source(policy, source)
    of_events = () if prepared.histories is None else prepared.histories.columns
    columns = [*prepared.table.of_role("quasi"), *(c for c in of_events if c.role == "quasi")]
    return {each.name: prepared.hierarchies[each.name].meanings(each) for each in columns}


def prepared_source(policy: Path, source: str | None = None) -> Prepared:
    """The source that the person gives, or that of a policy, read and coded."""
    from incrowd.engines.choice import choose
    from incrowd.engines.reading import prepare_on
    from incrowd.policy import Policy
    from incrowd.policy.reach import source_of

    wanted = Policy.from_file(policy)
    found = source_of(wanted, source)
    return prepare_on(choose(wanted, found), found, wanted)[0]
