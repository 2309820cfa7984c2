"""Secret randomness: the system's own, even, and out of reach of everything but tests."""

import ast
import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import incrowd
from incrowd._runtime import randomness

PACKAGE = Path(incrowd.__file__).parent


def test_randomness_is_that_of_the_operating_system() -> None:
    assert randomness._bytes is os.urandom


def test_two_runs_draw_differently() -> None:
    assert not np.array_equal(randomness.permutation(100), randomness.permutation(100))


def test_every_order_is_equally_likely() -> None:
    drawn = Counter(tuple(randomness.permutation(3).tolist()) for _ in range(6000))
    assert len(drawn) == 6
    assert sum((n - 1000) ** 2 / 1000 for n in drawn.values()) < 40  # chi-square, 5 df: p < 1e-6


def test_groups_stay_together_and_are_shuffled_within() -> None:
    groups = np.repeat([2, 0, 1], 40)
    order = randomness.shuffled_within(groups)
    assert groups[order].tolist() == sorted(groups.tolist())
    assert sorted(order.tolist()) == list(range(120))
    assert sorted(order[:40].tolist()) != order[:40].tolist()


def test_nothing_is_drawn_of_nothing() -> None:
    assert randomness.keys(0).tolist() == []
    assert randomness.permutation(0).tolist() == []


@pytest.mark.parametrize("room", ["methods", "publish"])
def test_what_makes_a_release_draws_from_no_seed(room: str) -> None:
    for path in (PACKAGE / room).rglob("*.py"):
        names = {
            node.attr
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Attribute)
        }
        assert not names & {"PCG64", "default_rng", "RandomState"}, path.name


def test_numbers_below_a_bound_are_equally_likely(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys that stand for whole rounds of the bound give each number equally often."""
    end = 2**64 - 2  # 2^64 mod 7 is 2
    given = np.arange(end - 7 * 30, end, dtype=np.uint64)
    monkeypatch.setattr(randomness, "_bytes", lambda many: given.tobytes()[:many])
    drawn = randomness.below(7, len(given))
    assert np.bincount(drawn).tolist() == [30] * 7


def test_a_key_of_the_last_round_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """2^64 mod 5 is 1: the last key of all would make 0 likelier than the others."""
    told = iter([[2**64 - 1, 7, 2**64 - 1], [2**64 - 1, 9], [13]])
    monkeypatch.setattr(
        randomness, "_bytes", lambda _many: np.array(next(told), dtype=np.uint64).tobytes()
    )
    assert randomness.below(5, 3).tolist() == [3, 2, 4]
