"""The table that hospitals make together: that of the pooled records, and what it opened."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from joint_tables import (
    PARTIES,
    SURGERIES,
    adult,
    adult_policy,
    dealt,
    require_pooled,
    surgeries,
    together,
)
from split_tables import GOALS, SEARCHES, split_tables

import incrowd
from incrowd.errors import FederationError, HierarchyError, PolicyError, PrivacyError, SourceError
from incrowd.federation.run._own_records import read_own
from incrowd.federation.run.fitness import check_policy
from incrowd.privacy import LKC
from incrowd.sources import as_source


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("goal", GOALS)
def test_the_hospitals_of_the_paper_make_the_table_of_all_records(search: str, goal: str) -> None:
    method = {"name": "top-down-specialization", "search": search}
    policy = surgeries(method=method, goal=goal)
    made, _ = together(PARTIES, policy)
    require_pooled(made, incrowd.anonymize(SURGERIES, policy))


def test_the_message_of_party_a_is_that_of_example_6() -> None:
    """Validity: Job 2(1),1(0); Sex 2(1),1(0); Age 3(1),0(0); score: classes Y, N of each child."""
    _, table = together(PARTIES, surgeries())
    sizes: dict[str, list[list[int]]] = {}
    classes: dict[str, list[list[int]]] = {}
    group = protected = None
    for request, answers in table.heard:
        own = np.asarray(answers[0])
        if request["ask"] == "records":
            group = int(own[0])
        if request["ask"] == "groups":
            protected = int(own[0])
        if request["ask"] == "combinations":
            for (attribute, *_), (other, _) in [request["of"][0]]:
                counts = own.reshape(-1, 2).tolist()
                (sizes if other == "Surgery" else classes).setdefault(attribute, counts)
    assert group == 3
    assert protected == 1
    # By child: records with the protected value, and with another one.
    assert sizes == {"Job": [[1, 1], [0, 1]], "Sex": [[1, 1], [0, 1]], "Age": [[1, 2], [0, 0]]}
    assert classes == {"Job": [[1, 1], [0, 1]], "Sex": [[1, 1], [0, 1]], "Age": [[1, 2], [0, 0]]}
    assert {name: np.sum(each, axis=0).tolist() for name, each in classes.items()} == {
        "Job": [1, 2], "Sex": [1, 2], "Age": [1, 2]
    }  # fmt: skip


@pytest.mark.parametrize(
    ("hospitals", "goal"),
    [("skewed", "general"), ("ten", "classification")],
)
def test_adult_is_the_same_table_however_it_is_split(
    hospitals: str, goal: str, tmp_path: Path
) -> None:
    """Two small hospitals and a large one, sorted by age; and ten with equal parts."""
    table = adult(1_200)
    by_age = table["age"].arg_sort().to_numpy()
    parts = {
        "skewed": [table[np.sort(rows)] for rows in np.split(by_age, [120, 600])],
        "ten": dealt(table, 10),
    }[hospitals]
    L, K, C = {"skewed": (6, 20, 0.5), "ten": (2, 20, 0.3)}[hospitals]
    policy = adult_policy(tmp_path, L, K, C, 1_200, goal=goal)
    made, _ = together(parts, policy)
    require_pooled(made, incrowd.anonymize(table, policy))
    assert made[0].steps > 1


@given(split_tables())
@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
def test_random_tables_are_the_same_as_pooled(
    case: tuple[list[pl.DataFrame], dict[str, Any]],
) -> None:
    parts, policy = case
    try:
        pooled = incrowd.anonymize(pl.concat(parts), policy)
    except (incrowd.errors.InputError, PrivacyError):
        return
    try:
        made, _ = together(parts, {**policy, "hospitals": {"trust": "honest"}})
    except SourceError:
        return  # a hospital without complete records
    require_pooled(made, pooled)


def _without(made: Any, absent: tuple[int, ...]) -> pl.DataFrame:
    shares: list[pl.DataFrame] = [
        each.share.frame() for place, each in enumerate(made) if place not in absent
    ]
    return pl.concat(shares)


@pytest.mark.parametrize("m", [1, 2])
def test_m_privacy_holds_without_any_m_hospitals(m: int, tmp_path: Path) -> None:
    table = adult(1_000)
    hospitals = 4 if m == 1 else 5
    parts = dealt(table, hospitals, seed=3)
    asked = {"trust": "honest", "m": 1} if m == 1 else {"protect": "joint", "m": 2}
    policy = adult_policy(tmp_path, 2, 8, 0.4, 1_000, goal="classification")
    quasi = [n for n, a in policy["attributes"].items() if a["role"] == "quasi"]
    model = LKC(L=2, K=8, C=0.4, sensitive="marital-status", values=["Divorced", "Separated"])
    made, _ = together(parts, {**policy, "hospitals": asked})
    plain, _ = together(parts, policy)
    coalitions = list(combinations(range(hospitals), m))
    assert all(model.check(_without(made, each), quasi).holds for each in coalitions)
    assert not all(model.check(_without(plain, each), quasi).holds for each in coalitions)
    assert made[0].steps > 0
    assert not made[0].release.data.equals(plain[0].release.data)


@pytest.mark.parametrize("asked", [{"trust": "honest", "m": 1}, {"protect": "joint"}])
def test_m_privacy_that_the_whole_table_lacks_is_refused(asked: dict[str, Any]) -> None:
    policy = surgeries(hospitals=asked)
    policy["privacy"] = [{"k-anonymity": {"k": 8}}]
    with pytest.raises(PrivacyError, match="without the records of any"):
        together(PARTIES, policy)


def test_only_sums_that_the_search_needs_are_asked_for(tmp_path: Path) -> None:
    """Counts by group are opened only of values whose children stand alone and in pairs."""
    parts = dealt(adult(3_000), 3)
    policy = adult_policy(tmp_path, 4, 50, 0.2, 3_000, goal="classification")
    made, table = together(parts, policy)
    asked = {request["ask"] for request, _ in table.heard}
    assert asked == {
        "missing cells", "records", "groups", "sizes", "totals", "occurring", "combinations",
        "crowds", "children", "judged", "rows", "ready",
    }  # fmt: skip
    by_group = [r for r, _ in table.heard if r["ask"] == "children"]
    assert made[0].steps <= len(by_group) < 2 * made[0].steps
    for request in by_group:
        assert len(request["in"]) < 30, "children, not single values of a large domain"
        assert request["values"] == [[0, 0], [1, 2], [5, 1], [6, 2]]


def test_marks_do_not_tell_how_often_a_value_occurs() -> None:
    _, table = together(PARTIES, surgeries())
    marks = [answers for request, answers in table.heard if request["ask"] == "occurring"]
    assert marks
    assert all(np.asarray(answer).dtype == np.bool_ for answers in marks for answer in answers)


def test_a_value_that_the_policy_does_not_list_is_refused_without_showing_it() -> None:
    strange = PARTIES[1].with_columns(pl.lit("Astronaut").alias("Job"))
    with pytest.raises(
        HierarchyError, match=r"Column 'Job': 1 distinct values \(4 records"
    ) as told:
        read_own(as_source(strange), incrowd.Policy.from_mapping(surgeries()))
    assert "Astronaut" not in str(told.value)


def test_a_column_that_a_hospital_lacks_is_named_by_it() -> None:
    lacking = PARTIES[1].rename({"Job": "Jobb"})
    with pytest.raises(PolicyError, match="No column 'Job'"):
        read_own(as_source(lacking), incrowd.Policy.from_mapping(surgeries()))


def test_hospitals_that_spell_a_value_in_their_own_way_publish_that_of_the_policy() -> None:
    ways = ("{}".format, str.upper, "\u200b{} ".format)
    spelled = [
        part.with_columns(pl.col("Surgery").map_elements(way, return_dtype=pl.String))
        for part, way in zip(PARTIES, ways, strict=True)
    ]
    policy = surgeries(privacy=[{"lkc": {"L": 2, "K": 2, "C": 0.5, "values": ["TRANSGENDER"]}}])
    made, _ = together(spelled, policy)
    require_pooled(made, incrowd.anonymize(SURGERIES, policy))
    for part in spelled:
        own = read_own(as_source(part), incrowd.Policy.from_mapping(policy))
        assert set(own.table["Surgery"].values) >= {"Transgender", "Plastic", "Eye"}


def test_a_hospital_hears_of_its_own_spellings() -> None:
    both = PARTIES[0].vstack(PARTIES[0].with_columns(pl.col("Surgery").str.to_lowercase()))
    made, _ = together([both, *PARTIES[1:]], surgeries())
    assert [len(each.release.remarks) for each in made] == [1, 0, 0]
    (told,) = made[0].release.remarks
    assert told.startswith("Column 'Surgery': 3 values are written in 6 ways")
    assert "plastic" not in told.lower()


def test_fractions_under_intervals_are_refused() -> None:
    halves = PARTIES[0].with_columns(pl.col("Age") + 0.5)
    with pytest.raises(HierarchyError, match="Column 'Age': 2 distinct values"):
        read_own(as_source(halves), incrowd.Policy.from_mapping(surgeries()))


def test_layouts_tell_columns_and_their_order_apart() -> None:
    policy = incrowd.Policy.from_mapping(surgeries())
    layouts = {read_own(as_source(part), policy).layout for part in PARTIES}
    assert len(layouts) == 1
    turned = PARTIES[0].select("Sex", "Job", "Age", "Transfuse", "Surgery")
    assert read_own(as_source(turned), policy).layout not in layouts


def test_columns_to_keep_are_not_published() -> None:
    policy = surgeries()
    policy["attributes"]["Ward"] = "keep"
    parts = [part.with_columns(pl.lit("W").alias("Ward")) for part in PARTIES]
    assert "'Ward' (role keep)" in check_policy(incrowd.Policy.from_mapping(policy))[0]
    made, _ = together(parts, policy)
    assert "Ward" not in made[0].release.data.columns
    assert "Ward" not in made[0].share.names
    told = {each["name"]: each for each in made[0].release.manifest["attributes"]}
    assert told["Ward"] == {"name": "Ward", "role": "keep", "published": False}


def test_what_a_policy_asks_in_vain_among_hospitals_is_told() -> None:
    asked = {"memory": "1GB", "suppression": 0.1, "spark": {"spark.driver.memory": "4g"}}
    told = check_policy(incrowd.Policy.from_mapping(surgeries(engine="spark", **asked)))
    assert told == [
        "`engine:`, `memory:`, `spark:`: ignored among hospitals, each of which counts in memory.",
        "top-down-specialization drops no record: `suppression:` changes nothing.",
    ]
    assert check_policy(incrowd.Policy.from_mapping(surgeries())) == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"method": "mondrian"}, "does not run among hospitals"),
        ({"method": "top-down-specialization"}, "Name one search"),
        ({"privacy": [{"t-closeness": {"t": 0.3}}]}, "t-closeness does not run among hospitals"),
        ({"publish": "anatomy", "privacy": [{"k-anonymity": {"k": 2}}]}, "publish: generalized"),
        ({"hospitals": {"trust": "honest", "m": 2}}, "`protect: joint`"),
    ],
)
def test_what_hospitals_cannot_run_is_refused_with_a_remedy(
    change: dict[str, Any], told: str
) -> None:
    with pytest.raises(PolicyError, match=told):
        check_policy(incrowd.Policy.from_mapping(surgeries(**change)))


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"role": "keep", "level": "event"}, r"attributes\.Ward: `level: event` is about"),
        ({"role": "keep", "take": "most-frequent"}, r"attributes\.Ward: `take: most-frequent` is"),
    ],
)
def test_rows_of_patients_are_refused_before_any_work(asked: dict[str, Any], told: str) -> None:
    policy = surgeries(unit="Id")
    policy["attributes"] |= {"Id": "identifier", "Ward": asked}
    with pytest.raises(PolicyError, match=told):
        check_policy(incrowd.Policy.from_mapping(policy))
    policy["attributes"]["Ward"] = "keep"
    with pytest.raises(PolicyError, match="`most-events: 5` is about patients with several rows"):
        check_policy(incrowd.Policy.from_mapping({**policy, "most-events": 5}))


def test_each_hospital_sees_whether_its_own_patients_have_several_rows() -> None:
    policy = surgeries(unit="Id")
    policy["attributes"]["Id"] = "identifier"
    part = PARTIES[0]
    apart = [f"p{row}" for row in range(part.height)]
    wanted = incrowd.Policy.from_mapping(policy)
    once = part.with_columns(pl.Series("Id", apart))
    assert read_own(as_source(once), wanted).table.records == part.height
    twice = part.with_columns(pl.Series("Id", [" P1", *apart[1:]]))
    with pytest.raises(PolicyError, match=rf"tells {part.height - 1} apart in {part.height} rows"):
        read_own(as_source(twice), wanted)


def test_a_quasi_identifier_needs_more_than_an_order() -> None:
    policy = surgeries()
    policy["attributes"]["Sex"] = {"role": "quasi", "order": ["F", "M"]}
    with pytest.raises(PolicyError, match=r"attributes\.Sex: among hospitals the policy"):
        check_policy(incrowd.Policy.from_mapping(policy))


@pytest.mark.parametrize(("m", "reveal"), [(3, "bits"), (2, "bits")])
def test_an_m_that_so_few_hospitals_cannot_have_is_refused(m: int, reveal: str) -> None:
    with pytest.raises(PolicyError, match="m is at most"):
        together(PARTIES, surgeries(hospitals={"m": m, "reveal": reveal}))


def test_columns_of_one_hospital_alone_change_nothing() -> None:
    policy = surgeries(other="drop", unit="row")
    policy["attributes"] |= {"id": "identifier", "file": "identifier"}
    named = [
        part.with_columns(pl.lit("x").alias("id"), pl.lit("y").alias("file")) for part in PARTIES
    ]
    named[1] = named[1].select("file", *SURGERIES.columns, "id")
    named[2] = named[2].with_columns(pl.lit("z").alias("private"))
    made, _ = together(named, policy)
    assert made[0].release.manifest == made[1].release.manifest == made[2].release.manifest
    assert "private" not in str(made[0].release.manifest)


def test_every_hospital_looks_at_its_own_identifiers() -> None:
    policy = surgeries()
    policy["attributes"]["id"] = "identifier"
    numbered = [part.with_row_index("id") for part in PARTIES]  # the same numbers at each
    made, _ = together(numbered, {**policy, "unit": "id"})
    assert made[0].release.manifest["unit"] == "id"
    twice = numbered[0].with_columns(pl.lit(0).alias("id"))
    for unit in ({}, {"unit": "id"}):
        with pytest.raises(PolicyError, match=r"1 (value|apart) in 3 rows"):
            read_own(as_source(twice), incrowd.Policy.from_mapping({**policy, **unit}))


def test_listed_values_that_no_hospital_has_are_refused_before_the_search() -> None:
    policy = surgeries()
    policy["privacy"][0]["lkc"]["values"] = ["Eye"]
    with pytest.raises(FederationError, match="of which none occurs at any hospital"):
        together(PARTIES, policy)


def test_an_attribute_without_a_single_value_is_as_in_the_pooled_table() -> None:
    empty = [part.with_columns(pl.lit(None, pl.String).alias("Sex")) for part in PARTIES]
    made, _ = together(empty, surgeries())
    require_pooled(made, incrowd.anonymize(pl.concat(empty), surgeries()))


@pytest.mark.parametrize("attribute", ["Job", "Age", "Surgery"])
def test_attributes_without_listed_values_are_refused(attribute: str) -> None:
    policy = surgeries()
    del policy["attributes"][attribute]["hierarchy"]
    with pytest.raises(PolicyError, match=f"attributes.{attribute}: among hospitals the policy"):
        check_policy(incrowd.Policy.from_mapping(policy))
