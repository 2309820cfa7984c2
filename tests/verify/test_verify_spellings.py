"""Groups that are diverse by spelling alone: every model, and the judge of every model, sees one
value; what the policy or a promise names is found in any spelling."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from handmade_shapes import SHAPES, judge_shape, make_shape

from incrowd.privacy import MODELS
from incrowd.verify import Finding, verify

if TYPE_CHECKING:
    from incrowd.privacy import Measurement, PrivacyModel

FORMS = {
    "HIV": ("HIV", "hiv", "HIV ", "H\u200bIV", "\uff28\uff29\uff36"),
    "200": ("200", "200.0", "2e2"),
    "Flu": ("Flu", "FLU", "\u00a0flu"),
}
PLAIN = [
    *(("x", "HIV") for _ in range(5)),
    *(("y", value) for value in ("HIV", "HIV", "HIV", "200", "200", "Flu", "Flu", "Flu")),
    *(("z", value) for value in ("200", "200", "200", "HIV", "HIV", "Flu")),
]
"""A group of one value, a group of three, and one in between."""
MIXED = [row for row in PLAIN if row[0] != "x"]
"""The groups that have every value."""
CATEGORIES = [["HIV"], ["200"], ["Flu"]]
ASKED: dict[str, list[dict[str, Any]]] = {
    "l-diversity": [
        {"l": 2, "kind": "distinct"},
        {"l": 1.5, "kind": "entropy"},
        {"l": 2, "kind": "recursive", "c": 3.0},
        {"l": 1.5, "kind": "frequency"},
    ],
    "t-closeness": [{"t": 0.3}],
    "p-sensitive": [{"p": 2, "k": 3}],
    "alpha-k": [{"alpha": 0.5, "k": 3}, {"alpha": 0.5, "k": 3, "values": ["HIV"]}],
    "confidence-bounding": [{"C": 0.5}, {"C": 0.5, "values": ["HIV"]}],
    "lkc": [{"L": 1, "K": 2, "C": 0.5}, {"L": 1, "K": 2, "C": 0.5, "values": ["HIV", "200"]}],
    "multi-sensitive": [{"k": 2, "l": 2}],
    "exponential-l": [{"l": 2}],
    "l-alpha-diversity": [
        {"l": 2, "alpha": 1, "categories": CATEGORIES},
        {"l": 1.5, "kind": "entropy", "alpha": 0, "categories": CATEGORIES},
    ],
    "delta-disclosure": [{"delta": 0.5}],
    "beta-likeness": [{"beta": 0.5}, {"beta": 0.5, "kind": "enhanced"}],
}
CASES = [(name, number) for name, asked in ASKED.items() for number in range(len(asked))]


def spelled(rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The rows with their values spelled in all ways, one after the other."""
    seen: Counter[str] = Counter()
    found = []
    for q, value in rows:
        found.append((q, FORMS[value][seen[value] % len(FORMS[value])]))
        seen[value] += 1
    return found


SPELLED = spelled(PLAIN)


def model_of(name: str, number: int, **others: Any) -> PrivacyModel:
    model = MODELS[name]
    sensitive: Any = ["ill"] if model.takes_several else "ill"
    return model(**{**ASKED[name][number], "sensitive": sensitive, **others})


def measured(model: PrivacyModel, rows: list[tuple[str, str]]) -> Measurement:
    frame = pl.DataFrame(rows, schema=["q", "ill"], orient="row")
    return model.check(frame, quasi=["q"])


def told(findings: list[Finding]) -> list[tuple[Any, ...]]:
    return [(each.promise, each.holds, each.measured) for each in findings]


def test_every_model_about_sensitive_values_is_asked() -> None:
    about = {name for name, model in MODELS.items() if "sensitive" in model.model_fields}
    assert set(ASKED) == about - {"coherence"}  # of events: test_verify_known_events.py


@pytest.mark.parametrize(("name", "number"), CASES)
def test_a_model_counts_values_and_not_their_spellings(name: str, number: int) -> None:
    model = model_of(name, number)
    found = measured(model, PLAIN)
    assert not found.holds
    assert measured(model, SPELLED) == found
    assert measured(model, spelled(MIXED)) == measured(model, MIXED)


@pytest.mark.parametrize(("name", "number"), CASES)
def test_a_policy_names_values_in_any_spelling(name: str, number: int) -> None:
    asked = ASKED[name][number]
    other = {"HIV": "hiv ", "200": "2E2", "Flu": "\uff26LU"}
    named: dict[str, Any] = {}
    if "values" in asked:
        named["values"] = [*(other[each] for each in asked["values"]), *asked["values"]]
    if "categories" in asked:
        named["categories"] = [[other[value], value] for (value,) in asked["categories"]]
    if named:
        plain = measured(model_of(name, number), PLAIN)
        assert measured(model_of(name, number, **named), SPELLED) == plain


