"""Tampering with releases whose dates were changed, or whose pseudonyms follow from a key."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from forger import changed

import incrowd
from incrowd.publish import new_key
from incrowd.verify import verify
from incrowd.verify.verdict import FORM, MANIFEST, ORDER, PATIENTS, READABLE, STATED, TIMES

EVENT = {"role": "keep", "level": "event"}
SHIFT = {"shift": "180 days", "weeks": True}
TIMES_OF = {
    "birth": {"role": "keep", "time": {"coarse": "quarter"}},
    "moved": {"role": "keep", "time": SHIFT},
    "start": EVENT | {"time": SHIFT},
    "since": EVENT | {"time": {"relative-to": "first"}},
    "range": EVENT | {"time": {"relative-to": "birth", "widths": [30, 90]}},
    "month": EVENT | {"time": {"coarse": "month"}},
}
NAMES = ["patient", "age", "birth", "moved", "start", "since", "range", "month", "code"]


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    draw = random.Random(5)
    rows = []
    for patient in range(40):
        birth = date(1960, 1, 1) + timedelta(draw.randint(0, 2000))
        for _ in range(draw.choice((1, 2, 3))):
            day = date(2020, 1, 1) + timedelta(draw.randint(0, 700))
            own = (f"P{patient}", 20 + patient % 5, birth, birth)
            rows.append((*own, day, day, day, day, draw.choice("abc")))
    policy = {
        "unit": "id",
        "attributes": {
            "id": "identifier", "age": "quasi", **TIMES_OF,
            "code": {"role": "sensitive", "level": "event"},
        },
        "privacy": [{"k-anonymity": {"k": 3}}],
    }  # fmt: skip
    place = tmp_path_factory.mktemp("honest")
    new_key(place / "a.key")
    frame = pl.DataFrame(rows, ["id", *NAMES[1:]], orient="row")
    release = incrowd.anonymize(frame, policy, accept_unprotected=True, key=place / "a.key")
    assert release.save(place / "release").holds
    assert release.data.columns == NAMES
    return place / "release"


@pytest.fixture
def release(honest: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(honest, tmp_path / "release"))


def broken(folder: Path) -> set[str]:
    return {finding.promise for finding in verify(folder).broken}


def cells_changed(folder: Path, name: str, change: Callable[[str], str]) -> None:
    """One cell of a column is another, in a table that is sorted and counted as it should be."""
    path = folder / "data.csv"
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    rows = [line.split(",") for line in lines]
    at = NAMES.index(name)
    if name in ("patient", "birth", "moved"):
        who, value = rows[0][0], change(rows[0][at])
        rows = [[*row[:at], value, *row[at + 1 :]] if row[0] == who else row for row in rows]
    else:
        rows[0][at] = change(rows[0][at])
    rows.sort(key=lambda row: [cell.encode() for cell in row])
    path.write_text("\n".join([header, *map(",".join, rows)]) + "\n", encoding="utf-8")
    with changed(folder):
        pass


@pytest.mark.parametrize(
    ("name", "cell", "promise"),
    [
        ("birth", "1962-05-17", TIMES),
        ("birth", "1962-Q5", TIMES),
        ("birth", "0000-Q1", TIMES),
        ("month", "2020-05-17", TIMES),
        ("month", "2020-13", TIMES),
        ("month", "2020", TIMES),
        ("since", "2020-05-17", READABLE),
        ("since", "-3", TIMES),
        ("since", "3.5", TIMES),
        ("since", "007", READABLE),
        ("range", "[21900-21929)", TIMES),
        ("range", "[21901-21931)", TIMES),
        ("range", "21907", TIMES),
        ("range", "[1961-05-17-1962-05-17)", TIMES),
        ("start", "2020-05", READABLE),
        ("moved", "1962", READABLE),
        ("patient", "P17", PATIENTS),
        ("patient", "1", PATIENTS),
        ("patient", "A" * 32, PATIENTS),
        ("patient", "", PATIENTS),
    ],
)
def test_cells_finer_than_stated_are_found(
    name: str, cell: str, promise: str, release: Path
) -> None:
    cells_changed(release, name, lambda _cell: cell)
    assert broken(release) - {"k-anonymity (k=3)", STATED} == {promise}


def test_cells_of_the_stated_form_are_none_the_worse(release: Path) -> None:
    cells_changed(release, "range", lambda _cell: "[-30-0)")
    assert verify(release).holds


def test_one_pseudonym_for_two_patients_is_found(release: Path) -> None:
    other = (release / "data.csv").read_text(encoding="utf-8").splitlines()[-1].split(",")[0]
    cells_changed(release, "patient", lambda _cell: other)
    assert PATIENTS in broken(release)


def entry(manifest: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in manifest["attributes"] if each["name"] == name)
    return found


def stated(name: str, **time: Any) -> Callable[[dict[str, Any]], None]:
    def change(manifest: dict[str, Any]) -> None:
        entry(manifest, name)["time"] = time

    return change


def typed(name: str, kind: str) -> Callable[[dict[str, Any]], None]:
    def change(manifest: dict[str, Any]) -> None:
        entry(manifest, name)["type"] = kind

    return change


def fingerprint(value: Any) -> Callable[[dict[str, Any]], None]:
    def change(manifest: dict[str, Any]) -> None:
        manifest["pseudonyms"] = {"fingerprint": value}

    return change


def numbered(manifest: dict[str, Any]) -> None:
    del manifest["pseudonyms"]


def told_of_code(manifest: dict[str, Any]) -> None:
    """A column whose values were changed by nobody is said to have months."""
    told = entry(manifest, "code")
    published = told.pop("published"), told.pop("type")
    told |= {"published": published[0], "type": "ordered"}
    told["time"] = {"way": "coarse", "period": "month"}


def told_of_age(manifest: dict[str, Any]) -> None:
    manifest["attributes"][1] = {
        key: value
        for name, told in entry(manifest, "age").items()
        for key, value in ((name, told), *((("time", SHIFT_TOLD),) if name == "type" else ()))
    }


SHIFT_TOLD = {"way": "shift", "days": 180, "weeks": True}


@pytest.mark.parametrize(
    ("change", "promise"),
    [
        (stated("month", way="coarse", period="year"), TIMES),
        (stated("month", way="coarse", period="day"), MANIFEST),
        (stated("month", way="coarse", period="month", note="of Mrs Smith"), MANIFEST),
        (stated("month", way="secret"), MANIFEST),
        (stated("month", way=["coarse"], period="month"), MANIFEST),
        (stated("month"), MANIFEST),
        (stated("range", way="relative", to="column", column="birth", unit="days",
                widths=[7, 90]), TIMES),
        (stated("range", way="relative", to="first", unit="days", widths=[30, 15]), MANIFEST),
        (stated("range", way="relative", to="first", unit="days", widths=[]), MANIFEST),
        (stated("range", way="relative", to="first", unit="days", widths=["P17"]), MANIFEST),
        (stated("range", way="relative", to="column", column="Mrs Smith", unit="days",
                widths=[30]), MANIFEST),
        (stated("range", way="relative", to="event", column="birth", unit="days",
                widths=[30]), MANIFEST),
        (stated("range", way="relative", to=["column"], column="birth", unit="days",
                widths=[30]), MANIFEST),
        (stated("range", way="relative", to="first", unit="days"), MANIFEST),
        (stated("start", way="shift", days=90, weeks=True), MANIFEST),
        (stated("start", way="shift", days=3, weeks=True), MANIFEST),
        (stated("start", way="shift", days=180, weeks=True, by=-42), MANIFEST),
        (stated("start", days=180, way="shift", weeks=True), MANIFEST),
        (typed("start", "category"), MANIFEST),
        (typed("since", "category"), MANIFEST),
        (told_of_code, TIMES),
        (told_of_age, MANIFEST),
        (fingerprint("P17"), MANIFEST),
        (fingerprint("0" * 64), MANIFEST),
        (fingerprint(None), MANIFEST),
        (numbered, READABLE),
    ],
)  # fmt: skip
def test_a_manifest_that_tells_otherwise_is_found(
    change: Callable[[dict[str, Any]], None], promise: str, release: Path
) -> None:
    with changed(release) as manifest:
        change(manifest)
    assert promise in broken(release)


def test_what_no_file_shows_is_said_to_be_not_judged(release: Path) -> None:
    verdict = verify(release)
    assert any("pseudonyms" in each for each in verdict.not_judged)
    (finding,) = (each for each in verdict.findings if each.promise == TIMES)
    assert "the files cannot show that" in finding.detail
    assert {each.column for each in verdict.unchanged} == {"code"}


def test_a_release_of_single_rows_is_judged_as_well(tmp_path: Path) -> None:
    days = [date(2020, 1, 1) + timedelta(9 * n) for n in range(40)]
    frame = pl.DataFrame({"age": [n % 3 for n in range(40)], "day": days})
    policy = {
        "unit": "row",
        "attributes": {"age": "quasi", "day": {"role": "keep", "time": {"coarse": "year"}}},
        "privacy": [{"k-anonymity": {"k": 3}}],
    }
    folder = tmp_path / "release"
    assert incrowd.anonymize(frame, policy).save(folder).holds
    path = folder / "data.csv"
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    lines = sorted([lines[0][:-4] + "2020-03-09", *lines[1:]])
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    with changed(folder) as manifest:
        manifest["unprotected"]["unique"] = 1
    assert broken(folder) == {TIMES}
    assert {FORM, ORDER}.isdisjoint(broken(folder))


def calendar_days(header: str, rows: list[list[str]]) -> list[list[str]]:
    """Days since 1970, of which each cell is a number, as it should be."""
    at = header.split(",").index("since")
    return [[*row[:at], str(18262 + int(row[at])), *row[at + 1 :]] for row in rows]


def one_later(header: str, rows: list[list[str]]) -> list[list[str]]:
    """All times of one patient are a week later than they are."""
    at = header.split(",").index("since")
    who = rows[0][0]
    return [[*r[:at], str(int(r[at]) + 7), *r[at + 1 :]] if r[0] == who else r for r in rows]


@pytest.mark.parametrize("change", [calendar_days, one_later])
def test_times_that_do_not_begin_at_the_first_date_are_found(
    change: Callable[[str, list[list[str]]], list[list[str]]], release: Path
) -> None:
    path = release / "data.csv"
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    rows = change(header, [line.split(",") for line in lines])
    rows.sort(key=lambda row: [cell.encode() for cell in row])
    path.write_text("\n".join([header, *map(",".join, rows)]) + "\n", encoding="utf-8")
    with changed(release) as manifest:
        manifest.pop("unprotected")
        manifest["attributes"] = [
            {**each, "role": "sensitive"} if each["role"] == "keep" else each
            for each in manifest["attributes"]
        ]
    assert broken(release) == {TIMES}


def test_the_first_dates_of_linked_tables_and_of_cut_histories_are_taken_together(
    tmp_path: Path,
) -> None:
    """The earliest date may stand in another table; of a history that is cut it may be gone."""
    time = {"role": "sensitive", "time": {"relative-to": "first", "widths": [7]}}
    draw = random.Random(3)
    own = [(f"p{n}", 30 + n % 3) for n in range(30)]
    tables: dict[str, Any] = {"patients": pl.DataFrame(own, ["id", "age"], orient="row")}
    for name in ("visits", "tests"):
        rows = [
            (who, date(2020, 1, 1) + timedelta(draw.randint(0, 900)))
            for who, _ in own
            for _ in range(4)
        ]
        tables[name] = pl.DataFrame(rows, ["of", "day"], orient="row")
    policy: dict[str, Any] = {
        "patients": {"key": "id", "attributes": {"age": "quasi"}},
        "tables": {
            name: {"unit": "of", "attributes": {"day": time}} for name in ("visits", "tests")
        },
        "privacy": [{"k-anonymity": {"k": 3}}],
    }
    whole = incrowd.anonymize(tables, policy)
    assert whole.save(tmp_path / "whole", report=False).holds
    cut = incrowd.anonymize(tables, {**policy, "most-events": 1})
    assert cut.save(tmp_path / "cut", report=False).holds
    path = tmp_path / "whole" / "visits.csv"
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if not line.endswith("[0-7)")]
    path.write_text("\n".join([header, *kept]) + "\n", encoding="utf-8")
    with changed(tmp_path / "whole"):
        pass
    assert TIMES in broken(tmp_path / "whole")
