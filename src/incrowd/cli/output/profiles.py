"""The profile of a file in a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape

from incrowd._runtime.console import Output
from incrowd.cli.output.releases import show_unchanged

if TYPE_CHECKING:
    from incrowd.profiling import LinkedProfile, Profile


def show_links(profile: LinkedProfile, output: Output) -> None:
    """How several tables hang together."""
    output.table(
        f"Tables that hang on {profile.patients.source} by '{profile.patients.unit.unit}'",
        ["table", "names patients by", "rows", "of nobody"],
        [(t.name, t.unit, f"{t.records:,}", f"{t.unmatched:,}") for t in profile.tables],
        right=2,
    )


def show_profile(profile: Profile, policy: Path, output: Output) -> None:
    """The guessed role of every column, with the reason."""
    output.table(
        f"{profile.source}: {profile.records:,} records, {len(profile.columns)} columns",
        ["column", "guessed role", "type", "values", "why"],
        [(c.name, c.role, c.kind, f"{c.distinct:,}", c.reason) for c in profile.columns],
        right=9,
    )
    of_columns = [f"{c.name}: {warning}" for c in profile.columns for warning in c.warnings]
    for warning in (*profile.warnings, *of_columns):
        output.say(f"[yellow]Mind:[/] {escape(warning)}")
    show_unchanged(profile.unchanged, output)
    output.say(f"[yellow]unit: {escape(profile.unit.unit)}[/] {escape(profile.unit.reason)}")
    output.say(
        f"Wrote [bold]{policy}[/]. These are guesses: check every role, then run "
        f"[bold]incrowd anonymize {policy}[/]"
    )
