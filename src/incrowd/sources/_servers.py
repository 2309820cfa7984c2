"""Addresses of PostgreSQL servers: read strictly, written anew, and opened for the person alone.

A policy may come from a stranger, and libpq sends what it finds (PGPASSWORD, ~/.pgpass, keys,
tickets) to whatever host an address names, also one that stands in a parameter or a service file.

Invariants: a connection is made from the parts read here and from nothing else of the address. An
address of a policy is opened only where PGHOST and PGUSER name the same server and user, so no
password goes to a host that the person did not name. Host and user are said before connecting.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

from incrowd._runtime.sentences import listed
from incrowd.errors import PolicyError, SourceError, nearest

_TIMEOUT = "15"  # seconds to wait for a server that does not answer
_PORT = "5432"
_FORM = "postgresql://user@host:5432/database"
_ADDRESS = re.compile(
    r"postgres(?:ql)?://(?:(?P<user>[^:/?#@]*)(?::(?P<password>[^/?#@]*))?@)?"
    r"(?P<hosts>[^/?#@]*)(?:/(?P<database>[^/?#@]*))?(?:\?(?P<parameters>[^?#]*))?",
    re.IGNORECASE,
)
_HOST = re.compile(r"(?P<host>\[[0-9A-Fa-f:.%\w]+\]|[^:\[\]]*)(?::(?P<port>\d{0,5}))?")
_PARAMETERS = (
    *("host", "hostaddr", "port", "user", "password", "dbname", "service", "passfile"),
    *("sslmode", "sslnegotiation", "sslcert", "sslkey", "sslpassword", "sslrootcert", "sslcrl"),
    *("sslcrldir", "sslsni", "ssl_min_protocol_version", "requirepeer", "require_auth"),
    *("channel_binding", "connect_timeout", "application_name", "keepalives", "keepalives_idle"),
    *("keepalives_interval", "keepalives_count", "tcp_user_timeout", "gssencmode", "krbsrvname"),
    *("target_session_attrs", "load_balance_hosts"),
)
"""What a person may write after `?`; what sets the session (`options`) is not among it."""
_log = logging.getLogger("incrowd.sources")


@dataclass(frozen=True, repr=False)
class Server:
    """The parts of an address, as libpq names them; a part that is not given is left out."""

    parts: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        """A part, or an empty text."""
        return self.parts.get(name, "")

    @property
    def url(self) -> str:
        """The address written so that it can be read in one way only."""
        written = "&".join(f"{name}={quote(each, safe='')}" for name, each in self.parts.items())
        return f"postgresql:///?{written}"

    @property
    def plain(self) -> str:
        """The address as a policy may name it: one host, the user and the database."""
        user, database = quote(self["user"], safe=""), quote(self["dbname"], safe="")
        known = re.fullmatch(r"[A-Za-z0-9._\-]+", self["host"])
        host = self["host"] + (f":{self['port']}" if self["port"] else "") if known else ""
        return f"postgresql://{user + '@' if user else ''}{host}/{database}"

    def with_defaults(self) -> Server:
        """The address with a time to wait, so that no run hangs on a silent server."""
        if self["connect_timeout"] or "PGCONNECT_TIMEOUT" in os.environ:
            return self
        return Server({**self.parts, "connect_timeout": _TIMEOUT})


def server_of(url: str) -> Server:
    """The server that an address names.

    Raises
    ------
    SourceError
        The address is not written as those of PostgreSQL are; the message shows no part of it.
    """
    match = _ADDRESS.fullmatch(url)
    if match is None:
        raise SourceError(
            f"The URL is not legal. Write {_FORM}; special characters in user and password as %XX."
        )
    hosts = [_HOST.fullmatch(each) for each in (match["hosts"] or "").split(",")]
    if not all(hosts):
        raise SourceError(f"The URL is not legal: its host is odd. Write {_FORM}.")
    found = {
        "user": match["user"],
        "password": match["password"],
        "host": ",".join(each["host"].strip("[]") for each in hosts if each),
        "port": ",".join(each["port"] or "" for each in hosts if each).strip(","),
        "dbname": match["database"],
    }
    parts = {name: _decoded(each) for name, each in found.items() if each}
    for text in filter(None, (match["parameters"] or "").split("&")):
        name, _, value = text.partition("=")
        if name not in _PARAMETERS:
            raise SourceError(
                "The URL is not legal: it has a parameter that is not taken."
                f"{nearest(name, _PARAMETERS)} Taken are {', '.join(_PARAMETERS)}."
            )
        if name in parts:
            raise SourceError(f"The URL is not legal: it says its {name} twice.")
        parts[name] = _decoded(value)
    return Server(parts)


def refuse_in_policy(url: str) -> None:
    """Refuse what no policy may say of a server: a password, parameters, several hosts.

    Raises
    ------
    ValueError
        With where it belongs instead.
    """
    try:
        server = server_of(url)
    except SourceError as error:
        raise ValueError(str(error).rstrip(".")) from None
    if server["password"]:
        raise ValueError(
            "a policy holds no password: whoever is given the policy has it too. Take it out; give "
            "it by PGPASSWORD or ~/.pgpass"
        )
    alien = [name for name in server.parts if name not in ("host", "port", "user", "dbname")]
    if alien or "?" in url:
        raise ValueError(
            f"the address of a server in a policy is no more than {_FORM}. Take the parameters out "
            "and set them in the environment (PGSSLMODE, PGSSLROOTCERT …), or give the whole "
            "address yourself: --source"
        )
    if "=" in server["dbname"] or "/" in server["dbname"]:
        raise ValueError("the database of a server in a policy is a plain name, as in registry")
    if "," in server["host"] or server["host"].startswith(("/", "@")):
        raise ValueError(
            "the address of a server in a policy names one host, and no socket. Leave the host out "
            "and set PGHOST, or give the whole address yourself: --source"
        )


def named_by_person(url: str) -> str:
    """The address of a policy, once the environment names the same server and user.

    Raises
    ------
    PolicyError
        PGHOST and PGUSER are not set, or name another server or user.
    """
    server = server_of(url)
    given = {name: os.environ.get(f"PG{name.upper()}", "") for name in ("host", "user", "port")}
    given["port"] = given["port"] or _PORT
    odd = [
        name
        for name, value in given.items()
        if not value or (server[name] and server[name].lower() != value.lower())
    ]
    if odd:
        variables = listed((f"PG{name.upper()}" for name in odd), quoted=False)
        wanted = " ".join(f"PG{name.upper()}={server[name] or '…'}" for name in odd)
        raise PolicyError(
            f"The policy names the server {_shown(server)}. A policy alone connects to nothing: "
            f"{variables} in the environment {'does' if len(odd) == 1 else 'do'} not name the "
            "same. If you know this server and trust it with your password, say so: set "
            f"{wanted}, or give the address yourself with --source (in Python as the source)."
        )
    named = Server({**server.parts, **given})
    return named.plain if server_of(named.plain) == named else named.url


def announce(server: Server) -> None:
    """Say which server is asked as whom, before anything is sent to it."""
    _log.info("Connecting to the server %s, only to read.", _shown(server, os.environ))


def _shown(server: Server, environment: Mapping[str, str] | None = None) -> str:
    """Host, port, user and database of a server for people, never a password."""
    around = environment if environment is not None else {}
    service = server["service"] or around.get("PGSERVICE", "")
    host = server["host"] or around.get("PGHOST", "")
    address = server["hostaddr"] or around.get("PGHOSTADDR", "")
    port = server["port"] or around.get("PGPORT", "")
    user = server["user"] or around.get("PGUSER", "")
    unnamed = f"of the service {service}" if service else "on this machine"
    place = host + (f":{port}" if port and host else "") or unnamed
    at = f" ({address})" if address else ""
    database = server["dbname"] or around.get("PGDATABASE", "")
    said = f"{place}{at} as the user {user or 'of this session'}"
    return _printable(said + (f", database {database}" if database else ""))


def _printable(text: str) -> str:
    return "".join(each if each.isprintable() else "?" for each in text)


def _decoded(text: str) -> str:
    """A part of an address without %XX; refuses what libpq refuses, and controls."""
    legal = not re.search(r"%(?![0-9A-Fa-f]{2})", text)
    if legal:
        try:
            decoded = unquote(text, errors="strict")
        except UnicodeDecodeError:
            legal = False
    if not legal or any(ord(each) < 32 or ord(each) == 127 for each in decoded):
        raise SourceError("The URL is not legal. Write special characters in it as %XX.")
    return decoded
