"""The page as a part of our application: NiceGUI mounted on it, with nothing of its own kept."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from incrowd.serve.pages.place import Place
from incrowd.serve.pages.shell import STYLE, prepare, serve_style

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from fastapi import FastAPI

    from incrowd.serve.security import Settings
    from incrowd.serve.workspace import Workspace

_COLORS = {
    "primary": "#00588c",
    "secondary": "#52616e",
    "accent": "#00588c",
    "positive": "#00664a",
    "negative": "#a32014",
    "info": "#00588c",
    "warning": "#8a4b00",
}


class _Installed:
    """What the one NiceGUI of this process shows: the workspace installed last."""

    workspace: Workspace | None = None
    settings: Settings | None = None
    place = Place()
    mounted = False


def install(app: FastAPI, workspace: Workspace, settings: Settings) -> None:
    """Mount the page on an application, at `/`; call it after all other routes are there.

    Notes
    -----
    NiceGUI is one application for a whole process, so a process shows one workspace: the one that
    was installed last. It keeps no storage, and therefore needs no secret, and writes no file.
    """
    _Installed.workspace, _Installed.settings = workspace, settings
    _Installed.place = Place()
    serve_style(app)
    if _Installed.mounted:
        _mount_again(app)
        return
    _Installed.mounted = True
    prepare()
    _add_page()
    from nicegui import ui

    ui.run_with(
        app,
        title="incrowd",
        language="en-US",
        tailwind=False,
        show_welcome_message=False,
        reconnect_timeout=10.0,
        gzip_middleware_factory=None,
        cache_control_directives="private, no-cache",
    )


def _add_page() -> None:
    from nicegui import ui

    from incrowd.serve.pages.page import Page

    @ui.page("/")
    def main(run: str | None = None) -> None:
        workspace, settings, place = _Installed.workspace, _Installed.settings, _Installed.place
        assert workspace is not None
        assert settings is not None
        ui.add_head_html(f'<link rel="stylesheet" href="{STYLE}">')
        ui.colors(**_COLORS)
        if run is not None:
            _open_run(place, workspace, run)
        Page(workspace, settings, place).show()


def _open_run(place: Place, workspace: Workspace, run_id: str) -> None:
    """Open the results of a run that the address names, if there is one."""
    for run in workspace.runs:
        if run.id == run_id:
            place.source_id, place.run_id = run.source.id, run.id
            place.step = "results" if run.state == "done" else "run"


def _mount_again(app: FastAPI) -> None:
    """Mount NiceGUI, set up before, on another application of the same process."""
    from nicegui import core
    from nicegui.nicegui import _shutdown, _startup

    app.mount("/", core.app)
    inner = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(started: Any) -> AsyncIterator[Any]:
        await _startup()
        async with inner(started) as state:
            yield state
        await _shutdown()

    app.router.lifespan_context = lifespan
