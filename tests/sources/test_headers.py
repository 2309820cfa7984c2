"""A first line that is a record is refused, whoever reads; names are taken for names."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import polars as pl
import pytest

from incrowd.errors import ParameterError, SourceError
from incrowd.sources import as_source, read
from incrowd.sources._headers import looks_of

NAMES = ["Abernathy524", "Braun514", "Müller", "Olsen", "Ruiz", "Svensson", "Tanaka", "Weiß"]


def patients(records: int = 40, seed: int = 1) -> list[list[str]]:
    """Records as exports have them: number, name, birth, sex, postal code, value, code."""
    draw = random.Random(seed)
    return [
        [
            str(4711 + number),
            draw.choice(NAMES) + str(number),
            f"19{draw.randint(30, 99)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}",
            draw.choice("FM"),
            f"{draw.randint(10000, 99999)}",
            f"{draw.uniform(4, 12):.1f}",
            draw.choice(["E11.9", "I10", "J45.0", "K35.8"]),
        ]
        for number in range(records)
    ]


def written(path: Path, rows: list[list[str]], separator: str = ",") -> Path:
    path.write_text("".join(separator.join(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("records", [4, 8, 40])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_record_is_no_header_and_is_not_shown(
    tmp_path: Path, records: int, separator: str
) -> None:
    rows = patients(records)
    path = written(tmp_path / "patients.csv", rows, separator)
    with pytest.raises(SourceError) as refused:
        read(path)
    message = str(refused.value)
    assert "the first line looks like a record" in message
    assert "`header: false`" in message
    assert "--no-header" in message
    assert not [cell for cell in rows[0] if len(cell) > 1 and cell in message]
    found = read(path, header=False)
    assert found.columns == [f"column_{number}" for number in range(1, 8)]
    assert found.rows() == [tuple(row) for row in rows]


@pytest.mark.parametrize(
    "rows",
    [
        # Only categories: they occur again below.
        [
            ["F", "North", "Flu"],
            ["M", "South", "Flu"],
            ["F", "South", "HIV"],
            ["F", "North", "HIV"],
        ],
        # A list of one column.
        [["Flu"], ["HIV"], ["Flu"], ["Flu"]],
        # Identifiers of a form, and a mark.
        [["P0001", "yes"], ["P0002", "no"], ["P0003", "yes"], ["P0004", "no"]],
        # Times with a zone, names that nobody shares.
        [[f"{name}{i}", f"2011-07-{10 + i}T09:54:17Z"] for i, name in enumerate(NAMES)],
        [[f"{i}{name}@clinic.org", name] for i, name in enumerate(NAMES)],
    ],
)
def test_other_records_that_are_no_header(tmp_path: Path, rows: list[list[str]]) -> None:
    path = written(tmp_path / "list.csv", rows)
    with pytest.raises(SourceError, match="looks like a record"):
        read(path)
    assert read(path, header=False).rows() == [tuple(row) for row in rows]


@pytest.mark.parametrize(
    "content",
    [
        "region,2019,2020\nNorth,1900,2100\nSouth,2500,1500\nEast,2019,2020\nWest,10,20\nMid,5,9\n",
        "region,2018,2020,2022\nNorth,1900,2100,3\nSouth,2500,1500,2\n",
        ",".join(map(str, range(6))) + "\n" + "3,4,5,6,7,8\n" * 6,  # as pandas numbers columns
        "id,sex\n1,sex\n2,M\n3,F\n",
        "sex\nF\nM\n",
        "name\nFlu\nCold\n",
        "patient,1,30\nA,0.5,0.7\nB,0.4,0.2\nC,0.1,0.3\nD,0.5,0.6\nE,0.9,0.8\n",
        "E11,I10,470\n0,1,0\n1,0,0\n0,0,1\n1,1,0\n0,1,0\n1,0,1\n",  # codes over marks
        "age\n30\n31\n",
        "a,b\n1,2\n",
        "a,b\n,\n,\n",
        "date,value\n2020-01-01,5\n2020-01-02,6\n",
        "patient,2020-01-01,2020-01-02\nA,5,6\nB,7,8\n",  # days as names of measures
    ],
)
def test_names_are_names(tmp_path: Path, content: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(content)
    assert read(path).columns == content.split("\n")[0].split(",")


def test_every_bundled_table_has_a_header_that_is_one(tmp_path: Path) -> None:
    from incrowd import datasets
    from incrowd.sources import write

    for name in ("adult", "cancer-registry", "blood-transfusions", "death-certificates"):
        frame = datasets.load(name, rows=300)
        path = tmp_path / f"{name}.csv"
        write(frame, path)
        assert read(path).columns == frame.columns
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        path.write_text("".join(lines[1:]), encoding="utf-8")
        with pytest.raises(SourceError, match=r"looks like a record|no name|same name"):
            read(path)
        assert read(path, header=False).height == 300


def test_what_the_person_says_of_the_first_line_is_believed(tmp_path: Path) -> None:
    path = written(tmp_path / "patients.csv", patients())
    assert read(path, header=True).columns == patients()[0]
    path.write_text("id,age\n1,30\n2,40\n")
    assert read(path, header=False).rows() == [("id", "age"), ("1", "30"), ("2", "40")]


@pytest.mark.parametrize("ending", ["\n", "\r\n", ""])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_every_record_is_read_without_a_header(
    tmp_path: Path, ending: str, mark: bytes, name: str
) -> None:
    line = ending or "\n"
    content = mark + f'1,"a{line}b"{line}2,""{line}3,c{ending}'.encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    expected = [("1", f"a{line}b"), ("2", None), ("3", "c")]
    assert read(path, header=False).rows() == expected
    assert pl.concat(as_source(path).pieces(None, {"header": False})).rows() == expected


def test_a_single_record_and_folders_without_headers(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("4711,F\n")
    assert read(tmp_path / "one.csv", header=False).rows() == [("4711", "F")]
    (tmp_path / "two.csv").write_text("4712,M\n4713,F\n")
    assert read(tmp_path, header=False).rows() == [("4711", "F"), ("4712", "M"), ("4713", "F")]


def test_double_and_empty_names_are_refused_without_showing_a_cell(tmp_path: Path) -> None:
    path = tmp_path / "twice.csv"
    path.write_text("Braun,Braun,x\n1,2,3\n")
    with pytest.raises(SourceError) as refused:
        read(path)
    assert "Braun" not in str(refused.value)
    assert "`header: false`" in str(refused.value)


def test_a_header_repeated_below_is_refused_with_its_own_remedy(tmp_path: Path) -> None:
    path = tmp_path / "joined.csv"
    path.write_text("age,sex\n30,F\n31,M\nage,sex\n32,F\n")
    with pytest.raises(SourceError, match="remove the repeated ones"):
        read(path)


def test_only_text_files_have_headers(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="header: is for text files only"):
        read(pl.DataFrame({"a": [1]}), header=False)


def test_looks_are_told_name_by_name() -> None:
    names = ["34", "id", "2019", "2020", "F", "1950-01-02", "age"]
    below = [
        ["35", "x", "1", "2", "M", "1951-03-04", "3"],
        ["30", "y", "1", "2", "F", "1952-03-04", "4"],
    ]
    assert looks_of(names, below) == [
        "value",
        "name",
        "neither",
        "neither",
        "value",
        "date",
        "word",
    ]
