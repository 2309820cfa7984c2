"""What a policy may reach: files of this machine by their path, and what the person names besides.

A policy is data, and may come from a stranger. It runs no code, writes nowhere but its output
folder, connects to nothing and sends no credential that the person at the keyboard did not name.

Invariant: every place that a policy names passes through one of these functions before it is
opened: `plain_path` for hierarchies and the output, `plain_source` and `source_of` for the source.
A server comes out of `source_of` only if the environment of the person names it, and another
address on a network never does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from incrowd.errors import PolicyError, SourceError
from incrowd.sources import Source, as_source

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
    if given is not None:
        return as_source(given)
    if policy.source is None:
        raise PolicyError("The policy names no `source:`. Add it, or give the data another way.")
    return as_source(policy.source).of_policy(policy.base, policy.engine)
