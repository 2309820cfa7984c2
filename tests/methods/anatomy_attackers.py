"""Attackers of anatomized tables: they have read the code and hold the published files.

Each guesses a sensitive value for records of which it knows the quasi-identifiers. What they claim
is compared with the truth; nobody should do better than by drawing from a record's group.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

import incrowd

Claims = Mapping[int, str]
"""By record, the value that an attacker says it holds."""


@dataclass(frozen=True)
class Published:
    """An anatomized release joined with what attackers know: records in the order of their rows."""

    policy: dict[str, Any]
    quasi: pl.DataFrame
    group: list[int]
    truth: list[str]
    """For the referee alone."""
    values: dict[int, list[str]]
    """The values of each group, as often as they occur, sorted."""

    def members(self) -> dict[int, list[int]]:
        """The records of each group, sorted by their quasi-identifiers."""
        order = np.lexsort([self.quasi[name].rank("dense") for name in self.quasi.columns[::-1]])
        found: dict[int, list[int]] = defaultdict(list)
        for record in order.tolist():
            found[self.group[record]].append(record)
        return found

    def guessing(self) -> float:
        """The share of records that are guessed by naming the most frequent value of each group."""
        most = sum(max(Counter(values).values()) for values in self.values.values())
        return most / len(self.group)

    def right(self, claims: Claims) -> float:
        """The share of the claims that are true."""
        return sum(self.truth[r] == value for r, value in claims.items()) / max(len(claims), 1)


def publish(frame: pl.DataFrame, policy: dict[str, Any], sensitive: str) -> Published:
    """Anonymize, and match published rows with records by the column `number`, which is kept."""
    release = incrowd.anonymize(frame, policy, **_accepting())
    records, apart = (release.tables[name] for name in list(release.tables)[:2])
    key = records.columns[-1]
    if f"st_{sensitive}" in release.tables:
        apart = release.tables[f"st_{sensitive}"]
    values: dict[int, list[str]] = defaultdict(list)
    for row in apart.to_dicts():
        values[int(row[key])] += [row[sensitive]] * int(row.get("count", 1))
    by_number = records.sort(pl.col("number").cast(pl.Int64))
    quasi = [name for name, role in policy["attributes"].items() if role == "quasi"]
    return Published(
        policy,
        frame.sort("number").select(quasi),
        by_number[key].cast(pl.Int64).to_list(),
        frame.sort("number")[sensitive].cast(pl.String).to_list(),
        {group: sorted(held) for group, held in values.items()},
    )


def _accepting() -> dict[str, Any]:
    """The column `number` singles records out, on purpose: it is the referee's."""
    import inspect

    name = "accept_unprotected"
    return {name: True} if name in inspect.signature(incrowd.anonymize).parameters else {}


def by_order(published: Published) -> Claims:
    """What follows by logic if records of a value were dealt in the order of their rows.

    Groups that hold a value are taken in the order of their numbers; the holder in each must stand
    behind the holder in the one before. Candidates that cannot are struck out, until none is left
    to strike; a record with one value left, or the only candidate of a value, is claimed.
    """
    members = published.members()
    place = {r: at for at, r in enumerate(sorted(range(len(published.group)), key=_row(published)))}
    groups_of: dict[str, list[int]] = defaultdict(list)
    for group in sorted(published.values):
        for value in published.values[group]:
            groups_of[value].append(group)
    holders = {(g, v): set(members[g]) for g, held in published.values.items() for v in held}
    changed = True
    while changed:
        changed = False
        for value, groups in groups_of.items():
            for direction in (1, -1):
                bound = -1.0 if direction == 1 else float("inf")
                for group in groups[::direction]:
                    mine = holders[group, value]
                    left = {r for r in mine if direction * (place[r] - bound) >= 0}
                    if left and left != mine:
                        holders[group, value], changed = left, True
                    kept = [place[r] for r in holders[group, value]]
                    bound = min(kept) if direction == 1 else max(kept)
        for group, held in published.values.items():
            for value in held:
                mine = holders[group, value]
                if len(mine) == 1:
                    for other in set(held) - {value}:
                        if mine <= holders[group, other] and len(holders[group, other]) > 1:
                            holders[group, other] = holders[group, other] - mine
                            changed = True
    return {next(iter(mine)): value for (_, value), mine in holders.items() if len(mine) == 1}


