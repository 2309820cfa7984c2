"""Commands of the attacker: risk and attack."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli.app import Header, OutputOptions, Query, SourceOption, app
from incrowd.cli.arguments import label_meanings, names, pairs, read_already
from incrowd.errors import InputError

if TYPE_CHECKING:
    from incrowd.attacks import BeforeAfter, Linkage, Similarity


@app.command(epilog="Example: incrowd risk patients.csv --quasi age,sex,zip --sensitive diagnosis")
def risk(
    source: Annotated[str, typer.Argument(help="A file, a database URL or a release folder.")],
    *,
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
    shown: OutputOptions,
) -> None:
    """How exposed is this file: the risk that its records are recognized."""
    from incrowd.attacks import risk as measure
    from incrowd.cli.output.attacks import show_risk
    from incrowd.cli.signals import guard_mapped_files
    from incrowd.sources import as_source

    guard_mapped_files(as_source(source).size)
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


@dataclass(frozen=True)
class _AttackOptions:
    """What the attacker has, and what the columns are."""

    on: Annotated[
        str | None,
        typer.Option("--on", help="Linkage: shared columns; name=other where they differ."),
    ] = None
    k: Annotated[int | None, typer.Option("--k", "-k", help="Linkage: count matches below k.")] = (
        None
    )
    policy: Annotated[
        Path | None,
        typer.Option("--policy", help="Linkage, similarity: the policy, for its hierarchies."),
    ] = None
    source: SourceOption = None
    level: Annotated[
        int | None, typer.Option("--level", help="Similarity: the level that has the categories.")
    ] = None
    quasi: Annotated[
        str | None, typer.Option("--quasi", help="Of a raw file: its quasi-identifiers.")
    ] = None
    sensitive: Annotated[
        str | None, typer.Option("--sensitive", help="Elimination: sensitive attributes.")
    ] = None
    original: Annotated[
        str | None,
        typer.Option("--original", help="Elimination: the source, to attack it as well."),
    ] = None
    header: Header = None

    def refuse(self, chosen: str, *others: str) -> None:
        """Refuse options that mean nothing beside the chosen one."""
        given = [f"--{name}" for name in others if getattr(self, name) is not None]
        if given:
            raise InputError(f"{', '.join(given)} cannot be used with {chosen}.")


@app.command(
    epilog="Examples: incrowd attack release --linkage voters.csv --on age,sex,zip; "
    "incrowd attack release --eliminate 2 --original patients.csv"
)
def attack(
    target: Annotated[str, typer.Argument(help="A release folder, or a raw file to compare.")],
    *,
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
    known: _AttackOptions,
    shown: OutputOptions,
) -> None:
    """Play an attack: link with an identified list, rule out values, or read groups."""
    from incrowd.cli.output.attacks import show_elimination, show_linkage, show_similarity

    if sum(each is not None for each in (linkage, eliminate, similarity)) != 1:
        raise InputError(
            "Choose the attack: --linkage LIST, --eliminate N, or --similarity ATTRIBUTE."
        )
    attacked = read_already(target, known.header)
    if similarity is not None:
        alike = _similar(attacked, similarity, known)
        if not shown.result(alike.as_dict()):
            show_similarity(alike, shown)
    elif linkage is not None:
        linked = _linked(attacked, linkage, known, shown)
        if not shown.result(linked.as_dict()):
            show_linkage(linked, shown)
    else:
        found = _eliminated(attacked, eliminate or 0, known, shown)
        before = found.before if known.original else None
        told = {**found.after.as_dict(), "before": before.as_dict() if before else None}
        if not shown.result(told):
            show_elimination(found.after, before, shown)


def _similar(target: Any, attribute: str, known: _AttackOptions) -> Similarity:
    from incrowd.attacks import similarity
    from incrowd.attacks.categories import policy_hierarchy

    known.refuse("--similarity", "source", "on", "k", "sensitive", "original")
    hierarchy = None if known.policy is None else policy_hierarchy(known.policy, attribute)
    return similarity(
        target,
        sensitive=attribute,
        hierarchy=hierarchy,
        level=known.level,
        quasi=names(known.quasi),
    )


def _linked(target: Any, listed: Path, known: _AttackOptions, shown: OutputOptions) -> Linkage:
    from incrowd.attacks import link

    known.refuse("--linkage", "quasi", "sensitive", "original", "level")
    with shown.progress() as progress:
        progress("linking", 0, 1)
        meanings = label_meanings(known.policy, known.source)
        people = read_already(listed, known.header)
        return link(target, people, on=pairs(known.on), k=known.k, hierarchies=meanings)


def _eliminated(
    target: Any, values: int, known: _AttackOptions, shown: OutputOptions
) -> BeforeAfter:
    """The attack on a table, and on its original if there is one (else on itself again)."""
    from incrowd.attacks import BeforeAfter, eliminate, eliminate_before_after

    known.refuse("--eliminate", "source", "on", "k", "policy", "level")
    sensitive = names(known.sensitive)
    with shown.progress() as progress:
        progress("ruling out values", 0, 1)
        original = read_already(known.original, known.header)
        if original is None:
            found = eliminate(target, values=values, quasi=names(known.quasi), sensitive=sensitive)
            return BeforeAfter(found, found)
        known.refuse("--original", "quasi")
        return eliminate_before_after(target, original, values=values, sensitive=sensitive)
