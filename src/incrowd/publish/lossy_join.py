"""Lossy join: records without sensitive values, sensitive values without records, and their class.

Joined on the class, every record meets every value of its class, so the join tells no more than
the classes do.
"""

from __future__ import annotations

import numpy as np

from incrowd.errors import PolicyError
from incrowd.methods.base import Outcome
from incrowd.publish.rows import ShownRows, kept_weights, numbers_shown, rows_shown, shown_as_is
from incrowd.published.layouts import CLASS
from incrowd.table import Table


def lossy_join_tables(table: Table, outcome: Outcome) -> dict[str, ShownRows]:
    """The published tables by name: `nss` without the sensitive attributes, `ss` with them alone.

    References
    ----------
    Wong, Liu, Yin, Huang, Fu, Pei (2007), (alpha, k)-anonymity based privacy preservation by lossy
    join.
    """
    refuse_taken_name(table)
    placed = outcome.group_of_record
    assert isinstance(placed, np.ndarray)
    kept = np.flatnonzero(placed >= 0)
    group = placed[kept].astype(np.int64) + 1
    number = numbers_shown(CLASS, group, len(outcome.group_sizes))
    weights = kept_weights(table, kept)
    apart = [column for column in table.columns if column.role != "sensitive"]
    return {
        "nss": rows_shown(
            [*(shown_as_is(c, c.codes[kept]) for c in apart), number], len(kept), weights
        ),
        "ss": rows_shown(
            [number, *(shown_as_is(c, c.codes[kept]) for c in table.of_role("sensitive"))],
            len(kept),
            weights,
        ),
    }


def refuse_taken_name(table: Table) -> None:
    """Refuse a column of the source that would stand twice in a published table."""
    if CLASS in table:
        raise PolicyError(
            f"publish: lossy-join writes a column named {CLASS}, and the source has one. Rename "
            "it, or give it the role identifier."
        )
