"""Tampering with releases of patients who have several rows: the judge finds each of them."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from forger import changed

import incrowd
from incrowd.verify import verify
from incrowd.verify.verdict import COLUMNS, MANIFEST, ORDER, PATIENTS, RECORDS, UNTOUCHED


def visits() -> pl.DataFrame:
    draw = random.Random(22)
    rows = []
    for patient in range(60):
        own = (f"p{patient}", draw.randint(20, 60), draw.choice("MF"), draw.choice("yn"))
        many = draw.choice((1, 2, 4))
        rows += [(*own, draw.choice("abcde"), draw.choice("AB")) for _ in range(many)]
    names = ["id", "age", "sex", "dead", "ill", "ward"]
    return pl.DataFrame(rows, names, orient="row")


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    policy = {
        "unit": "id",
        "attributes": {
            "id": "identifier",
            "age": "quasi",
            "sex": "quasi",
            "dead": "sensitive",
            "ill": {"role": "sensitive", "level": "event"},
            "ward": {"role": "keep", "level": "event"},
        },
        "privacy": [
            {"k-anonymity": {"k": 5}},
            {"l-diversity": {"l": 2, "sensitive": "dead"}},
            {"confidence-bounding": {"C": 0.8, "sensitive": "ill"}},
        ],
    }
    folder = tmp_path_factory.mktemp("honest") / "release"
    verdict = incrowd.anonymize(visits(), policy).save(folder)
    assert verdict.holds
    return folder


Rows = list[list[str]]


def rows_changed(folder: Path, change: Callable[[Rows], Rows], *, ordered: bool = True) -> None:
    """The table written anew by a forger, who knows how rows are sorted and counted."""
    path = folder / "data.csv"
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    rows = change([line.split(",") for line in lines])
    rows = sorted(rows, key=lambda row: [cell.encode() for cell in row]) if ordered else rows
    path.write_text("\n".join([header, *map(",".join, rows)]) + "\n", encoding="utf-8")
    with changed(folder) as manifest:
        manifest["files"]["data.csv"]["rows"] = len(rows)


def broken(folder: Path) -> set[str]:
    verdict = verify(folder)
    assert not verdict.holds
    return {finding.promise for finding in verdict.broken}


@pytest.fixture
def release(honest: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(honest, tmp_path / "release"))


def relabelled(rows: Rows) -> Rows:
    """One row of a patient with several shows another age than the others."""
    several = [row for row in rows if sum(r[0] == row[0] for r in rows) > 1]
    other = next(row[1] for row in rows if row[1] != several[0][1])
    several[0][1] = other
    return rows


def joined(rows: Rows) -> Rows:
    """The rows of one patient become those of another of the same group."""
    first = rows[0]
    twin = next(r[0] for r in rows if r[1:4] == first[1:4] and r[0] != first[0])
    return [[first[0], *row[1:]] if row[0] == twin else row for row in rows]


def renumbered(rows: Rows) -> Rows:
    """A pseudonym that is the number of a record elsewhere."""
    return [["4711", *row[1:]] if row[0] == "1" else row for row in rows]


def named(rows: Rows) -> Rows:
    return [["Smith", *row[1:]] if row[0] == "1" else row for row in rows]


@pytest.mark.parametrize(
    ("change", "promise"),
    [
        (relabelled, PATIENTS),
        (joined, PATIENTS),
        (renumbered, PATIENTS),
        (named, "data can be read"),
        (lambda rows: [row for row in rows if row[0] != "7"], PATIENTS),
        (lambda rows: [*rows, ["61", *rows[0][1:]]], RECORDS),
    ],
    ids=["relabelled", "joined", "renumbered", "named", "left out", "added"],
)
def test_changed_rows_are_found(
    change: Callable[[Rows], Rows], promise: str, release: Path
) -> None:
    rows_changed(release, change)
    assert promise in broken(release)


def test_rows_in_another_order_are_found(release: Path) -> None:
    rows_changed(release, lambda rows: rows[::-1], ordered=False)
    assert ORDER in broken(release)


def promised(**model: Any) -> Callable[[dict[str, Any]], None]:
    def change(manifest: dict[str, Any]) -> None:
        ((name, parameters),) = model.items()
        manifest["promises"][2] = {"model": name.replace("_", "-"), "parameters": parameters}
        manifest.pop("measured")

    return change


def of_patients_no_more(manifest: dict[str, Any]) -> None:
    """The manifest calls rows records: each row would count as a patient."""
    counts = manifest.pop("patients")
    rows = manifest["files"]["data.csv"]["rows"]
    whole = {**counts, "source": rows, "published": rows}
    made: dict[str, Any] = {}
    for key, value in manifest.items():
        if key == "suppression_limit":
            made["records"] = whole
        made[key] = value
    manifest.clear()
    manifest.update(made)


def levelled(manifest: dict[str, Any]) -> None:
    """What varies within a patient is said to be the patient's own."""
    entry = next(each for each in manifest["attributes"] if each["name"] == "ill")
    del entry["level"]


