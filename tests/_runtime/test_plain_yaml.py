"""YAML whose texts stay as they are written."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from incrowd._runtime.plain_yaml import as_text, load


@pytest.mark.parametrize(
    "text",
    ["yes", "no", "on", "off", "Yes", "NO", "True", "FALSE", "012345", "0x1F", "0o17", "1_000",
     "1:30", "2020-01-01", "2020-01-01 12:00:00", ".inf", ".nan", "<<", "Null", "1e", "1.2.3",
     "=", "1e5x"],
)  # fmt: skip
def test_traps_of_yaml_stay_texts(text: str) -> None:
    assert load(f"key: {text}") == {"key": text}
    assert load(f"{text}: value") == {text: "value"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("0", 0),
        ("-7", -7),
        ("+7", 7),
        ("12345", 12345),
        ("0.02", 0.02),
        ("-1.5", -1.5),
        (".5", 0.5),
        ("1.", 1.0),
        ("1e3", 1000.0),
        ("2.5e-3", 0.0025),
        ("'5'", "5"),
        ('"true"', "true"),
        ("!!str 5", "5"),
    ],
)
def test_numbers_truth_and_nothing(text: str, value: Any) -> None:
    read = load(f"key: {text}")["key"]
    assert read == value
    assert isinstance(read, type(value))


@pytest.mark.parametrize("key", ["1.50", "2020", "true", "null", "~", "1e3", "0", "-1"])
def test_keys_are_texts(key: str) -> None:
    assert load(f"{key}: 1") == {key: 1}


def test_mappings_lists_anchors_and_blocks_work() -> None:
    text = "a: &x {b: [1, 2]}\nc: *x\nd: |\n  two\n  lines\n"
    assert load(text) == {"a": {"b": [1, 2]}, "c": {"b": [1, 2]}, "d": "two\nlines\n"}


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "the key 'a' stands twice"),
        ("x:\n  a: 1\n  'a': 3\n", 3, "the key 'a' stands twice"),
        ("1: a\n'1': b\n", 2, "the key '1' stands twice"),
        ("x: [{a: 1, a: 2}]", 1, "the key 'a' stands twice"),
        ("? [a, b]\n: c\n", 1, "a key must be a text"),
        ("? {a: b}\n: c\n", 1, "a key must be a text"),
    ],
)
def test_keys_that_are_not_unique_or_not_texts(text: str, line: int, problem: str) -> None:
    with pytest.raises(yaml.MarkedYAMLError) as caught:
        load(text)
    assert caught.value.problem is not None
    assert problem in caught.value.problem
    assert caught.value.problem_mark is not None
    assert caught.value.problem_mark.line == line - 1


@pytest.mark.parametrize(
    "text",
    ["a: b: c", "a: [1", "\tb: 1", "a: 1\n---\nb: 2", "\x00", "a: !!int abc", "a: !!float x",
     "a: !!bool x", "a: !!timestamp x", "a: !!map [x]", "a: !!map x", "a: *unknown",
     "a: !!python/object/apply:os.system [ls]", "a: !custom x", "a: " + "1" * 5000],
)  # fmt: skip
def test_what_is_not_yaml_is_one_kind_of_error(text: str) -> None:
    with pytest.raises(yaml.YAMLError):
        load(text)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("250.10", "250.10"),
        ("250.1", "250.1"),
        ("1e3", "1e3"),
        ("5", "5"),
        ("-5", "-5"),
        ("true", "true"),
        ("false", "false"),
        ("yes", "yes"),
        ("'007'", "007"),
        ("2020-01-01", "2020-01-01"),
    ],
)
def test_values_of_attributes_are_taken_as_written(written: str, text: str) -> None:
    assert as_text(load(f"[{written}]")[0]) == text


@pytest.mark.parametrize("value", [None, [1], {"a": 1}])
def test_what_is_no_value_is_left_for_validation(value: object) -> None:
    assert as_text(value) == value


def test_values_given_in_python_are_texts_too() -> None:
    assert [as_text(value) for value in (1.5, 7, True, "x")] == ["1.5", "7", "true", "x"]


words = st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]), max_size=5)


@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), words),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    )
)
def test_json_is_read_as_it_is(value: Any) -> None:
    assert load(json.dumps(value)) == value


def test_a_few_lines_cannot_stand_for_millions_of_entries() -> None:
    doubled = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9))
    for text in ("a0: &a0 [x]\n" + doubled, "a: &a [*a]"):
        with pytest.raises(yaml.YAMLError, match="too large"):
            load(text)
    assert len(load("a: &a [1, 2]\nb: [*a, *a]")["b"]) == 2
    with pytest.raises(yaml.YAMLError):
        load("a: " + "[" * 3000 + "]" * 3000)
