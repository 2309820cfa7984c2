"""Expectation, variance and bounds against a judge that goes through every possible table.

The judge knows what each label may be, and every assignment of the sensitive values to the records
of their group; it counts with fractions and shares no code with what it judges.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import isclose, sqrt
from typing import Any

from asked_patients import by_hand, quasi, sensitive
from hypothesis import example, given, settings
from hypothesis import strategies as st

from incrowd.published.parts import open_parts
from incrowd.query import parse_conditions, query
from incrowd.query._counting import Counted, count
from incrowd.query.conditions import Condition
from incrowd.query.estimates import published_column
from incrowd.query.published_columns import read_column

Test = Callable[[Any], bool] | None
"""What a value must be, or None: it is missing."""
Pair = tuple[Any, str | None]
Group = tuple[list[Pair], list[Pair]]
Cells = dict[str, list[str | None]]

AGES: dict[str | None, list[Any]] = {
    "30": [30],
    "[30-33)": [30, 31, 32],
    "[32-34)": [32, 33],
    None: [None],
}
SEXES: dict[str | None, list[str | None]] = {
    "F": ["F"],
    "M": ["M"],
    "{F|M}": ["F", "M"],
    "{F|}": ["F", None],
    None: [None],
}
EXACT_AGES = ("30", "31", "32", None)
EXACT_SEXES = ("F", "M", None)
VALUES = ("flu", "hiv", None)
CONDITIONS: dict[str, list[tuple[str, Test]]] = {
    "age": [
        ("age >= 31", lambda v: v >= 31),
        ("age between 30 and 31", lambda v: 30 <= v <= 31),
        ("age != 32", lambda v: v != 32),
        ("age in (30, 33, 99)", lambda v: v in (30, 33)),
        ("age > 30 and age < 33", lambda v: 30 < v < 33),
        ("age is missing", None),
    ],
    "sex": [
        ("sex = F", lambda v: v == "F"),
        ("sex != F", lambda v: v != "F"),
        ("sex is missing", None),
        ("sex is not missing", bool),
    ],
    "ill": [
        ("ill = flu", lambda v: v == "flu"),
        ("ill != flu", lambda v: v != "flu"),
        ("ill is missing", None),
    ],
    "cure": [("cure in (flu)", lambda v: v == "flu"), ("cure <> hiv", lambda v: v != "hiv")],
}
ENTRIES = [
    quasi("age", "numeric", decimals=0, domain=5),
    quasi("sex", domain=3),
    sensitive("ill"),
    sensitive("cure"),
]


def holds(test: Test, value: Any) -> bool:
    if test is None:
        return value is None
    return value is not None and test(value)


def judged(
    groups: list[Group], tests: dict[str, Test], *, joint: bool
) -> tuple[Fraction, Fraction, tuple[int, int]]:
    """The expected count, its variance, and its ends over all tables behind the groups."""
    expected = variance = Fraction(0)
    least = most = 0
    for records, values in groups:
        outcomes = []
        for real in itertools.product(
            *(itertools.product(AGES.get(a, [a]), SEXES[s]) for a, s in records)
        ):
            beside = [
                all(holds(tests[name], v) for name, v in zip(("age", "sex"), row, strict=True)
                    if name in tests)
                for row in real
            ]  # fmt: skip
            for dealt in deals(values, joint):
                fits = [
                    all(holds(tests[name], v) for name, v in zip(("ill", "cure"), row, strict=True)
                        if name in tests)
                    for row in dealt
                ]  # fmt: skip
                outcomes.append(sum(a and b for a, b in zip(beside, fits, strict=True)))
        mean = Fraction(sum(outcomes), len(outcomes))
        expected += mean
        variance += Fraction(sum(x * x for x in outcomes), len(outcomes)) - mean**2
        least, most = least + min(outcomes), most + max(outcomes)
    return expected, variance, (least, most)


def deals(values: Sequence[tuple[str | None, str | None]], joint: bool) -> Any:
    """Every way to give the values to the records: pairs as they are, or each kind on its own."""
    if joint:
        yield from itertools.permutations(values)
        return
    for first, second in itertools.product(
        itertools.permutations([v for v, _ in values]),
        itertools.permutations([v for _, v in values]),
    ):
        yield list(zip(first, second, strict=True))


def anatomy(groups: list[Group], labels: str = "set") -> Any:
    qit: Cells = {"age": [], "sex": [], "group_id": []}
    tables: dict[str, Cells] = {
        name: {"group_id": [], name: [], "count": []} for name in ("ill", "cure")
    }
    for number, (records, values) in enumerate(groups):
        for age, sex in records:
            for name, cell in (("age", age), ("sex", sex), ("group_id", str(number))):
                qit[name].append(cell)
        for at, name in enumerate(("ill", "cure")):
            held = [pair[at] for pair in values]
            for value in dict.fromkeys(held):
                tables[name]["group_id"].append(str(number))
                tables[name][name].append(value)
                tables[name]["count"].append(str(held.count(value)))
    entries = [{**entry, "labels": labels} for entry in ENTRIES[:2]] + ENTRIES[2:]
    named = {"qit": qit, "st_ill": tables["ill"], "st_cure": tables["cure"]}
    return by_hand(named, entries, "anatomy")


def lossy_join(groups: list[Group]) -> Any:
    nss: Cells = {"age": [], "sex": [], "class_id": []}
    ss: Cells = {"class_id": [], "ill": [], "cure": []}
    for number, (records, values) in enumerate(groups):
        for (age, sex), (ill, cure) in zip(records, values, strict=True):
            for name, cell in (("age", age), ("sex", sex), ("class_id", str(number))):
                nss[name].append(cell)
            for name, cell in (("class_id", str(number)), ("ill", ill), ("cure", cure)):
                ss[name].append(cell)
    entries = [{**entry, "labels": "exact"} for entry in ENTRIES[:2]] + ENTRIES[2:]
    return by_hand({"nss": nss, "ss": ss}, entries, "lossy-join")


def generalized(groups: list[Group]) -> Any:
    data: Cells = {"age": [], "sex": [], "ill": [], "cure": []}
    for records, values in groups:
        for row, pair in zip(records, values, strict=True):
            for name, cell in zip(data, (*row, *pair), strict=True):
                data[name].append(cell)
    return by_hand({"data": data}, ENTRIES, "generalized")


def groups_of(
    ages: Sequence[str | None], sexes: Sequence[str | None], most: int
) -> st.SearchStrategy[list[Group]]:
    record = st.tuples(st.sampled_from(ages), st.sampled_from(sexes))
    pair = st.tuples(st.sampled_from(VALUES), st.sampled_from(VALUES))
    group = st.integers(1, most).flatmap(
        lambda n: st.tuples(
            st.lists(record, min_size=n, max_size=n), st.lists(pair, min_size=n, max_size=n)
        )
    )
    return st.lists(group, min_size=1, max_size=2)


ASKED = st.fixed_dictionaries(
    {}, optional={name: st.sampled_from(each) for name, each in CONDITIONS.items()}
)


def agree(release: Any, groups: list[Group], asked: dict[str, Any], *, joint: bool) -> None:
    text = " and ".join(text for text, _ in asked.values())
    tests = {name: test for name, (_, test) in asked.items()}
    expected, variance, ends = judged(groups, tests, joint=joint)
    counted, found = evenly(release, text), query(release, text)
    assert isclose(found.count, expected, abs_tol=1e-12)
    assert isclose(sqrt(counted.variance), sqrt(variance), abs_tol=1e-7)
    assert counted.certain == (variance == 0)
    assert (found.least, found.most) == ends
    assert found.exact == (variance == 0)
    assert found.least <= found.low <= found.count <= found.high <= found.most


def evenly(release: Any, text: str) -> Counted:
    """What is counted where every value under a label is as likely."""
    parts = open_parts(release)
    asked: dict[str, list[Condition]] = {}
    for condition in parse_conditions(text):
        asked.setdefault(condition.attribute, []).append(condition)
    shares = {}
    for name, conditions in asked.items():
        reading = read_column(published_column(parts, name, None), conditions)
        shares[name] = reading.cells.shares(reading.wanted(conditions))
    return count(parts, shares)


FLU_FOR_ONE = [([("30", "F"), ("31", "F"), ("32", "M")], [("flu", "hiv"), ("hiv", "flu"),
                                                        ("flu", "flu")])]  # fmt: skip


@settings(max_examples=25)
@given(groups=groups_of(EXACT_AGES, EXACT_SEXES, 4), asked=ASKED)
@example(groups=FLU_FOR_ONE, asked={"ill": CONDITIONS["ill"][0], "cure": CONDITIONS["cure"][0]})
@example(groups=FLU_FOR_ONE, asked={"ill": CONDITIONS["ill"][0]})
@example(groups=FLU_FOR_ONE, asked={"sex": CONDITIONS["sex"][0], "ill": CONDITIONS["ill"][0]})
def test_anatomy(groups: list[Group], asked: dict[str, Any]) -> None:
    as_numbers: list[Group] = [
        ([(None if a is None else int(a), s) for a, s in records], values)
        for records, values in groups
    ]
    agree(anatomy(groups, "exact"), as_numbers, asked, joint=False)


@settings(max_examples=25)
@given(groups=groups_of(EXACT_AGES, EXACT_SEXES, 4), asked=ASKED)
def test_lossy_join(groups: list[Group], asked: dict[str, Any]) -> None:
    as_numbers: list[Group] = [
        ([(None if a is None else int(a), s) for a, s in records], values)
        for records, values in groups
    ]
    agree(lossy_join(groups), as_numbers, asked, joint=True)


@settings(max_examples=25)
@given(groups=groups_of(tuple(AGES), tuple(SEXES), 3), asked=ASKED)
def test_generalized_cells_with_their_values_beside_them(
    groups: list[Group], asked: dict[str, Any]
) -> None:
    alone = [([row], [pair]) for records, values in groups
             for row, pair in zip(records, values, strict=True)]  # fmt: skip
    agree(generalized(groups), alone, asked, joint=True)


@settings(max_examples=20)
@given(groups=groups_of(tuple(AGES), tuple(SEXES), 2), asked=ASKED)
@example(
    groups=[([("[30-33)", "F"), ("[30-33)", "{F|M}")], [("flu", "hiv"), ("hiv", "flu")])],
    asked={"age": CONDITIONS["age"][0], "sex": CONDITIONS["sex"][0], "ill": CONDITIONS["ill"][0]},
)
def test_generalized_cells_with_values_apart(groups: list[Group], asked: dict[str, Any]) -> None:
    """No method publishes so, but the formula holds for it."""
    agree(anatomy(groups), groups, asked, joint=False)