def fewer_events(manifest: dict[str, Any]) -> None:
    """No patient is said to have more than two rows, and some have four."""
    items = [*manifest.items()]
    manifest.clear()
    for key, value in items:
        manifest[key] = value
        if key == "patients":
            manifest["most_events"] = 2


def without_unique(manifest: dict[str, Any]) -> None:
    manifest["unprotected"]["unique"] += 1


@pytest.mark.parametrize(
    ("change", "promise"),
    [
        (
            promised(l_diversity={"l": 2, "kind": "distinct", "c": None, "sensitive": "ill"}),
            "l-diversity (l=2, kind=distinct, sensitive=ill)",
        ),
        (
            promised(l_diversity={"l": 1.5, "kind": "entropy", "c": None, "sensitive": "ill"}),
            "l-diversity (l=1.5, kind=entropy, sensitive=ill)",
        ),
        (
            promised(t_closeness={"t": 0.9, "distance": "ordered", "sensitive": "ill"}),
            "t-closeness (t=0.9, distance=ordered, sensitive=ill)",
        ),
        (
            promised(lkc={"L": 1, "K": 2, "C": 0.2, "sensitive": "ill", "values": None}),
            "lkc (L=1, K=2, C=0.2, sensitive=ill)",
        ),
        (
            promised(multi_sensitive={"k": 2, "l": 1, "sensitive": ["ill", "dead"],
                                      "limits": {}, "check": "exact"}),
            "multi-sensitive (k=2, l=1, check=exact)",
        ),
        (
            promised(confidence_bounding={"C": 0.2, "sensitive": "ill", "values": None}),
            "confidence-bounding (C=0.2, sensitive=ill)",
        ),
        (of_patients_no_more, MANIFEST),
        (levelled, PATIENTS),
        (fewer_events, PATIENTS),
        (without_unique, UNTOUCHED),
    ],
)  # fmt: skip
def test_false_promises_are_found(
    change: Callable[[dict[str, Any]], None], promise: str, release: Path
) -> None:
    with changed(release) as manifest:
        change(manifest)
    assert promise in broken(release)


def test_a_column_of_pseudonyms_may_not_be_missing(release: Path) -> None:
    path = release / "data.csv"
    frame = pl.read_csv(path, infer_schema=False).drop("patient")
    frame.sort(frame.columns).write_csv(path)
    with changed(release) as manifest:
        manifest["files"]["data.csv"]["columns"] = frame.columns
    assert "data can be read" in broken(release)


def test_what_several_rows_tell_together_is_not_called_unique_on_none(release: Path) -> None:
    """No single ward is unique; that nobody has the same wards is another thing, and not said."""
    (found,) = [each for each in verify(release).findings if each.promise == UNTOUCHED]
    assert found.detail == (
        "no single row of a patient is unique on them ('ward'); several may be, together"
    )


def test_events_are_counted_by_patients_and_not_by_rows(tmp_path: Path) -> None:
    """One patient of five has a hundred visits with HIV: a fifth of patients, nearly all rows."""
    rows = [("p0", 30, "hiv")] * 100 + [(f"p{n}", 30, "flu") for n in range(1, 5)]
    policy = {
        "unit": "id",
        "attributes": {
            "id": "identifier", "age": "quasi", "ill": {"role": "sensitive", "level": "event"}
        },
        "privacy": [
            {"k-anonymity": {"k": 5}},
            {"confidence-bounding": {"C": 0.2, "sensitive": "ill", "values": ["hiv"]}},
        ],
    }  # fmt: skip
    frame = pl.DataFrame(rows, ["id", "age", "ill"], orient="row")
    verdict = incrowd.anonymize(frame, policy).save(tmp_path / "release")
    assert verdict.holds
    assert verdict.groups == {"count": 1, "smallest": 5, "average": 5.0, "largest": 5}
    assert verdict.measured[1]["C"] == 0.2
    assert COLUMNS in {finding.promise for finding in verdict.findings}
