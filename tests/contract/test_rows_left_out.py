"""Rows that are not published leave no trace: whoever they were of, and whyever they are gone.

A patient may be suppressed, a history cut, a row of nobody left out. Two sources that differ in
such rows alone give the same manifest and the same cells.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd

HIDDEN = ("2", "positive", "2.5", None)
"""What may stand in a row that is left out, among numbers."""
Row = tuple[str, int | None, str, str | None]


def visits(*odd: Row) -> list[Row]:
    """Sixty patients whose laboratory values are numbers, and some further rows."""
    draw = random.Random(3)
    rows: list[Row] = []
    for n in range(60):
        own = (f"p{n}", draw.randint(20, 60), draw.choice("fm"))
        rows += [(*own, draw.choice("123")) for _ in range(draw.choice((1, 2, 3)))]
    return [*rows, *odd]


def told(source: Any, policy: dict[str, Any], folder: Path) -> tuple[Any, ...]:
    """The manifest without digests, and what each patient shows, in no order of patients."""
    release = incrowd.anonymize(source, policy)
    assert release.save(folder, report=False).holds
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    for key in ("files", "digest"):
        del manifest[key]
    shown: dict[str, list[tuple[str, ...]]] = {}
    types = []
    for name, table in release.tables.items():
        types.append(pl.read_parquet(folder / f"{name}.parquet").schema)
        for who, *cells in table.rows():
            shown.setdefault(who, []).append((name, *map(str, cells)))
    return manifest, types, sorted(sorted(rows) for rows in shown.values())


def flat(rows: list[Row]) -> pl.DataFrame:
    return pl.DataFrame(rows, ["id", "age", "sex", "lab"], orient="row")


FLAT: dict[str, Any] = {
    "unit": "id",
    "attributes": {
        "id": "identifier", "age": "quasi", "sex": "quasi",
        "lab": {"role": "sensitive", "level": "event"},
    },
    "privacy": [{"k-anonymity": {"k": 5}}],
    "suppression": 0.1,
    "format": "parquet",
}  # fmt: skip


@pytest.mark.parametrize("where", [{}, {"engine": "duckdb", "memory": "300MB"}])
@pytest.mark.parametrize("why", ["suppressed", "missing"])
def test_the_events_of_patients_who_are_left_out_tell_no_type(
    why: str, where: dict[str, str], same_draws: None, tmp_path: Path
) -> None:
    age = None if why == "missing" else 117
    policy = {**FLAT, **where, "missing": "drop"}
    made = [
        told(
            flat(visits(("odd", age, "x", lab), ("odd", age, "x", "1"))), policy, tmp_path / str(n)
        )
        for n, lab in enumerate(HIDDEN)
    ]
    assert made[0][0]["patients"][{"missing": "missing_dropped"}.get(why, why)] == 1
    assert made[1:] == made[:1] * (len(HIDDEN) - 1)


def test_rows_that_are_cut_tell_no_type(same_draws: None, tmp_path: Path) -> None:
    """Of a patient with forty rows, one with a text: nearly always it is not among the two."""
    long: list[Row] = [("p0", 30, "f", "1")] * 40
    own = [row for row in visits() if row[0] != "p0"]
    cut = {**FLAT, "most-events": 2}
    made = []
    for n, lab in enumerate(HIDDEN):
        rows = flat([*own, *long, ("p0", 30, "f", lab)])
        made.append(told(rows, cut, tmp_path / str(n)))
    assert made[1:] == made[:1] * (len(HIDDEN) - 1)


def test_rows_that_name_nobody_tell_no_type(same_draws: None, tmp_path: Path) -> None:
    own = {row[0]: row[:3] for row in visits()}
    policy = {
        "patients": {"key": "id", "attributes": {"age": "quasi", "sex": "quasi"}},
        "tables": {"labs": {"unit": "of", "attributes": {"lab": "sensitive"}, "unmatched": "drop"}},
        "privacy": FLAT["privacy"],
        "format": "parquet",
    }
    made = []
    for n, lab in enumerate(HIDDEN):
        labs = [*((row[0], row[3]) for row in visits()), ("nobody", lab)]
        tables = {
            "patients": pl.DataFrame([*own.values()], ["id", "age", "sex"], orient="row"),
            "labs": pl.DataFrame(labs, ["of", "lab"], orient="row"),
        }
        made.append(told(tables, policy, tmp_path / str(n)))
    assert made[0][0]["unmatched"] == {"labs": 1}
    assert made[1:] == made[:1] * (len(HIDDEN) - 1)


@pytest.mark.parametrize("where", [{}, {"engine": "duckdb", "memory": "300MB"}])
def test_values_that_are_not_taken_of_a_patient_tell_no_type(
    where: dict[str, str], same_draws: None, tmp_path: Path
) -> None:
    policy = {**FLAT, **where, "suppression": 0, "unit": "id"}
    lab = {"role": "sensitive", "take": "most-frequent"}
    policy["attributes"] = {**FLAT["attributes"], "lab": lab}
    own: list[Row] = [(f"p{n}", 30 + n % 5, "f", str(n % 3)) for n in range(30)]
    made = []
    for n, other in enumerate(HIDDEN):
        rows = flat([*own, *own, ("p7", 32, "f", other)])
        made.append(told(rows, policy, tmp_path / str(n)))
    assert made[1:] == made[:1] * (len(HIDDEN) - 1)


def test_records_that_lack_a_value_tell_no_type() -> None:
    made = []
    for lab in ("2", "positive"):
        rows = flat(
            [(f"p{n}", 30 + n % 5, "f", str(n % 3)) for n in range(30)] + [("q", None, "f", lab)]
        )
        policy = {**FLAT, "unit": "row", "missing": "drop", "suppression": 0}
        policy["attributes"] = {**FLAT["attributes"], "lab": "sensitive"}
        made.append(incrowd.anonymize(rows, policy).manifest)
    assert made[0] == made[1]
