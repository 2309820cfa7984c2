"""The listener of the leader: an HTTPS server in a thread of its own, for hospitals that dial in.

There is one address, `POST /v1/exchange`: a signed message in, the leader's next one out, or 204
when there is none yet. Connections stay open from round to round.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Coroutine, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from incrowd.errors import FederationError
from incrowd.federation.transport.messages import PATH
from incrowd.federation.transport.rounds import Rounds
from incrowd.federation.transport.terms import need_libraries
from incrowd.federation.transport.tls import shown

if TYPE_CHECKING:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

_BACKLOG = 128
_STARTING = 30.0
Result = TypeVar("Result")


def listen(host: str, port: int) -> socket.socket:
    """A socket that hospitals can dial; port 0 takes a free one."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # Named by its number, TCP sends small replies at once; asyncio looks for just that.
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(_BACKLOG)
    except OSError as error:
        raise FederationError(
            f"The leader cannot listen at {host}, port {port}: {error.strerror}. Choose another "
            "address or end the program that holds it."
        ) from error
    listening.setblocking(False)
    return listening


@dataclass(eq=False, repr=False)
class Listener:
    """The server in its thread; what must happen in its event loop is handed over by `run`."""

    rounds: Rounds
    listening: socket.socket
    context: ssl.SSLContext
    holders: Mapping[str, str]

    def __post_init__(self) -> None:
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._server: uvicorn.Server | None = None
        self._thread = threading.Thread(target=self._serve, name="incrowd-leader", daemon=True)

    def open(self) -> None:
        """Start to answer."""
        need_libraries()
        self._thread.start()
        self._ready.wait(_STARTING)
        if self._loop is None:
            raise FederationError("The leader's server did not start.")

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """The result of a coroutine that runs in the server's event loop."""
        return self.begin(work).result()

    def begin(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        """A coroutine that runs in the server's event loop while the caller goes on."""
        if self._loop is None or not self._thread.is_alive():
            work.close()
            raise FederationError("The leader's server has ended.")
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(self) -> None:
        """Let replies under way go out, and stop."""
        if self._server is not None:
            self._server.should_exit = True
        if self._thread.is_alive():
            self._thread.join(_STARTING)
        self.listening.close()

    def _serve(self) -> None:
        try:
            asyncio.run(self._main())
        finally:
            self._ready.set()

    async def _main(self) -> None:
        import uvicorn

        limits = self.rounds.limits
        config = uvicorn.Config(
            _application(self.rounds),
            http=_protocol(self.rounds, self.holders),
            ws="none",
            loop="asyncio",
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=int(limits.timeout + limits.patience) + 1,
            timeout_graceful_shutdown=1,
        )
        config.load()
        config.ssl = self.context
        self._server = uvicorn.Server(config)
        self._loop = asyncio.get_running_loop()
        self._ready.set()
        await self._server.serve(sockets=[self.listening])


def _application(rounds: Rounds) -> Starlette:
    """The one address, for callers whose certificate is a hospital's."""
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Route

    async def exchange(request: Request) -> Response:
        party = request.scope.get("incrowd.party")
        if party is None:
            return Response(status_code=403)
        data = await _body(request, rounds.limits.size)
        if data is None:
            rounds.fail(party, f"sent a message of more than {rounds.limits.size:,} bytes")
            data = b""
        try:
            reply = await rounds.exchange(party, data)
        except Exception as error:  # whatever a hospital sends, the others are told
            rounds.fail(party, f"sent what the leader cannot take ({type(error).__name__})")
            reply = await rounds.exchange(party, b"")
        if reply is None:
            return Response(status_code=204)
        return Response(reply, media_type="application/octet-stream")

    return Starlette(routes=[Route(PATH, exchange, methods=["POST"])])


async def _body(request: Request, limit: int) -> bytes | None:
    """The body of a request, or None as soon as it is too large."""
    pieces: list[bytes] = []
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size > limit:
            return None
        pieces.append(piece)
    return b"".join(pieces)


def _protocol(rounds: Rounds, holders: Mapping[str, str]) -> type[asyncio.Protocol]:
    """HTTP as uvicorn speaks it, that also knows whose line it is."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class MarkedProtocol(H11Protocol):
        party: str | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            mark = shown(transport.get_extra_info("ssl_object"))
            self.party = holders.get(mark or "")
            if self.party is None or self.party not in rounds.places:
                transport.close()
                return
            rounds.opened(self.party)
            application, party = self.app, self.party

            async def named(scope: Any, receive: Any, send: Any) -> None:
                await application({**scope, "incrowd.party": party}, receive, send)

            self.app = named

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            if self.party is not None and self.party in rounds.places:
                rounds.lost(self.party)

    return MarkedProtocol
