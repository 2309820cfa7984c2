"""Risk counted on disk has the figures of risk counted in memory."""

from __future__ import annotations

import tempfile
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd import datasets
from incrowd.attacks import risk
from incrowd.engines import choice as engines
from incrowd.errors import EngineError, InputError, ParameterError, SourceError

CELLS = {
    "age": st.one_of(st.none(), st.integers(-2, 3)),
    "weight": st.one_of(st.none(), st.sampled_from([1.0, 1.5, 2.0, 3.25])),
    "city": st.one_of(st.none(), st.sampled_from(["Oslo", "1", "01", "1.0", ""])),
    "birth": st.one_of(st.none(), st.dates(date(2000, 1, 1), date(2000, 1, 4))),
    "huge": st.sampled_from(["1", "99999999999999999999999"]),
    "ill": st.sampled_from(["flu", "gout", None]),
}
TYPES = {"age": pl.Int64, "weight": pl.Float64, "city": pl.String, "birth": pl.Date,
         "huge": pl.String, "ill": pl.String}  # fmt: skip
ROWS = st.lists(st.tuples(*CELLS.values()), min_size=1, max_size=40)


def figures(source: Any, **options: Any) -> dict[str, Any]:
    return {**risk(source, **options).as_dict(), "source": ""}


@settings(max_examples=25)
@given(ROWS, st.lists(st.sampled_from(list(CELLS)[:-1]), min_size=1, max_size=5, unique=True))
def test_the_figures_are_those_of_memory(rows: list[tuple[Any, ...]], quasi: list[str]) -> None:
    frame = pl.DataFrame(rows, TYPES, orient="row")
    asked: dict[str, Any] = {"quasi": quasi, "sensitive": ["ill"], "sampling_fraction": 0.3}
    expected = figures(frame, **asked)
    assert figures(frame, memory="200MB", **asked) == expected
    asked = {"quasi": quasi, "sensitive": ["ill"], "population": pl.concat([frame, frame])}
    assert figures(frame, memory=10**9, **asked) == figures(frame, **asked)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_adult_in_one_file_and_in_many(tmp_path: Path, kind: str) -> None:
    adult = datasets.load("adult")
    one, many = tmp_path / f"adult.{kind}", tmp_path / "many"
    many.mkdir()
    for number, part in enumerate([adult, *adult.iter_slices(20_000)]):
        path = one if number == 0 else many / f"part-{number}.{kind}"
        part.write_csv(path) if kind == "csv" else part.write_parquet(path)
    asked: dict[str, Any] = {
        "quasi": ["age", "sex", "race", "education", "native-country"],
        "sensitive": ["occupation", "income"],
    }
    expected = figures(adult, **asked)
    assert expected["records"] == 48_842
    for source in (one, many, many / f"*.{kind}"):
        assert figures(source, memory="300MB", **asked) == expected
        assert figures(source, **asked) == expected


def test_a_large_file_is_counted_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "patients.csv"
    path.write_text("age,ill\n" + "30,flu\n" * 1000)
    monkeypatch.setattr(engines, "_memory", lambda: path.stat().st_size * 4 - 4)
    stages = []
    found = risk(path, quasi=["age"], progress=lambda stage, *_: stages.append(stage))
    assert found.records == 1000
    assert "reading: 1,000 records" in stages
    assert "counting records" in stages
    monkeypatch.setattr(engines, "_memory", lambda: path.stat().st_size * 4)
    stages.clear()
    risk(path, quasi=["age"], progress=lambda stage, *_: stages.append(stage))
    assert "counting records" not in stages


def test_what_is_refused_in_memory_is_refused_on_disk(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [1, 2], "ill": ["a", "b"]})
    for memory in (None, "300MB"):
        with pytest.raises(InputError, match=r"No quasi-identifier is named.*has: age, ill\."):
            risk(frame, memory=memory)
        with pytest.raises(SourceError, match=r"No column 'ages'.*Did you mean 'age'"):
            risk(frame, quasi=["ages"], memory=memory)
        with pytest.raises(ParameterError, match="as quasi and as sensitive"):
            risk(frame, quasi=["age"], sensitive=["age"], memory=memory)
        with pytest.raises(InputError, match="records"):
            risk(frame[:0], quasi=["age"], memory=memory)
        with pytest.raises(SourceError, match="No file"):
            risk(tmp_path / "none.csv", quasi=["age"], memory=memory)
        with pytest.raises(InputError, match=r"no manifest\.json"):
            risk(tmp_path, quasi=["age"], memory=memory)


@pytest.mark.parametrize("memory", ["much", "", 0, -1, True, "4"])
def test_a_limit_that_is_none_is_refused(memory: Any) -> None:
    with pytest.raises(ParameterError, match="memory"):
        risk(pl.DataFrame({"age": [1]}), quasi=["age"], memory=memory)


def test_nothing_is_left_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    risk(pl.DataFrame({"age": [1, 2]}), quasi=["age"], memory="300MB")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_changes_while_it_is_read_is_no_basis(tmp_path: Path) -> None:
    path = tmp_path / "patients.csv"
    path.write_text("age\n30\n31\n")

    def grow(stage: str, _done: int, _whole: int) -> None:
        if stage.startswith("reading:"):
            path.write_text("age\n30\n31\n32\n")

    with pytest.raises(EngineError, match=r"patients\.csv was changed while"):
        risk(path, quasi=["age"], memory="300MB", progress=grow)
