"""Models about attackers who know events, on tables of events, against the definition."""

from __future__ import annotations

import random
from collections import defaultdict
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest

from incrowd.counts.groups import Groups
from incrowd.errors import InputError, ParameterError, PrivacyError
from incrowd.hierarchies import from_tree, mask
from incrowd.privacy import LKC, Coherence, KKm, KmAnonymity, PrivacyModel
from incrowd.table.coding import code_column

Row = tuple[str, str, str, str, str]
COLUMNS = ["who", "sex", "town", "code", "ill"]


def rows_of(seed: int) -> list[Row]:
    """A few patients with up to four events each, some of them the same twice."""
    draw = random.Random(seed)
    rows = []
    for who in range(9):
        own = (f"p{who}", draw.choice("FM"), draw.choice("AB"))
        rows += [
            (*own, draw.choice("abc"), draw.choice(["flu", "hiv"]))
            for _ in range(draw.randint(1, 4))
        ]
    return rows


def supports(rows: list[Row], most: int, own: int, events: int, *, jointly: bool = False) -> Any:
    """The patients who have each choice of atoms of some patient, by the definition."""
    atoms: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for who, sex, town, code, _ in rows:
        atoms[who] |= {("own", sex, town)} if jointly else {("sex", sex), ("town", town)}
        atoms[who].add(("event", code))
    found = {}
    for have in atoms.values():
        for size in range(most + 1):
            for choice in combinations(sorted(have), size):
                many = sum(atom[0] == "event" for atom in choice)
                if many <= events and size - many <= own:
                    found[choice] = {w for w, others in atoms.items() if others >= {*choice}}
    return found


def measured(model: PrivacyModel, rows: list[Row], attributes: tuple[str, ...] = ()) -> Any:
    frame = pl.DataFrame(rows, schema=COLUMNS, orient="row")
    check: Any = model.check
    return check(frame, quasi=["code"], unit="who", attributes=attributes)


@pytest.mark.parametrize("seed", range(12))
def test_every_choice_of_atoms_is_counted(seed: int) -> None:
    rows = rows_of(seed)
    own = ("sex", "town")
    for most, attributes, events in ((1, 1, 1), (2, 2, 2), (3, 1, 2), (3, 2, 1), (2, 0, 2)):
        found = measured(LKC(L=most, K=3, attributes=attributes, events=events), rows, own)
        sizes = [len(who) for who in supports(rows, most, attributes, events).values()]
        assert found.numbers == {"K": min(sizes)}
        assert found.failing == sum(size < 3 for size in sizes)
        assert found.holds == (min(sizes) >= 3)
    joint = supports(rows, 3, 1, 2, jointly=True)
    sizes = [len(who) for who in joint.values()]
    assert measured(KKm(k=2, m=2), rows, own).numbers == {"k": min(sizes)}


@pytest.mark.parametrize("seed", range(12))
def test_shares_are_counted_in_every_support(seed: int) -> None:
    rows = rows_of(seed)
    sick = {who for who, *_, ill in rows if ill == "hiv"}
    found = measured(Coherence(h=0.5, k=2, p=2, sensitive="ill", values=["hiv"]), rows)
    shares = [len(who & sick) / len(who) for who in supports(rows, 2, 0, 2).values()]
    assert found.numbers["h"] == pytest.approx(max(shares, default=0))
    assert found.holds == (found.numbers["k"] >= 2 and max(shares) <= 0.5)


@pytest.mark.parametrize("seed", range(6))
def test_the_special_cases_are_the_same(seed: int) -> None:
    rows = rows_of(seed)
    events: Any = {"attributes": 0, "events": 2}
    assert (
        measured(KmAnonymity(k=2, m=2), rows).numbers["k"]
        == (measured(LKC(L=2, K=2, **events), rows).numbers["K"])
    )
    protected: Any = {"sensitive": "ill", "values": ["hiv"]}
    one = measured(Coherence(h=0.4, k=2, p=2, **protected), rows)
    other = measured(LKC(L=2, K=2, C=0.4, **events, **protected), rows)
    assert [*one.numbers.values()] == [*other.numbers.values()]
    assert (one.holds, one.failing) == (other.holds, other.failing)


def test_a_protected_value_of_what_is_known_is_in_no_choice() -> None:
    rows: list[Row] = [("1", "F", "A", "a", ""), ("2", "F", "A", "a", ""), ("1", "F", "A", "z", "")]
    assert not measured(KmAnonymity(k=2, m=1), rows).holds
    model = Coherence(h=0.5, k=2, p=2, sensitive="code", values=["z"])
    assert measured(model, rows).numbers == {"k": 2, "h": 0.5}
    with pytest.raises(ParameterError, match="List the `values` that are protected"):
        measured(Coherence(h=0.5, k=2, p=2, sensitive="code"), rows)


