"""Risks and attacks in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from incrowd._runtime.console import Output, percent

if TYPE_CHECKING:
    from incrowd.attacks import AttributeElimination, Elimination, Linkage, Risk, Similarity


def show_risk(risk: Risk, output: Output) -> None:
    """How exposed the records or patients of a file are, and through which attributes."""
    one, many = risk.one, f"{risk.one}s"
    rows_of = "" if risk.rows is None else f" in {risk.rows:,} rows"
    output.say(
        f"\n[bold]{escape(risk.source)}[/]: {risk.records:,} {many}{rows_of}, "
        f"{len(risk.quasi)} quasi-identifiers ({escape(', '.join(risk.quasi))})"
    )
    for remark in risk.remarks:
        output.say(f"[bold red]Mind:[/] {escape(remark)}")
    output.say(
        f"[bold]{risk.uniques:,} {many} ({percent(risk.unique_share)})[/] are the only ones of "
        f"their kind; groups have {risk.groups.smallest:,} to {risk.groups.largest:,} {many}, "
        f"{risk.groups.average:,.1f} on average.\n"
    )
    prosecutor = risk.prosecutor
    rows = [
        (f"highest risk of a {one} (prosecutor)", percent(prosecutor.highest)),
        (f"average risk of a {one} (prosecutor)", percent(prosecutor.average)),
        *(
            (f"{many} with a risk above {threshold:g}", percent(share))
            for threshold, share in prosecutor.share_above
        ),
        (f"{many} an attacker re-identifies on average (marketer)", percent(risk.marketer)),
    ]
    if risk.journalist is not None:
        rows += [
            (f"highest risk of a {one} (journalist)", percent(risk.journalist.highest)),
            (f"average risk of a {one} (journalist)", percent(risk.journalist.average)),
        ]
    output.table("Risk of being recognized", ["", ""], rows)
    output.table(
        "What singles people out",
        ["knowing", f"{many} unique on it", "share"],
        [(" + ".join(c.attributes), f"{c.uniques:,}", percent(c.share)) for c in risk.combinations],
    )
    if risk.sensitive:
        output.table(
            "What a group gives away",
            ["sensitive attribute", f"{many} whose group shares one value", "share"],
            [
                (s.name, f"{s.homogeneous_records:,}", percent(s.homogeneous_share))
                for s in risk.sensitive
            ],
        )
    if any(each.several for each in risk.sensitive):
        output.say(
            "Patients may have several values: a group shares one where all of its patients have "
            "it, whatever others they have."
        )


def show_linkage(linkage: Linkage, output: Output) -> None:
    """How many people of an identified list were found in the data."""
    output.say(f"\n{linkage.one_sentence()}\n")
    for remark in linkage.remarks:
        output.say(f"[bold red]Mind:[/] {escape(remark)}")
    rows: list[tuple[str, str]] = [
        ("people on the list", f"{linkage.people:,}"),
        (f"{linkage.one}s attacked", f"{linkage.records:,}"),
        (
            "people matched at all, so known to be in the data"
            if linkage.values_apart
            else "people matched at all",
            f"{linkage.matched:,}",
        ),
        (f"people matched to exactly one {linkage.one}", f"{linkage.matched_one:,}"),
    ]
    if linkage.matched_below_k is not None:
        rows.append((f"people matched to fewer than {linkage.k}", f"{linkage.matched_below_k:,}"))
    if linkage.average_candidates is not None and linkage.average_probability is not None:
        rows.append(
            (f"{linkage.one}s per matched person, on average", f"{linkage.average_candidates:,.1f}")
        )
        rows.append(("chance of a right guess, on average", percent(linkage.average_probability)))
    rows += [
        (f"people whose candidates all have one '{each.name}'", f"{each.people:,}")
        for each in linkage.disclosed
    ]
    output.table("Linkage with the list", ["", ""], rows)
    for name, labels in linkage.unreadable:
        output.say(
            f"[yellow]Mind:[/] {labels:,} label(s) of '{name}' could not be read and match "
            "everyone. Give the policy with --policy if its hierarchy explains them."
        )


def show_elimination(found: Elimination, before: Elimination | None, output: Output) -> None:
    """How many records lose all but one value, before (if known) and after."""
    output.say(f"\n{found.one_sentence()}\n")
    if before is not None:
        _show_exposed(f"Before, {before.one}s exposed", before, output)
        _show_exposed(f"After, {found.one}s exposed", found, output)
    else:
        _show_exposed(f"{found.one.capitalize()}s exposed", found, output)
    if not found.joint and len(found.attributes) > 1:
        output.say(
            "Which values of several attributes belong together is not published, so ruling out a "
            "value of one tells nothing of another."
        )


def _show_exposed(title: str, found: Elimination, output: Output) -> None:
    exposed: list[tuple[str, AttributeElimination | Elimination]] = [
        *((each.name, each) for each in found.attributes),
        ("at least one", found),
    ]
    output.table(
        f"{title}, of {found.records:,}",
        ["one value remains of", "at once", f"{found.values} of its own", f"{found.values} of any"],
        [
            (
                name,
                f"{each.exposed_at_once:,}",
                f"{each.exposed_single:,}",
                f"{each.exposed_multi:,}",
            )
            for name, each in exposed
        ],
    )


def show_similarity(found: Similarity, output: Output) -> None:
    """How many records have their value, or its category, told by their group."""
    output.say(f"\n{found.one_sentence()}\n")
    groups = "groups all of whom have" if found.several else "groups with"
    rows = [(f"in {groups} one value{' in common' if found.several else ''}", found.homogeneous)]
    if found.similar is not None:
        rows.append(
            ("in groups all of whom have one category", found.similar)
            if found.several
            else ("in groups of one category", found.similar)
        )
        rows += [
            (f"  category {number}", records)
            for number, records in enumerate(found.by_category, start=1)
        ]
    own = "one of their own" if found.several else "their own"
    rows += [
        (f"in groups where a value is {found.threshold:g} times as frequent", found.skewed),
        (f"  and it is {own}", found.gained),
    ]
    many = f"{found.one}s"
    output.table(
        f"{many.capitalize()}, of {found.records:,} in {found.groups:,} groups",
        ["", many, "share"],
        [(name, f"{many:,}", percent(many / found.records)) for name, many in rows],
    )
    output.say(
        f"A value is up to {found.largest_gain:.3g} times as frequent in a group as in the table; "
        f"a {found.one}'s own {found.average_gain:.3g} times on average."
    )
    if found.several:
        output.say(
            "Patients may have several values: each is judged by itself, by the share of the "
            "patients of a group who have it."
        )
