"""Top-down local recoding: every group private, every record once, and little lost."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd
from incrowd import datasets
from incrowd._runtime import randomness
from incrowd.errors import PrivacyError
from incrowd.methods.top_down_local import _steps as steps
from incrowd.privacy import MODELS

JOBS = {
    "Manual": ["farmer", "joiner", "mason"],
    "Office": {"Law": ["judge", "notary"], "Money": ["banker"]},
}
AGES = {"intervals": {"start": 0, "stop": 16, "widths": [2, 4, 8]}}
QUASI = ["age", "job", "sex"]


def policy(*models: dict[str, Any], relocate: bool = True) -> dict[str, Any]:
    return {
        "attributes": {
            "no": "keep",
            "age": {"role": "quasi", "type": "numeric", "hierarchy": AGES},
            "job": {"role": "quasi", "hierarchy": {"tree": JOBS}},
            "sex": "quasi",
            "ill": "sensitive",
            "drug": "sensitive",
        },
        "privacy": list(models),
        "method": {"name": "top-down-local", "relocate": relocate},
    }


def people(rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    names = ["age", "job", "sex", "ill", "drug"]
    return pl.DataFrame(
        [(at, *row) for at, row in enumerate(rows)],
        schema=["no", *names],
        orient="row",
        schema_overrides={"age": pl.Int64},
    )


SOMEONE = st.tuples(
    st.one_of(st.none(), st.integers(0, 15)),
    st.sampled_from(["farmer", "joiner", "mason", "judge", "notary", "banker"]),
    st.sampled_from(["F", "M", None]),
    st.sampled_from("abcd"),
    st.sampled_from("xyz"),
)
PROMISES: dict[str, list[dict[str, Any]]] = {
    "k": [{"k-anonymity": {"k": 3}}],
    "distinct": [{"k-anonymity": {"k": 2}}, {"l-diversity": {"l": 2, "sensitive": "ill"}}],
    "both": [
        {"l-diversity": {"l": 2, "sensitive": "ill"}},
        {"p-sensitive": {"p": 2, "k": 3, "sensitive": "drug"}},
    ],
    "entropy": [{"l-diversity": {"l": 1.8, "kind": "entropy", "sensitive": "ill"}}],
    "recursive": [{"l-diversity": {"l": 2, "kind": "recursive", "c": 2, "sensitive": "ill"}}],
    "shares": [{"alpha-k": {"alpha": 0.6, "k": 3, "sensitive": "ill"}}],
    "t": [{"t-closeness": {"t": 0.3, "sensitive": "drug"}}],
    "together": [{"multi-sensitive": {"k": 2, "l": 2, "sensitive": ["ill", "drug"]}}],
}


def checked(frame: pl.DataFrame, release: incrowd.Release, models: list[dict[str, Any]]) -> None:
    """Every record is published once, under labels that cover it, in groups that hold."""
    shown = release.data.with_columns(pl.col("no").cast(pl.Int64)).sort("no")
    assert shown["no"].to_list() == frame["no"].to_list()
    grouped = frame.select("no", "ill", "drug").join(shown.select("no", *QUASI), on="no")
    for each in models:
        ((name, parameters),) = each.items()
        assert MODELS[name](**parameters).check(grouped, quasi=QUASI).holds


@given(st.lists(SOMEONE, min_size=6, max_size=60), st.sampled_from(sorted(PROMISES)), st.booleans())
@settings(max_examples=100)
def test_every_group_holds_under_any_model(
    rows: list[tuple[Any, ...]], promise: str, relocate: bool
) -> None:
    frame, models = people(rows), PROMISES[promise]
    try:
        release = incrowd.anonymize(
            frame, policy(*models, relocate=relocate), accept_unprotected=True
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


@given(st.lists(SOMEONE, min_size=6, max_size=60))
@settings(max_examples=25)
def test_moving_on_never_costs(rows: list[tuple[Any, ...]]) -> None:
    frame, models = people(rows), PROMISES["distinct"]
    losses = []
    for relocate in (False, True):
        try:
            with pytest.MonkeyPatch.context() as patch:  # the same tree twice
                patch.setattr(randomness, "_bytes", random.Random(7).randbytes)
                asked = policy(*models, relocate=relocate)
                made = incrowd.anonymize(frame, asked, accept_unprotected=True)
        except PrivacyError:
            return
        losses.append(made.manifest["utility"]["ncp"])
    assert losses[1] <= losses[0] + 1e-12


def test_equal_records_may_end_at_different_levels() -> None:
    rows = [(1, "judge", "F", "a", "x")] * 4 + [(1, "notary", "F", "a", "x")] * 2
    release = incrowd.anonymize(
        people(rows), policy({"k-anonymity": {"k": 3}}), accept_unprotected=True
    )
    assert sorted(release.data["job"].to_list()) == ["Law"] * 3 + ["judge"] * 3


def test_a_step_that_cannot_be_repaired_is_undone() -> None:
    # Two notaries cannot stay under Law without a third, and the judges are only three.
    rows = [(1, "judge", "F", "a", "x")] * 3 + [(1, "notary", "F", "a", "x")] * 2
    release = incrowd.anonymize(
        people(rows), policy({"k-anonymity": {"k": 3}}), accept_unprotected=True
    )
    assert set(release.data["job"].to_list()) == {"Law"}


def test_less_is_lost_than_by_mondrian_with_the_same_labels(tmp_path: Any) -> None:
    frame = datasets.load("adult").drop_nulls().head(4_000)
    files = {path.stem: str(path) for path in datasets.export_hierarchies("adult", tmp_path)}
    quasi = ["age", "workclass", "education", "marital-status", "race", "sex"]
    asked: dict[str, Any] = {
        "attributes": {
            name: {"role": "quasi", **({"hierarchy": files[name]} if name in files else {})}
            for name in quasi
        },
        "other": "drop",
        "privacy": [{"k-anonymity": {"k": 5}}],
    }
    lost = {
        method: incrowd.anonymize(
            frame, {**asked, "method": options}, accept_unprotected=True
        ).manifest["utility"]["ncp"]
        for method, options in {
            "mondrian": {"name": "mondrian", "labels": "hierarchy"},
            "tree": {"name": "top-down-local", "relocate": False},
            "moved": "top-down-local",
        }.items()
    }
    assert lost["moved"] < lost["tree"] < lost["mondrian"]


@pytest.mark.parametrize("promise", sorted(PROMISES))
def test_the_same_records_give_the_same_release_in_any_order(promise: str) -> None:
    draw = random.Random(4)
    jobs = ["farmer", "joiner", "judge", "notary"]
    everyone = draw.sample(list(itertools.product(range(16), jobs, "FM")), 120)
    rows = [(*who, draw.choice("abcd"), draw.choice("xyz")) for who in everyone]
    models, kept = PROMISES[promise], [*QUASI, "ill", "drug"]
    first = incrowd.anonymize(people(rows), policy(*models), accept_unprotected=True).data.select(
        kept
    )
    draw.shuffle(rows)
    second = incrowd.anonymize(people(rows), policy(*models), accept_unprotected=True).data.select(
        kept
    )
    assert first.sort(kept).equals(second.sort(kept))


@pytest.mark.parametrize("promise", ["k", "distinct"])
def test_which_of_equal_records_stays_behind_is_left_to_chance(promise: str) -> None:
    """Who stays would else tell a value: by the order of the values, or by that of the source."""
    judges = [(1, "judge", "F", ill, "x") for ill in "abcd"]
    rows = [*judges, (1, "notary", "F", "a", "y"), (1, "notary", "F", "b", "y")]
    models = [*PROMISES[promise], {"k-anonymity": {"k": 3}}]
    frame, asked = people(rows), policy(*models)
    stayed = set()
    for _ in range(60):  # each of the four is left out with a chance below 4e-8
        shown = incrowd.anonymize(frame, asked, accept_unprotected=True).data
        stayed.update(shown.filter(pl.col("job") == "Law", pl.col("drug") == "x")["ill"].to_list())
    assert stayed == set("abcd")


@pytest.mark.parametrize("promise", ["k", "distinct"])
def test_one_draw_decides_all_that_chance_does(
    promise: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(4)
    rows = [(draw.randint(0, 3), "judge", "F", draw.choice("abcd"), "x") for _ in range(60)]
    made = []
    for _ in range(2):
        monkeypatch.setattr(randomness, "_bytes", random.Random(7).randbytes)
        asked = policy(*PROMISES[promise])
        made.append(incrowd.anonymize(people(rows), asked, accept_unprotected=True).data)
    assert made[0].equals(made[1])


def test_a_step_is_worth_what_its_records_lose() -> None:
    """One step by hand: two children, one too small, repaired by the larger one's last record."""
    codes = np.array([[0], [0], [0], [1]], dtype=np.int64)
    node_of = np.array([[[0, 1], [0, 0]]], dtype=np.int32)
    loss = np.array([[[0.0, 0.0], [1.0, 1.0]]])
    child, low, high = np.zeros(4, np.int64), np.array([0]), np.array([1])
    of_children = (
        np.zeros((5, 1), np.int64),
        np.zeros((5, 1), np.int64),
        np.zeros((5, 1), np.int64),
    )
    seen = (np.zeros((1, 1), np.int64), np.zeros(1, np.int64))
    none = np.zeros((4, 0), np.int64)
    table = steps.StepTable(codes, none, node_of, loss, 2, np.zeros(0, np.int64))
    work = steps.StepSpace(child, np.zeros(5, np.int64), *of_children, np.zeros(5), *seen)
    found, many = steps.attempt(table, np.arange(4), 0, 4, 0, low, high, work, steps.IMPOSSIBLE)
    assert (found, many) == (2.0, 2)
    assert child.tolist() == [0, 0, 2, 2]


def test_more_than_63_attributes_can_be_barred() -> None:
    """A step on attribute 64 that a model undoes is not tried again and again."""
    draw = random.Random(0)
    names = [f"q{place}" for place in range(70)]
    frame = pl.DataFrame(
        {
            **{
                name: [draw.choice("ab") if name > "q6" else "a" for _ in range(40)]
                for name in names
            },
            "ill": [draw.choice("xyz") for _ in range(40)],
        }
    )
    asked = {
        "attributes": {**dict.fromkeys(names, "quasi"), "ill": "sensitive"},
        "privacy": [{"t-closeness": {"t": 0.2, "sensitive": "ill"}}],
        "method": "top-down-local",
    }
    assert incrowd.anonymize(frame, asked, accept_unprotected=True).data.height == 40
