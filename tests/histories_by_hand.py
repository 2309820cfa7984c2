"""Releases of patients with several rows, written by hand, labels and all."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import polars as pl

from incrowd.published.opened import ReleaseLike

PATIENT_LEVEL: list[dict[str, Any]] = [
    {"name": "id", "role": "identifier", "published": False},
    {
        "name": "age", "role": "quasi", "published": True, "type": "numeric",
        "labels": "set", "decimals": 0, "domain": 4, "ncp": 0.0,
    },
    {
        "name": "sex", "role": "quasi", "published": True, "type": "category",
        "labels": "set", "domain": 2, "ncp": 0.0,
    },
]  # fmt: skip
EVENT_LEVEL: list[dict[str, Any]] = [
    {"name": name, "role": role, "level": "event", "published": True, "type": "category"}
    for name, role in (("ill", "sensitive"), ("ward", "keep"))
]
Event = tuple[str | None, str | None]
Person = tuple[str | None, str | None, list[Event]]
"""The labels of age and sex, and what each row shows of illness and ward."""


def release_of(
    people: list[Person], *, suppressed: int = 0, most_events: int | None = None
) -> ReleaseLike:
    """The release of these patients."""
    rows = [
        (str(number), age, sex, *event)
        for number, (age, sex, events) in enumerate(people, start=1)
        for event in events
    ]
    frame = pl.DataFrame(
        rows, dict.fromkeys(("patient", "age", "sex", "ill", "ward"), pl.String), orient="row"
    )
    manifest: dict[str, Any] = {
        "publish": "generalized",
        "unit": "id",
        "patients": {
            "source": len(people) + suppressed,
            "published": len(people),
            "suppressed": suppressed,
            "missing_dropped": 0,
        },
        "attributes": [*PATIENT_LEVEL, *EVENT_LEVEL],
        "promises": [
            {"model": "k-anonymity", "parameters": {"k": 2}},
            {"model": "confidence-bounding", "parameters": {"C": 0.5, "sensitive": "ill"}},
        ],
    }
    if most_events is not None:
        manifest["most_events"] = most_events
    return SimpleNamespace(data=frame, tables={"data": frame}, manifest=manifest)
