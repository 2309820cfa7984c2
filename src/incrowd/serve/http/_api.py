"""The HTTP interface: what the page can do, a hospital's own pipeline can do too."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from io import BytesIO
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException

from incrowd._version import __version__
from incrowd.errors import IncrowdError, InputError, PrivacyError, SourceError, VerificationError
from incrowd.serve.http import _api_models as models
from incrowd.serve.http._api_runs import Wait, add_runs, until
from incrowd.serve.http._reference import reference_page
from incrowd.serve.http._several import take_files
from incrowd.serve.http.security import SMALL, Settings
from incrowd.serve.workspace.sources import HIERARCHY_LIMIT, NotReadyError, WorkspaceSource
from incrowd.serve.workspace.workspace import TooLargeError, UnknownError, Workspace
from incrowd.sources.files import TextOptions

PLACE = "/api/v1"
_PIECE = 1 << 20
_DESCRIPTION = """
From a table of patients to a verified release, step by step: send a file, look at the roles that
were guessed, correct the policy, start a run, wait for it, fetch the release.

Every request needs the token that `incrowd serve` printed: `Authorization: Bearer TOKEN`. Errors
are answered as `{"error": "...", "kind": "..."}`, in words that say what to do and show no cell of
the data. Everything is in the server's private folder, and gone when it ends.
"""
_ERRORS: dict[int | str, dict[str, Any]] = {
    code: {"model": models.ErrorAnswer, "description": what}
    for code, what in (
        (401, "The token is missing or wrong."),
        (404, "There is no such source, run or file."),
        (409, "Not yet: the file is still being read, or the run has not ended."),
        (413, "The request is larger than the server takes."),
        (422, "The file, the policy or a parameter is not right; the message says why."),
    )
}
Names = Annotated[list[str] | None, Query(description="Columns; those of the policy by default.")]


def text_options(
    separator: Annotated[str | None, Query(description="Found when left out.")] = None,
    encoding: Annotated[str | None, Query(description="UTF-8 when left out.")] = None,
    header: Annotated[
        bool | None,
        Query(
            description="Whether the first line has the names of the columns. When left out it "
            "must, and one that looks like a record is refused."
        ),
    ] = None,
) -> TextOptions:
    """How the text files of a request are read."""
    return TextOptions(separator=separator, encoding=encoding, header=header)


def interface(workspace: Workspace, settings: Settings) -> FastAPI:
    """The application that answers under /api/v1."""
    api = FastAPI(
        title="incrowd",
        version=__version__,
        summary="Turn tables of patients into data that may be shared.",
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        responses=_ERRORS,
        openapi_tags=[
            {"name": "sources", "description": "Tables, and the policy of each."},
            {"name": "runs", "description": "Releases in the making, and made."},
            {"name": "server", "description": "The server itself."},
        ],
        swagger_ui_oauth2_redirect_url=None,
        # The guard has looked already; this is for the document.
        dependencies=[Depends(HTTPBearer(auto_error=False, description="The token."))],
    )
    _add_errors(api)
    _add_server(api, workspace, settings)
    sources, runs = APIRouter(tags=["sources"]), APIRouter(tags=["runs"])
    _add_sources(sources, workspace)
    _add_source(sources, workspace)
    _add_policies(sources, workspace)
    _add_hierarchies(sources, workspace)
    add_runs(runs, workspace)
    api.include_router(sources)
    api.include_router(runs)
    return api


def _add_errors(api: FastAPI) -> None:
    @api.exception_handler(IncrowdError)
    def told(_request: Request, error: IncrowdError) -> JSONResponse:
        return JSONResponse(
            {"error": str(error), "kind": type(error).__name__}, status_code=_status(error)
        )

    @api.exception_handler(HTTPException)
    def refused(_request: Request, error: HTTPException) -> JSONResponse:
        return JSONResponse({"error": error.detail}, error.status_code, error.headers)

    @api.exception_handler(RequestValidationError)
    def malformed(_request: Request, error: RequestValidationError) -> JSONResponse:
        # What was sent is not repeated.
        told = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        return JSONResponse({"error": told, "kind": "ParameterError"}, status_code=422)

    @api.exception_handler(Exception)
    def fault(_request: Request, error: Exception) -> JSONResponse:
        told = f"A fault in incrowd itself ({type(error).__name__})."
        return JSONResponse({"error": told, "kind": "EngineError"}, status_code=500)


def _status(error: IncrowdError) -> int:
    if isinstance(error, UnknownError):
        return 404
    if isinstance(error, NotReadyError):
        return 409
    if isinstance(error, TooLargeError):
        return 413
    return 422 if isinstance(error, InputError | PrivacyError | VerificationError) else 500


def _add_server(api: FastAPI, workspace: Workspace, settings: Settings) -> None:
    @api.get("/status", tags=["server"])
    def status() -> models.Status:
        """What the server holds."""
        states = [run.state for run in workspace.runs]
        return models.Status(
            version=__version__,
            sources=len(workspace.sources),
            runs=len(states),
            running=sum(state in ("waiting", "running") for state in states),
            upload_limit=settings.upload_limit,
        )

    @api.get("/reference", include_in_schema=False)
    def reference() -> HTMLResponse:
        return HTMLResponse(reference_page(api.openapi(), PLACE))


def _add_sources(api: APIRouter, workspace: Workspace) -> None:
    @api.get("/sources")
    def list_sources() -> list[models.SourceAnswer]:
        """All tables, the oldest first."""
        return [models.SourceAnswer.of(source) for source in workspace.sources]

    schema = {"type": "string", "format": "binary"}
    body = _body("application/octet-stream", schema, "The file as it is: no form around it.")

    @api.post("/sources", status_code=201, openapi_extra=body)
    async def add_source(
        request: Request,
        name: Annotated[
            str,
            Query(
                min_length=1,
                max_length=255,
                description="What the file is called: .csv, .tsv, .txt (also .gz), .parquet.",
                examples=["patients.csv"],
            ),
        ],
        text: Annotated[TextOptions, Depends(text_options)],
        wait: Wait = 20,
    ) -> models.SourceAnswer:
        """Send a file. It is streamed to disk and read; a bad one is refused with the reason.

        A large one is still being read when `wait` is over: ask for it again.
        """
        with workspace.receive(name) as upload:
            async for piece in _pieces(request):
                await asyncio.to_thread(upload.write, piece)
        source = await asyncio.to_thread(workspace.received, upload, text)
        await until(source.studied.is_set, wait)
        return await _unless_failed(source, workspace)

    files = {"type": "object", "properties": {"file": {"type": "array", "items": schema}}}
    form = _body("multipart/form-data", files, "A part with a file name for each file.")

    @api.post("/sources/linked", status_code=201, openapi_extra=form)
    async def add_linked(
        request: Request,
        text: Annotated[TextOptions, Depends(text_options)],
        wait: Wait = 20,
    ) -> models.SourceAnswer:
        """Send several files at once that are tables of the same patients.

        Which of them holds the patients, and by which columns the others name them, is told by
        their values. Files that name nobody are left out, with a warning.
        """
        with workspace.receive_several() as uploads:
            await take_files(request, _pieces(request), uploads)
        source = await asyncio.to_thread(workspace.received_several, uploads, text)
        await until(source.studied.is_set, wait)
        return await _unless_failed(source, workspace)

    @api.post("/sources/demo", status_code=201)
    async def add_demo(wait: Wait = 20) -> models.SourceAnswer:
        """Take the bundled registry of generated patients, with its hierarchies and policy."""
        source = workspace.add_demo()
        await until(source.studied.is_set, wait)
        return models.SourceAnswer.of(source)


def _add_source(api: APIRouter, workspace: Workspace) -> None:
    @api.get("/sources/{source}")
    async def get_source(source: str, wait: Wait = 0) -> models.SourceAnswer:
        """A table: its state, its columns, the role guessed for each and why."""
        found = workspace.source(source)
        await until(found.studied.is_set, wait)
        return models.SourceAnswer.of(found)

    @api.delete("/sources/{source}", status_code=204)
    def remove_source(source: str) -> None:
        """Wipe a table with all its runs."""
        workspace.remove_source(source)

    @api.get("/sources/{source}/rows")
    def preview(
        source: str,
        rows: Annotated[int, Query(ge=1, le=1000)] = 20,
        table: Annotated[
            str | None, Query(description="One of several; that of the patients if left out.")
        ] = None,
    ) -> models.RowsAnswer:
        """The first rows, raw: they are for the person who may see them."""
        found = workspace.source(source)
        columns, cells = found.preview(rows, table)
        return models.RowsAnswer(
            columns=columns,
            rows=cells,
            total=found.rows_of(table),
            table=table or next((each.name for each in found.tables), None),
            tables=[each.name for each in found.tables],
        )

    @api.get("/sources/{source}/risk")
    def risk(source: str, quasi: Names = None, sensitive: Names = None) -> models.RiskAnswer:
        """How exposed the records are, under the roles of the policy or other ones."""
        found = workspace.source(source).risk(quasi, sensitive)
        return models.RiskAnswer.model_validate(found)


def _add_policies(api: APIRouter, workspace: Workspace) -> None:
    yaml = {"content": {"application/yaml": {"schema": {"type": "string"}}}}

    @api.get(
        "/sources/{source}/policy",
        response_class=Response,
        responses={200: {**yaml, "description": "YAML"}},
    )
    def policy(source: str) -> Response:
        """The policy as a file that runs on the command line beside the table."""
        found = _ready(workspace, source)
        return Response(found.policy_text(), media_type="application/yaml")

    @api.put("/sources/{source}/policy", openapi_extra={"requestBody": {"required": True, **yaml}})
    async def set_policy(source: str, request: Request) -> models.DraftAnswer:
        """Take a policy file (YAML) in place of the policy; its `source:` is replaced."""
        found = _ready(workspace, source)
        text = _text(await _whole(request, SMALL), "The policy")
        await asyncio.to_thread(found.set_policy, text)
        return models.DraftAnswer(policy=found.draft, problem=found.problem)

    @api.get("/sources/{source}/draft")
    def draft(source: str) -> models.DraftAnswer:
        """The policy as JSON."""
        found = _ready(workspace, source)
        return models.DraftAnswer(policy=found.draft, problem=found.problem)

    @api.put("/sources/{source}/draft")
    def set_draft(source: str, policy: Annotated[dict[str, Any], Body()]) -> models.DraftAnswer:
        """Take a policy as JSON, of the shape of a policy file."""
        found = _ready(workspace, source)
        found.set_policy(policy)
        return models.DraftAnswer(policy=found.draft, problem=found.problem)


def _add_hierarchies(api: APIRouter, workspace: Workspace) -> None:
    told = "One line per value: value, level 1, level 2 and so on."
    body = _body("text/csv", {"type": "string"}, told)

    @api.put("/sources/{source}/hierarchies/{attribute:path}", openapi_extra=body)
    async def add_hierarchy(
        source: str,
        attribute: str,
        request: Request,
        name: Annotated[str, Query(max_length=255)] = "hierarchy.csv",
    ) -> models.CoverageAnswer:
        """Send the hierarchy file of a column; answers how many of its values it covers."""
        found = workspace.source(source)
        content = await _whole(request, HIERARCHY_LIMIT)
        coverage = await asyncio.to_thread(found.add_hierarchy, attribute, name, BytesIO(content))
        return models.CoverageAnswer.of(coverage)

    @api.get("/sources/{source}/hierarchies/{attribute:path}")
    def hierarchy(
        source: str,
        attribute: str,
        breadth: Annotated[int, Query(ge=1, le=200)] = 12,
        depth: Annotated[int, Query(ge=1, le=20)] = 4,
    ) -> models.TreeAnswer:
        """The hierarchy of a column as a tree, and how much of the column it covers."""
        found = workspace.source(source)
        return models.TreeAnswer.of(found.hierarchy_tree(attribute, breadth=breadth, depth=depth))


def _body(media: str, schema: dict[str, Any], description: str) -> dict[str, Any]:
    """What the document says of a request that is a file."""
    content = {media: {"schema": schema}}
    return {"requestBody": {"required": True, "description": description, "content": content}}


def _ready(workspace: Workspace, number: str) -> WorkspaceSource:
    source = workspace.source(number)
    source.require_ready()
    return source


async def _unless_failed(source: WorkspaceSource, workspace: Workspace) -> models.SourceAnswer:
    if source.state == "failed":
        await asyncio.to_thread(workspace.remove_source, source.id)
        raise SourceError(source.message)
    return models.SourceAnswer.of(source)


async def _pieces(request: Request) -> AsyncIterator[bytes]:
    """The body in pieces of about a megabyte."""
    waiting: list[bytes] = []
    size = 0
    async for piece in request.stream():
        waiting.append(piece)
        size += len(piece)
        if size >= _PIECE:
            yield b"".join(waiting)
            waiting, size = [], 0
    yield b"".join(waiting)


async def _whole(request: Request, limit: int) -> bytes:
    """The whole body; raises TooLargeError beyond the limit."""
    pieces: list[bytes] = []
    size = 0
    async for piece in _pieces(request):
        size += len(piece)
        if size > limit:
            raise TooLargeError(f"More than {limit >> 20} MB are not taken here.")
        pieces.append(piece)
    return b"".join(pieces)


def _text(content: bytes, what: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{what} is not UTF-8 text. Save it as UTF-8.") from None
