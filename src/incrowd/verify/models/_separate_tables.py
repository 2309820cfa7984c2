"""What attributes show of a joint promise when their values stand in tables apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from incrowd.verify.counting.groups import PublishedGroups


def values_apart(
    groups: PublishedGroups, sensitive: Sequence[str], enough: Mapping[str, int], k: int = 1
) -> tuple[int, int]:
    """Return the fewest values that an attribute has in a group, and how many groups fail.

    A group fails with fewer than `enough` values of any attribute, or fewer than `k` records.
    """
    counts = " UNION ALL ".join(
        f"SELECT g, count(*) AS many, count(*) < {enough[name]} AS few"
        f" FROM {groups.histogram(name).groups} GROUP BY g"
        for name in sensitive
    )
    fewest, failing = groups.row(
        f"WITH counts AS MATERIALIZED ({counts}) SELECT (SELECT min(many) FROM counts),"
        " count(*) FROM (SELECT g FROM counts WHERE few UNION SELECT g FROM groups WHERE n < $k)",
        {"k": k},
    )
    return fewest, failing
