"""Reports of patients with several rows: every count is of patients, and right."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from html import unescape
from pathlib import Path

import polars as pl
import pytest

import incrowd
from incrowd.comparison import compare
from incrowd.engines import collapse

POLICY = {
    "unit": "id",
    "attributes": {
        "id": "identifier",
        "age": {"role": "quasi", "type": "numeric"},
        "sex": "quasi",
        "ill": {"role": "sensitive", "level": "event"},
        "ward": {"role": "keep", "level": "event"},
    },
    "privacy": [
        {"k-anonymity": {"k": 3}},
        {"confidence-bounding": {"C": 0.9, "sensitive": "ill", "values": ["hiv"]}},
    ],
    "method": "mondrian",
    "most-events": 4,
}


def visits() -> pl.DataFrame:
    draw = random.Random(8)
    rows = []
    for number in range(30):
        age, sex = draw.randint(20, 60), draw.choice("MF")
        many = draw.choice((1, 2, 6))
        ills = draw.choices(("flu", "hiv", "gout"), k=many)
        rows += [(f"p{number}", age, sex, ill, "A") for ill in ills]
    return pl.DataFrame(rows, ["id", "age", "sex", "ill", "ward"], orient="row")


def words(page: str) -> str:
    shown = re.sub(r"<style>.*?</style>", " ", page, flags=re.S)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", shown)))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    release = incrowd.anonymize(visits(), POLICY)
    release.save(folder / "release", private_report=folder / "private.html")
    return folder


def test_what_groups_give_away_of_events_is_counted_by_patients(made: Path) -> None:
    groups: dict[tuple[str, ...], dict[str, set[str]]] = defaultdict(dict)
    for who, age, sex, ill, _ in incrowd.open_release(made / "release").data.rows():
        groups[age, sex].setdefault(who, set()).add(ill)
    most = [
        (len(g), max(Counter(v for held in g.values() for v in held).values()))
        for g in groups.values()
    ]
    alone = sum(size for size, top in most if size == top)
    best = sum(top for _, top in most)
    text = words((made / "release" / "report.html").read_text(encoding="utf-8"))
    assert f"{alone} of 30 patients" in text
    assert "are in a group all of whom have one value of 'ill' in common." in text
    assert f"{best} of 30 patients" in text
    assert "have the value of 'ill' that most of their group have." in text
    assert "No attribute was named sensitive" not in text


def test_no_report_of_histories_speaks_of_records(made: Path) -> None:
    for page in (made / "release" / "report.html", made / "private.html"):
        text = words(page.read_text(encoding="utf-8"))
        said = set(re.findall(r"[\w ]{0,20}\brecords?\b[\w ]{0,20}", text))
        # the names of two checks of the judge, and the question of the working party
        told = ("records add up", "records fall into groups", "Can records of the same person")
        assert [each for each in said if not any(known in each for known in told)] == []


def test_both_ways_of_loss_and_what_was_cut_are_said(made: Path) -> None:
    text = words((made / "release" / "report.html").read_text(encoding="utf-8"))
    assert "Rows of the published patients, of each at most 4" in text
    assert "By event: ill, ward vary within a patient and are not generalized" in text
    assert "at most 4 of each patient" in text
    assert "other numbers for patients, the same labels" in text
    assert "most-events: 4" in text


@pytest.mark.parametrize("home", ["memory", "fits", "stays"])
def test_policies_over_histories_are_compared_by_patients(
    monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    if home == "stays":
        monkeypatch.setattr(collapse, "BYTES_A_CODE", 10**12)
    policy = {name: each for name, each in POLICY.items() if name != "most-events"}
    if home != "memory":
        policy |= {"engine": "duckdb", "memory": "300MB"}
    (found,) = compare([policy], visits(), queries=20)
    assert found.one == "patient"
    assert found.risk is not None
    assert found.risk.attribute == "ill"
    having = {
        ill: visits().filter(pl.col("ill") == ill)["id"].n_unique()
        for ill in ["flu", "hiv", "gout"]
    }
    assert found.risk.by_chance == pytest.approx(max(having.values()) / 30)
    assert found.as_dict()["counted"] == "patients"


@pytest.mark.parametrize("stays", [False, True])
def test_reports_say_the_same_wherever_the_rows_are(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, stays: bool
) -> None:
    """Of all rows: which rows a history is cut to is drawn."""
    if stays:
        monkeypatch.setattr(collapse, "BYTES_A_CODE", 10**12)
    policy = {name: each for name, each in POLICY.items() if name != "most-events"}
    told: list[list[str]] = []
    for home in ({}, {"engine": "duckdb", "memory": "300MB"}):
        folder = tmp_path / str(len(told))
        folder.mkdir()
        release = incrowd.anonymize(visits(), {**policy, **home})
        release.save(folder / "release", private_report=folder / "private.html")
        pages = (folder / "release" / "report.html", folder / "private.html")
        told.append([words(page.read_text(encoding="utf-8")) for page in pages])
    for here, there in zip(*told, strict=True):
        assert "all of whom have one value of 'ill' in common" in part(here, "Attack ", "What is")
        for begins, ends in (
            ("Attack ", "What is left"),
            ("Can something be concluded", "What is"),
        ):
            assert part(here, begins, ends) == part(there, begins, ends)


def part(text: str, begins: str, ends: str) -> str:
    """A text from some words on to others."""
    found = text[text.rindex(begins) :]
    return found[: found.index(ends)]


def test_the_private_report_tells_what_is_left_of_known_events(tmp_path: Path) -> None:
    own = pl.DataFrame({"id": [f"p{n}" for n in range(30)]})
    codes = [(f"p{n}", code) for n in range(30) for code in ("flu", "hiv" if n < 9 else "gout")]
    events = pl.DataFrame([*codes, ("p3", "rare")], ["who", "code"], orient="row")
    tree = {"lung": ["flu", "rare"], "other": ["gout", "hiv"]}
    policy = {
        "patients": {"key": "id", "attributes": {"id": "identifier"}},
        "tables": {
            "ill": {
                "unit": "who",
                "attributes": {"code": {"role": "quasi", "hierarchy": {"tree": tree}}},
            }
        },
        "privacy": [{"km-anonymity": {"k": 3, "m": 2}}],
    }
    release = incrowd.anonymize({"patients": own, "ill": events}, policy)
    release.save(tmp_path / "release", private_report=tmp_path / "private.html")
    text = (tmp_path / "private.html").read_text(encoding="utf-8")
    assert "What is left of ill.code" in text
    assert "of 61 different ones that the patients had" in text
    assert "1 of 4 values are shown by nobody as they were" in text
    assert "Patients by two values of ill.code, before and after" in text
    assert "What is left of ill.code" not in (tmp_path / "release" / "report.html").read_text()