def test_a_cascade_of_two_codes() -> None:
    """p1 {a,b}, p2 {a,b}, p3 {a,c}, p4 {c}: without c of p3, c has one patient left."""
    held = {"1": "ab", "2": "ab", "3": "ac", "4": "c"}
    rows: list[Row] = [(who, "", "", code, "") for who, codes in held.items() for code in codes]
    found = measured(KmAnonymity(k=2, m=2), rows)
    assert (found.holds, found.numbers["k"], found.failing) == (False, 1, 1)
    without = [row for row in rows if row[:1] + row[3:4] != ("3", "c")]
    assert measured(KmAnonymity(k=2, m=2), without).failing == 1
    assert measured(KmAnonymity(k=2, m=2), rows[:4]).holds


def test_what_cannot_be_judged_is_refused_with_what_to_do() -> None:
    rows = rows_of(1)
    frame = pl.DataFrame(rows, schema=COLUMNS, orient="row")
    with pytest.raises(ParameterError, match="`unit`, the column that tells patients apart"):
        KmAnonymity(k=2, m=1).check(frame, quasi=["code"])
    with pytest.raises(InputError, match=r"No column 'cod' .* Did you mean 'code'"):
        KmAnonymity(k=2, m=1).check(frame, quasi=["cod"], unit="who")
    with pytest.raises(InputError, match="differ between the rows of one patient"):
        KKm(k=2, m=1).check(frame, quasi=["sex"], unit="who", attributes=["code"])
    many = pl.DataFrame({"who": [1] * 200, "code": range(200)})
    with pytest.raises(ParameterError, match="too many to count here"):
        KmAnonymity(k=2, m=9).check(many, quasi=["code"], unit="who")
    with pytest.raises(ParameterError, match="are for attackers who know events"):
        LKC(L=1, K=2).check(frame, quasi=["code"], unit="who")


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"atoms": "counted", "events": 1}, "how often a patient had an event, is not supported"),
        ({"attributes": 1}, "`attributes:` goes with `events:`"),
        ({"events": 3}, "neither is larger than L"),
        ({"sensitive": ["a", "b"], "C": 0.5}, "several sensitive attributes go with `events:`"),
        ({"sensitive": ["a", "a"], "events": 1}, "names each attribute once"),
        ({"sensitive": [], "events": 1}, "at least one"),
        ({"events": 0}, "at least 1"),
    ],
)
def test_parameters_that_say_nothing_together_are_refused(
    parameters: dict[str, Any], told: str
) -> None:
    with pytest.raises(ParameterError, match=told):
        LKC(L=2, K=2, **parameters)


def test_without_events_a_promise_is_what_it_was() -> None:
    assert LKC(L=2, K=3, C=0.5, sensitive="ill", values=["x"]).promise() == {
        "model": "lkc",
        "parameters": {"sensitive": "ill", "values": ["x"], "L": 2, "K": 3, "C": 0.5},
    }
    known = LKC(L=2, K=3, events=1)
    assert known.promise()["parameters"] == {
        "sensitive": None, "values": None, "L": 2, "K": 3, "C": 1.0, "attributes": None, "events": 1
    }  # fmt: skip
    assert (known.bounds, known.counted_attributes) == (None, ())
    assert LKC(L=2, K=3).bounds is not None


def test_of_a_support_the_size_is_judged() -> None:
    groups = Groups(np.array([1, 4]), {})
    for model in (LKC(L=1, K=3, events=1), KmAnonymity(k=3, m=1), KKm(k=3, m=1)):
        assert model.holds(groups).tolist() == [False, True]
        assert [*model.measure(groups).numbers.values()] == [1]


def test_labels_of_a_hierarchy_stand_for_all_values_below() -> None:
    cells = pl.Series("code", ["F20.0", "F20.9", "F31", "I10", None])
    column, hierarchy = from_tree(
        code_column(cells, role="quasi", protected=True),
        {"F": {"F20": ["F20.0", "F20.9"], "F31": ["F31"]}, "I": ["I10", "I11"]},
    )
    columns, trees = {"code": column}, {"code": hierarchy}

    def bound(*values: str) -> Any:
        model = Coherence(h=0.5, k=2, p=1, sensitive="code", values=[*values])
        return model.bind(columns, trees)

    assert sorted(bound("F20").values) == ["F20.0", "F20.9"]
    assert sorted(bound("F", "I10").attacker.protected["code"]) == ["F20.0", "F20.9", "F31", "I10"]
    with pytest.raises(ParameterError, match="1 of the values listed for 'code' neither occur"):
        bound("F20", "G")
    told = bound("F").promise_about({"code": {"F20.0", "I", ""}})
    assert told["parameters"]["values"] == ["F20.0"]
    with pytest.raises(PrivacyError, match="nothing is left to promise"):
        bound("F31").promise_about({"code": {"I10"}})
    cells = pl.Series("code", ["ab", "a*", "b*"])
    torn, tree = mask(code_column(cells, role="quasi", protected=True), length=2)
    model = Coherence(h=0.5, k=2, p=1, sensitive="code", values=["a*"])
    assert sorted(model.bind({"code": torn}, {"code": tree}).listed_values) == ["a*", "ab"]
    other = Coherence(h=0.5, k=2, p=1, sensitive="code", values=["b*"])
    assert other.bind({"code": torn}, {"code": tree}).listed_values == ("b*",)
