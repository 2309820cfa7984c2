"""LKC-privacy, and the walk over combinations that judges it, against every subset there is."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import combinations_reference as reference
import numpy as np
import polars as pl
import pytest
from combinations_reference import Choice, Person, Promise

from incrowd.errors import ParameterError
from incrowd.privacy import LKC, AlphaK, ConfidenceBounding, KAnonymity, Measurement
from incrowd.privacy.counting import combinations as walk
from incrowd.privacy.counting.combinations import CrowdRows, bad_positions, first_violation, weakest

SHARES = (0.2, 0.25, 1 / 3, 0.5, 2 / 3, 0.75, 1.0)
ILLS = ("flu", "hiv", "ulcer", None)
Table = list[dict[str, str | None]]


def some_table(draw: random.Random) -> Table:
    """Up to 24 records of up to 5 attributes, some of a single label, some cells missing."""
    labels = [
        draw.choice((["x"], [None], ["a", "b"], ["a", None], ["a", "b", "c", None]))
        for _ in range(draw.randint(1, 5))
    ]
    often = draw.choice((ILLS[:1], ILLS[:2], ILLS, (*ILLS, "flu", "flu")))
    return [
        {
            **{f"q{a}": draw.choice(shown) for a, shown in enumerate(labels)},
            "ill": draw.choice(often),
        }
        for _ in range(draw.choice((1, 2, 5, 12, 24)))
    ]


def quasi_of(table: Table) -> list[str]:
    return [name for name in table[0] if name != "ill"]


def people_of(table: Table) -> list[Person]:
    return [Person(tuple(row[n] for n in quasi_of(table)), row["ill"]) for row in table]


def check(model: Any, table: Table) -> Measurement:
    frame = pl.DataFrame(table, schema=dict.fromkeys(table[0], pl.String))
    found = model.check(frame, quasi=quasi_of(table))
    assert isinstance(found, Measurement)
    return found


def listed(draw: random.Random, table: Table) -> list[str] | None:
    present = sorted({row["ill"] for row in table if row["ill"] is not None})
    if not present or draw.random() < 0.4:
        return None
    return draw.sample(present, draw.randint(1, len(present)))


@pytest.mark.parametrize("part", range(8))
def test_lkc_is_what_every_subset_shows(part: int) -> None:
    for seed in range(part * 75, (part + 1) * 75):
        draw = random.Random(seed)
        table = some_table(draw)
        known, k = draw.randint(1, 7), draw.randint(1, 4)
        sensitive = draw.random() < 0.75
        most = draw.choice(SHARES) if sensitive else 1.0
        values = listed(draw, table) if sensitive else None
        model = LKC(L=known, K=k, C=most, sensitive="ill" if sensitive else None, values=values)
        agrees(check(model, table), table, known, Promise(k, most, values), sensitive)


def agrees(found: Measurement, table: Table, known: int, promise: Promise, sensitive: bool) -> None:
    people = people_of(table)
    attributes = reference.varied(people)
    crowds = [
        crowd
        for choice in reference.choices(attributes, known)
        for crowd in reference.crowds(people, choice)
    ]
    assert found.numbers["K"] == min(map(len, crowds))
    assert found.failing == sum(map(promise.broken_by, crowds))
    # Smaller and unvaried combinations add nothing to this, though they count in the definition.
    assert found.holds == reference.is_private(people, known, promise)
    assert named(found.causes["K"], table, known, attributes) == {found.numbers["K"]}
    assert set(found.numbers) == set(found.causes) == ({"K", "C"} if sensitive else {"K"})
    if sensitive:
        surest = max(reference.confidence(crowd, promise.values) for crowd in crowds)
        assert found.numbers["C"] == pytest.approx(float(surest), rel=1e-12)
        blamed = matching(found.causes["C"], table)
        named(found.causes["C"], table, known, attributes)
        assert reference.confidence(blamed, promise.values) == surest


def named(cause: Any, table: Table, known: int, attributes: list[int]) -> set[int]:
    """The size of the crowd that a cause names; of as many attributes as count."""
    assert len(cause) == min(known, len(attributes))
    assert set(cause) <= {quasi_of(table)[a] for a in attributes}
    return {len(matching(cause, table))}


def matching(cause: Any, table: Table) -> list[Person]:
    people = zip(people_of(table), table, strict=True)
    return [person for person, row in people if all(row[n] == c for n, c in cause.items())]


@pytest.mark.parametrize("seed", range(60))
def test_special_cases_are_their_own_models(seed: int) -> None:
    draw = random.Random(seed)
    table = some_table(draw)
    known = len(quasi_of(table)) + draw.randint(0, 2)
    k, most, values = draw.randint(2, 4), draw.choice(SHARES), listed(draw, table)
    about: dict[str, Any] = {"sensitive": "ill", "values": values}
    same(LKC(L=known, K=k), {"K": "k"}, KAnonymity(k=k), table)
    same(LKC(L=known, K=1, C=most, **about), {"C": "C"}, ConfidenceBounding(C=most, **about), table)
    both = AlphaK(alpha=most, k=k, **about)
    same(LKC(L=known, K=k, C=most, **about), {"K": "k", "C": "alpha"}, both, table)


def same(model: LKC, names: dict[str, str], other: Any, table: Table) -> None:
    found, expected = check(model, table), check(other, table)
    assert (found.holds, found.failing) == (expected.holds, expected.failing)
    for name, its_name in names.items():
        assert found.numbers[name] == pytest.approx(expected.numbers[its_name], rel=1e-12)


def test_more_knowledge_never_finds_more_records() -> None:
    for seed in range(60):
        table = some_table(random.Random(seed))
        models = [LKC(L=known, K=2, C=0.5, sensitive="ill") for known in range(1, 7)]
        measured = [check(model, table) for model in models]
        sizes = [each.numbers["K"] for each in measured]
        sure = [each.numbers["C"] for each in measured]
        assert sizes == sorted(sizes, reverse=True)
        assert sure == sorted(sure)


def test_the_person_who_is_found_is_named() -> None:
    table: Table = [
        {"job": "Mover", "age": "34", "ill": "a"},
        {"job": "Mover", "age": "58", "ill": "b"},
        {"job": "Lawyer", "age": "34", "ill": "c"},
        {"job": "Lawyer", "age": "34", "ill": "c"},
    ]
    frame = pl.DataFrame(table)
    found = LKC(L=2, K=2, C=0.5, sensitive="ill").check(frame, quasi=["job", "age"])
    assert found.numbers == {"K": 1, "C": 1.0}
    assert found.failing == 3  # <Mover, 34>, <Mover, 58>, and <Lawyer, 34> for its confidence
    assert found.causes["K"] == {"job": "Mover", "age": "34"}
    one = LKC(L=1, K=2, C=0.5, sensitive="ill").check(frame, quasi=["job", "age"])
    assert one.numbers == {"K": 1, "C": 1.0}
    assert one.failing == 3  # <58>, <Lawyer> and <34> (2 of 3)
    assert one.causes["K"] == {"age": "58"}


# --- the walk itself


def some_people(draw: random.Random) -> tuple[list[Person], int]:
    """Weighed people: agreeing ones are one row. Returns them, and how many values they hold."""
    widest = draw.choice((2, 2, 4))
    spans = [draw.randint(1, widest) for _ in range(draw.randint(1, 6))]
    protected = draw.choice((0, 1, 3))
    rows = draw.choice((1, 3, 8, 25, 60))
    bases = draw.randint(1, min(3, rows))
    people = [
        Person(
            tuple(str(draw.randrange(span)) for span in spans),
            draw.randint(0, protected),
            base if base < bases else draw.randrange(bases),
            draw.randint(3, 9),
        )
        for base in range(rows)
    ]
    return [person for person in people for _ in range(draw.randint(1, 3))], protected


def rows_of(people: Sequence[Person], protected: int) -> tuple[CrowdRows, list[Person]]:
    """The same people as rows, in ascending order of their codes, and a person of each row."""
    distinct = sorted(set(people), key=lambda person: person.code)
    values = [[int(str(label)) for label in person.shows] for person in distinct]
    return CrowdRows(
        np.array(values, np.int32),
        np.array(values, np.int64).max(axis=0) + 1,
        np.array([person.base for person in distinct], np.int32),
        max(person.base for person in distinct) + 1,
        np.array([people.count(person) for person in distinct], np.int64),
        np.array([person.holds for person in distinct], np.int32),
        protected,
    ), distinct


def broken(people: Sequence[Person], known: int, promise: Promise) -> list[Choice]:
    choices = reference.choices(range(len(people[0].shows)), known)
    return [c for c in choices if any(map(promise.broken_by, reference.crowds(people, c)))]


def some_promise(draw: random.Random, people: list[Person], known: int, protected: int) -> Promise:
    """Any bounds, or such as only the weakest crowds of all break, if any does."""
    values = range(protected)
    if draw.random() < 0.3:
        return Promise(draw.randint(1, 4), draw.choice(SHARES), values)
    choices = reference.choices(range(len(people[0].shows)), known)
    crowds = [crowd for choice in choices for crowd in reference.crowds(people, choice)]
    surest = float(max(reference.confidence(crowd, values) for crowd in crowds))
    most = surest - draw.choice((0, 0, 1e-4)) if surest else 1.0
    return Promise(min(map(len, crowds)) + draw.choice((0, 0, 1)), most, values)


@pytest.fixture(params=["direct", "hashed"], autouse=True)
def cells(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test with direct tables of cells, and with hash tables in their place."""
    if request.param == "hashed":
        monkeypatch.setattr(walk, "_FEW_CELLS", 0)
        monkeypatch.setattr(walk, "_CELLS_PER_ROW", 0)


