"""What is published is a function of what it shows, whatever lies behind it.

The attacker has read the code and holds the files. Whatever could be told apart by bytes that no
cell shows (an order of rows, a number of a group, a measurement, a dictionary of Parquet) would be
computed back; so tables that show the same must be the same, byte by byte.
"""

from __future__ import annotations

import itertools
import random
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd
from incrowd._runtime.progress import silent
from incrowd.methods.base import Outcome
from incrowd.methods.registry import run
from incrowd.pipeline import Job

Row = dict[str, str]
TREE = {"West": {"Coast": ["a", "b"], "Hill": ["c"]}, "East": {"Lake": ["d"], "Wood": ["e", "f"]}}
ATTRIBUTES: dict[str, Any] = {
    "age": {"role": "quasi", "type": "numeric", "hierarchy": "auto"},
    "zone": {"role": "quasi", "hierarchy": {"tree": TREE}},
    "sex": "quasi",
    "ill": "sensitive",
    "drug": "sensitive",
    "out": "target",
    "ward": "keep",
}
SENSITIVE = ("ill", "drug")
BESIDE = (*SENSITIVE, "out", "ward")
METHODS: dict[str, Any] = {
    "mondrian": "mondrian",
    "mondrian by medians": {"name": "mondrian", "split": "median", "labels": "hierarchy"},
    "top-down-specialization": "top-down-specialization",
    "top-down-local": "top-down-local",
    "incognito": "incognito",
    "research-value": "research-value",
    "clustering": "clustering",
    "clustering by research value": {
        "name": "clustering",
        "distance": "research-value",
        "suppression": True,
    },
    "clustering without overlap": {"name": "clustering", "overlap": "forbid"},
}
LAYOUTS = ("generalized", "anatomy", "lossy-join")
FORMATS = ("csv", "parquet")
PRIVACY: dict[str, list[dict[str, Any]]] = {
    "sizes": [{"k-anonymity": {"k": 3}}],
    "values": [
        {"k-anonymity": {"k": 3}},
        {"l-diversity": {"l": 2, "sensitive": "ill"}},
        {"confidence-bounding": {"C": 0.8, "sensitive": "drug"}},
    ],
    "joint": [{"multi-sensitive": {"k": 3, "l": 2, "sensitive": ["ill", "drug"]}}],
}


@cache
def people(number: int = 60) -> list[Row]:
    """Records with few ages, so that many are equal in their quasi-identifiers."""
    draw = random.Random(number)
    columns = {
        "age": [str(age) for age in range(30, 36)],
        "zone": list("abcdef"),
        "sex": ["f", "m"],
        "ill": ["flu", "hiv", "cold", "gout"],
        "drug": ["x", "y", "z"],
        "out": ["-", "+"],
        "ward": ["1", "2"],
    }
    return [{name: draw.choice(texts) for name, texts in columns.items()} for _ in range(number)]


def begun(rows: list[Row], method: str, privacy: str, **asked: Any) -> Job:
    policy = {
        "attributes": ATTRIBUTES,
        "privacy": PRIVACY[privacy],
        "method": METHODS[method],
        **asked,
    }
    return Job.begin(pl.DataFrame(rows), policy, silent)


def files(release: incrowd.Release) -> dict[str, bytes]:
    """Every file of a release but the report; the order in which a manifest lists them, too."""
    with tempfile.TemporaryDirectory() as folder:
        release.save(Path(folder) / "release", report=False)
        found = (Path(folder) / "release").iterdir()
        return {path.name: path.read_bytes() for path in sorted(found)}


def behind(rows: list[Row], outcome: Outcome, layout: str, draw: random.Random) -> list[Row]:
    """Other records that the same tables show: what is apart from the quasi-identifiers moves.

    Generalized, all that stands beside the labels moves from record to record of a group; in a
    lossy join the sensitive values of a record together; in anatomy each attribute by itself.
    """
    moving: dict[str, list[tuple[str, ...]]] = {"generalized": [BESIDE], "lossy-join": [SENSITIVE]}
    group = np.asarray(outcome.group_of_record)
    changed = [dict(row) for row in rows]
    for number in np.unique(group[group >= 0]).tolist():
        members = np.flatnonzero(group == number).tolist()
        for names in moving.get(layout, [(name,) for name in SENSITIVE]):
            for to, source in zip(members, draw.sample(members, len(members)), strict=True):
                changed[to].update({name: rows[source][name] for name in names})
    return changed


