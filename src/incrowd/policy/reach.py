"""What a policy may reach: files of this machine by their path, and what the person names besides.

A policy is data, and may come from a stranger. It runs no code, writes nowhere but its output
folder, connects to nothing and sends no credential that the person at the keyboard did not name.

Invariant: every place that a policy names passes through one of these functions before it is
opened: `plain_path` for hierarchies and the output, `plain_source` and `source_of` for the source.
A server comes out of `source_of` only if the environment of the person names it, and another
address on a network never does.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from incrowd.errors import PolicyError, SourceError
from incrowd.sources.naming import FILE_SCHEMES, describe, is_database_url, url_scheme
from incrowd.sources.plain_paths import plain_path

if TYPE_CHECKING:
    from incrowd.policy._schema import Policy


def plain_source(source: str, query: str | None) -> None:
    """Refuse what no policy may say of its source, whoever runs it.

    Raises
    ------
    ValueError
        A share on a network, a password, an odd address of a server, SQL that does not only read.
    """
    from incrowd.sources.selecting import DIALECTS, one_select
    from incrowd.sources.servers import SCHEMES, refuse_in_policy

    scheme = url_scheme(source)
    try:
        if not is_database_url(source):
            plain_path(source)
        elif scheme in SCHEMES:
            refuse_in_policy(source)
        elif scheme in FILE_SCHEMES:
            plain_path(re.sub(r"^/", "", source.partition("://")[2]) or ".")
        elif re.match(r"[^/]*@", source.partition("://")[2]):
            raise ValueError("a policy holds no user and no password in an address")
    except ValueError as error:
        raise ValueError(f"source: {error}") from None
    if query is not None and scheme in DIALECTS:
        try:
            one_select(query, DIALECTS[scheme], describe(source))
        except SourceError as error:
            raise ValueError(f"query: {str(error).rstrip('.')}") from None


def source_of(policy: Policy) -> str | Path:
    """The source that a policy names, its path relative to the policy file.

    Raises
    ------
    PolicyError
        It names none; or a server or an address that the person did not name.
    """
    from incrowd.sources.servers import SCHEMES, named_by_person

    named = policy.source
    if named is None:
        raise PolicyError("The policy names no `source:`. Add it, or give the data another way.")
    for scheme in FILE_SCHEMES:
        relative = named.removeprefix(f"{scheme}:///")
        if relative != named and not relative.startswith("/"):
            return f"{scheme}:///{policy.base / relative}"
    if not is_database_url(named):
        return policy.base / named
    scheme = url_scheme(named)
    if scheme in SCHEMES:
        return named_by_person(named)
    if policy.engine == "spark" and scheme != "file":
        raise PolicyError(
            f"The policy names an address on a network ({scheme}://…). A policy alone connects to "
            "nothing: if you know the place and trust it, give the address yourself with --source "
            "(in Python as the source)."
        )
    return named


def in_policy(source: str) -> str | None:
    """A source that a person gave, as a policy may name it; None where no policy may.

    Of a server the host, the user and the database remain, and never a password.
    """
    from incrowd.sources.servers import is_server, server_of

    if is_server(source):
        return server_of(source).plain
    try:
        plain_source(source, None)
    except ValueError:
        return None
    return source


def is_elsewhere(policy: Policy) -> bool:
    """Whether the records of a policy are in no plain file: behind a query, or on a network."""
    return policy.source is not None and is_database_url(policy.source)
