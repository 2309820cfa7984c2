"""The language of queries: what it reads, and what it says of what it does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.errors import InputError
from incrowd.query import parse_conditions


def read(text: str) -> list[tuple[str, str, list[str]]]:
    return [
        (each.attribute, each.operator, [value.text for value in each.values])
        for each in parse_conditions(text)
    ]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", []),
        ("  \n ", []),
        ("age = 40", [("age", "=", ["40"])]),
        ("age=-4.5", [("age", "=", ["-4.5"])]),
        ("age<>40", [("age", "!=", ["40"])]),
        ("age != 40", [("age", "!=", ["40"])]),
        ("age<40 and age>=30", [("age", "<", ["40"]), ("age", ">=", ["30"])]),
        ("a <= 1 AND b > 2", [("a", "<=", ["1"]), ("b", ">", ["2"])]),
        (
            "age BETWEEN 40 and 60 and ill='Flu'",
            [("age", "between", ["40", "60"]), ("ill", "=", ["Flu"])],
        ),
        ("born between 1950-01-01 and 1960-12-31", [
            ("born", "between", ["1950-01-01", "1960-12-31"])
        ]),
        ("ill in (Flu, 'Heart disease',HIV)", [("ill", "in", ["Flu", "Heart disease", "HIV"])]),
        ("ill IN(a)", [("ill", "in", ["a"])]),
        ("ill is missing", [("ill", "missing", [])]),
        ("ill Is Not Missing and x = 1", [("ill", "present", []), ("x", "=", ["1"])]),
        ('"Post Code" = 01234', [("Post Code", "=", ["01234"])]),
        ('"say ""so""" = \'it\'\'s\'', [('say "so"', "=", ["it's"])]),
        ("ill = ''", [("ill", "=", [""])]),
        ("ill = 'and'", [("ill", "=", ["and"])]),
        ('"and" = missing', [("and", "=", ["missing"])]),
        ("ill = 'a or (b)'", [("ill", "=", ["a or (b)"])]),
    ],
)  # fmt: skip
def test_what_it_reads(text: str, wanted: list[tuple[str, str, list[str]]]) -> None:
    assert read(text) == wanted


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("age", 4, "expected =, !=, <, <=, >, >=, between, in or is after 'age', found the end"),
        ("= 4", 1, "expected the name of an attribute, found '='"),
        ("'age' = 4", 1, "Names stand in double quotes"),
        ("age = ", 7, "expected a value, found the end"),
        ("age == 4", 6, "expected a value, found '='"),
        ("age = 4 and", 12, "expected the name of an attribute, found the end"),
        ("age = 4, b = 5", 8, "expected 'and' or the end, found ','"),
        ("ill = Heart disease", 13, "single quotes"),
        ('ill = "Flu"', 7, "Values stand in single quotes"),
        ("ill = and", 7, "Put it in single quotes"),
        ("ill = 'Flu", 7, "the quote ' is not closed"),
        ('"ill = 3', 1, 'the quote " is not closed'),
        ("ill = O'Neill", 8, "Inside quotes write it twice"),
        ("age ! 4", 5, "'!' alone means nothing"),
        ("age between 4", 14, "expected 'and' and the upper end of between"),
        ("age between 4 and", 18, "expected a value"),
        ("ill in Flu", 8, "expected ( and a list of values, found 'Flu'"),
        ("ill in ()", 9, "expected a value, found ')'"),
        ("ill in (a b)", 11, "expected , or ) in the list, found 'b'"),
        ("ill in (a, b", 13, "expected , or ) in the list, found the end"),
        ("ill is null", 8, "expected 'missing' or 'not missing' after is, found 'null'"),
        ("ill is not null", 12, "found 'null'"),
        ("a = 1 or b = 2", 7, "'or' is not supported. For several values"),
        ("a = 1 OR b = 2", 7, "add two counts"),
        ("not a = 1", 1, "'not' is not supported. Write !="),
        ("a not in (1, 2)", 3, "'not' is not supported"),
        ("(a = 1)", 1, "parentheses are not supported, except in lists"),
        ("a = 1 and (b = 2)", 11, "parentheses are not supported"),
        ("a = (1)", 5, "expected a value, found '('"),
    ],
)
def test_mistakes_are_told_with_their_place(text: str, place: int, says: str) -> None:
    with pytest.raises(InputError) as refusal:
        parse_conditions(text)
    assert f"at character {place}:" in str(refusal.value)
    assert says in str(refusal.value)


def test_a_query_is_a_text() -> None:
    with pytest.raises(InputError, match="must be a text"):
        parse_conditions(None)  # type: ignore[arg-type]


@given(name=st.text(min_size=1), values=st.lists(st.text(), min_size=1, max_size=3))
def test_any_name_and_value_can_be_quoted(name: str, values: list[str]) -> None:
    listed = ", ".join("'" + value.replace("'", "''") + "'" for value in values)
    text = '"' + name.replace('"', '""') + f'" in ({listed})'
    assert read(text) == [(name, "in", values)]


@given(st.text(alphabet="ab1 '\"(),=<>!-\n", max_size=25))
def test_any_text_is_read_or_refused_with_its_place(text: str) -> None:
    refused = ""
    try:
        parse_conditions(text)
    except InputError as refusal:
        refused = str(refusal)
    assert refused == "" or refused.startswith("The query, at character ")
