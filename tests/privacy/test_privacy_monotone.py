"""Two groups that hold, joined, hold: for every model, at the strongest parameters they reach."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from incrowd.counts.groups import Groups, Histogram
from incrowd.hierarchies import from_tree
from incrowd.privacy import (
    LKC,
    MODELS,
    AlphaK,
    BetaLikeness,
    Coherence,
    ConfidenceBounding,
    DeltaDisclosure,
    ExponentialL,
    KAnonymity,
    KKm,
    KmAnonymity,
    LAlphaDiversity,
    LDiversity,
    MultiSensitive,
    PrivacyModel,
    PSensitive,
    TCloseness,
)
from incrowd.privacy.counting.joint import joint_name
from incrowd.table import Column, JointColumn

VALUES = ("a", "b", "c", "d", "e")
Counts = list[int]
Reached = Callable[[Groups], PrivacyModel]

counts_of_values = st.lists(st.integers(0, 6), min_size=len(VALUES), max_size=len(VALUES)).filter(
    any
)


def judged(*groups: Counts, total: Counts) -> Groups:
    """The groups as a home of the records would count them."""
    dense = np.array(groups, dtype=np.int64)
    where, values = np.nonzero(dense)
    offsets = np.concatenate(([0], np.cumsum(np.bincount(where, minlength=len(groups)))))
    histogram = Histogram(
        offsets, values, dense[where, values], len(VALUES), np.array(total, dtype=np.int64)
    )
    return Groups(dense.sum(axis=1), {"ill": histogram})


def column(kind: Any) -> Column:
    return Column("ill", "sensitive", kind, np.arange(5, dtype=np.uint8), VALUES)


def close(distance: Any, groups: Groups) -> PrivacyModel:
    bound, hierarchies = column("category" if distance != "ordered" else "ordered"), {}
    if distance == "hierarchical":
        tree = {"X": {"P": ["a", "b"], "Q": ["c"]}, "Y": {"R": ["d", "e"]}}
        bound, hierarchies["ill"] = from_tree(bound, tree)

    def model(t: float) -> PrivacyModel:
        asked = TCloseness(t=t, distance=distance, sensitive="ill")
        return asked.bind({"ill": bound}, hierarchies)

    return model(max(model(1.0).measure(groups).numbers["t"], 1e-6))


def diverse(kind: Any, groups: Groups) -> PrivacyModel:
    reached = LDiversity(l=1, kind=kind, sensitive="ill").measure(groups).numbers["l"]
    return LDiversity(l=reached, kind=kind, sensitive="ill")


def recursive(l: int, groups: Groups) -> PrivacyModel:  # noqa: E741
    limit = LDiversity(l=l, kind="recursive", c=1.0, sensitive="ill").measure(groups).numbers["c"]
    assume(math.isfinite(limit))
    return LDiversity(l=l, kind="recursive", c=limit * (1 + 1e-6), sensitive="ill")


def k_anonymous(groups: Groups) -> PrivacyModel:
    k = KAnonymity(k=2).measure(groups).numbers["k"]
    return KAnonymity(k=max(int(k), 2))


def p_sensitive(groups: Groups) -> PrivacyModel:
    reached = PSensitive(p=1, k=2, sensitive="ill").measure(groups).numbers
    return PSensitive(p=int(reached["p"]), k=max(int(reached["k"]), 2), sensitive="ill")


def alpha_k(values: list[str] | None, groups: Groups) -> PrivacyModel:
    def model(alpha: float, k: int) -> PrivacyModel:
        asked = AlphaK(alpha=alpha, k=k, sensitive="ill", values=values)
        return asked.bind({"ill": column("category")}, {})

    reached = model(1.0, 2).measure(groups).numbers
    return model(max(reached["alpha"], 1e-6), max(int(reached["k"]), 2))


def confident(values: list[str] | None, groups: Groups) -> PrivacyModel:
    def model(most: float) -> PrivacyModel:
        asked = ConfidenceBounding(C=most, sensitive="ill", values=values)
        return asked.bind({"ill": column("category")}, {})

    return model(max(model(1.0).measure(groups).numbers["C"], 1e-6))


def limited(values: list[str] | None, groups: Groups) -> PrivacyModel:
    def model(most: float, least: int) -> PrivacyModel:
        asked = LKC(L=2, K=least, C=most, sensitive="ill", values=values)
        return asked.bind({"ill": column("category")}, {})

    reached = model(1.0, 1).measure(groups).numbers
    return model(max(reached["C"], 1e-6), int(reached["K"]))


CATEGORIES = [["a", "d"], ["b"], ["c", "e"]]


def weighed(kind: Any, weights: Any, groups: Groups) -> PrivacyModel:
    def model(l: float, alpha: float, c: float | None) -> PrivacyModel:  # noqa: E741
        asked = LAlphaDiversity(
            l=l,
            alpha=alpha,
            kind=kind,
            c=c,
            sensitive="ill",
            categories=CATEGORIES,
            weights=weights,
        )
        return asked.bind({"ill": column("category")}, {})

    if kind == "recursive":
        reached = model(2, 0, 1.0).measure(groups).numbers
        assume(math.isfinite(reached["c"]))
        return model(2, reached["alpha"], reached["c"] * (1 + 1e-6))
    reached = model(1, 0, None).measure(groups).numbers
    return model(
        min(reached["l"], 3) if kind == "entropy" else reached["l"], reached["alpha"], None
    )


def disclosing(groups: Groups) -> PrivacyModel:
    limit = DeltaDisclosure(delta=1, sensitive="ill").measure(groups).numbers["delta"]
    assume(math.isfinite(limit))
    return DeltaDisclosure(delta=limit * (1 + 1e-6) + 1e-9, sensitive="ill")


def alike(kind: Any, groups: Groups) -> PrivacyModel:
    gain = BetaLikeness(beta=1, kind=kind, sensitive="ill").measure(groups).numbers["beta"]
    assume(math.isfinite(gain))
    return BetaLikeness(beta=max(gain, 1e-6), kind=kind, sensitive="ill")


PARTS = np.array([[0, 0], [0, 1], [1, 1], [2, 2], [2, 0]])
"""What the five combinations hold of two attributes with three values each."""


def combined(groups: Groups) -> Groups:
    """The same counts, of combinations of two attributes."""
    return Groups(groups.sizes, {joint_name(["x", "y"]): groups.histograms["ill"]})


def several(kind: type[PrivacyModel], groups: Groups, **parameters: Any) -> PrivacyModel:
    """A model of two attributes at the strongest l that combined groups reach."""

    class Combined(kind):  # type: ignore[misc, valid-type]
        def _combinations(self, groups: Groups) -> Any:
            return super()._combinations(combined(groups))

    codes = np.arange(5, dtype=np.uint8)
    joint = JointColumn(joint_name(["x", "y"]), "sensitive", "category", codes, VALUES, parts=PARTS)
    columns: dict[str, Column] = {
        name: Column(name, "sensitive", "category", codes, VALUES[:3]) for name in ("x", "y")
    }

    def model(l: int) -> PrivacyModel:  # noqa: E741
        asked = Combined(l=l, sensitive=["x", "y"], **parameters)
        bound: PrivacyModel = asked.bind({**columns, joint.name: joint}, {})
        return bound

    return model(int(model(1).measure(groups).numbers.get("l", 1)))


def supported(kind: type[PrivacyModel], groups: Groups, **parameters: Any) -> PrivacyModel:
    """A model of supports, of which the size alone is told."""
    return kind(k=max(int(k_anonymous(groups).least_records), 2), **parameters)


STRONGEST: dict[str, Reached] = {
    "km-anonymity": lambda groups: supported(KmAnonymity, groups, m=2),
    "coherence": lambda groups: supported(Coherence, groups, h=0.5, p=2, sensitive="ill"),
    "k-km": lambda groups: supported(KKm, groups, m=2),
    "k-anonymity": k_anonymous,
    "l-diversity distinct": lambda groups: diverse("distinct", groups),
    "l-diversity entropy": lambda groups: diverse("entropy", groups),
    "l-diversity frequency": lambda groups: diverse("frequency", groups),
    "l-diversity recursive 2": lambda groups: recursive(2, groups),
    "l-diversity recursive 3": lambda groups: recursive(3, groups),
    "t-closeness equal": lambda groups: close("equal", groups),
    "t-closeness ordered": lambda groups: close("ordered", groups),
    "t-closeness hierarchical": lambda groups: close("hierarchical", groups),
    "p-sensitive": p_sensitive,
    "alpha-k": lambda groups: alpha_k(None, groups),
    "alpha-k listed": lambda groups: alpha_k(["b", "d"], groups),
    "confidence-bounding": lambda groups: confident(None, groups),
    "confidence-bounding listed": lambda groups: confident(["b"], groups),
    "multi-sensitive": lambda groups: several(MultiSensitive, groups, k=2),
    "multi-sensitive limited": lambda groups: several(
        MultiSensitive, groups, k=2, limits={"x": 2, "y": 3}
    ),
    "exponential-l": lambda groups: several(ExponentialL, groups),
    "lkc": lambda groups: limited(None, groups),
    "lkc listed": lambda groups: limited(["a", "e"], groups),
    "l-alpha-diversity distinct": lambda groups: weighed("distinct", "uniform", groups),
    "l-alpha-diversity entropy": lambda groups: weighed("entropy", {"sensitivity": 2}, groups),
    "l-alpha-diversity recursive": lambda groups: weighed("recursive", "uniform", groups),
    "l-alpha-diversity real": lambda groups: weighed("distinct", {"sensitivity": 1.5}, groups),
    "delta-disclosure": disclosing,
    "beta-likeness basic": lambda groups: alike("basic", groups),
    "beta-likeness enhanced": lambda groups: alike("enhanced", groups),
}


def test_every_model_is_covered_here() -> None:
    assert {name.partition(" ")[0] for name in STRONGEST} == set(MODELS)
    assert all(model.monotone for model in MODELS.values())


@pytest.mark.parametrize("name", STRONGEST)
@settings(max_examples=25, suppress_health_check=[HealthCheck.filter_too_much])
@given(one=counts_of_values, other=counts_of_values, rest=counts_of_values)
def test_joining_two_groups_that_hold_gives_one_that_does(
    name: str, one: Counts, other: Counts, rest: Counts
) -> None:
    joined = [a + b for a, b in zip(one, other, strict=True)]
    total = [a + b for a, b in zip(joined, rest, strict=True)]
    assume(min(sum(one), sum(other)) >= 2)
    model = STRONGEST[name](judged(one, other, total=total))
    assert model.holds(judged(one, other, total=total)).all()
    assert model.holds(judged(joined, total=total)).all()


GROWING = [
    "k-anonymity",
    "l-diversity distinct",
    "p-sensitive",
    "multi-sensitive",
    "l-alpha-diversity distinct",
    "l-alpha-diversity real",
]


@pytest.mark.parametrize("name", GROWING)
@settings(max_examples=25)
@given(one=counts_of_values, added=counts_of_values)
def test_a_growing_model_holds_whatever_is_added(name: str, one: Counts, added: Counts) -> None:
    grown = [a + b for a, b in zip(one, added, strict=True)]
    assume(sum(one) >= 2)
    model = STRONGEST[name](judged(one, total=grown))
    assert model.growing
    assert model.holds(judged(grown, total=grown)).all()
