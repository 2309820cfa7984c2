"""Who may talk to the server: a guard before every request, and what browsers may do with replies.

Every request passes four questions, also that for a file of the page and for a websocket:

1. Is it meant for this server? The Host header must be one of the allowed names, so that no other
   site can be given the address of this machine (DNS rebinding).
2. Does it come from our own page? Origin and Sec-Fetch-Site must say so, where a browser sends
   them; a websocket must have an Origin.
3. Does it know the token? As `Authorization: Bearer`, or as the cookie that the address with the
   token sets.
4. Is it small enough? Bodies are counted while they arrive.
"""

from __future__ import annotations

import html
import json
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

from incrowd.errors import ParameterError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
ANYWHERE = ("", "0.0.0.0", "::", "[::]", "*")  # noqa: S104 - to tell them from LOOPBACK
SMALL = 1 << 20
"""The largest body of a request that is no upload, in bytes."""
CONTENT_POLICY = (
    "default-src 'none'; connect-src 'self'; frame-ancestors 'none'; form-action 'self'; "
    "base-uri 'none'"
)
"""For every reply that does not bring a policy of its own: nothing is loaded or run."""
_HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_TOKEN = re.compile(r"[A-Za-z0-9_\-.~+/=]{32,}")
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[\w-]+(\.[\w-]+)*\.?)(:\d{1,5})?")
_PATIENCE = 16 << 20
"""Bytes of too large a request that are still taken, and thrown away, so that its reply is read."""
_PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>incrowd</title>'
    '<h1>incrowd</h1><p>{words}</p><p><a href="/">Open the page</a></p></html>\n'
)
_WRONG_HOST = (
    "This server does not answer to that name. Open it by the address that it printed, or start it "
    "with --allow-host NAME."
)
_FOREIGN = "Another site asked for this. Open the page by its own address."
_NOT_ADMITTED = (
    "The token is missing or is not that of this server. Open the address that `incrowd serve` "
    "printed, or send it as `Authorization: Bearer TOKEN`."
)


