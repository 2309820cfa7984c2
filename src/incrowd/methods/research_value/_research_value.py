"""Research value: every attribute at the level that keeps most of what a researcher wants of it.

Full-domain generalization, as incognito makes it, but chosen by weights and data constraint rules:
of all strings of levels that satisfy the models, the one of the highest research value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd._runtime.plain_fields import PlainFields
from incrowd.errors import ParameterError
from incrowd.methods.base import Outcome, RowTask
from incrowd.methods.lattice.crowd_check import knows_part
from incrowd.methods.lattice.outcomes import named, node_outcome
from incrowd.methods.reach import refuse_not_monotone, refuse_unreachable
from incrowd.methods.research_value import ResearchValueOptions
from incrowd.methods.research_value._best_first import Answer, BestFirst
from incrowd.methods.research_value._distributed import distributed_search
from incrowd.methods.research_value._halving import local_search
from incrowd.methods.research_value._listing import global_search, hybrid_search
from incrowd.methods.research_value._strings import ScoredLevels, Strings


@dataclass(frozen=True)
class Alternative(PlainFields):
    """A string that satisfies the models, for a content expert to choose from."""

    value: float
    """Its research value."""
    levels: Mapping[str, int]
    roots: tuple[str, ...]
    """The attributes of which it shows nothing."""
    suppressed: int
    groups: int
    smallest: int
    """The records of its smallest group."""
    average: float
    """The records of a group, on average."""


def research_value(task: RowTask, options: ResearchValueOptions | None = None) -> Outcome:
    """The full-domain generalization of the highest research value under all models of the task.

    Parameters
    ----------
    task
        Counts, columns, hierarchies, what the researcher wants, and models, all of them monotone.
    options
        The search. `best-first`, `global` and `hybrid` find the best string there is; `local` and
        `distributed` one of their own.

    Notes
    -----
    With suppression, attackers who know a few attributes are judged as if they knew all; where
    dropping nothing and judging them by what they know is worth as much, that is taken.

    References
    ----------
    Morton (2012), An improved utility driven approach towards k-anonymity using data constraint
    rules, Figures 3 to 5. Differs from the thesis: what is more general is so in every attribute
    or equal; records may be suppressed; any monotone model.
    """
    options = options or ResearchValueOptions()
    strings, answer = _searched(task, options)
    if task.most_suppressed and any(knows_part(m, len(task.columns)) for m in task.models):
        whole, other = _searched(replace(task, suppression=0.0), options)
        if other.found[0].score >= answer.found[0].score:
            strings, answer = whole, other
    best = answer.found[0]
    outcome = node_outcome(strings.task, strings.sets, best.levels, strings.check.smallest)
    if answer.proven:
        return outcome
    remark = (
        f"The research value of these levels is {strings.value(best.levels):.4f}; the search was "
        f"ended before it could rule out more, at most {answer.most:.4f}."
    )
    return replace(outcome, remarks=(remark,))


def alternatives(
    task: RowTask,
    options: ResearchValueOptions | None = None,  # noqa: ARG001 - as for `research_value`
    n: int = 10,
) -> list[Alternative]:
    """The best strings with no other one below them, for a content expert to choose from.

    They are found best-first, whatever search the options name: the searches of the thesis keep
    only strings that improve on the one before.

    Example
    -------
    >>> import polars
    >>> from incrowd.pipeline import Job
    >>> from incrowd.methods.base import silent
    >>> frame = polars.DataFrame({"sex": ["F", "F", "M", "M"], "zip": ["1", "2", "1", "2"]})
    >>> policy = {
    ...     "attributes": {
    ...         "sex": {"role": "quasi", "weight": 3.0},
    ...         "zip": {"role": "quasi", "weight": 1.0},
    ...     },
    ...     "privacy": [{"k-anonymity": {"k": 2}}],
    ...     "method": "research-value",
    ... }
    >>> task = Job.begin(frame, policy, silent).task
    >>> [(each.value, each.roots) for each in alternatives(task)]
    [(0.875, ('zip',)), (0.625, ('sex',))]
    """
    if n < 1:
        raise ParameterError(f"alternatives: at least one must be asked for, got {n}.")
    refuse_not_monotone(task)
    refuse_unreachable(task)
    strings = Strings(task)
    answer = BestFirst(strings).best(wanted=n)
    return [_alternative(strings, found) for found in answer.found]


def _searched(task: RowTask, options: ResearchValueOptions) -> tuple[Strings, Answer]:
    refuse_not_monotone(task)
    refuse_unreachable(task)
    strings = Strings(task)
    if options.search == "best-first":
        return strings, BestFirst(strings).best()
    searches = {
        "global": global_search,
        "hybrid": hybrid_search,
        "local": local_search,
        "distributed": distributed_search,
    }
    found = searches[options.search](strings)
    return strings, Answer([found], -np.inf)


def _alternative(strings: Strings, found: ScoredLevels) -> Alternative:
    rolled = strings.sets.at(found.levels)
    sizes: IntArray = rolled.sizes[~strings.check.dropped(rolled)]
    return Alternative(
        value=strings.value(found.levels),
        levels=named(strings.task, found.levels),
        roots=tuple(strings.roots(found.levels)),
        suppressed=found.suppressed,
        groups=len(sizes),
        smallest=int(sizes.min()),
        average=float(sizes.mean()),
    )
