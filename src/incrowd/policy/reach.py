"""What a policy may reach: files of this machine by their path, and what the person names besides.

A policy is data, and may come from a stranger. It runs no code, writes nowhere but its output
folder, connects to nothing and sends no credential that the person at the keyboard did not name.

Invariant: every place that a policy names passes through one of these functions before it is
opened: `plain_path` for hierarchies and the output, `plain_source` and `source_of` for the source.
A server comes out of `source_of` only if the environment of the person names it, and another
address on a network never does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from incrowd._runtime.sentences import listed
from incrowd.errors import PolicyError, SourceError, nearest
from incrowd.sources import Source, as_source
from incrowd.sources.linked import LinkedTables
from incrowd.table.profiles import PATIENTS

if TYPE_CHECKING:
    from incrowd.policy._schema import Policy


def plain_source(source: str, query: str | None) -> None:
    """Refuse what no policy may say of its source, whoever runs it.

    Raises
    ------
    ValueError
        A share on a network, a password, an odd address of a server, SQL that does not only read.
    """
    found = as_source(source)
    try:
        found.refuse_in_policy()
    except ValueError as error:
        raise ValueError(f"source: {error}") from None
    if query is not None:
        try:
            found.check_query(query)
        except SourceError as error:
            raise ValueError(f"query: {str(error).rstrip('.')}") from None


def source_of(policy: Policy, given: Any = None) -> Source:
    """The source that the person gives, or else the policy names: relative to the policy file.

    Raises
    ------
    PolicyError
        It names none; or a server or an address that the person did not name.
    """
    if policy.patients is not None:
        return LinkedTables(_sources_of(policy, given))
    if isinstance(given, Mapping):
        raise PolicyError(
            "Several tables were given, and the policy has one: it needs `patients:` and `tables:`."
        )
    if given is not None:
        return as_source(given)
    if policy.source is None:
        raise PolicyError("The policy names no `source:`. Add it, or give the data another way.")
    return as_source(policy.source).of_policy(policy.base, policy.engine)


def _sources_of(policy: Policy, given: Any) -> dict[str, Source]:
    """The source of each table of a policy: what the person gives of it, or else it names."""
    assert policy.patients is not None
    tables = {PATIENTS: policy.patients.source}
    tables |= {name: each.source for name, each in policy.tables.items()}
    if given is not None and not isinstance(given, Mapping):
        raise PolicyError(
            "The policy has several tables, so one source is not enough. Name each in its "
            "`source:`; in Python give a mapping, as in {'patients': …, "
            f"'{next(iter(policy.tables))}': …}}."
        )
    strange = [str(name) for name in given or () if name not in tables]
    if strange:
        raise PolicyError(
            f"'{strange[0]}' was given, and is no table of the policy."
            f"{nearest(strange[0], tables)} It has {listed(tables)}."
        )
    found = {}
    for name, named in tables.items():
        if given is not None and name in given:
            found[name] = as_source(given[name])
        elif named is not None:
            found[name] = as_source(named).of_policy(policy.base, policy.engine)
        else:
            where = PATIENTS if name == PATIENTS else f"tables.{name}"
            raise PolicyError(
                f"The policy names no `source:` in `{where}`. Add it, or give the table another "
                "way."
            )
    return found
