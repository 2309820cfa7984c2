"""The search of the levels `own` and `joint` over pooled records with their owner, in plain Python.

Written from the rules in docs/federation-security.md; shares no code with the package. Attributes
are trees of values; a table is a list of records, each a dict with `owner`.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

Record = dict[str, Any]


@dataclass(frozen=True)
class Node:
    """Values under a label, in their order, and the nodes below; one alone below is itself."""

    values: tuple[Any, ...]
    below: tuple[Node, ...] = ()


def tree(spec: Any) -> list[Node]:
    """The nodes that a policy's tree lists."""
    if isinstance(spec, dict):
        return [joined(tree(below)) for below in spec.values()]
    return [Node((value,)) for value in spec]


def intervals(start: int, stop: int, widths: Sequence[int]) -> list[Node]:
    """The nodes of nested intervals of whole numbers."""
    nodes = [Node((number,)) for number in range(start, stop)]
    for width in widths:
        held: dict[int, list[Node]] = {}
        for node in nodes:
            held.setdefault((node.values[0] - start) // width, []).append(node)
        nodes = [joined(each) for each in held.values()]
    return nodes


def joined(nodes: Sequence[Node]) -> Node:
    """A node over others."""
    if len(nodes) == 1:
        return nodes[0]
    return Node(tuple(value for node in nodes for value in node.values), tuple(nodes))


@dataclass
class Rules:
    """What decides: the crowds that are judged, and what is rounded."""

    L: int
    K: int
    C: float
    sensitive: str
    listed: list[Any] | None
    target: str
    classes: list[Any]
    values: list[Any]
    """Of the sensitive attribute, in the order of the policy, None behind."""
    order: str
    goal: str
    level: str
    m: int = 0

    @property
    def step(self) -> int:
        return self.K if self.K > 1 else 10

    def told(self, count: int) -> int:
        """What a hospital tells of a count."""
        return 0 if count < self.step else (count + self.step // 2) // self.step * self.step


class Search:
    """The table as it is specialized; `shown` has the nodes of each attribute at the end."""

    def __init__(self, records: list[Record], roots: dict[str, Node], rules: Rules) -> None:
        self.records, self.rules = records, rules
        self.names = list(roots)
        self.owners = sorted({each["owner"] for each in records})
        self.place = {
            name: {value: place for place, value in enumerate(root.values)}
            for name, root in roots.items()
        }
        self.shown = {name: [root] for name, root in roots.items()}
        self.steps = 0
        self.waiting: list[Any] = []
        if not self.private(self.shown):
            raise ValueError("even one group is not private")
        for name in self.names:
            self.propose(name, self.shown[name])
        self.run()

    # -- who is judged -----------------------------------------------------------------------

    def judged(self) -> list[list[Record]]:
        if self.rules.level == "own":
            return [[r for r in self.records if r["owner"] == owner] for owner in self.owners]
        return [
            [r for r in self.records if r["owner"] not in out]
            for size in range(self.rules.m + 1)
            for out in combinations(self.owners, size)
        ]

    def private(self, shown: dict[str, list[Node]]) -> bool:
        """Whether every crowd of up to L facts is, for all that are judged."""
        label = {
            name: {value: place for place, node in enumerate(nodes) for value in node.values}
            for name, nodes in shown.items()
        }
        for records in self.judged():
            for size in range(min(self.rules.L, len(self.names)) + 1):
                for known in combinations(self.names, size):
                    crowds: dict[Any, list[Record]] = {}
                    for each in records:
                        key = tuple(label[name][each[name]] for name in known)
                        crowds.setdefault(key, []).append(each)
                    if not all(self.will_do(crowd) for crowd in crowds.values()):
                        return False
        return True

    def will_do(self, crowd: list[Record]) -> bool:
        rules = self.rules
        if len(crowd) < rules.K:
            return False
        held = Counter(each[rules.sensitive] for each in crowd)
        protected = rules.values if rules.listed is None else rules.listed
        return all(held[value] <= (rules.C + 1e-9) * len(crowd) for value in protected)

    # -- the search --------------------------------------------------------------------------

    def propose(self, name: str, nodes: Sequence[Node]) -> None:
        for node in nodes:
            while node.below:
                if not all(
                    self.will_do(crowd)
                    for records in self.judged()
                    for child in node.below
                    if (crowd := [r for r in records if r[name] in child.values])
                ):
                    break
                held = [c for c in node.below if any(r[name] in c.values for r in self.records)]
                if len(held) > 1:
                    score = math.inf if self.rules.goal == "general" else self.gain(name, held)
                    self.put(name, node, held, score, -1)
                    break
                self.shown[name][self.shown[name].index(node)] = held[0]
                node = held[0]

    def put(self, name: str, node: Node, held: list[Node], score: float, at: int) -> None:
        places = self.place[name]
        key = (-score, self.names.index(name), places[node.values[0]], places[node.values[-1]])
        heapq.heappush(self.waiting, (key, id(node), name, node, held, at))

    def run(self) -> None:
        while self.waiting:
            _, _, name, node, held, at = heapq.heappop(self.waiting)
            if self.rules.goal == "general" and at != self.steps:
                before = self.waiting[:]
                self.put(name, node, held, self.squares(name, node, held), self.steps)
                if before and self.waiting[0][3] is not node:
                    continue
                heapq.heappop(self.waiting)
            kept = [each for each in self.shown[name] if each is not node]
            after = {**self.shown, name: [*kept, *held]}
            if self.private(after):
                self.shown = after
                self.steps += 1
                self.propose(name, held)

    # -- scores ------------------------------------------------------------------------------

    def counts(self, key: Callable[[Record], Any]) -> list[Counter[Any]]:
        """How many records of each hospital have each key."""
        every = [Counter(key(r) for r in self.records if r["owner"] == o) for o in self.owners]
        return [Counter({k: self.rules.told(n) for k, n in one.items()}) for one in every]

    def gain(self, name: str, children: list[Node]) -> float:
        rules = self.rules
        child_of = {value: i for i, child in enumerate(children) for value in child.values}
        cells: Counter[Any] = sum(
            self.counts(lambda r: (child_of.get(r[name]), r[rules.target])), Counter()
        )
        parts = [[cells[i, c] for c in rules.classes] for i in range(len(children))]
        whole = [sum(column) for column in zip(*parts, strict=True)]
        sizes = [sum(part) for part in parts]
        bits = entropy(whole) - sum(entropy(part) for part in parts)
        filled, classes = sum(size > 0 for size in sizes), sum(n > 0 for n in whole)
        chance = max(filled - 1, 0) * max(classes - 1, 0) / (2 * math.log(2))
        if rules.order == "greedy":
            return round(bits / max(sum(sizes), 1), 12)
        return self.worth((bits - chance) / len(self.records), sizes)

    def squares(self, name: str, node: Node, children: list[Node]) -> float:
        child_of = {value: i for i, child in enumerate(children) for value in child.values}
        label = {
            other: {value: i for i, each in enumerate(nodes) for value in each.values}
            for other, nodes in self.shown.items()
        }
        before = after = 0
        sizes = [0] * len(children)
        for owner in self.owners:
            cells = Counter(
                (tuple(label[other][r[other]] for other in self.names), child_of[r[name]])
                for r in self.records
                if r["owner"] == owner and r[name] in node.values
            )
            groups: Counter[Any] = Counter()
            for (group, child), number in cells.items():
                told = self.rules.told(number)
                groups[group] += told
                after += told**2
                sizes[child] += told
            before += sum(n**2 for n in groups.values())
        if self.rules.order == "greedy":
            return float(before)
        return self.worth((before - after) / len(self.records) ** 2, sizes)

    def worth(self, worth: float, sizes: Sequence[int]) -> float:
        if self.rules.order == "gain" or worth <= 0:
            return round(worth, 12)
        used = n_log_n(sum(sizes)) - sum(n_log_n(size) for size in sizes)
        return round(worth / (0.2 + used / len(self.records)), 12)


def entropy(counts: Sequence[int]) -> float:
    """Entropy in bits times the records."""
    return n_log_n(sum(counts)) - sum(n_log_n(count) for count in counts)


def n_log_n(n: int) -> float:
    return n * math.log2(n) if n else 0.0
