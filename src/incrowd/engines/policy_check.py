"""A policy held against its files, without a release: nothing is connected to, nothing is started.

What `policy check` reads is the policy, its hierarchy files, and its source where that is a plain
file. A query is read and not run: databases are opened by a run alone, as Spark is started by one.
What was left unchecked for that reason is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from incrowd.errors import PolicyError

if TYPE_CHECKING:
    from incrowd.engines.preparation import Prepared
    from incrowd.policy import Policy


_SPARK = "whether Spark starts, and reads the source as well"


@dataclass(frozen=True)
class Checked:
    """What was found: the coded records of a plain file, and what was not looked at."""

    prepared: Prepared | None
    unchecked: tuple[str, ...]


def check(policy: Policy) -> Checked:
    """Whether a policy fits its hierarchies, and its source where that is a plain file.

    Raises
    ------
    InputError
        What does not fit, as a run would say it.
    """
    from incrowd.engines.choice import choose
    from incrowd.engines.preparation import prepare_source
    from incrowd.policy.reach import source_of
    from incrowd.sources import as_source

    if policy.patients is not None:
        return _check_linked(policy)
    if policy.source is None:
        raise PolicyError("The policy names no `source:`. Add it, or give the data another way.")
    named = as_source(policy.source)
    if not named.by_path:
        choose(policy, named)
        _check_hierarchies(policy)
        return Checked(None, named.unchecked(policy.base, policy.query))
    source = source_of(policy)
    engine = choose(policy, source)
    # Also with `engine: spark`: the same code reads text files there, and a check starts no Java.
    prepared = prepare_source(source, policy, engine.memory)
    return Checked(prepared, (_SPARK,) * (engine.name == "spark"))


def _check_linked(policy: Policy) -> Checked:
    """The same for several tables, which are read only where all of them are plain files."""
    from incrowd.engines._linked import prepare_linked
    from incrowd.engines.choice import choose
    from incrowd.policy.linked import tables_of
    from incrowd.policy.reach import source_of
    from incrowd.sources import as_source

    unchecked: list[str] = []
    for name, table in tables_of(policy).items():
        if table.source is None:
            raise PolicyError(f"The policy names no `source:` for {name}. Add it.")
        named = as_source(table.source)
        if not named.by_path:
            unchecked += named.unchecked(policy.base, table.query)
    if unchecked:
        _check_hierarchies(policy)
        return Checked(None, tuple(unchecked))
    source = source_of(policy)
    engine = choose(policy, source)
    # Also with `engine: spark`: the same code reads text files there, and a check starts no Java.
    return Checked(
        prepare_linked(source, policy, engine.memory), (_SPARK,) * (engine.name == "spark")
    )


def _check_hierarchies(policy: Policy) -> None:
    """Read the hierarchies that the policy gives, without the values that they are for."""
    from incrowd.hierarchies.explicit import lines_of_file, lines_of_tree

    for name, asked in policy.attributes.items():
        hierarchy = asked.hierarchy
        if hierarchy is not None and hierarchy.file is not None:
            lines_of_file(name, policy.base / hierarchy.file)
        elif hierarchy is not None and hierarchy.tree is not None:
            lines_of_tree(name, hierarchy.tree)
