"""The main job: a source and a policy in, a release out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd._version import __version__
from incrowd.methods.base import Progress, silent
from incrowd.policy import Policy
from incrowd.publish.release import Release

if TYPE_CHECKING:
    from incrowd.preparation import Prepared


def anonymize(
    source: Any = None,
    policy: Policy | Mapping[str, Any] | str | Path = "policy.yaml",
    *,
    progress: Progress = silent,
) -> Release:
    """The release of a table under a policy.

    Parameters
    ----------
    source
        A pandas, polars or Arrow frame, a path, or a database URL; None takes the `source:` of
        the policy.
    policy
        A Policy, a mapping of the same shape, or the path of a YAML file.
    progress
        Called with (stage, done, whole) as the work goes on.

    Example
    -------
    >>> import polars
    >>> frame = polars.DataFrame({"age": [30, 31, 50, 52], "disease": ["Flu", "HIV", "Flu", "Flu"]})
    >>> policy = {
    ...     "attributes": {"age": "quasi", "disease": "sensitive"},
    ...     "privacy": [{"k-anonymity": {"k": 2}}],
    ... }
    >>> anonymize(frame, policy).data["age"].to_list()
    ['[30-32)', '[30-32)', '[50-53)', '[50-53)']
    """
    from incrowd.counts import MemoryCounts
    from incrowd.methods.base import Task
    from incrowd.methods.running import run
    from incrowd.publish.manifest import draft
    from incrowd.publish.relabelling import without_suppressed
    from incrowd.publish.rows import generalized_rows

    policy = as_policy(policy)
    if source is None:
        source = source_of(policy)
    progress("reading", 0, 1)
    prepared = prepare_source(source, policy)
    progress("counting", 0, 1)
    quasi = prepared.table.of_role("quasi")
    counted = dict.fromkeys(name for m in prepared.models for name in m.sensitive_attributes)
    counts = MemoryCounts(prepared.table, [column.name for column in quasi], list(counted))
    task = Task(counts, quasi, prepared.hierarchies, prepared.models, policy.suppression, progress)
    outcome = run(task, policy.method)
    progress("labelling", 0, 1)
    if outcome.suppressed:
        prepared, outcome = without_suppressed(prepared, policy, outcome)
    rows = generalized_rows(prepared.table, outcome)
    return Release(
        rows, draft(policy, prepared, outcome, rows, __version__), file_format=policy.format
    )


def as_policy(policy: Policy | Mapping[str, Any] | str | Path) -> Policy:
    """The policy itself, or the one that a mapping or a file describes."""
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, Mapping):
        return Policy.from_mapping(policy)
    return Policy.from_file(policy)


def prepare_source(source: Any, policy: Policy) -> Prepared:
    """The records of a source, read piece by piece and coded as the policy says."""
    from incrowd.preparation import prepare
    from incrowd.sources import describe, read_pieces

    pieces = read_pieces(
        source, query=policy.query, separator=policy.separator, encoding=policy.encoding
    )
    return prepare(pieces, policy, name=describe(source))


def source_of(policy: Policy) -> str | Path:
    """The source that a policy names, its path relative to the policy file."""
    from incrowd.errors import PolicyError
    from incrowd.sources import is_database_url

    if policy.source is None:
        raise PolicyError("The policy names no `source:`. Add it, or give the data another way.")
    relative = policy.source.removeprefix("sqlite:///")
    if relative != policy.source and not relative.startswith("/"):
        return f"sqlite:///{policy.base / relative}"
    return policy.source if is_database_url(policy.source) else policy.base / policy.source
