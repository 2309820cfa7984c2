"""What is left of events that attackers may know, in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from incrowd._runtime.console import Output, percent

if TYPE_CHECKING:
    from incrowd.utility import HistoryOfAttribute, LeftOfHistories

_MOST = 8


def show_histories(found: LeftOfHistories, output: Output) -> None:
    """How many events of a table are published and unchanged, and what became of their values."""
    output.say(
        f"Events of '{escape(found.table)}': {found.events:,} are published of "
        f"{found.events_before:,} different ones; {percent(found.unchanged)} of these show values "
        "as they were."
    )
    for each in found.attributes:
        _show_attribute(each, output)


def _show_attribute(found: HistoryOfAttribute, output: Output) -> None:
    rows = [(_steps(each.least, each.most), percent(each.share)) for each in found.labels]
    rows += [("hidden (*)", percent(found.hidden))] * bool(found.hidden)
    output.table(f"What events show of {found.name}", ["labels for", "events"], rows)
    output.say(
        f"{found.vanished:,} of {found.values:,} values of '{escape(found.name)}' are shown by "
        "nobody as they were."
    )
    for title, counts in (("a value", found.counts), ("two values", found.pairs)):
        if counts:
            output.table(
                f"How many patients have {title} of {found.name}: the most frequent",
                ["", "source", "shown, so at least", "labels cover it"],
                [
                    (
                        ", ".join(each or "(missing)" for each in told.values),
                        f"{told.before:,}",
                        f"{told.at_least:,}",
                        f"{told.covered:,}",
                    )
                    for told in counts[:_MOST]
                ],
            )
    if found.pair_error is not None:
        output.say(
            f"Of the {len(found.pairs):,} most frequent pairs {found.pairs_vanished:,} are shown "
            f"by nobody; counts of pairs fall short by {percent(found.pair_error)} on average."
        )
    if found.days_before is not None:
        after = "none are shown" if found.days is None else f"{found.days:,.0f} in the release"
        output.say(
            f"Days between neighbouring events, the median: {found.days_before:,.0f} in the "
            f"source, {after}."
        )
    if found.unreadable:
        output.say(
            f"[yellow]Mind:[/] {found.unreadable:,} label(s) of '{escape(found.name)}' could not "
            "be read, and count as covering everything. Give the policy with --policy."
        )


def _steps(least: int, most: int | None) -> str:
    if most is None:
        return f"{least:,} values or more"
    return "one value" if most == 1 else f"{least:,} to {most:,} values"
