"""Feasibility and alternatives in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from incrowd._runtime.console import Output
from incrowd.feasibility.result import chance_in_words

if TYPE_CHECKING:
    from incrowd.feasibility import Feasibility
    from incrowd.methods.options import AlternativeLevels


def show_feasibility(found: Feasibility, output: Output) -> None:
    """The chance, and what would raise it."""
    output.say(f"\n{found.one_sentence()}\n")
    if found.in_file is not None:
        here = found.in_file
        holds = "is" if here.k_anonymous else "is not"
        output.say(
            f"{here.source} {holds} {found.k}-anonymous: {here.records_below_k:,} of "
            f"{here.records:,} records are in groups of fewer than {found.k}.\n"
        )
    how = "exact" if found.exact else "approximate"
    rows = [(f"chance by the closed form ({how})", chance_in_words(found.probability))]
    if found.simulated is not None and found.standard_error is not None:
        rows.append(
            (
                f"share of {found.simulations:,} simulated tables",
                f"{100 * found.simulated:.1f} % ± {100 * found.standard_error:.1f}",
            )
        )
    needed = "more than 10^15" if found.records_needed is None else f"{found.records_needed:,}"
    rows.append((f"records needed for {chance_in_words(found.target)}", needed))
    output.table("Feasibility", ["", ""], rows)
    output.table(
        "What would help most",
        ["attribute", "values", "chance with half of them", "chance without it"],
        [
            (
                each.attribute,
                f"{each.values:,}",
                chance_in_words(each.halved),
                chance_in_words(each.left_out),
            )
            for each in found.advice
        ],
    )


def show_alternatives(found: Sequence[AlternativeLevels], output: Output) -> None:
    """Strings of levels for an expert to choose from, the best first."""
    output.table(
        "Alternatives by research value",
        ["", "research value", "groups", "smallest", "average", "dropped", "shows nothing of"],
        [
            (
                number,
                f"{each.value:.4f}",
                f"{each.groups:,}",
                f"{each.smallest:,}",
                f"{each.average:,.1f}",
                f"{each.suppressed:,}",
                ", ".join(each.roots) or "-",
            )
            for number, each in enumerate(found, start=1)
        ],
    )
