"""Commands about what is worth asking for: feasibility, patterns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from incrowd.cli.app import Header, LabelPolicy, OutputOptions, PictureFile, SourceOption, app
from incrowd.cli.arguments import label_meanings, names, read_already
from incrowd.errors import InputError


@app.command(
    epilog="Examples: incrowd feasibility --domains 2,2,2 --records 50 --k 3; "
    "incrowd feasibility --data patients.csv --quasi age,sex,zip --k 5"
)
def feasibility(
    k: Annotated[int, typer.Option("--k", "-k", help="How many records must look alike.")],
    *,
    domains: Annotated[
        str | None, typer.Option("--domains", help="Numbers of values, separated by commas.")
    ] = None,
    records: Annotated[
        int | None,
        typer.Option("--records", help="How many records; those of the file if left out."),
    ] = None,
    data: Annotated[str | None, typer.Option("--data", help="A file to learn from.")] = None,
    quasi: Annotated[
        str | None, typer.Option("--quasi", help="Its quasi-identifiers, separated by commas.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the simulation.")] = 0,
    header: Header = None,
    shown: OutputOptions,
) -> None:
    """How likely records with these attributes are k-anonymous as they are, and what would help."""
    from incrowd.cli.output.planning import show_feasibility
    from incrowd.feasibility import feasibility as ask
    from incrowd.feasibility import feasibility_of

    if (domains is None) == (data is None):
        raise InputError(
            "Give --domains 2,2,2 with --records N, or --data FILE with --quasi a,b,c."
        )
    with shown.progress() as progress:
        progress("simulating", 0, 1)
        if data is not None:
            if quasi is None:
                raise InputError("--data needs --quasi: the columns that an attacker may know.")
            table = read_already(data, header)
            found = feasibility_of(table, names(quasi) or [], k, records, seed=seed)
        else:
            if records is None or quasi is not None:
                raise InputError("--domains goes with --records N, and without --quasi.")
            found = ask(_numbers(domains or ""), records, k, seed=seed)
    if not shown.result(found.as_dict()):
        show_feasibility(found, shown)


@dataclass(frozen=True)
class _PatternOptions:
    """The rules that are looked for."""

    features: Annotated[
        str | None, typer.Option("--features", help="Attributes of the rules, by commas.")
    ] = None
    purity: Annotated[
        float, typer.Option("--purity", help="The least share of a bucket's leading class.")
    ] = 0.95
    depth: Annotated[int, typer.Option("--depth", help="The most conditions of a rule.")] = 4


@app.command(
    epilog="Examples: incrowd patterns patients.csv --control outcome; "
    "incrowd patterns release --control outcome --original patients.csv --picture patterns.svg"
)
def patterns(
    target: Annotated[str, typer.Argument(help="A release folder, or a raw file.")],
    control: Annotated[str, typer.Option("--control", help="The attribute to be told apart.")],
    *,
    original: Annotated[
        str | None, typer.Option("--original", help="The source: which of its patterns survive?")
    ] = None,
    rules: _PatternOptions,
    policy: LabelPolicy = None,
    source: SourceOption = None,
    picture: PictureFile = None,
    header: Header = None,
    shown: OutputOptions,
) -> None:
    """The rules that recursive partitioning finds, and which of the source's a release keeps."""
    from incrowd.report.drawing import refuse_unable
    from incrowd.report.patterns import draw_patterns
    from incrowd.utility import patterns as find

    if picture is not None:
        refuse_unable(picture)
    with shown.progress() as progress:
        progress("partitioning", 0, 1)
        found = find(
            read_already(target, header),
            control,
            original=read_already(original, header),
            features=names(rules.features),
            min_purity=rules.purity,
            max_depth=rules.depth,
            hierarchies=label_meanings(policy, source),
        )
    if picture is not None:
        draw_patterns(found, picture)
    if not shown.result(found.as_dict()):
        shown.plain(found.as_text())


def _numbers(text: str) -> list[int]:
    """The whole numbers in a list separated by commas."""
    try:
        return [int(each) for each in text.split(",")]
    except ValueError:
        raise InputError("--domains: write numbers of values, as in 2,2,2.") from None