@dataclass(frozen=True)
class Settings:
    """How a server is reached, and what it takes.

    Parameters
    ----------
    host, port
        Where it listens.
    token
        What every request must know.
    allowed_hosts
        Further names under which it is reached, as `name` or `name:port`.
    upload_limit
        The largest file that is taken, in bytes.
    page
        Whether there is a page, or the HTTP interface alone.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    allowed_hosts: tuple[str, ...] = ()
    upload_limit: int = 2 << 30
    page: bool = True

    def __post_init__(self) -> None:
        if _TOKEN.fullmatch(self.token) is None:
            raise ParameterError(
                "token: must be a secret of at least 32 letters and digits, for instance from "
                "`openssl rand -hex 32`."
            )
        for name in self.allowed_hosts:
            if _HOST.fullmatch(name) is None:
                raise ParameterError(
                    f"--allow-host {name}: give the name alone, as in data.hospital.org, or with "
                    "a port, data.hospital.org:8443."
                )
        if self.host in ANYWHERE and not self.allowed_hosts:
            raise ParameterError(
                f"--host {self.host or '*'} listens on all addresses of this machine: also say "
                "under which name people open the page, --allow-host NAME."
            )

    @property
    def cookie(self) -> str:
        """The name of the cookie; two servers on one machine do not share one."""
        return f"incrowd-{self.port}"

    @property
    def address(self) -> str:
        """Where the page is, without the token."""
        host = self.host
        if host in ANYWHERE:
            host = self.allowed_hosts[0].partition(":")[0]
        elif ":" in host and not host.startswith("["):
            host = f"[{host}]"
        return f"http://{host}:{self.port}/"

    @property
    def sign_in_address(self) -> str:
        """The address that opens the page: it has the token."""
        return f"{self.address}?{urlencode({'token': self.token})}"

    def is_allowed_host(self, host: str) -> bool:
        """Whether a Host header names this server."""
        return host.lower() in self._hosts

    @property
    def _hosts(self) -> set[str]:
        own = LOOPBACK if self.host in LOOPBACK or self.host in ("::1", *ANYWHERE) else ()
        host = f"[{self.host}]" if self.host.count(":") > 1 else self.host
        names = {f"{name}:{self.port}" for name in (*own, host)}
        for name in self.allowed_hosts:
            names |= {name} if ":" in name else {name, f"{name}:{self.port}"}
        if self.port == 80:
            names |= {*own, host}
        return {name.lower() for name in names}

    def knows(self, token: str | None) -> bool:
        """Whether a token is the right one, in a time that does not tell how much of it is."""
        return token is not None and secrets.compare_digest(token.encode(), self.token.encode())


@dataclass(frozen=True)
class LargeRequests:
    """Requests that may be large: a method, a pattern of paths, and the most bytes."""

    method: str
    path: str
    limit: int


class Guard:
    """An ASGI application around another one, which sees only what passes."""

    def __init__(
        self, app: ASGIApp, settings: Settings, uploads: Iterable[LargeRequests] = ()
    ) -> None:
        self.app = app
        self._settings = settings
        self._uploads = tuple(uploads)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let it pass."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = _headers_of(scope)
        refused = self._refusal(scope, headers)
        if scope["type"] == "websocket":
            if refused is None and not self._knows(headers):
                refused = (401, "")
            if refused is not None:
                await send({"type": "websocket.close", "code": 1008})
                return
            await self.app(scope, receive, send)
            return
        sender = _with_headers(send, receive)
        if refused is not None:
            await _reply(sender, scope, *refused)
        elif (target := self._entering(scope)) is not None:
            await self._let_in(sender, headers, target)
        elif not self._knows(headers):
            await _reply(sender, scope, 401, _NOT_ADMITTED)
        else:
            limit = self._limit(scope["method"], scope["path"])
            if _stated_size(headers) > limit:
                await _reply(sender, scope, 413, too_large(limit))
                return
            await self.app(scope, _counted(receive, limit), sender)

    def _refusal(self, scope: Scope, headers: Mapping[str, str]) -> tuple[int, str] | None:
        """Why a request is refused whatever token it has: status and words; None if it is not."""
        host = headers.get("host", "")
        if not self._settings.is_allowed_host(host):
            return 421, _WRONG_HOST
        origin = headers.get("origin")
        if origin is None:
            if scope["type"] == "websocket":
                return 403, _FOREIGN
        elif not _is_origin_of(origin, host):
            return 403, _FOREIGN
        # Programs send none; "none" is an address that a person typed or opened elsewhere.
        if headers.get("sec-fetch-site", "none") in ("same-origin", "none"):
            return None
        # Another page may lead here only with the token: a link in a note of one's own.
        opens = headers.get("sec-fetch-mode") == "navigate" and self._entering(scope) is not None
        return None if opens else (403, _FOREIGN)

    def _entering(self, scope: Scope) -> str | None:
        """Where a request that brings the token in its address leads, without it."""
        if scope["type"] != "http" or scope["method"] != "GET" or scope["path"] != "/":
            return None
        query = parse_qsl(scope.get("query_string", b"").decode("latin-1"))
        tokens = [value for name, value in query if name == "token"]
        if len(tokens) != 1 or not self._settings.knows(tokens[0]):
            return None
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        return f"/?{rest}" if rest else "/"

    async def _let_in(self, send: Send, headers: Mapping[str, str], target: str) -> None:
        """Give the cookie, and lead to the page by an address that has no token."""
        secure = "; Secure" if headers.get("x-forwarded-proto", "").lower() == "https" else ""
        cookie = (
            f"{self._settings.cookie}={self._settings.token}; Path=/; HttpOnly; "
            f"SameSite=Strict{secure}"
        )
        location = (b"location", target.encode("latin-1"))
        await reply(send, 303, [location, (b"set-cookie", cookie.encode("latin-1"))], b"")

    def _knows(self, headers: Mapping[str, str]) -> bool:
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return self._settings.knows(token.strip())
        # Other servers of this machine set cookies too, and not all of them are well written.
        cookies = [each.strip().partition("=") for each in headers.get("cookie", "").split(";")]
        name = self._settings.cookie
        return any(self._settings.knows(value) for each, _, value in cookies if each == name)

    def _limit(self, method: str, path: str) -> int:
        limits = [
            each.limit
            for each in self._uploads
            if each.method == method and re.fullmatch(each.path, path) is not None
        ]
        return max([SMALL, *limits])


def too_large(limit: int) -> str:
    """What to tell who sends too much."""
    return (
        f"The request is larger than {limit / 1e6:,.0f} MB, the most that is taken here. For "
        "larger files, start the server with a higher --upload-limit, or name the file: "
        "incrowd serve FILE."
    )


def _headers_of(scope: Scope) -> dict[str, str]:
    """The headers by their names; one that stands several times has all its values."""
    found: dict[str, str] = {}
    for raw, value in scope["headers"]:
        name, text = raw.decode("latin-1").lower(), value.decode("latin-1")
        joint = "; " if name == "cookie" else ", "
        found[name] = f"{found[name]}{joint}{text}" if name in found else text
    return found


def _is_origin_of(origin: str, host: str) -> bool:
    """Whether an Origin is the site that a request was sent to; its scheme may be a proxy's."""
    scheme, _, place = origin.lower().partition("://")
    return scheme in ("http", "https") and place == host.lower()


