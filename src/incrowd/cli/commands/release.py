"""Commands on the way to a release: demo, init, anonymize, policy."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd._runtime.console import Output
from incrowd._runtime.sentences import listed
from incrowd._runtime.spark_session import giving
from incrowd.cli.app import (
    AcceptUnprotected,
    OutputOptions,
    Quiet,
    Replace,
    SourceOption,
    SourceOptions,
    Spark,
    app,
    policy_app,
)
from incrowd.errors import InputError

if TYPE_CHECKING:
    from incrowd.methods.options import AlternativeLevels, TraceStep
    from incrowd.pipeline import Plan
    from incrowd.policy import Policy


@app.command(epilog="Example: incrowd demo")
def demo(
    *,
    folder: Annotated[
        Path, typer.Option("--output", "-o", help="Where to put data, policy and release.")
    ] = Path("incrowd-demo"),
    replace: Replace = False,
    shown: OutputOptions,
) -> None:
    """The main job on a bundled registry of patients, with nothing to prepare."""
    from incrowd.cli.demo import demonstrate

    demonstrate(folder, shown, replace=replace)


@app.command(epilog="Example: incrowd init patients.csv -o policy.yaml")
def init(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="CSV, TSV or Parquet file, or a database URL; or a folder, or several files, of "
            "tables that hang on one of patients.",
        ),
    ],
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The policy file to write.")
    ] = None,
    k: Annotated[int, typer.Option("--k", "-k", help="The k of the proposed k-anonymity.")] = 5,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing policy.")] = False,
    reading: SourceOptions,
    shown: OutputOptions,
) -> None:
    """Profile files and write a starting policy, with a guess and a reason for every role."""
    from incrowd.cli.output.profiles import show_profile
    from incrowd.profiling import profile, several_tables, starting_policy
    from incrowd.sources import as_source

    source = sources[0]
    given = as_source(source)
    name = f"{Path(source).stem}.yaml" if given.by_path and not sources[1:] else "policy.yaml"
    target = output or Path(name)
    if target.exists() and not force:
        raise InputError(f"'{target}' exists. Choose another name with -o, or replace it: --force.")
    files = [Path(each) for each in sources] if sources[1:] else several_tables(source)
    if files:
        _init_linked(files, target, k, reading, shown)
        return
    found = profile(given, **vars(reading))
    beside = target.resolve().parent
    named = given.named(lambda path: os.path.relpath(Path(path).expanduser().resolve(), beside))
    text = starting_policy(found, source_name=named, policy_name=str(target), k=k)
    target.write_text(text, encoding="utf-8")
    if not shown.result({"policy": str(target), **found.as_dict()}):
        show_profile(found, target, shown)


def _init_linked(
    files: list[Path], target: Path, k: int, reading: SourceOptions, shown: Output
) -> None:
    """Profile several tables, and write one policy for all of them."""
    from incrowd.cli.output.profiles import show_links, show_profile
    from incrowd.profiling import linked_policy, profile_tables

    options = vars(reading)
    if options.pop("query", None) is not None:
        raise InputError("--query is for one database; of several files each is read whole.")
    found = profile_tables(files, **options)
    beside = target.resolve().parent
    named = {
        name: source.named(lambda path: os.path.relpath(Path(path).expanduser().resolve(), beside))
        for name, source in found.sources.items()
    }
    names = {name: path for name, path in named.items() if path is not None}
    text = linked_policy(found, source_names=names, policy_name=str(target), k=k)
    target.write_text(text, encoding="utf-8")
    if not shown.result({"policy": str(target), **found.as_dict()}):
        show_links(found, shown)
        show_profile(found.whole, target, shown)


@dataclass(frozen=True)
class _ReleaseOptions:
    """What is written, and where."""

    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The release folder to write.")
    ] = None
    replace: Replace = False
    sign: Annotated[
        Path | None, typer.Option("--sign", help="Ed25519 private key (PEM) to sign with.")
    ] = None
    key: Annotated[
        Path | None,
        typer.Option(
            "--key",
            help="A secret key (incrowd key new) that pseudonyms and shifts of dates follow from.",
        ),
    ] = None
    private_report: Annotated[
        Path | None,
        typer.Option(
            "--private-report",
            help="Also write a report that holds the source against the release: not for "
            "publication.",
        ),
    ] = None


@dataclass(frozen=True)
class _SearchOptions:
    """What is shown of the search, beside its end."""

    trace: Annotated[
        bool,
        typer.Option("--trace", help="Show every step of top-down-specialization."),
    ] = False
    steps: Annotated[
        int | None,
        typer.Option("--steps", min=0, help="Stop top-down-specialization after this many steps."),
    ] = None
    alternatives: Annotated[
        int | None,
        typer.Option("--alternatives", min=1, help="Also list so many of research-value's best."),
    ] = None
    picture: Annotated[
        Path | None, typer.Option("--picture", help="Draw the alternatives: .svg, .png or .html.")
    ] = None

    @property
    def stepwise(self) -> bool:
        """Whether single steps matter."""
        return self.trace or self.steps is not None

    def refuse_misfits(self, policy: Policy) -> None:
        """Refuse options that go with some methods alone, or not together."""
        from incrowd.methods.registry import METHOD_OPTIONS
        from incrowd.report.drawing import refuse_unable

        if self.alternatives is None and self.picture is not None:
            raise InputError("--picture draws alternatives: give --alternatives N too.")
        if self.alternatives is not None and (
            self.stepwise or not policy.method.has("alternatives")
        ):
            able = (name for name, each in METHOD_OPTIONS.items() if each.has("alternatives"))
            named = listed(able, quoted=False, last=" or ")
            raise InputError(f"--alternatives is for `method: {named}`, without steps.")
        if self.picture is not None:
            refuse_unable(self.picture)


@app.command(epilog="Example: incrowd anonymize policy.yaml -o release")
def anonymize(
    policy: Annotated[Path, typer.Argument(help="The policy file (YAML).")],
    *,
    written: _ReleaseOptions,
    source: SourceOption = None,
    spark: Spark = None,
    accept_unprotected: AcceptUnprotected = False,
    search: _SearchOptions,
    shown: OutputOptions,
) -> None:
    """Make a release: anonymize, verify from the written files, and only then publish."""
    from incrowd.cli.output.planning import show_alternatives
    from incrowd.cli.output.releases import show_release, show_steps
    from incrowd.cli.signals import guard_mapped_files
    from incrowd.pipeline import Plan, Specializing
    from incrowd.policy import Policy
    from incrowd.report.alternatives import draw_alternatives
    from incrowd.report.summary import release_summary

    wanted = Policy.from_file(policy)
    search.refuse_misfits(wanted)
    place = written.output if written.output is not None else wanted.base / wanted.output
    accept, key = accept_unprotected, written.key
    plan = Plan(source, wanted, place, replace=written.replace, accept_unprotected=accept, key=key)
    assert plan.place is not None
    _tell(plan, place, written, shown)
    guard_mapped_files(plan.source.size)
    made: list[TraceStep] = []
    others: Sequence[AlternativeLevels] = ()
    with giving(spark), shown.progress() as progress:
        job = plan.begin(progress)
        if search.stepwise:
            specializing = Specializing(job)
            made = list(islice(specializing, search.steps))
            release = specializing.release()
        else:
            release = job.searched()
        if search.alternatives is not None:
            others = wanted.method.alternatives(job.task, search.alternatives) or ()

        def confirm(_manifest: dict[str, Any]) -> None:
            if release.replaced is not None:
                shown.message(release.replaced.sentence())

        verdict = release.save(
            plan.place,
            replace=written.replace,
            sign=written.sign,
            private_report=written.private_report,
            progress=lambda stage: progress(stage, 0, 1),
            confirm=confirm,
        )
    for remark in release.remarks:
        shown.message(remark)
    summary = release_summary(release, verdict, place)
    if search.trace:
        summary["trace"] = [step.as_dict() for step in made]
    if written.private_report is not None:
        summary["private_report"] = str(written.private_report)
    if search.alternatives is not None:
        summary["alternatives"] = [each.as_dict() for each in others]
    if search.picture is not None:
        draw_alternatives(others, search.picture)
    if not shown.result(summary):
        if search.trace:
            show_steps(made, release.manifest["method"].get("order", "of the method"), shown)
        show_release(release, verdict, place, shown, written.private_report)
        if others:
            show_alternatives(others, shown)


def _tell(plan: Plan, place: Path, written: _ReleaseOptions, shown: OutputOptions) -> None:
    """Tell where the release goes and what the policy has of its own; refuse a report in it."""
    from incrowd.report.reporting import refuse_private_place

    wanted = plan.policy
    if written.output is None and wanted.base.resolve() not in place.resolve().parents:
        shown.message(f"The policy puts the release outside its own folder: {place.resolve()}")
    if written.private_report is not None:
        refuse_private_place(written.private_report, place, replace=written.replace)
    if plan.place is not None and place.is_symlink():
        shown.message(f"'{place}' is a link: the release goes to '{plan.place.folder}'.")
    for remark in wanted.remarks:
        shown.message(remark)
    if plan.engine.memory is not None or "engine" in wanted.model_fields_set:
        shown.message(f"engine: {plan.engine.name}, {plan.engine.why}.")


@policy_app.command("schema", epilog="Example: incrowd policy schema > policy.schema.json")
def policy_schema() -> None:
    """Print the JSON schema of a policy file."""
    import json

    from incrowd.policy import json_schema

    sys.stdout.write(json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n")


@policy_app.command("check", epilog="Example: incrowd policy check policy.yaml")
def policy_check(
    policy: Annotated[Path, typer.Argument(help="The policy file (YAML).")],
    quiet: Quiet = False,
) -> None:
    """Check a policy, its hierarchies and its file; connects to nothing and starts nothing."""
    from incrowd.engines.policy_check import check
    from incrowd.policy import Policy

    shown = Output(quiet=quiet)
    wanted = Policy.from_file(policy)
    checked = check(wanted)
    for remark in wanted.remarks:
        shown.message(remark)
    if checked.prepared is None:
        fits = f"{policy} is legal:"
    else:
        table = checked.prepared.table
        fits = f"{policy} is legal and fits {table.name}: {table.records:,} records,"
    quasi, sensitive = len(wanted.quasi), len(wanted.sensitive)
    shown.plain(f"{fits} {quasi} quasi-identifiers, {sensitive} sensitive attributes.")
    for each in checked.unchecked:
        shown.plain(f"Not checked: {each}.")
