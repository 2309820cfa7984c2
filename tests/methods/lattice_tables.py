"""Small random tables with random hierarchies, and a few fixed ones, for searches over levels."""

from __future__ import annotations

import random
from typing import Any

import polars as pl
from hypothesis import strategies as st
from lattice_reference import Ladder, Row, range_ladder, tree_ladder

from incrowd._runtime.progress import silent
from incrowd.methods.base import RowTask
from incrowd.pipeline import Job

ILLS = ("flu", "hiv", "ulcer")
K = {"k-anonymity": {"k": 2}}


@st.composite
def partitions(draw: st.DrawFn) -> list[list[int]]:
    """Nested partitions of two to five values, one or two levels of them."""
    many = draw(st.integers(2, 5))
    levels = []
    for _ in range(draw(st.integers(0, 2))):
        groups = draw(st.integers(1, many))
        joined = draw(st.lists(st.integers(0, groups - 1), min_size=many, max_size=many))
        order = {group: place for place, group in enumerate(dict.fromkeys(joined))}
        levels.append([order[group] for group in joined])
        many = len(order)
    return levels or [list(range(many))]


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[Row], list[Ladder]]:
    ladders = [
        tree_ladder("job", draw(partitions())),
        tree_ladder("town", draw(partitions())),
        range_ladder("age", 12, draw(st.sampled_from([(3, 6), (6,), (1, 4)]))),
    ]
    cells = {
        ladder.name: st.sampled_from([*ladder.steps, *draw(st.sampled_from([[], [None]]))])
        for ladder in ladders
    }
    rows = st.fixed_dictionaries({**cells, "ill": st.sampled_from(ILLS)})
    return draw(st.lists(rows, min_size=4, max_size=14)), ladders


def job_of(rows: list[Row], ladders: list[Ladder], privacy: list[Any], limit: float) -> Job:
    names = [*(ladder.name for ladder in ladders), "ill"]
    policy = {
        "attributes": {
            **{ladder.name: {"role": "quasi", **ladder.spec} for ladder in ladders},
            "ill": "sensitive",
        },
        "privacy": privacy,
        "method": "incognito",
        "suppression": limit,
    }
    frame = pl.DataFrame(
        [{n: row[n] for n in names} for row in rows], dict.fromkeys(names, pl.String)
    )
    return Job.begin(frame, policy, silent)


PATIENTS: list[Row] = [
    {"birth": birth, "sex": sex, "zip": code, "ill": "flu"}
    for birth, sex, code in [
        ("1976-01-21", "Male", "53715"),
        ("1986-04-13", "Female", "53715"),
        ("1976-02-28", "Male", "53703"),
        ("1976-01-21", "Male", "53703"),
        ("1986-04-13", "Female", "53706"),
        ("1976-02-28", "Female", "53706"),
    ]
]


def patients_policy(**more: Any) -> dict[str, Any]:
    zips = {"537**": {"5371*": ["53715"], "5370*": ["53703", "53706"]}}
    return {
        "attributes": {
            "birth": {"role": "quasi", "type": "category"},
            "sex": "quasi",
            "zip": {"role": "quasi", "type": "category", "hierarchy": {"tree": zips}},
            "ill": "sensitive",
        },
        "privacy": [K],
        "method": "incognito",
        **more,
    }


def patients_task() -> RowTask:
    return Job.begin(pl.DataFrame(PATIENTS), patients_policy(), silent).task


def adults(records: int) -> tuple[list[Row], list[Ladder]]:
    """A table with many values per attribute, alike enough for groups to form."""
    draw = random.Random(3)
    ladders = [
        tree_ladder("job", [[v // 3 for v in range(24)], [v // 4 for v in range(8)]]),
        tree_ladder("town", [[v // 5 for v in range(30)], [v // 2 for v in range(6)]]),
        range_ladder("age", 96, (4, 16, 48)),
    ]
    rows: list[Row] = [
        {
            "job": f"job{min(int(draw.expovariate(0.3)), 23)}",
            "town": f"town{min(int(draw.expovariate(0.2)), 29)}",
            "age": str(draw.randint(18, 90)),
            "ill": draw.choice(ILLS),
        }
        for _ in range(records)
    ]
    return rows, ladders
