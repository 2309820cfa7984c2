"""An outside judge: pycanon measures releases of every kind as incrowd's own judge does.

pycanon pins old versions of NumPy and pandas, so it lives in an environment of its own: the one
whose interpreter INCROWD_PYCANON names, or one that is made here. Known of pycanon 1.3.6: the c of
its (c,l)-diversity sorts counts in ascending order and is not compared; its delta passes over
values that a group lacks; its entropy l is rounded down.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd
from incrowd import datasets

REQUIREMENT = "pycanon==1.3.6"
SCRIPT = Path(__file__).with_name("pycanon_numbers.py")
QUASI = ["age", "workclass", "education", "race", "sex"]
MANNERS: dict[str, dict[str, Any]] = {
    "mondrian": {"method": "mondrian"},
    "mondrian, hierarchy labels": {"method": {"name": "mondrian", "labels": "hierarchy"}},
    "mondrian, median": {"method": {"name": "mondrian", "split": "median"}, "suppression": 0.05},
    "top-down-specialization": {"method": "top-down-specialization"},
    "top-down-local": {"method": "top-down-local"},
    "incognito": {"method": "incognito", "suppression": 0.1},
    "anatomy": {"publish": "anatomy"},
    "lossy join": {"publish": "lossy-join"},
}
ASKED = [
    *((manner, "income") for manner in MANNERS),
    *((manner, "occupation") for manner in ("mondrian", "anatomy", "lossy join")),
]
"""Two values, and many: they differ by how a layout counts them, not by who made the groups."""


@pytest.fixture(scope="session")
def interpreter(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Python that has pycanon."""
    named = os.environ.get("INCROWD_PYCANON")
    if named:
        return named
    folder = tmp_path_factory.mktemp("pycanon")
    venv.create(folder, with_pip=True)
    python = str(folder / ("Scripts" if os.name == "nt" else "bin") / "python")
    made = subprocess.run(
        [python, "-m", "pip", "install", "--quiet", REQUIREMENT],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if made.returncode:
        pytest.skip(f"{REQUIREMENT} cannot be installed here")
    return python


def policy(sensitive: str, manner: dict[str, Any], folder: Path) -> dict[str, Any]:
    files = {path.stem: str(path) for path in datasets.export_hierarchies("adult", folder)}
    weak: list[dict[str, Any]] = [
        {"k-anonymity": {"k": 4}},
        {"l-diversity": {"l": 2, "sensitive": sensitive}},
        {"l-diversity": {"l": 1.1, "kind": "entropy", "sensitive": sensitive}},
        {"alpha-k": {"alpha": 0.95, "k": 2, "sensitive": sensitive}},
        {"t-closeness": {"t": 0.9, "distance": "equal", "sensitive": sensitive}},
        {"beta-likeness": {"beta": 1000, "sensitive": sensitive}},
    ]
    if sensitive == "income":  # two values, so that every group has all of them
        weak.append({"delta-disclosure": {"delta": 100, "sensitive": sensitive}})
    return {
        "attributes": {
            **{
                name: {"role": "quasi", **({"hierarchy": files[name]} if name in files else {})}
                for name in QUASI
            },
            sensitive: "sensitive",
        },
        "other": "drop",
        "privacy": weak,
        **manner,
    }


def table_of(release: incrowd.Release, sensitive: str) -> tuple[pl.DataFrame, list[str]]:
    """The records as pycanon takes them: what tells their group, and the sensitive value."""
    kind = release.manifest["publish"]
    if kind == "anatomy":
        counts = release.tables[f"st_{sensitive}"].with_columns(pl.col("count").cast(pl.Int64))
        rows = counts.select(pl.col("group_id", sensitive).repeat_by("count").explode())
        return rows, ["group_id"]
    if kind == "lossy-join":
        return release.tables["ss"], ["class_id"]
    return release.data, QUASI


@pytest.fixture(scope="session")
def measurements(
    interpreter: str, tmp_path_factory: pytest.TempPathFactory
) -> dict[tuple[str, str], tuple[dict[str, Any], dict[str, Any]]]:
    """For each manner and sensitive attribute what incrowd's judge and pycanon measure."""
    folder = tmp_path_factory.mktemp("tables")
    frame = datasets.load("adult").drop_nulls().head(400)
    jobs, ours = [], {}
    for at, (name, sensitive) in enumerate(ASKED):
        asked = policy(sensitive, MANNERS[name], folder)
        release = incrowd.anonymize(frame, asked)
        verdict = release.save(folder / f"release-{at}", report=False)
        promised = [next(iter(each)) for each in asked["privacy"]]
        ours[name, sensitive] = list(zip(promised, verdict.measured, strict=True))
        table, quasi = table_of(release, sensitive)
        table.write_csv(folder / f"table-{at}.csv")
        jobs.append({"file": f"table-{at}.csv", "quasi": quasi, "sensitive": sensitive})
    (folder / "jobs.json").write_text(json.dumps(jobs), encoding="utf-8")
    done = subprocess.run(
        [interpreter, str(SCRIPT), str(folder)], capture_output=True, text=True, check=True
    )
    return {
        key: (_by_number(measured), told)
        for (key, measured), told in zip(ours.items(), json.loads(done.stdout), strict=True)
    }


def _by_number(measured: list[tuple[str, Any]]) -> dict[str, Any]:
    k, l, entropy, alpha, t, beta = (numbers for _, numbers in measured[:6])  # noqa: E741
    delta = measured[6][1]["delta"] if len(measured) > 6 else None
    return {
        "k": k["k"],
        "l": l["l"],
        "recursive l": l["l"],
        "entropy l": math.floor(entropy["l"] + 1e-9),
        "alpha": alpha["alpha"],
        "alpha k": alpha["k"],
        "t": t["t"],
        "beta": beta["beta"],
        "delta": delta,
    }


@pytest.mark.parametrize(("manner", "sensitive"), ASKED)
def test_pycanon_measures_the_same(
    manner: str,
    sensitive: str,
    measurements: dict[tuple[str, str], tuple[dict[str, Any], dict[str, Any]]],
) -> None:
    ours, theirs = measurements[manner, sensitive]
    for name, number in ours.items():
        if number is not None:
            assert theirs[name] == pytest.approx(number, rel=1e-9), name
    assert ours["k"] >= 4
    assert ours["l"] >= 2


def test_the_interpreter_is_another_one(interpreter: str) -> None:
    assert Path(interpreter).resolve().parent.parent != Path(sys.prefix).resolve()