@pytest.mark.parametrize("at_once", [1, 3, 4_096])
def test_a_violation_is_found_wherever_there_is_one(at_once: int) -> None:
    outcomes = set()
    for seed in range(200):
        draw = random.Random(seed)
        people, protected = some_people(draw)
        known = draw.randint(0, len(people[0].shows) + 1)
        promise = some_promise(draw, people, known, protected)
        rows, _ = rows_of(people, protected)
        bad = broken(people, known, promise)
        with patch.object(walk, "_CHOICES_AT_ONCE", at_once):
            found = first_violation(rows, known, promise.K, promise.C)
            assert found in bad if bad else found is None
            # Any choice may be the one to try first: it is taken if it fails, else another one.
            for hint in reference.choices(range(len(people[0].shows)), known):
                hinted = first_violation(rows, known, promise.K, promise.C, hint)
                assert hinted == hint if hint in bad else (hinted in bad or hinted is found is None)
            outside = first_violation(rows, known, promise.K, promise.C, tuple(range(known + 1)))
            assert outside in bad if bad else outside is None
        outcomes.add((min(len(bad), 2), known == 0, protected > 0))
    assert len(outcomes) == 10  # none, one (the only one if nothing is known), or several bad


@pytest.mark.parametrize("at_once", [1, 3, 4_096])
@pytest.mark.parametrize("attributes", range(1, 7))
def test_the_only_bad_choice_is_found_wherever_it_is(attributes: int, at_once: int) -> None:
    """All combinations of bits occur equally often under every choice but one.

    Small: where the bits of that choice are odd, one record. Sure: they tell what a record holds.
    """
    everyone = list(itertools.product("01", repeat=attributes))
    for known in range(1, attributes + 1):
        for only in itertools.combinations(range(attributes), known):
            odd = {shows: sum(shows[a] == "1" for a in only) % 2 for shows in everyone}
            small = [Person(shows, 0) for shows in everyone for _ in range(2) if not odd[shows]]
            small.append(Person(next(shows for shows in everyone if odd[shows]), 0))
            sure = [Person(shows, odd[shows]) for shows in everyone]
            with patch.object(walk, "_CHOICES_AT_ONCE", at_once):
                assert first_violation(rows_of(small, 0)[0], known, 2, 1.0) == only
                found = weakest(rows_of(small, 0)[0], known, 2, 1.0)
                assert (found.smallest, found.smallest_choice, found.failing) == (1, only, 1)
                assert first_violation(rows_of(sure, 2)[0], known, 1, 0.6) == only
                found = weakest(rows_of(sure, 2)[0], known, 1, 0.6)
                assert (found.surest, found.surest_choice, found.failing) == (1, only, 2**known)


