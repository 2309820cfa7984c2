"""Whether a promise says something: about columns and values that are there, with a bound.

A promise that every table keeps would lend a release a good name for nothing, and one that lists
values could tell of values that no record has.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from incrowd.verify.counting.groups import UnjudgeableError
from incrowd.verify.models import JUDGES
from incrowd.verify.verdict import PROMISES, Finding, counted, listed, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from incrowd.verify.counting.groups import PublishedGroups
    from incrowd.verify.files.layout import Layout, Promise

_NODE = re.compile(r"([1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,8})")


def judge_promises(layout: Layout, groups: PublishedGroups) -> Finding:
    """Return the judgement on what the promises are about, whether they are kept or not."""
    problems = [
        f"promise {number} ({shown(promise.model)[1:-1]}) {problem}"
        for number, promise in enumerate(layout.promises, start=1)
        if promise.model in JUDGES  # one without a judge fails by that
        for problem in (*_stated(promise, layout), *_counted(promise, layout, groups))
    ]
    problems += _of_nothing_promised(layout)
    if problems:
        return Finding(PROMISES, False, listed(problems))
    told = "each is about published columns and values, and bounds something"
    return Finding(PROMISES, True, told)


def _of_nothing_promised(layout: Layout) -> Iterator[str]:
    """That no promise is about attackers who know what is published as what they may know."""
    if not layout.known_events:
        return
    judges = [(JUDGES[each.model].known, each) for each in layout.promises if each.model in JUDGES]
    known = [told(promise.parameters) for told, promise in judges if told is not None]
    for at, names in enumerate((layout.quasi, layout.known_events)):
        if names and not any(each[at] for each in known):
            yield f"nothing is promised of who knows {shown(names[0])}"


def _stated(promise: Promise, layout: Layout) -> Iterator[str]:
    """What is wrong with a promise before any record is counted."""
    parameters, judge = promise.parameters, JUDGES[promise.model]
    yield from (
        f"has the unknown parameter {shown(name)}"
        for name in parameters
        if name not in judge.parameters
    )
    allowed = {part for (name, of), part in judge.beside.items() if parameters.get(name) == of}
    yield from (f"has the unknown part {shown(key)}" for key in promise.extra if key not in allowed)
    for name in _columns(parameters):
        if name not in layout.published:
            yield f"is about {shown(name)}, which is not published"
        apart = layout.quasi if judge.known is not None else (*layout.quasi, *layout.known_events)
        if name in apart:
            yield f"is about {shown(name)}, by which records are told apart"
    if judge.vacuous(parameters):
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
    parameters, judge = promise.parameters, JUDGES[promise.model]
    for name in judge.parameters:
        wanted = list(_inside(parameters.get(name)))
        texts = [text for text in wanted if isinstance(text, str)]
        if name not in judge.values:
            if texts and name != "sensitive":
                yield f"lists texts as {shown(name)}, which its judge does not look for"
        elif len({*texts}) != len(wanted):
            yield "lists what is no value, or one value twice"
        else:
            yield from _absent(texts, _columns(parameters), layout, groups)


def _inside(listed: object) -> Iterator[object]:
    """What stands in a list, or in lists within it; nothing where there is no list."""
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, list):
            yield from _inside(each)
        else:
            yield each


def _absent(
    texts: list[str], columns: list[str], layout: Layout, groups: PublishedGroups
) -> Iterator[str]:
    """That some values stand in none of the columns that a promise is about."""
    if not columns or not {*columns} <= {*layout.published}:
        return
    try:
        there = [groups.histogram(name).totals for name in columns]
    except UnjudgeableError:
        return  # the promise then fails by that
    (absent,) = groups.row(
        "SELECT count(*) FROM (SELECT unnest($texts::VARCHAR[]) AS text) AS wanted "
        + " ".join(f"ANTI JOIN {totals} USING (text)" for totals in there),
        {"texts": texts},
    )
    if absent:
        named = " and ".join(map(shown, columns))
        yield f"is about {counted(absent, 'value')} of {named} that no record has"


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
