"""Counts from a release, and policies side by side, in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.markup import escape

from incrowd._runtime.console import Output

if TYPE_CHECKING:
    from incrowd.comparison import Candidate
    from incrowd.query import Estimate
    from incrowd.utility.query_error import Band


def show_estimate(found: Estimate, output: Output) -> None:
    """The count, and how sure it is."""
    output.say(found.one_sentence())
    for remark in found.remarks:
        output.say(f"[yellow]Mind:[/] {escape(remark)}")


def show_policies(candidates: Sequence[Candidate], output: Output) -> None:
    """Policies side by side, one column each."""
    from incrowd.comparison.counted import counted_by

    done = [each for each in candidates if each.problem is None]
    for each in candidates:
        if each.problem is not None:
            output.say(f"[bold red]{escape(each.name)}:[/] {escape(each.problem)}\n")
    if not done:
        return
    output.table(
        "Policies side by side: what they promise",
        ["policy", "published as", "tables", "method", "promised", "measured"],
        [(e.name, e.publish, e.tables, e.method, "; ".join(e.promises), _privacy(e)) for e in done],
        right=9,
    )
    one = counted_by(done)
    _show_risks(done, one, output)
    output.table(
        "What that keeps and takes (cells and errors in %)",
        ["policy", "dropped", "as was", "*", "NCP", "error", "few", "many", "s"],
        [
            (
                each.name,
                f"{each.suppressed:,}",
                *_cells(each),
                "-" if each.ncp is None else f"{each.ncp:.3f}",
                *(_error(each, band) for band in ("all", "few", "many")),
                f"{each.seconds:.2f}",
            )
            for each in done
        ],
    )
    output.say(
        "as was: cells of quasi-identifiers that are as they were; *: those that show nothing. "
        "NCP: the share of its domain that a cell may stand for. error: of random counts, on "
        f"average; few: of those that less than 1 % of the {one}s satisfy; many: of the others. s: "
        "seconds for making the release."
    )


_RISKS = {"found %": "average", "worst %": "highest", "guess %": "guess"}


def _show_risks(done: Sequence[Candidate], one: str, output: Output) -> None:
    """What an attacker can still do, and which policies another one beats."""
    from incrowd.comparison.dominance import dominated

    output.table(
        "Risk that is left",
        ["policy", *_RISKS, "of"],
        [
            (
                each.name,
                *(_risk(each, which) for which in _RISKS.values()),
                "-" if each.risk is None else each.risk.attribute or "-",
            )
            for each in done
        ],
    )
    output.say(
        "found: the chance that someone who knows all quasi-identifiers points at the right "
        f"{one}, on average; worst: of the person easiest to find; guess: that the most frequent "
        "value in a person's group is theirs, of the sensitive attribute guessed best."
    )
    for name, by in dominated(done).items():
        output.say(
            f"[bold]{escape(name)}[/] is dominated by [bold]{escape(by)}[/], which has no more "
            "risk and keeps no less."
        )


def _risk(candidate: Candidate, which: str) -> str:
    risk = None if candidate.risk is None else getattr(candidate.risk.after, which)
    return "-" if risk is None else f"{100 * risk:.3g}"


def _privacy(candidate: Candidate) -> str:
    return "; ".join(f"{model} {numbers}".strip() for model, numbers in candidate.measured)


def _cells(candidate: Candidate) -> tuple[str, str]:
    if candidate.cells is None:
        return "-", "-"
    unchanged, hidden = candidate.cells
    return f"{100 * unchanged:.1f}", f"{100 * hidden:.1f}"


def _error(candidate: Candidate, band: str) -> str:
    if candidate.query_error is None:
        return "-"
    found: Band = getattr(candidate.query_error, band)
    return "-" if found.average is None else f"{100 * found.average:.1f}"
