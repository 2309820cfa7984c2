"""Whether a promise says something: about columns and values that are there, with a bound.

A promise that every table keeps would lend a release a good name for nothing, and one that lists
values could tell of values that no record has.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from incrowd.verify.counting.groups import UnjudgeableError
from incrowd.verify.verdict import PROMISES, Finding, counted, listed, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from incrowd.verify.counting.groups import PublishedGroups
    from incrowd.verify.files.layout import Layout, Promise

PARAMETERS: Mapping[str, frozenset[str]] = {
    "alpha-k": frozenset({"alpha", "k", "sensitive", "values"}),
    "beta-likeness": frozenset({"beta", "kind", "sensitive"}),
    "confidence-bounding": frozenset({"C", "sensitive", "values"}),
    "delta-disclosure": frozenset({"delta", "sensitive"}),
    "exponential-l": frozenset({"l", "sensitive"}),
    "k-anonymity": frozenset({"k"}),
    "l-alpha-diversity": frozenset(
        {"l", "alpha", "kind", "c", "sensitive", "categories", "weights"}
    ),
    "l-diversity": frozenset({"l", "kind", "c", "sensitive"}),
    "lkc": frozenset({"L", "K", "C", "sensitive", "values"}),
    "multi-sensitive": frozenset({"k", "l", "sensitive", "limits", "check"}),
    "p-sensitive": frozenset({"p", "k", "sensitive"}),
    "t-closeness": frozenset({"t", "distance", "sensitive"}),
}
"""The parameters of each model that is judged; no promise has others."""
_BESIDE = {"ordered": {"order"}, "hierarchical": {"ancestors"}}
"""What a promise of t-closeness has beside its parameters, by its distance."""
_NODE = re.compile(r"([1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,8})")


def judge_promises(layout: Layout, groups: PublishedGroups) -> Finding:
    """Return the judgement on what the promises are about, whether they are kept or not."""
    problems = [
        f"promise {number} ({shown(promise.model)[1:-1]}) {problem}"
        for number, promise in enumerate(layout.promises, start=1)
        if promise.model in PARAMETERS  # one without a judge fails by that
        for problem in (*_stated(promise, layout), *_counted(promise, layout, groups))
    ]
    if problems:
        return Finding(PROMISES, False, listed(problems))
    told = "each is about published columns and values, and bounds something"
    return Finding(PROMISES, True, told)


def _stated(promise: Promise, layout: Layout) -> Iterator[str]:
    """What is wrong with a promise before any record is counted."""
    parameters, known = promise.parameters, PARAMETERS[promise.model]
    yield from (
        f"has the unknown parameter {shown(name)}" for name in parameters if name not in known
    )
    distance = parameters.get("distance")
    allowed = _BESIDE.get(distance, set()) if isinstance(distance, str) else set()
    yield from (f"has the unknown part {shown(key)}" for key in promise.extra if key not in allowed)
    for name in _columns(parameters):
        if name not in layout.published:
            yield f"is about {shown(name)}, which is not published"
        if name in layout.quasi:
            yield f"is about {shown(name)}, by which records are told apart"
    if _is_vacuous(promise):
        yield "promises nothing, for every table keeps it"
    if "ancestors" in promise.extra and not _are_numbered(promise.extra["ancestors"]):
        yield "names the nodes above values, which are only numbered"


def _columns(parameters: Mapping[str, Any]) -> list[str]:
    named = parameters.get("sensitive")
    return [
        each for each in (named if isinstance(named, list) else [named]) if isinstance(each, str)
    ]


def _counted(promise: Promise, layout: Layout, groups: PublishedGroups) -> Iterator[str]:
    """What is wrong with the values that a promise lists: no record has one, or it stands twice."""
    parameters = promise.parameters
    sensitive, categories = parameters.get("sensitive"), parameters.get("categories")
    wanted = parameters.get("values")
    if isinstance(categories, list):
        wanted = [text for each in categories if isinstance(each, list) for text in each]
    if not isinstance(wanted, list) or sensitive not in layout.published:
        return
    texts = [text for text in wanted if isinstance(text, str)]
    if len({*texts}) != len(wanted):
        yield "lists what is no value, or one value twice"
        return
    try:
        made = groups.histogram(sensitive)
    except UnjudgeableError:
        return  # the promise then fails by that
    (absent,) = groups.row(
        "SELECT count(*) FROM (SELECT unnest($texts::VARCHAR[]) AS text) AS wanted"
        f" ANTI JOIN {made.totals} USING (text)",
        {"texts": texts},
    )
    if absent:
        yield f"is about {counted(absent, 'value')} of {shown(sensitive)} that no record has"


def _are_numbered(ancestors: object) -> bool:
    """Whether nodes above values bear numbers, in the order in which values name them."""
    seen: dict[int, int] = {}
    paths = ancestors.values() if isinstance(ancestors, dict) else ()
    for path in paths:
        for level, node in enumerate(path if isinstance(path, list) else (), start=1):
            match = _NODE.fullmatch(node) if isinstance(node, str) else None
            if match is None or int(match[1]) != level or int(match[2]) > seen.get(level, 0):
                return False
            seen[level] = max(seen.get(level, 0), int(match[2]) + 1)
    return True


def _is_vacuous(promise: Promise) -> bool:
    judged = _VACUOUS.get(promise.model)
    return judged is not None and judged(promise.parameters)


def _most(parameters: Mapping[str, Any], name: str, most: float) -> bool:
    """Whether a parameter is a number that is no more than one at which it bounds nothing."""
    value = parameters.get(name)
    return isinstance(value, int | float) and value <= most


def _least(parameters: Mapping[str, Any], name: str, least: float = 1) -> bool:
    value = parameters.get(name)
    return isinstance(value, int | float) and value >= least


def _one_value(parameters: Mapping[str, Any]) -> bool:
    """Whether any value suffices: with l = 1 and, for the recursive kind, any share."""
    if parameters.get("kind") == "recursive" and not _least(parameters, "c", 1 + 1e-9):
        return False
    return _most(parameters, "l", 1)


_VACUOUS: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    "alpha-k": lambda p: _least(p, "alpha") and _most(p, "k", 1),
    "confidence-bounding": lambda p: _least(p, "C"),
    "exponential-l": lambda p: _most(p, "l", 1),
    "k-anonymity": lambda p: _most(p, "k", 1),
    "l-alpha-diversity": lambda p: _one_value(p) and _most(p, "alpha", 0),
    "l-diversity": _one_value,
    "lkc": lambda p: _most(p, "K", 1) and _least(p, "C"),
    "multi-sensitive": lambda p: _most(p, "k", 1) and _most(p, "l", 1),
    "p-sensitive": lambda p: _most(p, "k", 1) and _most(p, "p", 1),
    "t-closeness": lambda p: _least(p, "t"),
}
"""For each model, whether its parameters bound nothing; the others always do."""
