"""What survived of the data, in a terminal."""

from __future__ import annotations

from rich.markup import escape

from incrowd._runtime.console import Output, percent
from incrowd.cli.output.releases import show_seen
from incrowd.utility import Classification, Evaluation, QueryError
from incrowd.utility.granularity import in_words


def show_evaluation(evaluation: Evaluation, output: Output) -> None:
    """How much of the data's value survived, what an analyst sees first."""
    output.say(f"\n{escape(in_words(evaluation.seen))}\n")
    show_seen(evaluation.seen, output)
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
    kl = evaluation.kl_divergence
    if kl is not None:
        share = "" if kl.ratio is None else f", {100 * kl.ratio:.1f} % of that"
        output.say(
            f"KL-divergence from the original: {kl.divergence:.4f} nats{share} of a table without "
            f"quasi-identifiers ({kl.baseline:.4f}).\n"
        )
    if evaluation.query_error is not None:
        _show_query_error(evaluation.query_error, output)
    if evaluation.classification is not None:
        _show_classification(evaluation.classification, evaluation.published, output)


def _show_query_error(found: QueryError, output: Output) -> None:
    """How far random counts from the release are off."""
    bands = {
        "all": found.all,
        "those that less than 1 % of the records satisfy": found.few,
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
