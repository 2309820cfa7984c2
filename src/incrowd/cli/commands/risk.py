"""The command that asks how exposed a file is: risk."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli.app import Header, OutputOptions, Query, app
from incrowd.cli.arguments import names, read_already
from incrowd.errors import InputError

if TYPE_CHECKING:
    from incrowd._runtime.progress import Progress
    from incrowd.attacks import RiskByPower


@dataclass(frozen=True)
class _EventOptions:
    """What is known of events."""

    events: Annotated[
        str | None,
        typer.Option(
            "--events", help="Columns of events, some of which are known: conditions.CODE."
        ),
    ] = None
    draws: Annotated[
        int | None,
        typer.Option("--draws", help="With --events: look at so many sets of events a patient."),
    ] = None
    original: Annotated[
        str | None,
        typer.Option("--original", help="With --events, of a release: what it was made from."),
    ] = None
    policy: Annotated[
        Path | None,
        typer.Option("--policy", help="With --original: the policy, for its hierarchies."),
    ] = None

    @property
    def beside(self) -> list[str]:
        """The options that mean nothing without `--events`."""
        return [f"--{name}" for name, each in vars(self).items() if each and name != "events"]


@dataclass(frozen=True)
class _RecordOptions:
    """What is asked of records whose quasi-identifiers are known."""

    sensitive: Annotated[
        str | None, typer.Option("--sensitive", help="Sensitive attributes, by commas.")
    ] = None
    population: Annotated[
        Path | None, typer.Option("--population", help="A file of the whole population.")
    ] = None
    sampling_fraction: Annotated[
        float | None,
        typer.Option("--sampling-fraction", help="The share of the population in the file."),
    ] = None
    memory: Annotated[
        str | None,
        typer.Option("--memory", help="Count within so much memory, as in 4GB, and on disk."),
    ] = None

    @property
    def given(self) -> list[str]:
        """The options that were given."""
        return [f"--{name.replace('_', '-')}" for name, each in vars(self).items() if each]


@app.command(
    epilog="Examples: incrowd risk patients.csv --quasi age,sex,zip --sensitive diagnosis; "
    "incrowd risk FOLDER --events conditions.CODE"
)
def risk(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE", help="A file, a database URL, a release, or several linked files."
        ),
    ],
    *,
    quasi: Annotated[
        str | None, typer.Option("--quasi", help="Quasi-identifiers, separated by commas.")
    ] = None,
    known: _EventOptions,
    unit: Annotated[
        str | None,
        typer.Option("--unit", help="The column that tells patients apart; row: each row does."),
    ] = None,
    of_records: _RecordOptions,
    query: Query = None,
    header: Header = None,
    shown: OutputOptions,
) -> None:
    """How exposed is this file: the risk that its records, or patients, are recognized."""
    source: Any = sources[0] if len(sources) == 1 else sources
    if known.events is not None:
        if of_records.given:
            raise InputError(f"{', '.join(of_records.given)} cannot be used with --events.")
        _by_events(source, known, quasi, unit, query, header, shown)
        return
    if len(sources) > 1 or known.beside:
        raise InputError(
            "Several files, --draws, --original and --policy go with --events: name the columns "
            "that tell an event, as in --events conditions.CODE. Or ask about one file, or a folder"
            " of one kind of files."
        )
    from incrowd.attacks import risk as measure
    from incrowd.cli.output.attacks import show_risk
    from incrowd.cli.output.events import show_power
    from incrowd.cli.signals import guard_mapped_files
    from incrowd.sources import as_source

    guard_mapped_files(as_source(source).size)
    with shown.progress() as progress:
        found = measure(
            source,
            quasi=names(quasi),
            sensitive=names(of_records.sensitive),
            unit=unit,
            population=read_already(of_records.population, header),
            sampling_fraction=of_records.sampling_fraction,
            query=query,
            header=header,
            memory=of_records.memory,
            progress=progress,
        )
        by_events = _of_histories(source, progress)
    beside = {} if by_events is None else {"known_events": by_events.as_dict()}
    if not shown.result({**found.as_dict(), **beside}):
        show_risk(found, shown)
        if by_events is not None:
            show_power(by_events, shown)


def _of_histories(source: str, progress: Progress) -> RiskByPower | None:
    """Of a release with the rows of patients: whom those events find that it shows."""
    from incrowd.attacks import risk_by_power
    from incrowd.published.opened import as_release, event_rows, is_release

    if not is_release(source) or not event_rows(as_release(source)):
        return None
    return risk_by_power(source, progress=progress)


def _by_events(
    source: Any,
    known: _EventOptions,
    quasi: str | None,
    unit: str | None,
    query: str | None,
    header: bool | None,
    shown: OutputOptions,
) -> None:
    """The risk of somebody who knows some events of a patient."""
    from incrowd.attacks import power_before_after, risk_by_power
    from incrowd.cli.arguments import label_meanings
    from incrowd.cli.output.events import show_power, show_power_before_after

    asked: dict[str, Any] = {"events": names(known.events), "quasi": names(quasi), "unit": unit}
    with shown.progress() as progress:
        if known.original is None:
            if known.policy is not None:
                raise InputError("--policy explains labels where --original is looked up.")
            found = risk_by_power(
                source, **asked, draws=known.draws, query=query, header=header, progress=progress
            )
        else:
            meanings = label_meanings(known.policy)
            both = power_before_after(
                source, known.original, **asked, draws=known.draws, hierarchies=meanings,
                header=header, progress=progress,
            )  # fmt: skip
    if known.original is not None:
        if not shown.result(both.as_dict()):
            show_power_before_after(both, shown)
    elif not shown.result(found.as_dict()):
        show_power(found, shown)
