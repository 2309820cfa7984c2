"""Engines: where the records of a job are kept while they are counted, and why there.

| engine | records | for |
|---|---|---|
| memory | coded, all of them in memory | the default |
| duckdb | coded on disk and collapsed there; distinct rows in memory if they fit | one machine |
| spark | coded and collapsed by a cluster; distinct rows in memory if they fit | many machines |
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from incrowd._runtime.sentences import listed
from incrowd._runtime.sizes import bytes_of
from incrowd.counts import RowCounts
from incrowd.errors import ParameterError, PolicyError
from incrowd.methods.options import MethodOptions
from incrowd.methods.registry import METHOD_OPTIONS

if TYPE_CHECKING:
    from incrowd.policy import Policy
    from incrowd.sources import Source

_SHARE = 4
"""`auto` takes duckdb for a file of more than memory / this."""


@dataclass(frozen=True)
class Engine:
    """The engine of a job: `memory` is the limit of what works out of core, None in memory."""

    name: Literal["memory", "duckdb", "spark"]
    memory: int | None
    why: str


IN_MEMORY = Engine("memory", None, "the source is small beside the memory")


def choose(policy: Policy, source: Source) -> Engine:
    """The engine that a policy asks for, or the one that fits its source.

    Raises
    ------
    PolicyError
        When the method cannot run on the engine; with what can.
    """
    limit = bytes_of(policy.memory) if policy.memory is not None else _memory() // 2
    if policy.engine == "memory":
        return Engine("memory", None, "as the policy says")
    within = f"within {limit / 1e9:.3g} GB"
    if policy.engine == "duckdb":
        _refuse_per_record(policy, "duckdb")
        return Engine("duckdb", limit, f"as the policy says, {within}")
    if policy.engine == "spark" or _is_in_spark(source):
        _refuse_per_record(policy, "spark")
        why = "as the policy says" if policy.engine == "spark" else "for a frame of PySpark"
        return Engine("spark", limit, f"{why}, counts {within}")
    size = source.size
    room = limit if policy.memory is not None else _memory()
    if size <= room // _SHARE:
        return IN_MEMORY
    if not _counts_rows(policy.method) or policy.weights == "correlation":
        return Engine("memory", None, "the method, or its weights, need single records")
    return Engine(
        "duckdb",
        limit,
        f"the source has {size / 1e9:.3g} GB, more than a quarter of {room / 1e9:.3g} GB of memory",
    )


def _is_in_spark(source: Source) -> bool:
    """Whether the records, or those of one of several tables, are in Spark already."""
    return any(each.engine == "spark" for each in (source, *source.tables.values()))


def _refuse_per_record(policy: Policy, engine: str) -> None:
    """Refuse what needs single records in memory, which an engine does not keep there."""
    if not _counts_rows(policy.method):
        able = [
            name
            for name, each in METHOD_OPTIONS.items()
            if _counts_rows(each) and each.knows_events == policy.method.knows_events
        ]
        others = f", or take {listed(able, quoted=False, last=' or ')}" if able else ""
        raise PolicyError(
            f"method: {policy.method.name} works on single records, which `engine: {engine}` does "
            f"not keep in memory. Say `engine: memory`{others}."
        )
    if policy.weights == "correlation":
        raise PolicyError(
            "weights: correlation is computed from records in memory. Say `engine: memory`, or "
            "give each attribute its `weight:`."
        )


def _counts_rows(method: MethodOptions | type[MethodOptions]) -> bool:
    """Whether a method can begin with the distinct rows of the records, which an engine counts."""
    return method.any_order or method.runs_on(RowCounts)


def limit_of_counting(source: Source, memory: int | str | None) -> int | None:
    """How many bytes counting a source may take, on disk beyond that; None to count in memory.

    Out of core is what is given a limit, and what is too large by the rule of `engine: auto`.

    Parameters
    ----------
    source
        Where the records are.
    memory
        The limit in bytes, or as in 4GB.

    Raises
    ------
    ParameterError
        When the limit is none.
    """
    if memory is None:
        return _memory() // 2 if source.size > _memory() // _SHARE else None
    if isinstance(memory, str):
        try:
            return bytes_of(memory)
        except ValueError as error:
            raise ParameterError(f"memory: {error}.") from None
    if isinstance(memory, bool) or not isinstance(memory, int) or memory < 1:
        raise ParameterError("memory: is a number of bytes, or a text as in 4GB or 512MB.")
    return memory


def _memory() -> int:
    """The memory of this machine, in bytes."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 8 * 10**9
