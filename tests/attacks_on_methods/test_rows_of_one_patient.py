"""An attacker reads all rows of a pseudonym together, and guesses which rows of many are left.

Rows of one pseudonym show the same labels, so intersecting them leaves whom one row leaves: at
least k people. Which rows `most-events` leaves is drawn: no place, value or other table tells.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import sqrt
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd
from incrowd._runtime import randomness
from incrowd.methods import METHOD_OPTIONS

METHODS = [
    name for name, each in METHOD_OPTIONS.items() if each.generalizes and not each.knows_events
]
AGES, ZIPS = range(20, 80), range(100, 112)
Person = tuple[str, int, str]
"""An identifier, an age and a zip code."""


def covers(label: str, value: object) -> bool:
    """Whether a label stands for a value: the value, `*`, a set or a half-open range of numbers."""
    if label == "*" or label == str(value):
        return True
    if label.startswith("{"):
        return str(value) in label[1:-1].split("|")
    if label.startswith("["):
        low, high = label[1:-1].split("-")
        return int(low) <= int(str(value)) < int(high)
    return False


def candidates(labels: Sequence[tuple[str, str]], people: Sequence[Person]) -> int:
    """How many people of the register all of these labels may be of."""
    return sum(
        all(covers(age, own) and covers(zip_, code) for age, zip_ in labels)
        for _, own, code in people
    )


@pytest.mark.parametrize("method", METHODS)
def test_all_rows_of_a_pseudonym_together_tell_what_one_of_them_tells(method: str) -> None:
    draw = random.Random(7)
    people = [(f"p{n}", draw.choice(AGES), str(draw.choice(ZIPS))) for n in range(200)]
    many = [draw.choice((1, 1, 2, 4, 9)) for _ in people]
    rows = [(*each, draw.choice("abcde")) for each, n in zip(people, many, strict=True)
            for _ in range(n)]  # fmt: skip
    frame = pl.DataFrame(rows, ["id", "age", "zip", "code"], orient="row")
    policy = {
        "unit": "id",
        "method": method,
        "attributes": {
            "id": "identifier",
            "age": {"role": "quasi", "type": "numeric",
                    "hierarchy": {"intervals": {"start": 20, "stop": 80, "widths": [10, 30]}}},
            "zip": {"role": "quasi", "type": "category"},
            "code": {"role": "sensitive", "level": "event"},
        },
        "privacy": [{"k-anonymity": {"k": 4}}],
    }  # fmt: skip
    data = incrowd.anonymize(frame, policy).data
    shown = data.group_by("patient").agg(pl.struct("age", "zip").alias("rows"), pl.len())
    assert shown.height == 200
    assert shown["len"].max() == 9
    for _, labels, _ in shown.rows():
        each = [(row["age"], row["zip"]) for row in labels]
        assert candidates(each, people) == candidates(each[:1], people) >= 4


def test_labels_that_differ_would_be_intersected() -> None:
    people = [("a", 30, "100"), ("b", 35, "100"), ("c", 36, "101"), ("d", 30, "102")]
    assert candidates([("[30-36)", "*")], people) == 3
    assert candidates([("[30-36)", "*"), ("*", "{100|101}")], people) == 2
    assert candidates([("[30-36)", "*"), ("[35-40)", "*")], people) == 1


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the operating system draws, and the same in every run."""
    monkeypatch.setattr(randomness, "_bytes", np.random.default_rng(5).bytes)


MANY, MOST = 20, 5
"""How many rows each patient has in each table, and how many are left."""


def left_of(shape: str, own: list[tuple[str, int]], rows: list[tuple[str, str, str]]) -> list[Any]:
    """The lines that are left of each table."""
    event = {"role": "sensitive", "level": "event"}
    more = {
        "privacy": [{"k-anonymity": {"k": 5}}],
        "most-events": MOST,
        "engine": "duckdb" if shape.endswith("on disk") else "memory",
    }
    policy: dict[str, Any]
    if shape.startswith("linked"):
        table = {"unit": "id", "attributes": {"line": "sensitive", "ill": "sensitive"}}
        policy = {
            "patients": {"key": "id", "attributes": {"age": "quasi"}},
            "tables": {"one": table, "two": table},
            **more,
        }
        events = pl.DataFrame(rows, ["id", "line", "ill"], orient="row")
        people = pl.DataFrame(own, ["id", "age"], orient="row")
        release = incrowd.anonymize({"patients": people, "one": events, "two": events}, policy)
        return [set(release.tables[name]["line"].to_list()) for name in ("one", "two")]
    policy = {
        "unit": "id",
        "attributes": {"id": "identifier", "age": "quasi", "line": event, "ill": event},
        **more,
    }
    ages = dict(own)
    flat = [(name, ages[name], line, ill) for name, line, ill in rows]
    frame = pl.DataFrame(flat, ["id", "age", "line", "ill"], orient="row")
    return [set(incrowd.anonymize(frame, policy).data["line"].to_list())]


@pytest.mark.parametrize("shape", ["one file", "on disk", "linked", "linked on disk"])
def test_which_rows_of_many_are_left_is_guessed_no_better_than_by_chance(
    shape: str, drawn: None
) -> None:
    """Of 20 rows five are left: by no place, no value, no neighbour, and no other table.

    The attacker knows all rows of all patients in their order, and of half of the patients which
    are left. A fourth of the others is left, whatever is looked at.
    """
    draw = random.Random(8)
    own = [(f"p{n:03}", n % 30) for n in range(600)]
    rows = [(name, f"{name}-{at:02}", draw.choice(("hiv", "flu", "flu", "flu")))
            for name, _ in own for at in range(MANY)]  # fmt: skip
    code = {line: ill for _, line, ill in rows}
    left = left_of(shape, own, rows)
    assert [len(each) for each in left] == [MOST * 600] * len(left)
    unknown, known = ([line for line in code if int(line[1:4]) % 2 == half] for half in (0, 1))
    ways = {f"place {at}": [x for x in unknown if int(x[5:]) == at] for at in range(MANY)}
    ways |= {ill: [x for x in unknown if code[x] == ill] for ill in ("hiv", "flu")}
    by_place = Counter(line[-2:] for line in known if line in left[0])
    best = {place for place, _ in by_place.most_common(MOST)}
    ways["places that were left of the known"] = [x for x in unknown if x[-2:] in best]
    ways["places of a known neighbour"] = [
        x for x in unknown if f"p{int(x[1:4]) + 1:03}{x[4:]}" in left[0]
    ]
    for other in left[1:]:
        ways["left in the other table"] = [x for x in unknown if x in other]
    share = MOST / MANY
    for way, guessed in ways.items():
        right = sum(line in left[0] for line in guessed)
        slack = 5 * sqrt(len(guessed) * share * (1 - share))
        assert abs(right - share * len(guessed)) < slack, f"{way}: {right} of {len(guessed)}"
    behind = [(a, b) for a, b in pairwise(code) if a[:4] == b[:4]]
    both = sum(a in left[0] and b in left[0] for a, b in behind)
    expected = len(behind) * share * (MOST - 1) / (MANY - 1)
    assert abs(both - expected) < 5 * sqrt(expected)
