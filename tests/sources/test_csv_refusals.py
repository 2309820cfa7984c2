"""Text files that must be refused, each with its place and its remedy, and without a cell."""

from __future__ import annotations

import gzip
import io
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from incrowd.errors import ParameterError, SourceError
from incrowd.sources import read

SECRET = "Mueller-Lüdenscheidt"


def refusal(folder: Path, content: str | bytes, name: str = "patients.csv", **options: Any) -> str:
    """Return the message with which a file is refused."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(SourceError) as refused:
        read(path, **options)
    message = str(refused.value)
    assert refused.value.exit_code == 2
    assert refused.value.__cause__ is None
    assert refused.value.__context__ is None or refused.value.__suppress_context__
    assert SECRET not in message
    assert str(folder) not in message  # the name says enough
    return message


@pytest.mark.parametrize("content", ["", "\n", "\r\n\n", b"\xef\xbb\xbf", b"\xff\xfe"])
def test_an_empty_file(tmp_path: Path, content: str | bytes) -> None:
    assert "patients.csv is empty" in refusal(tmp_path, content)


def test_an_empty_compressed_file(tmp_path: Path) -> None:
    assert "is empty" in refusal(tmp_path, gzip.compress(b""), "a.csv.gz")


@pytest.mark.parametrize("content", ["id,age", "id,age\n", "id,age\r\n\r\n", "id\n"])
def test_a_header_without_records(tmp_path: Path, content: str) -> None:
    assert "has a header but no records" in refusal(tmp_path, content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f"id,name\n1,{SECRET}\n2\n", "patients.csv, line 3: 1 cell, but the header has 2 columns"),
        (f"id,name\n1,a\n2,{SECRET},x\n", "line 3: 3 cells, but the header has 2 columns"),
        (f'id,name\n1,"{SECRET}\nx"\n2\n', "line 4: 1 cell, but"),
        (f"id;name\n1;{SECRET};\n", "divided by a semicolon"),
        (f"id,name\n\n1,{SECRET}\n", "line 2: the line is empty"),
        (f'id,name\n1,{SECRET}"x\n', "line 2: a quote inside a cell that does not begin with one"),
        (f'id,name\n1,"{SECRET}"x\n', "line 2: a quoted cell goes on after its closing quote"),
        (f'id,name\n1,"{SECRET}\n2,b\n', "line 2: a quoted cell begins and never ends"),
        (f'id,name\n1,b\n2,"{SECRET}', "line 3: a quoted cell begins and never ends"),
        (f"id,name\n1,{SECRET}\rx\n", "line 2: a carriage return ends no line"),
        (f"id,name\r1,{SECRET}\r2,b\r", "line 1: a carriage return ends no line"),
        (f'id,"name\n1,{SECRET}\n', "line 1: a quoted cell begins and never ends"),
        ('id,"name"x\n1,2\n', "line 1: a quoted cell goes on"),
    ],
)
def test_rows_and_quotes_that_make_no_table(tmp_path: Path, content: str, message: str) -> None:
    assert message in refusal(tmp_path, content)


def test_columns_of_the_same_name(tmp_path: Path) -> None:
    message = refusal(tmp_path, "id,age, id ,id\n1,2,3,4\n")
    assert "3 columns of the same name (columns 1, 3, 4)" in message


@pytest.mark.parametrize("header", ["id,,age", "id, ,age", 'id,"",age'])
def test_a_column_without_name(tmp_path: Path, header: str) -> None:
    assert "column 2 has no name" in refusal(tmp_path, f"{header}\n1,2,3\n")


@pytest.mark.parametrize("header", ["", "  "])
def test_a_first_line_without_names(tmp_path: Path, header: str) -> None:
    assert "first line is empty" in refusal(tmp_path, f"{header}\n1\n")


def test_too_many_columns(tmp_path: Path) -> None:
    content = ",".join(f"c{number}" for number in range(10_000)) + "\n" + "1," * 9_999 + "1\n"
    assert "has 10,000 columns; at most 2,000" in refusal(tmp_path, content)


def test_as_many_columns_as_allowed(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"c{number}" for number in range(2_000)) + "\n" + "1," * 1_999 + "1\n")
    assert read(path).shape == (1, 2_000)


def test_nul_bytes(tmp_path: Path) -> None:
    assert "NUL bytes" in refusal(tmp_path, b"id,name\n1,a\0b\n")
    assert "utf-16-le" in refusal(tmp_path, "id,name\n1,a\n".encode("utf-16-le"))


def workbook() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
    return content.getvalue()


def archive() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as zipped:
        zipped.writestr("patients.csv", "id\n1\n")
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "what", "remedy"),
    [
        (b"PAR1\0\0\0PAR1", "a Parquet file", ".parquet"),
        (workbook(), "an Excel workbook", "save the sheet as CSV"),
        (archive(), "a zip archive", "Unpack"),
        (gzip.compress(b"id\n1\n"), "a gzip-compressed file", ".gz"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 99, "an old Excel workbook", "CSV"),
        (b"SQLite format 3\0", "an SQLite database", "sqlite:///"),
        (b"%PDF-1.7\n", "a PDF document", "CSV"),
    ],
    ids=["parquet", "workbook", "zip", "gzip", "old workbook", "sqlite", "pdf"],
)
def test_other_content_under_the_name_of_a_text(
    tmp_path: Path, content: bytes, what: str, remedy: str
) -> None:
    message = refusal(tmp_path, content)
    assert f"looks like {what}" in message
    assert remedy in message


def test_a_damaged_gzip_file(tmp_path: Path) -> None:
    whole = gzip.compress(b"id,name\n" + b"1,a\n" * 1000)
    for content in (whole[:-10], b"id,name\n1,a\n", whole[:15] + b"\xff\xff" + whole[17:]):
        assert "not a complete gzip file" in refusal(tmp_path, content, "patients.csv.gz")


@pytest.mark.parametrize("line", [1, 2, 5])
def test_a_wrong_encoding_names_the_line_and_the_remedy(tmp_path: Path, line: int) -> None:
    lines = ["id,name", "1,a", "2,b", "3,c", "4,d", "5,e"]
    lines[line - 1] += "ü"
    message = refusal(tmp_path, "\n".join(lines).encode("latin-1"))
    assert f"patients.csv, line {line}: not UTF-8" in message
    assert "encoding: cp1252" in message


def test_a_named_encoding_that_is_wrong(tmp_path: Path) -> None:
    message = refusal(tmp_path, b"id,name\n1,a\n2,\x81\n", encoding="cp1252")
    assert "line 3: not cp1252" in message
    assert "line 2: not utf-16" in refusal(
        tmp_path, "id\n1".encode("utf-16") + b"\x00\xd8", encoding="utf-16"
    )


@pytest.mark.parametrize("encoding", ["klingon", "base64", "", "utf\0"])
def test_an_encoding_that_does_not_exist(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id\n1\n")
    with pytest.raises(ParameterError, match="encoding"):
        read(path, encoding=encoding)


def test_a_column_that_is_not_there(tmp_path: Path) -> None:
    message = refusal(tmp_path, "id,age\n1,2\n", columns=["ages"])
    assert message == "No column 'ages' in patients.csv. Did you mean 'age'?"


def test_a_file_that_does_not_exist_gets_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "patients.csv").write_text("id\n1\n")
    with pytest.raises(SourceError, match=r"No file .*patient\.csv\. Did you mean 'patients\.csv'"):
        read(tmp_path / "patient.csv")
    with pytest.raises(SourceError, match="no folder"):
        read(tmp_path / "nowhere" / "patients.csv")


def test_a_folder(tmp_path: Path) -> None:
    (tmp_path / "patients.csv").mkdir()
    with pytest.raises(SourceError, match="is a folder"):
        read(tmp_path / "patients.csv")


def test_a_file_that_is_not_regular(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "patients.csv")
    with pytest.raises(SourceError, match="not a regular file"):
        read(tmp_path / "patients.csv")


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "patients.csv"
    path.write_text("id\n1\n")
    path.chmod(0)
    opened = Path.open

    def refuse(self: Path, *arguments: Any, **options: Any) -> Any:
        # The administrator may read everything; everyone else is refused by the system itself.
        if self == path:
            raise PermissionError(13, "Permission denied")
        return opened(self, *arguments, **options)

    if os.geteuid() == 0:
        monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(SourceError, match=r"patients\.csv cannot be read: Permission denied"):
        read(path)
    path.chmod(0o600)
