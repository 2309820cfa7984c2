"""An attacker who has read the code and knows whose half of the pseudonyms are guesses the others.

Published are patients with several rows, in one file or in linked tables. Known besides are all
exact quasi-identifiers, the order of the source, and the true identity of every second pseudonym.
Inside a group each way of pairing the others with people must be as good as chance, which is one
right pair a group, and no better. Ways are tried on releases that they would break, too.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd
from incrowd._runtime import randomness

PATIENTS = 1200
AGES, ZIPS = range(20, 80), range(100, 112)
Person = tuple[str, int, str]
"""An identifier, an age and a zip code; the place in a list of people is that in the source."""


def register(seed: int, patients: int = PATIENTS) -> list[Person]:
    draw = random.Random(seed)
    names = draw.sample(range(10**6), patients)
    return [
        (f"n{name:06}", draw.choice(AGES), str(draw.choice(ZIPS))) for name in names
    ]  # fmt: skip


@dataclass(frozen=True)
class Seen:
    """What is published of one pseudonym, and where its rows stand."""

    name: str
    labels: tuple[str, ...]
    token: str
    """A value that only this person has: it tells the truth to the test, and nothing before."""
    places: tuple[int, ...]
    """The first row in each table of events; behind all rows where there is none."""
    rows: tuple[int, ...]
    """How many rows there are in each."""
    codes: tuple[str, ...]


@dataclass(frozen=True)
class Release:
    """The published pseudonyms, and whose each is."""

    seen: list[Seen]
    truth: dict[str, int]
    """The place in the source of the person behind each pseudonym."""
    people: list[Person]


def events(people: Sequence[Person], seed: int) -> list[tuple[str, str, str]]:
    """Rows of identifier, token and code; the token is random, and the person's alone."""
    draw = random.Random(seed)
    tokens = draw.sample(range(10**6), len(people))
    found = []
    for (name, *_), token in zip(people, tokens, strict=True):
        many = draw.choice((1, 1, 2, 4, 9))
        found += [(name, f"t{token:06}", draw.choice("abcde")) for _ in range(many)]
    return found


def released(shape: str, key: Path | None, people: list[Person]) -> Release:
    """A release in one file, made in memory or on disk, or in linked tables."""
    diagnoses, drugs = events(people, 1), events(people, 2)
    drugs = [each for each in drugs if each[2] != "a"]  # some people have none
    own: dict[str, Any] = {
        "age": {"role": "quasi", "type": "numeric"},
        "zip": {"role": "quasi", "type": "category"},
    }
    more: dict[str, Any] = {"privacy": [{"k-anonymity": {"k": 5}}]}
    columns = ["id", "token", "code"]
    if shape == "linked":
        tables = {
            "patients": pl.DataFrame(people, ["id", "age", "zip"], orient="row"),
            "diagnoses": pl.DataFrame(diagnoses, columns, orient="row"),
            "drugs": pl.DataFrame(drugs, columns, orient="row").drop("token"),
        }
        sensitive = {"unit": "id", "attributes": {"token": "sensitive", "code": "sensitive"}}
        policy = {
            "patients": {"key": "id", "attributes": own},
            "tables": {
                "diagnoses": sensitive,
                "drugs": {"unit": "id", "attributes": {"code": "sensitive"}},
            },
            **more,
        }
        release = incrowd.anonymize(tables, policy, key=key)
        return understood(release.tables, people, diagnoses)
    of = {each[0]: each for each in people}
    rows = [(*of[name], token, code) for name, token, code in diagnoses]
    frame = pl.DataFrame(rows, ["id", "age", "zip", "token", "code"], orient="row")
    varying = {"role": "sensitive", "level": "event"}
    policy = {
        "unit": "id",
        "engine": "duckdb" if shape == "on disk" else "memory",
        "attributes": {"id": "identifier", **own, "token": varying, "code": varying},
        **more,
    }
    data = incrowd.anonymize(frame, policy, key=key).data
    own_columns = data.select("patient", "age", "zip").unique()
    given = {"patients": own_columns, "diagnoses": data.select("patient", "token", "code")}
    return understood(given, people, diagnoses)


def understood(
    tables: dict[str, pl.DataFrame], people: list[Person], diagnoses: list[tuple[str, str, str]]
) -> Release:
    """What an attacker reads out of published tables, and the truth by the tokens."""
    place = {name: at for at, (name, *_) in enumerate(people)}
    whose = {token: place[name] for name, token, _ in diagnoses}
    first: dict[str, dict[str, int]] = defaultdict(dict)
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    token: dict[str, str] = {}
    codes: dict[str, list[str]] = defaultdict(list)
    several = [name for name in tables if name != "patients"]
    for table in several:
        shown = tables[table]
        for at, who in enumerate(map(str, shown["patient"].to_list())):
            first[table].setdefault(who, at)
            rows[table][who] += 1
        if "token" in shown.columns:
            for who, each, code in shown.select("patient", "token", "code").rows():
                token[str(who)] = each
                codes[str(who)].append(code)
    seen = [
        Seen(
            str(who), tuple(labels), token[str(who)],
            tuple(first[table].get(str(who), 10**9) for table in several),
            tuple(rows[table][str(who)] for table in several),
            tuple(sorted(codes[str(who)])),
        )
        for who, *labels in tables["patients"].select("patient", "age", "zip").rows()
    ]  # fmt: skip
    return Release(seen, {each.name: whose[each.token] for each in seen}, people)


