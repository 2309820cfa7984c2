"""t-closeness: all three distances against the exact earth mover's distance."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

import numpy as np
import polars as pl
import privacy_reference as reference
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.counts.groups import Groups, Histogram
from incrowd.privacy import Measurement, TCloseness

ORDER = ("none", "mild", "severe", "fatal")
TREE = {"Lung": {"Airway": ["asthma", "copd"], "Alveoli": ["pneumonia"]}, "Gut": {"Low": ["polyp"]}}
ANCESTORS = {
    "asthma": ("Airway", "Lung", "*"),
    "copd": ("Airway", "Lung", "*"),
    "pneumonia": ("Alveoli", "Lung", "*"),
    "polyp": ("Low", "Gut", "*"),
    None: ("", "", "*"),
}
Rows = list[tuple[str, str | None]]

limits = st.sampled_from((0.05, 0.1, 0.25, 1 / 3, 0.5, 0.75, 1.0))
brute = settings(max_examples=25)


def tables(values: tuple[Any, ...]) -> st.SearchStrategy[Rows]:
    return st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(values)), min_size=1, max_size=16
    )


def measured(model: TCloseness, rows: Rows, kind: Any = None) -> Measurement:
    frame = pl.DataFrame(rows, schema={"zip": pl.String, "ill": pl.String}, orient="row")
    return model.check(frame, quasi=["zip"], kinds=None if kind is None else {"ill": kind})


def agrees(found: Measurement, expected: reference.Expected) -> None:
    assert found.failing == expected.held.count(False)
    assert found.holds == all(expected.held)
    assert found.numbers == {"t": pytest.approx(expected.numbers["t"], abs=1e-12)}


@brute
@given(rows=tables((None, *ORDER)), t=limits)
def test_equal_distance(rows: Rows, t: float) -> None:
    expected = reference.closeness(
        reference.groups_of(rows, 1), t, reference.all_alike((*ORDER, None))
    )
    agrees(measured(TCloseness(t=t, sensitive="ill"), rows), expected)


@brute
@given(rows=tables((None, *ORDER)), t=limits)
def test_ordered_distance_over_the_values_that_occur(rows: Rows, t: float) -> None:
    occurring = {value for _, value in rows}
    ordered = [value for value in (*ORDER, None) if value in occurring]
    expected = reference.closeness(reference.groups_of(rows, 1), t, reference.in_order(ordered))
    model = TCloseness(t=t, distance="ordered", sensitive="ill")
    agrees(measured(model, rows, {"order": list(ORDER)}), expected)


@brute
@given(rows=tables(("-3", "0.5", "7", "10", None)), t=limits)
def test_ordered_distance_of_numbers_follows_their_rank(rows: Rows, t: float) -> None:
    occurring = {value for _, value in rows}
    ordered = [value for value in ("-3", "0.5", "7", "10", None) if value in occurring]
    expected = reference.closeness(reference.groups_of(rows, 1), t, reference.in_order(ordered))
    model = TCloseness(t=t, distance="ordered", sensitive="ill")
    agrees(measured(model, rows, "numeric"), expected)


@brute
@given(rows=tables(tuple(ANCESTORS)), t=limits)
def test_hierarchical_distance(rows: Rows, t: float) -> None:
    rows = [*rows, ("a", "polyp"), ("b", "copd")]  # both branches below the root occur
    expected = reference.closeness(
        reference.groups_of(rows, 1), t, reference.in_tree(dict(ANCESTORS))
    )
    model = TCloseness(t=t, distance="hierarchical", sensitive="ill")
    agrees(measured(model, rows, {"hierarchy": {"tree": TREE}}), expected)


@pytest.mark.parametrize(
    ("group", "distance"), [(("3", "4", "5"), 0.375), (("6", "8", "11"), 1 / 6)]
)
def test_the_salaries_of_the_paper(group: tuple[str, ...], distance: float) -> None:
    """Li, Li, Venkatasubramanian (2007), section 5.1: 3k to 11k, two groups of three."""
    salaries = [str(thousands) for thousands in range(3, 12)]
    rows: Rows = [("a" if value in group else "b", value) for value in salaries]
    found = measured(TCloseness(t=0.3, distance="ordered", sensitive="ill"), rows)
    assert found.numbers["t"] == pytest.approx(distance)


@brute
@given(dense=st.lists(st.lists(st.integers(0, 3), min_size=5, max_size=5), min_size=1, max_size=3))
def test_ordered_distance_skips_values_that_suppression_took_away(dense: list[list[int]]) -> None:
    """A value that no published record has takes no place in the order."""
    dense = [[*counts[:4], counts[4] + 1] for counts in dense]
    total = [sum(each) for each in zip(*dense, strict=True)]
    names = [str(code) for code, count in enumerate(total) if count]
    expected = reference.closeness(
        [Counter({str(code): n for code, n in enumerate(counts) if n}) for counts in dense],
        1.0,
        reference.in_order(names),
    )
    where, values = np.nonzero(np.array(dense))
    histogram = Histogram(
        np.concatenate(([0], np.cumsum(np.bincount(where, minlength=len(dense))))),
        values,
        np.array(dense)[where, values],
        5,
        np.array(total),
    )
    groups = Groups(np.array(dense).sum(axis=1), {"ill": histogram})
    model = TCloseness(t=1.0, distance="ordered", sensitive="ill")
    assert model.distances(groups).max() == pytest.approx(expected.numbers["t"], abs=1e-12)


def test_a_tree_is_as_high_as_given_also_where_the_data_lack_a_branch() -> None:
    """asthma and copd meet in Airway, at height 1 of 3, whether or not a polyp occurs."""
    model = TCloseness(t=0.1, distance="hierarchical", sensitive="ill")
    found = measured(model, [("a", "asthma"), ("b", "copd")], {"hierarchy": {"tree": TREE}})
    assert found.numbers["t"] == pytest.approx(1 / 6)


def test_one_value_is_no_distance_away() -> None:
    rows: Rows = [("a", "mild"), ("b", "mild")]
    asked: list[tuple[Literal["equal", "ordered", "hierarchical"], Any]] = [
        ("equal", None),
        ("ordered", {"order": list(ORDER)}),
        ("hierarchical", {"hierarchy": {"tree": {"Any": ["mild"]}}}),
    ]
    for distance, kind in asked:
        model = TCloseness(t=0.01, distance=distance, sensitive="ill")
        assert measured(model, rows, kind).numbers == {"t": 0.0}
