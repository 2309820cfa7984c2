"""The command that writes bundled data: a table with its policy, or histories in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incrowd._runtime.console import Output
from incrowd.cli.app import Quiet, app
from incrowd.errors import InputError, ParameterError

if TYPE_CHECKING:
    from incrowd.datasets import DatasetInfo, WrittenHistories


@app.command(
    epilog="Example: incrowd data cancer-registry -o registry.csv --rows 10000\n\n"
    "Example: incrowd data patient-histories -o patients --patients 100000"
)
def data(
    name: Annotated[
        str,
        typer.Argument(
            help="adult, adult-health, blood-transfusions, cancer-registry, death-certificates "
            "or patient-histories."
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The file to write, .csv or .parquet; of patient-histories the folder.",
        ),
    ] = None,
    rows: Annotated[
        int | None, typer.Option("--rows", help="How many rows; not of patient-histories.")
    ] = None,
    patients: Annotated[
        int | None, typer.Option("--patients", help="How many patients of patient-histories.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of a generated data set.")] = 0,
    dirt: Annotated[
        float | None,
        typer.Option(
            "--dirt",
            help="Share of the rows of patient-histories to make wrong, in ways that are counted.",
        ),
    ] = None,
    flat: Annotated[
        bool,
        typer.Option("--flat", help="Write patient-histories into one file, a row a condition."),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
    quiet: Quiet = False,
) -> None:
    """Write a bundled data set, with its hierarchies and an example policy where it has any."""
    from incrowd import datasets

    shown = Output(quiet=quiet)
    info = datasets.describe(name)
    if not info.tables:
        _refuse(
            {"--patients": patients is not None, "--dirt": dirt is not None, "--flat": flat}, name
        )
        _write_table(info, output or Path(f"{name}.csv"), rows, seed, force, shown)
        return
    if rows is not None:
        raise ParameterError(
            f"--rows goes with data sets of one table; '{name}' has several. Say how many "
            f"patients: --patients {max(rows, 1)}."
        )
    place = output or Path(name)
    if place.suffix in (".csv", ".parquet"):
        raise InputError(
            f"'{name}' is written into a folder, and '{place}' is called like a file. Name a "
            f"folder: -o {place.with_suffix('')}."
        )
    many, share = info.rows if patients is None else patients, dirt or 0.0
    with shown.progress() as progress:
        written = datasets.write_histories(
            place, many, seed=seed, dirt=share, flat=flat, replace=force, progress=progress
        )
    _tell(info, place, written, shown)


def _refuse(given: dict[str, bool], name: str) -> None:
    """Refuse options that say something of histories for a data set of one table."""
    for option in (each for each, asked in given.items() if asked):
        raise ParameterError(
            f"{option} goes with data sets of several tables, patient-histories; '{name}' is one "
            "table, and --rows says how many rows of it."
        )


def _tell(info: DatasetInfo, place: Path, written: WrittenHistories, shown: Output) -> None:
    """Tell what was written, and every kind of row that is wrong in it."""
    shown.message(f"{place}: {info.title}. {info.attribution}")
    for table, file in written.files.items():
        shown.message(f"{file}: {written.rows[table]:,} rows")
        for way, many in written.wrong[table].items():
            shown.message(f"  wrong on purpose: {many:,} × {way}")


def _write_table(
    info: DatasetInfo, target: Path, rows: int | None, seed: int, force: bool, shown: Output
) -> None:
    """Write a data set of one table, and beside it its hierarchies and a policy."""
    from incrowd import datasets
    from incrowd.sources import write

    name = info.name
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
