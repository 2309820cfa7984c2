"""Tables split among hospitals, and the policies that they agreed on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from round_table import Chair, RoundTable

import incrowd
from incrowd import datasets
from incrowd.federation.run._joint_table import Made, make
from incrowd.federation.run._own_records import read_own
from incrowd.sources import as_source

SURGERIES = pl.DataFrame(
    {
        "Job": [
            "Janitor", "Lawyer", "Mover", "Lawyer", "Mover", "Janitor", "Doctor", "Doctor",
            "Doctor", "Carpenter", "Technician",
        ],
        "Sex": list("MFMMMMFMMFF"),
        "Age": [34, 58, 58, 24, 34, 44, 44, 58, 24, 63, 63],
        "Transfuse": list("YNNNYYNNNYY"),
        "Surgery": [
            "Transgender", "Plastic", "Urology", "Vascular", "Transgender", "Plastic", "Vascular",
            "Plastic", "Urology", "Vascular", "Plastic",
        ],
    }
)  # fmt: skip
PARTIES = [SURGERIES[:3], SURGERIES[3:7], SURGERIES[7:]]
"""The hospitals A, B and C of the paper."""
JOBS = {
    "Blue-collar": {
        "Nontechnical": ["Janitor", "Mover"],
        "Technical": ["Carpenter", "Technician"],
    },
    "White-collar": {"Professional": ["Lawyer", "Doctor"]},
}


WIDTHS = {
    "fnlwgt": (100_000, 400_000),
    "capital-gain": (5_000, 20_000),
    "capital-loss": (500, 2_000),
}


def surgeries(**more: Any) -> dict[str, Any]:
    """The policy of the paper's example."""
    return {
        "attributes": {
            "Job": {"role": "quasi", "hierarchy": {"tree": JOBS}},
            "Sex": {"role": "quasi", "hierarchy": {"tree": ["M", "F"]}},
            "Age": {
                "role": "quasi",
                "type": "numeric",
                "hierarchy": {"intervals": {"start": 1, "stop": 99, "widths": [30, 60]}},
            },
            "Transfuse": {"role": "target", "hierarchy": {"tree": ["Y", "N"]}},
            "Surgery": {
                "role": "sensitive",
                "hierarchy": {"tree": ["Transgender", "Plastic", "Urology", "Vascular", "Eye"]},
            },
        },
        "privacy": [{"lkc": {"L": 2, "K": 2, "C": 0.5, "values": ["Transgender"]}}],
        "method": {"name": "top-down-specialization", "search": "greedy"},
        "goal": "classification",
        "hospitals": {"trust": "honest"},
        **more,
    }


def adult(rows: int | None = None) -> pl.DataFrame:
    """The complete records of Adult."""
    table = datasets.load("adult").drop("fold").drop_nulls()
    return table if rows is None else table[:rows]


def adult_policy(
    folder: Any, L: int, K: int, C: float, rows: int | None = None, **more: Any
) -> dict[str, Any]:
    """Thirteen quasi-identifiers, all with a hierarchy; wide ones list values of the first rows."""
    datasets.export_hierarchies("adult", folder)
    table, first = adult(), adult(rows)
    numbers = {
        "age": {"start": 17, "stop": 91, "widths": [5, 10, 20, 40]},
        "education-num": {"start": 1, "stop": 17, "widths": [2, 4, 8]},
        "hours-per-week": {"start": 1, "stop": 100, "widths": [10, 20, 40]},
    }
    attributes: dict[str, Any] = {}
    for name in table.columns:
        if name in ("marital-status", "income"):
            role = "sensitive" if name == "marital-status" else "target"
            values = sorted(table[name].unique().to_list())
            attributes[name] = {"role": role, "hierarchy": {"tree": values}}
        elif name in numbers:
            attributes[name] = {
                "role": "quasi",
                "type": "numeric",
                "hierarchy": {"intervals": numbers[name]},
            }
        elif name in WIDTHS:
            attributes[name] = {"role": "quasi", "hierarchy": _ranges(first[name], folder)}
        else:
            file = str(folder / "adult-hierarchies" / f"{name}.csv")
            attributes[name] = {"role": "quasi", "hierarchy": file}
    bounds: dict[str, Any] = {"L": L, "K": K, "C": C, "sensitive": "marital-status"}
    if C < 1:
        bounds["values"] = ["Divorced", "Separated"]
    return {
        "attributes": attributes,
        "privacy": [{"lkc": bounds}],
        "method": {"name": "top-down-specialization", "search": "greedy"},
        "hospitals": {"trust": "honest"},
        **more,
    }


def _ranges(values: pl.Series, folder: Any) -> str:
    """A file that lists every value, with two levels of ranges."""
    path = folder / f"{values.name}.csv"
    lines = []
    for number in values.unique().sort().to_list():
        begins = [(number // width * width, width) for width in WIDTHS[values.name]]
        lines.append(";".join([str(number), *(f"[{b}-{b + w})" for b, w in begins), "*"]))
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def dealt(table: pl.DataFrame, hospitals: int, seed: int = 0) -> list[pl.DataFrame]:
    """The records in equal parts, at random."""
    order = np.random.default_rng(seed).permutation(table.height)
    return [table[np.sort(part)] for part in np.array_split(order, hospitals)]


def together(
    parts: Sequence[pl.DataFrame], policy: dict[str, Any]
) -> tuple[list[Made], RoundTable]:
    """What every hospital comes to, and what was said."""
    wanted = incrowd.Policy.from_mapping(policy)
    table = RoundTable(len(parts))

    def act(chair: Chair) -> Made:
        own = read_own(as_source(parts[chair.place]), wanted)
        return make(own, chair)  # type: ignore[arg-type]

    return table.meet(act), table


def require_pooled(made: Sequence[Made], pooled: incrowd.Release) -> None:
    """Every hospital has the table and the manifest of the pooled records, and the own part."""
    for each in made:
        assert each.release.data.equals(pooled.data)
        told = {key: each.release.manifest[key] for key in pooled.manifest}
        assert told == pooled.manifest
    shares = pl.concat([each.share.frame() for each in made])
    names = shares.columns
    assert shares.sort(names, nulls_last=True).equals(pooled.data.sort(names, nulls_last=True))
