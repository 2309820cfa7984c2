"""A proxy between a hospital and the leader that records what passes, above TLS or below it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import threading
from pathlib import Path
from types import TracebackType

from incrowd.federation.membership.kits import load_kit
from incrowd.federation.session.session import credentials
from incrowd.federation.transport.tls import leader_context, party_context


class Recorder:
    """Listens on a free port and passes everything on to the leader, keeping a copy.

    With `opened`, it holds the keys of both kits, speaks TLS with each side, and so sees what a
    thief of both keys would see. Without, it sees what an eavesdropper sees. After `cut_at` pieces
    it cuts the connection that brought the last one, once. As a web proxy it waits for CONNECT
    first.
    """

    def __init__(
        self, kits: Path, party: str, *, opened: bool, cut_at: int = 0, web_proxy: bool = False
    ) -> None:
        kit = load_kit(kits / party)
        leader = kit.consortium.leader
        host, port = kit.consortium.address.split(":")
        self._target = (host, int(port))
        self._front: ssl.SSLContext | None = None
        self._back: ssl.SSLContext | None = None
        if opened:
            self._front = leader_context(credentials(load_kit(kits / leader)), lambda _: None)
            self._back = party_context(credentials(kit), leader)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._cut_at = cut_at
        self._web_proxy = web_proxy
        self._record = bytearray()
        self._pieces = 0
        self.cuts = 0
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), daemon=True)

    @property
    def seen(self) -> bytes:
        return bytes(self._record)

    def __enter__(self) -> Recorder:
        self._thread.start()
        assert self._ready.wait(600)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(600)

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._over = asyncio.Event()
        server = await asyncio.start_server(self._serve, sock=self._listener, ssl=self._front)
        self._ready.set()
        await self._over.wait()
        server.close()

    async def _serve(self, source: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        try:
            if self._web_proxy:
                self._record += await source.readuntil(b"\r\n\r\n")
                back.write(b"HTTP/1.1 200 OK\r\n\r\n")
            answers, onward = await asyncio.open_connection(*self._target, ssl=self._back)
        except OSError:
            back.transport.abort()
            return
        ways = [self._pass_on(source, onward), self._pass_on(answers, back)]
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait(
                [asyncio.ensure_future(way) for way in ways], return_when=asyncio.FIRST_COMPLETED
            )
        onward.transport.abort()
        back.transport.abort()

    async def _pass_on(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.CancelledError):
            while data := await source.read(1 << 16):
                self._record += data
                self._pieces += 1
                if self._pieces == self._cut_at:
                    self.cuts += 1
                    return
                target.write(data)
                await target.drain()
