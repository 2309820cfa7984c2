"""Nobody who has read the code finds out who of a group holds which of its values."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter, defaultdict
from typing import Any

import numpy as np
import polars as pl
import pytest
from anatomy_attackers import Claims, Published, by_no_cut, by_order, by_rank, by_redoing, publish

from incrowd._runtime import randomness
from incrowd.methods.anatomize._assignment import deal_different, numbered_by

RECORDS = 2_000
DISEASES = [f"d{i}" for i in range(8)]


@pytest.fixture(autouse=True)
def drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws that no attacker knows, but that are those of the last time the test was run."""
    monkeypatch.setattr(randomness, "_bytes", np.random.default_rng(5).bytes)


def people(kind: str) -> pl.DataFrame:
    """Records with quasi-identifiers that repeat, that hardly do, or that go with the disease."""
    draw = random.Random(kind)
    ages = [draw.randint(20, 90) for _ in range(RECORDS)]
    ill = draw.choices(DISEASES, [1 / (i + 4) for i in range(8)], k=RECORDS)
    if kind == "related":
        ill = [f"d{a // 12}" if draw.random() < 0.3 else i for a, i in zip(ages, ill, strict=True)]
    born = [
        f"{1930 + draw.randint(0, 70)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
        for _ in range(RECORDS)
    ]
    return pl.DataFrame(
        {
            **({"born": born} if kind == "unique" else {"age": ages}),
            "zip": [draw.choice("abcdefgh") for _ in range(RECORDS)],
            "ill": ill,
            "drug": draw.choices("rstuvwxyz", k=RECORDS),
            "number": range(RECORDS),
        }
    )


def asked(frame: pl.DataFrame, privacy: dict[str, Any], **more: Any) -> dict[str, Any]:
    roles = {"ill": "sensitive", "drug": "sensitive", "number": "keep"}
    return {
        "attributes": {name: roles.get(name, "quasi") for name in frame.columns},
        "privacy": [privacy],
        "publish": "anatomy",
        **more,
    }


def refuse_better_than_guessing(published: Published, claims: Claims) -> None:
    """Four standard deviations of as many draws from the groups are allowed."""
    chance = published.guessing()
    error = math.sqrt(chance * (1 - chance) / max(len(claims), 1))
    assert published.right(claims) <= chance + 4 * error


CASES = [
    ("repeated", "similar", "anatomy"),
    ("repeated", "blind", "lossy-join"),
    ("unique", "similar", "anatomy"),
    ("unique", "blind", "anatomy"),
    ("related", "similar", "lossy-join"),
]


@pytest.mark.parametrize(("kind", "grouping", "layout"), CASES)
def test_one_attribute(kind: str, grouping: str, layout: str) -> None:
    frame = people(kind).drop("drug")
    model = {"l-diversity": {"l": 4, "kind": "frequency", "sensitive": "ill"}}
    method = {"name": "anatomize", "grouping": grouping}
    published = publish(frame, asked(frame, model, method=method, publish=layout), "ill")
    assert 0.2 < published.guessing() <= 0.25
    refuse_better_than_guessing(published, by_order(published))
    again, same = by_redoing(published)
    assert same < 0.02
    refuse_better_than_guessing(published, again)
    if kind != "related":  # else half of the truth tells that diseases go with age, of all people
        refuse_better_than_guessing(published, by_rank(published))


@pytest.mark.parametrize("attribute", ["ill", "drug"])
@pytest.mark.parametrize(
    ("kind", "grouping"), [("repeated", "similar"), ("unique", "similar"), ("repeated", "blind")]
)
def test_several_attributes(kind: str, grouping: str, attribute: str) -> None:
    frame = people(kind)
    model = {"multi-sensitive": {"k": 4, "l": 4, "sensitive": ["ill", "drug"]}}
    method = {"name": "anatomize", "grouping": grouping}
    published = publish(frame, asked(frame, model, method=method), attribute)
    refuse_better_than_guessing(published, by_rank(published))


def test_a_neighbourhood_that_was_not_cut_proves_nothing() -> None:
    draw = random.Random(3)
    model = {"l-diversity": {"l": 2, "kind": "frequency", "sensitive": "ill"}}
    right = claimed = 0
    for _ in range(100):
        ill = draw.sample([*"aaaaaabbbbbbcccc"], 16)
        frame = pl.DataFrame({"age": range(16), "ill": ill, "number": range(16)})
        published = publish(frame, asked(frame, model, method="anatomize"), "ill")
        claims = by_no_cut(published)
        claimed += len(claims)
        right += sum(published.truth[r] == value for r, value in claims.items())
    assert claimed > 30  # there were some to make, or the test would show nothing
    assert right <= 0.5 * claimed + 4 * math.sqrt(0.25 * claimed)


@pytest.mark.parametrize("place", [[0, 1, 2, 3, 4], [0, 0, 1, 1, 1]])
def test_every_way_to_hand_values_round_is_as_likely(place: list[int]) -> None:
    """All arrangements of five records' values that a release leaves led to it equally often."""
    draw, rows = np.random.default_rng(3), np.array(place)
    seen: dict[tuple[Any, ...], Counter[tuple[int, ...]]] = defaultdict(Counter)
    for _ in range(4_000):
        value = draw.permutation([0, 0, 1, 1, 2])
        group = numbered_by(rows, deal_different(np.zeros(5, dtype=np.int64), value, 2))
        held = tuple(tuple(sorted(value[group == g].tolist())) for g in range(2))
        seen[*group.tolist(), held][tuple(value.tolist())] += 1
    off = degrees = 0.0
    for (*_, held), found in seen.items():
        ways = math.prod(len(set(itertools.permutations(each))) for each in held)
        expected = found.total() / ways
        off += sum((times - expected) ** 2 / expected for times in found.values())
        off += (ways - len(found)) * expected
        degrees += ways - 1
        assert set(Counter(group).values()) == {2, 3}
    assert off <= degrees + 4 * math.sqrt(2 * degrees)


def test_groups_of_equal_rows_are_not_numbered_in_the_order_of_the_source() -> None:
    """All orders of 64 are equally likely, so that of the source does not come up."""
    numbers = numbered_by(np.zeros(64, dtype=np.int64), np.arange(64))
    assert sorted(numbers.tolist()) == list(range(64))
    assert numbers.tolist() != list(range(64))
