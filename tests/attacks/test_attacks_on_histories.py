"""Attacks on releases of patients with several rows: whom they find, what all have in common."""

from __future__ import annotations

from itertools import chain

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histories_by_hand import Event, Person, release_of
from incrowd.attacks import eliminate, link, similarity
from incrowd.errors import InputError

AGES = {"30": [30], "[30-33)": [30, 31, 32], "[32-34)": [32, 33]}
EVENTS = st.tuples(st.sampled_from(["flu", "hiv", "gout"]), st.sampled_from(["A", "B"]))
PEOPLE = st.lists(
    st.tuples(
        st.sampled_from(sorted(AGES)),
        st.sampled_from("FM"),
        st.lists(EVENTS, min_size=1, max_size=4),
    ),
    min_size=1,
    max_size=8,
)
KINDS = [["hiv"], ["flu", "gout"]]


def ills(events: list[Event]) -> set[str | None]:
    return {ill for ill, _ in events}


@settings(max_examples=60)
@given(PEOPLE)
def test_people_are_matched_to_patients_and_told_what_all_of_these_have(
    people: list[Person],
) -> None:
    listed = [(age, sex) for age in (30, 32, 34) for sex in "FM"]
    found = link(release_of(people), pl.DataFrame(listed, ["age", "sex"], orient="row"))
    fitting = [
        [
            ills(events)
            for label, shown, events in people
            if age in AGES[label or ""] and shown == sex
        ]
        for age, sex in listed
    ]
    assert found.one == "patient"
    assert found.candidates.tolist() == [len(each) for each in fitting]
    (disclosed,) = found.disclosed
    told = [each for each in fitting if each and set.intersection(*each)]
    assert disclosed.people == len(told)
    assert disclosed.in_a_crowd == sum(len(each) > 1 for each in told)


def test_a_list_of_rows_is_taken_for_one_of_people_where_these_are_told_apart() -> None:
    release = release_of([("30", "F", [("flu", "A")]), ("30", "F", [("flu", "A")])])
    rows = [("a", 30, "x"), ("A ", 30, "y"), (None, 30, "z"), ("b", 31, "x"), (None, 30, "z")]
    people = pl.DataFrame(rows, ["id", "age", "visit"], orient="row").with_columns(sex=pl.lit("F"))
    found = link(release, people)
    assert "'id' of the list has 2 different values in 5 rows" in found.remarks[0]
    assert "each is taken for one person" in found.remarks[0]
    assert found.one_sentence() == (
        "Of 4 people on the list, none is matched to exactly one patient."
    )
    assert found.candidates.tolist() == [2, 2, 0, 2]  # a, nobody, b, nobody
    assert found.as_dict()["patients"] == 2
    assert link(release, people.filter(pl.col("visit") != "y")).remarks == ()
    differing = people.with_columns(sex=pl.Series(["F", "M", "F", "F", "F"]))
    found = link(release, differing)
    assert "who stands there several times counts several times" in found.remarks[0]
    assert found.people == 5


def test_rows_of_a_raw_file_are_gathered_by_its_unit() -> None:
    visits = pl.DataFrame(
        {"mrn": ["1", "1", "2"], "age": [30, 30, 31], "ill": ["flu", "hiv", "hiv"]}
    )
    people = pl.DataFrame({"age": [30, 31]})
    found = link(visits, people)
    assert (found.one, found.matched_one) == ("record", 1)
    assert "'mrn' has 2 different values in 3 rows" in found.remarks[0]
    found = link(visits, people, unit="mrn", sensitive=["ill"])
    assert (found.one, found.records, found.matched_one) == ("patient", 2, 2)
    assert found.disclosed[0].people == 2


@settings(max_examples=60)
@given(PEOPLE)
def test_similarity_is_about_values_that_all_of_a_group_have(people: list[Person]) -> None:
    found = similarity(release_of(people), sensitive="ill", categories=KINDS)
    groups: dict[tuple[str | None, str | None], list[set[str | None]]] = {}
    for age, sex, events in people:
        groups.setdefault((age, sex), []).append(ills(events))
    everyone = list(chain(*groups.values()))

    def share(held: list[set[str | None]], value: str) -> float:
        return sum(value in each for each in held) / len(held)

    alike = [g for g in groups.values() if set.intersection(*g)]
    of_kind = [
        [g for g in groups.values() if all(each.intersection(kind) for each in g)] for kind in KINDS
    ]
    values = [v for v in ("flu", "hiv", "gout") if share(everyone, v)]
    gains = [
        {v: share(g, v) / share(everyone, v) for v in values if share(g, v)}
        for g in groups.values()
    ]
    gained = [
        sum(any(gain.get(v or "", 0) >= 2 - 1e-9 for v in held) for held in g)
        for g, gain in zip(groups.values(), gains, strict=True)
    ]
    assert (found.one, found.several, found.records) == ("patient", True, len(people))
    assert found.homogeneous == sum(map(len, alike))
    assert found.by_category == tuple(sum(map(len, each)) for each in of_kind)
    assert found.similar == sum(len(g) for g in groups.values() if any(g in k for k in of_kind))
    assert found.gained == sum(gained)
    assert found.largest_gain == pytest.approx(max(max(gain.values()) for gain in gains))
    pairs = [
        gain[v] for g, gain in zip(groups.values(), gains, strict=True) for h in g for v in h if v
    ]
    assert found.average_gain == pytest.approx(sum(pairs) / len(pairs))


def test_similarity_says_what_patients_have_in_common() -> None:
    release = release_of([("30", "F", [("flu", "A"), ("hiv", "A")]), ("30", "F", [("hiv", "A")])])
    told = similarity(release, sensitive="ill").one_sentence()
    assert told.startswith("Of 2 patients, 2 are in groups all of whom have one value of 'ill' in")
    assert similarity(release, sensitive="ill").as_dict()["patients"] == 2


def test_no_value_of_several_is_left_alone() -> None:
    release = release_of([("30", "F", [("flu", "A"), ("hiv", "A")]), ("30", "F", [("hiv", "A")])])
    for asked in (None, ["ill"]):
        with pytest.raises(InputError, match=r"'ill': patients have several values.*--similarity"):
            eliminate(release, sensitive=asked)
