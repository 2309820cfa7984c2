"""The command of the attacker: attack."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from incrowd.cli.app import Header, OutputOptions, SourceOption, app
from incrowd.cli.arguments import label_meanings, names, pairs, read_already
from incrowd.errors import InputError

if TYPE_CHECKING:
    from incrowd.attacks import BeforeAfter, EventLinkage, Linkage, Similarity


_Hierarchies = Annotated[
    Path | None,
    typer.Option(
        "--policy", help="Linkage, known events, similarity: the policy, for its hierarchies."
    ),
]
_Shared = Annotated[
    str | None,
    typer.Option(
        "--on", help="Linkage, known events: shared columns; name=other where they differ."
    ),
]
_BelowK = Annotated[int | None, typer.Option("--k", "-k", help="Of a list: count matches below k.")]
_RawQuasi = Annotated[
    str | None, typer.Option("--quasi", help="Of a raw file: its quasi-identifiers.")
]


@dataclass(frozen=True)
class _LinkageOptions:
    """What an attacker with an identified list has beside it."""

    chosen: ClassVar = "--linkage"

    on: _Shared = None
    k: _BelowK = None
    unit: Annotated[
        str | None,
        typer.Option("--unit", help="Linkage with a raw file: what tells its patients apart."),
    ] = None
    policy: _Hierarchies = None
    source: SourceOption = None

    def play(self, target: Any, people: Path, header: bool | None) -> Linkage:
        """Link a table with an identified list."""
        from incrowd.attacks import link

        meanings = label_meanings(self.policy, self.source)
        listed = read_already(people, header)
        return link(
            target, listed, on=pairs(self.on), k=self.k, hierarchies=meanings, unit=self.unit
        )


@dataclass(frozen=True)
class _KnownOptions:
    """What an attacker knows who has a list of people with some of their events."""

    chosen: ClassVar = "--known"

    person: Annotated[
        str | None,
        typer.Option("--person", help="Known events: the column that tells people apart."),
    ] = None
    on: _Shared = None
    k: _BelowK = None
    policy: _Hierarchies = None
    source: SourceOption = None

    def play(self, target: Any, people: Path, header: bool | None) -> EventLinkage:
        """Look people up by some of their events."""
        from incrowd.attacks import link_events

        return link_events(
            target,
            people,
            person=self.person,
            on=pairs(self.on),
            k=self.k,
            hierarchies=label_meanings(self.policy, self.source),
            header=header,
        )


@dataclass(frozen=True)
class _SimilarityOptions:
    """What says which values of an attribute are similar."""

    chosen: ClassVar = "--similarity"

    policy: _Hierarchies = None
    level: Annotated[
        int | None, typer.Option("--level", help="Similarity: the level that has the categories.")
    ] = None
    quasi: _RawQuasi = None

    def play(self, target: Any, attribute: str) -> Similarity:
        """Read the groups of a table."""
        from incrowd.attacks import similarity
        from incrowd.attacks.categories import policy_hierarchy

        tree = None if self.policy is None else policy_hierarchy(self.policy, attribute)
        return similarity(
            target, sensitive=attribute, hierarchy=tree, level=self.level, quasi=names(self.quasi)
        )


@dataclass(frozen=True)
class _EliminationOptions:
    """What the columns are of which values are ruled out, and what they were made from."""

    chosen: ClassVar = "--eliminate"

    quasi: _RawQuasi = None
    sensitive: Annotated[
        str | None, typer.Option("--sensitive", help="Elimination: sensitive attributes.")
    ] = None
    original: Annotated[
        str | None,
        typer.Option("--original", help="Elimination: the source, to attack it as well."),
    ] = None

    def play(self, target: Any, values: int, header: bool | None) -> BeforeAfter:
        """Rule values out of a table, and of its original if there is one (else of it again)."""
        from incrowd.attacks import BeforeAfter, eliminate, eliminate_before_after

        sensitive = names(self.sensitive)
        original = read_already(self.original, header)
        if original is None:
            found = eliminate(target, values=values, quasi=names(self.quasi), sensitive=sensitive)
            return BeforeAfter(found, found)
        if self.quasi is not None:
            _refuse(["quasi"], "--original")
        return eliminate_before_after(target, original, values=values, sensitive=sensitive)


_Options = _LinkageOptions | _KnownOptions | _SimilarityOptions | _EliminationOptions


def _refuse(given: Iterable[str], chosen: str) -> None:
    """Refuse options, if there are any, that mean nothing beside another."""
    if listed := ", ".join(f"--{name}" for name in given):
        raise InputError(f"{listed} cannot be used with {chosen}.")


def _refuse_those_of_others(attack: _Options, *others: _Options) -> None:
    """Refuse what was given for another attack and means nothing to this one."""
    own = asdict(attack)
    given = {name for other in others for name, value in asdict(other).items() if value is not None}
    _refuse(sorted(given - own.keys()), attack.chosen)


@app.command(
    epilog="Examples: incrowd attack release --linkage voters.csv --on age,sex,zip; "
    "incrowd attack release --known people.csv; "
    "incrowd attack release --eliminate 2 --original patients.csv"
)
def attack(
    target: Annotated[str, typer.Argument(help="A release folder, or a raw file to compare.")],
    *,
    linkage: Annotated[
        Path | None, typer.Option("--linkage", help="An identified list, such as a voter list.")
    ] = None,
    known: Annotated[
        Path | None,
        typer.Option("--known", help="A list of people with some of their events, a row for each."),
    ] = None,
    eliminate: Annotated[
        int | None,
        typer.Option("--eliminate", help="How many sensitive values the attacker can rule out."),
    ] = None,
    similarity: Annotated[
        str | None,
        typer.Option("--similarity", help="A sensitive attribute whose groups are read."),
    ] = None,
    linking: _LinkageOptions,
    knowing: _KnownOptions,
    reading: _SimilarityOptions,
    ruling_out: _EliminationOptions,
    header: Header = None,
    shown: OutputOptions,
) -> None:
    """Play an attack: link with an identified list, rule out values, or read groups."""
    from incrowd.cli.output.attacks import show_elimination, show_linkage, show_similarity
    from incrowd.cli.output.events import show_event_linkage

    if sum(each is not None for each in (linkage, known, eliminate, similarity)) != 1:
        raise InputError(
            "Choose the attack: --linkage LIST, --known LIST, --eliminate N, or --similarity "
            "ATTRIBUTE."
        )
    attacked = read_already(target, header)
    if similarity is not None:
        _refuse_those_of_others(reading, linking, knowing, ruling_out)
        alike = reading.play(attacked, similarity)
        if not shown.result(alike.as_dict()):
            show_similarity(alike, shown)
    elif linkage is not None:
        _refuse_those_of_others(linking, knowing, reading, ruling_out)
        with shown.progress() as progress:
            progress("linking", 0, 1)
            linked = linking.play(attacked, linkage, header)
        if not shown.result(linked.as_dict()):
            show_linkage(linked, shown)
    elif known is not None:
        _refuse_those_of_others(knowing, linking, reading, ruling_out)
        with shown.progress() as progress:
            progress("looking people up", 0, 1)
            fitting = knowing.play(attacked, known, header)
        if not shown.result(fitting.as_dict()):
            show_event_linkage(fitting, shown)
    else:
        _refuse_those_of_others(ruling_out, linking, knowing, reading)
        with shown.progress() as progress:
            progress("ruling out values", 0, 1)
            found = ruling_out.play(attacked, eliminate or 0, header)
        before = found.before if ruling_out.original else None
        told = {**found.after.as_dict(), "before": before.as_dict() if before else None}
        if not shown.result(told):
            show_elimination(found.after, before, shown)
