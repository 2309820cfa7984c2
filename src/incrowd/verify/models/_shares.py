"""The largest share that any one sensitive value has in each group."""

from __future__ import annotations

from incrowd.verify.counting.groups import PublishedGroups
from incrowd.verify.models.base import SLACK


def judge_shares(
    groups: PublishedGroups, attribute: str, values: list[str] | None, limit: float, k: int = 1
) -> tuple[float, int]:
    """Return the largest share, and how many groups exceed `limit` or are smaller than `k`.

    Only the listed values count, or all of them for None. A listed value that no record has is
    not an error: its share is 0.
    """
    made = groups.histogram(attribute)
    parameters: dict[str, object] = {"limit": limit + SLACK, "k": k}
    kept = ""
    if values is not None:
        parameters["values"] = values
        kept = (
            f" WHERE value IN (SELECT value FROM {made.totals}"
            " WHERE text IN (SELECT unnest($values)))"
        )
    largest, failing = groups.row(
        "SELECT max(share), count_if(share > $limit OR size < $k) FROM ("
        "SELECT groups.n AS size, coalesce(most, 0) / groups.n AS share FROM groups LEFT JOIN"
        f" (SELECT g, max(n) AS most FROM {made.groups}{kept} GROUP BY g) USING (g))",
        parameters,
    )
    return largest, failing