CASES = [
    (method, layout, FORMATS[at % 2], privacy)
    for at, (method, layout) in enumerate(itertools.product(METHODS, LAYOUTS))
    for privacy in (("values", "joint") if method == "mondrian" else ("values",))
]


@pytest.mark.parametrize(("method", "layout", "file_format", "privacy"), CASES)
def test_groups_that_show_the_same_are_published_alike(
    method: str, layout: str, file_format: str, privacy: str
) -> None:
    """Who holds what inside a group changes no byte of any file."""
    rows, asked = people(), {"publish": layout, "format": file_format, "suppression": 0.05}
    job = begun(rows, method, privacy, **asked)
    outcome = run(job.task, job.policy.method)
    changed = behind(rows, outcome, layout, random.Random(1))
    assert changed != rows
    other = begun(changed, method, privacy, **asked)
    assert files(other.release(outcome)) == files(job.release(outcome))


@pytest.mark.parametrize("privacy", ["sizes", "values"])
@pytest.mark.parametrize("method", [each for each in METHODS if each != "top-down-local"])
def test_the_order_of_the_source_is_not_published(method: str, privacy: str) -> None:
    """Also where many records are equal; top-down-local draws which of these go where."""
    asked = {"publish": "lossy-join", "format": "parquet", "suppression": 0.05}
    made = []
    for rows in (people(), people()[::-1]):
        job = begun(rows, method, privacy, **asked)
        made.append(files(job.release(run(job.task, job.policy.method))))
    assert made[0] == made[1]


@pytest.mark.parametrize("method", METHODS)
def test_a_search_that_counts_no_sensitive_value_is_blind_to_them(method: str) -> None:
    """Under promises about sizes alone, other values lead to the same labels."""
    rows, draw = people(), random.Random(2)
    ills = draw.sample([row["ill"] for row in rows], len(rows))
    changed = [{**row, "ill": ill} for row, ill in zip(rows, ills, strict=True)]
    shown = []
    for each in (rows, changed):
        job = begun(each, method, "sizes", suppression=0.05)
        release = job.release(run(job.task, job.policy.method))
        shown.append((release.data.select("age", "zone", "sex").rows(), release.manifest))
    assert shown[0] == shown[1]


LINKED = ["a1 b1", "a1 b1", "a2 b2", "a3 b3"]
CROSSED = ["a1 b2", "a1 b3", "a2 b1", "a3 b1"]
"""The same values of both attributes; three must be ruled out of the first, two of the second."""


@pytest.mark.parametrize("report", [False, True])
def test_how_well_a_joint_promise_is_kept_is_not_told_where_values_stand_apart(
    report: bool, tmp_path: Path
) -> None:
    """The judge needs the original here; its measurements would tell which values belong together.

    Of two tables that anatomy shows alike the attacker would learn which one it was.
    """
    policy = {
        "attributes": {"age": "quasi", "ill": "sensitive", "drug": "sensitive"},
        "privacy": PRIVACY["joint"],
        "publish": "anatomy",
    }
    made, measured = [], []
    for rows in (LINKED, CROSSED):
        values = [("30", *row.split()) for row in rows]
        frame = pl.DataFrame(values, schema=["age", "ill", "drug"], orient="row")
        place = tmp_path / rows[1]
        verdict = incrowd.anonymize(frame, policy).save(place, report=report)
        measured.append(verdict.measured)
        assert incrowd.verify(place).holds
        assert incrowd.verify(place, original=frame).measured == verdict.measured
        made.append({path.name: path.read_bytes() for path in place.iterdir()})
    assert measured[0] != measured[1], "whoever holds the original is told"
    assert made[0] == made[1]
