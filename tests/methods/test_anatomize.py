"""Anatomize: groups of different sensitive values whenever they exist, every record in one."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd
from incrowd.errors import IncrowdError, PolicyError, PrivacyError


def policy(*models: dict[str, Any], **options: Any) -> dict[str, Any]:
    return {
        "attributes": {"age": "quasi", "ill": "sensitive", "number": "keep"},
        "privacy": list(models),
        "method": {"name": "anatomize", **options},
        "publish": "anatomy",
    }


def people(values: list[str], seed: int = 0) -> pl.DataFrame:
    draw = random.Random(seed)
    return pl.DataFrame(
        {
            "age": [draw.randint(20, 60) for _ in values],
            "ill": draw.sample(values, len(values)),
            "number": range(len(values)),
        }
    )


def groups_of(frame: pl.DataFrame, release: incrowd.Release) -> dict[str, list[str]]:
    """The sensitive values in each group, looked up by what is kept."""
    ill = dict(zip(map(str, frame["number"]), frame["ill"], strict=True))
    found: dict[str, list[str]] = defaultdict(list)
    for row in release.data.to_dicts():
        found[row["group_id"]].append(ill[row["number"]])
    return found


def diverse(l: float) -> dict[str, Any]:  # noqa: E741
    return {"l-diversity": {"l": l, "kind": "frequency", "sensitive": "ill"}}


@settings(max_examples=60)
@given(
    counts=st.lists(st.integers(1, 12), min_size=2, max_size=9),
    l=st.integers(2, 6),
    seed=st.integers(0, 3),
    grouping=st.sampled_from(["similar", "blind"]),
)
def test_groups_exist_exactly_when_no_value_is_too_frequent(
    counts: list[int],
    l: int,  # noqa: E741
    seed: int,
    grouping: str,
) -> None:
    values = [f"v{i}" for i, count in enumerate(counts) for _ in range(count)]
    frame = people(values, seed)
    if max(counts) * l > len(values):
        with pytest.raises(PrivacyError) as caught:
            incrowd.anonymize(frame, policy(diverse(l)), accept_unprotected=True)
        assert f"The largest l that does is {len(values) // max(counts)}." in str(caught.value)
        assert not any(f"'v{i}'" in str(caught.value) for i in range(len(counts)))
        return
    asked = policy(diverse(l), grouping=grouping)
    release = incrowd.anonymize(frame, asked, accept_unprotected=True)
    found = groups_of(frame, release)
    assert sorted(value for group in found.values() for value in group) == sorted(values)
    # A neighbourhood has room for four groups, and may leave records over for less than one.
    assert len(values) // l * (1 if grouping == "blind" else 4 / 5) <= len(found)
    assert len(found) <= len(values) // l
    for group in found.values():
        assert len(group) >= l
        assert len(set(group)) == len(group), "all values of a group are different"
    shown = release.tables["st_ill"].to_dicts()
    assert {(row["group_id"], row["ill"]) for row in shown} == {
        (number, value) for number, group in found.items() for value in group
    }
    assert {row["count"] for row in shown} == {"1"}


MODELS: list[tuple[list[dict[str, Any]], int]] = [
    ([{"l-diversity": {"l": 3, "sensitive": "ill"}}], 3),
    ([{"l-diversity": {"l": 2.5, "kind": "entropy", "sensitive": "ill"}}], 3),
    ([{"alpha-k": {"alpha": 0.3, "k": 2, "sensitive": "ill"}}], 4),
    ([{"alpha-k": {"alpha": 0.5, "k": 5, "sensitive": "ill"}}], 5),
    ([{"confidence-bounding": {"C": 0.4, "sensitive": "ill"}}], 3),
    ([{"p-sensitive": {"p": 3, "k": 4, "sensitive": "ill"}}], 4),
    ([{"k-anonymity": {"k": 5}}, diverse(2)], 5),
]


@pytest.mark.parametrize(("models", "l"), MODELS)
def test_l_is_what_the_models_ask_for(
    models: list[dict[str, Any]],
    l: int,  # noqa: E741
    tmp_path: Path,
) -> None:
    frame = people([f"v{i % 7}" for i in range(70)])
    release = incrowd.anonymize(frame, policy(*models), accept_unprotected=True)
    assert release.manifest["method"]["l"] == l
    assert min(map(len, groups_of(frame, release).values())) == l
    assert release.save(tmp_path / "r").holds
    larger = incrowd.anonymize(frame, policy(*models, l=6), accept_unprotected=True)
    assert min(map(len, groups_of(frame, larger).values())) == 6


def test_groups_that_do_not_keep_a_promise_are_refused() -> None:
    frame = people([f"v{i % 7}" for i in range(70)])
    with pytest.raises(PrivacyError, match="do not satisfy l-diversity"):
        incrowd.anonymize(frame, policy(diverse(4), l=2), accept_unprotected=True)
    with pytest.raises(PrivacyError, match="do not satisfy t-closeness"):
        incrowd.anonymize(
            frame, policy({"t-closeness": {"t": 0.05, "sensitive": "ill"}}), accept_unprotected=True
        )


@pytest.mark.parametrize("grouping", ["similar", "blind"])
def test_groups_are_numbered_by_the_rows_that_are_published(grouping: str) -> None:
    frame = people([f"v{i % 6}" for i in range(300)])
    asked = policy(diverse(3), grouping=grouping)
    data = incrowd.anonymize(frame, asked, accept_unprotected=True).data
    numbered = data.select(pl.col("age", "group_id").cast(pl.Int64))
    youngest = numbered.group_by("group_id").agg(pl.col("age").min()).sort("group_id")
    assert youngest["age"].is_sorted()


@pytest.mark.parametrize("grouping", ["similar", "blind"])
def test_each_run_deals_anew(grouping: str) -> None:
    frame = people([f"v{i % 6}" for i in range(300)])
    asked = policy(diverse(3), grouping=grouping)
    first, second = (
        incrowd.anonymize(frame, asked, accept_unprotected=True).data for _ in range(2)
    )
    assert not first.equals(second)


@pytest.mark.usefixtures("same_draws")
def test_the_order_of_the_source_plays_no_part() -> None:
    frame = people([f"v{i % 6}" for i in range(300)])
    shuffled = frame.sample(fraction=1, shuffle=True, seed=1)
    first, second = (
        incrowd.anonymize(each, policy(diverse(3)), accept_unprotected=True)
        for each in (frame, shuffled)
    )
    assert first.data.equals(second.data)
    assert first.tables["st_ill"].equals(second.tables["st_ill"])


def test_attributes_without_a_promise_about_all_of_them_are_refused() -> None:
    frame = people([f"v{i % 7}" for i in range(70)]).with_columns(pl.col("ill").alias("also"))
    asked = policy({"k-anonymity": {"k": 2}})
    asked["attributes"]["also"] = "sensitive"
    with pytest.raises(IncrowdError, match="multi-sensitive"):
        incrowd.anonymize(frame, asked, accept_unprotected=True)
    both = {"l-diversity": {"l": 2, "sensitive": "also"}}
    with pytest.raises(IncrowdError, match="multi-sensitive"):
        incrowd.anonymize(frame, {**asked, "privacy": [diverse(2), both]}, accept_unprotected=True)


def test_a_generalized_release_is_refused() -> None:
    with pytest.raises(PolicyError, match="publish: anatomy"):
        incrowd.anonymize(
            people(["a", "b"]),
            {**policy(diverse(2)), "publish": "generalized"},
            accept_unprotected=True,
        )
