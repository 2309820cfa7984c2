"""Estimates from releases of every kind, made from dirty data: what must hold of them."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from asked_patients import (
    KINDS,
    QUASI,
    by_hand,
    meanings,
    patients,
    policy,
    quasi,
    quoted,
    released,
    sensitive,
)
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd
from incrowd.publish.release import Release
from incrowd.published.parts import open_parts
from incrowd.query import query
from incrowd.utility._drawn_queries import draw, drawable
from incrowd.utility.query_error import expected, with_values


def known(frame: pl.DataFrame, kind: str) -> dict[str, Any]:
    """The meanings of a policy, and that cells may be missing."""
    found = meanings(frame, kind)
    for name, meaning in found.items():
        values = sorted({value for each in meaning.values() for value in each})
        found[name] = {**meaning, "*": [*values, ""]}
    return found


def all_values(frame: pl.DataFrame, name: str) -> list[str]:
    """Every value that an attribute may have."""
    if name == "age":
        return [str(age) for age in range(100)]
    return frame[name].drop_nulls().unique().to_list()


@pytest.mark.parametrize("name", ["age", "zip", "stage", "job", "city name", "ill", "ward"])
@pytest.mark.parametrize("kind", list(KINDS))
def test_the_counts_of_all_values_add_up_to_the_records(kind: str, name: str) -> None:
    release, frame = released(kind, 30)
    values = all_values(frame, name)
    given_too = known(frame, kind)
    counts = [query(release, quoted(name, v), hierarchies=given_too).count for v in values]
    missing = query(release, f'"{name}" is missing', hierarchies=given_too).count
    assert sum(counts) + missing == pytest.approx(30)
    present = query(release, f'"{name}" is not missing', hierarchies=given_too).count
    assert present == pytest.approx(sum(counts))


@pytest.mark.parametrize("kind", list(KINDS))
def test_ranges_add_up_too(kind: str) -> None:
    release, frame = released(kind)
    given_too = known(frame, kind)
    for name, middle in (("age", "50"), ("score", "0.75"), ("birth", "1963-07-04"), ("grade", "3")):
        below, at, above = (
            query(release, f"{name} {sign} {middle}", hierarchies=given_too).count
            for sign in ("<", "=", ">")
        )
        missing = query(release, f"{name} is missing", hierarchies=given_too).count
        assert below + at + above + missing == pytest.approx(60), name
        assert query(release, f"{name} >= {middle}", hierarchies=given_too).count == pytest.approx(
            at + above
        )


@pytest.mark.parametrize("kind", ["anatomy", "lossy-join"])
def test_what_is_published_exactly_is_counted_exactly(kind: str) -> None:
    release, frame = released(kind)
    found = query(release, "age >= 50 and job in (judge, farmer) and \"city name\" != 'a|b'")
    true = sum(
        row["age"] is not None
        and int(row["age"]) >= 50
        and row["job"] in ("judge", "farmer")
        and row["city name"] not in ("a|b", None)
        for row in frame.to_dicts()
    )
    assert (found.count, found.exact, found.least, found.most) == (true, True, true, true)
    found = query(release, "ill = 'it''s'")
    assert (found.count, found.exact) == ((frame["ill"] == "it's").sum(), True)
    found = query(release, "grade < 3")
    assert (found.count, found.exact) == (frame["grade"].is_in(["1", "2.5"]).sum(), True)


@settings(max_examples=15)
@given(seed=st.integers(0, 99), data=st.data())
def test_exact_cells_give_the_true_count(seed: int, data: st.DataObject) -> None:
    """Every record comes twice, so that groups of two need no generalization."""
    frame = patients(6, seed)
    frame = pl.concat([frame, frame])
    release = incrowd.anonymize(frame, {**policy("sets", k=2), "unit": "row"})
    names = data.draw(st.lists(st.sampled_from([*QUASI, "ill"]), min_size=1, unique=True))
    row = frame.row(data.draw(st.integers(0, 5)), named=True)
    asked = [name for name in names if row[name] is not None]
    found = query(release, " and ".join(quoted(name, row[name]) for name in asked))
    true = sum(all(other[n] == row[n] for n in asked) for other in frame.to_dicts())
    assert (found.count, found.exact) == (true, True)


@pytest.mark.parametrize("kind", list(KINDS))
def test_many_queries_at_once_give_the_same_as_one_by_one(kind: str) -> None:
    release, frame = released(kind)
    parts = open_parts(release)
    types = {name: parts.entries[name]["type"] for name in parts.of_role("quasi", "sensitive")}
    columns = {name: drawable(frame[name], kind) for name, kind in types.items()}
    hidden = [columns[name] for name in ("ill", "grade")]
    asked = draw(hidden, [columns[name] for name in QUASI], queries=150, seed=1)
    assert len(asked.true) == 150
    given_too = with_values(meanings(frame, kind), asked)
    at_once = expected(parts, asked, given_too)
    for number, count in enumerate(at_once.tolist()):
        found = query(release, asked.text(number), hierarchies=given_too)
        assert found.count == pytest.approx(count, abs=1e-9), asked.text(number)


SPELLED = {"hiv": 6, "HIV": 4, "200.0": 3, "2e2": 2, "Flu": 5}
ASKED_SPELLINGS = [
    ("ill = 'hiv'", 10),
    ("ill = ' \uff28iv'", 10),
    ("ill != 'hiv'", 10),
    ("ill = 200", 5),
    ("ill = '+0200'", 5),
    ("ill != 200", 15),
    ("ill in (hiv, 'FLU')", 15),
    ("ill in (hiv, HIV, 'Hiv ')", 10),
    ("ill != 'hiv' and ill != flu", 5),
]


def spelled_release(publish: str = "generalized", role: str = "sensitive") -> Release:
    ills = [text for text, many in SPELLED.items() for _ in range(many)]
    frame = pl.DataFrame({"age": [30, 31, 32, 33] * 5, "ill": ills})
    model = {"l-diversity": {"l": 2, "sensitive": "ill"}}
    asked = {"unit": "row", "attributes": {"age": "quasi", "ill": role}, "publish": publish}
    return incrowd.anonymize(frame, {**asked, "privacy": [model]})


@pytest.mark.parametrize(
    ("publish", "role"),
    [
        ("generalized", "sensitive"),
        ("generalized", "target"),
        ("anatomy", "sensitive"),
        ("lossy-join", "sensitive"),
    ],
)
def test_a_protected_value_is_asked_for_in_any_spelling(publish: str, role: str) -> None:
    release = spelled_release(publish, role)
    for text, many in ASKED_SPELLINGS:
        found = query(release, text)
        assert (found.count, found.exact, found.remarks) == (many, True, ()), text
    assert query(release, "ill = cold").remarks == ("No record shows the value 'cold' of 'ill'.",)


def test_an_order_has_its_ends_in_any_spelling() -> None:
    cells = {"age": ["30", "30", "40", "40"], "ill": ["low", "HIGH", "HIGH", "mid"]}
    release = by_hand({"data": cells}, [quasi("age"), sensitive("ill", "ordered")], "generalized")
    order = {"ill": {"*": ["low", "mid", "HIGH"]}}
    assert query(release, "ill >= High", hierarchies=order).count == 2
    assert query(release, "ill between LOW and 'Mid '", hierarchies=order).count == 2


@pytest.mark.parametrize("promises", [None, ["x"], [{"parameters": 3}], [{"parameters": {}}]])
def test_promises_that_say_nothing_protect_nothing(
    promises: list[dict[str, Any] | str] | None,
) -> None:
    cells = {"age": ["30", "30"], "ill": ["flu", "HIV"], "job": ["judge", "Judge"]}
    entries = [quasi("age"), sensitive("ill"), {**sensitive("job"), "role": "target"}]
    release = by_hand({"data": cells}, entries, "generalized")
    release.manifest["promises"] = promises
    assert query(release, "ill = hiv").count == 1
    assert query(release, "job = judge").count == 1


def test_other_values_are_asked_for_as_they_stand() -> None:
    frame = pl.DataFrame({"ward": ["a"] * 4 + ["A"] * 4, "ill": ["x1", "y1"] * 4})
    attributes = {"ward": "quasi", "ill": "sensitive"}
    privacy = [{"k-anonymity": {"k": 4}}]
    asked = {"unit": "row", "attributes": attributes, "privacy": privacy}
    assert query(incrowd.anonymize(frame, asked), "ward = a").count == 4
