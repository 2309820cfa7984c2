"""From a frame to a coded column: what type a column is, and its dictionary in order.

Only the distinct values of a column are ever parsed, so a million rows of ages cost no more
parsing than a hundred.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from incrowd._runtime.arrays import MAX_EXACT, IntArray
from incrowd.errors import SourceError
from incrowd.table._merged_spellings import merged
from incrowd.table._table import ONE_EACH, Codes, Column, Kind, Role, Tally, first_told, narrow
from incrowd.table.dates import EPOCH, day_of
from incrowd.table.dictionary import ColumnDictionary
from incrowd.table.spellings import plain

if TYPE_CHECKING:
    import polars as pl

_NUMBER = re.compile(r"[+-]?(\d+)(?:\.\d+)?(?:[eE]([+-]?\d{1,3}))?", re.ASCII)
_LONGEST = 1_000


def code_column(
    cells: pl.Series | ColumnDictionary,
    *,
    role: Role,
    kind: Kind | None = None,
    order: Sequence[str] | None = None,
    date_format: str | None = None,
    protected: bool = False,
) -> Column:
    """The coded column of cells; its type is seen from the data when not given.

    Of a sensitive attribute, and of any that a privacy model protects, spellings of one value have
    one code. A cell that does not fit the type is an error that names the column, the number of
    such rows and the first of them, never the cell.
    """
    dictionary = cells if isinstance(cells, ColumnDictionary) else ColumnDictionary.of(cells)
    texts, codes, missing = dictionary.finish()
    name = dictionary.name
    tally = dictionary.tally
    folded = protected or role == "sensitive"
    written = texts
    told: tuple[str, ...] = ()
    respelled: tuple[str, ...] = ()
    if folded and kind is None and order is None and date_format is None and _all_numbers(texts):
        kind = "numeric"
    if folded and not _is_read(dictionary, texts, kind, order, date_format):
        # All spellings tell of the type: codes such as 250.1 beside 250.10 stay codes.
        written = [text for text in map(plain, texts) if text]
        found = merged(name, texts, codes, tally)
        texts, codes, missing = found.texts, found.codes, found.missing
        told, respelled = (*found.unseen, *found.rewritten), found.respelled
    if kind is None:
        kind = "category" if role == "keep" else _seen_kind(dictionary, written, order, date_format)
    if kind == "numeric":
        column = _numeric(name, role, texts, codes, missing, tally)
        return replace(column, tally=tally, folded=folded, remarks=told)
    if kind == "date":
        if dictionary.temporal:
            # Times of day are cut off; no format is needed, for the texts are ISO.
            texts, date_format = [text[:10] for text in texts], None
        column = _dates(name, role, texts, codes, missing, date_format, tally)
        return replace(column, tally=tally, folded=folded, remarks=told)
    column = Column(
        name, role, kind, codes, tuple(texts), missing=missing, tally=tally,
        folded=folded, remarks=(*told, *respelled),
    )  # fmt: skip
    return _ordered(column, order) if kind == "ordered" else column


def _is_read(
    dictionary: ColumnDictionary,
    texts: list[str],
    kind: Kind | None,
    order: Sequence[str] | None,
    date_format: str | None,
) -> bool:
    """Whether cells are read as numbers or days, each of which has one text then, and not as text.

    A day such as 2011.10 is no number, so days that come as text are left as they are written.
    """
    if kind == "date" or (kind is None and date_format is not None):
        return True
    if kind == "numeric":
        return all(_NUMBER.fullmatch(text.strip()) for text in texts)
    return kind is None and order is None and (dictionary.numeric or dictionary.temporal)


def seen_again(column: Column) -> Column:
    """The column with the type that its own values have, where more records hid it.

    A single text among numbers makes categories of them; once its record is gone, they are numbers.
    """
    texts = list(column.values)
    own = np.arange(len(texts), dtype=np.uint32)
    if column.kind != "category" or column.remarks:  # as that of codes written in several ways
        return column
    if _all_numbers(texts):
        seen = _numeric(column.name, column.role, texts, own, 0, ONE_EACH)
    elif texts and all(parse_date(text) is not None for text in texts):
        seen = _dates(column.name, column.role, texts, own, 0, None, ONE_EACH)
    else:
        return column
    lookup = np.append(seen.codes, len(seen.values))
    return replace(
        seen,
        codes=narrow(lookup, len(seen.values) + 1)[column.codes],
        missing=column.missing,
        tally=column.tally,
        folded=column.folded,
    )


def parse_number(text: str) -> tuple[int, int] | None:
    """The number as (digits, decimals), so that 3.50 is (35, 1); None if it is not one.

    Numbers with more digits than can be ordered exactly (beyond 2^53, the decimal point aside)
    are none either.
    """
    stripped = text.strip()
    match = _NUMBER.fullmatch(stripped)
    if match is None or len(stripped) > _LONGEST:
        return None
    if match[2] is not None:
        stripped = f"{Decimal(stripped):f}"
    whole, _, fraction = stripped.partition(".")
    fraction = fraction.rstrip("0")
    digits = int(whole + fraction)
    return (digits, len(fraction)) if abs(digits) <= MAX_EXACT else None


def format_number(digits: int, decimals: int) -> str:
    """The text of `digits` x 10^-decimals without trailing zeros."""
    if decimals == 0:
        return str(digits)
    sign, magnitude = ("-" if digits < 0 else ""), str(abs(digits)).zfill(decimals + 1)
    fraction = magnitude[-decimals:].rstrip("0")
    return sign + magnitude[:-decimals] + (f".{fraction}" if fraction else "")


def number_text(text: str) -> str:
    """The text of a number as a release writes it; any other text as it is."""
    parsed = parse_number(text)
    return text if parsed is None else format_number(*parsed)


def parse_date(text: str, date_format: str | None = None) -> int | None:
    """The date as days since 1970-01-01, or None if it is not one; a time of day is left out.

    The last day of the calendar, 9999-12-31, is none: it means "never", and no range could end
    after it.
    """
    day = day_of(text.strip(), date_format)
    return None if day is None or day == date.max else (day - EPOCH).days


def format_date(days: int) -> str:
    """The ISO text of a date given as days since 1970-01-01."""
    return (EPOCH + timedelta(days=days)).isoformat()


def looks_numeric(texts: Sequence[str]) -> bool:
    """Whether every text is a number; codes with leading zeros such as 01234 are not."""
    for text in texts:
        stripped = text.strip()
        match = _NUMBER.fullmatch(stripped)
        if match is None or (len(match[1]) > 1 and match[1][0] == "0"):
            return False
        if parse_number(stripped) is None:
            return False
    return bool(texts)


def _seen_kind(
    dictionary: ColumnDictionary,
    texts: list[str],
    order: Sequence[str] | None,
    date_format: str | None,
) -> Kind:
    if order is not None:
        return "ordered"
    if date_format is not None:
        return "date"
    if dictionary.numeric:
        return "numeric"
    if dictionary.temporal and texts and all(parse_date(text) is not None for text in texts):
        return "date"
    return "category" if dictionary.temporal else kind_of_texts(texts)


def kind_of_texts(texts: Sequence[str]) -> Kind:
    """What texts alone look like: numbers, dates or categories."""
    if _all_numbers(texts):
        return "numeric"
    if texts and all(parse_date(text) is not None for text in texts):
        return "date"
    return "category"


def _all_numbers(texts: Sequence[str]) -> bool:
    """Whether the texts are numbers, each written in one way: 250.1 beside 250.10 are codes."""
    if not looks_numeric(texts):
        return False
    decimals = [text.strip() for text in texts if "." in text]
    return len({parse_number(text) for text in decimals}) == len(set(decimals))


def _numeric(
    name: str, role: Role, texts: list[str], codes: Codes, missing: int, tally: Tally
) -> Column:
    parsed = [parse_number(text) for text in texts]
    alien = [_NUMBER.fullmatch(text.strip()) is None for text in texts]
    hint = " Correct them, or give it `type: category`."
    _refuse(name, "a number", alien, codes, hint, tally)
    too_long = [p is None for p in parsed]
    hint = " Round them, or give it `type: category`."
    wanted = "numbers of at most 15 digits, which can be ordered exactly"
    _refuse(name, wanted, too_long, codes, hint, tally)
    good = [p for p in parsed if p is not None]
    decimals = max((p[1] for p in good), default=0)
    scaled = np.array([p[0] * 10 ** (decimals - p[1]) for p in good], dtype=object)
    if len(scaled) and max(abs(int(s)) for s in scaled) > MAX_EXACT:
        raise SourceError(
            f"Column '{name}' mixes very large numbers with many decimals, more digits than can be "
            "ordered exactly. Round it, or give it `type: category`."
        )
    numbers, codes = _along(scaled.astype(np.int64), codes)
    values = tuple(format_number(int(n), decimals) for n in numbers)
    return Column(
        name, role, "numeric", codes, values, numbers=numbers, decimals=decimals, missing=missing
    )


def _dates(
    name: str,
    role: Role,
    texts: list[str],
    codes: Codes,
    missing: int,
    date_format: str | None,
    tally: Tally,
) -> Column:
    parsed = [parse_date(text, date_format) for text in texts]
    wanted = f"a date written as {date_format or 'YYYY-MM-DD'}"
    hint = " Set `format:` if it differs."
    _refuse(name, wanted, [p is None for p in parsed], codes, hint, tally)
    days, codes = _along(np.array(parsed, dtype=np.int64), codes)
    values = tuple(format_date(int(day)) for day in days)
    return Column(name, role, "date", codes, values, numbers=days, missing=missing)


def _along(positions: IntArray, codes: Codes) -> tuple[IntArray, Codes]:
    """The different positions of texts on an axis, ascending, and the codes of cells by these."""
    numbers, inverse = np.unique(positions, return_inverse=True)
    lookup = np.append(inverse, len(numbers))
    return numbers, narrow(lookup, len(numbers) + 1)[codes]


def _ordered(column: Column, order: Sequence[str] | None) -> Column:
    if order is None:
        return column
    named = dict.fromkeys(column.named(order))
    _refuse(
        column.name,
        "in its `order:`",
        [value not in named for value in column.values],
        column.codes,
        " List every value there.",
        column.tally,
    )
    return column.reordered([value for value in named if value is not None])


def _refuse(
    name: str,
    wanted: str,
    bad_values: list[bool],
    codes: Codes,
    hint: str = "",
    tally: Tally = ONE_EACH,
) -> None:
    if not any(bad_values):
        return
    bad = np.append(np.array(bad_values, dtype=np.bool_), False)[codes]
    many, first = tally.records(bad)
    records, _ = tally.records(np.ones(len(codes), dtype=np.bool_))
    raise SourceError(
        f"Column '{name}': {many:,} of {records:,} rows are not {wanted}"
        f"{first_told(first, ';')}.{hint}"
    )
