"""What is known of events, and whom it finds, in a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.markup import escape

from incrowd._runtime.console import Output, percent

if TYPE_CHECKING:
    from incrowd.attacks import EventLinkage, KnownEvents, PowerBeforeAfter, RiskByPower


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


def show_power_before_after(found: PowerBeforeAfter, output: Output) -> None:
    """Whom known events find in a source and in its release, side by side."""
    before, after = found.before, found.after
    output.say(
        f"\n[bold]{escape(before.source)}[/]: {before.patients:,} patients; "
        f"[bold]{escape(after.source)}[/]: {after.patients:,}; events are told by "
        f"{escape(', '.join(after.events))}"
    )
    for remark in dict.fromkeys((*before.remarks, *after.remarks)):
        output.say(f"[bold red]Mind:[/] {escape(remark)}")
    output.say()
    for attributes in (False, True):
        title = "Whom known events find"
        if attributes:
            title = f"Whom known events and {', '.join(after.quasi)} find"
        sides = (before, "the source"), (after, "its labels"), (found.looked_up, "true values")
        rows = [
            [f"{each.events}, {side}", *_figures(each)]
            for events in dict.fromkeys(each.events for each in before.known)
            for asked, side in sides
            for each in asked.known
            if (each.events, each.attributes) == (events, attributes)
        ]
        columns = ["known events", "found, at least", "average risk", "the only one"]
        if rows:
            output.table(title, [*columns, f"fewer than {after.few}", "nobody"], rows)
    output.say(
        "Known are events of the source, looked up there; labels of the release, looked up there as"
        " they are; and true values, looked up in the release by what its labels cover."
    )
    _unreadable(found.unreadable, output)
    output.say(told_of_draws(before))


def _figures(each: KnownEvents) -> tuple[str, ...]:
    shares = (each.average, each.singled_out, each.below, each.nobody)
    return f"{each.fewest:,}", *map(percent, shares)


def _unreadable(unreadable: Iterable[tuple[str, int]], output: Output) -> None:
    for name, labels in unreadable:
        output.say(
            f"[yellow]Mind:[/] {labels:,} label(s) of '{escape(name)}' could not be read and fit "
            "everybody. Give the policy with --policy if its hierarchy explains them."
        )


def show_event_linkage(found: EventLinkage, output: Output) -> None:
    """How many patients of a release fit people of whom some events are known."""
    output.say(f"\n{found.one_sentence()}\n")
    for remark in found.remarks:
        output.say(f"[bold red]Mind:[/] {escape(remark)}")
    rows = [
        ("people on the list", f"{found.people:,}"),
        ("patients attacked", f"{found.patients:,}"),
        ("people whom at least one patient fits", f"{found.matched:,}"),
        ("people whom exactly one patient fits", f"{found.matched_one:,}"),
    ]
    if found.matched_below_k is not None:
        rows.append((f"people whom fewer than {found.k:,} fit", f"{found.matched_below_k:,}"))
    if found.average_candidates is not None and found.average_probability is not None:
        rows += [
            ("patients that fit, on average", f"{found.average_candidates:,.1f}"),
            ("chance of a right guess, on average", percent(found.average_probability)),
        ]
    output.table("Linkage with the list by known events", ["", ""], rows)
    output.table(
        "How many patients fit",
        ["patients", "people"],
        [(_steps(each.least, each.most), f"{each.people:,}") for each in found.fitting],
    )
    _unreadable(found.unreadable, output)


def _steps(least: int, most: int | None) -> str:
    if most is None:
        return f"{least:,} or more"
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"
