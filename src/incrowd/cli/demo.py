"""The demo: the main job on a generated registry of patients, with an attack before and after."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import polars as pl

from incrowd._runtime.console import Output, percent
from incrowd.cli.output.releases import shortened, show_verdict
from incrowd.errors import OutputError
from incrowd.report.summary import release_summary
from incrowd.sources import write
from incrowd.utility.granularity import in_words, seen

_NAME = "cancer-registry"
_QUASI = ["birth_date", "gender", "race", "zip"]
_PEOPLE = 5_000
_WRITTEN = (
    *(f"{_NAME}.csv", f"{_NAME}-hierarchies", "policy.yaml", "people.csv"),
    *("private-report.html", "release"),
)
_SHOWN = ["birth_date", "gender", "race", "zip", "tumor_site"]


def demonstrate(folder: Path, output: Output, *, replace: bool = False) -> None:
    """Write a registry and its policy, release it, and show the risk before and after.

    With `replace`, an earlier demo in the folder is written anew.
    """
    from incrowd import datasets
    from incrowd.attacks import link, risk
    from incrowd.pipeline import anonymize

    started = time.perf_counter()
    _refuse_standing(folder, replace)
    registry = datasets.load(_NAME)
    policy = _write_inputs(registry, folder)
    _introduce(registry, folder, output)
    with output.progress() as progress:
        progress("measuring the risk", 0, 1)
        exposed = risk(registry, quasi=_QUASI)
        people = _identified_list(registry)
        people.write_csv(folder / "people.csv")
        before = link(registry, people, on=_QUASI, k=5)
        release = anonymize(None, policy, progress=progress)
        place = folder / "release"
        verdict = release.save(
            place,
            replace=replace,
            private_report=folder / "private-report.html",
            progress=lambda stage: progress(stage, 0, 1),
        )
        progress("attacking the release", 0, 1)
        after = link(release, people, on=_QUASI, k=5)
    seconds = time.perf_counter() - started
    summary: dict[str, Any] = {
        **release_summary(release, verdict, place),
        "unique_before": exposed.uniques,
        "attack_before": before.as_dict(),
        "attack_after": after.as_dict(),
        "seconds": round(seconds, 2),
    }
    if output.result(summary):
        return
    output.say(
        f"[bold]1. The risk.[/] {percent(exposed.unique_share)} of the patients are the only one "
        "with their birth date, gender, race and zip code.\n"
        f"   {len(people):,} neighbours are known by name (people.csv). Looking them up in the "
        f"registry finds [bold red]{before.matched_one:,}[/] of them, each with exactly one "
        "record: their tumor is known.\n"
    )
    manifest = release.manifest
    groups = manifest["groups"]
    output.say(
        f"[bold]2. The release.[/] Every patient in it shares birth date, gender, race and zip "
        f"code with at least {groups['smallest'] - 1} others, in {groups['count']:,} groups.\n"
    )
    _show_rows(release.data, output)
    output.say("[bold]3. The proof[/], from the published files alone:")
    show_verdict(verdict, output, promises_only=True)
    output.say(
        f"[bold]4. The same attack again[/] finds [bold green]{after.matched_one:,}[/] people "
        f"with exactly one record, and {after.matched_below_k or 0:,} with fewer than 5.\n"
    )
    output.say(
        f"[bold]5. What is left.[/] {in_words(seen(release))} Every other column is as it was.\n"
    )
    output.say(
        f"Done in {seconds:.0f} s. Everything is in [bold]{folder}/[/]; open "
        f"[bold]{folder}/private-report.html[/] to see it in pictures, before and after: it stays "
        f"with you, [bold]{place}/report.html[/] goes with the release. Next:\n"
        f"  incrowd verify {place}\n"
        f"  incrowd evaluate {place} --original {folder / f'{_NAME}.csv'}\n"
        "  incrowd init your-data.csv"
    )


def _refuse_standing(folder: Path, replace: bool) -> None:
    """Refuse to write over anything but an earlier demo."""
    from incrowd.publish.destination import destination

    if folder.exists() and not folder.is_dir():
        raise OutputError(f"'{folder}' is a file. Name a folder with -o.")
    held = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    if held and not replace:
        raise OutputError(
            f"The folder '{folder}' is not empty. Name another with -o, or, where it holds an "
            "earlier demo, write that anew: --replace."
        )
    strangers = [name for name in held if name not in _WRITTEN]
    if strangers:
        raise OutputError(
            f"The folder '{folder}' holds '{strangers[0]}', which is no part of a demo, so nothing "
            "in it is replaced. Name another with -o."
        )
    if held:
        destination(folder / "release", replace=True)


def _write_inputs(registry: pl.DataFrame, folder: Path) -> Path:
    """Write the registry, its hierarchies and its policy; returns the policy's path."""
    from incrowd import datasets

    folder.mkdir(parents=True, exist_ok=True)
    write(registry, folder / f"{_NAME}.csv")
    datasets.export_hierarchies(_NAME, folder)
    policy = folder / "policy.yaml"
    policy.write_text(datasets.policy(_NAME), encoding="utf-8")
    return policy


def _introduce(registry: pl.DataFrame, folder: Path, output: Output) -> None:
    output.say(
        f"\nA cancer registry of {registry.height:,} patients, a row for each (generated, no real "
        f"people), was written to [bold]{folder}/[/], with a policy that says what may be shared.\n"
    )


def _identified_list(registry: pl.DataFrame) -> pl.DataFrame:
    """A list of people an attacker knows by name, drawn from the registry by a fixed rule."""
    known = registry.gather_every(registry.height // _PEOPLE).head(_PEOPLE).select(_QUASI)
    names = pl.Series("name", [f"Person {number}" for number in range(1, known.height + 1)])
    return known.select(names, pl.all())


def _show_rows(data: pl.DataFrame, output: Output) -> None:
    """A few published rows: two groups from the middle of the table."""
    middle = data.height // 2
    shown = data.select(_SHOWN).slice(middle, 8)
    output.table(
        "Some rows as published",
        _SHOWN,
        [[shortened(cell) for cell in row] for row in shown.iter_rows()],
        right=9,
    )
