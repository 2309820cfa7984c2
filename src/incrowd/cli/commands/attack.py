"""Commands of the attacker: risk and attack."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd._runtime.console import Output
from incrowd.cli.app import AsJson, Header, Query, Quiet, Source, app
from incrowd.cli.arguments import label_meanings, names, pairs, read_already
from incrowd.errors import InputError

if TYPE_CHECKING:
    from incrowd.attacks import BeforeAfter, Elimination, Similarity


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
    memory: Annotated[
        str | None,
        typer.Option("--memory", help="Count within so much memory, as in 4GB, and on disk."),
    ] = None,
    query: Query = None,
    header: Header = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """How exposed is this file: the risk that its records are recognized."""
    from incrowd.attacks import risk as measure
    from incrowd.cli.output.attacks import show_risk
    from incrowd.cli.signals import guard_mapped_files
    from incrowd.sources.source_guard import Watch

    shown = Output(as_json, quiet)
    guard_mapped_files(Watch(source).size)
    with shown.progress() as progress:
        found = measure(
            source,
            quasi=names(quasi),
            sensitive=names(sensitive),
            population=read_already(population, header),
            sampling_fraction=sampling_fraction,
            query=query,
            header=header,
            memory=memory,
            progress=progress,
        )
    if not shown.result(found.as_dict()):
        show_risk(found, shown)


@app.command(
    epilog="Examples: incrowd attack release --linkage voters.csv --on age,sex,zip; "
    "incrowd attack release --eliminate 2 --original patients.csv"
)
def attack(
    target: Annotated[str, typer.Argument(help="A release folder, or a raw file to compare.")],
    linkage: Annotated[
        Path | None, typer.Option("--linkage", help="An identified list, such as a voter list.")
    ] = None,
    eliminate: Annotated[
        int | None,
        typer.Option("--eliminate", help="How many sensitive values the attacker can rule out."),
    ] = None,
    similarity: Annotated[
        str | None,
        typer.Option("--similarity", help="A sensitive attribute whose groups are read."),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option("--on", help="Linkage: shared columns; name=other where they differ."),
    ] = None,
    k: Annotated[
        int | None, typer.Option("--k", "-k", help="Linkage: count matches below k.")
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option("--policy", help="Linkage, similarity: the policy, for its hierarchies."),
    ] = None,
    source: Source = None,
    level: Annotated[
        int | None, typer.Option("--level", help="Similarity: the level that has the categories.")
    ] = None,
    quasi: Annotated[
        str | None, typer.Option("--quasi", help="Of a raw file: its quasi-identifiers.")
    ] = None,
    sensitive: Annotated[
        str | None, typer.Option("--sensitive", help="Elimination: sensitive attributes.")
    ] = None,
    original: Annotated[
        str | None,
        typer.Option("--original", help="Elimination: the source, to attack it as well."),
    ] = None,
    header: Header = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Play an attack: link with an identified list, rule out values, or read groups."""
    from incrowd.attacks import link
    from incrowd.cli.output.attacks import show_elimination, show_linkage, show_similarity

    shown = Output(as_json, quiet)
    if sum(each is not None for each in (linkage, eliminate, similarity)) != 1:
        raise InputError(
            "Choose the attack: --linkage LIST, --eliminate N, or --similarity ATTRIBUTE."
        )
    attacked = read_already(target, header)
    if similarity is not None:
        _refuse("--similarity", source=source, on=on, k=k, sensitive=sensitive, original=original)
        alike = _similar(attacked, similarity, quasi, policy, level)
        if not shown.result(alike.as_dict()):
            show_similarity(alike, shown)
        return
    if linkage is not None:
        _refuse("--linkage", quasi=quasi, sensitive=sensitive, original=original, level=level)
        with shown.progress() as progress:
            progress("linking", 0, 1)
            meanings = label_meanings(policy, source)
            known = read_already(linkage, header)
            linked = link(attacked, known, on=pairs(on), k=k, hierarchies=meanings)
        if not shown.result(linked.as_dict()):
            show_linkage(linked, shown)
        return
    _refuse("--eliminate", source=source, on=on, k=k, policy=policy, level=level)
    with shown.progress() as progress:
        progress("ruling out values", 0, 1)
        compared = read_already(original, header)
        found = _eliminated(attacked, eliminate or 0, quasi, sensitive, compared)
    told = {**found.after.as_dict(), "before": found.before.as_dict() if original else None}
    if not shown.result(told):
        show_elimination(found.after, found.before if original else None, shown)


def _similar(
    target: Any, attribute: str, quasi: str | None, policy: Path | None, level: int | None
) -> Similarity:
    from incrowd.attacks import similarity
    from incrowd.attacks.categories import policy_hierarchy

    hierarchy = None if policy is None else policy_hierarchy(policy, attribute)
    return similarity(
        target, sensitive=attribute, hierarchy=hierarchy, level=level, quasi=names(quasi)
    )


def _eliminated(
    target: Any, values: int, quasi: str | None, sensitive: str | None, original: Any
) -> BeforeAfter:
    """The attack on a table, and on its original if there is one (else on itself again)."""
    from incrowd.attacks import BeforeAfter, eliminate, eliminate_before_after

    if original is None:
        found: Elimination = eliminate(
            target, values=values, quasi=names(quasi), sensitive=names(sensitive)
        )
        return BeforeAfter(found, found)
    _refuse("--original", quasi=quasi)
    return eliminate_before_after(target, original, values=values, sensitive=names(sensitive))


def _refuse(chosen: str, **others: object) -> None:
    """Refuse options that mean nothing beside the chosen one."""
    given = [f"--{name}" for name, value in others.items() if value is not None]
    if given:
        raise InputError(f"{', '.join(given)} cannot be used with {chosen}.")
