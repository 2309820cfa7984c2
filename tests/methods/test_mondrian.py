"""Mondrian against its plain version, against the optimum, and left whole only where it must be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import mondrian_reference as reference
import polars as pl
import privacy_of_groups as private
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from mondrian_reference import Attribute, Record

import incrowd

ORDER = ("low", "mid", "high")
KINDS = {"age": "numeric", "stage": "ordered", "job": "category"}
Groups = list[frozenset[str]]

record_cells = st.tuples(
    st.one_of(st.none(), st.integers(-3, 12)),
    st.sampled_from((None, *ORDER)),
    st.sampled_from((None, "a", "b", "c", "d")),
    st.sampled_from(("flu", "hiv", "ulcer")),
)
tables = st.lists(record_cells, min_size=4, max_size=24)
# Age and job are 9 / sqrt(8) deviations wide, both: the first of them is to be cut.
EQUALLY_WIDE = [
    (age, None, job, "flu")
    for age, job in zip([None] * 7 + [0, -3], [None, None, *"abccddd"], strict=True)
]


def records_of(rows: Sequence[tuple[Any, ...]]) -> list[Record]:
    return [
        dict(zip((*KINDS, "ill", "ward"), (*row, f"r{number:03}"), strict=True))
        for number, row in enumerate(rows)
    ]


def attributes_of(records: list[Record], names: Sequence[str] = tuple(KINDS)) -> list[Attribute]:
    return [reference.attribute_of(name, KINDS[name], records, ORDER) for name in names]


def released(records: list[Record], privacy: list[Any], names: Sequence[str], **policy: Any) -> Any:
    roles: dict[str, Any] = {name: {"role": "quasi", "type": KINDS[name]} for name in names}
    if "stage" in roles:
        roles["stage"] = {"role": "quasi", "order": list(ORDER)}
    schema = {"age": pl.Int64, **dict.fromkeys(("stage", "job", "ill", "ward"), pl.String)}
    frame = pl.DataFrame(records, schema=schema).select(*names, "ill", "ward")
    return incrowd.anonymize(
        frame,
        {
            "attributes": {**roles, "ill": "sensitive", "ward": "keep"},
            "privacy": privacy,
            **policy,
        },
        accept_unprotected=True,
    )


def shown_groups(release: Any, names: Sequence[str]) -> Groups:
    """The records of every group, by their wards."""
    found: dict[tuple[Any, ...], set[str]] = {}
    for row in release.data.iter_rows(named=True):
        found.setdefault(tuple(row[name] for name in names), set()).add(row["ward"])
    return sorted((frozenset(group) for group in found.values()), key=sorted)


def joined(groups: list[list[Record]], attributes: list[Attribute]) -> Groups:
    """Groups that show the same labels are one group."""
    shown: dict[tuple[Any, ...], set[str]] = {}
    for group in groups:
        label: list[Any] = []
        for attribute in attributes:
            cells = {record[attribute.name] for record in group}
            if attribute.kind == "numeric":
                ends = ("*",) if None in cells and len(cells) > 1 else extremes(cells)
                label.append(ends)
            else:
                label.append(frozenset(cells))
        shown.setdefault(tuple(label), set()).update(str(record["ward"]) for record in group)
    return sorted((frozenset(group) for group in shown.values()), key=sorted)


def extremes(cells: set[Any]) -> tuple[Any, ...]:
    return (None,) if cells == {None} else (min(cells), max(cells))


@pytest.mark.parametrize("split", ["loss", "median"])
@settings(max_examples=25)
@given(rows=tables, k=st.integers(2, 4), diverse=st.booleans())
@example(rows=EQUALLY_WIDE, k=2, diverse=False)
def test_groups_are_those_of_the_plain_version(
    split: str, rows: list[tuple[Any, ...]], k: int, diverse: bool
) -> None:
    """Under models that hold for every larger group, so that all private cuts are neighbours."""
    records = records_of(rows)
    attributes = attributes_of(records)
    varied = min(2, len({record["ill"] for record in records})) if diverse else 1

    def holds(group: Sequence[Record]) -> bool:
        return len(group) >= k and len({record["ill"] for record in group}) >= varied

    grow = reference.by_loss if split == "loss" else reference.by_median
    expected = grow(records, attributes, holds, max(k, varied))
    privacy: list[dict[str, Any]] = [{"k-anonymity": {"k": k}}]
    privacy += [{"l-diversity": {"l": varied}}] if varied > 1 else []
    release = released(records, privacy, list(KINDS), method={"name": "mondrian", "split": split})
    assert shown_groups(release, list(KINDS)) == joined(expected, attributes)


@settings(max_examples=30)
@given(
    ages=st.lists(st.one_of(st.none(), st.integers(0, 15)), min_size=4, max_size=14),
    k=st.integers(2, 4),
)
def test_no_partition_beats_the_optimum_and_none_is_worse_than_no_cut(
    ages: list[int | None], k: int
) -> None:
    records = records_of([(age, "low", "a", "flu") for age in ages])
    (age,) = attributes_of(records, ["age"])
    release = released(records, [{"k-anonymity": {"k": k}}], ["age"])
    by_ward = {record["ward"]: record for record in records}
    groups = [[by_ward[ward] for ward in group] for group in shown_groups(release, ["age"])]
    reached = reference.table_loss(groups, [age])
    assert min(map(len, groups)) >= k
    assert reached >= reference.least_loss(records, age, k) - 1e-9
    assert reached <= len(records) * age.loss(records) + 1e-9


def test_far_apart_clusters_are_found_exactly() -> None:
    records = records_of([(age, "low", "a", "flu") for age in (1, 2, 3, 50, 51, 90, 91, 92)])
    (age,) = attributes_of(records, ["age"])
    release = released(records, [{"k-anonymity": {"k": 2}}], ["age"])
    assert sorted(set(release.data["age"])) == ["[1-4)", "[50-52)", "[90-93)"]
    assert release.manifest["utility"]["ncp"] * len(records) == pytest.approx(
        reference.least_loss(records, age, 2)
    )


@pytest.mark.parametrize("name", private.MODELS)
@settings(max_examples=30)
@given(ills=st.lists(st.sampled_from(("flu", "hiv", "ulcer")), min_size=4, max_size=14))
@example(ills=["flu", "ulcer", "hiv", "hiv", "flu"])
@example(ills=["ulcer", "hiv", "flu", "flu", "hiv"])
@example(ills=["flu", "ulcer", "hiv", "hiv", "ulcer"])
@example(ills=["hiv", "flu", "hiv", "flu", "flu", "flu"])
@example(ills=["hiv", "hiv", "hiv", "hiv", "flu", "hiv", "flu", "hiv"])
def test_a_group_stays_whole_only_where_no_cut_of_it_is_private(name: str, ills: list[str]) -> None:
    """Of one numeric attribute every cut can be tried; k = 2 holds beside the model."""
    policy, make = private.MODELS[name]
    holds = make(Counter(ills))
    assume("hiv" in ills and holds(ills))
    records = records_of([(age, "low", "a", ill) for age, ill in enumerate(ills)])
    release = released(records, [policy, {"k-anonymity": {"k": 2}}], ["age"])
    for group in shown_groups(release, ["age"]):
        inside = [ills[int(ward[1:])] for ward in sorted(group)]
        assert private_cuts(inside, holds) == [], "".join(ill[0] for ill in inside)


def private_cuts(ills: list[str], holds: Callable[[list[str]], bool]) -> list[int]:
    return [cut for cut in range(2, len(ills) - 1) if holds(ills[:cut]) and holds(ills[cut:])]
