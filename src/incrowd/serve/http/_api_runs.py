"""The part of the HTTP interface about runs: start, follow, cancel, fetch."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from fastapi.responses import FileResponse

from incrowd.errors import ParameterError
from incrowd.serve.http import _api_models as models
from incrowd.serve.workspace.workspace import UnknownError, Workspace

REPORT_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; "
    "frame-ancestors 'none'; form-action 'none'; base-uri 'none'"
)
"""A report is one file with all it needs: styles, no scripts. It gets an origin of its own."""
Wait = Annotated[
    float, Query(ge=0, le=60, description="Answer once it has ended, or after so many seconds.")
]
_Responses = dict[int | str, dict[str, Any]]
_TEXT = {"schema": {"type": "string"}}
_BINARY = {"schema": {"type": "string", "format": "binary"}}
_PAGE: _Responses = {200: {"content": {"text/html": _TEXT}}}
_YAML: _Responses = {200: {"content": {"application/yaml": _TEXT}}}
_ZIP: _Responses = {200: {"content": {"application/zip": _BINARY}, "description": "The archive"}}
_FILE: _Responses = {
    200: {"content": {"application/octet-stream": _BINARY}, "description": "The file"}
}


def add_runs(api: APIRouter, workspace: Workspace) -> None:
    """Add the addresses of runs to the interface."""
    _add_work(api, workspace)
    _add_results(api, workspace)
    _add_files(api, workspace)


def _add_work(api: APIRouter, workspace: Workspace) -> None:
    @api.post("/sources/{source}/runs", status_code=201)
    def start(
        source: str,
        accept_unprotected: Annotated[
            bool,
            Query(description="Publish columns kept as they are even if they single records out."),
        ] = False,
    ) -> models.RunAnswer:
        """Start a run of a table's policy, as it is now. Others may have to end before it."""
        made = workspace.start(source, accept_unprotected=accept_unprotected)
        return models.RunAnswer.of(made)

    @api.get("/runs")
    def list_runs(
        source: Annotated[str | None, Query(description="Only those of this table.")] = None,
    ) -> list[models.RunAnswer]:
        """All runs, the oldest first."""
        return [
            models.RunAnswer.of(run)
            for run in workspace.runs
            if source is None or run.source.id == source
        ]

    @api.get("/runs/{run}")
    async def get_run(run: str, wait: Wait = 0) -> models.RunAnswer:
        """A run: its state, how far it is and, once it is done, its figures."""
        found = workspace.run(run)
        await until(found.ended.is_set, wait)
        return models.RunAnswer.of(found)

    @api.post("/runs/{run}/cancel")
    def cancel(run: str) -> models.RunAnswer:
        """Stop a run and leave nothing of it behind. Nothing happens when it has ended."""
        found = workspace.run(run)
        found.cancel()
        return models.RunAnswer.of(found)

    @api.delete("/runs/{run}", status_code=204)
    def remove_run(run: str) -> None:
        """Wipe a run with its release."""
        workspace.remove_run(run)


def _add_results(api: APIRouter, workspace: Workspace) -> None:
    @api.get("/runs/{run}/rows")
    def rows(
        run: str,
        offset: Annotated[int, Query(ge=0, le=10**12)] = 0,
        rows: Annotated[int, Query(ge=1, le=1000)] = 20,
        table: Annotated[str | None, Query(description="The table of records if left out.")] = None,
    ) -> models.RowsAnswer:
        """Rows of the release, as published."""
        return models.RowsAnswer.of(workspace.run(run).table(offset, rows, table))

    @api.get("/runs/{run}/archive", response_class=FileResponse, responses=_ZIP)
    def archive(run: str) -> FileResponse:
        """The release folder with its policy and hierarchies, as one zip file."""
        found = workspace.run(run)
        return FileResponse(
            found.archive(), media_type="application/zip", filename=f"release-{found.number}.zip"
        )

    @api.get("/runs/{run}/policy", response_class=Response, responses=_YAML)
    def policy(run: str) -> Response:
        """The policy file as it ran."""
        return Response(workspace.run(run).policy, media_type="application/yaml")


def _add_files(api: APIRouter, workspace: Workspace) -> None:
    @api.get("/runs/{run}/report", response_class=FileResponse, responses=_PAGE)
    def report(run: str) -> FileResponse:
        """The report of the release, a page that needs nothing else."""
        return _report(workspace.run(run).report, "report")

    @api.get("/runs/{run}/private-report", response_class=FileResponse, responses=_PAGE)
    def private_report(run: str) -> FileResponse:
        """The report with the source beside the release: not for publication."""
        return _report(workspace.run(run).private_report, "private report")

    @api.get("/runs/{run}/files/{name:path}", response_class=FileResponse, responses=_FILE)
    def file(run: str, name: str) -> FileResponse:
        """One file of the release: a table, or its manifest."""
        found = workspace.run(run)
        try:
            path = found.file(name)
        except ParameterError as error:
            raise UnknownError(str(error)) from None
        return FileResponse(path, media_type="application/octet-stream", filename=path.name)


def _report(path: Path | None, kind: str) -> FileResponse:
    if path is None:
        raise UnknownError(f"This run has no {kind}.")
    return FileResponse(
        path, media_type="text/html", headers={"content-security-policy": REPORT_POLICY}
    )


async def until(ended: Callable[[], bool], seconds: float) -> None:
    """Wait until something has ended, at most so long; others are served meanwhile."""
    last = time.monotonic() + seconds
    while not ended() and time.monotonic() < last:
        await asyncio.sleep(0.05)
