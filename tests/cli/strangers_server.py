"""A server that a stranger's policy names: it speaks enough of PostgreSQL to ask for a password."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import suppress

_NO_SSL = (80877103, 80877104)
_ASK_FOR_PASSWORD = b"R" + struct.pack("!II", 8, 3)


class FakeServer:
    """Listens on this machine, asks everybody for a password in clear, and keeps what comes."""

    def __init__(self) -> None:
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._door.getsockname()[1]
        self.received: list[bytes] = []
        self.connections = 0
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def __enter__(self) -> FakeServer:
        return self

    def __exit__(self, *_: object) -> None:
        self._door.close()

    @property
    def heard(self) -> bytes:
        return b"".join(self.received)

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                guest, _ = self._door.accept()
                self.connections += 1
                guest.settimeout(600)
                with guest, suppress(OSError):
                    self._listen(guest)

    def _listen(self, guest: socket.socket) -> None:
        while piece := guest.recv(4096):
            self.received.append(piece)
            if len(piece) == 8 and struct.unpack("!II", piece)[1] in _NO_SSL:
                guest.sendall(b"N")
            elif piece[:1] == b"p":
                return
            else:
                guest.sendall(_ASK_FOR_PASSWORD)
