"""What is known of events, and whom it finds, in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from incrowd._runtime.console import Output, percent

if TYPE_CHECKING:
    from incrowd.attacks import KnownEvents, RiskByPower


def show_power(found: RiskByPower, output: Output) -> None:
    """How many patients are found by some of their events, by how many are known."""
    output.say(
        f"\n[bold]{escape(found.source)}[/]: {found.patients:,} patients with "
        f"{found.average_events:,.1f} different events each on average, told by "
        f"{escape(', '.join(found.events))} ({found.different:,} kinds)"
    )
    for remark in found.remarks:
        output.say(f"[bold red]Mind:[/] {escape(remark)}")
    output.say()
    for each in found.known:
        if not each.attributes:
            output.say(escape(each.sentence(found.few)))
    output.say()
    _table("Whom known events find", found, [e for e in found.known if not e.attributes], output)
    if found.quasi:
        title = f"Whom known events and {', '.join(found.quasi)} find"
        _table(title, found, [each for each in found.known if each.attributes], output)
    output.say(told_of_draws(found))


def _table(title: str, found: RiskByPower, known: list[KnownEvents], output: Output) -> None:
    output.table(
        title,
        ["known events", "found, at least", "average risk", "the only one",
         f"fewer than {found.few}", "patients some find alone"],
        [
            [
                str(each.events),
                f"{each.fewest:,}",
                percent(each.average),
                percent(each.singled_out),
                percent(each.below),
                percent(each.ever_singled_out),
            ]
            for each in known
        ],
    )  # fmt: skip


def told_of_draws(found: RiskByPower) -> str:
    """How sets of events were looked at, and how exact the figures are."""
    drawn = max(each.drawn for each in found.known)
    most = max(found.known, key=lambda each: each.events)
    fewer = f" {most.fewer:,} patients have fewer than {most.events}: they are found by all theirs."
    fewer = fewer if most.fewer else ""
    if not drawn:
        return f"All sets of so many events of each patient were looked at.{fewer}"
    margin = max(each.margin for each in found.known)
    return (
        f"Of up to {drawn:,} patients {found.draws:,} sets were drawn at random, from more than "
        f"that: averages and shares of cases are exact to {100 * margin:.2g} percentage points "
        "(with a confidence of 95 %), and what holds for some set holds for at least so many."
        f"{fewer}"
    )
