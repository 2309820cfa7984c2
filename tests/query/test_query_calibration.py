"""What `query` states holds: the bounds always, the 95 % interval for random counts of tables.

The numbers of the interval were chosen by other queries, on larger samples of these and of other
tables.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import polars as pl
import pytest
from asked_patients import CITIES, KINDS, by_hand, quasi
from asked_patients import released as dirty
from random_counts import METHODS, TABLES, random_counts, released, table

import incrowd
from incrowd.errors import InputError
from incrowd.published.opened import ReleaseLike
from incrowd.published.parts import open_parts
from incrowd.query import Estimate, query
from incrowd.query.estimates import estimate

CASES = [
    ("adult", "sets", 6),
    ("cancer-registry", "nodes", 5),
    ("blood-transfusions", "local", 8),
    ("death-certificates", "clustering", 5),
    ("survey", "levels", 4),
    ("adult", "lossy-join", 6),
    ("survey", "anatomy", 8),
]


def asked(
    name: str, method: str, k: int, rows: int, number: int
) -> list[tuple[str, int, Estimate]]:
    frame = table(name, rows)
    release, meanings = released(frame, name, method, k)
    parts = open_parts(release)
    return [
        (text, true, estimate(parts, text, meanings))
        for text, true in random_counts(frame, name, number)
    ]


@pytest.mark.parametrize(("name", "method", "k"), CASES)
def test_random_counts_lie_within_what_is_stated(name: str, method: str, k: int) -> None:
    found = asked(name, method, k, 700, 200)
    for text, true, each in found:
        assert each.least <= true <= each.most, text
        assert each.least <= each.low <= each.count <= each.high <= each.most, text
    assert sum(each.low <= true <= each.high for _, true, each in found) >= 0.9 * len(found)
    open_ones = [(true, each) for _, true, each in found if not each.exact]
    inside = sum(each.low <= true <= each.high for true, each in open_ones)
    assert inside >= 0.9 * len(open_ones)
    # It says more than the bounds do.
    narrower = [(each.high - each.low) / (each.most - each.least) for _, each in open_ones]
    assert sum(narrower) < 0.93 * len(narrower)


@pytest.mark.parametrize("name", list(TABLES))
@pytest.mark.parametrize("method", list(METHODS))
def test_bounds_hold_for_every_method(name: str, method: str) -> None:
    for text, true, each in asked(name, method, 4, 120, 12):
        assert each.least <= true <= each.most, text


NUMBERS = {"age": (18, 93), "score": (-3, 8), "grade": (1, 5)}


def dirty_condition(draw: random.Random) -> tuple[str, Callable[[dict[str, Any]], bool]]:
    """A condition on patients with missing cells, decimals and values that look like labels."""
    name = draw.choice(["age", "score", "birth", "zip", "city name", "ill", "grade"])
    if draw.random() < 0.2:
        return f'"{name}" is missing', lambda row: row[name] is None
    if draw.random() < 0.1:
        return f'"{name}" is not missing', lambda row: row[name] is not None
    if name in NUMBERS:
        value: Any = round(draw.uniform(*NUMBERS[name]) * 4) / draw.choice([4, 8])
        read: Callable[[str], Any] = float
    elif name == "birth":
        value, read = str(date(1958, 5, 17) + timedelta(days=draw.randrange(4000))), str
    else:
        values = {"zip": ("101", "123", "999"), "ill": ("flu", "it's"), "city name": CITIES}
        value, read = draw.choice(values[name]), str
    ordered = name in NUMBERS or name == "birth"
    sign = draw.choice(["=", "!=", "<", "<=", ">", ">="] if ordered else ["=", "!="])
    compare = {"=": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}[sign]
    text = f'"{name}" {sign} ' + "'" + str(value).replace("'", "''") + "'"
    fits = getattr(operator, compare)
    return text, lambda row: row[name] is not None and bool(fits(read(row[name]), value))


@pytest.mark.parametrize("kind", list(KINDS))
def test_bounds_hold_for_dirty_records_too(kind: str) -> None:
    """Without a policy: of what no label shows, nothing is known."""
    release, frame = dirty(kind)
    draw, rows, tried = random.Random(kind), frame.to_dicts(), 0
    for _ in range(150):
        conditions = [dirty_condition(draw) for _ in range(draw.choice([1, 1, 2]))]
        text = " and ".join(each for each, _ in conditions)
        try:
            found = query(release, text)
        except InputError:  # nothing but * is shown
            continue
        true = sum(all(fits(row) for _, fits in conditions) for row in rows)
        assert found.least <= true <= found.most, (text, true, found)
        tried += 1
    assert tried >= 50


def test_records_left_out_are_beside_the_bounds() -> None:
    frame = table("survey", 200)
    policy = {
        "attributes": TABLES["survey"],
        "unit": "row",
        "privacy": [{"k-anonymity": {"k": 6}}],
        "suppression": 0.2,
        "method": "incognito",
    }
    release = incrowd.anonymize(frame, policy)
    dropped = release.manifest["records"]["suppressed"]
    assert dropped
    _, meanings = released(frame, "survey", "levels", 6)
    for text, true in random_counts(frame, "survey", 40):
        found = query(release, text, hierarchies=meanings)
        assert found.suppressed == dropped
        assert found.least <= true <= found.most + dropped, text


def bounds(release: ReleaseLike, text: str, **more: Any) -> tuple[int, int]:
    found = query(release, text, **more)
    return found.least, found.most


def test_a_value_that_no_cell_shows_may_hide_behind_a_label() -> None:
    """The record of 95 years is behind the *, and 1499 behind a mask that shows room for one."""
    entry = quasi("x", "numeric", "hierarchy", domain=10, decimals=0)
    release = by_hand({"data": {"x": ["*", "10", "[15-20)"]}}, [entry], "generalized")
    assert bounds(release, "x = 95") == (0, 1)
    assert bounds(release, "x < 95") == (2, 3)
    assert bounds(release, "x is missing") == (0, 1)
    assert bounds(release, "x is not missing") == (2, 3)
    found = query(release, "x = 95")
    assert (found.count, found.low) == (0, 0)
    assert found.high == 1
    rule: dict[str, Any] = {"hierarchy": "mask", "weights": {"14**": 1}, "domain": 2}
    cells = {"x": ["14**", "1423"]}
    release = by_hand({"data": cells}, [quasi("x", labels="hierarchy", **rule)], "generalized")
    assert bounds(release, "x = 1499") == (0, 1)
    assert bounds(release, "x = 1423") == (1, 2)
    assert bounds(release, "x != 1499") == (1, 2)
    assert bounds(release, "x = 9999") == (0, 0)
    assert bounds(release, "x != 9999") == (2, 2)


def test_decimals_that_no_label_shows_do_not_break_the_bounds() -> None:
    """29.5 lies in [20-30), and is not from 20 to 29."""
    attributes = {"bmi": {**quasi_intervals(), "role": "quasi"}, "ill": "sensitive"}
    frame = pl.DataFrame({"bmi": [29.5, 22.1, 31.7, 35.2], "ill": ["a", "b", "a", "b"]})
    release = incrowd.anonymize(
        frame,
        {
            "attributes": attributes,
            "privacy": [{"k-anonymity": {"k": 2}}],
            "method": {"name": "mondrian", "labels": "hierarchy"},
        },
    )
    assert set(release.data["bmi"]) == {"[20-30)", "[30-40)"}
    for text, true in (
        ("bmi between 20 and 29", 1),
        ("bmi <= 29", 1),
        ("bmi > 29", 3),
        ("bmi = 29.5", 1),
        ("bmi > 29.75", 2),
        ("bmi != 29.5", 3),
    ):
        least, most = bounds(release, text)
        assert least <= true <= most, text
        assert least < most
    assert "No label tells whether 'bmi' has decimals" in query(release, "bmi <= 29").remarks[0]
    found = query(release, "bmi >= 20 and bmi < 30")
    assert (found.least, found.most, found.remarks) == (2, 2, ())


def test_a_single_range_of_a_method_may_hide_decimals_as_well() -> None:
    """40.9 is in [30-41), which ends at a whole number all the same."""
    frame = pl.DataFrame({"x": [30.0, 35.5, 40.9], "ill": ["a", "b", "a"]})
    asked = {
        "attributes": {"x": {"role": "quasi", "type": "numeric"}, "ill": "sensitive"},
        "privacy": [{"k-anonymity": {"k": 3}}],
    }
    release = incrowd.anonymize(frame, asked)
    assert set(release.data["x"]) == {"[30-41)"}
    assert bounds(release, "x <= 40") == (0, 3)
    assert bounds(release, "x < 41") == (3, 3)


def quasi_intervals() -> dict[str, object]:
    return {"type": "numeric", "hierarchy": {"intervals": {"start": 0, "stop": 60, "widths": [10]}}}
