"""Frames of every library: types kept or made plain, and what has no plain cells refused."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from incrowd.errors import SourceError
from incrowd.sources import read

DAY = dt.date(1950, 2, 3)
MOMENT = dt.datetime(2024, 2, 29, 13, 5)
COLUMNS: dict[str, list[Any]] = {
    "number": [1, None],
    "share": [0.5, None],
    "name": ["Ann", None],
    "alive": [True, None],
    "born": [DAY, None],
    "seen": [MOMENT, None],
}


def whole() -> pl.DataFrame:
    return pl.DataFrame(COLUMNS)


HOMES: dict[str, Callable[[], Any]] = {
    "polars": whole,
    "lazy polars": lambda: whole().lazy(),
    "pandas": lambda: pd.DataFrame(
        {
            "number": pd.array([1, None], dtype="Int64"),
            "share": [0.5, np.nan],
            "name": ["Ann", None],
            "alive": pd.Series([True, None], dtype="boolean"),
            "born": pd.Series([DAY, None], dtype=object),
            "seen": pd.Series([MOMENT, None]),
        }
    ).set_axis(["p", "q"], axis="index"),
    "pyarrow": lambda: whole().to_arrow(),
    "narwhals": lambda: nw.from_native(whole()),
    "lazy narwhals": lambda: nw.from_native(whole().lazy()),
    "duckdb": lambda: duckdb.connect().from_arrow(whole().to_arrow()),
    "arrow stream": lambda: Streamed(whole()),
}


class Streamed:
    """A frame of a library that nobody knows, but that speaks Arrow."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self.frame = frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.frame.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("home", HOMES)
def test_every_library_gives_the_same_frame(home: str) -> None:
    frame = read(HOMES[home]())
    assert frame.to_dict(as_series=False) == COLUMNS
    assert [dtype.base_type() for dtype in frame.dtypes] == [
        pl.Int64,
        pl.Float64,
        pl.String,
        pl.Boolean,
        pl.Date,
        pl.Datetime,
    ]


@pytest.mark.parametrize("home", HOMES)
def test_every_library_gives_the_chosen_columns(home: str) -> None:
    frame = read(HOMES[home](), columns=["name", "number"])
    assert frame.columns == ["name", "number"]
    with pytest.raises(SourceError, match=r"No column 'names' in a .*Did you mean 'name'"):
        read(HOMES[home](), columns=["names"])


@pytest.mark.parametrize(
    ("column", "expected", "dtype"),
    [
        (pl.Series(["a", "b", None], dtype=pl.Categorical), ["a", "b", None], pl.String),
        (pl.Series(["a", "b"], dtype=pl.Enum(["b", "a"])), ["a", "b"], pl.String),
        (pl.Series([1.5, float("nan"), None]), [1.5, None, None], pl.Float64),
        (
            pl.Series([0.1], dtype=pl.Float32),
            pl.Series([0.1], dtype=pl.Float32).to_list(),
            pl.Float32,
        ),
        (pl.Series(["", "a"]), [None, "a"], pl.String),
        (pl.Series([None, None]), [None, None], pl.String),
        (
            pl.Series([dt.time(1, 2, 3), dt.time(1, 2, 3, 5)]),
            ["01:02:03", "01:02:03.000005"],
            pl.String,
        ),
        (pl.Series([2**70, 1], dtype=pl.Int128), [str(2**70), "1"], pl.String),
        (pl.Series([2**40, 1], dtype=pl.Int128), [2**40, 1], pl.Int64),
        (pl.Series([2**64 - 1], dtype=pl.UInt64), [2**64 - 1], pl.UInt64),
        (pl.Series([1, 2], dtype=pl.Int8), [1, 2], pl.Int8),
    ],
)
def test_types_are_kept_or_made_plain(column: pl.Series, expected: list[Any], dtype: Any) -> None:
    frame = read(column.alias("x").to_frame())
    assert frame["x"].to_list() == expected
    assert frame["x"].dtype == dtype


