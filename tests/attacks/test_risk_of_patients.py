"""Risk counts patients where they are told apart, and says so where rows are counted."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from pathlib import Path

import polars as pl
import pytest

import incrowd
from histories_by_hand import release_of
from incrowd.errors import InputError, ParameterError

NAMES = ["patient_id", "age", "sex", "dead", "ill"]
Visit = tuple[str, int, str, str, str]


def visits(seed: int, patients: int = 30) -> list[Visit]:
    draw = random.Random(seed)
    rows: list[Visit] = []
    for number in range(patients):
        own = (f"p{number}", draw.randint(30, 33), draw.choice("MF"), draw.choice("yn"))
        rows += [(*own, draw.choice(("flu", "hiv", "gout"))) for _ in range(draw.choice((1, 2, 5)))]
    draw.shuffle(rows)
    return rows


def frame_of(rows: list[Visit]) -> pl.DataFrame:
    return pl.DataFrame(rows, NAMES, orient="row")


@pytest.mark.parametrize("seed", range(4))
def test_patients_are_counted_as_plain_python_counts_them(seed: int) -> None:
    rows = visits(seed)
    groups: dict[tuple[int, str], dict[str, tuple[str, set[str]]]] = defaultdict(dict)
    for who, age, sex, dead, ill in rows:
        groups[age, sex].setdefault(who, (dead, set()))[1].add(ill)
    found = incrowd.risk(
        frame_of(rows), quasi=["age", "sex"], sensitive=["dead", "ill"], unit="patient_id"
    )
    sizes = [len(group) for group in groups.values()]
    assert (found.one, found.records, found.rows) == ("patient", sum(sizes), len(rows))
    assert (found.groups.smallest, found.groups.largest) == (min(sizes), max(sizes))
    assert found.uniques == sizes.count(1)
    assert found.prosecutor.average == pytest.approx(len(sizes) / sum(sizes))
    of_dead, of_ill = found.sensitive
    alike = [group for group in groups.values() if len({own for own, _ in group.values()}) == 1]
    assert of_dead.homogeneous_records == sum(map(len, alike))
    most = [
        max(Counter(value for _, held in group.values() for value in held).values())
        for group in groups.values()
    ]
    assert (of_dead.several, of_ill.several) == (False, True)
    assert of_ill.homogeneous_records == sum(s for s, m in zip(sizes, most, strict=True) if s == m)
    assert of_ill.confidence_per_record == pytest.approx(sum(most) / sum(sizes))


def test_rows_are_said_to_be_counted_where_a_number_of_people_repeats(tmp_path: Path) -> None:
    frame = frame_of(visits(1))
    path = tmp_path / "visits.csv"
    frame.write_csv(path)
    for source in (frame, path):
        found = incrowd.risk(source, quasi=["age"])
        assert (found.one, found.records) == ("record", frame.height)
        (told,) = found.remarks
        assert "Rows are counted here, not patients: 'patient_id' has 30 different" in told
        assert "--unit patient_id" in told
    (told,) = incrowd.risk(path, quasi=["age"], memory="1GB").remarks
    assert "'patient_id' not looked at" in told
    assert incrowd.risk(path, quasi=["age"], unit="row").remarks == ()
    assert incrowd.risk(frame.unique("patient_id"), quasi=["age"]).remarks == ()


def test_what_an_attacker_knows_of_a_patient_is_one_value() -> None:
    frame = frame_of([("p1", 30, "F", "n", "flu"), ("P1", 31, "F", "n", "flu")])
    with pytest.raises(InputError, match=r"'age' \(of 1 patients\); there are 1 patients"):
        incrowd.risk(frame, quasi=["age", "sex"], unit="patient_id")
    assert incrowd.risk(frame, quasi=["sex"], unit="patient_id").records == 1


def test_a_unit_that_does_not_fit_is_refused() -> None:
    frame = frame_of(visits(2))
    with pytest.raises(ParameterError, match="'age' tells patients apart"):
        incrowd.risk(frame, quasi=["age"], unit="age")
    with pytest.raises(InputError, match="Did you mean 'patient_id'"):
        incrowd.risk(frame, quasi=["age"], unit="patientid")
    with pytest.raises(ParameterError, match="rows of patients are gathered in memory"):
        incrowd.risk(frame, quasi=["age"], unit="patient_id", memory="1GB")
    with pytest.raises(ParameterError, match="a release says itself"):
        incrowd.risk(release_of([("30", "F", [("flu", "A")])]), unit="id")


def test_a_release_of_histories_is_one_of_its_patients() -> None:
    release = release_of(
        [
            ("30", "F", [("flu", "A"), ("flu", "B"), ("hiv", "A")]),
            ("30", "F", [("hiv", "A")]),
            ("31", "F", [("gout", "A")] * 9),
        ]
    )
    found = incrowd.risk(release)
    assert (found.one, found.records, found.rows, found.uniques) == ("patient", 3, 13, 1)
    (ill,) = found.sensitive
    assert (ill.name, ill.homogeneous_records, ill.several) == ("ill", 3, True)
    told = found.as_dict()
    assert told["patients"] == 3
    assert "records" not in told
    with pytest.raises(InputError, match="'ill' varies between the rows of a patient"):
        incrowd.risk(release, quasi=["age", "ill"])
