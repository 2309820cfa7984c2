"""Whether the first line of a text file is a header: names, or the first record.

A file without a header would lend its first patient to the release as the names of its columns. So
names that look like data of their own column are refused, unless the person says what the line is
(`header: true` or `header: false`). One place decides, for whoever reads text files.

A name looks like data when it is a number within the range of a column of numbers, a date over a
column of dates, a code of the same form as nearly all cells below it, or a value that occurs again
in its own column, in large letters or small. Years and other numbers that count up from column to
column are names of a wide table, and speak neither way. A date is never the name of a column of
dates, so one is enough.

A word over numbers or dates is what only a header has, as the first cell of such a column would be
no word: there more than half of the names must look like data. Where no word stands over numbers or
dates nothing speaks for a header, and one name that is plainly data is enough: a number over
numbers, even out of their range; a text with digits, or a hexadecimal number, of the form of nearly
all cells; a value that occurs twice more in its own column. Otherwise a third must look like data,
half where a single name does.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import Literal

from incrowd.errors import SourceError
from incrowd.sources.missing_marks import MARKS

SAMPLE = 1 << 20
"""Bytes of records that names are compared with."""

CellLook = Literal["name", "word", "neither", "value", "date"]

_MOST_RECORDS = 1_000
_NEARLY_ALL = 0.8
_FEW = 5  # fewer numbers than this tell no range
_SHARE = 1 / 3
_SHARE_OF_ONE = 1 / 2
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_DATE = re.compile(
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})"
    r"|\d{1,2}[- ]?[^\W\d_]{3,9}\.?[- ]?\d{4})(?:[ T]\d{1,2}:\d{2}.*)?",
    re.ASCII,
)
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_HEX = re.compile(r"[0-9a-f]{8,}", re.ASCII | re.IGNORECASE)
_WORDS = re.compile(r"[^\W\d_]+(?:[ .'’-]*[^\W\d_]+)*")
_SHORT_WORDS = 3  # letters; of shorter ones each counts
_SHORTEST_TEXT = 4  # a shorter text with a digit, as V1, may name a column of such texts
_AGAIN = 2
_MAIL = re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")
_YEARS = (1900, 2100)


def numbered(width: int) -> list[str]:
    """The names of the columns of a file without a header: column_1, column_2 and so on."""
    return [f"column_{number}" for number in range(1, width + 1)]


def refuse_data(names: Sequence[str], records: Sequence[Sequence[str]], source: str) -> None:
    """Refuse names that look like a record; the message shows none of them.

    `records` are the first ones of the file, each with as many cells as there are names.
    """
    like_data = _like_data(names, records)
    if like_data:
        raise SourceError(
            f"{source}: the first line looks like a record, not like the names of the columns: "
            f"{like_data:,} of its {len(names):,} cells look like the cells below them. As a "
            "header it would be published. If the file has no header, say `header: false` in the "
            "policy, --no-header on the command line, or so on the page: columns are then called "
            "column_1, column_2 and so on. If they are names, say `header: true` or --header. If "
            "files were put together and each brought its header, remove the repeated ones."
        )


def _like_data(names: Sequence[str], records: Sequence[Sequence[str]]) -> int:
    """How many names look like data, when they are enough to make the line a record; else 0."""
    looks = looks_of(names, records)
    weighed = [look for look in looks if look != "neither"]
    like_data = sum(look in ("value", "date") for look in weighed)
    share = like_data / max(len(weighed), 1)
    if "date" in weighed:
        return like_data
    if "word" in weighed:
        return like_data if share > _SHARE_OF_ONE else 0
    if like_data and share >= (_SHARE_OF_ONE if like_data == 1 else _SHARE):
        return like_data
    columns = _columns(names, records)
    plainly = sum(
        look != "neither" and _plainly_data(name, cells)
        for look, name, cells in zip(looks, names, columns, strict=True)
    )
    return max(like_data, plainly) if plainly else 0


def looks_of(names: Sequence[str], records: Sequence[Sequence[str]]) -> list[CellLook]:
    """What each name looks like beside the cells of its column."""
    counting = _counting_up(names)
    columns = _columns(names, records)
    return [
        "neither" if at in counting else _look(name, columns[at]) for at, name in enumerate(names)
    ]


def _columns(names: Sequence[str], records: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """The cells below each name, those that are empty left out."""
    columns = zip(*records, strict=True) if records else [()] * len(names)
    return [tuple(cell for cell in cells if cell) for cells in columns]


def first_records(text: str, separator: str, width: int) -> list[list[str]]:
    """The whole records at the beginning of a text, as far as they have `width` cells."""
    found: list[list[str]] = []
    try:
        for cells in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
            if len(cells) == width:
                found.append([cell.strip() for cell in cells])
            if len(found) == _MOST_RECORDS:
                break
    except csv.Error:  # what is wrong with the text is said by those who check all of it
        pass
    return found


def _look(name: str, present: Sequence[str]) -> CellLook:
    if not name or not present:
        return "neither"
    if _DATE.fullmatch(name) and _most(present, _DATE):
        return "date"
    if _NUMBER.fullmatch(name):
        return "value" if name in present or _in_range(name, present) else "name"
    if any(kind.fullmatch(name) and _most(present, kind) for kind in (_UUID, _MAIL)):
        return "value"
    if _occurs(name, present) or _same_form(name, present):
        return "value"
    if not (_most(present, _NUMBER) or _most(present, _DATE)):
        return "name"
    if name.casefold() in MARKS:  # a cell without a value, or the name of one: it tells nothing
        return "neither"
    return "word" if name[0].isalpha() or name[0] == "_" else "name"  # `<5` is no word


def _occurs(name: str, cells: Sequence[str]) -> bool:
    folded = name.casefold()
    return any(cell.casefold() == folded for cell in cells)


def _plainly_data(name: str, cells: Sequence[str]) -> bool:
    """Whether a name can hardly be one, so that it is enough where nothing speaks for names."""
    if cells.count(name) >= _AGAIN:
        return True
    if _NUMBER.fullmatch(name):
        return _number_over_numbers(name, cells)
    if _HEX.fullmatch(name) and _most(cells, _HEX):
        return True
    return len(name) >= _SHORTEST_TEXT and _same_form(name, cells)


def _number_over_numbers(name: str, cells: Sequence[str]) -> bool:
    """Whether a number stands over numbers, some as whole as it is; years must be in range.

    Doses and years name columns of measures in wide tables: whole numbers over decimals, and years
    over what are no years.
    """
    if not _most(cells, _NUMBER) or not any(_whole(cell) == _whole(name) for cell in cells):
        return False
    year = _whole(name) and _YEARS[0] <= _value(name) <= _YEARS[1]
    return not year or _in_range(name, cells)


def _whole(text: str) -> bool:
    return text.lstrip("+-").isdigit()


def _in_range(name: str, cells: Sequence[str]) -> bool:
    """Whether a number may be one of a column of numbers: near the others, once there are some."""
    numbers = [_value(cell) for cell in cells if _NUMBER.fullmatch(cell)]
    if len(numbers) < _NEARLY_ALL * len(cells):
        return False
    low, high = min(numbers), max(numbers)
    room = (high - low) / 2
    return len(numbers) < _FEW or low - room <= _value(name) <= high + room


def _value(text: str) -> float:
    return float(text.replace(",", "."))


def _same_form(name: str, cells: Sequence[str]) -> bool:
    """Whether a text with digits has the form of nearly all cells, as P0001 over P0002."""
    if not any(character.isdigit() for character in name):
        return False
    form_of = _form if len(name) >= _SHORTEST_TEXT else _exact_form
    form = form_of(name)
    return sum(form_of(cell) == form for cell in cells) >= _NEARLY_ALL * len(cells)


def _form(text: str) -> str:
    """What kinds of signs follow each other: `8. Juni 1998` and `12. Mai 2001` are `9. W 9`."""
    return re.sub(r"\d+", "9", _WORDS.sub(_form_of_words, text))


def _exact_form(text: str) -> str:
    """The form sign by sign: D1 and D2 are alike, D1 and E119 are not."""
    return re.sub(r"\d", "9", re.sub(r"[^\W\d_]", "a", text))


def _form_of_words(found: re.Match[str]) -> str:
    letters = sum(map(str.isalpha, found[0]))
    return "W" if letters >= _SHORT_WORDS else "a" * letters


def _most(cells: Sequence[str], kind: re.Pattern[str]) -> bool:
    return sum(kind.fullmatch(cell) is not None for cell in cells) >= _NEARLY_ALL * len(cells)


def _counting_up(names: Sequence[str]) -> set[int]:
    """The places of whole numbers that count up or down in even steps, as years or 0, 1, 2 do."""
    numbers = [int(name) if re.fullmatch(r"\d{1,9}", name, re.ASCII) else None for name in names]
    found: set[int] = set()
    begin = 0
    while begin < len(numbers):
        end = _end_of_run(numbers, begin)
        run = [each for each in numbers[begin:end] if each is not None]
        years = len(run) == 2 and all(_YEARS[0] <= each <= _YEARS[1] for each in run)
        if len(run) >= 3 or (years and abs(run[1] - run[0]) == 1):
            found.update(range(begin, end))
        begin = max(end - 1, begin + 1) if len(run) == 2 else max(end, begin + 1)
    return found


def _end_of_run(numbers: Sequence[int | None], begin: int) -> int:
    """Where the even steps from a place on end; a step of zero is none."""
    first = numbers[begin]
    after = numbers[begin + 1] if begin + 1 < len(numbers) else None
    if first is None or after is None or after == first:
        return begin + 1
    end = begin + 2
    step, last = after - first, after
    while end < len(numbers) and numbers[end] == last + step:
        last, end = last + step, end + 1
    return end