@pytest.mark.parametrize(
    ("values", "expected", "dtype"),
    [
        (["1.50", "-2.25", None], [1.5, -2.25, None], pl.Float64),
        (["10", "-20"], [10, -20], pl.Int64),
        (["0.001", "123456789012.345"], [0.001, 123456789012.345], pl.Float64),
        (["123456789012345.67"], ["123456789012345.67"], pl.String),
        (["12345678901234567890"], ["12345678901234567890"], pl.String),
        ([None], [None], pl.Float64),
    ],
)
def test_decimals_become_numbers_unless_a_digit_would_be_lost(
    values: list[str | None], expected: list[Any], dtype: Any
) -> None:
    scale = max([len(value.partition(".")[2]) for value in values if value] or [0])
    exact = pa.array(
        [Decimal(value) if value else None for value in values], pa.decimal128(38, scale)
    )
    frame = read(pa.table({"x": exact}))
    assert frame["x"].dtype == dtype
    assert frame["x"].to_list() == expected


@pytest.mark.parametrize(
    ("column", "what"),
    [
        (pl.Series([[1], [2]]), "lists"),
        (pl.Series([[1], [2]], dtype=pl.Array(pl.Int64, 1)), "lists"),
        (pl.Series([{"a": 1}]), "structs"),
        (pl.Series([b"a"]), "binary data"),
        (pl.Series([dt.timedelta(days=1)]), "durations"),
        (pl.Series([object()], dtype=pl.Object), "objects"),
    ],
)
def test_columns_without_plain_cells_are_refused_by_name(column: pl.Series, what: str) -> None:
    frame = pl.DataFrame([pl.Series("id", [1] * len(column)), column.alias("odd")])
    with pytest.raises(SourceError, match=rf"column 'odd' \({what}\) has no plain cells"):
        read(frame)
    assert read(frame, columns=["id"]).columns == ["id"]


def test_all_refused_columns_are_named_at_once() -> None:
    frame = pl.DataFrame({"a": [[1]], "b": [1], "c": [b"x"]})
    with pytest.raises(SourceError, match=r"columns 'a' \(lists\) and 'c' \(binary data\) have"):
        read(frame)


@pytest.mark.parametrize(
    ("column", "record"),
    [
        (pl.Series([0, 2_932_897], dtype=pl.Int32).cast(pl.Date), 2),
        (pl.Series([-719_163], dtype=pl.Int32).cast(pl.Date), 1),
        (pl.Series([None, 0, 2**62], dtype=pl.Int64).cast(pl.Datetime("us")), 3),
        (pl.Series([-(2**50)], dtype=pl.Int64).cast(pl.Datetime("ms")), 1),
    ],
)
def test_dates_outside_the_calendar_are_refused(column: pl.Series, record: int) -> None:
    with pytest.raises(SourceError, match=rf"'x' holds a date outside.* in record {record}\."):
        read(column.alias("x").to_frame())


def test_the_first_and_the_last_day_are_dates() -> None:
    days = [dt.date.min, dt.date.max]
    assert read(pl.DataFrame({"x": days}))["x"].to_list() == days


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["Ann", 1], dtype=object),
        pd.Series([True, 1], dtype=object),
        pd.Series([DAY, "Ann"], dtype=object),
        pd.Series([[1], [2]]),
        pd.Series([b"Ann"]),
        pd.Series([object()]),
        pd.Series([1j]),
        pd.Series([10**30], dtype=object),
        pd.Series(pd.period_range("2020-01", periods=2, freq="M")),
        pd.cut(pd.Series([1, 2, 3]), 2),
    ],
    ids=lambda column: str(pd.api.types.infer_dtype(column)),
)
def test_pandas_columns_of_mixed_or_odd_objects_are_refused_by_name(column: pd.Series) -> None:
    frame = pd.DataFrame({"id": 1, "odd": column})
    with pytest.raises(SourceError, match="column 'odd'") as refused:
        read(frame)
    assert "Ann" not in str(refused.value)
    assert refused.value.__context__ is None
    assert read(frame, columns=["id"]).columns == ["id"]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pd.Series(["a", None, "b"]).astype("category"), ["a", None, "b"]),
        (pd.Series([3, 1]).astype("category"), [3, 1]),
        (pd.Series([1, 2.5], dtype=object), [1.0, 2.5]),
        (pd.Series(["a", np.nan, pd.NA], dtype=object), ["a", None, None]),
        (pd.Series([True, None], dtype=object), [True, None]),
        (pd.Series([Decimal("1.5"), None]), [1.5, None]),
        (pd.Series([None, None], dtype=object), [None, None]),
        (pd.Series([pd.NaT, pd.Timestamp(MOMENT)]), [None, MOMENT]),
        (pd.Series(["x"], dtype="string[python]"), ["x"]),
    ],
)
def test_pandas_columns_become_plain(column: pd.Series, expected: list[Any]) -> None:
    assert read(pd.DataFrame({"x": column}))["x"].to_list() == expected


