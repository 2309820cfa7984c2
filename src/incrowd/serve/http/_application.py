"""The whole application: the HTTP interface, the pages where NiceGUI is there, and the guard."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from starlette.requests import ClientDisconnect
from starlette.responses import RedirectResponse

from incrowd.serve.http._api import PLACE, interface
from incrowd.serve.http.security import Guard, LargeRequests, Settings, reply
from incrowd.serve.workspace.sources import HIERARCHY_LIMIT

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from incrowd.serve.workspace.workspace import Workspace


def build(workspace: Workspace, settings: Settings) -> FastAPI:
    """The application for one workspace.

    Parameters
    ----------
    workspace
        What it shows and works on.
    settings
        Who may talk to it, and how much it takes.

    Notes
    -----
    The guard is the outermost layer: nothing, not even a file of the page, is served without the
    token. Where NiceGUI is not installed, only the interface answers.
    """
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.mount(PLACE, interface(workspace, settings))
    if settings.page and find_spec("nicegui") is not None:
        from incrowd.serve.pages import install

        install(app, workspace, settings.upload_limit)
    else:
        app.add_route("/", lambda _: RedirectResponse(f"{PLACE}/reference"))
    app.add_middleware(Discreet)
    app.add_middleware(Guard, settings=settings, uploads=_uploads(settings))
    return app


def _uploads(settings: Settings) -> tuple[LargeRequests, ...]:
    """Where files are sent to, by programs and by the page."""
    return (
        LargeRequests("POST", f"{PLACE}/sources(/linked)?", settings.upload_limit),
        LargeRequests("PUT", f"{PLACE}/sources/[^/]+/hierarchies/.+", HIERARCHY_LIMIT),
    )


class Discreet:
    """Keeps faults from whoever logs them: their messages and tracebacks may hold cells.

    A fault is told on stderr by its kind and place alone.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and take what goes wrong."""
        begun = False

        async def noted(message: Message) -> None:
            nonlocal begun
            begun = begun or message["type"] in ("http.response.start", "websocket.accept")
            await send(message)

        try:
            await self.app(scope, receive, noted)
        except ClientDisconnect:
            pass  # whoever asked is gone
        except Exception as error:
            sys.stderr.write(f"fault: {type(error).__name__} at {raised_at(error)}\n")
            if scope["type"] == "http" and not begun:
                await _apologize(send)


def raised_at(error: BaseException | None) -> str:
    """The module and line where an error arose, without the values involved."""
    traceback: Any = error.__traceback__ if error is not None else None
    place = "an unknown place"
    while traceback is not None:
        module = traceback.tb_frame.f_globals.get("__name__", "")
        if module.startswith("incrowd") or place == "an unknown place":
            place = f"{module}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return place


async def _apologize(send: Send) -> None:
    body = b'{"error": "A fault in incrowd itself."}'
    await reply(send, 500, [(b"content-type", b"application/json")], body)
