"""Releases and verdicts in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape

from incrowd._runtime.console import Output, percent
from incrowd._runtime.manifests import counts_in
from incrowd._runtime.sentences import cut_short
from incrowd.hierarchies.labels import Members, parse
from incrowd.policy.times import told_times
from incrowd.policy.units import one_counted, told_unit
from incrowd.privacy import MODELS
from incrowd.utility.count_error import told_error
from incrowd.utility.granularity import in_words, seen
from incrowd.verify.verdict import FORM, ORIGINAL

if TYPE_CHECKING:
    from incrowd._runtime.unchanged import Unchanged
    from incrowd.methods.options import TraceStep
    from incrowd.publish import Release
    from incrowd.published.granularity import Seen
    from incrowd.verify import Verdict

_MOST_MEMBERS = 3
_MOST_CHILDREN = 6
_JUDGED = {True: "kept", False: "BROKEN", None: "open"}


def show_steps(steps: Sequence[TraceStep], order: str, output: Output) -> None:
    """The specializations that led to a release, in their order."""
    rows = [
        (
            step.number,
            step.attribute,
            f"{step.value or 'missing'} -> {', '.join(_few(step.children))}",
            f"{step.score:.4g}",
            f"{step.groups:,}",
            f"{step.touched:,}",
        )
        for step in steps
    ]
    columns = ["step", "attribute", "specialization", "score", "groups", "records touched"]
    output.table(f"Steps in the order '{order}'", columns, rows, right=3)


def _few(labels: Sequence[str | None]) -> list[str]:
    """The first labels of a list, and how many more there are."""
    shown = [label if label is not None else "missing" for label in labels]
    if len(shown) <= _MOST_CHILDREN:
        return shown
    return [*shown[: _MOST_CHILDREN - 1], f"{len(shown) - _MOST_CHILDREN + 1} more"]


def show_release(
    release: Release,
    verdict: Verdict,
    place: Path,
    output: Output,
    private_report: Path | None = None,
) -> None:
    """What a release promises, what it measured, what became of each attribute."""
    manifest = release.manifest
    records, groups = counts_in(manifest), manifest["groups"]
    dropped = [
        f"{records['suppressed']:,} suppressed" if records["suppressed"] else "",
        f"{records['missing_dropped']:,} dropped for missing values"
        if records["missing_dropped"]
        else "",
    ]
    rest = ", ".join(text for text in dropped if text) or "none left out"
    output.say(
        f"\n[bold green]Verified.[/] {place} holds {records['published']:,} "
        f"{one_counted(manifest)}s in {groups['count']:,} group{'s' * (groups['count'] > 1)} of "
        f"{groups['smallest']:,} to {groups['largest']:,}; {rest}."
    )
    found = seen(release)
    output.say(f"{escape(in_words(found))}\n")
    for told in (told_unit(manifest), *told_times(manifest)):
        output.say(f"{escape(told)}\n")
    _show_warnings(verdict, output)
    if manifest["publish"] != "generalized":
        output.say(
            "Quasi-identifiers are shown as they are; which sensitive value is whose, only by "
            "group. That a person is in the data is not hidden.\n"
        )
    show_verdict(verdict, output, promises_only=True)
    limits = [
        (each["parameters"][model.size], each["parameters"][model.partial])
        for each in manifest["promises"]
        if (model := MODELS[each["model"]]).partial and model.size
    ]
    show_who_knows_more(limits, groups["smallest"], output, one=one_counted(manifest))
    show_seen(found, output)
    show_unchanged(verdict.unchanged, output)
    hidden = [each.name for each in found if each.hidden == 1]
    if hidden and "order" in manifest["method"]:
        output.say(
            f"{len(hidden)} show nothing but *, since any first step would break a promise: "
            f"{escape(', '.join(hidden))}. Often a rare or missing value is in the way: join rare "
            "values high up in the hierarchy, or say `missing: drop`.\n"
        )
    if _matched(verdict):
        output.say(
            "Which sensitive values belong together is not published: anyone can check the rest "
            f"([bold]incrowd verify {place}[/]), who holds the original all of it "
            f"([bold]incrowd verify {place} --original FILE[/])."
        )
    else:
        output.say(f"Anyone can check it: [bold]incrowd verify {place}[/]")
    if "report.html" in manifest["files"]:
        output.say(f"What to show a board, and who gets the data: [bold]{place}/report.html[/]")
    if private_report is not None:
        output.say(
            "Before and after, for who holds the source, not for publication: "
            f"[bold]{private_report}[/]"
        )


def show_who_knows_more(
    limits: Sequence[tuple[int, int]],
    smallest: float | None,
    output: Output,
    *,
    one: str = "record",
) -> None:
    """Say what is left to those who know more than models of crowds take them to know.

    `limits` are the crowds that are promised, each with how many attributes are known; `one` is
    what they are crowds of.
    """
    if limits and smallest is not None and smallest < max(size for size, _ in limits):
        output.say(
            f"An attacker who knows more than {max(known for _, known in limits)} "
            "quasi-identifiers of a person may find fewer "
            f"{one}s: {smallest:,} if all are known.\n"
        )


def show_unchanged(columns: Sequence[Unchanged], output: Output) -> None:
    """Every column that is published as it is, and why."""
    if columns:
        rows = [(each.column, each.why) for each in columns]
        output.table("Published as they are", ["column", "why"], rows, right=9)


def show_seen(found: Sequence[Seen], output: Output) -> None:
    """What an analyst sees of each quasi-identifier."""
    output.table(
        "What is seen of each quasi-identifier",
        ["attribute", "as it was", "hidden (*)", "the others, typically", "a count", "NCP"],
        [
            (
                each.name,
                percent(each.unchanged),
                percent(each.hidden),
                each.typical or "-",
                told_error(each.count_error),
                "-" if each.ncp is None else f"{each.ncp:.3f}",
            )
            for each in found
        ],
    )
    output.say("a count: how far one with a condition that cuts labels may be off (95 %).")


def _show_warnings(verdict: Verdict, output: Output) -> None:
    """What breaks no promise, and people must hear of nevertheless."""
    for finding in verdict.warnings:
        output.say(
            f"[bold red]Unprotected:[/] {escape(finding.detail)}. Who knows these values of a "
            "person finds the record, whatever is promised.\n"
        )


def _matched(verdict: Verdict) -> bool:
    """Whether the original was needed and at hand."""
    return any(finding.promise == ORIGINAL for finding in verdict.findings)


def show_verdict(verdict: Verdict, output: Output, *, promises_only: bool = False) -> None:
    """Each promise of a release with the judgement on it."""
    findings = verdict.findings
    if promises_only:
        findings = findings[-len(verdict.measured) :]
    output.table(
        "Promises, judged from the published files"
        + (" and the original" if _matched(verdict) else ""),
        ["", "promise", "what was found"],
        [("WARNING" if f.warns else _JUDGED[f.holds], f.promise, f.detail) for f in findings],
        right=9,
    )
    if promises_only:
        return
    show_unchanged(verdict.unchanged, output)
    if verdict.measured:
        output.say(escape(verdict.counted))
    if verdict.not_judged:
        output.say(f"Not judged: {escape('; '.join(verdict.not_judged))}.")
    _show_warnings(verdict, output)
    broken, waiting = len(verdict.broken), len(verdict.open)
    if broken:
        output.say(f"[bold red]Does not verify:[/] {broken} promise(s) broken.")
    elif waiting:
        output.say(
            f"[bold yellow]Verified in part:[/] nothing is broken, but {waiting} promise(s) could "
            "not be judged from the files alone."
        )
        if any(finding.promise != FORM for finding in verdict.open):
            output.say(
                "Who holds the original can: "
                f"[bold]incrowd verify {escape(str(verdict.folder))} --original FILE[/]"
            )
    elif verdict.warnings:
        output.say("[bold yellow]Verified, with a warning:[/] all promises are kept.")
    else:
        output.say("[bold green]Verified:[/] all promises are kept.")


def shortened(cell: str | None) -> str:
    """A cell that fits a table: long sets show how many members they have."""
    if cell is None:
        return "(missing)"
    parsed = parse(cell)
    if isinstance(parsed, Members) and len(parsed.values) >= _MOST_MEMBERS:
        return f"{{{len(parsed.values)} values}}"
    return cut_short(cell, 28)
