"""An attacker who has read the code, and reruns the method on every table behind a release.

He knows the quasi-identifiers of everybody and the release. Every way to hand out the sensitive
values of each group to its members is a table that may be the original. He takes each for equally
likely, times the chance that the method makes this release of it: 0 or 1, or what a method that
draws at random makes of it. Where a method's choices depend on sensitive values, that makes him
surer than the shares in the groups (minimality attack: Wong, Fu, Wang, Pei 2007).
"""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pytest

from incrowd._runtime import randomness
from incrowd._runtime.progress import silent
from incrowd.counts import MemoryCounts
from incrowd.methods.base import Outcome, Task
from incrowd.methods.registry import run
from incrowd.pipeline import Job
from incrowd.table import Table

SENSITIVE, SICK = "ill", "HIV"
MOST_TABLES = 600
"""So many tables are all tried; of more, as many are drawn at random."""


@dataclass(frozen=True)
class Attacked:
    """What an attacker believes: for each record, how sure he is that it is sick."""

    belief: list[float]
    sick: list[bool]
    tables: int
    """How many tables agree with the groups."""
    tried: int
    left: float
    """How many of those he tried make the same release, each times the chance that it does."""

    def surer_than(self, bound: float) -> bool:
        """Whether he is surer of some record than the bound allows."""
        return max(self.belief) > bound + 1e-9

    def certain(self) -> list[bool]:
        """For each record of which he is certain, whether it is sick indeed."""
        return [s for b, s in zip(self.belief, self.sick, strict=True) if b > 1 - 1e-9]


def people(seed: int, records: int = 16) -> pl.DataFrame:
    """A small random table: an age, a sex, a town, and who is sick, at most half of all."""
    draw = random.Random(seed)
    sick = draw.randint(3, 6)
    ills = [SICK] * sick + ["Flu"] * (records - sick)
    draw.shuffle(ills)
    rows = [(draw.randint(20, 59), draw.choice("fm"), draw.choice("ABC"), ill) for ill in ills]
    return pl.DataFrame(rows, schema=["age", "sex", "town", SENSITIVE], orient="row")


def policy_of(method: Any, bound: float = 0.5, **more: Any) -> dict[str, Any]:
    """Two records in each group, at most half of them sick."""
    widths = {"start": 20, "stop": 60, "widths": [5, 10, 20]}
    return {
        "attributes": {
            "age": {"role": "quasi", "hierarchy": {"intervals": widths}},
            "sex": "quasi",
            "town": "quasi",
            SENSITIVE: "sensitive",
        },
        "privacy": [
            {"k-anonymity": {"k": 2}},
            {"confidence-bounding": {"C": bound, "sensitive": SENSITIVE, "values": [SICK]}},
        ],
        "method": method,
        **more,
    }


def attack(frame: pl.DataFrame, policy: dict[str, Any], seed: int = 0) -> Attacked:
    """What an attacker believes who reruns the method on all tables behind its release."""
    job = Job.begin(frame, policy, silent)
    table, task = job.prepared.table, job.task
    code = table[SENSITIVE].values.index(SICK)
    codes = table[SENSITIVE].codes.astype(np.int64)
    made = run(task, job.policy.method)
    seen = published(made, codes)
    groups = np.asarray(made.group_of_record)
    counted: dict[int, float] = defaultdict(float)
    left, all_tried = 0.0, 0
    tables = math.prod(
        math.comb(int((groups == g).sum()), int((codes[groups == g] == code).sum()))
        for g in range(len(made.group_sizes))
    )
    for tried in _tables(codes, groups, tables, random.Random(seed)):
        other = _with(task, table, tried)
        all_tried += 1
        chance = sum(
            weight
            for weight, again in every_draw(partial(run, other, job.policy.method))
            if published(again, tried) == seen
        )
        left += chance
        for record in np.flatnonzero(tried == code).tolist():
            counted[record] += chance
    believed = [counted[record] / left for record in range(len(codes))]
    return Attacked(believed, (codes == code).tolist(), tables, all_tried, left)


def every_draw(made: Callable[[], Outcome]) -> Iterator[tuple[float, Outcome]]:
    """What a method makes of each way its secret draws may fall, with the chance of it."""
    script: list[int] = []
    while True:
        draws = _Scripted(script)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(randomness, "permutation", draws.permutation)
            outcome = made()
        yield 1 / math.prod(draws.orders), outcome
        script = script + [0] * (len(draws.orders) - len(script))
        while script and script[-1] + 1 == draws.orders[len(script) - 1]:
            script.pop()
        if not script:
            return
        script[-1] += 1


class _Scripted:
    """Permutations that follow a script, and how many there were to choose from each time."""

    def __init__(self, script: Sequence[int]) -> None:
        self._script = script
        self.orders: list[int] = []

    def permutation(self, many: int) -> np.ndarray[Any, Any]:
        drawn = len(self.orders)
        place = self._script[drawn] if drawn < len(self._script) else 0
        self.orders.append(math.factorial(many))
        return np.array(_nth_order(place, many), dtype=np.int64)


def _nth_order(place: int, many: int) -> tuple[int, ...]:
    return next(itertools.islice(itertools.permutations(range(many)), place, None))


def published(outcome: Outcome, codes: np.ndarray[Any, Any]) -> Counter[tuple[Any, ...]]:
    """The table that a release shows: the labels of each record and its sensitive value."""
    shown = list(
        zip(
            *(
                [cells.texts[number] for number in cells.text_of_group]
                for cells in outcome.labels.values()
            ),
            strict=True,
        )
    )
    groups = np.asarray(outcome.group_of_record)
    return Counter(
        (shown[group], value)
        for group, value in zip(groups.tolist(), codes.tolist(), strict=True)
        if group >= 0
    )


def _tables(
    codes: np.ndarray[Any, Any], groups: np.ndarray[Any, Any], tables: int, draw: random.Random
) -> Iterator[np.ndarray[Any, Any]]:
    """All ways to hand out the values of each group within it, or as many drawn at random."""
    members = [np.flatnonzero(groups == g) for g in range(int(groups.max()) + 1)]
    if tables > MOST_TABLES:
        for _ in range(MOST_TABLES):
            tried = codes.copy()
            for group in members:
                values = codes[group].tolist()
                draw.shuffle(values)
                tried[group] = values
            yield tried
        return
    ways = [_arrangements(codes[group].tolist()) for group in members]
    for each in itertools.product(*ways):
        tried = codes.copy()
        for group, values in zip(members, each, strict=True):
            tried[group] = values
        yield tried


def _arrangements(values: Sequence[int]) -> list[tuple[int, ...]]:
    """The different orders of some values."""
    return sorted(set(_permuted(Counter(values), len(values))))


def _permuted(left: Counter[int], many: int) -> Iterator[tuple[int, ...]]:
    if not many:
        yield ()
        return
    for value in sorted(left):
        if left[value]:
            yield from ((value, *rest) for rest in _permuted(left - Counter([value]), many - 1))


def _with(task: Task, table: Table, codes: np.ndarray[Any, Any]) -> Task:
    """The task on the same table with other sensitive values."""
    own = table[SENSITIVE]
    column = replace(own, codes=codes.astype(own.codes.dtype))
    columns = tuple(column if each.name == SENSITIVE else each for each in table.columns)
    counts = task.counts
    assert isinstance(counts, MemoryCounts)
    other = replace(table, columns=columns)
    return replace(
        task, counts=MemoryCounts(other.in_memory(), counts.attributes, counts.sensitive)
    )
