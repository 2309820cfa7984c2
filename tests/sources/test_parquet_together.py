"""Parquet files of one source: equal cells are written alike in all files and pieces."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd
from incrowd.errors import SourceError
from incrowd.sources import as_source, read
from incrowd.sources.parquet import read_parquet_pieces
from incrowd.table.dictionary import as_text

DAY, NOON = datetime(2020, 1, 1), datetime(2020, 1, 1, 12)
TIME = "2020-01-01T00:00:00.000000"
AT_NOON = "2020-01-01T12:00:00.000000"
CASES: dict[str, tuple[pl.Series, pl.Series, list[str | None]]] = {
    "whole floats beside others": (
        pl.Series([1.0, None]), pl.Series([1.0, 2.5]), ["1.0", None, "1.0", "2.5"],
    ),
    "whole numbers beside floats": (
        pl.Series([1, 2]), pl.Series([1.0, float("nan")]), ["1", "2", "1", None],
    ),
    "whole numbers beside fractions": (
        pl.Series([1, 2]), pl.Series([1.0, 2.5]), ["1.0", "2.0", "1.0", "2.5"],
    ),
    "short floats beside long ones": (
        pl.Series([0.1, 1.0], dtype=pl.Float32), pl.Series([0.1, 1.0]), ["0.1", "1.0"] * 2,
    ),
    "midnights beside a noon": (
        pl.Series([DAY]), pl.Series([DAY, NOON]), [TIME, TIME, AT_NOON],
    ),
    "days beside midnights": (
        pl.Series([date(2020, 1, 1)]), pl.Series([DAY]), ["2020-01-01"] * 2,
    ),
    "units of time": (
        pl.Series([DAY, NOON]).cast(pl.Datetime("ms")), pl.Series([DAY]),
        [TIME, AT_NOON, TIME],
    ),
    "decimals": (
        pl.Series([Decimal("1.00")]), pl.Series([Decimal("1.00"), Decimal("2.50")]),
        ["1.0", "1.0", "2.5"],
    ),
    "decimals of two scales, all whole": (
        pl.Series([Decimal("1.00")]), pl.Series([Decimal("1.0000")]), ["1", "1"],
    ),
    "nothing beside something": (pl.Series([None]), pl.Series([1.5]), [None, "1.5"]),
}  # fmt: skip


def texts(pieces: Any) -> list[str | None]:
    return [text for piece in pieces for text in as_text(piece["x"]).to_list()]


def written(folder: Path, *parts: pl.Series) -> Path:
    for number, part in enumerate(parts):
        pl.DataFrame({"x": part}).write_parquet(folder / f"{number}.parquet")
    return folder


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("turned", [False, True])
def test_equal_cells_are_written_alike_in_all_files(
    case: str, turned: bool, tmp_path: Path
) -> None:
    first, second, expected = CASES[case]
    parts = (second, first) if turned else (first, second)
    if turned:
        expected = expected[len(first) :] + expected[: len(first)]
    assert texts(as_source(written(tmp_path, *parts)).pieces(None, {})) == expected
    assert texts([read(tmp_path)]) == expected


def test_equal_cells_are_written_alike_in_all_pieces(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    for last in (Decimal("2.50"), 2.5, NOON):
        same: Any = {Decimal: Decimal("1.00"), float: 1.0, datetime: DAY}[type(last)]
        pl.DataFrame({"x": [same] * 5 + [last]}).write_parquet(path)
        found = texts(read_parquet_pieces(path, rows=2))
        assert len(set(found[:5])) == 1
        assert found == as_text(read(path)["x"]).to_list()


def test_a_sensitive_value_in_two_files_is_one_value(tmp_path: Path) -> None:
    for name, seen in (("a", [DAY] * 40), ("b", [DAY] * 20 + [DAY, NOON] * 10)):
        frame = pl.DataFrame({"age": [30] * 20 + [50] * 20, "seen": seen})
        frame.write_parquet(tmp_path / f"{name}.parquet")
    policy = {
        "attributes": {"age": "quasi", "seen": {"role": "sensitive", "type": "category"}},
        "privacy": [{"l-diversity": {"l": 2, "sensitive": "seen"}}],
    }
    for engine in ("memory", "duckdb"):
        released = incrowd.anonymize(
            tmp_path, {**policy, "engine": engine}, accept_unprotected=True
        ).data
        assert released["age"].unique().to_list() == ["[30-51)"]
        assert released["seen"].n_unique() == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (pl.Series([1.5]), pl.Series(["a"])),
        (pl.Series([DAY]), pl.Series([DAY]).dt.replace_time_zone("UTC")),
        (pl.Series([DAY]), pl.Series([1.5])),
        (pl.Series([True]), pl.Series([1.5])),
    ],
)
def test_types_that_cannot_be_written_alike_are_refused(
    first: pl.Series, second: pl.Series, tmp_path: Path
) -> None:
    with pytest.raises(SourceError, match=r"1\.parquet: column 'x' has another type"):
        list(as_source(written(tmp_path, first, second)).pieces(None, {}))


def test_times_too_far_away_for_the_unit_of_another_file_are_refused(tmp_path: Path) -> None:
    far = pl.Series([datetime(3000, 1, 1, 1)])
    near = pl.Series([NOON]).cast(pl.Datetime("ns"))
    with pytest.raises(SourceError, match=r"0\.parquet: column 'x' holds a time that is too far"):
        list(as_source(written(tmp_path, far, near)).pieces(None, {}))


def test_a_file_without_records_adds_none(tmp_path: Path) -> None:
    some = pl.Series([1.0, 2.0])
    written(tmp_path, some, some.head(0), some)
    assert texts(as_source(tmp_path).pieces(None, {})) == ["1", "2", "1", "2"]
    with pytest.raises(SourceError, match=r"1\.parquet has columns but no records"):
        list(as_source(tmp_path / "1.parquet").pieces(None, {}))
    for name in "02":
        (tmp_path / f"{name}.parquet").unlink()
    with pytest.raises(SourceError, match="has columns but no records"):
        list(as_source(tmp_path).pieces(None, {}))


def test_dates_outside_the_calendar_are_refused_in_pieces_too(tmp_path: Path) -> None:
    after = pl.Series([0, 253402318800 * 10**6]).cast(pl.Datetime("us"))
    written(tmp_path, after)
    with pytest.raises(SourceError, match="'x' holds a date outside the years 1 to 9999"):
        list(read_parquet_pieces(tmp_path / "0.parquet"))


@pytest.mark.parametrize("name", ["^x$", "*", "^.*$", "[x]"])
def test_names_that_look_like_patterns_are_names(name: str, tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {name: [1.5, 1.5, 2.0, 2.0] * 3, "ill": ["a", "b"] * 6, "seen": [DAY] * 12}
    )
    frame.write_parquet(tmp_path / "x.parquet")
    frame.write_csv(tmp_path / "x.csv")
    policy = {
        "attributes": {name: "quasi", "ill": "sensitive", "seen": "keep"},
        "privacy": [{"k-anonymity": {"k": 2}}],
    }
    for source in (frame, tmp_path / "x.parquet", tmp_path / "x.csv"):
        for engine in ("memory", "duckdb"):
            if source is frame and engine == "duckdb":
                continue
            for kind in ("csv", "parquet"):
                wanted = {**policy, "engine": engine, "format": kind}
                release = incrowd.anonymize(source, wanted, accept_unprotected=True)
                release.save(tmp_path / "out", replace=True)
                assert incrowd.verify(tmp_path / "out").holds
                assert read(tmp_path / "out" / f"data.{kind}").columns[0] == name
