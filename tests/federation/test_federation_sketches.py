"""Sketches tell how many records were there before, and hold none of them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from joint_tables import SURGERIES, surgeries

import incrowd
from incrowd.federation.membership import sketches
from incrowd.federation.membership.sketches import Marks, marks_of
from incrowd.federation.run._own_records import read_own
from incrowd.sources import as_source

KEY = bytes(range(32))


def marks(frame: pl.DataFrame, key: bytes = KEY, **policy: Any) -> Marks:
    own = read_own(as_source(frame), incrowd.Policy.from_mapping(surgeries(**policy)))
    return marks_of(own.table, own.layout, key)


def test_the_share_of_records_that_were_there_is_exact_for_few() -> None:
    now = marks(SURGERIES)
    assert now.overlap(marks(SURGERIES).sketch) == 1.0
    assert now.overlap(marks(SURGERIES[:4]).sketch) == pytest.approx(4 / 11)
    assert marks(SURGERIES[4:]).overlap(marks(SURGERIES[:4]).sketch) == 0.0
    assert now.share([marks(SURGERIES[:4]).sketch, marks(SURGERIES[3:6]).sketch]) == 6 / 11


def test_order_does_not_count_and_equal_records_are_counted_each() -> None:
    twice = pl.concat([SURGERIES, SURGERIES])
    assert marks(twice).overlap(marks(SURGERIES.reverse()).sketch) == 0.5
    assert marks(SURGERIES).overlap(marks(twice).sketch) == 1.0
    assert np.unique(marks(twice).hashes).size == 22


def test_without_the_key_nothing_is_found() -> None:
    assert marks(SURGERIES).overlap(marks(SURGERIES, key=bytes(32)).sketch) == 0.0


def test_missing_cells_are_told_from_values() -> None:
    holed = SURGERIES.with_columns(Sex=pl.lit(None, pl.String))
    assert marks(holed).overlap(marks(SURGERIES).sketch) == 0.0
    assert marks(holed).overlap(marks(holed).sketch) == 1.0


def test_of_many_records_a_sample_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sketches, "KEPT", 512)
    rng = np.random.default_rng(5)
    ages = pl.Series("Age", rng.integers(1, 99, 6000))
    jobs = pl.Series("Job", rng.choice(SURGERIES["Job"].unique().sort().to_list(), 6000))
    rest = SURGERIES.select("Sex", "Transfuse", "Surgery")
    table = pl.concat([rest] * 546)[:6000].with_columns(ages, jobs).select(SURGERIES.columns)
    before = marks(table[:4000]).sketch
    assert before.least.size == 512
    held, there = Counter(table[2000:].rows()), Counter(table[:4000].rows())
    exact = (held & there).total() / 4000  # a few look alike
    assert marks(table[2000:]).overlap(before) == pytest.approx(exact, abs=0.08)
    assert marks(table[:100]).overlap(before) == 1.0  # a part of what was there


def test_other_columns_or_values_cannot_be_compared_and_say_so() -> None:
    """A policy that was changed a little must not make records look new."""
    before = marks(SURGERIES).sketch
    attributes = {name: its for name, its in surgeries()["attributes"].items() if name != "Sex"}
    assert marks(SURGERIES, attributes=attributes, other="drop").overlap(before) is None
    spelled = surgeries()["attributes"]
    spelled["Sex"] = {"role": "quasi", "hierarchy": {"tree": ["male", "female"]}}
    renamed = SURGERIES.with_columns(pl.col("Sex").replace({"M": "male", "F": "female"}))
    assert marks(renamed, attributes=spelled).overlap(before) is None
    more = surgeries()["attributes"]
    more["Sex"] = {"role": "quasi", "hierarchy": {"tree": ["F", "M", "X"]}}
    assert marks(SURGERIES, attributes=more).overlap(before) == 1.0


def test_columns_of_other_names_have_nothing_in_common() -> None:
    foreign = sketches.Sketch(11, ("Blood",), "00", marks(SURGERIES).hashes)
    assert marks(SURGERIES).overlap(foreign) == 0.0