@pytest.mark.parametrize("shape", SHAPES)
def test_the_judge_counts_values_and_not_their_spellings(shape: str) -> None:
    # Exact quasi-identifiers cannot keep lkc.
    asked = [case for case in CASES if shape == "generalized" or case[0] != "lkc"]
    promises = [model_of(*case).promise() for case in asked]
    for rows in (PLAIN, MIXED):
        plain, found = (judge_shape(shape, each, *promises) for each in (rows, spelled(rows)))
        assert rows is MIXED or not any(each.holds for each in plain)
        assert told(found) == told(plain)


ONE_NUMBER = [
    ["200", "2e0000000002", "2e00000000002"],
    ["0", "0e1234567890", "0e-12345678901"],
    ["1e99999999999", "10e99999999998", "0.1e100000000000"],
    ["1e" + "9" * 5000, "10e" + "9" * 4999 + "8", "0.1e1" + "0" * 5000],
]


@pytest.mark.parametrize("texts", ONE_NUMBER, ids=["zeros", "zero", "huge", "endless"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_forged_group_of_one_number_is_not_diverse(shape: str, texts: list[str]) -> None:
    promise = model_of("l-diversity", 0, l=3).promise()
    (found,) = judge_shape(shape, [("x", text) for text in texts], promise)
    assert not found.holds
    assert found.measured["l"] == 1


@pytest.mark.parametrize("shape", SHAPES)
def test_a_power_is_another_value_than_its_digits(shape: str) -> None:
    promise = model_of("l-diversity", 0, l=3).promise()
    (found,) = judge_shape(
        shape, [("x", text) for text in ("10\u2075", "105", "10\u2085")], promise
    )
    assert found.holds


@pytest.mark.parametrize("shape", SHAPES)
def test_a_promise_may_list_any_published_spelling_and_no_other(shape: str) -> None:
    rows = [("x", "HIV"), ("x", "hiv"), ("x", "Flu"), ("x", "Cold")]

    def judged(*values: str) -> list[Any]:
        parameters = {"C": 0.5, "sensitive": "ill", "values": [*values]}
        promise = {"model": "confidence-bounding", "parameters": parameters}
        return judge_shape(shape, rows, promise)

    (found,) = judged("hiv")
    assert found.holds
    assert found.measured["C"] == 0.5


@pytest.mark.parametrize("values", [["Hiv"], ["HIV", "hiv"], ["HIV\u200b"]])
def test_a_promise_that_lists_what_no_record_shows_fails(values: list[str], tmp_path: Path) -> None:
    rows = [("x", "HIV"), ("x", "hiv"), ("x", "Flu"), ("x", "Cold")]
    parameters = {"C": 0.5, "sensitive": "ill", "values": values}
    promise = {"model": "confidence-bounding", "parameters": parameters}
    verdict = verify(make_shape(tmp_path / "release", "generalized", rows, [promise]))
    assert [each.promise for each in verdict.broken] == ["promises say something"]


def test_orders_and_trees_of_a_promise_are_about_values(tmp_path: Path) -> None:
    rows = [("x", "low"), ("x", "HIGH"), ("y", "Low"), ("y", "high")]
    parameters = {"t": 0.5, "sensitive": "ill"}
    ordered = {"model": "t-closeness", "parameters": {**parameters, "distance": "ordered"}}
    tree = {"model": "t-closeness", "parameters": {**parameters, "distance": "hierarchical"}}
    found = judge_shape(
        "generalized",
        rows,
        {**ordered, "order": ["Low", "high"]},
        {**tree, "ancestors": {"Low": ["1.0"], "HIGH": ["1.0"]}},
        {**ordered, "order": ["Low", "low", "high", "HIGH"]},
        {**tree, "ancestors": {each: ["1.0"] for each in ("Low", "low", "HIGH", "high")}},
    )
    assert [each.holds for each in found] == [True, True, False, False]
    assert [each.measured.get("t") for each in found] == [0, 0, None, None]


def test_a_promise_about_a_quasi_identifier_fails(tmp_path: Path) -> None:
    rows = [("HIV", "a"), ("HIV", "b"), ("hiv", "a"), ("hiv", "b")]
    parameters = {"C": 0.5, "sensitive": "q", "values": ["HIV"]}
    promise = {"model": "confidence-bounding", "parameters": parameters}
    verdict = verify(make_shape(tmp_path / "release", "generalized", rows, [promise]))
    assert "promises say something" in [each.promise for each in verdict.broken]