@pytest.mark.parametrize("at_once", [1, 3, 4_096])
def test_the_weakest_crowds_are_the_weakest_of_all(at_once: int) -> None:
    for seed in range(200):
        draw = random.Random(seed)
        people, protected = some_people(draw)
        known = draw.randint(0, len(people[0].shows) + 1)
        promise = some_promise(draw, people, known, protected)
        rows, distinct = rows_of(people, protected)
        with patch.object(walk, "_CHOICES_AT_ONCE", at_once):
            found = weakest(rows, known, promise.K, promise.C)
        choices = reference.choices(range(len(people[0].shows)), known)
        crowds = [crowd for choice in choices for crowd in reference.crowds(people, choice)]
        assert found.failing == sum(map(promise.broken_by, crowds))
        assert found.smallest == min(map(len, crowds))
        surest = max(reference.confidence(crowd, promise.values) for crowd in crowds)
        assert found.surest == pytest.approx(float(surest), rel=1e-12)
        small = crowd_of(distinct[found.smallest_row], people, found.smallest_choice)
        assert (found.smallest_choice in choices, len(small)) == (True, found.smallest)
        sure = crowd_of(distinct[found.surest_row], people, found.surest_choice)
        assert found.surest_choice in choices
        assert reference.confidence(sure, promise.values) == surest


