"""Results as tables that a person reads without documentation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from incrowd.console import Output, percent

if TYPE_CHECKING:
    from incrowd.attacks import Linkage, Risk
    from incrowd.methods.top_down_specialization import Step
    from incrowd.profiling import Profile
    from incrowd.publish import Release
    from incrowd.utility import Classification, Evaluation
    from incrowd.verify import Verdict

_MOST_MEMBERS = 3
_MOST_CHILDREN = 6


def release_summary(release: Release, verdict: Verdict, place: Path) -> dict[str, Any]:
    """The result of a run for JSON."""
    manifest = release.manifest
    return {
        "release": str(place),
        "verified": verdict.holds,
        "records": manifest["records"],
        "groups": manifest["groups"],
        "measured": [
            {"model": promise["model"], **measured}
            for promise, measured in zip(manifest["promises"], manifest["measured"], strict=True)
        ],
        "utility": manifest["utility"],
        "attributes": {
            entry["name"]: entry["ncp"] for entry in manifest["attributes"] if "ncp" in entry
        },
        "method": manifest["method"],
    }


def show_steps(steps: Sequence[Step], order: str, output: Output) -> None:
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


def show_release(release: Release, verdict: Verdict, place: Path, output: Output) -> None:
    """What a release promises, what it measured, what became of each attribute."""
    manifest = release.manifest
    records, groups = manifest["records"], manifest["groups"]
    dropped = [
        f"{records['suppressed']:,} suppressed" if records["suppressed"] else "",
        f"{records['missing_dropped']:,} dropped for missing values"
        if records["missing_dropped"]
        else "",
    ]
    rest = ", ".join(text for text in dropped if text) or "none left out"
    output.say(
        f"\n[bold green]Verified.[/] {place} holds {records['published']:,} records in "
        f"{groups['count']:,} group{'s' * (groups['count'] > 1)} of {groups['smallest']:,} to "
        f"{groups['largest']:,}; {rest}."
    )
    output.say(
        f"[bold]{percent(manifest['utility']['information_kept'])}[/] of the information in the "
        "quasi-identifiers survived (1 - NCP).\n"
    )
    if manifest["publish"] != "generalized":
        output.say(
            "Quasi-identifiers are shown as they are; which sensitive value is whose, only by "
            "group. That a person is in the data is not hidden.\n"
        )
    show_verdict(verdict, output, promises_only=True)
    limits = [each["parameters"] for each in manifest["promises"] if each["model"] == "lkc"]
    if limits and groups["smallest"] < max(each["K"] for each in limits):
        known = max(each["L"] for each in limits)
        output.say(
            f"An attacker who knows more than {known} quasi-identifiers of a person may find fewer "
            f"records: {groups['smallest']:,} if all are known.\n"
        )
    rows = [
        (entry["name"], percent(1 - entry["ncp"]), f"{entry['domain']:,}")
        for entry in manifest["attributes"]
        if "ncp" in entry
    ]
    output.table("What survived of each quasi-identifier", ["attribute", "kept", "domain"], rows)
    hidden = [e["name"] for e in manifest["attributes"] if e.get("ncp") == 1]
    if hidden and "order" in manifest["method"]:
        output.say(
            f"{len(hidden)} show nothing but *, since any first step would break a promise: "
            f"{escape(', '.join(hidden))}. Often a rare or missing value is in the way: join rare "
            "values high up in the hierarchy, or say `missing: drop`.\n"
        )
    output.say(f"Anyone can check it: [bold]incrowd verify {place}[/]")


def show_verdict(verdict: Verdict, output: Output, *, promises_only: bool = False) -> None:
    """Each promise of a release with the judgement on it."""
    findings = verdict.findings
    if promises_only:
        findings = findings[-len(verdict.measured) :]
    output.table(
        "Promises, judged from the published files",
        ["", "promise", "what was found"],
        [("kept" if f.holds else "BROKEN", f.promise, f.detail) for f in findings],
        right=9,
    )
    if not promises_only:
        broken = sum(not f.holds for f in findings)
        if broken:
            output.say(f"[bold red]Does not verify:[/] {broken} promise(s) broken.")
        else:
            output.say("[bold green]Verified:[/] all promises are kept.")


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
        ("people matched at all", f"{linkage.matched:,}"),
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


def show_evaluation(evaluation: Evaluation, output: Output) -> None:
    """How much of the data's value survived, the one number first."""
    output.say(
        f"\n[bold]{percent(evaluation.headline)}[/] of the information in the quasi-identifiers "
        "survived (1 - NCP).\n"
    )
    sizes = evaluation.discernibility
    cavg = "-" if sizes.cavg is None else f"{sizes.cavg:.3f}"
    output.table(
        "Groups",
        ["", ""],
        [
            ("groups", f"{sizes.groups:,}"),
            ("average group size", f"{sizes.average:,.2f}"),
            ("average over the promised k (CAVG)", cavg),
            ("discernibility (DM)", f"{sizes.dm:,}"),
            ("discernibility ratio (DR)", f"{sizes.dr:.3g}"),
        ],
    )
    comparison = evaluation.comparison
    columns, rows = ["attribute", "NCP"], []
    for name, loss in evaluation.ncp.per_attribute.items():
        row = [name, f"{loss:.4f}"]
        if comparison is not None:
            unchanged = comparison.unchanged.get(name)
            row.append("-" if unchanged is None else percent(unchanged))
        rows.append(row)
    if comparison is not None:
        columns.append("cells unchanged")
    output.table("Information lost per quasi-identifier", columns, rows)
    if comparison is not None and comparison.distance:
        output.table(
            "How far the other columns moved",
            ["attribute", "distance of distributions"],
            [(name, f"{moved:.4f}") for name, moved in comparison.distance.items()],
        )
    if evaluation.classification is not None:
        _show_classification(evaluation.classification, evaluation.published, output)


def _show_classification(found: Classification, published: int, output: Output) -> None:
    """How well the class is learnt: from the raw records, from these, from hardly anything."""
    errors = {
        "original records (BE)": found.be,
        "this release (CE)": found.ce,
        "this release without quasi-identifiers (UE)": found.ue,
    }
    rows = [
        (name, percent(error.mean), f"{100 * error.deviation:.1f}")
        for name, error in errors.items()
        if error is not None
    ]
    rows.append(("always the most frequent class", percent(found.majority), ""))
    output.table(
        f"Error in predicting {found.target} ({found.classes} classes)",
        ["a decision tree trained on", "error", "±"],
        rows,
    )
    cost = "" if found.cost is None else f"Privacy costs {100 * found.cost:+.1f} points (CE - BE). "
    output.say(
        f"{cost}The generalized quasi-identifiers are worth {100 * found.benefit:+.1f} points "
        "(UE - CE)."
    )
    used = f" of {published:,}" if found.records < published else ""
    output.say(
        f"Means of {found.repeats} random splits of {found.records:,}{used} records, 2/3 to train "
        "on and 1/3 to test on."
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
    output.say(
        f"Wrote [bold]{policy}[/]. These are guesses: check every role, then run "
        f"[bold]incrowd anonymize {policy}[/]"
    )


def shortened(cell: str | None) -> str:
    """A cell that fits a table: long sets show how many members they have."""
    if cell is None:
        return "(missing)"
    if cell.startswith("{") and cell.count("|") + 1 >= _MOST_MEMBERS:
        return f"{{{cell.count('|') + 1} values}}"
    return cell if len(cell) <= 28 else cell[:27] + "…"
