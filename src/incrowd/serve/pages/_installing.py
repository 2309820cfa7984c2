"""The page as a part of our application: NiceGUI mounted on it, with nothing of its own kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incrowd.serve.pages._navigation import Place
from incrowd.serve.pages._shell import STYLE, prepare, serve_style

if TYPE_CHECKING:
    from fastapi import FastAPI

    from incrowd.serve.workspace.workspace import Workspace

_PATIENCE = 60.0
"""Seconds that a browser may be out of reach, asleep or busy, before its page begins anew."""
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
    """Whether the one NiceGUI of this process has its page."""

    done = False


def install(app: FastAPI, workspace: Workspace, upload_limit: int) -> None:
    """Mount the page on an application, at `/`; call it after all other routes are there.

    Notes
    -----
    NiceGUI is one application for a whole process, so a process shows one workspace. It keeps no
    storage, and therefore needs no secret, and writes no file.

    Raises
    ------
    RuntimeError
        The process has a page already.
    """
    from nicegui import ui

    if _Installed.done:
        raise RuntimeError("A process has one page: start another process for another workspace.")
    _Installed.done = True
    prepare()
    serve_style(app)
    _add_page(workspace, upload_limit)
    ui.run_with(
        app,
        title="incrowd",
        language="en-US",
        tailwind=False,
        show_welcome_message=False,
        reconnect_timeout=_PATIENCE,
        gzip_middleware_factory=None,
        cache_control_directives="private, no-cache",
    )


def _add_page(workspace: Workspace, upload_limit: int) -> None:
    from nicegui import ui

    from incrowd.serve.pages._page import Page

    place = Place()

    @ui.page("/")
    def main(run: str | None = None) -> None:
        ui.add_head_html(f'<link rel="stylesheet" href="{STYLE}">')
        ui.colors(**_COLORS)
        if run is not None:
            _open_run(place, workspace, run)
        Page(workspace, upload_limit, place).show()


def _open_run(place: Place, workspace: Workspace, run_id: str) -> None:
    """Open the results of a run that the address names, if there is one."""
    for run in workspace.runs:
        if run.id == run_id:
            place.source_id, place.run_id = run.source.id, run.id
            place.step = "results" if run.state == "done" else "run"
