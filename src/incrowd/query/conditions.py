"""The language of queries: conditions joined by `and`, read into a list with their places.

`age between 40 and 60 and disease in ('Flu', 'HIV') and "Post Code" is not missing`. A name is a
bare word or stands in double quotes, a value is a bare word or stands in single quotes; a quote
inside is written twice. Words of the language may be in capitals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NoReturn

from incrowd.errors import InputError

Operator = Literal["=", "!=", "<", "<=", ">", ">=", "between", "in", "missing", "present"]
BY_ORDER: tuple[Operator, ...] = ("<", "<=", ">", ">=", "between")
"""The operators that need an order among values."""

_COMPARISONS: dict[str, Operator] = {
    "=": "=",
    "!=": "!=",
    "<>": "!=",
    "<": "<",
    "<=": "<=",
    ">": ">",
    ">=": ">=",
}
_WORDS = ("and", "or", "not", "between", "in", "is")
_TOKEN = re.compile(
    r"""\s+
    | "(?P<name>(?:[^"]|"")*)"
    | '(?P<string>(?:[^']|'')*)'
    | (?P<sign><=|>=|<>|!=|=|<|>)
    | (?P<mark>[(),])
    | (?P<word>[^\s"'(),=<>!]+)""",
    re.VERBOSE,
)
_INSTEAD = {
    "or": (
        "'or' is not supported. For several values of one attribute write in (a, b); otherwise "
        "add two counts and subtract that of both."
    ),
    "not": (
        "'not' is not supported. Write !=, or subtract the count that you do not want from that "
        "of the other conditions."
    ),
    "(": (
        "parentheses are not supported, except in lists such as in (a, b). Conditions are joined "
        "by and; for either of two, add their counts and subtract that of both."
    ),
}


@dataclass(frozen=True)
class Value:
    """A value as it was written, and where in the text (characters from 1)."""

    text: str
    position: int


@dataclass(frozen=True)
class Condition:
    """One condition on one attribute."""

    attribute: str
    operator: Operator
    values: tuple[Value, ...]
    position: int


@dataclass(frozen=True)
class _ConditionToken:
    kind: str
    text: str
    position: int

    @property
    def word(self) -> str:
        """The word of the language that this may be, in small letters."""
        return self.text.lower() if self.kind in ("word", "mark") else ""

    @property
    def shown(self) -> str:
        return "the end" if self.kind == "end" else f"'{self.text}'"


def parse_conditions(text: str) -> tuple[Condition, ...]:
    """The conditions of a query, none for an empty text.

    InputError says at which character what was expected.

    Example
    -------
    >>> found = parse_conditions("age >= 40 AND disease = 'Flu'")
    >>> [(each.attribute, each.operator, each.values[0].text) for each in found]
    [('age', '>=', '40'), ('disease', '=', 'Flu')]
    """
    if not isinstance(text, str):
        raise InputError('A query must be a text, such as "age between 40 and 60".')
    tokens = _Tokens(text)
    if tokens.next.kind == "end":
        return ()
    found = [_condition(tokens)]
    while tokens.next.kind != "end":
        token = tokens.next
        if token.word != "and":
            _refuse_unsupported(token)
            hint = ""
            if token.kind == "word" and found[-1].values:
                hint = " A value of several words stands in single quotes."
            refuse(token.position, f"expected 'and' or the end, found {token.shown}.{hint}")
        tokens.take()
        found.append(_condition(tokens))
    return tuple(found)


def refuse(position: int, problem: str) -> NoReturn:
    """Raise InputError about a place in the query."""
    raise InputError(f"The query, at character {position}: {problem}")


class _Tokens:
    """The tokens of a text, one after the other; `next` is the one to come."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._at = 0

    @property
    def next(self) -> _ConditionToken:
        return self._tokens[self._at]

    def take(self) -> _ConditionToken:
        token = self._tokens[self._at]
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token


def _tokens(text: str) -> Iterator[_ConditionToken]:
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            quote = text[at]
            if quote in "\"'":
                refuse(at + 1, f"the quote {quote} is not closed. Inside quotes write it twice.")
            refuse(at + 1, f"'{quote}' alone means nothing here.")
        kind = match.lastgroup
        if kind is not None:
            inside = match[kind]
            if kind == "name":
                inside = inside.replace('""', '"')
            elif kind == "string":
                inside = inside.replace("''", "'")
            yield _ConditionToken(kind, inside, at + 1)
        at = match.end()
    yield _ConditionToken("end", "", len(text) + 1)


def _condition(tokens: _Tokens) -> Condition:
    name = tokens.take()
    _refuse_unsupported(name)
    if name.kind not in ("word", "name") or name.word in _WORDS:
        hint = " Names stand in double quotes." if name.kind == "string" else ""
        refuse(name.position, f"expected the name of an attribute, found {name.shown}.{hint}")
    sign = tokens.take()
    if sign.kind == "sign":
        values = (_value(tokens),)
        return Condition(name.text, _COMPARISONS[sign.text], values, name.position)
    if sign.word == "between":
        low = _value(tokens)
        if tokens.next.word != "and":
            refuse(
                tokens.next.position,
                f"expected 'and' and the upper end of between, found {tokens.next.shown}.",
            )
        tokens.take()
        return Condition(name.text, "between", (low, _value(tokens)), name.position)
    if sign.word == "in":
        return Condition(name.text, "in", _listed(tokens), name.position)
    if sign.word == "is":
        return Condition(name.text, _presence(tokens), (), name.position)
    _refuse_unsupported(sign)
    refuse(
        sign.position,
        f"expected =, !=, <, <=, >, >=, between, in or is after '{name.text}', found {sign.shown}.",
    )


def _listed(tokens: _Tokens) -> tuple[Value, ...]:
    """The values of a list in parentheses."""
    opening = tokens.take()
    if opening.text != "(" or opening.kind != "mark":
        refuse(opening.position, f"expected ( and a list of values, found {opening.shown}.")
    values = [_value(tokens)]
    while True:
        token = tokens.take()
        if token.kind == "mark" and token.text == ")":
            return tuple(values)
        if token.kind != "mark" or token.text != ",":
            refuse(token.position, f"expected , or ) in the list, found {token.shown}.")
        values.append(_value(tokens))


def _presence(tokens: _Tokens) -> Operator:
    """What follows `is`: missing, or not missing."""
    token = tokens.take()
    if token.word == "missing":
        return "missing"
    if token.word == "not" and tokens.next.word == "missing":
        tokens.take()
        return "present"
    place = tokens.next if token.word == "not" else token
    refuse(place.position, f"expected 'missing' or 'not missing' after is, found {place.shown}.")


def _value(tokens: _Tokens) -> Value:
    token = tokens.take()
    if token.kind == "string" or (token.kind == "word" and token.word not in _WORDS):
        return Value(token.text, token.position)
    hint = ""
    if token.kind == "name":
        hint = " Values stand in single quotes."
    elif token.kind == "word":
        hint = " Put it in single quotes if it is a value."
    refuse(token.position, f"expected a value, found {token.shown}.{hint}")


def _refuse_unsupported(token: _ConditionToken) -> None:
    if token.word in _INSTEAD:
        refuse(token.position, _INSTEAD[token.word])
