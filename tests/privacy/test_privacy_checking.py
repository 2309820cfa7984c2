"""`check` takes any frame or path, and says what is wrong with a column that is not there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from incrowd.errors import HierarchyError, InputError, ParameterError, SourceError
from incrowd.privacy import ConfidenceBounding, KAnonymity, LDiversity, TCloseness

CELLS: dict[str, list[Any]] = {
    "age": [30, 30, 30, 41, 41],
    "sex": ["F", "F", "F", None, None],
    "ill": ["flu", "hiv", "flu", "flu", "ulcer"],
}


def as_csv(folder: Path) -> Path:
    path = folder / "patients.csv"
    pl.DataFrame(CELLS).write_csv(path)
    return path


@pytest.mark.parametrize("home", ["polars", "pandas", "pyarrow", "path", "text"])
def test_every_home_of_the_records_measures_the_same(home: str, tmp_path: Path) -> None:
    made: dict[str, Callable[[], Any]] = {
        "polars": lambda: pl.DataFrame(CELLS),
        "pandas": lambda: pd.DataFrame(CELLS),
        "pyarrow": lambda: pa.table(CELLS),
        "path": lambda: as_csv(tmp_path),
        "text": lambda: str(as_csv(tmp_path)),
    }
    frame = made[home]()
    assert KAnonymity(k=2).check(frame, quasi=["age", "sex"]).numbers == {"k": 2}
    found = ConfidenceBounding(C=0.5, sensitive="ill").check(frame, quasi=["age", "sex"])
    assert found.numbers == {"C": pytest.approx(2 / 3)}
    assert (found.holds, found.failing) == (False, 1)


def test_a_missing_cell_is_a_value_of_its_own() -> None:
    frame = pl.DataFrame({"sex": ["F", None, None, ""], "ill": [None, None, "flu", "hiv"]})
    assert KAnonymity(k=2).check(frame, quasi=["sex"]).numbers == {"k": 1}
    found = LDiversity(l=2, sensitive="ill").check(frame, quasi=["sex"])
    assert found.numbers == {"l": 1}
    everything = LDiversity(l=3, sensitive="ill").check(
        frame.with_columns(all=pl.lit("x")), quasi=["all"]
    )
    assert everything.numbers == {"l": 3}


def test_labels_of_a_release_are_told_apart_as_they_are_written() -> None:
    frame = pl.DataFrame({"age": ["1", "1.0", "[1-3)", "01"]})
    assert KAnonymity(k=2).check(frame, quasi=["age"]).failing == 4
    numeric = KAnonymity(k=2).check(frame[:2], quasi=["age"], kinds={"age": "numeric"})
    assert numeric.numbers == {"k": 2}


def test_a_column_may_be_both_known_and_sensitive() -> None:
    frame = pl.DataFrame(CELLS)
    assert LDiversity(l=2, sensitive="ill").check(frame, quasi=["ill"]).numbers == {"l": 1}


def test_columns_named_twice_count_once() -> None:
    frame = pl.DataFrame(CELLS)
    assert KAnonymity(k=2).check(frame, quasi=["age", "age"]).numbers == {"k": 2}


@pytest.mark.parametrize("quasi", [[], "age", [3]])
def test_quasi_must_be_a_list_of_names(quasi: Any) -> None:
    with pytest.raises(ParameterError, match="quasi: must"):
        KAnonymity(k=2).check(pl.DataFrame(CELLS), quasi=quasi)


def test_an_unknown_column_is_told_with_the_nearest(tmp_path: Path) -> None:
    path = as_csv(tmp_path)
    nearest = r"No column 'ages' in patients.csv. Did you mean 'age'\?"
    with pytest.raises(InputError, match=nearest):
        KAnonymity(k=2).check(path, quasi=["sex", "ages"])
    with pytest.raises(InputError, match=r"No column 'illl' .* Did you mean 'ill'\?"):
        LDiversity(l=2, sensitive="illl").check(path, quasi=["age"])
    with pytest.raises(InputError, match=r"No column 'iill' .* Did you mean 'ill'\?"):
        KAnonymity(k=2).check(path, quasi=["age"], kinds={"iill": "category"})


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("numeral", "type must be one of numeric, category, date, ordered"),
        ({"ordre": ["flu"]}, "Did you mean 'order'"),
        ({"type": "ordered"}, "needs `order:`"),
        (3, "must be a type such as numeric, or a mapping"),
    ],
)
def test_kinds_are_checked_as_a_policy_is(kind: Any, told: str) -> None:
    with pytest.raises(ParameterError, match=r"kinds: 'ill'") as caught:
        KAnonymity(k=2).check(pl.DataFrame(CELLS), quasi=["age"], kinds={"ill": kind})
    assert told in str(caught.value)


def test_a_cell_outside_its_kind_is_refused_without_showing_it() -> None:
    frame = pl.DataFrame(CELLS)
    model = TCloseness(t=0.5, distance="ordered", sensitive="ill")
    with pytest.raises(SourceError) as caught:
        model.check(frame, quasi=["age"], kinds={"ill": {"order": ["flu", "hiv"]}})
    assert "1 of 5 rows" in str(caught.value)
    assert "ulcer" not in str(caught.value)
    with pytest.raises(HierarchyError) as uncovered:
        model.check(frame, quasi=["age"], kinds={"ill": {"hierarchy": {"tree": {"X": ["flu"]}}}})
    assert "ulcer" not in str(uncovered.value)


def test_distances_need_what_they_measure() -> None:
    frame = pl.DataFrame(CELLS)
    asked: list[tuple[Literal["ordered", "hierarchical"], str]]
    asked = [("ordered", "Give it `order:`"), ("hierarchical", "needs a hierarchy")]
    for distance, told in asked:
        with pytest.raises(ParameterError, match=told):
            TCloseness(t=0.5, distance=distance, sensitive="ill").check(frame, quasi=["age"])


def test_values_that_do_not_occur_are_refused() -> None:
    model = ConfidenceBounding(C=0.5, sensitive="ill", values=["flu", "hlv"])
    with pytest.raises(ParameterError, match=r"1 of the values listed for 'ill' do not occur"):
        model.check(pl.DataFrame(CELLS), quasi=["age"])


def test_a_table_without_records_is_refused() -> None:
    with pytest.raises(InputError, match="no records"):
        KAnonymity(k=2).check(pl.DataFrame({"age": []}), quasi=["age"])
