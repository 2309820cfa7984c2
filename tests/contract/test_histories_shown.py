"""A release of patients with several rows is a function of what it shows, but for the pseudonyms.

Whose a history is inside a group, the order of the source and what suppressed patients held change
nothing: not a cell, not a number of the manifest, not a sentence of the report.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd
from incrowd._runtime.progress import silent
from incrowd.methods import METHOD_OPTIONS
from incrowd.methods.registry import run
from incrowd.pipeline import Job

# Top-down-local draws which of equal patients go where.
METHODS = [
    name
    for name, each in METHOD_OPTIONS.items()
    if each.generalizes and not each.knows_events and name != "top-down-local"
]
Own = list[tuple[str, int, str]]
Held = dict[str, list[tuple[str, str]]]
SIZES = {"k-anonymity": {"k": 3}}


def people(seed: int = 1) -> tuple[Own, Held]:
    """Patients with few ages, so that many are equal, and what each holds."""
    draw = random.Random(seed)
    own = [(f"p{n}", draw.randint(30, 33), draw.choice("fm")) for n in range(40)]
    held = {
        who: [
            (draw.choice(("flu", "hiv", "gout", "")), draw.choice("AB"))
            for _ in range(draw.choice((1, 1, 2, 4)))
        ]
        for who, *_ in own
    }
    return own, held


def source(own: Own, held: Held, shape: str, turn: int = 1) -> Any:
    """The flat file or the tables; those of another `turn` have their rows in another order."""
    events = [(who, *each) for who, *_ in own for each in held[who]]
    if shape == "flat":
        of = {row[0]: row for row in own}
        rows = [(*of[who], *each) for who, *each in events][::turn]
        return pl.DataFrame(rows, ["id", "age", "sex", "ill", "ward"], orient="row")
    return {
        "patients": pl.DataFrame(own[::turn], ["id", "age", "sex"], orient="row"),
        "visits": pl.DataFrame(events[::turn], ["id", "ill", "ward"], orient="row"),
    }


def policy_of(shape: str, method: str) -> dict[str, Any]:
    own: dict[str, Any] = {"age": {"role": "quasi", "type": "numeric"}, "sex": "quasi"}
    more: dict[str, Any] = {"method": method, "suppression": 0.1}
    bounded = {"confidence-bounding": {"C": 0.9, "sensitive": "ill"}}
    if shape == "flat":
        event = {name: {"role": "sensitive", "level": "event"} for name in ("ill", "ward")}
        named = {"id": "identifier", **own, **event}
        return {"unit": "id", "attributes": named, "privacy": [SIZES, bounded], **more}
    bounded = {"confidence-bounding": {"C": 0.9, "sensitive": "visits.ill"}}
    visits = {"unit": "id", "attributes": dict.fromkeys(("ill", "ward"), "sensitive")}
    return {
        "patients": {"key": "id", "attributes": own},
        "tables": {"visits": visits},
        "privacy": [SIZES, bounded],
        **more,
    }


def told(release: incrowd.Release) -> tuple[Any, ...]:
    """The manifest, and what each pseudonym shows in all tables, in no order of pseudonyms."""
    shown: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for name, table in release.tables.items():
        for who, *cells in table.rows():
            shown[who].append((name, *map(str, cells)))
    return release.manifest, sorted(sorted(rows) for rows in shown.values())


@pytest.mark.parametrize("shape", ["flat", "linked"])
@pytest.mark.parametrize("method", METHODS)
def test_whose_a_history_is_inside_a_group_is_not_shown(
    method: str, shape: str, same_draws: None
) -> None:
    own, held = people()
    policy, draw = policy_of(shape, method), random.Random(2)
    job = Job.begin(source(own, held, shape), policy, silent)
    outcome = run(job.task, job.policy.method)
    group, changed = np.asarray(outcome.group_of_record), dict(held)
    for number in np.unique(group[group >= 0]).tolist():
        members = [own[at][0] for at in np.flatnonzero(group == number).tolist()]
        for to, of in zip(members, draw.sample(members, len(members)), strict=True):
            changed[to] = held[of]
    assert changed != held
    other = Job.begin(source(own, changed, shape), policy, silent)
    labels = [told(each.release(outcome)) for each in (job, other)]
    assert labels[0][0] == labels[1][0]
    assert labels[0][1] == labels[1][1]


@pytest.mark.parametrize("shape", ["flat", "linked"])
@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_the_source_is_not_shown(method: str, shape: str, same_draws: None) -> None:
    made = [
        told(incrowd.anonymize(source(*people(), shape, turn), policy_of(shape, method)))
        for turn in (1, -1)
    ]
    assert made[0] == made[1]


@pytest.mark.parametrize("shape", ["flat", "linked"])
def test_what_a_suppressed_patient_held_changes_no_byte(
    shape: str, same_draws: None, tmp_path: Path
) -> None:
    """Nor how many rows: the report is of the published patients, as the tables are."""
    made = []
    for number, odd in enumerate((["flu"], ["hiv"] * 9, ["plague", ""])):
        own, held = people()
        own, held["odd"] = [*own, ("odd", 117, "x")], [(ill, "A") for ill in odd]
        policy = policy_of(shape, "mondrian")
        place = tmp_path / str(number)
        incrowd.anonymize(source(own, held, shape), policy).save(place)
        made.append({path.name: path.read_bytes() for path in place.iterdir()})
    assert json.loads(made[0]["manifest.json"])["patients"]["suppressed"] >= 1
    assert made[0] == made[1] == made[2]
