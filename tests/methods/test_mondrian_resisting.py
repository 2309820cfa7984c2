"""Mondrian that resists an attacker who knows it: blocks, decoys, refusals, homes."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd
from incrowd._runtime import randomness
from incrowd.counts.groups import Groups, Histogram
from incrowd.engines import collapse
from incrowd.errors import ParameterError, PolicyError, PrivacyError
from incrowd.methods.mondrian._decoys import Born, blocks_of, joined_leaves
from incrowd.privacy import ConfidenceBounding
from incrowd.table.coding import code_column

CONFIDENCE = {"confidence-bounding": {"C": 0.5, "sensitive": "ill"}}
LISTED = {"confidence-bounding": {"C": 0.5, "sensitive": "ill", "values": ["HIV"]}}
K = {"k-anonymity": {"k": 3}}


def patients(records: int = 240, seed: int = 3) -> pl.DataFrame:
    draw = random.Random(seed)
    rows = [
        (
            draw.randint(20, 80) if draw.random() < 0.98 else 900,
            draw.choice("fm"),
            draw.choice("ABCDE"),
            draw.choices(["Flu", "HIV", "Ulcer", "Cold"], [4, 2, 2, 3])[0],
        )
        for _ in range(records)
    ]
    return pl.DataFrame(rows, schema=["age", "sex", "town", "ill"], orient="row")


def policy(resist: str = "minimality", privacy: Any = (K, CONFIDENCE), **more: Any) -> Any:
    options = {key: more.pop(key) for key in ("labels", "split") if key in more}
    return {
        "attributes": {"age": "quasi", "sex": "quasi", "town": "quasi", "ill": "sensitive"},
        "privacy": list(privacy),
        "method": {"name": "mondrian", "resist": resist, **options},
        **more,
    }


@pytest.fixture
def same_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run draws anew from the same bytes."""
    monkeypatch.setattr(randomness, "_bytes", lambda many: random.Random(7).randbytes(many))


@st.composite
def trees(draw: st.DrawFn) -> tuple[np.ndarray, list[Born]]:
    """Leaves and cuts of a random tree, level by level."""
    leaves, born, first = [0], [], 1
    for _ in range(draw(st.integers(0, 5))):
        cut = sorted(draw(st.sets(st.sampled_from(leaves))))
        left = np.arange(first, first + len(cut))
        born.append((np.array(cut, dtype=np.int64), left, left + len(cut)))
        leaves = [node for node in leaves if node not in cut]
        leaves += range(first, first + 2 * len(cut))
        first += 2 * len(cut)
    return np.array(leaves, dtype=np.int64), born


@settings(max_examples=40)
@given(tree=trees())
def test_blocks_grow_around_each_other_until_all_are_one(tree: tuple[Any, Any]) -> None:
    leaves, born = tree
    rounds = list(blocks_of(leaves, born))
    assert set(rounds[-1].tolist()) == {0}
    before = np.arange(len(leaves))
    for block in rounds:
        assert sorted(set(block.tolist())) == list(range(int(block.max()) + 1))
        inside = {(one, other) for one, other in zip(before, block, strict=True)}
        assert len(inside) == len(set(before.tolist())), "a block is cut by none that follows"
        if len(leaves) > 1:
            parts = Counter(other for _, other in inside)
            assert 2 <= min(parts.values()) <= max(parts.values()) <= 3
        before = block


def test_as_many_blocks_are_joined_that_need_not_be() -> None:
    """Sixteen groups of four; one is all sick, and as many sick are in three other pairs."""
    sick = [4, 0, 2, 2, 2, 2, 2, 2, *[0] * 8]
    counts = np.array([[4 - each, each] for each in sick])
    offsets, values, held = [0], [], []
    for row in counts.tolist():
        some = [(value, count) for value, count in enumerate(row) if count]
        values += [value for value, _ in some]
        held += [count for _, count in some]
        offsets.append(len(values))
    histogram = Histogram(
        np.array(offsets), np.array(values), np.array(held), 2, counts.sum(axis=0)
    )
    groups = Groups(np.full(16, 4), {"ill": histogram})
    model = ConfidenceBounding(C=0.5, sensitive="ill", values=["b"])
    model = model.bind({"ill": column_of("ill", ["a", "b"])}, {})
    task = type("Task", (), {"models": [model], "satisfied": lambda _, found: model.holds(found)})()
    leaves, born = np.arange(15, 31), even_tree(4)
    drawn: Counter[int] = Counter()
    for _ in range(30):
        unit = joined_leaves(task, groups, leaves, born)
        pairs = [unit[2 * pair] == unit[2 * pair + 1] for pair in range(8)]
        assert pairs[0], "what misses the model is joined"
        assert sum(pairs) == 2, "and one other"
        assert not any(pairs[4:]), "but none of which nobody would think so"
        drawn.update(pair for pair in range(1, 8) if pairs[pair])
    assert set(drawn) == {1, 2, 3}, "drawn anew each time"


