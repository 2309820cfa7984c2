"""Clustering: every group private, every record once, the same as by plain comparison."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import polars as pl
import pytest
from clustering_reference import Attribute, Reference
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd
from incrowd import datasets
from incrowd._runtime.progress import silent
from incrowd.errors import PolicyError, PrivacyError
from incrowd.methods.base import RecordTask, Task
from incrowd.methods.clustering import ClusteringOptions, clustering
from incrowd.methods.clustering._axes import axes_of
from incrowd.methods.clustering._members import DistinctRows
from incrowd.methods.clustering._pricing import Pricing
from incrowd.methods.clustering._rounds import agglomerate
from incrowd.methods.clustering._splitting import cut_in_two
from incrowd.methods.mondrian._mondrian import mondrian
from incrowd.pipeline import Job
from incrowd.privacy import MODELS

JOBS = {
    "Manual": ["farmer", "joiner", "mason"],
    "Office": {"Law": ["judge", "notary"], "Money": ["banker"]},
}
MANUAL, LAW = ("farmer", "joiner", "mason"), ("judge", "notary")
LEAVES = (*MANUAL, "banker", *LAW)
OFFICE = ("banker", *LAW)
QUASI = ["age", "job", "sex"]
DISTANCES = ("ncp", "research-value", "euclidean")
OPTIONS = [
    {"distance": distance, "suppression": suppression, "overlap": overlap}
    for distance, suppression, overlap in itertools.product(
        DISTANCES, (False, True), ("allow", "forbid")
    )
]


def policy(*models: dict[str, Any], **options: Any) -> dict[str, Any]:
    rules = {"rules": [{"apart": [7, 8], "importance": 5}]} if options.pop("rule", False) else {}
    return {
        "attributes": {
            "no": "keep",
            "age": {"role": "quasi", "type": "numeric", "weight": 2.0, **rules},
            "job": {"role": "quasi", "hierarchy": {"tree": JOBS}},
            "sex": "quasi",
            "ill": "sensitive",
            "drug": "sensitive",
        },
        "privacy": list(models),
        "method": {"name": "clustering", **options},
    }


def people(rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    return pl.DataFrame(
        [(at, *row) for at, row in enumerate(rows)],
        schema=["no", "age", "job", "sex", "ill", "drug"],
        orient="row",
        schema_overrides={"age": pl.Int64, "sex": pl.String},
    )


SOMEONE = st.tuples(
    st.one_of(st.none(), st.integers(0, 15)),
    st.sampled_from(LEAVES),
    st.sampled_from(["F", "M", None]),
    st.sampled_from("abcd"),
    st.sampled_from("xyz"),
)
PROMISES: dict[str, list[dict[str, Any]]] = {
    "k": [{"k-anonymity": {"k": 3}}],
    "distinct": [{"k-anonymity": {"k": 2}}, {"l-diversity": {"l": 2, "sensitive": "ill"}}],
    "entropy": [{"l-diversity": {"l": 1.8, "kind": "entropy", "sensitive": "ill"}}],
    "shares": [{"alpha-k": {"alpha": 0.6, "k": 3, "sensitive": "ill"}}],
    "t": [{"t-closeness": {"t": 0.3, "sensitive": "drug"}}],
    "together": [{"multi-sensitive": {"k": 2, "l": 2, "sensitive": ["ill", "drug"]}}],
}


def task_of(frame: pl.DataFrame, asked: dict[str, Any]) -> RecordTask:
    return Job.begin(frame, asked, silent, accept_unprotected=True).task


def bounds(label: str) -> tuple[int, int] | None:
    """The ends of a half-open range; None for any other label."""
    found = re.fullmatch(r"\[(-?\d+)-(-?\d+)\)", label)
    return (int(found[1]), int(found[2])) if found else None


def covers(name: str, label: str | None, cell: Any) -> bool:
    if label is None or cell is None or label == "*":
        return label == "*" or (label is None and cell is None)
    ends = bounds(label)
    if ends:
        return bool(ends[0] <= cell < ends[1])
    inner = {"Manual": MANUAL, "Law": LAW, "Office": OFFICE}.get(label, (label,))
    return str(cell) in inner if name == "job" else str(cell) == label


def checked(frame: pl.DataFrame, release: incrowd.Release, models: list[dict[str, Any]]) -> None:
    """Every record is published once, under labels that cover it, in groups that hold."""
    shown = release.data.with_columns(pl.col("no").cast(pl.Int64)).sort("no")
    assert shown["no"].to_list() == frame["no"].to_list()
    for name in QUASI:
        for label, cell in zip(shown[name], frame[name], strict=True):
            assert covers(name, label, cell), (name, label, cell)
    grouped = frame.select("no", "ill", "drug").join(shown.select("no", *QUASI), on="no")
    for each in models:
        ((name, parameters),) = each.items()
        assert MODELS[name](**parameters).check(grouped, quasi=QUASI).holds


@given(
    st.lists(SOMEONE, min_size=6, max_size=50),
    st.sampled_from(sorted(PROMISES)),
    st.sampled_from(OPTIONS),
    st.booleans(),
)
@settings(max_examples=100)
def test_every_group_holds_under_any_model(
    rows: list[tuple[Any, ...]], promise: str, options: dict[str, Any], rule: bool
) -> None:
    frame, models = people(rows), PROMISES[promise]
    ages = [age for age, *_ in rows if age is not None]
    rule = rule and bool(ages) and min(ages) <= 7 < 8 <= max(ages)
    try:
        release = incrowd.anonymize(
            frame, policy(*models, **options, rule=rule), accept_unprotected=True
        )
    except PrivacyError:
        whole = frame.with_columns(pl.lit("*").alias("all"))
        held = [
            MODELS[name](**parameters).check(whole, quasi=["all"]).holds
            for each in models
            for name, parameters in each.items()
        ]
        assert not all(held)
        return
    checked(frame, release, models)


def reference_of(frame: pl.DataFrame, task: Task, pricing: Pricing) -> Reference:
    """The plain version of a task over age, job and sex."""
    table = list(frame.select(QUASI).iter_rows())
    values = {}
    for column in task.columns:
        seen = [int(v) for v in column.values] if column.numbers is not None else column.values
        values[column.name] = (*seen, *([None] if column.missing else []))
    jobs = ((*LAW,), OFFICE, MANUAL, LEAVES, *((job,) for job in LEAVES))
    weight = dict.fromkeys(QUASI, 1.0)
    rules: tuple[tuple[int, int, float], ...] = ()
    if pricing.distance != "euclidean":
        weight = {name: task.interests[name].weight for name in QUASI}
        rules = tuple(
            (int(rule.first), int(rule.second), rule.importance)
            for rule in task.interests["age"].rules
            if pricing.distance == "research-value"
        )
    ill = frame["ill"].to_list()
    return Reference(
        table,
        [
            Attribute(values["age"], (), weight["age"], rules),
            Attribute(values["job"], (*jobs, (*LEAVES, None)), weight["job"]),
            Attribute(values["sex"], (values["sex"],), weight["sex"]),
        ],
        lambda group: len(group) >= 3 and len({ill[at] for at in group}) >= 2,
        pricing.distance,
        pricing.suppression,
    )


@given(
    st.lists(SOMEONE, min_size=3, max_size=26),
    st.sampled_from(DISTANCES),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=80)
def test_merges_are_those_of_a_plain_comparison_of_all_pairs(
    rows: list[tuple[Any, ...]], distance: Any, suppression: bool, rule: bool
) -> None:
    # All jobs occur, so that their nodes weigh what the plain version counts.
    rows = rows + [(3, job, "F", "abcd"[at % 4], "x") for at, job in enumerate(LEAVES)]
    rows += [(0, "judge", "M", "a", "x"), (15, "judge", "M", "b", "x")]
    frame = people(rows)
    models = [{"p-sensitive": {"p": 2, "k": 3, "sensitive": "ill"}}]
    task = task_of(frame, policy(*models, distance=distance, suppression=suppression, rule=rule))
    members = DistinctRows.of(task)
    axes = axes_of(task.columns, [task.hierarchies[column.name] for column in task.columns])
    pricing = Pricing(distance, suppression, task.columns, task.interests)
    expected = set(reference_of(frame, task, pricing).run())
    for exact in (True, False):
        found = agglomerate(task, members, axes, pricing, exact=exact)
        group = members.assigned(task, found.cluster_of_row)
        assert {
            (
                frozenset(np.flatnonzero(group == c).tolist()),
                frozenset(np.flatnonzero(found.hidden[c]).tolist()),
            )
            for c in range(found.many)
        } == expected


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("suppression", [False, True])
def test_the_index_finds_what_the_comparison_of_all_finds(distance: Any, suppression: bool) -> None:
    """On more clusters than fit into a leaf, and with rules."""
    draw = np.random.default_rng(3)
    many = 1500
    frame = pl.DataFrame(
        {
            "age": draw.integers(0, 90, many),
            "income": (draw.lognormal(3, 1, many) * 10).astype(int),
            "job": draw.choice(LEAVES, many),
            "sex": draw.choice(["F", "M"], many),
        }
    )
    asked = {
        "attributes": {
            "age": {"role": "quasi", "rules": [{"apart": [17, 18]}, {"apart": [64, 65]}]},
            "income": "quasi",
            "job": {"role": "quasi", "hierarchy": {"tree": JOBS}},
            "sex": "quasi",
        },
        "privacy": [{"k-anonymity": {"k": 5}}],
        "method": {"name": "clustering", "distance": distance, "suppression": suppression},
    }
    job = Job.begin(frame, asked, silent, accept_unprotected=True)
    assert isinstance(job.policy.method, ClusteringOptions)
    exact, indexed = (clustering(job.task, job.policy.method, exact=each) for each in (True, False))
    assert np.array_equal(np.asarray(exact.group_of_record), np.asarray(indexed.group_of_record))
    assert exact.group_sizes.min() >= 5
    assert len(exact.group_sizes) > 100


@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.integers(-9, 9), st.sampled_from(LEAVES)),
        min_size=4,
        max_size=80,
    ),
    st.sampled_from(DISTANCES),
    st.booleans(),
)
@settings(max_examples=60)
def test_ranges_that_may_not_overlap_are_equal_or_disjoint(
    rows: list[tuple[int, int, str]], distance: str, suppression: bool
) -> None:
    frame = pl.DataFrame(rows, schema=["age", "balance", "job"], orient="row")
    options = {"distance": distance, "suppression": suppression, "overlap": "forbid"}
    asked = {
        "attributes": {
            "age": "quasi",
            "balance": "quasi",
            "job": {"role": "quasi", "hierarchy": {"tree": JOBS}},
        },
        "privacy": [{"k-anonymity": {"k": 3}}],
        "method": {"name": "clustering", **options},
    }
    release = incrowd.anonymize(frame, asked, accept_unprotected=True)
    assert len(release.data) == len(rows)
    for name in ("age", "balance"):
        ranges = set()
        for label in release.data[name].unique().to_list():
            ends = bounds(label)
            if label != "*":
                ranges.add(ends or (int(label), int(label) + 1))
        for one, other in itertools.combinations(sorted(ranges), 2):
            assert one[1] <= other[0], (one, other)
    sizes = release.data.group_by(["age", "balance", "job"]).len()["len"]
    assert min(sizes) >= 3


def test_shared_ranges_are_as_fine_as_privacy_allows() -> None:
    """Four ages with three records each need no range at all."""
    frame = pl.DataFrame({"age": [20, 21, 30, 40] * 3, "size": [1, 1, 2, 2] * 3})
    asked = {
        "attributes": {"age": "quasi", "size": "quasi"},
        "privacy": [{"k-anonymity": {"k": 3}}],
        "method": {"name": "clustering", "overlap": "forbid"},
    }
    assert set(incrowd.anonymize(frame, asked, accept_unprotected=True).data["age"]) == {
        "20",
        "21",
        "30",
        "40",
    }
    asked["privacy"] = [{"k-anonymity": {"k": 6}}]
    coarser = incrowd.anonymize(frame, asked, accept_unprotected=True).data
    assert set(coarser["age"]) == {"[20-22)", "[30-41)"}
    assert set(coarser["size"]) == {"1", "2"}


RULED = {"role": "quasi", "rules": [{"apart": [64, 65]}]}


def test_a_rule_is_kept_where_there_are_partners_on_its_side() -> None:
    """63 and 64 are nearer to 65 than to the others, but the rule is dear."""
    ages = [10, 11, 12, 63, 64, 65, 66, 90, 91, 92]
    frame = pl.DataFrame({"age": ages})
    asked = {"privacy": [{"k-anonymity": {"k": 3}}], "method": {"name": "clustering"}}
    free = incrowd.anonymize(
        frame, {"attributes": {"age": "quasi"}, **asked}, accept_unprotected=True
    ).data["age"]
    ends = [bounds(label) for label in free]
    assert any(each and each[0] <= 64 and each[1] > 65 for each in ends)
    asked["method"] = {"name": "clustering", "distance": "research-value"}
    kept = incrowd.anonymize(
        frame, {"attributes": {"age": RULED}, **asked}, accept_unprotected=True
    ).data["age"]
    assert not any(b and b[0] <= 64 and b[1] > 65 for b in map(bounds, kept))


def test_a_value_far_from_all_others_is_suppressed() -> None:
    frame = pl.DataFrame({"gain": [0] * 20 + [1, 1, 2, 2, 99_999], "age": [30, 31, 32, 33, 34] * 5})
    asked = {
        "attributes": {"gain": "quasi", "age": "quasi"},
        "privacy": [{"k-anonymity": {"k": 3}}],
        "method": {"name": "clustering", "distance": "research-value", "suppression": True},
    }
    shown = incrowd.anonymize(frame, asked, accept_unprotected=True).data
    assert "*" in shown["gain"].to_list()
    assert not any((bounds(label) or (0, 0))[1] > 99_999 for label in shown["gain"])
    asked["method"] = {"name": "clustering", "distance": "research-value"}
    without = incrowd.anonymize(frame, asked, accept_unprotected=True).data
    assert "*" not in without["gain"].to_list()
    assert any((bounds(label) or (0, 0))[1] > 99_999 for label in without["gain"])


@pytest.mark.parametrize("options", OPTIONS, ids=lambda each: "-".join(map(str, each.values())))
def test_a_release_verifies(options: dict[str, Any], tmp_path: Any) -> None:
    draw = np.random.default_rng(8)
    rows = [
        (int(age) if age < 80 else None, str(job), str(sex), str(ill), str(drug))
        for age, job, sex, ill, drug in zip(
            draw.integers(0, 85, 200),
            draw.choice(LEAVES, 200),
            draw.choice(["F", "M"], 200),
            draw.choice(list("abcd"), 200),
            draw.choice(list("xyz"), 200),
            strict=True,
        )
    ]
    frame = people(rows)
    models: list[dict[str, Any]] = [
        {"k-anonymity": {"k": 4}},
        {"l-diversity": {"l": 3, "sensitive": "ill"}},
    ]
    release = incrowd.anonymize(frame, policy(*models, **options), accept_unprotected=True)
    checked(frame, release, models)
    release.save(tmp_path / "release")
    assert incrowd.verify(tmp_path / "release").holds


def test_less_is_lost_than_by_cutting() -> None:
    """On Adult, four attributes, all of them known to the attacker."""
    names = ["age", "education-num", "capital-gain", "income"]
    frame = datasets.load("adult").filter(pl.col("fold") == "train").select(names)[:6000]
    asked = {
        "attributes": dict.fromkeys(names, "quasi"),
        "privacy": [{"k-anonymity": {"k": 5}}],
        "method": "clustering",
    }
    task = task_of(frame, asked)

    def lost(outcome: Any) -> float:
        sizes = outcome.group_sizes
        return sum(float((c.loss_of_group * sizes).sum()) for c in outcome.labels.values())

    assert lost(clustering(task)) < lost(mondrian(task))


@given(st.lists(SOMEONE, min_size=8, max_size=60), st.integers(2, 4))
@settings(max_examples=40)
def test_moving_on_never_costs(rows: list[tuple[Any, ...]], k: int) -> None:
    models = [{"p-sensitive": {"p": 2, "k": k, "sensitive": "ill"}}]
    try:
        task = task_of(people(rows), policy(*models))
        outcome = clustering(task)
    except PrivacyError:
        return
    members = DistinctRows.of(task)
    axes = axes_of(task.columns, [task.hierarchies[column.name] for column in task.columns])
    pricing = Pricing("ncp", False, task.columns, task.interests)
    merged = agglomerate(task, members, axes, pricing).boxes
    rate = pricing.prices(axes, merged).rate
    before = float((merged.span * rate * merged.records[:, None]).sum())
    after = sum(
        float((outcome.labels[name].loss_of_group * outcome.group_sizes).sum())
        * task.interests[name].weight
        for name in QUASI
    )
    assert after <= before + 1e-9


def test_clusters_that_are_large_enough_are_cut_where_least_is_lost() -> None:
    ages = [10, 11, 12, 40, 41, 42, 43, 70, 71]
    asked = {
        "attributes": {"age": "quasi"},
        "privacy": [{"k-anonymity": {"k": 3}}],
        "method": "clustering",
    }
    task = task_of(pl.DataFrame({"age": ages}), asked)
    members = DistinctRows.of(task)
    axes = axes_of(task.columns, [task.hierarchies["age"]])
    together = np.zeros(len(ages), dtype=np.int64)
    order, starts = np.arange(len(ages)), np.array([0, len(ages)])
    halves = cut_in_two(task, members, axes, np.ones(1), together, order, starts)
    # After 12: 3 x 2 + 6 x 31; after 43: only two records would be left.
    assert halves.tolist() == [0, 0, 0, 1, 1, 1, 1, 1, 1]


def test_a_run_can_be_interrupted() -> None:
    def stop(stage: str, _done: int, _whole: int) -> None:
        if stage == "merging":
            raise KeyboardInterrupt

    frame = pl.DataFrame({"age": list(range(50))})
    asked = {
        "attributes": {"age": "quasi"},
        "privacy": [{"k-anonymity": {"k": 3}}],
        "method": "clustering",
    }
    with pytest.raises(KeyboardInterrupt):
        incrowd.anonymize(frame, asked, progress=stop, accept_unprotected=True)


def test_a_distance_that_is_not_known_is_refused() -> None:
    with pytest.raises(PolicyError, match="distance must be one of"):
        incrowd.Policy.from_mapping(policy({"k-anonymity": {"k": 3}}, distance="manhattan"))
