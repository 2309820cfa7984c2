"""The command that opens the page: serve."""

from __future__ import annotations

import json
import secrets
import sys
import webbrowser
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incrowd.cli.app import Quiet, app
from incrowd.errors import InputError

if TYPE_CHECKING:
    from incrowd.serve.http.security import Settings


@dataclass(frozen=True)
class _AccessOptions:
    """What may be sent, by whom and under which names."""

    upload_limit: Annotated[
        str, typer.Option("--upload-limit", help="The largest file to take, as in 500MB.")
    ] = "2GB"
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", help="A name under which people reach it; may be repeated."),
    ] = None
    token_file: Annotated[
        Path | None,
        typer.Option("--token-file", help="A file with the token; a random one when left out."),
    ] = None

    @property
    def token(self) -> str:
        """What a person must know to be let in."""
        path = self.token_file
        if path is None:
            return secrets.token_urlsafe(32)
        try:
            return path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(
                f"--token-file '{path}' cannot be read: {type(error).__name__}."
            ) from None

    @property
    def limit(self) -> int:
        """The largest file, in bytes."""
        from incrowd._runtime.sizes import bytes_of

        try:
            return bytes_of(self.upload_limit)
        except ValueError:
            raise InputError(
                "--upload-limit is a number with a unit, as in 500MB or 2GB."
            ) from None


@app.command(epilog="Example: incrowd serve patients.csv")
def serve(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            help="A CSV, TSV or Parquet file to begin with; several, or a folder of them, are "
            "tables of the same patients."
        ),
    ] = None,
    *,
    host: Annotated[
        str, typer.Option("--host", help="Where to listen; other machines cannot reach this one.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option("--port", min=0, max=65535, help="8765 if it is free, when left out."),
    ] = None,
    open_page: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser.")
    ] = True,
    access: _AccessOptions,
    at_once: Annotated[
        int | None,
        typer.Option("--at-once", min=1, help="How many runs go on at the same time."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Address and token as one line of JSON on stdout.")
    ] = False,
    page: Annotated[
        bool, typer.Option("--page/--no-page", help="The page, or the HTTP interface alone.")
    ] = True,
    quiet: Quiet = False,
) -> None:
    """Open a page on this machine that leads from a file to a release; HTTP interface included."""
    from incrowd.profiling import several_tables
    from incrowd.serve.http.server import listen, need_libraries
    from incrowd.serve.http.server import serve as run
    from incrowd.sources.files import require_file

    need_libraries()
    from incrowd.serve.http.security import Settings

    given = [path for each in files or () for path in several_tables(each) or [each]]
    for each in given:
        require_file(each)
    names = tuple(access.allow_host or ())
    # Refuses before anything is opened.
    settings = Settings(host, port or 0, access.token, names, access.limit, page)
    listener = listen(host, port)
    settings = replace(settings, port=listener.getsockname()[1])

    def opened() -> None:
        if as_json:
            _tell_programs(settings)
        elif not quiet:
            _tell_people(settings, drawn=access.token_file is None)
        if open_page and page:
            webbrowser.open(settings.sign_in_address)

    with listener:
        run(listener, settings, files=given, at_once=at_once, opened=opened)
    if not (quiet or as_json):
        sys.stderr.write("Ended. Nothing is left of the data that was here.\n")


def _tell_programs(settings: Settings) -> None:
    told = {
        "address": settings.address,
        "token": settings.token,
        "open": settings.sign_in_address,
    }
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


def _tell_people(settings: Settings, *, drawn: bool) -> None:
    """Where the page is; a token that was drawn is in its address."""
    shown, secret = (settings.sign_in_address, "address") if drawn else (settings.address, "token")
    sys.stderr.write(
        f"The page is at {shown}\n"
        f"Keep the {secret} to yourself: who has it sees the data. Ctrl-C ends it, and "
        "wipes everything that was not downloaded.\n"
    )
    sys.stderr.flush()