def column_of(name: str, values: list[str]) -> Any:
    return code_column(pl.Series(name, values), role="sensitive")


def even_tree(depth: int) -> list[Born]:
    """The cuts of an even tree, whose nodes are numbered level by level."""
    born = []
    for level in range(depth):
        nodes = np.arange(2**level - 1, 2 ** (level + 1) - 1)
        born.append((nodes, 2 * nodes + 1, 2 * nodes + 2))
    return born


@pytest.mark.parametrize("resist", ["minimality", "minimality-proven"])
@pytest.mark.parametrize("more", [{}, {"labels": "hierarchy"}, {"split": "median"}])
@pytest.mark.parametrize("suppression", [0.0, 0.05])
def test_the_release_verifies(
    tmp_path: Any, resist: str, more: dict[str, Any], suppression: float
) -> None:
    asked = policy(resist, (K, LISTED), suppression=suppression, **more)
    release = incrowd.anonymize(patients(), asked)
    release.save(tmp_path / "release")
    assert incrowd.verify(tmp_path / "release").holds
    assert release.data.height > 200
    assert release.data.select("age", "sex", "town").unique().height > 1


def test_draws_are_those_of_the_run(same_draws: None) -> None:
    one, other = (incrowd.anonymize(patients(), policy()).data for _ in range(2))
    assert one.equals(other)


def test_another_run_draws_anew() -> None:
    """Of twelve runs not all join the same groups."""
    made = [incrowd.anonymize(patients(), policy()).data for _ in range(12)]
    assert any(not each.equals(made[0]) for each in made)


@pytest.mark.parametrize("resist", ["minimality", "minimality-proven"])
def test_rows_that_stay_on_disk_give_the_same_release(
    resist: str,
    same_draws: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = policy(resist, suppression=0.05)
    here = incrowd.anonymize(patients(), {**asked, "engine": "memory"})
    monkeypatch.setattr(collapse, "BYTES_A_CODE", 10**12)
    there = incrowd.anonymize(patients(), {**asked, "engine": "duckdb", "memory": "300MB"})
    assert here.data.equals(there.data)


def test_what_no_size_makes_sure_is_refused() -> None:
    close = {"t-closeness": {"t": 0.4, "sensitive": "ill"}}
    with pytest.raises(ParameterError, match=r"not possible under t-closeness.*Say `resist: min"):
        incrowd.anonymize(patients(), policy("minimality-proven", (K, close)))
    assert incrowd.anonymize(patients(), policy("minimality", (K, close))).data.height == 240


def test_labels_that_move_with_what_is_dropped_are_refused() -> None:
    asked = policy("minimality-proven", labels="hierarchy", suppression=0.05)
    asked["attributes"] = {**asked["attributes"], "age": {"role": "quasi", "hierarchy": "auto"}}
    with pytest.raises(ParameterError, match=r"that of 'age' is auto\. Give it one"):
        incrowd.anonymize(patients(), asked)


def test_a_rest_that_misses_the_model_is_refused() -> None:
    """Not published whole instead: that would tell of the values of the outliers."""
    rows = [(20 + i % 4, "HIV" if i < 8 else "Flu") for i in range(14)] + [(900, "Flu")] * 2
    frame = pl.DataFrame(rows, schema=["age", "ill"], orient="row")
    asked = policy("minimality", suppression=0.2)
    asked["attributes"] = {"age": "quasi", "ill": "sensitive"}
    assert incrowd.anonymize(frame, {**asked, "suppression": 0.0}).data.height == 16
    with pytest.raises(PrivacyError, match="without the outliers"):
        incrowd.anonymize(frame, asked)


def test_another_word_is_refused() -> None:
    with pytest.raises(PolicyError, match="resist"):
        incrowd.anonymize(patients(), policy("everything"))
