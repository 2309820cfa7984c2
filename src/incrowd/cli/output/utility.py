"""What survived of the data, in a terminal."""

from __future__ import annotations

from rich.markup import escape

from incrowd._runtime.console import Output, percent
from incrowd.cli.output._histories import show_histories
from incrowd.cli.output.releases import show_seen
from incrowd.utility import Classification, Evaluation, LeftOfEvents, QueryError
from incrowd.utility.granularity import in_words


def show_evaluation(evaluation: Evaluation, output: Output) -> None:
    """How much of the data's value survived, what an analyst sees first."""
    output.say(f"\n{escape(in_words(evaluation.seen))}\n")
    if evaluation.events:
        _say_by_patient_and_by_event(evaluation, output)
    show_seen(evaluation.seen, output)
    sizes = evaluation.discernibility
    cavg = "-" if sizes.cavg is None else f"{sizes.cavg:.3f}"
    output.table(
        "Groups",
        ["", ""],
        [
            (f"groups of {evaluation.one}s", f"{sizes.groups:,}"),
            ("average group size", f"{sizes.average:,.2f}"),
            ("average over the promised k (CAVG)", cavg),
            ("discernibility (DM)", f"{sizes.dm:,}"),
            ("discernibility ratio (DR)", f"{sizes.dr:.3g}"),
        ],
    )
    comparison = evaluation.comparison
    if comparison is not None:
        output.table(
            "Cells as in the original",
            ["attribute", "cells unchanged"],
            [
                (name, "-" if share is None else percent(share))
                for name, share in comparison.unchanged.items()
            ],
        )
    if comparison is not None and comparison.distance:
        output.table(
            "How far the other columns moved",
            ["attribute", "distance of distributions"],
            [
                (name, "-" if moved is None else f"{moved:.4f}")
                for name, moved in comparison.distance.items()
            ],
        )
    for each in evaluation.events:
        _show_events(each, output)
    for of_table in evaluation.known_events:
        show_histories(of_table, output)
    for remark in () if comparison is None else comparison.remarks:
        output.say(f"[yellow]Mind:[/] {escape(remark)}")
    kl = evaluation.kl_divergence
    if kl is not None:
        share = "" if kl.ratio is None else f", {100 * kl.ratio:.1f} % of that"
        output.say(
            f"KL-divergence from the original: {kl.divergence:.4f} nats{share} of a table without "
            f"quasi-identifiers ({kl.baseline:.4f}).\n"
        )
    if evaluation.query_error is not None:
        _show_query_error(evaluation.query_error, f"{evaluation.one}s", output)
    if evaluation.classification is not None:
        _show_classification(evaluation.classification, evaluation, output)


_MOST_VALUES = 5


def _say_by_patient_and_by_event(evaluation: Evaluation, output: Output) -> None:
    """What is lost of patients and of their rows, each for itself."""
    out = evaluation.source - evaluation.published
    left = "none was left out" if not out else f"{out:,} {'was' if out == 1 else 'were'} left out"
    output.say(
        f"By patient: {evaluation.published:,} of {evaluation.source:,} are published, {left}. "
        "Cells, widths and NCP below are of patients; for NCP a suppressed one counts as lost."
    )
    for each in evaluation.events:
        of = "" if each.rows_before is None else f" of {each.rows_before:,}"
        share = "" if not each.rows_before else f" ({percent(each.rows / each.rows_before)})"
        output.say(
            f"By event: {each.rows:,}{of} rows of '{escape(each.table)}' are published{share}."
        )
    output.say("What varies within a patient is not generalized: it is lost with its row alone.\n")


def _show_events(found: LeftOfEvents, output: Output) -> None:
    """How many patients have the values that most have, and how many values are left."""
    output.table(
        "What patients have, by what varies between their rows",
        ["attribute", "values", "patients with a value, all values together"],
        [
            (each.name, _was(each.values_before, each.values), _was(each.held_before, each.held))
            for each in found.attributes
        ],
    )
    output.table(
        "How many patients have a value, of the most frequent ones",
        ["attribute", "value", "patients"],
        [
            (each.name, holders.value or "(missing)", _was(holders.before, holders.after))
            for each in found.attributes
            for holders in each.patients[:_MOST_VALUES]
        ],
    )


def _was(before: int | None, after: int) -> str:
    return f"{after:,}" if before is None else f"{before:,} → {after:,}"


def _show_query_error(found: QueryError, many: str, output: Output) -> None:
    """How far random counts from the release are off."""
    bands = {
        "all": found.all,
        f"those that less than 1 % of the {many} satisfy": found.few,
        "those that 1 % or more satisfy": found.many,
    }
    output.table(
        "Relative error of random counts, %",
        ["queries", "number", "average", "median"],
        [
            (name, f"{band.queries:,}", _hundredths(band.average), _hundredths(band.median))
            for name, band in bands.items()
        ],
    )


def _hundredths(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


def _show_classification(found: Classification, evaluation: Evaluation, output: Output) -> None:
    """How well the class is learnt: from the raw records, from these, from hardly anything."""
    errors = {
        f"original {evaluation.one}s (BE)": found.be,
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
    published = evaluation.published
    used = f" of {published:,}" if found.records < published else ""
    output.say(
        f"Means of {found.repeats} random splits of {found.records:,}{used} {evaluation.one}s, "
        "2/3 to train on and 1/3 to test on."
    )
