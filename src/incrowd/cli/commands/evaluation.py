"""Commands that judge and use a release: verify, evaluate, query, compare."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from incrowd._runtime.console import visible
from incrowd._runtime.spark_properties import person_properties
from incrowd.cli.app import (
    AcceptUnprotected,
    Header,
    LabelPolicy,
    MissingValues,
    OutputOptions,
    PictureFile,
    Query,
    SourceOption,
    SourceOptions,
    Spark,
    app,
)
from incrowd.cli.arguments import label_meanings, ranges, read_already
from incrowd.errors import InputError, ParameterError
from incrowd.verify import verify as judge


@app.command(epilog="Examples: incrowd verify release, incrowd verify release --engine spark")
def verify(
    folder: Annotated[Path, typer.Argument(help="The release folder.")],
    *,
    key: Annotated[
        Path | None, typer.Option("--key", help="Public key (PEM) that must have signed it.")
    ] = None,
    original: Annotated[
        str | None,
        typer.Option(
            "--original", help="The source, for promises that the files alone cannot show."
        ),
    ] = None,
    memory: Annotated[
        str | None, typer.Option("--memory", help="How much of it counting may take, as in 4GB.")
    ] = None,
    engine: Annotated[
        str, typer.Option("--engine", help="Who counts the records: duckdb or spark.")
    ] = "duckdb",
    spark: Spark = None,
    reading: SourceOptions,
    missing: MissingValues = None,
    shown: OutputOptions,
) -> None:
    """Judge a release from its published files and its manifest alone."""
    from incrowd._runtime.sizes import bytes_of
    from incrowd.cli.output.releases import show_verdict
    from incrowd.sources import read

    try:
        limit = None if memory is None else bytes_of(memory)
    except ValueError as error:
        raise ParameterError(f"--memory: {error}.") from None
    if engine not in ("duckdb", "spark"):
        raise ParameterError("--engine: must be duckdb or spark.")
    counting: Literal["duckdb", "spark"] = "spark" if engine == "spark" else "duckdb"
    given = person_properties(spark)
    if given and counting != "spark":
        raise ParameterError("--spark: is for --engine spark.")
    with shown.progress() as progress:
        progress("verifying", 0, 1)
        beside = (
            None if original is None else read(original, **vars(reading), missing_values=missing)
        )
        verdict = judge(
            folder, key=key, original=beside, memory=limit, engine=counting, spark=given
        )
    if not shown.result(verdict.as_dict()):
        show_verdict(verdict, shown)
    if not verdict.holds:
        if shown.quiet and not shown.as_json:
            for finding in verdict.broken:
                sys.stderr.write(visible(f"{finding.promise}: {finding.detail}\n"))
        raise typer.Exit(1)


@dataclass(frozen=True)
class _MeasureOptions:
    """What to measure of a release."""

    classify: Annotated[
        bool,
        typer.Option(
            "--classify", help="Also how well decision trees learn the class (role: target)."
        ),
    ] = False
    target: Annotated[
        str | None,
        typer.Option("--target", help="The class to predict, if several have that role or none."),
    ] = None
    queries: Annotated[
        int,
        typer.Option("--queries", min=0, help="Also the error of so many random counts: 8800."),
    ] = 0
    kl: Annotated[
        bool,
        typer.Option("--kl", help="Also how far the joint distribution is from the original's."),
    ] = False
    policy: Annotated[
        Path | None,
        typer.Option("--policy", help="The policy, to understand labels for --queries and --kl."),
    ] = None
    research: Annotated[
        bool,
        typer.Option("--research", help="Also the research value: rules and weights of --policy."),
    ] = False
    source: SourceOption = None

    def refuse_halves(self) -> None:
        """Refuse an option that means nothing without another."""
        if self.target is not None and not self.classify:
            raise InputError("--target names the class that --classify predicts. Give both.")
        if self.research and self.policy is None:
            raise InputError(
                "--research asks what a policy says of weights and rules: give --policy."
            )


@app.command(epilog="Example: incrowd evaluate release --original patients.csv")
def evaluate(
    folder: Annotated[Path, typer.Argument(help="The release folder.")],
    *,
    original: Annotated[
        str | None,
        typer.Option(
            "--original", help="The source, for comparisons with it; of linked tables their folder."
        ),
    ] = None,
    wanted: _MeasureOptions,
    query: Query = None,
    header: Header = None,
    missing: MissingValues = None,
    shown: OutputOptions,
) -> None:
    """How much of the data's value survived: the utility metrics."""
    from incrowd.cli.output.utility import show_evaluation
    from incrowd.sources import read
    from incrowd.utility import evaluate as measure
    from incrowd.utility import research_value

    wanted.refuse_halves()
    with shown.progress() as progress:
        progress("measuring", 0, 1)
        compared = (
            read_already(original, header, missing)
            if query is None
            else read(original, query=query, header=header, missing_values=missing)
        )
        found = measure(
            folder,
            compared,
            classification=wanted.classify,
            target=wanted.target,
            queries=wanted.queries,
            kl=wanted.kl,
            hierarchies=label_meanings(wanted.policy, wanted.source),
            progress=progress,
        )
        beside = wanted.source if compared is None else compared
        asked = wanted.policy if wanted.research else None
        value = research_value(folder, asked, beside) if asked else None
    told = found.as_dict()
    if value is not None:
        told["research_value"] = value.as_dict()
    if not shown.result(told):
        show_evaluation(found, shown)
        if value is not None:
            shown.plain("\n".join(value.explain()))