def _stated_size(headers: Mapping[str, str]) -> int:
    text = headers.get("content-length", "0")
    return int(text) if text.isdigit() else 0


def _counted(receive: Receive, limit: int) -> Receive:
    """The messages of a request, whose body may not grow beyond the limit."""
    size = 0

    async def counted() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > limit:
            from starlette.exceptions import HTTPException

            raise HTTPException(413, too_large(limit))
        return message

    return counted


async def _drained(receive: Receive) -> None:
    """Let who sends too much send a little more: before that, few programs look at a reply."""
    left = _PATIENCE
    while left > 0:
        message = await receive()
        left -= len(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body", False):
            return


def _with_headers(send: Send, receive: Receive) -> Send:
    """Send replies with the headers that protect them; a policy that they bring stays.

    After a reply about too large a request the line is cut, so that no more of it arrives.
    """

    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            if message["status"] == 413:
                await _drained(receive)
                message.setdefault("headers", []).append((b"connection", b"close"))
            headers = [(n.lower(), v) for n, v in message.get("headers", [])]
            wanted = dict(_HEADERS)
            if b"content-security-policy" not in dict(headers):
                wanted["content-security-policy"] = CONTENT_POLICY
            kept = [(n, v) for n, v in headers if n.decode("latin-1") not in wanted]
            added = [(n.encode("latin-1"), v.encode("latin-1")) for n, v in wanted.items()]
            message = {**message, "headers": [*kept, *added]}
        await send(message)

    return guarded


async def _reply(send: Send, scope: Scope, status: int, words: str) -> None:
    """A reply of our own: a small page for a browser, JSON for a program."""
    if scope["path"].startswith("/api/"):
        body, kind = json.dumps({"error": words}).encode(), b"application/json"
    else:
        body = _PAGE.format(words=html.escape(words)).encode()
        kind = b"text/html; charset=utf-8"
    length = str(len(body)).encode()
    headers = [(b"content-type", kind), (b"content-length", length)]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await reply(send, status, headers, b"" if scope["method"] == "HEAD" else body)


async def reply(
    send: Send, status: int, headers: Sequence[tuple[bytes, bytes]], body: bytes
) -> None:
    """Send a whole reply that no framework makes."""
    await send({"type": "http.response.start", "status": status, "headers": list(headers)})
    await send({"type": "http.response.body", "body": body})
