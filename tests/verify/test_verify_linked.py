"""Tampering with releases of linked tables: the judge finds each of them."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from forger import changed
from handmade_release import read_manifest, write_manifest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
from incrowd.verify import verify
from incrowd.verify.layouts.linked import _steps
from incrowd.verify.verdict import (
    COLUMNS,
    FILES,
    HISTORIES,
    MANIFEST,
    ORDER,
    PROMISES,
    READABLE,
    RECORDS,
    TIED,
    UNTOUCHED,
)

POLICY: dict[str, Any] = {
    "patients": {
        "key": "id",
        "attributes": {"age": "quasi", "sex": "quasi", "dead": "sensitive"},
    },
    "tables": {
        "visits": {"unit": "of", "attributes": {"ill": "sensitive", "ward": "keep"}},
        "drugs": {"unit": "who", "attributes": {"drug": "sensitive"}},
    },
    "privacy": [
        {"k-anonymity": {"k": 5}},
        {"l-diversity": {"l": 2, "sensitive": "dead"}},
        {"confidence-bounding": {"C": 0.8, "sensitive": "visits.ill"}},
    ],
}


def tables() -> dict[str, pl.DataFrame]:
    draw = random.Random(22)
    own = [(f"p{n}", draw.randint(20, 60), draw.choice("MF"), draw.choice("yn")) for n in range(60)]
    visits = [
        (f"p{n}", draw.choice("abcde"), draw.choice("AB"))
        for n in range(60)
        for _ in range(draw.choice((1, 2, 4)))
    ]
    drugs = [(f"p{draw.randrange(60)}", draw.choice("xyz")) for _ in range(90)]
    return {
        "patients": pl.DataFrame(own, ["id", "age", "sex", "dead"], orient="row"),
        "visits": pl.DataFrame(visits, ["of", "ill", "ward"], orient="row"),
        "drugs": pl.DataFrame(drugs, ["who", "drug"], orient="row"),
    }


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("honest") / "release"
    verdict = incrowd.anonymize(tables(), POLICY).save(folder)
    assert verdict.holds
    assert verdict.of_patients
    assert not verdict.open
    return folder


@pytest.fixture
def release(honest: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(honest, tmp_path / "release"))


Rows = list[list[str]]


def rows_of(folder: Path, table: str) -> Rows:
    lines = (folder / f"{table}.csv").read_text(encoding="utf-8").splitlines()
    return [line.split(",") for line in lines[1:]]


def rows_changed(
    folder: Path, table: str, change: Callable[[Rows], Rows], *, ordered: bool = True
) -> None:
    """A table written anew by a forger, who knows how rows are sorted and counted."""
    path = folder / f"{table}.csv"
    header = path.read_text(encoding="utf-8").splitlines()[0]
    rows = change(rows_of(folder, table))
    rows = sorted(rows, key=lambda row: [cell.encode() for cell in row]) if ordered else rows
    path.write_text("\n".join([header, *map(",".join, rows)]) + "\n", encoding="utf-8")
    with changed(folder) as manifest:
        manifest["files"][path.name]["rows"] = len(rows)
        if table != "patients":
            manifest["tables"][table]["rows"] = len(rows)


def broken(folder: Path) -> set[str]:
    verdict = verify(folder)
    assert not verdict.holds
    return {finding.promise for finding in verdict.broken}


def swapped(rows: Rows) -> Rows:
    """Two patients bear each other's pseudonyms, and the rows stay where they were."""
    number = {"1": "2", "2": "1"}
    return [[number.get(row[0], row[0]), *row[1:]] for row in rows]


