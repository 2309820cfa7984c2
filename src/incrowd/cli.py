"""The command line: parses, calls, prints. Nothing imports it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd._version import __version__
from incrowd.console import Output
from incrowd.errors import IncrowdError, InputError

if TYPE_CHECKING:
    from incrowd.methods.top_down_specialization import Step
    from incrowd.preparation import Prepared

_INTERRUPTED = 130

app = typer.Typer(
    name="incrowd",
    help="Turn tables of patients into data that may be shared.",
    epilog="Start with [bold]incrowd demo[/bold], then [bold]incrowd init your-data.csv[/bold].",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
)
policy_app = typer.Typer(help="About policy files.", no_args_is_help=True)
app.add_typer(policy_app, name="policy")

AsJson = Annotated[bool, typer.Option("--json", help="Results as JSON on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
Separator = Annotated[
    str | None, typer.Option("--separator", help="Separator of a text file; found when left out.")
]
Encoding = Annotated[
    str | None, typer.Option("--encoding", help="Encoding of a text file; UTF-8 when left out.")
]
Query = Annotated[str | None, typer.Option("--query", help="SQL that selects the records.")]


def _version(show: bool) -> None:
    if show:
        sys.stdout.write(f"incrowd {__version__}\n")
        raise typer.Exit


@app.callback()
def _main(
    _: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass


@app.command(epilog="Example: incrowd demo")
def demo(
    folder: Annotated[
        Path, typer.Option("--output", "-o", help="Where to put data, policy and release.")
    ] = Path("incrowd-demo"),
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """The main job on a bundled registry of patients, with nothing to prepare."""
    from incrowd.demonstration import demonstrate

    demonstrate(folder, Output(as_json, quiet))


@app.command(epilog="Example: incrowd init patients.csv -o policy.yaml")
def init(
    source: Annotated[str, typer.Argument(help="CSV, TSV or Parquet file, or a database URL.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The policy file to write.")
    ] = None,
    k: Annotated[int, typer.Option("--k", "-k", help="The k of the proposed k-anonymity.")] = 5,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing policy.")] = False,
    query: Query = None,
    separator: Separator = None,
    encoding: Encoding = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Profile a file and write a starting policy, with a guess and a reason for every role."""
    from incrowd.profiling import profile, starting_policy
    from incrowd.rendering import show_profile
    from incrowd.sources import is_database_url

    shown = Output(as_json, quiet)
    name = "policy.yaml" if is_database_url(source) else f"{Path(source).stem}.yaml"
    target = output or Path(name)
    if target.exists() and not force:
        raise InputError(f"'{target}' exists. Choose another name with -o, or replace it: --force.")
    found = profile(source, query=query, separator=separator, encoding=encoding)
    if is_database_url(source):
        named = source
    else:
        named = os.path.relpath(Path(source).resolve(), target.resolve().parent)
    text = starting_policy(found, source_name=named, policy_name=str(target), k=k)
    target.write_text(text, encoding="utf-8")
    if not shown.result({"policy": str(target), **found.as_dict()}):
        show_profile(found, target, shown)


