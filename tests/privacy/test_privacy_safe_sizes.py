"""From its safe size on every part of a group satisfies the model, whatever records it has."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.counts.groups import Groups
from incrowd.counts.histograms import histogram_of
from incrowd.privacy import (
    LKC,
    AlphaK,
    ConfidenceBounding,
    KAnonymity,
    LDiversity,
    PrivacyModel,
    PSensitive,
    TCloseness,
)
from incrowd.table.coding import code_column

_S: dict[str, Any] = {"sensitive": "s"}
MODELS: dict[str, PrivacyModel] = {
    "k": KAnonymity(k=3),
    "distinct": LDiversity(l=3, **_S),
    "frequency": LDiversity(l=2.5, kind="frequency", **_S),
    "entropy": LDiversity(l=1.7, kind="entropy", **_S),
    "recursive": LDiversity(l=2, kind="recursive", c=1.5, **_S),
    "p-sensitive": PSensitive(p=2, k=3, **_S),
    "confidence": ConfidenceBounding(C=0.4, **_S),
    "listed": ConfidenceBounding(C=0.4, values=["a", "c"], **_S),
    "alpha-k": AlphaK(alpha=0.5, k=2, **_S),
    "lkc": LKC(L=2, K=3, C=0.6, **_S),
    "lkc of any share": LKC(L=2, K=3, **_S),
}


def groups_of(parts: list[str]) -> Groups:
    """Groups of records, each given by its values in one text."""
    number = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    codes = np.array(["abcd".index(value) for part in parts for value in part])
    total = np.bincount(codes, minlength=4)
    sizes = np.bincount(number, minlength=len(parts))
    return Groups(sizes, {"s": histogram_of(number, len(parts), codes, total)})


@pytest.fixture(scope="module")
def bound() -> dict[str, PrivacyModel]:
    column = code_column(pl.Series("s", ["a", "b", "c", "d"]), role="sensitive")
    return {name: model.bind({"s": column}, {}) for name, model in MODELS.items()}


@settings(max_examples=25)
@given(values=st.text("abcd", min_size=1, max_size=9))
def test_no_part_of_that_size_fails(bound: dict[str, PrivacyModel], values: str) -> None:
    for name, model in bound.items():
        safe = model.safe_size(groups_of([values]))
        assert safe is not None
        for size in range(int(safe[0]), len(values) + 1):
            parts = {"".join(sorted(part)) for part in combinations(values, size)}
            assert model.holds(groups_of(sorted(parts))).all(), (name, size)


@pytest.mark.parametrize("name", ["k", "distinct", "frequency", "p-sensitive", "confidence", "lkc"])
def test_a_smaller_part_may_fail(bound: dict[str, PrivacyModel], name: str) -> None:
    """The size is no larger than it must be: with one record less, some part fails."""
    values = "aaaabbbbccccdddd"
    safe = bound[name].safe_size(groups_of([values]))
    assert safe is not None
    size = int(safe[0]) - 1
    ordered = "".join(value * many for value, many in Counter(values).most_common())
    assert not bound[name].holds(groups_of([ordered[:size]]))[0]


def test_closeness_tells_no_size() -> None:
    assert TCloseness(t=0.3, **_S).safe_size(groups_of(["ab"])) is None
