"""The server: one process, one socket, one workspace that is wiped when it ends."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd._runtime.scratch import scratch
from incrowd.errors import EngineError, InputError

if TYPE_CHECKING:
    import uvicorn

    from incrowd.serve.http.security import Settings

USUAL_PORT = 8765
_BACKLOG = 128
_LARGEST_MESSAGE = 4 << 20
_EXTRA = 'The page needs further libraries. Install them: pip install "incrowd[serve]"'


def need_libraries() -> None:
    """Return when the libraries of the page are installed; raise InputError otherwise."""
    try:
        import fastapi
        import uvicorn
    except ImportError:
        raise InputError(_EXTRA) from None
    assert fastapi
    assert uvicorn


def listen(host: str, port: int | None) -> socket.socket:
    """A socket at a host; port None takes the usual one, or a free one where that is taken."""
    wanted = [USUAL_PORT, 0] if port is None else [port]
    for attempt in wanted:
        try:
            found = socket.getaddrinfo(host or None, attempt, type=socket.SOCK_STREAM, flags=1)[0]
            listener = socket.socket(found[0], socket.SOCK_STREAM, socket.IPPROTO_TCP)
        except OSError:
            raise InputError(f"--host {host} is no address of this machine.") from None
        try:
            if sys.platform != "win32":
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(found[4])
            listener.listen(_BACKLOG)
        except OSError as error:
            listener.close()
            if attempt == wanted[-1]:
                raise EngineError(
                    f"Cannot listen at {host}, port {attempt}: {error.strerror}. Choose another "
                    "--port, or leave it out."
                ) from None
            continue
        return listener
    raise AssertionError


def serve(
    listener: socket.socket,
    settings: Settings,
    *,
    files: Sequence[Path] = (),
    at_once: int | None = None,
    opened: Callable[[], None] = lambda: None,
) -> None:
    """Serve until somebody asks the process to end; nothing is left behind then.

    Parameters
    ----------
    listener
        Where to listen.
    settings
        Who may talk to the server, and how much it takes.
    files
        A table to begin with; several are tables of the same patients.
    at_once
        How many runs go on at the same time; left out, one for every two cores.
    opened
        Called once the server answers.
    """
    from incrowd.serve.http._application import build
    from incrowd.serve.workspace.workspace import Workspace, temporary_files_in

    quiet_logs()
    with scratch("serve") as folder:
        limit = settings.upload_limit
        with Workspace(folder, limit=limit, at_once=at_once) as workspace:
            temporary_files_in(workspace)
            if len(files) == 1:
                workspace.add_source(files[0].name, files[0])
            elif files:
                workspace.add_linked(files)
            server = _server(build(workspace, settings), opened)
            asyncio.run(server.serve(sockets=[listener]))


def _server(app: Any, opened: Callable[[], None]) -> uvicorn.Server:
    import uvicorn

    class QuietServer(uvicorn.Server):
        """A server that ends at the first signal, quietly, and says when it has begun."""

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            """Let signals end the server, and not the process before it has tidied up."""
            if threading.current_thread() is not threading.main_thread():
                yield
                return
            numbers = [getattr(signal, n, None) for n in ("SIGINT", "SIGTERM", "SIGHUP")]
            before = {n: signal.signal(n, self.handle_exit) for n in numbers if n is not None}
            try:
                yield
            finally:
                for number, handler in before.items():
                    signal.signal(number, handler)

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            """Begin to answer."""
            await super().startup(sockets)
            if self.started:
                opened()

    return QuietServer(
        uvicorn.Config(
            app,
            log_config=None,
            log_level="critical",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            ws_max_size=_LARGEST_MESSAGE,
            timeout_graceful_shutdown=1,
        )
    )


class _KindAndPlace(logging.Handler):
    """Tells of errors that libraries log, by kind and place: what they say may hold cells."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line to stderr."""
        from incrowd.serve.http._application import raised_at

        error = record.exc_info[1] if record.exc_info else None
        kind = f"{type(error).__name__} at {raised_at(error)}" if error is not None else "an error"
        sys.stderr.write(f"fault: {kind} (told by {record.name})\n")


def quiet_logs() -> None:
    """Let no library write to a log what it was given: paths with tokens, cells, tracebacks."""
    root = logging.getLogger()
    root.handlers = [_KindAndPlace(logging.ERROR)]
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "nicegui", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [], True