@app.command(epilog="Example: incrowd anonymize policy.yaml -o release")
def anonymize(
    policy: Annotated[Path, typer.Argument(help="The policy file (YAML).")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The release folder to write.")
    ] = None,
    sign: Annotated[
        Path | None, typer.Option("--sign", help="Ed25519 private key (PEM) to sign with.")
    ] = None,
    trace: Annotated[
        bool,
        typer.Option("--trace", help="Show every step of top-down-specialization."),
    ] = False,
    steps: Annotated[
        int | None,
        typer.Option("--steps", min=0, help="Stop top-down-specialization after this many steps."),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Make a release: anonymize, verify from the written files, and only then publish."""
    from incrowd.anonymization import anonymize as run
    from incrowd.anonymization import source_of, specialize
    from incrowd.policy import Policy
    from incrowd.publish.folder import refuse_unsafe_output
    from incrowd.rendering import release_summary, show_release, show_steps

    shown = Output(as_json, quiet)
    wanted = Policy.from_file(policy)
    source = source_of(wanted)
    place = output if output is not None else wanted.base / wanted.output
    refuse_unsafe_output(place, source if isinstance(source, Path) else None)
    for remark in wanted.remarks:
        shown.message(remark)
    made: list[Step] | None = None
    with shown.progress() as progress:
        if trace or steps is not None:
            search = specialize(source, wanted, progress=progress)
            made = list(islice(search, steps))
            release = search.release()
        else:
            release = run(source, wanted, progress=progress)
        verdict = release.save(
            place,
            source=source if isinstance(source, Path) else None,
            sign=sign,
            progress=lambda stage: progress(stage, 0, 1),
        )
    summary = release_summary(release, verdict, place)
    if trace and made is not None:
        summary["trace"] = [step.as_dict() for step in made]
    if not shown.result(summary):
        if trace and made is not None:
            show_steps(made, release.manifest["method"]["order"], shown)
        show_release(release, verdict, place, shown)


@app.command(epilog="Example: incrowd verify release")
def verify(
    folder: Annotated[Path, typer.Argument(help="The release folder.")],
    key: Annotated[
        Path | None, typer.Option("--key", help="Public key (PEM) that must have signed it.")
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Judge a release from its published files and its manifest alone."""
    from incrowd.rendering import show_verdict
    from incrowd.verify import verify as judge

    shown = Output(as_json, quiet)
    with shown.progress() as progress:
        progress("verifying", 0, 1)
        verdict = judge(folder, key=key)
    if not shown.result(verdict.as_dict()):
        show_verdict(verdict, shown)
    if not verdict.holds:
        if quiet and not as_json:
            broken = [finding for finding in verdict.findings if not finding.holds]
            for finding in broken:
                sys.stderr.write(f"{finding.promise}: {finding.detail}\n")
        raise typer.Exit(1)


@app.command(epilog="Example: incrowd risk patients.csv --quasi age,sex,zip --sensitive diagnosis")
def risk(
    source: Annotated[str, typer.Argument(help="A file, a database URL or a release folder.")],
    quasi: Annotated[
        str | None, typer.Option("--quasi", help="Quasi-identifiers, separated by commas.")
    ] = None,
    sensitive: Annotated[
        str | None, typer.Option("--sensitive", help="Sensitive attributes, by commas.")
    ] = None,
    population: Annotated[
        Path | None, typer.Option("--population", help="A file of the whole population.")
    ] = None,
    sampling_fraction: Annotated[
        float | None,
        typer.Option("--sampling-fraction", help="The share of the population in the file."),
    ] = None,
    query: Query = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """How exposed is this file: the risk that its records are recognized."""
    from incrowd.attacks import risk as measure
    from incrowd.rendering import show_risk
    from incrowd.sources import read

    shown = Output(as_json, quiet)
    with shown.progress() as progress:
        progress("counting", 0, 1)
        found = measure(
            read(source, query=query) if query is not None else source,
            quasi=_names(quasi),
            sensitive=_names(sensitive),
            population=population,
            sampling_fraction=sampling_fraction,
        )
    if not shown.result(found.as_dict()):
        show_risk(found, shown)


@app.command(epilog="Example: incrowd attack release --linkage voters.csv --on age,sex,zip")
def attack(
    target: Annotated[str, typer.Argument(help="A release folder, or a raw file to compare.")],
    linkage: Annotated[
        Path, typer.Option("--linkage", help="An identified list, such as a voter list.")
    ],
    on: Annotated[
        str | None, typer.Option("--on", help="Shared columns; name=other where they differ.")
    ] = None,
    k: Annotated[int | None, typer.Option("--k", "-k", help="Count matches below k.")] = None,
    policy: Annotated[
        Path | None,
        typer.Option("--policy", help="The policy, to understand labels of its hierarchies."),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Play a linkage attack: match a release, or a raw file, with an identified list."""
    from incrowd.attacks import link
    from incrowd.rendering import show_linkage

    shown = Output(as_json, quiet)
    with shown.progress() as progress:
        progress("linking", 0, 1)
        found = link(target, linkage, on=_pairs(on), k=k, hierarchies=_label_meanings(policy))
    if not shown.result(found.as_dict()):
        show_linkage(found, shown)


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
    from incrowd.rendering import show_evaluation
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


@app.command(epilog="Example: incrowd data cancer-registry -o registry.csv --rows 10000")
def data(
    name: Annotated[str, typer.Argument(help="adult, blood-transfusions or cancer-registry.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write: .csv or .parquet.")
    ] = None,
    rows: Annotated[int | None, typer.Option("--rows", help="How many rows.")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of a generated data set.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    quiet: Quiet = False,
) -> None:
    """Write a bundled data set with its hierarchies and an example policy."""
    from incrowd import datasets
    from incrowd.sources import write

    shown = Output(quiet=quiet)
    info = datasets.describe(name)
    target = output or Path(f"{name}.csv")
    if target.exists() and not force:
        raise InputError(f"'{target}' exists. Choose another name with -o, or replace it: --force.")
    write(datasets.load(name, rows=rows, seed=seed), target)
    hierarchies = datasets.export_hierarchies(name, target.parent)
    shown.message(f"{target}: {info.title}. {info.attribution}")
    if hierarchies:
        shown.message(f"{hierarchies[0].parent}: {len(hierarchies)} hierarchies")
    policy = target.with_suffix(".yaml")
    if not policy.exists():
        text = datasets.policy(name).replace(f"source: {name}.csv", f"source: {target.name}")
        policy.write_text(text, encoding="utf-8")
        shown.message(f"{policy}: a policy that runs, incrowd anonymize {policy}")


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
    """Check a policy and its source without making a release."""
    from incrowd.policy import Policy

    prepared = _prepared(policy)
    table = prepared.table
    for remark in Policy.from_file(policy).remarks:
        Output(quiet=quiet).message(remark)
    Output(quiet=quiet).say(
        f"{policy} is legal and fits {table.name}: {table.records:,} records, "
        f"{len(table.of_role('quasi'))} quasi-identifiers, "
        f"{len(table.of_role('sensitive'))} sensitive attributes."
    )


def _names(text: str | None) -> list[str] | None:
    """The names in a list separated by commas."""
    if text is None:
        return None
    return [name.strip() for name in text.split(",") if name.strip()]


def _pairs(text: str | None) -> dict[str, str] | None:
    """Shared columns: each name, or name=other where the list calls it otherwise."""
    names = _names(text)
    if names is None:
        return None
    return {name.partition("=")[0]: name.partition("=")[2] or name for name in names}


def _label_meanings(policy: Path | None) -> dict[str, dict[str, list[str]]] | None:
    """For each quasi-identifier of a policy, the values under every label of its hierarchy."""
    if policy is None:
        return None
    prepared = _prepared(policy)
    return {
        column.name: prepared.hierarchies[column.name].meanings(column)
        for column in prepared.table.of_role("quasi")
    }


def _prepared(policy: Path) -> Prepared:
    """The source of a policy, read and coded."""
    from incrowd.anonymization import prepare_source, source_of
    from incrowd.policy import Policy

    wanted = Policy.from_file(policy)
    return prepare_source(source_of(wanted), wanted)


def main() -> None:
    """Run the command line; errors become one message and an exit code."""
    sys.exit(_guarded(app))


def _guarded(command: Callable[[], Any]) -> int:
    """The exit code of a command. No traceback: it could show cells of the data."""
    try:
        command()
        return 0
    except SystemExit as stop:
        if stop.code == _INTERRUPTED:
            sys.stderr.write("interrupted: nothing was written\n")
        return stop.code if isinstance(stop.code, int) else 0
    except IncrowdError as error:
        sys.stderr.write(f"error: {error}\n")
        return error.exit_code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError:
        sys.stderr.write("error: not enough memory; nothing was written\n")
        return 3
    except Exception as error:
        if os.environ.get("INCROWD_DEBUG"):
            raise
        place = _place(error)
        sys.stderr.write(
            f"error: a fault in incrowd itself ({type(error).__name__} at {place}); nothing was "
            "written. Set INCROWD_DEBUG=1 for a traceback, which may show cells of the data.\n"
        )
        return 3


def _place(error: BaseException) -> str:
    """The module and line where an error arose, without the values involved."""
    traceback = error.__traceback__
    place = "unknown"
    while traceback is not None:
        module = traceback.tb_frame.f_globals.get("__name__", "")
        if module.startswith("incrowd"):
            place = f"{module}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return place
