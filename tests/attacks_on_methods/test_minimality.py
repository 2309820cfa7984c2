"""Minimality: what an attacker learns who reruns the method, and what resists him."""

from __future__ import annotations

import random
from typing import Any

import pytest
from enumerating_attacker import attack, people, policy_of

from incrowd._runtime import randomness

BOUND = 0.5
LEAKING = (18, 28, 29)
"""Tables of which plain Mondrian tells who is sick."""


@pytest.fixture(autouse=True)
def _same_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(randomness, "_bytes", random.Random(1).randbytes)


@pytest.mark.parametrize("seed", LEAKING)
def test_who_reruns_mondrian_is_certain_and_right(seed: int) -> None:
    """What the tool is for; were this to hold no more, the pages of the methods would be wrong."""
    found = attack(people(seed), policy_of("mondrian"))
    assert found.surer_than(BOUND)
    assert found.certain()
    assert all(found.certain())


@pytest.mark.parametrize("seed", LEAKING)
def test_who_reruns_a_method_that_resists_stays_below_the_bound(seed: int) -> None:
    found = attack(people(seed), policy_of({"name": "mondrian", "resist": "minimality"}))
    assert not found.surer_than(BOUND)


@pytest.mark.parametrize("options", [{}, {"labels": "hierarchy"}, {"split": "median"}])
@pytest.mark.parametrize("seed", LEAKING)
def test_all_tables_behind_a_release_make_it_where_that_is_proven(
    seed: int, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So nothing can be ruled out: the shares in the groups are all there is to know."""
    monkeypatch.setattr("enumerating_attacker.MOST_TABLES", 60)
    method = {"name": "mondrian", "resist": "minimality-proven", **options}
    found = attack(people(seed), policy_of(method), seed)
    assert found.tables > 1, "there is another table behind the release"
    assert found.left == found.tried
