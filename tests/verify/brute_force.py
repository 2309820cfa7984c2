"""Every privacy model judged from its definition, slowly, in exact fractions where it can be."""

from __future__ import annotations

import math
from collections import Counter, deque
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Spread = Counter[str]


def groups_of(rows: Sequence[Sequence[str]], quasi: Sequence[int], sensitive: int) -> list[Spread]:
    found: dict[tuple[str, ...], Spread] = {}
    for row in rows:
        found.setdefault(tuple(row[i] for i in quasi), Counter())[row[sensitive]] += 1
    return list(found.values())


def entropy_diversity(group: Spread) -> float:
    shares = [count / group.total() for count in group.values()]
    return math.exp(-math.fsum(share * math.log(share) for share in shares))


def recursive_holds(group: Spread, l: int, c: Fraction) -> bool:  # noqa: E741
    counts = sorted(group.values(), reverse=True)
    return len(counts) >= l and counts[0] < c * sum(counts[l - 1 :])


def recursive_l(group: Spread, c: Fraction) -> int:
    legal = range(1, len(group) + 1)
    return max((each for each in legal if recursive_holds(group, each, c)), default=0)


def recursive_c(group: Spread, l: int) -> Fraction | None:  # noqa: E741
    counts = sorted(group.values(), reverse=True)
    return Fraction(counts[0], sum(counts[l - 1 :])) if len(counts) >= l else None


def largest_share(group: Spread, values: Sequence[str] | None = None) -> Fraction:
    kept = group if values is None else values
    return max((Fraction(group[value], group.total()) for value in kept), default=Fraction(0))


def variation(group: Spread, whole: Spread) -> Fraction:
    return (
        sum(
            (
                abs(Fraction(group[value], group.total()) - Fraction(whole[value], whole.total()))
                for value in whole
            ),
            Fraction(0),
        )
        / 2
    )


def least_work(group: Spread, whole: Spread, cost: Callable[[str, str], int]) -> Fraction:
    """Move the shares of a group onto those of the whole at the least cost, as a network flow.

    Successive shortest paths on whole units (counts scaled to a common total), which is exact.
    """
    supply = {value: group[value] * whole.total() for value in group}
    demand = {value: whole[value] * group.total() for value in whole}
    flow = {(a, b): 0 for a in supply for b in demand}
    work = 0
    while any(supply.values()):
        path, price = _cheapest_path(supply, demand, flow, cost)
        amount = min(supply[path[0][0]], demand[path[-1][1]])
        amount = min([amount, *(flow[a, b] for a, b in path[1::2])])
        for step, (a, b) in enumerate(path):
            flow[a, b] += amount if step % 2 == 0 else -amount
        supply[path[0][0]] -= amount
        demand[path[-1][1]] -= amount
        work += amount * price
    return Fraction(work, group.total() * whole.total())


def _cheapest_path(
    supply: dict[str, int],
    demand: dict[str, int],
    flow: dict[tuple[str, str], int],
    cost: Callable[[str, str], int],
) -> tuple[list[tuple[str, str]], int]:
    """The cheapest way from a value with supply left to one with demand left.

    Its steps are moves from group to whole, and at odd positions moves taken back.
    """
    best: dict[tuple[str, str], tuple[int, list[tuple[str, str]]]] = {
        ("group", value): (0, []) for value, left in supply.items() if left
    }
    queue = deque(best)
    while queue:
        side, value = queue.popleft()
        price, path = best[side, value]
        if side == "group":
            moves = [(("whole", b), (value, b), price + cost(value, b)) for b in demand]
        else:
            taken = [a for a in supply if flow[a, value]]
            moves = [(("group", a), (a, value), price - cost(a, value)) for a in taken]
        for node, step, total in moves:
            if node not in best or total < best[node][0]:
                best[node] = (total, [*path, step])
                queue.append(node)
    price, path = min(
        (best["whole", value] for value, left in demand.items() if left),
        key=lambda found: found[0],
    )
    return path, price


def common_height(ancestors: dict[str, list[str]], a: str, b: str) -> int:
    """The height of the lowest common ancestor: its longest way down to any value."""
    if a == b:
        return 0
    paths = {value: tuple(reversed(labels)) for value, labels in ancestors.items()}
    depth = 0
    while depth < min(len(paths[a]), len(paths[b])) and paths[a][depth] == paths[b][depth]:
        depth += 1
    node = paths[a][:depth]
    return max(len(path) - depth + 1 for path in paths.values() if path[:depth] == node)