@app.command(epilog="Example: incrowd query release \"age between 40 and 60 and disease = 'Flu'\"")
def query(
    folder: Annotated[Path, typer.Argument(help="The release folder.")],
    *,
    conditions: Annotated[
        str, typer.Argument(help="Conditions joined by and; all are counted without any.")
    ] = "",
    events: Annotated[
        bool,
        typer.Option(
            "--events", help="Count rows that satisfy all, not the patients who have such a row."
        ),
    ] = False,
    policy: LabelPolicy = None,
    source: SourceOption = None,
    shown: OutputOptions,
) -> None:
    """Count records or patients of a release that satisfy conditions: how many, how sure."""
    from incrowd.cli.output.queries import show_estimate
    from incrowd.query import query as count

    with shown.progress() as progress:
        progress("counting", 0, 1)
        meanings = label_meanings(policy, source)
        found = count(folder, conditions, hierarchies=meanings, events=events)
    if not shown.result(found.as_dict()):
        show_estimate(found, shown)


@dataclass(frozen=True)
class _QueryOptions:
    """Random counts to ask of every release."""

    queries: Annotated[
        int, typer.Option("--queries", min=0, help="Random counts to ask; 0 for none.")
    ] = 8800
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the random counts.")] = 0


@app.command(
    epilog="Examples: incrowd compare anatomy.yaml generalized.yaml, "
    "incrowd compare policy.yaml --over k=2,5,10,20 -o compared (then open compared/index.html)"
)
def compare(
    policies: Annotated[list[Path], typer.Argument(help="Policy files (YAML).")],
    *,
    source: Annotated[
        str | None, typer.Option("--source", help="The data, in place of that of the policies.")
    ] = None,
    over: Annotated[
        list[str] | None,
        typer.Option(
            "--over",
            metavar="NAME=VALUES",
            help="Vary a parameter, as in k=2,5,10; several give all combinations.",
        ),
    ] = None,
    counts: _QueryOptions,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A folder for releases, policies and index.html."),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace an earlier comparison in that folder.")
    ] = False,
    accept_unprotected: AcceptUnprotected = False,
    picture: PictureFile = None,
    shown: OutputOptions,
) -> None:
    """Run several policies, or one over a range, on one source and show them side by side."""
    from rich.markup import escape

    from incrowd.cli.output.queries import show_policies
    from incrowd.comparison import compare as run
    from incrowd.comparison.folder import PAGE
    from incrowd.comparison.panels import draw_policies
    from incrowd.report.drawing import refuse_unable

    if picture is not None:
        refuse_unable(picture)
    with shown.progress() as progress:
        found = run(
            policies,
            source,
            over=ranges(over or []),
            **vars(counts),
            output=output,
            replace=replace,
            accept_unprotected=accept_unprotected,
            progress=progress,
        )
    if picture is not None and any(each.problem is None for each in found):
        draw_policies(found, picture)
    if not shown.result({"policies": [each.as_dict() for each in found]}):
        show_policies(found, shown)
        if output is not None and any(each.problem is None for each in found):
            shown.say(f"Open [bold]{escape(str(output / PAGE))}[/] to see them in one picture.")
    if any(each.problem is not None for each in found):
        raise typer.Exit(1)