# Ways of putting the pseudonyms of a group in an order, and its people: pairs are guesses

PSEUDONYMS: dict[str, Callable[[Seen], Any]] = {
    "number": lambda each: (len(each.name), each.name),
    "text": lambda each: each.name,
    "place in the first table": lambda each: each.places[0],
    "place in the last table": lambda each: each.places[-1],
    "difference between the tables": lambda each: (
        *(many > 0 for many in each.rows), each.rows[0] - each.rows[-1], each.rows,
    ),
    "codes": lambda each: each.codes,
}  # fmt: skip
PEOPLE: dict[str, Callable[[tuple[int, Person]], Any]] = {
    "order of the source": lambda each: each[0],
    "identifier": lambda each: each[1][0],
    "age": lambda each: each[1][1:],
}


def groups_of(release: Release) -> list[tuple[list[Seen], list[int]]]:
    """Of each group the pseudonyms that are not known, and the places of their people, mixed."""
    found: dict[tuple[str, ...], list[Seen]] = defaultdict(list)
    known = {each.name for each in release.seen if release.truth[each.name] % 2}
    for each in release.seen:
        found[each.labels].append(each)
    groups = [[each for each in group if each.name not in known] for group in found.values()]
    return [
        (group, sorted(release.truth[each.name] for each in group)) for group in groups if group
    ]


def right_pairs(
    release: Release, groups: list[tuple[list[Seen], list[int]]], one: str, other: str
) -> int:
    """How many pairs are right where both sides are in an order."""
    right = 0
    for group, people in groups:
        names = [each.name for each in sorted(group, key=PSEUDONYMS[one])]
        asked = sorted(((at, release.people[at]) for at in people), key=PEOPLE[other])
        right += sum(release.truth[name] == at for name, (at, _) in zip(names, asked, strict=True))
    return right


def as_their_neighbours(release: Release, groups: list[tuple[list[Seen], list[int]]]) -> int:
    """How many are right if who follows a known person in the source has the next pseudonym."""
    known = {at: name for name, at in release.truth.items() if at % 2}
    order = {
        each.name: at for at, each in enumerate(sorted(release.seen, key=PSEUDONYMS["number"]))
    }
    right = 0
    for group, people in groups:
        for at in people:
            before = order[known[at - 1 if at else 1]]
            guess = min(group, key=lambda each: (order[each.name] - before - 1) % len(order))
            right += release.truth[guess.name] == at
    return right


def guesses(release: Release) -> tuple[dict[str, int], int, int]:
    """The right pairs by each way, how many groups there are, and how many pairs in all."""
    groups = groups_of(release)
    found = {
        f"{one}, {other}": right_pairs(release, groups, one, other)
        for one in PSEUDONYMS
        for other in PEOPLE
    }
    found["neighbours"] = as_their_neighbours(release, groups)
    return found, len(groups), sum(len(group) for group, _ in groups)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the operating system draws, and the same in every run."""
    monkeypatch.setattr(randomness, "_bytes", np.random.default_rng(5).bytes)


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "a.key"
    path.write_bytes(np.random.default_rng(3).bytes(32))
    path.chmod(0o600)
    return path


@pytest.mark.parametrize(
    ("shape", "keyed"),
    [
        ("one file", False),
        ("one file", True),
        ("on disk", False),
        ("linked", False),
        ("linked", True),
    ],
)
def test_whose_a_pseudonym_is_is_guessed_no_better_than_by_chance(
    shape: str, keyed: bool, drawn: None, key: Path
) -> None:
    release = released(shape, key if keyed else None, register(4))
    found, groups, pairs = guesses(release)
    assert len(release.truth) == PATIENTS
    assert groups > 100
    assert pairs > 2 * groups
    for way, right in found.items():
        assert right < groups + 5 * sqrt(groups), f"{way}: {right} of {pairs}, by chance {groups}"


def test_pseudonyms_that_are_no_draw_are_found() -> None:
    """The same guesses are right where numbers follow the source, or a hash of the identifier."""
    people = register(4)
    diagnoses = events(people, 1)
    names = sorted(name for name, *_ in people)
    rank = {name: at for at, name in enumerate(names)}
    numbers: list[Callable[[int], int]] = [lambda at: at, lambda at: rank[people[at][0]]]
    for number, way in zip(numbers, ("number, order of the source", "number, identifier"),
                           strict=True):  # fmt: skip
        place = {name: at for at, (name, *_) in enumerate(people)}
        own = [(number(at), str(age // 10), zip_[:2]) for at, (_, age, zip_) in enumerate(people)]
        rows = [(number(place[name]), token, code) for name, token, code in diagnoses]
        tables = {
            "patients": pl.DataFrame(own, ["patient", "age", "zip"], orient="row"),
            "diagnoses": pl.DataFrame(rows, ["patient", "token", "code"], orient="row"),
        }
        found, _, pairs = guesses(understood(tables, people, diagnoses))
        assert found[way] == pairs
