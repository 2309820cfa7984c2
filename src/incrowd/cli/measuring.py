"""Commands that judge and use a release: verify, evaluate."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from incrowd.cli.app import AsJson, Encoding, Query, Quiet, Separator, app
from incrowd.console import Output
from incrowd.errors import InputError


@app.command(epilog="Example: incrowd verify release")
def verify(
    folder: Annotated[Path, typer.Argument(help="The release folder.")],
    key: Annotated[
        Path | None, typer.Option("--key", help="Public key (PEM) that must have signed it.")
    ] = None,
    original: Annotated[
        str | None,
        typer.Option(
            "--original", help="The source, for promises that the files alone cannot show."
        ),
    ] = None,
    query: Query = None,
    separator: Separator = None,
    encoding: Encoding = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Judge a release from its published files and its manifest alone."""
    from incrowd.rendering.releases import show_verdict
    from incrowd.sources import read
    from incrowd.verify import verify as judge

    shown = Output(as_json, quiet)
    with shown.progress() as progress:
        progress("verifying", 0, 1)
        beside = (
            None
            if original is None
            else read(original, query=query, separator=separator, encoding=encoding)
        )
        verdict = judge(folder, key=key, original=beside)
    if not shown.result(verdict.as_dict()):
        show_verdict(verdict, shown)
    if not verdict.holds:
        if quiet and not as_json:
            for finding in verdict.broken:
                sys.stderr.write(f"{finding.promise}: {finding.detail}\n")
        raise typer.Exit(1)


@app.command(epilog="Example: incrowd evaluate release --original patients.csv")
def evaluate(
    folder: Annotated[Path, typer.Argument(help="The release folder.")],
    original: Annotated[
        str | None, typer.Option("--original", help="The source, for comparisons with it.")
    ] = None,
    classify: Annotated[
        bool,
        typer.Option(
            "--classify", help="Also how well decision trees learn the class (role: target)."
        ),
    ] = False,
    target: Annotated[
        str | None,
        typer.Option("--target", help="The class to predict, if several have that role or none."),
    ] = None,
    query: Query = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """How much of the data's value survived: the utility metrics."""
    from incrowd.rendering.utility import show_evaluation
    from incrowd.sources import read
    from incrowd.utility import evaluate as measure

    if target is not None and not classify:
        raise InputError("--target names the class that --classify predicts. Give both.")
    shown = Output(as_json, quiet)
    with shown.progress() as progress:
        progress("measuring", 0, 1)
        compared = original if query is None else read(original, query=query)
        found = measure(folder, compared, classification=classify, target=target, progress=progress)
    if not shown.result(found.as_dict()):
        show_evaluation(found, shown)
