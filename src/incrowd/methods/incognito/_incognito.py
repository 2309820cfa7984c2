"""Incognito: every attribute at one level of its hierarchy, the best such table there is.

The nodes of a lattice give each quasi-identifier a level, for all records alike (full-domain
generalization, a global recoding). The search looks at few of them: a node that needs too much
suppression rules out all that are more specific, and what one node shows of its cost bounds that
of others. A node with all but a few attributes at `*` is the projection on these, so the pruning
by subsets of attributes is a part of this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from incrowd.errors import ParameterError, PrivacyError
from incrowd.methods.base import Outcome, RowTask
from incrowd.methods.incognito import IncognitoOptions
from incrowd.methods.incognito._open_nodes import OpenNodes
from incrowd.methods.lattice.crowd_check import knows_part
from incrowd.methods.lattice.metrics import metric_of
from incrowd.methods.lattice.node_check import NodeCheck, NodeFinding
from incrowd.methods.lattice.outcomes import named, node_outcome
from incrowd.methods.lattice.rollup import FrequencySets, Levels, is_above
from incrowd.methods.reach import refuse_not_monotone, refuse_unreachable

_MOST_NODES = 10_000_000
_SAME = 1e-12


@dataclass(frozen=True)
class Solution:
    """A node that satisfies all models: its levels, its cost under the metric, what it drops."""

    levels: Mapping[str, int]
    cost: float
    suppressed: int


class Incognito:
    """The search for the best node, or for all minimal ones.

    Parameters
    ----------
    task
        Counts, columns, hierarchies and models, all of them monotone.
    options
        The metric that the best node has least of.

    Notes
    -----
    One frequency set is asked of the home of the records, that of the distinct rows; all others
    are rolled up from smaller ones in memory. The lattice has as many nodes as the product of the
    attributes' levels, and takes 33 bytes for each. In the worst case all are looked at.

    References
    ----------
    LeFevre, DeWitt, Ramakrishnan (2005), Incognito: efficient full-domain k-anonymity. Chains of
    nodes are searched by halving as in Kohlmayer et al. (2012), Flash.
    Differs from the paper: subsets of attributes have no lattices of their own but are the
    nodes with `*` elsewhere; records may be suppressed.
    """

    def __init__(self, task: RowTask, options: IncognitoOptions | None = None) -> None:
        refuse_not_monotone(task)
        self._task = task
        shape = [task.hierarchies[column.name].height + 1 for column in task.columns]
        self.nodes = int(np.prod(shape, dtype=np.float64))
        if self.nodes > _MOST_NODES:
            raise ParameterError(
                f"incognito: the levels of {len(shape)} quasi-identifiers make {self.nodes:,} "
                f"tables to choose from, more than {_MOST_NODES:,}. Give some hierarchies fewer "
                "levels, or take mondrian or top-down-specialization."
            )
        refuse_unreachable(task)
        self._sets = FrequencySets(task)
        metric = metric_of((options or IncognitoOptions()).metric, task, self._sets, shape)
        self._settled = metric.settled
        self._least = metric.at_least()
        self._check = NodeCheck(task, self._sets, metric, self._least)

    @property
    def checked(self) -> int:
        """How many nodes were looked at so far."""
        return self._check.looked_at

    def best(self) -> NodeFinding:
        """The solution of least cost; of equal ones that with the fewest steps, lowest levels.

        Invariant: an open node costs at least its bound, and a closed one is no better solution
        than the best one found. The search ends when no open node may cost as little as that.
        """
        nodes = OpenNodes(self._least)
        best: NodeFinding | None = None

        def found(finding: NodeFinding) -> None:
            nonlocal best
            self._bound(nodes, finding)
            if finding.solution and (best is None or _is_better(finding, best)):
                best = finding

        while True:
            first, cost = nodes.first()
            most = np.inf if best is None else best.cost + _SAME
            if np.isinf(cost) or cost > most:
                break
            self._search_chain(nodes, first, most, found)
        if best is None:
            raise PrivacyError(
                "incognito: no levels of the hierarchies satisfy all models, not even `*` for "
                "every attribute. Use mondrian, or ask for less."
            )
        return best

    def minimal(self) -> list[NodeFinding]:
        """All solutions without a solution below them, cheapest first.

        Invariant: a closed node is no solution, or lies above one, or was looked at.
        """
        nodes = OpenNodes(self._least)
        solutions: dict[Levels, NodeFinding] = {}

        def found(finding: NodeFinding) -> None:
            if finding.dooms:
                nodes.close_below(finding.levels)
            elif finding.solution:
                nodes.close_above(finding.levels)
                above = [each for each in solutions if is_above(each, finding.levels)]
                for each in above:
                    del solutions[each]
                solutions[finding.levels] = finding
            else:
                nodes.close(finding.levels)

        while True:
            first, cost = nodes.first()
            if np.isinf(cost):
                break
            self._search_chain(nodes, first, np.inf, found)
        return sorted(solutions.values(), key=_rank)

    def outcome(self, finding: NodeFinding) -> Outcome:
        """The groups and labels of a node."""
        return node_outcome(self._task, self._sets, finding.levels, self._check.smallest)

    def named(self, finding: NodeFinding) -> dict[str, int]:
        """The level of every attribute at a node, by name."""
        return named(self._task, finding.levels)

    def _bound(self, nodes: OpenNodes, finding: NodeFinding) -> None:
        """Close a node, and tell others what it proves of them."""
        if finding.dooms:
            nodes.close_below(finding.levels)
            return
        nodes.close(finding.levels)
        if finding.extra_below > 0:
            nodes.raise_below(finding.levels, finding.extra_below)
        if not self._settled:
            nodes.raise_above(finding.levels, finding.price)

    def _search_chain(
        self, nodes: OpenNodes, first: Levels, most: float, found: Callable[[NodeFinding], None]
    ) -> None:
        """Halve a chain from a node upwards, down to the lowest solution on it."""
        chain = nodes.chain(first, most)
        low, high = 0, len(chain) - 1
        while low <= high:
            middle = (low + high) // 2
            solution = False
            if nodes.is_open(chain[middle]):
                finding = self._check.look_at(chain[middle])
                solution = finding.solution
                found(finding)
                self._task.progress("searching levels", self.checked, self.nodes)
            if solution:
                high = middle - 1
            else:
                low = middle + 1


def incognito(task: RowTask, options: IncognitoOptions | None = None) -> Outcome:
    """The full-domain generalization of least cost under all models of the task.

    With suppression, attackers who know a few attributes are judged as if they knew all; where
    dropping nothing and judging them by what they know costs no more, that is taken.
    """
    search = Incognito(task, options)
    best = search.best()
    if task.most_suppressed and any(knows_part(m, len(task.columns)) for m in task.models):
        whole = Incognito(replace(task, suppression=0.0), options)
        other = whole.best()
        if other.cost <= best.cost:
            return whole.outcome(other)
    return search.outcome(best)


def minimal_solutions(task: RowTask, options: IncognitoOptions | None = None) -> list[Solution]:
    """All nodes that satisfy the models and have no such node below them, cheapest first.

    Example
    -------
    >>> import polars
    >>> from incrowd.pipeline import Job
    >>> from incrowd.methods.base import silent
    >>> frame = polars.DataFrame({"sex": ["F", "F", "M", "M"], "zip": ["1", "2", "1", "2"]})
    >>> policy = {
    ...     "attributes": {"sex": "quasi", "zip": "quasi"},
    ...     "privacy": [{"k-anonymity": {"k": 2}}],
    ... }
    >>> task = Job.begin(frame, policy, silent).task
    >>> [solution.levels for solution in minimal_solutions(task)]
    [{'sex': 0, 'zip': 1}, {'sex': 1, 'zip': 0}]
    """
    search = Incognito(task, options)
    return [Solution(search.named(f), f.cost, f.suppressed) for f in search.minimal()]


def _rank(finding: NodeFinding) -> tuple[float, int, Levels]:
    return (finding.cost, sum(finding.levels), finding.levels)


def _is_better(one: NodeFinding, other: NodeFinding) -> bool:
    if abs(one.cost - other.cost) > _SAME:
        return one.cost < other.cost
    return _rank(one)[1:] < _rank(other)[1:]