@pytest.mark.parametrize("index", [["p", "q"], pd.Index(["p", "q"], name="id"), ["p", "p"]])
def test_the_index_of_pandas_is_ignored(index: Any) -> None:
    assert read(pd.DataFrame({"x": [1, 2]}, index=index)).to_dict(as_series=False) == {"x": [1, 2]}


def test_names_that_are_numbers_become_text() -> None:
    assert read(pd.DataFrame([[1, 2]], columns=[2020, 2021])).columns == ["2020", "2021"]


@pytest.mark.parametrize("names", [["a", "a"], [1, "1"]])
def test_pandas_columns_of_the_same_name_are_refused(names: list[Any]) -> None:
    with pytest.raises(SourceError, match=rf"2 columns named '{names[0]}' \(columns 1, 2\)"):
        read(pd.DataFrame([[1, 2]], columns=names))


def test_arrow_columns_of_the_same_name_are_refused() -> None:
    with pytest.raises(SourceError, match="2 columns named 'a'"):
        read(pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]))


@pytest.mark.parametrize("name", ["", None, np.nan])
def test_pandas_columns_without_name_are_refused(name: Any) -> None:
    with pytest.raises(SourceError, match="column 2 has no name"):
        read(pd.DataFrame([[1, 2]], columns=["a", name]))


def test_pandas_names_of_several_levels_are_refused() -> None:
    names = pd.MultiIndex.from_tuples([("a", "b"), ("c", "d")])
    with pytest.raises(SourceError, match="names of 2 levels"):
        read(pd.DataFrame([[1, 2]], columns=names))


@pytest.mark.parametrize("frame", [pl.DataFrame(), pd.DataFrame(), pa.table({})])
def test_a_frame_without_columns_is_refused(frame: Any) -> None:
    with pytest.raises(SourceError, match="has no columns"):
        read(frame)


@pytest.mark.parametrize(
    "frame",
    [pl.DataFrame({"a": []}), pd.DataFrame({"a": []}), pa.table({"a": pa.array([], pa.int64())})],
)
def test_a_frame_without_records_is_refused(frame: Any) -> None:
    with pytest.raises(SourceError, match="has columns but no records"):
        read(frame)


def test_a_frame_with_too_many_columns_is_refused() -> None:
    with pytest.raises(SourceError, match="has 2,001 columns; at most 2,000"):
        read(pl.DataFrame({f"c{number}": [1] for number in range(2_001)}))


@pytest.mark.parametrize("thing", [{"a": [1]}, [1, 2], 5, None, pl.Series([1]), pd.Series([1])])
def test_what_is_no_frame_is_refused(thing: Any) -> None:
    with pytest.raises(SourceError, match="Cannot read records from a"):
        read(thing)


def test_a_lazy_frame_that_cannot_be_computed_is_refused_without_its_cells() -> None:
    broken = pl.LazyFrame({"a": ["Ann"]}).with_columns(pl.col("a").cast(pl.Int64))
    with pytest.raises(SourceError, match="cannot be turned into a table") as refused:
        read(broken)
    assert "Ann" not in str(refused.value)
    assert refused.value.__context__ is None


def test_the_frame_given_is_not_changed() -> None:
    frame = pl.DataFrame({"a": ["", "x"], "b": [float("nan"), 1.0]})
    before = frame.clone()
    read(frame)
    assert frame.equals(before)
