"""Releases of histories that somebody changed, with digests that fit: all are refused."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from forger import changed
from handmade_histories import Published, Row, Table, judged, lkc, write

from incrowd.verify import verify
from incrowd.verify.counting import histories
from incrowd.verify.verdict import ATOMS, LABELS, MANIFEST, PATIENTS, PROMISES, TIED

Rows = list[Row]
BLOCKS = {"a": ("E1", "E2"), "b": ("E1", "E3", "E"), "c": ("E2",)}
"""The codes of the three patients of each age: crowds of three, with one of whom F1 is."""
AGE, CODE, YEAR, WARD = 1, 1, 2, 3


def honest(*, flat: bool) -> Published:
    """Nine patients in crowds of exactly three, whatever two facts are known."""
    own, events = [], []
    for number, (age, codes) in enumerate(BLOCKS.items()):
        for place in range(3):
            who = str(3 * number + place + 1)
            own.append((who, age, "u"))
            events += [(who, code, "2020" if code == "E1" else "*", "A") for code in codes]
            events += [(who, "F1", "*", "A")] if not place else []
    roles = {"code": "quasi", "year": "quasi", "ward": "keep"}
    code = "code" if flat else "conditions.code"
    promise = lkc(2, 3, C=0.4, attributes=None, events=2, sensitive=[code], values=["F1"])
    patients = Table({"age": "quasi", "dead": "sensitive"}, own)
    return Published(patients, {"data" if flat else "conditions": Table(roles, events)}, [promise])


@pytest.mark.parametrize("flat", [True, False])
def test_the_honest_release_is_verified(flat: bool, tmp_path: Path) -> None:
    verdict = verify(write(tmp_path, honest(flat=flat), flat=flat))
    assert verdict.holds, verdict.broken
    assert verdict.measured == ({"K": 3, "C": pytest.approx(1 / 3), "groups_failing": 0},)


def broken(folder: Path) -> str:
    verdict = verify(folder)
    assert not verdict.holds
    return " ".join(finding.promise for finding in verdict.broken)


def of_events(made: Published, change: Callable[[Rows], Rows]) -> Published:
    ((name, table),) = made.events.items()
    return replace(made, events={name: replace(table, rows=change([*table.rows]))})


def first(rows: Rows, code: str) -> int:
    return next(at for at, row in enumerate(rows) if row[CODE] == code)


def with_row(rows: Rows, of: str, **cells: str) -> Rows:
    """The first row of a code with other cells."""
    at = first(rows, of)
    places = {"who": 0, "code": CODE, "year": YEAR, "ward": WARD}
    row = list(rows[at])
    for name, cell in cells.items():
        row[places[name]] = cell
    return [*rows[:at], tuple(row), *rows[at + 1 :]]


def without(rows: Rows, code: str) -> Rows:
    return [row for at, row in enumerate(rows) if at != first(rows, code)]


def twice(rows: Rows, code: str, ward: str) -> Rows:
    row = rows[first(rows, code)]
    return [*rows, (*row[:WARD], ward)]


EVENTS: dict[str, tuple[Callable[[Rows], Rows], str]] = {
    "a row removed": (lambda rows: without(rows, "E3"), "lkc"),
    "a protected row removed, and given to another": (
        lambda rows: with_row(rows, "F1", who="5"), "lkc",
    ),
    "an event relabelled": (lambda rows: with_row(rows, "E3", code="E1.5"), "lkc"),
    "an event made coarser": (lambda rows: with_row(rows, "E3", code="*"), "lkc"),
    "a row moved to another pseudonym": (lambda rows: with_row(rows, "E3", who="8"), "lkc"),
    "another year": (lambda rows: with_row(rows, "E1", year="2021"), "lkc"),
    "a missing year": (lambda rows: with_row(rows, "E1", year=""), "lkc"),
    "an event more": (lambda rows: [*rows, ("9", "E7", "*", "A")], "lkc"),
    "a row twice": (lambda rows: twice(rows, "E1", "A"), ATOMS),
    "an atom twice, in another ward": (lambda rows: twice(rows, "E1", "B"), ATOMS),
    "a protected row twice": (lambda rows: twice(rows, "F1", "B"), ATOMS),
    "the year of a protected row": (lambda rows: with_row(rows, "F1", year="2020"), ATOMS),
    "a missing cell in a protected row": (lambda rows: with_row(rows, "F1", year=""), ATOMS),
    "a protected value in another spelling": (lambda rows: with_row(rows, "F1", code="f1"), ATOMS),
}  # fmt: skip


@pytest.mark.parametrize("flat", [True, False], ids=["flat", "linked"])
@pytest.mark.parametrize("name", EVENTS)
def test_changed_events_are_found(name: str, flat: bool, tmp_path: Path) -> None:
    change, promise = EVENTS[name]
    made = of_events(honest(flat=flat), change)
    assert promise in broken(write(tmp_path, made, flat=flat))


def test_a_label_of_a_patient_that_differs_in_one_row_is_found(tmp_path: Path) -> None:
    folder = write(tmp_path, honest(flat=True), flat=True)
    path = folder / "data.csv"
    lines = path.read_bytes().decode().splitlines()
    lines[1] = lines[1].replace(",a,", ",b,")
    path.write_text("\n".join([lines[0], *sorted(lines[1:])]) + "\n")
    with changed(folder):
        pass
    assert PATIENTS in broken(folder)


def test_another_label_of_a_patient_is_found(tmp_path: Path) -> None:
    made = honest(flat=False)
    rows = [(row[0], "b", row[2]) if row[0] == "1" else row for row in made.patients.rows]
    made = replace(made, patients=replace(made.patients, rows=rows))
    assert "lkc" in broken(write(tmp_path, made, flat=False))


def test_who_shows_that_nothing_is_shown_is_not_alone_with_it(tmp_path: Path) -> None:
    """Others with E1 show other ages: whoever knows the age of the patient, and E1, finds it."""
    own = [(str(who), "*" if who in (1, 4, 5, 6) else "a", "u") for who in range(1, 7)]
    events = [(str(who), "E1" if who < 4 else "E2", "*", "A") for who in range(1, 7)]
    made = honest(flat=False)
    table = replace(made.events["conditions"], rows=events)
    made = replace(made, patients=replace(made.patients, rows=own), events={"conditions": table})
    made = made.promising(lkc(1, 2))
    assert verify(write(tmp_path / "one fact", made, flat=False)).holds
    made = made.promising(lkc(2, 2))
    assert "lkc" in broken(write(tmp_path / "two", made, flat=False))


def test_an_event_of_nobody_is_found(tmp_path: Path) -> None:
    made = of_events(honest(flat=False), lambda rows: with_row(rows, "E3", who="10"))
    assert TIED in broken(write(tmp_path, made, flat=False))


PROMISED: dict[str, tuple[dict[str, Any], str]] = {
    "a larger crowd": ({"K": 4}, "lkc"),
    "less confidence": ({"C": 0.3}, "lkc"),
    "no confidence, though values are listed": ({"C": 0}, "lkc"),
    "a value that nobody has": ({"values": ["F1", "F9"]}, PROMISES),
    "a value listed twice": ({"values": ["F1", "F1"]}, PROMISES),
    "no value, of what may be known": ({"values": None}, "lkc"),
    "another protected value": ({"values": ["E3"]}, "lkc"),
    "a column of what is known of patients": ({"sensitive": ["age"], "values": ["a"]}, PROMISES),
    "a column that is not published": ({"sensitive": ["weight"]}, PROMISES),
    "a column twice": ({"sensitive": ["dead", "dead"], "values": ["u"]}, "lkc"),
    "nothing known": ({"attributes": 0, "events": 0}, "lkc"),
    "no event known": ({"events": 0}, PROMISES),
    "nothing known of patients": ({"attributes": 0}, PROMISES),
    "half an event": ({"events": 0.5}, "lkc"),
    "fewer than no events": ({"events": -1}, "lkc"),
    "a parameter that is not known": ({"atoms": "counted"}, PROMISES),
    "nothing that it bounds": ({"K": 1, "C": 1.0}, PROMISES),
}


@pytest.mark.parametrize("name", PROMISED)
def test_changed_promises_are_found(name: str, tmp_path: Path) -> None:
    change, promise = PROMISED[name]
    made = honest(flat=False)
    told = {**made.promises[0]["parameters"], **change}
    made = made.promising({"model": "lkc", "parameters": told})
    assert promise in broken(write(tmp_path, made, flat=False))


@pytest.mark.parametrize(
    "promise",
    [
        {"model": "k-anonymity", "parameters": {"k": 3}},
        {"model": "confidence-bounding", "parameters": {"C": 0.4, "sensitive": "conditions.code",
                                                        "values": ["F1"]}},
    ],
)  # fmt: skip
def test_promises_that_do_not_count_events_are_not_enough(
    promise: dict[str, Any], tmp_path: Path
) -> None:
    """Groups of patients by their own labels say nothing of who knows an event."""
    made = honest(flat=False)
    made = made.promising(*made.promises, promise)
    assert promise["model"] in broken(write(tmp_path, made, flat=False))


def test_a_promise_on_events_needs_events_that_may_be_known(tmp_path: Path) -> None:
    made = honest(flat=False)
    ((name, table),) = made.events.items()
    unknown = replace(table, roles={"code": "sensitive", "year": "keep", "ward": "keep"})
    promise = {"model": "km-anonymity", "parameters": {"k": 3, "m": 2}}
    made = replace(made, events={name: unknown}).promising(promise)
    assert "km-anonymity" in broken(write(tmp_path, made, flat=False))


@pytest.mark.parametrize(
    "change",
    [
        {"events_left_out": {"conditions": 3, "drugs": 3}},
        {"events_left_out": {"conditions": 1}},
        {"events_left_out": {"conditions": -3}},
        {"events_left_out": ["conditions"]},
    ],
    ids=["a table that is not there", "single rows", "fewer than none", "a list"],
)
def test_what_is_said_of_rows_left_out_tells_of_nobody(
    change: dict[str, Any], tmp_path: Path
) -> None:
    folder = write(tmp_path, honest(flat=False), flat=False, told=change)
    assert MANIFEST in broken(folder)


def test_rows_left_out_are_told_in_steps(tmp_path: Path) -> None:
    told = {"events_left_out": {"conditions": 6}}
    verdict = verify(write(tmp_path, honest(flat=False), flat=False, told=told))
    assert verdict.holds, verdict.broken
    assert any("events_left_out" in each for each in verdict.not_judged)


def test_weights_of_labels_that_no_event_shows_are_found(tmp_path: Path) -> None:
    weights = {"conditions.code": {"E9": 2}}
    folder = write(tmp_path, honest(flat=False), flat=False, weights=weights)
    assert broken(folder) == LABELS


def test_what_takes_hours_is_refused_before_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cost is known exactly: the combinations of all patients, of the shapes to be counted."""
    folder = write(tmp_path, honest(flat=False), flat=False)
    # Of nothing, one and two facts: ages, and 2, 3 or 1 events of three patients each; and once
    # more of those who hold what is protected, which is one of each three.
    rows = (9 + (9 + 3 * 6) + (3 * 6 + 3 * (1 + 3))) * 4 // 3
    monkeypatch.setattr(histories, "MOST_ROWS", rows)
    assert verify(folder).holds
    monkeypatch.setattr(histories, "MOST_ROWS", rows - 1)
    (finding,) = verify(folder).broken
    assert f"{rows} combinations" in finding.detail
    assert "most-events" in finding.detail


@pytest.mark.parametrize("seed", range(6))
def test_counting_in_parts_gives_the_same(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(seed)
    made = honest(flat=False)
    codes = ["E1", "E2", "E3", "E4", "F1"]
    rows = {(str(who), draw.choice(codes), "*", "A") for who in range(1, 10) for _ in range(5)}
    made = of_events(made, lambda _: sorted({*rows, ("1", "F1", "*", "A")}))
    folder = write(tmp_path, made, flat=False)
    whole = verify(folder).findings[-1]
    monkeypatch.setattr(histories, "ROWS_AT_ONCE", 7)
    assert verify(folder).findings[-1] == whole
    expected = judged(made, made.promises[0]["parameters"], (2, 2, 2))
    assert whole.measured["K"] == expected.size
    assert whole.measured["C"] == pytest.approx(float(expected.share))


def test_a_release_without_a_patient_is_not_verified(tmp_path: Path) -> None:
    made = replace(
        honest(flat=False),
        patients=Table({"age": "quasi"}),
        events={"conditions": Table({"code": "quasi"})},
    )
    assert not verify(write(tmp_path, made, flat=False)).holds
