"""Evaluation: all metrics at once, and beside the original."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from releases_by_hand import Entry, Made, MakeRelease, SaveRelease

from incrowd.errors import InputError
from incrowd.utility import discernibility, evaluate, ncp, seen, total_variation

ORIGINAL = pl.DataFrame(
    {
        "id": [1, 2, 3, 4, 5],
        "age": ["30", "31.0", "31", "50", "70"],
        "born": ["1990-01-01", "1990-01-02", "1990-01-02", "1970-05-05", "1950-01-01"],
        "job": ["Mover", "Janitor", "Lawyer", "*", "Judge"],
        "disease": ["Flu", "Flu", "HIV", None, "Flu"],
        "ward": ["1", "2", "2", "2", "9"],
    }
)


@pytest.fixture
def release(make_release: MakeRelease, entry: Entry) -> Made:
    return make_release(
        {
            "age": ["[30-32)", "31", "31", "50"],
            "born": ["1990", "1990-01-02", "1990-01-02", "1970-05-05"],
            "job": ["Blue", "Blue", "Lawyer", r"\*"],
            "disease": ["Flu", "Flu", "HIV", None],
            "ward": ["1", "2", "2", "2"],
        },
        [
            {"name": "id", "role": "identifier", "published": False},
            entry("age", "numeric", 41, decimals=0),
            entry("born", "date", 9999, labels="hierarchy", weights={"1990": 365}),
            entry("job", "category", 5, labels="hierarchy", weights={"Blue": 2}),
            {"name": "disease", "role": "sensitive", "published": True, "type": "category"},
            {"name": "ward", "role": "keep", "published": True, "type": "category"},
        ],
        suppressed=1,
        promises=[{"model": "k-anonymity", "parameters": {"k": 2}}],
    )


def test_what_an_analyst_sees_stands_first(release: Made) -> None:
    found = evaluate(release)
    assert found.seen == seen(release)
    assert (found.ncp, found.discernibility) == (ncp(release), discernibility(release))
    assert (found.source, found.published, found.suppressed, found.missing_dropped) == (5, 4, 1, 0)
    assert found.suppressed_share == 0.2
    assert found.comparison is None
    told = json.loads(json.dumps(found.as_dict()))
    assert next(iter(told)) == "cells_unchanged"
    assert told["records"]["suppressed_share"] == 0.2
    assert told["comparison"] is None


@pytest.mark.parametrize("publish", ["generalized", "anatomy", "lossy-join"])
def test_a_value_that_is_only_written_in_another_way_did_not_change(publish: str) -> None:
    import incrowd

    ills = ["HIV", "hiv", "HIV ", "Flu", "FLU", "Gout"] * 10
    frame = pl.DataFrame({"age": [20 + n // 3 for n in range(60)], "ill": ills})
    plain = frame.with_columns(pl.col("ill").str.strip_chars().str.to_lowercase())
    policy = {
        "attributes": {"age": "quasi", "ill": "sensitive"},
        "privacy": [{"l-diversity": {"l": 2, "sensitive": "ill"}}],
        "publish": publish,
    }
    found, expected = (
        evaluate(incrowd.anonymize(each, policy), each, queries=20, kl=True).as_dict()
        for each in (frame, plain)
    )
    assert found["comparison"]["distance"] == {"ill": 0}
    ratios = [each["kl_divergence"]["ratio"] for each in (found, expected)]
    assert ratios[0] == pytest.approx(ratios[1])


def test_values_that_read_like_labels_are_unchanged_where_cells_are_exact() -> None:
    import incrowd

    frame = pl.DataFrame({"job": ["*", "{a|b}", "[1-3)", "a"] * 5, "ill": ["Flu", "HIV"] * 10})
    policy = {
        "attributes": {"job": "quasi", "ill": "sensitive"},
        "privacy": [{"l-diversity": {"l": 2, "sensitive": "ill"}}],
        "publish": "anatomy",
    }
    found = evaluate(incrowd.anonymize(frame, policy), frame)
    assert found.comparison is not None
    assert found.comparison.unchanged == {"job": 1}
    assert found.as_dict()["ncp"]["per_attribute"] == {"job": 0}


def test_cells_unchanged_and_distances_by_hand(release: Made) -> None:
    found = evaluate(release, ORIGINAL).comparison
    assert found is not None
    # 31 twice (31.0 is 31) and 50; two dates and 1970; the lawyer and the job named "*".
    assert found.unchanged == {"age": 3 / 5, "born": 3 / 5, "job": 2 / 5}
    # Flu 3/5 -> 2/4, HIV 1/5 -> 1/4, missing 1/5 -> 1/4; ward 9 has gone.
    assert found.distance == {"disease": pytest.approx(0.1), "ward": pytest.approx(0.2)}
    assert found.as_dict()["unchanged"]["job"] == 0.4


def test_the_original_may_be_a_file_and_the_release_a_folder(
    release: Made, save_release: SaveRelease, tmp_path: Path
) -> None:
    ORIGINAL.write_csv(tmp_path / "patients.csv")
    folder = save_release(release, tmp_path / "release")
    found = evaluate(folder, tmp_path / "patients.csv")
    assert found.comparison is not None
    assert found.comparison.original == "patients.csv"
    assert found.comparison.unchanged == {"age": 3 / 5, "born": 3 / 5, "job": 2 / 5}
    again = evaluate(release, ORIGINAL)
    assert found.comparison is not None
    assert again.comparison is not None
    assert found.comparison.distance == again.comparison.distance


def test_dates_written_in_another_way_are_not_compared(release: Made) -> None:
    other = ORIGINAL.with_columns(born=pl.lit("01.02.1990"))
    found = evaluate(release, other).comparison
    assert found is not None
    assert found.unchanged["born"] is None
    assert found.unchanged["age"] == 3 / 5


def test_a_value_not_in_the_original_is_not_unchanged(release: Made) -> None:
    other = ORIGINAL.with_columns(job=pl.lit("Judge"))
    comparison = evaluate(release, other).comparison
    assert comparison is not None
    assert comparison.unchanged["job"] == 0


def test_another_table_is_refused(release: Made) -> None:
    with pytest.raises(InputError, match="has 4 records, but the release accounts for 5"):
        evaluate(release, ORIGINAL.head(4))


def test_an_original_without_a_column_is_refused(release: Made) -> None:
    with pytest.raises(InputError, match=r"No column 'job' in a polars frame"):
        evaluate(release, ORIGINAL.drop("job"))


def test_total_variation_by_hand() -> None:
    assert total_variation({"a": 1, "b": 1}, {"a": 10, "b": 10}) == 0
    assert total_variation({"a": 3}, {None: 2}) == 1
    assert total_variation({"a": 1, "b": 3}, {"a": 2, "b": 2}) == pytest.approx(0.25)


counts = st.dictionaries(st.sampled_from(["a", "b", "c", None]), st.integers(1, 9), min_size=1)


@given(counts, counts)
def test_total_variation_is_the_largest_difference_of_any_event(
    first: dict[str | None, int], second: dict[str | None, int]
) -> None:
    values = sorted({*first, *second}, key=str)
    shares = [
        first.get(value, 0) / sum(first.values()) - second.get(value, 0) / sum(second.values())
        for value in values
    ]
    largest = max(
        abs(sum(share for at, share in enumerate(shares) if event >> at & 1))
        for event in range(1 << len(values))
    )
    assert total_variation(first, second) == pytest.approx(largest)
    assert total_variation(second, first) == pytest.approx(largest)
