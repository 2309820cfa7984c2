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
    from incrowd.policy.reach import is_elsewhere, source_of

    if policy.source is None:
        raise PolicyError("The policy names no `source:`. Add it, or give the data another way.")
    if is_elsewhere(policy):
        choose(policy, policy.source)
        _check_hierarchies(policy)
        return Checked(None, _left_by_address(policy))
    source = source_of(policy)
    engine = choose(policy, source)
    # Also with `engine: spark`: the same code reads text files there, and a check starts no Java.
    prepared = prepare_source(source, policy, engine.memory)
    spark = engine.name == "spark"
    return Checked(prepared, ("whether Spark starts, and reads the source as well",) * spark)


def _check_hierarchies(policy: Policy) -> None:
    """Read the hierarchies that the policy gives, without the values that they are for."""
    from incrowd.hierarchies.explicit import lines_of_file, lines_of_tree

    for name, asked in policy.attributes.items():
        hierarchy = asked.hierarchy
        if hierarchy is not None and hierarchy.file is not None:
            lines_of_file(name, policy.base / hierarchy.file)
        elif hierarchy is not None and hierarchy.tree is not None:
            lines_of_tree(name, hierarchy.tree)


def _left_by_address(policy: Policy) -> tuple[str, ...]:
    """What is left unchecked of a source that only a run opens."""
    from incrowd.sources.files import require_file
    from incrowd.sources.naming import FILE_SCHEMES, describe, file_behind, url_scheme
    from incrowd.sources.selecting import DIALECTS, one_select
    from incrowd.sources.servers import SCHEMES

    assert policy.source is not None
    scheme, name = url_scheme(policy.source), describe(policy.source)
    left = [f"whether the columns and values of {name} fit: a check opens no database"]
    if scheme in DIALECTS:
        one_select(policy.query, DIALECTS[scheme], name)
    if scheme in FILE_SCHEMES:
        from incrowd.policy.reach import source_of

        file = file_behind(source_of(policy))
        if file is not None:
            require_file(file)
    elif scheme in SCHEMES:
        left.append(
            f"whether {name} answers. A run asks it only if PGHOST and PGUSER name the same host "
            "and user, or if you give the address with --source"
        )
    else:
        left = [
            f"anything of {name}: a policy alone opens no address on a network. Give it to the run "
            "with --source"
        ]
    return tuple(left)
