"""Patients with every kind of column, dirty as real ones, and releases of them of every kind."""

from __future__ import annotations

import random
from datetime import date, timedelta
from functools import cache
from types import SimpleNamespace
from typing import Any

import polars as pl

import incrowd
from incrowd.engines.preparation import prepare_source
from incrowd.policy import Policy
from incrowd.sources import as_source

CITIES = ("Oslo", "a|b", "{x}", "*", "[1-2)", "\\n", 'q"', "O'Neill")
JOBS = {"Manual": ["carpenter", "joiner", "farmer"], "Office": ["judge", "lawyer"]}
STAGES = ["I", "II", "III", "IV"]
ATTRIBUTES: dict[str, Any] = {
    "id": "identifier",
    "age": {
        "role": "quasi",
        "hierarchy": {"intervals": {"start": 0, "stop": 100, "widths": [5, 50]}},
    },
    "score": {"role": "quasi", "hierarchy": "auto"},
    "birth": {"role": "quasi", "hierarchy": "dates"},
    "zip": {"role": "quasi", "hierarchy": {"mask": {"length": 3}}},
    "stage": {
        "role": "quasi",
        "order": STAGES,
        "hierarchy": {"tree": {"early": ["I", "II"], "late": ["III", "IV"]}},
    },
    "job": {"role": "quasi", "hierarchy": {"tree": JOBS}},
    "city name": "quasi",
    "ill": "sensitive",
    "grade": {"role": "sensitive", "type": "numeric"},
    "ward": "keep",
}
QUASI = ["age", "score", "birth", "zip", "stage", "job", "city name"]
KINDS: dict[str, dict[str, Any]] = {
    "sets": {"method": {"name": "mondrian", "labels": "set"}},
    "hierarchy": {"method": {"name": "mondrian", "labels": "hierarchy"}},
    "cut": {"method": "top-down-specialization"},
    "anatomy": {"publish": "anatomy"},
    "lossy-join": {"publish": "lossy-join"},
}


def patients(number: int = 60, seed: int = 3, gaps: float = 1 / 15) -> pl.DataFrame:
    draw = random.Random(seed)

    def cell(value: object) -> str | None:
        return None if draw.random() < gaps else str(value)

    return pl.DataFrame(
        [
            {
                "id": f"p{i}",
                "age": cell(draw.randint(18, 93)),
                "score": cell(f"{draw.randint(-12, 30) / 4:.2f}"),
                "birth": cell(date(1958, 5, 17) + timedelta(days=draw.randint(0, 4000))),
                "zip": cell(draw.choice(("101", "102", "123", "222", "223"))),
                "stage": cell(draw.choice(STAGES)),
                "job": cell(draw.choice([job for jobs in JOBS.values() for job in jobs])),
                "city name": cell(draw.choice(CITIES)),
                "ill": cell(draw.choice(("asthma", "copd", "flu", "it's", "ulcer"))),
                "grade": cell(draw.choice((1, 2.5, 3, 4, 5))),
                "ward": f"w{i % 7}",
            }
            for i in range(number)
        ],
        schema=dict.fromkeys(ATTRIBUTES, pl.String),
    )


def policy(kind: str, k: int = 4, **changed: Any) -> dict[str, Any]:
    return {
        "attributes": ATTRIBUTES,
        "privacy": [{"k-anonymity": {"k": k}}],
        **KINDS[kind],
        **changed,
    }


@cache
def released(kind: str, number: int = 60, seed: int = 3, k: int = 4) -> tuple[Any, pl.DataFrame]:
    """A release of such patients, and the patients."""
    frame = patients(number, seed)
    return incrowd.anonymize(frame, policy(kind, k), accept_unprotected=True), frame


def meanings(frame: pl.DataFrame, kind: str) -> dict[str, dict[str, list[str]]]:
    """The values under every label, as the command line takes them from a policy."""
    prepared = prepare_source(as_source(frame), Policy.model_validate(policy(kind)))
    return {
        column.name: prepared.hierarchies[column.name].meanings(column)
        for column in prepared.table.of_role("quasi")
    }


def quoted(name: str, value: str) -> str:
    return f'"{name}" = ' + "'" + value.replace("'", "''") + "'"


def by_hand(
    tables: dict[str, dict[str, list[Any]]], entries: list[dict[str, Any]], publish: str
) -> Any:
    """A release made by hand: its tables, and the manifest's entries of its attributes."""
    frames = {
        name: pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
        for name, columns in tables.items()
    }
    first = next(iter(frames.values()))
    counts = {"source": first.height, "published": first.height}
    return SimpleNamespace(
        data=first,
        tables=frames,
        manifest={
            "publish": publish,
            "records": {**counts, "suppressed": 0, "missing_dropped": 0},
            "attributes": [{"published": True, **entry} for entry in entries],
        },
    )


def quasi(name: str, kind: str = "category", labels: str = "set", **more: Any) -> dict[str, Any]:
    return {"name": name, "role": "quasi", "type": kind, "labels": labels, **more}


def sensitive(name: str, kind: str = "category") -> dict[str, Any]:
    return {"name": name, "role": "sensitive", "type": kind}
