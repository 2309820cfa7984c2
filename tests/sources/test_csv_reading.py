"""What a text file is read as."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
from typing import TYPE_CHECKING, Literal

import polars as pl
import pytest
from csv_reference import first_flaw, records, trimmed
from hypothesis import assume, example, given
from hypothesis import strategies as st

from incrowd.errors import ParameterError, SourceError
from incrowd.sources import read

if TYPE_CHECKING:
    from pathlib import Path

SEPARATORS = [",", ";", "\t", "|"]
CELLS = st.text(
    alphabet=st.one_of(
        st.sampled_from(',;\t|"\r\n a1'), st.characters(exclude_categories=["Cs"], min_codepoint=1)
    ),
    max_size=12,
)
NAMES = st.text(
    alphabet=st.one_of(st.sampled_from(',;"\n a^*$'), st.characters(categories=["L", "N"])),
    min_size=1,
    max_size=8,
).filter(lambda name: name == name.strip() != "")


def save(folder: Path, content: str | bytes, name: str = "patients.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


Quoting = Literal[0, 1]
QUOTINGS: list[Quoting] = [csv.QUOTE_MINIMAL, csv.QUOTE_ALL]


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    row = st.lists(CELLS, min_size=len(names), max_size=len(names))
    return names, draw(st.lists(row, min_size=1, max_size=12))


def as_csv(rows: list[list[str]], separator: str, end: str, quoting: Quoting) -> str:
    text = io.StringIO(newline="")
    if any("\r" in cell for row in rows for cell in row):
        quoting = csv.QUOTE_ALL  # Python before 3.13 leaves a carriage return without quotes
    csv.writer(text, delimiter=separator, lineterminator=end, quoting=quoting).writerows(rows)
    return text.getvalue()


@given(
    table=tables(),
    separator=st.sampled_from(SEPARATORS),
    end=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from(QUOTINGS),
    shape=st.sampled_from(["plain", "no last line end", "bom", "gzip", "utf-16", "blank end"]),
)
@example((["0"], [["0"]]), ",", "\n", csv.QUOTE_MINIMAL, "plain")
def test_any_table_of_text_comes_back_as_it_was(
    scratch: Path,
    table: tuple[list[str], list[list[str]]],
    separator: str,
    end: str,
    quoting: Quoting,
    shape: str,
) -> None:
    names, rows = table
    text = as_csv([names, *rows], separator, end, quoting)
    content = text.encode()
    name = "table.csv"
    if shape == "no last line end":
        content = text.removesuffix(end).encode()
    elif shape == "bom":
        content = codecs.BOM_UTF8 + content
    elif shape == "gzip":
        content, name = gzip.compress(content), "table.csv.gz"
    elif shape == "utf-16":
        content = text.encode("utf-16")
    elif shape == "blank end":
        content += end.encode() * 3
    frame = read(save(scratch, content, name), separator=separator, header=True)
    assert frame.columns == names
    assert set(frame.dtypes) == {pl.String}
    assert frame.rows() == [tuple(cell or None for cell in row) for row in rows]


@given(
    table=tables(),
    separator=st.sampled_from(SEPARATORS),
    where=st.integers(0, 11),
    change=st.sampled_from([-3, -2, -1, 1, 2]),
    quoting=st.sampled_from(QUOTINGS),
    compensated=st.booleans(),
)
def test_a_row_too_short_or_too_long_is_always_refused_by_its_line(
    scratch: Path,
    table: tuple[list[str], list[list[str]]],
    separator: str,
    where: int,
    change: int,
    quoting: Quoting,
    compensated: bool,
) -> None:
    names, rows = table
    where %= len(rows)
    assume(len(names) + change >= 1)
    uneven = [list(row) for row in rows]
    uneven[where] = (uneven[where] + ["", "x"])[: len(names) + change]
    if compensated:  # a row after it makes up for the number of separators
        uneven.append((rows[where] + ["x", "", "x"])[: len(names) - change])
        assume(len(uneven[-1]) == len(names) - change)
    text = as_csv([names, *uneven], separator, "\n", quoting)
    judged = records(text, separator)
    assert judged is not None
    assert any(len(row) != len(names) for row in judged)
    line = 1 + as_csv([names, *uneven[:where]], separator, "\n", quoting).count("\n")
    found = len(names) + change
    with pytest.raises(SourceError) as refused:
        read(save(scratch, text, "uneven.csv"), separator=separator, header=True)
    assert f"uneven.csv, line {line}: " in str(refused.value)
    assert (
        f" {found} cell" in str(refused.value) and f"header has {len(names)} " in str(refused.value)
    ) or "the line is empty" in str(refused.value)


def is_table(content: str, judged: list[list[str]]) -> bool:
    """Whether a text that Python reads has good names, a record, and follows RFC 4180."""
    names = [name.strip() for name in judged[0]] if judged else []
    text = trimmed(content).encode()
    return (
        len(judged) > 1
        and len(set(names)) == len(names)
        and "" not in names
        and first_flaw(text, ord(","), len(names)) is None
    )


@given(text=st.text(alphabet='ab,"\r\n é', max_size=60), newest=st.booleans())
@example(text="a,b\n1,2\n\n\n", newest=False)
@example(text='a\n""\n\n', newest=False)
@example(text='a,b\n1,x"y"z\n', newest=False)
@example(text=",\r\r", newest=True)
@example(text=",\r\r\n", newest=True)
@example(text='"",\r\r\n', newest=True)
@example(text="a,b\r\n\r", newest=True)
def test_any_text_is_read_as_python_reads_it_or_refused(
    scratch: Path, text: str, newest: bool
) -> None:
    content = ("h,i\n" + text) if newest else text
    path = save(scratch, content, "any.csv")
    judged = records(content, ",")
    try:
        frame = read(path, separator=",")
    except SourceError:
        assert judged is None or not is_table(content, judged)
        return
    assert judged is not None
    assert frame.columns == [name.strip() for name in judged[0]]
    assert frame.rows() == [tuple(cell or None for cell in row) for row in judged[1:]]


@pytest.mark.parametrize("columns", [["b"], ["c", "a"], ["a", "b", "c"]])
def test_a_choice_of_columns_is_read_in_its_order(tmp_path: Path, columns: list[str]) -> None:
    path = save(tmp_path, 'a,b,c\n1,2,3\n4,"",6\n')
    whole = pl.DataFrame({"a": ["1", "4"], "b": ["2", None], "c": ["3", "6"]})
    assert read(path, columns=columns).equals(whole.select(columns))


@pytest.mark.parametrize("columns", [["a"], ["c"]])
@pytest.mark.parametrize("bad", ["1,2\n1,2,3,4", "1,2,3,4\n1,2", "1,2,3,4"])
def test_uneven_rows_are_refused_whichever_columns_are_chosen(
    tmp_path: Path, columns: list[str], bad: str
) -> None:
    with pytest.raises(SourceError, match="line 3"):
        read(save(tmp_path, f"a,b,c\n1,2,3\n{bad}\n1,2,3\n"), columns=columns)


def test_every_cell_is_text_and_only_an_empty_one_is_missing(tmp_path: Path) -> None:
    path = save(tmp_path, 'zip,note\n01234,NA\n"",null\n 5 ,\n1e5, \n')
    frame = read(path)
    assert frame.to_dict(as_series=False) == {
        "zip": ["01234", None, " 5 ", "1e5"],
        "note": ["NA", "null", None, " "],
    }


def test_blanks_around_names_are_stripped(tmp_path: Path) -> None:
    assert read(save(tmp_path, " id , age\t\n1,2\n"), separator=",").columns == ["id", "age"]


def test_names_that_look_like_patterns_are_just_names(tmp_path: Path) -> None:
    path = save(tmp_path, "*,^a.*$,ab\n1,2,3\n")
    assert read(path, columns=["^a.*$", "*"]).to_dict(as_series=False) == {
        "^a.*$": ["2"],
        "*": ["1"],
    }


@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize("others", ["", "another one with"])
def test_the_separator_is_found_from_the_header(
    tmp_path: Path, separator: str, others: str
) -> None:
    quoted = '"' + others + " " + ",;\t|".replace(separator, "") * 4 + '"'
    text = separator.join(["id", quoted, "age"]) + "\n" + separator.join(["1", "x", "30"]) + "\n"
    frame = read(save(tmp_path, text, "data.txt"))
    assert frame.rows() == [("1", "x", "30")]
    assert frame.columns[0] == "id"


def test_records_decide_between_separators_that_are_equal_in_the_header(tmp_path: Path) -> None:
    path = save(tmp_path, "id;weight (kg, net)\n1;70\n2;80\n")
    assert read(path).columns == ["id", "weight (kg, net)"]


def test_a_file_of_one_column_needs_no_separator(tmp_path: Path) -> None:
    assert read(save(tmp_path, "age\n30\n\n40\n\n")).rows() == [("30",), (None,), ("40",)]


def test_in_a_tsv_file_a_tab_wins(tmp_path: Path) -> None:
    path = save(tmp_path, "a, b, c\td, e\n1\t2\n", "data.tsv")
    assert read(path).columns == ["a, b, c", "d, e"]


@pytest.mark.parametrize("separator", ["", ",,", '"', "\n", "§", "\0"])
def test_a_separator_must_be_one_plain_character(tmp_path: Path, separator: str) -> None:
    with pytest.raises(ParameterError, match="separator"):
        read(save(tmp_path, "a,b\n1,2\n"), separator=separator)


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "iso8859-15", "utf-16-le", "utf-8-sig"])
def test_other_encodings_are_read_when_named(tmp_path: Path, encoding: str) -> None:
    path = save(tmp_path, "name,stadt\nMüller,Köln\n".encode(encoding))
    assert read(path, encoding=encoding).rows() == [("Müller", "Köln")]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32", "utf-32-le"])
def test_a_byte_order_mark_tells_the_encoding(tmp_path: Path, encoding: str) -> None:
    text = "name\nMüller\n"
    mark = "" if encoding in ("utf-16", "utf-32") else "\ufeff"
    assert read(save(tmp_path, (mark + text).encode(encoding))).rows() == [("Müller",)]


def test_many_records_on_many_threads_keep_their_order(tmp_path: Path) -> None:
    numbers = [str(number) for number in range(300_000)]
    path = save(tmp_path, "id,text\n" + "".join(f'{each},"a,\n{each}"\n' for each in numbers))
    frame = read(path)
    assert frame["id"].to_list() == numbers
    assert frame["text"].to_list() == [f"a,\n{each}" for each in numbers]


@pytest.mark.parametrize("quote", ["", '"'])
def test_among_many_records_two_that_make_up_for_each_other_are_found(
    tmp_path: Path, quote: str
) -> None:
    rows = [f"{number},{quote}x{quote},y" for number in range(300_000)]
    rows[200_000] = f"1,{quote}x{quote}"
    rows[250_000] = f"1,{quote}x{quote},y,z"
    path = save(tmp_path, "id,a,b\n" + "\n".join(rows))
    with pytest.raises(SourceError, match=r"line 200002: 2 cells, but the header has 3 columns"):
        read(path)
