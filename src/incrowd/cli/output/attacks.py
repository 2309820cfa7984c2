"""Risks and attacks in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incrowd._runtime.console import Output, percent

if TYPE_CHECKING:
    from incrowd.attacks import AttributeElimination, Elimination, Linkage, Risk, Similarity


def show_risk(risk: Risk, output: Output) -> None:
    """How exposed the records of a file are, and through which attributes."""
    output.say(
        f"\n[bold]{risk.source}[/]: {risk.records:,} records, "
        f"{len(risk.quasi)} quasi-identifiers ({', '.join(risk.quasi)})"
    )
    output.say(
        f"[bold]{risk.uniques:,} records ({percent(risk.unique_share)})[/] are the only ones of "
        f"their kind; groups have {risk.groups.smallest:,} to {risk.groups.largest:,} records, "
        f"{risk.groups.average:,.1f} on average.\n"
    )
    prosecutor = risk.prosecutor
    rows = [
        ("highest risk of a record (prosecutor)", percent(prosecutor.highest)),
        ("average risk of a record (prosecutor)", percent(prosecutor.average)),
        *(
            (f"records with a risk above {threshold:g}", percent(share))
            for threshold, share in prosecutor.share_above
        ),
        ("records an attacker re-identifies on average (marketer)", percent(risk.marketer)),
    ]
    if risk.journalist is not None:
        rows += [
            ("highest risk of a record (journalist)", percent(risk.journalist.highest)),
            ("average risk of a record (journalist)", percent(risk.journalist.average)),
        ]
    output.table("Risk of being recognized", ["", ""], rows)
    output.table(
        "What singles people out",
        ["knowing", "records unique on it", "share"],
        [(" + ".join(c.attributes), f"{c.uniques:,}", percent(c.share)) for c in risk.combinations],
    )
    if risk.sensitive:
        output.table(
            "What a group gives away",
            ["sensitive attribute", "records whose group shares one value", "share"],
            [
                (s.name, f"{s.homogeneous_records:,}", percent(s.homogeneous_share))
                for s in risk.sensitive
            ],
        )


def show_linkage(linkage: Linkage, output: Output) -> None:
    """How many people of an identified list were found in the data."""
    output.say(f"\n{linkage.one_sentence()}\n")
    rows: list[tuple[str, str]] = [
        ("people on the list", f"{linkage.people:,}"),
        ("records attacked", f"{linkage.records:,}"),
        (
            "people matched at all, so known to be in the data"
            if linkage.values_apart
            else "people matched at all",
            f"{linkage.matched:,}",
        ),
        ("people matched to exactly one record", f"{linkage.matched_one:,}"),
    ]
    if linkage.matched_below_k is not None:
        rows.append((f"people matched to fewer than {linkage.k}", f"{linkage.matched_below_k:,}"))
    if linkage.average_candidates is not None and linkage.average_probability is not None:
        rows.append(
            ("records per matched person, on average", f"{linkage.average_candidates:,.1f}")
        )
        rows.append(("chance of a right guess, on average", percent(linkage.average_probability)))
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
        _show_exposed("Before, records exposed", before, output)
        _show_exposed("After, records exposed", found, output)
    else:
        _show_exposed("Records exposed", found, output)
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
    rows = [("in groups with one value", found.homogeneous)]
    if found.similar is not None:
        rows.append(("in groups of one category", found.similar))
        rows += [
            (f"  category {number}", records)
            for number, records in enumerate(found.by_category, start=1)
        ]
    rows += [
        (f"in groups where a value is {found.threshold:g} times as frequent", found.skewed),
        ("  and it is their own", found.gained),
    ]
    output.table(
        f"Records, of {found.records:,} in {found.groups:,} groups",
        ["", "records", "share"],
        [(name, f"{many:,}", percent(many / found.records)) for name, many in rows],
    )
    output.say(
        f"A value is up to {found.largest_gain:.3g} times as frequent in a group as in the table; "
        f"a record's own {found.average_gain:.3g} times on average."
    )