CHANGES: dict[str, tuple[str, Callable[[Rows], Rows], str]] = {
    "a row of nobody": ("visits", lambda rows: [*rows, ["61", *rows[0][1:]]], TIED),
    "a row of another form of a number": (
        "drugs", lambda rows: [["0" + rows[0][0], *rows[0][1:]], *rows[1:]], READABLE,
    ),
    "a patient twice": ("patients", lambda rows: [*rows, rows[7]], TIED),
    "a patient twice with other labels": (
        "patients", lambda rows: [*rows, [rows[7][0], *rows[0][1:]]], TIED,
    ),
    "a patient removed from patients alone": (
        "patients", lambda rows: [row for row in rows if row[0] != "60"], TIED,
    ),
    "a patient removed, numbers with a gap": (
        "patients", lambda rows: [row for row in rows if row[0] != "7"], TIED,
    ),
    "a name for a number": (
        "patients", lambda rows: [["Smith" if r[0] == "1" else r[0], *r[1:]] for r in rows],
        READABLE,
    ),
    "other labels": (
        "patients", lambda rows: [[r[0], "[20-61)", *r[2:]] if r[0] == "1" else r for r in rows],
        "k-anonymity (k=5)",
    ),
    "another ward": ("visits", lambda rows: [[*rows[0][:2], "Z"], *rows[1:]], UNTOUCHED),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_changed_rows_are_found(name: str, release: Path) -> None:
    table, change, promise = CHANGES[name]
    rows_changed(release, table, change)
    assert promise in broken(release)


@pytest.mark.parametrize("change", [lambda rows: [*rows, rows[0]], lambda rows: rows[1:]])
def test_rows_that_are_added_or_removed_are_counted(
    change: Callable[[Rows], Rows], release: Path
) -> None:
    before = read_manifest(release)["tables"]
    rows_changed(release, "drugs", change)
    with changed(release) as manifest:
        manifest["tables"] = before
    assert broken(release) == {HISTORIES}


@pytest.mark.parametrize("table", ["patients", "visits", "drugs"])
def test_swapped_pseudonyms_and_rows_out_of_order_are_found(table: str, release: Path) -> None:
    rows_changed(release, table, swapped, ordered=False)
    assert ORDER in broken(release)


def test_a_protected_value_given_to_a_whole_group_is_found(release: Path) -> None:
    """The rows are as many, and in order: only a join by the pseudonym shows who holds it."""
    own = rows_of(release, "patients")
    group = {row[0] for row in own if row[1:3] == own[0][1:3]}
    rows_changed(
        release, "visits", lambda rows: [[r[0], "a" if r[0] in group else r[1], r[2]] for r in rows]
    )
    assert any("confidence-bounding" in promise for promise in broken(release))


def extra_column(folder: Path) -> None:
    path = folder / "drugs.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([f"{lines[0]},raw", *(f"{each},1" for each in lines[1:])]) + "\n")
    with changed(folder) as manifest:
        manifest["files"]["drugs.csv"]["columns"].append("raw")


def extra_table(folder: Path) -> None:
    shutil.copy(folder / "drugs.csv", folder / "more.csv")
    with changed(folder) as manifest:
        manifest["files"]["more.csv"] = dict(manifest["files"]["drugs.csv"])


def described_table(folder: Path) -> None:
    """A further table, which is described as the others are, and has no column of its own."""
    extra_table(folder)
    with changed(folder) as manifest:
        manifest["tables"]["more"] = manifest["tables"]["drugs"]


def another_name(folder: Path) -> None:
    (folder / "drugs.csv").rename(folder / "names.csv")
    manifest = read_manifest(folder)
    manifest["files"] = {
        "names.csv" if name == "drugs.csv" else name: told
        for name, told in manifest["files"].items()
    }
    write_manifest(folder, manifest)


def without_a_table(folder: Path) -> None:
    (folder / "drugs.csv").unlink()
    manifest = read_manifest(folder)
    del manifest["files"]["drugs.csv"]
    write_manifest(folder, manifest)


def in_manifest(change: Callable[[dict[str, Any]], None]) -> Callable[[Path], None]:
    def forge(folder: Path) -> None:
        with changed(folder) as manifest:
            change(manifest)

    return forge


def entry(manifest: dict[str, Any], name: str) -> dict[str, Any]:
    return next(each for each in manifest["attributes"] if each["name"] == name)


def fewer_in_the_first_step(manifest: dict[str, Any]) -> None:
    first, *_, last = manifest["tables"]["visits"]["rows_per_patient"]
    first["patients"] -= 1
    last["patients"] += 1


def finer_steps(manifest: dict[str, Any]) -> None:
    """The one patient with most rows is told apart from the others."""
    steps = manifest["tables"]["drugs"]["rows_per_patient"]
    last = steps.pop()
    steps += [
        {"from": last["from"], "to": last["from"] + 1, "patients": last["patients"] - 1},
        {"from": last["from"] + 2, "patients": 1},
    ]


def flat(manifest: dict[str, Any]) -> None:
    """The tables are not said to be linked."""
    del manifest["tables"]
    for each in manifest["attributes"]:
        del each["table"]


def sentence(manifest: dict[str, Any]) -> None:
    manifest["tables"]["visits"]["note"] = "Mrs Smith of 12 High Street"


FORGERIES: dict[str, tuple[Callable[[Path], None], str]] = {
    "an extra column": (extra_column, COLUMNS),
    "an extra table": (extra_table, FILES),
    "an extra table that is described": (described_table, MANIFEST),
    "another table's name": (another_name, FILES),
    "a table left out": (without_a_table, FILES),
    "other counts of patients": (in_manifest(lambda m: m["patients"].update(source=61)), RECORDS),
    "other counts of rows": (
        in_manifest(lambda m: m["tables"]["drugs"].update(rows=91)), HISTORIES,
    ),
    "other counts of a file": (
        in_manifest(lambda m: m["files"]["drugs.csv"].update(rows=91)), RECORDS,
    ),
    "another distribution": (in_manifest(fewer_in_the_first_step), HISTORIES),
    "a distribution that tells one apart": (in_manifest(finer_steps), HISTORIES),
    "tables that are not linked": (in_manifest(flat), FILES),
    "a column of another table": (
        in_manifest(lambda m: entry(m, "visits.ill").update(table="drugs")), MANIFEST,
    ),
    "a patient's column as one of events": (
        in_manifest(lambda m: entry(m, "dead").update(table="visits")), MANIFEST,
    ),
    "a column of events as a patient's": (
        in_manifest(lambda m: entry(m, "visits.ill").update(table="patients")), MANIFEST,
    ),
    "events that do not vary": (
        in_manifest(lambda m: entry(m, "visits.ill").pop("level")), MANIFEST,
    ),
    "a sentence": (in_manifest(sentence), MANIFEST),
    "one value for each patient": (
        in_manifest(
            lambda m: m["promises"][2].update(
                model="l-diversity",
                parameters={"l": 2, "kind": "distinct", "sensitive": "visits.ill"},
            )
        ),
        "l-diversity (l=2, kind=distinct, sensitive=visits.ill)",
    ),
    "a promise about no column": (
        in_manifest(lambda m: m["promises"][2]["parameters"].update(sensitive="ill")), PROMISES,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_found(name: str, release: Path) -> None:
    forge, promise = FORGERIES[name]
    forge(release)
    assert promise in broken(release)


def test_a_promise_of_fewer_rows_is_judged_in_each_table(release: Path) -> None:
    manifest = read_manifest(release)
    items = [*manifest.items()]
    manifest = {}
    for key, value in items:
        manifest[key] = value
        if key == "patients":
            manifest["most_events"] = 2
    write_manifest(release, manifest)
    assert HISTORIES in broken(release)


def test_spellings_of_a_value_are_one_value(release: Path) -> None:
    rows_changed(
        release,
        "visits",
        lambda rows: [[r[0], "E" if at else "e", r[2]] for at, r in enumerate(rows)],
    )
    verdict = verify(release)
    assert any("is taken for" in finding.detail for finding in verdict.findings)


def test_linked_releases_judged_by_hand(honest: Path) -> None:
    own, visits = rows_of(honest, "patients"), rows_of(honest, "visits")
    ill = {(row[0], row[1]) for row in visits}
    groups: dict[tuple[str, ...], set[str]] = {}
    for row in own:
        groups.setdefault((row[1], row[2]), set()).add(row[0])
    measured = json.loads((honest / "manifest.json").read_text())["measured"]
    assert measured[0]["k"] == min(map(len, groups.values()))
    shares = [
        sum((who, value) in ill for who in members) / len(members)
        for members in groups.values()
        for value in "abcde"
    ]
    assert measured[2]["C"] == pytest.approx(max(shares))
    told = " ".join(finding.detail for finding in verify(honest).findings)
    assert f"the smallest group has {min(map(len, groups.values()))} patients" in told


@given(st.lists(st.integers(0, 300), min_size=1, max_size=60), st.integers(2, 9))
def test_steps_tell_nobody_apart_and_are_those_of_the_maker(rows: list[int], least: int) -> None:
    from incrowd.publish._histories import rows_per_patient
    from incrowd.table.profiles import Events

    steps = _steps(dict(Counter(rows)), least)
    assert steps[0][0] == 0
    assert steps[-1][1] is None
    assert sum(many for *_, many in steps) == len(rows)
    assert len(steps) == 1 or min(many for *_, many in steps) >= least
    for begin, end, many in steps:
        assert many == sum(begin <= each <= (end if end is not None else each) for each in rows)
    patient = pl.Series([n for n, many in enumerate(rows) for _ in range(many)], dtype=pl.Int64)
    made = rows_per_patient(Events((), patient.to_numpy()).lengths, len(rows), least)
    assert steps == tuple((each["from"], each.get("to"), each["patients"]) for each in made)
