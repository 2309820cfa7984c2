"""Spellings of one sensitive value, which count as one: a reader takes `HIV` and `hiv` for it.

A group that is diverse by spelling alone is not diverse. So texts of a sensitive attribute that
agree in what a person reads are counted as one value: after Unicode's compatibility forms, case
folding, without blanks around and characters that nobody sees, and where both are one number. A
power or an index beside a digit is not one more digit. This is the judge's own way to tell; the
code that makes releases has another.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import MAX_EMAX, MAX_PREC, Context, Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from incrowd.verify.verdict import SPELLINGS, Finding, counted, shown

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from incrowd.verify.files.layout import Layout, Promise

_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2065\u3164\uffa0")
_SELECTORS = (
    ("\u180b", "\u180f"),
    ("\ufe00", "\ufe0f"),
    ("\ufff0", "\ufff8"),
    ("\U000e0000", "\U000e0fff"),
)
_QUOTES = dict.fromkeys("\u2018\u2019\u02bc", "'") | dict.fromkeys("\u201c\u201d", '"')
_LIKE = {**_QUOTES, "\u2212": "-", "\u2800": " "}
_IN_NUMBERS = frozenset("0123456789+-.e")
_OUT_OF_LINE = frozenset({"<super>", "<sub>", "<circle>", "<fraction>"})
_WHOLE = Context(prec=MAX_PREC, Emax=MAX_EMAX)


def reading(text: str) -> str:
    """Return what a person reads in a text; equal for all spellings of a value, empty for none."""
    if text.isascii() and text.isprintable():  # which most are, and it saves most of the time
        return _as_number(" ".join(text.lower().split()))
    read, before = text, None
    while read != before:
        read, before = _read_once(read), read
    return _as_number(read)


def _read_once(text: str) -> str:
    cleaned = "".join(map(_character, text))
    kept = "".join(map(_character, _in_line(cleaned)))
    lower = " ".join(kept.split()).casefold()
    first, *others = lower.replace("\u0131", "i").split("i\u0307")
    return "i".join([first, *(each.lstrip("\u0307") for each in others)])


def _in_line(text: str) -> str:
    """Return a text in compatibility forms, but for raised numbers that touch a digit.

    Such a number, a power say, is a number of its own, not more digits of the one it touches.
    """
    made, start = [], 0
    while start < len(text):
        end, raised = start + 1, _out_of_line(text[start])
        while end < len(text) and _out_of_line(text[end]) == raised:
            end += 1
        part, around = text[start:end], text[max(start - 1, 0) : start] + text[end : end + 1]
        stays = raised and not set("0123456789").isdisjoint(around)
        stays = stays and "No" in map(unicodedata.category, part)
        made.append(part if stays else unicodedata.normalize("NFKC", part))
        start = end
    return "".join(made)


def _out_of_line(each: str) -> bool:
    kind = unicodedata.decomposition(each).partition(" ")[0]
    return kind in _OUT_OF_LINE or unicodedata.category(each) == "No"


def _character(each: str) -> str:
    kind = unicodedata.category(each)
    if each.isspace():
        return " "
    if kind in {"Cc", "Cf"} or each in _FILLERS or any(a <= each <= b for a, b in _SELECTORS):
        return ""
    if kind == "Nd":
        return "0123456789"[unicodedata.digit(each)]
    return "-" if kind == "Pd" else _LIKE.get(each, each)


def _as_number(text: str) -> str:
    """Return a number as its digits and their power of ten; any other text as it is."""
    if not text or not _IN_NUMBERS.issuperset(text):
        return text
    mantissa, e, exponent = text.partition("e")
    if e and not exponent[exponent[:1] in ("+", "-") :].isdigit():
        return text
    try:
        sign, digits, power = Decimal(mantissa).as_tuple()
    except InvalidOperation:
        return text
    assert isinstance(power, int)  # no letter gets here, so no infinity
    told = "".join(map(str, digits)).lstrip("0")
    short = told.rstrip("0")
    # The exponent may be of any length, so it is added to and never applied.
    tens = _WHOLE.add(Decimal(exponent or 0), power + len(told) - len(short))
    return f"{'-' if sign else ''}{short}e{tens:f}" if short else "0e0"


@dataclass
class Spellings:
    """The values of sensitive attributes: for each, by what a person reads, the text that counts.

    A value may have several texts in the release; one of them is counted for all. Columns of
    numbers and days are not among them: these have one form, or cannot be read.
    """

    columns: frozenset[str]
    _texts: dict[str, dict[str, str]] = field(default_factory=dict)
    _ones: dict[str, dict[str, str]] = field(default_factory=dict)
    _others: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, layout: Layout) -> Spellings:
        """Return the spellings of the attributes that are sensitive, or that a promise calls so.

        A quasi-identifier tells records apart as it is written; no promise is about one.
        """
        named = {name for promise in layout.promises for name in _sensitive(promise)}
        apart = {*layout.kinds, *layout.quasi, *layout.known_events}
        return cls(frozenset({*layout.sensitive, *named} - apart))

    def take_for_one(
        self,
        connection: DuckDBPyConnection,
        table: str,
        columns: Mapping[str, str],
        *,
        told: bool = True,
    ) -> None:
        """Let a table have one text for each value of the attributes, given their SQL names.

        What is not published is not `told` of.

        Notes
        -----
        Costs one pass over a column for its different texts, and nothing more where each value has
        one spelling.
        """
        for name, column in columns.items():
            if name not in self.columns:
                continue
            found = connection.execute(f"SELECT DISTINCT {column} FROM {table}").fetchall()
            known = self._texts.setdefault(name, {})
            ones = {text: known.setdefault(reading(text), text) for (text,) in sorted(found)}
            others = [text for text, one in ones.items() if one != text]
            if told:
                self._ones[name] = ones
            if others and told:
                self._others[name] = len(others)
            if others:
                connection.execute(
                    f"UPDATE {table} SET {column} = one FROM"
                    " (SELECT unnest($others) AS other, unnest($ones) AS one) AS spelled"
                    f" WHERE {column} = other",
                    {"others": others, "ones": [ones[text] for text in others]},
                )

    @property
    def respelled(self) -> frozenset[str]:
        """The attributes of which published texts were taken for one."""
        return frozenset(self._others)

    def promises(self, promises: Sequence[Promise]) -> tuple[Promise, ...]:
        """Return the promises with the values they list written as they are counted.

        What they list must stand in the release as it is written there, in any spelling: one that
        does not could tell something that no record shows.
        """
        return tuple(self._written(promise) for promise in promises)

    def _written(self, promise: Promise) -> Promise:
        name = promise.parameters.get("sensitive")
        if not isinstance(name, str) or name not in self._others:
            return promise
        parameters, extra = (
            {key: self._one(name, each) if isinstance(each, list) else each for key, each in stated}
            for stated in (promise.parameters.items(), promise.extra.items())
        )
        ancestors = extra.get("ancestors")
        if isinstance(ancestors, dict):
            written = {self._one(name, leaf): path for leaf, path in ancestors.items()}
            # Two spellings of one value cannot both have a place in a tree.
            extra["ancestors"] = written if len(written) == len(ancestors) else None
        return replace(promise, parameters=parameters, extra=extra)

    def _one(self, name: str, text: Any) -> Any:
        if isinstance(text, list):
            return [self._one(name, each) for each in text]
        return self._ones[name].get(text, text) if isinstance(text, str) else text

    def findings(self) -> list[Finding]:
        """Return what people must hear of values that are written in several ways, if any are."""
        if not self._others:
            return []
        told = "; ".join(
            f"{counted(many, 'text')} of {shown(name)} {'is' if many == 1 else 'are'} taken for"
            " what another text says"
            for name, many in self._others.items()
        )
        return [Finding(SPELLINGS, True, told, warns=True)]


def _sensitive(promise: Promise) -> list[str]:
    named = promise.parameters.get("sensitive")
    return [
        each for each in (named if isinstance(named, list) else [named]) if isinstance(each, str)
    ]
