"""Anatomize for several sensitive attributes: groups as small as the promise lets them be."""

from __future__ import annotations

import random
from collections import Counter
from functools import partial
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd
from incrowd import datasets
from incrowd.errors import PrivacyError
from incrowd.privacy import MultiSensitive

anonymize = partial(incrowd.anonymize, accept_unprotected=True)
SENSITIVE = ["illness", "drug"]
GROUPINGS = ["similar", "blind"]


def policy(model: dict[str, Any], grouping: str, *more: dict[str, Any]) -> dict[str, Any]:
    return {
        "attributes": {
            "age": {"role": "quasi", "type": "numeric"},
            "sex": "quasi",
            **dict.fromkeys(SENSITIVE, "sensitive"),
            "number": "keep",
        },
        "privacy": [{"multi-sensitive": {"sensitive": SENSITIVE, **model}}, *more],
        "method": {"name": "anatomize", "grouping": grouping},
        "publish": "anatomy",
    }


def people(rows: list[tuple[int, str, str, str]]) -> pl.DataFrame:
    frame = pl.DataFrame(rows, schema=["age", "sex", *SENSITIVE], orient="row")
    return frame.with_columns(pl.Series("number", [str(i) for i in range(len(rows))]))


def with_groups(frame: pl.DataFrame, release: incrowd.Release) -> pl.DataFrame:
    """The records with their groups."""
    return frame.join(release.data.select("number", "group_id"), on="number")


rows_of_people = st.lists(
    st.tuples(
        st.integers(20, 30),
        st.sampled_from("FM"),
        st.sampled_from("abcdef"),
        st.sampled_from("tuvwxyz"),
    ),
    min_size=4,
    max_size=60,
)


@given(rows_of_people, st.integers(2, 5), st.integers(1, 4), st.sampled_from(GROUPINGS), st.data())
@settings(max_examples=60)
def test_every_group_holds_and_nobody_is_left_out(
    rows: list[tuple[int, str, str, str]],
    k: int,
    l: int,  # noqa: E741
    grouping: str,
    data: st.DataObject,
) -> None:
    frame = people(rows)
    check = data.draw(st.sampled_from(["greedy", "exact"]))
    limits = data.draw(st.sampled_from([{}, {"drug": 1}]))
    model: dict[str, Any] = {"k": min(k, len(rows)), "l": l, "check": check, "limits": limits}
    others = data.draw(st.sampled_from([(), ({"l-diversity": {"l": 2, "sensitive": "illness"}},)]))
    try:
        release = anonymize(frame, policy(model, grouping, *others))
    except PrivacyError:
        # Only what the whole table does not reach is refused.
        exact = MultiSensitive(**{**model, "check": "exact", "sensitive": SENSITIVE})
        whole = frame.with_columns(pl.lit("*").alias("all"))
        reached = exact.check(whole, quasi=["all"]).holds
        assert not reached or (others and frame["illness"].n_unique() < 2)
        return
    grouped = with_groups(frame, release)
    assert grouped.height == frame.height
    exact = MultiSensitive(**{**model, "check": "exact", "sensitive": SENSITIVE})
    assert exact.check(grouped, quasi=["group_id"]).holds
    if others:
        assert min(grouped.group_by("group_id").agg(pl.col("illness").n_unique())["illness"]) > 1


@pytest.mark.usefixtures("same_draws")
def test_blind_groups_do_not_depend_on_who_has_which_quasi_identifiers() -> None:
    draw = random.Random(5)
    values = [(draw.choice("aabbcdef"), draw.choice("ttuvwxyz")) for _ in range(300)]
    model = {"k": 5, "l": 3}

    def counts(ages: list[int]) -> Counter[tuple[Any, ...]]:
        # The ages keep their order, so that records are sorted alike.
        frame = people([(age, "F", *value) for age, value in zip(ages, values, strict=True)])
        release = anonymize(frame, policy(model, "blind"))
        return Counter(release.tables["st_drug"].rows())

    assert counts(list(range(300))) == counts([7 * age**2 for age in range(300)])


def test_dealt_groups_are_smaller_than_those_of_mondrian() -> None:
    frame = datasets.load("cancer-registry", rows=5_000)
    chosen = ["tumor_topography", "histology", "survival_years"]
    asked: dict[str, Any] = {
        "attributes": {
            **dict.fromkeys(["birth_date", "gender", "race", "zip"], "quasi"),
            **dict.fromkeys(chosen, "sensitive"),
        },
        "other": "drop",
        "privacy": [{"multi-sensitive": {"k": 10, "l": 5, "sensitive": chosen}}],
        "publish": "anatomy",
    }
    sizes = {}
    for name, method in {
        "mondrian": "mondrian",
        **{each: {"name": "anatomize", "grouping": each} for each in GROUPINGS},
    }.items():
        release = anonymize(frame, {**asked, "method": method})
        sizes[name] = incrowd.evaluate(release).discernibility.seen_by_record
        assert release.data.height == 5_000
    assert sizes["mondrian"] > sizes["similar"] > sizes["blind"]
    assert sizes["blind"] < 1.2 * 10


@pytest.mark.parametrize("grouping", GROUPINGS)
def test_figure_4_is_one_group_of_three(grouping: str) -> None:
    rows = [(20 + i, "F", f"D{i}", f"T{(i + 1) // 2}") for i in range(1, 7)]
    release = anonymize(people(rows), policy({"k": 2, "l": 3}, grouping))
    # Two groups of three rows each: only one row of each treatment is free of the others.
    assert release.data["group_id"].value_counts()["count"].to_list() == [3, 3]


@pytest.mark.parametrize("grouping", GROUPINGS)
def test_each_run_deals_anew(grouping: str) -> None:
    draw = random.Random(1)
    rows = [
        (draw.randint(20, 60), draw.choice("FM"), draw.choice("abcd"), draw.choice("tuvw"))
        for _ in range(200)
    ]
    first, second = (anonymize(people(rows), policy({"k": 4, "l": 2}, grouping)) for _ in range(2))
    assert not first.data.equals(second.data)


def test_similar_groups_have_similar_quasi_identifiers() -> None:
    rows = [(20 + i, "F", "abcdef"[i % 6], "t") for i in range(900)]
    asked = policy({}, "blind")
    del asked["attributes"]["drug"]
    asked["privacy"] = [{"l-diversity": {"l": 3, "sensitive": "illness"}}]
    frame = people(rows).drop("drug")
    spreads: dict[str, Any] = {}
    for grouping in GROUPINGS:
        asked["method"]["grouping"] = grouping
        data = anonymize(frame, asked).data.with_columns(pl.col("age").cast(pl.Int64))
        ages = data.group_by("group_id").agg(pl.col("age").max() - pl.col("age").min())
        spreads[grouping] = ages["age"].mean()
    assert spreads["similar"] < 100
    assert spreads["blind"] > 300
