"""One cell that is plainly data makes the first line a record, where nothing speaks for names."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from incrowd.errors import SourceError
from incrowd.sources import read

Cell = Callable[[random.Random, int], str]

STEMS = ["Aber", "Schm", "Gar", "Ros", "Dup", "Nov", "Web", "Bra", "Kle", "Wol"]
ENDS = ["nathy", "idt", "cia", "si", "ont", "ak", "er", "un", "in", "ley"]
SURNAMES = [stem + end for stem in STEMS for end in ENDS]
DISEASES = ["Flu", "HIV", "Asthma", "Cancer", "Diabetes", "Gout"]


def last(_: random.Random, at: int) -> str:
    return SURNAMES[at]


def first(_: random.Random, at: int) -> str:
    return SURNAMES[-1 - at][::-1].title()


def street(_: random.Random, at: int) -> str:
    return f"{SURNAMES[at]} Road"


def town(_: random.Random, at: int) -> str:
    return f"{SURNAMES[at]}ville"


def note(_: random.Random, at: int) -> str:
    return f"{SURNAMES[-1 - at]} called"


def age(draw: random.Random, _: int) -> str:
    return str(draw.randint(18, 90))


def disease(draw: random.Random, _: int) -> str:
    return draw.choice(DISEASES)


def american(draw: random.Random, _: int) -> str:
    return f"{draw.choice(['March', 'May'])} {draw.randint(1, 28)}, 19{draw.randint(20, 99)}"


def german(draw: random.Random, _: int) -> str:
    month = draw.choice(["März", "Mai", "Juni", "Oktober"])
    return f"{draw.randint(1, 28)}. {month} 19{draw.randint(20, 99)}"


def month(draw: random.Random, _: int) -> str:
    return f"19{draw.randint(20, 99)}-{draw.randint(1, 12):02}"


def compact(draw: random.Random, _: int) -> str:
    return f"19{draw.randint(20, 99)}{draw.randint(1, 12):02}01T{draw.randint(10, 23)}54"


def phone(draw: random.Random, _: int) -> str:
    return f"555-{draw.randint(100, 999)}-{draw.randint(1000, 9999)}"


def house(draw: random.Random, at: int) -> str:
    return f"{SURNAMES[at]}{draw.choice(['', ' Road', ' Old Lane'])} {draw.randint(1, 199)}"


def hexadecimal(draw: random.Random, _: int) -> str:
    return "".join(draw.choice("0123456789abcdef") for _ in range(12))


def thousands(draw: random.Random, _: int) -> str:
    return f"{draw.randint(1, 9)},{draw.randint(100, 999)}"


def only_first(value: str, others: Cell) -> Cell:
    return lambda draw, at: value if at == 0 else others(draw, at)


WITHOUT_HEADER: dict[str, list[Cell]] = {
    "street and age": [last, first, street, age],
    "town and age": [last, first, street, town, age],
    "a disease alone": [last, first, street, disease],
    "age alone": [last, first, age],
    "age and disease": [last, first, age, disease],
    "street, age and disease": [last, first, street, age, disease],
    "two hard cells of seven": [last, first, street, town, note, age, disease],
    "March 11, 1943": [last, first, american],
    "8. Juni 1998": [last, first, german],
    "1950-03": [last, first, month],
    "19500301T1054": [last, first, compact],
    "phone": [last, first, phone],
    "street and number": [last, first, house],
    "hexadecimal": [last, first, hexadecimal],
    "1,234": [last, first, thousands],
    "an age out of range": [only_first("107", age), first, only_first("Kuru", disease)],
    "numbers out of range": [only_first("999", age), only_first("777", age)],
    "no value yet": [last, only_first("NA", age), age],
    "below what is measured": [last, only_first("<5", age), age],
    "other letters": [
        only_first("m", lambda draw, _: draw.choice("MF")),
        only_first("bern", lambda draw, _: draw.choice(["Bern", "Chur"])),
        only_first("flu", disease),
    ],
}


@pytest.mark.parametrize("kind", WITHOUT_HEADER)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_record_is_refused_for_one_cell(tmp_path: Path, kind: str, seed: int) -> None:
    draw = random.Random(seed)
    rows = [[cell(draw, at) for cell in WITHOUT_HEADER[kind]] for at in range(60)]
    path = tmp_path / "patients.csv"
    with path.open("w", encoding="utf-8", newline="") as opened:
        csv.writer(opened).writerows(rows)
    with pytest.raises(SourceError, match="looks like a record") as refused:
        read(path)
    assert not [cell for cell in rows[0] if len(cell) > 3 and cell in str(refused.value)]
    assert read(path, header=False).rows() == [tuple(row) for row in rows]


def drawn(*values: str) -> Cell:
    return lambda draw, _: draw.choice(values)


def whole(low: int, high: int) -> Cell:
    return lambda draw, _: str(draw.randint(low, high))


def decimal(draw: random.Random, _: int) -> str:
    return f"{draw.uniform(0.1, 0.9):.3f}"


def counted(stem: str) -> Cell:
    return lambda _, at: f"{stem}{at}"


WITH_HEADER: dict[str, list[Cell]] = {
    "patient,2015,2016,2017,2018": [counted("p"), *[whole(0, 50)] * 4],
    "region,2010,2015,2021": [last, *[whole(0, 500)] * 3],  # years with gaps, over counts
    "sample,rs123,rs456": [counted("s"), *[drawn("AA", "AG", "GG")] * 2],
    "q1,q2,q3": [whole(1, 5)] * 3,
    "I10,E11,J45": [whole(0, 1)] * 3,
    "D1,D2,sex": [drawn("E119", "I259", "J450"), drawn("K359", "N179"), drawn("F", "M")],
    "0,1,2,label": [*[whole(0, 1)] * 3, drawn("a", "b")],
    "0,1,age,sex": [whole(0, 1), whole(0, 1), age, drawn("F", "M")],
    "ward,8,12,16,20": [drawn("A", "B"), *[whole(5, 30)] * 4],
    "patient,1,30": [last, decimal, decimal],
    "ward,2024-01-01,2024-01-02": [last, whole(5, 30), whole(5, 30)],
    "type,value,unit": [drawn("type", "B"), whole(1, 9), drawn("mg")],
    "F,M,age": [whole(0, 1), whole(0, 1), age],
    "x1,x2,y": [decimal, decimal, drawn("a", "b")],
    "icd10,drug": [drawn("A10", "B20", "C30"), drawn("d1", "d2")],
    "TP53,BRCA1,KRAS": [drawn("wt", "mut")] * 3,
    "TP53,BRCA1": [drawn("V600E", "R175H", "G12D")] * 2,
    "last,first,street,town": [last, first, street, town],
    "surname,birth": [last, american],
    "surname,token": [last, hexadecimal],
    "surname,house": [last, house],
    "hba1c,t4,age": [decimal, decimal, age],
    "Id,Date1,Code1": [hexadecimal, month, drawn("A-1", "B-22")],
}


@pytest.mark.parametrize("names", WITH_HEADER)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_names_of_columns_stay_names(tmp_path: Path, names: str, seed: int) -> None:
    draw = random.Random(seed)
    rows = [[cell(draw, at) for cell in WITH_HEADER[names]] for at in range(60)]
    path = tmp_path / "table.csv"
    with path.open("w", encoding="utf-8", newline="") as opened:
        csv.writer(opened).writerows([names.split(","), *rows])
    assert read(path).columns == names.split(",")