def crowd_of(person: Person, people: Sequence[Person], choice: Choice) -> list[Person]:
    (crowd,) = [each for each in reference.crowds(people, choice) if person in each]
    return crowd


def test_bad_cuts_are_those_that_leave_a_bad_crowd_on_a_side() -> None:
    seen = set()
    for seed in range(400):
        draw = random.Random(seed)
        people, protected = some_people(draw)
        promise = Promise(draw.randint(1, 4), draw.choice(SHARES), range(protected))
        rows, distinct = rows_of(people, protected)
        codes = np.array([person.code for person in distinct], np.int64)
        # The interval may reach beyond the codes that occur.
        low = int(codes.min()) - draw.randint(0, 2)
        high = int(codes.max()) + draw.randint(0, 2)
        attributes = range(len(people[0].shows))
        for known in range(len(attributes) + 1):
            for choice in itertools.combinations(attributes, known):
                found = bad_positions(rows, codes, choice, promise.K, promise.C, low, high)
                expected = reference.bad_cuts(people, choice, promise, low, high)
                assert found.tolist() == expected
                seen.add((any(expected), all(expected)))
    assert seen == {(False, True), (False, False), (True, False), (True, True)}


# --- what is refused


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"L": 2, "K": 2, "C": 0.5}, "a C below 1 and `values:` need `sensitive:`"),
        ({"L": 2, "K": 2, "values": ["hiv"]}, "a C below 1 and `values:` need `sensitive:`"),
        ({"L": 0, "K": 2}, "L must be a whole number of at least 1, got 0"),
        ({"L": 2.5, "K": 2}, "L must be a whole number"),
        ({"L": 2, "K": 0}, "K must be a whole number of at least 1, got 0"),
        ({"L": 2}, "'K' is missing"),
        ({"K": 2}, "'L' is missing"),
        ({"L": 2, "K": 2, "C": 0.0, "sensitive": "ill"}, "C must be a number above 0"),
        ({"L": 2, "K": 2, "C": 1.5, "sensitive": "ill"}, "C must be a number"),
        ({"L": 2, "k": 2}, "unknown key 'k'. Did you mean 'K'?"),
    ],
)
def test_mistakes_are_refused_with_what_is_legal(parameters: dict[str, Any], told: str) -> None:
    with pytest.raises(ParameterError) as caught:
        LKC(**parameters)
    assert str(caught.value).startswith("lkc: ")
    assert told in str(caught.value)


def test_a_listed_value_must_occur() -> None:
    table: Table = [{"q0": "a", "ill": "flu"}, {"q0": "a", "ill": None}]
    model = LKC(L=1, K=1, C=0.5, sensitive="ill", values=["flu", "hvi"])
    with pytest.raises(ParameterError, match=r"^lkc: 1 of the values listed for 'ill'.*'hvi'"):
        check(model, table)


def test_columns_of_very_many_values_need_room_for_their_rows_only() -> None:
    rows = 20_000
    frame = pl.DataFrame(
        {
            "cost": range(rows),
            "weight": [7 * row % rows for row in range(rows)],
            "ill": [f"d{row % 15}" for row in range(rows)],
        }
    )
    found = LKC(L=2, K=2, C=0.5, sensitive="ill").check(frame, quasi=["cost", "weight"])
    assert found.numbers == {"K": 1, "C": 1.0}
    assert found.failing == rows
