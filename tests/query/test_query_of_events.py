"""Counts of patients by their rows, against a judge that goes through every possible table."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histories_by_hand import EVENT_LEVEL, PATIENT_LEVEL, Event, Person, release_of
from incrowd.errors import InputError
from incrowd.query import query

AGES = {"30": [30], "[30-33)": [30, 31, 32], "[32-34)": [32, 33]}
CONDITIONS: list[tuple[str, Callable[[int], bool]]] = [
    ("", lambda _: True),
    ("age >= 31", lambda age: age >= 31),
    ("age = 32", lambda age: age == 32),
]
ON_EVENTS: list[tuple[str, Callable[[Event], bool]]] = [
    ("", lambda _: True),
    ("ill = flu", lambda e: e[0] == "flu"),
    ("ill = ' FLU'", lambda e: e[0] == "flu"),  # sensitive, so in any spelling
    ("ill = flu and ward = A", lambda e: e == ("flu", "A")),
    ("ill in (hiv, flu) and ward != A", lambda e: e[0] in ("hiv", "flu") and e[1] in ("B",)),
    ("ill is missing", lambda e: e[0] is None),
]
EVENTS = st.tuples(st.sampled_from(["flu", "hiv", None]), st.sampled_from(["A", "B", None]))
PEOPLE = st.lists(
    st.tuples(
        st.sampled_from(sorted(AGES)), st.just("F"), st.lists(EVENTS, min_size=1, max_size=4)
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=150)
@given(PEOPLE, st.sampled_from(CONDITIONS), st.sampled_from(ON_EVENTS), st.booleans())
def test_patients_and_rows_against_every_possible_table(
    people: list[Person],
    on_age: tuple[str, Callable[[int], bool]],
    on_events: tuple[str, Callable[[Event], bool]],
    events: bool,
) -> None:
    text = " and ".join(each for each in (on_age[0], on_events[0]) if each)
    counts = []
    for ages in itertools.product(*(AGES[age or ""] for age, _, _ in people)):
        fitting = [
            sum(on_events[1](event) for event in rows) if on_age[1](age) else 0
            for age, (_, _, rows) in zip(ages, people, strict=True)
        ]
        counts.append(sum(fitting) if events else sum(many > 0 for many in fitting))
    found = query(release_of(people), text, events=events)
    assert (found.least, found.most) == (min(counts), max(counts))
    assert found.count == pytest.approx(float(Fraction(sum(counts), len(counts))))
    assert found.least <= found.low <= found.count <= found.high <= found.most
    assert found.counted == ("rows" if events else "patients")
    assert found.records == (sum(len(rows) for _, _, rows in people) if events else len(people))


TWO: list[Person] = [
    ("30", "F", [("flu", "A"), ("flu", "A"), ("hiv", "B")]),
    ("30", "F", [("flu", "B"), ("gout", "A")]),
]


def test_conditions_on_events_are_about_one_row_together() -> None:
    """The second has a flu, and was in ward A, but not with the flu."""
    release = release_of(TWO)
    assert query(release, "ill = flu").count == 2
    assert query(release, "ward = A").count == 2
    assert query(release, "ill = flu and ward = A").count == 1
    assert query(release, "ill = flu and ward = A", events=True).count == 2


def test_the_answer_says_what_is_counted() -> None:
    release = release_of(TWO, suppressed=3)
    left = "3 patients were left out of the release; any of them may satisfy it, too."
    assert query(release, "sex = F").one_sentence() == (
        f"Exactly 2 of 2 published patients (100 %). {left}"
    )
    assert query(release, "ill = gout").one_sentence() == (
        "Exactly 1 of 2 published patients (50 %). Counted are patients with at least one row "
        f"that satisfies the conditions on 'ill'. {left}"
    )
    assert "all conditions together on 'ill' and 'ward'" in (
        query(release, "ill = flu and ward = A").one_sentence()
    )
    assert query(release, "ill = flu", events=True).one_sentence() == (
        "Exactly 3 of 5 published rows (60 %). Rows are counted, not patients. 3 patients, with "
        "all their rows, were left out of the release; any of them may satisfy it, too."
    )
    told = query(release, "ill = flu").as_dict()
    assert (told["counted"], told["patients"]) == ("patients", 2)
    assert "records" not in told


def test_tables_of_events_are_asked_each_for_a_row_of_its_own() -> None:
    """The first has both in one table, the second in two rows of different tables."""
    people = pl.DataFrame({"patient": ["1", "2", "3"], "age": ["30"] * 3, "sex": ["F"] * 3})
    ills = pl.DataFrame({"patient": ["1", "2", "2"], "ill": ["flu", "flu", "hiv"]})
    stays = pl.DataFrame({"patient": ["2", "3"], "ward": ["A", "A"]})
    release = release_of([("30", "F", [("flu", "A")])])
    entries = [
        {**each, "name": f"{table}.{each['name']}", "table": table}
        for table, each in zip(("ills", "stays"), EVENT_LEVEL, strict=True)
    ]
    linked = SimpleNamespace(
        data=people,
        tables={"patients": people, "ills": ills, "stays": stays},
        manifest={**release.manifest, "attributes": [*PATIENT_LEVEL, *entries], "tables": {}},
    )
    assert query(linked, "ills.ill = flu").count == 2
    both = query(linked, "ills.ill = flu and stays.ward = A")
    assert both.count == 1
    assert both.one_sentence() == (
        "Exactly 1 of 3 published patients (33.3 %). Counted are patients with at least one row "
        "that satisfies the conditions on 'ills.ill' and one row that satisfies the conditions on "
        "'stays.ward'."
    )
    assert query(linked, "ills.ill = flu", events=True).records == 3
    for text in ("", "ills.ill = flu and stays.ward = A"):
        with pytest.raises(InputError, match="Rows of several tables"):
            query(linked, text, events=True)


def test_histories_that_were_cut_are_said_where_rows_matter() -> None:
    release = release_of(TWO, most_events=3)
    assert query(release, "sex = F").remarks == ()
    assert "at most 3 rows of each patient" in query(release, "ill = flu").remarks[0]


def test_values_that_no_row_shows_are_said_as_of_rows() -> None:
    assert query(release_of(TWO), "ward = Aa").remarks == (
        "No row shows the value 'Aa' of 'ward'. Did you mean 'A'?",
    )


def test_events_of_records_are_refused() -> None:
    release = release_of(TWO)
    release.manifest["records"] = release.manifest.pop("patients")
    release.manifest["attributes"] = [
        each for each in release.manifest["attributes"] if each.get("level") != "event"
    ]
    with pytest.raises(InputError, match="no events to count"):
        query(release, "sex = F", events=True)