def _row(published: Published) -> Callable[[int], tuple[Any, ...]]:
    rows = published.quasi.rows()
    return lambda record: (*rows[record], record)


def by_redoing(published: Published) -> tuple[Claims, float]:
    """Runs incrowd on an invented table with the published totals, and trusts equal groups.

    Also returns the share of the groups that came out again.
    """
    invented = ["?"] * len(published.group)
    for group, records in published.members().items():
        for record, value in zip(records, published.values[group], strict=True):
            invented[record] = value
    sensitive = next(n for n, r in published.policy["attributes"].items() if r == "sensitive")
    number = pl.Series("number", range(len(invented)))
    frame = published.quasi.with_columns(pl.Series(sensitive, invented), number)
    again = publish(frame, published.policy, sensitive)
    here = {frozenset(records): group for group, records in again.members().items()}
    claims: dict[int, str] = {}
    same = 0
    for records in published.members().values():
        if frozenset(records) in here:
            same += 1
            claims.update({r: invented[r] for r in records})
    return claims, same / len(published.values)


def by_rank(published: Published) -> Claims:
    """Learns from half of the groups, whose truth it knows, who of a group holds which value.

    A member is told by its rank in the group, a value by its rank among those of the group, by
    name and by how often it occurs in the table.
    """
    often = Counter(value for held in published.values.values() for value in held)
    seen: Counter[tuple[Any, ...]] = Counter()
    groups = sorted(published.values)
    known, unknown = groups[::2], groups[1::2]
    members = published.members()

    def pairs(group: int) -> Iterator[tuple[int, str, tuple[Any, ...]]]:
        held = published.values[group]
        for (rank, record), value in itertools.product(enumerate(members[group]), set(held)):
            by_often = sorted(set(held), key=lambda v: (-often[v], v)).index(value)
            yield record, value, (len(held), rank, sorted(set(held)).index(value), by_often)

    for group in known:
        for record, value, feature in pairs(group):
            seen[*feature, published.truth[record] == value] += 1
    claims: dict[int, str] = {}
    best: dict[int, float] = {}
    for group in unknown:
        for record, value, feature in pairs(group):
            share = (seen[*feature, True] + 1) / (seen[*feature, True] + seen[*feature, False] + 4)
            if share > best.get(record, 0):
                best[record], claims[record] = share, value
    return claims


def by_no_cut(published: Published) -> Claims:
    """What follows if a neighbourhood is left whole only where its middle cut was impossible.

    For groups of two and a table that could be cut in the middle of its rows alone. Knows the
    truth of every other group, and strikes out all arrangements of the other values with which
    both halves could be dealt; claims what the arrangements that are left agree on.
    """
    members = published.members()
    order = sorted(range(len(published.group)), key=_row(published))
    left = frozenset(order[: len(order) // 2])
    if all(len(left.intersection(records)) != 1 for records in members.values()):
        return {}  # it was cut
    groups = sorted(members)
    known = {r: published.truth[r] for group in groups[::2] for r in members[group]}
    ways = [
        [dict(zip(members[group], held, strict=True)) for held in itertools.permutations(values)]
        for group in groups[1::2]
        for values in [published.values[group]]
    ]
    fitting = []
    for chosen in itertools.product(*ways):
        arranged = {r: value for part in (known, *chosen) for r, value in part.items()}
        halves = [Counter(v for r, v in arranged.items() if (r in left) == side) for side in (0, 1)]
        if any(2 * max(half.values()) > half.total() for half in halves):
            fitting.append(arranged)
    agreed = {r: {arranged[r] for arranged in fitting} for r in range(len(order))}
    return {r: min(found) for r, found in agreed.items() if r not in known and len(found) == 1}
