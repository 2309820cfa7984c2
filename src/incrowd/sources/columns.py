"""Names and types of columns, the same whichever home they come from.

Kept: whole numbers, floating-point numbers, text, booleans, dates and times of a day in a
calendar (datetimes). Made into one of these: categories become text; a decimal becomes a whole
number or a float when that loses no digit, text otherwise; a time of day becomes text. NaN and
empty text are missing. Refused by name: lists, structs, binary, durations and whatever else has
no plain cell.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from incrowd._runtime.sentences import listed
from incrowd.errors import ParameterError, SourceError, nearest

MAX_COLUMNS = 2000

_KEPT = (
    pl.Boolean,
    pl.Int8,
    pl.Int16,
    pl.Int32,
    pl.Int64,
    pl.UInt8,
    pl.UInt16,
    pl.UInt32,
    pl.UInt64,
)
_MADE_PLAIN = {
    pl.Boolean,
    pl.Categorical,
    pl.Date,
    pl.Datetime,
    pl.Enum,
    pl.Null,
    pl.String,
    pl.Time,
}
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896  # 0001-01-01 and 9999-12-31, from 1970-01-01
EXACT_DIGITS = 15  # decimal digits that every float keeps
WHOLE_DIGITS = 18  # decimal digits that every 64-bit whole number keeps


def check_names(names: Sequence[str], source: str, remedy: str, *, shown: bool = True) -> None:
    """Return when the names of all columns of a source are legal; raise SourceError otherwise.

    Names that may be cells, those of a text file, are not `shown`.
    """
    if not names:
        raise SourceError(f"{source} has no columns. {remedy}")
    if len(names) > MAX_COLUMNS:
        raise SourceError(
            f"{source} has {len(names):,} columns; at most {MAX_COLUMNS:,} are allowed. "
            "Keep only the columns that the release needs."
        )
    if "" in names:
        raise SourceError(f"{source}: column {names.index('') + 1} has no name. {remedy}")
    if len(set(names)) < len(names):
        seen: set[str] = set()
        twice = [name for name in names if name in seen or seen.add(name)]  # type: ignore[func-returns-value]
        places = [str(at + 1) for at, name in enumerate(names) if name == twice[0]]
        named = f"named '{twice[0]}'" if shown else "of the same name"
        raise SourceError(
            f"{source} has {len(places)} columns {named} (columns {', '.join(places)}). "
            f"{remedy if not shown else 'Give every column a name of its own.'}"
        )


def chosen(names: Sequence[str], columns: Sequence[str] | None, source: str) -> list[str]:
    """Return the columns to read: all, or those asked for once it is sure that they exist."""
    if columns is None:
        return list(names)
    wanted = list(columns)
    if not wanted or len(set(wanted)) < len(wanted):
        raise ParameterError("columns: must name at least one column, and each only once.")
    known = set(names)
    for name in wanted:
        if name not in known:
            raise SourceError(f"No column '{name}' in {source}.{nearest(name, names)}")
    return wanted


def tidy(frame: pl.DataFrame, source: str, *, numbered: bool = True) -> pl.DataFrame:
    """Return the frame with the column types that the rest of the package understands.

    Its rows are the records of the source in order, unless they are not `numbered`.
    """
    check_names(frame.columns, source, "Give every column a name.")
    if not frame.height:
        raise SourceError(f"{source} has columns but no records.")
    refuse_types(frame.schema, source)
    return pl.DataFrame(
        [
            # Polars takes some names for patterns.
            _tidy_column(column.alias("cells"), column.name, source, numbered).alias(column.name)
            for column in frame
        ]
    )


def refuse_types(schema: pl.Schema, source: str) -> None:
    """Return when every type has plain cells; raise SourceError naming all columns otherwise."""
    refused = [f"'{name}' ({what})" for name, dtype in schema.items() if (what := _refusal(dtype))]
    refuse_columns(refused, source)


def refuse_columns(refused: Sequence[str], source: str) -> None:
    """Refuse columns without plain cells, if there are any, as they are listed."""
    if refused:
        several = len(refused) > 1
        raise SourceError(
            f"{source}: column{'s' if several else ''} {listed(refused, quoted=False)} "
            f"{'have' if several else 'has'} no plain cells. Leave "
            f"{'them' if several else 'it'} out, or turn {'them' if several else 'it'} into "
            "numbers, dates or text first."
        )


def _refusal(dtype: pl.DataType) -> str:
    """Return what a refused type holds, or an empty string for a type that is fine."""
    if dtype.is_nested():
        return "lists" if isinstance(dtype, pl.List | pl.Array) else "structs"
    if isinstance(dtype, pl.Binary):
        return "binary data"
    if isinstance(dtype, pl.Duration):
        return "durations"
    return "" if dtype.is_numeric() or dtype.base_type() in _MADE_PLAIN else "objects"


def _tidy_column(column: pl.Series, name: str, source: str, numbered: bool) -> pl.Series:
    dtype = column.dtype
    if isinstance(dtype, _KEPT):
        return column
    if dtype.is_float():
        if not isinstance(dtype, pl.Float32 | pl.Float64):
            column = column.cast(pl.Float32)
        return column.fill_nan(None)
    if isinstance(dtype, pl.Date | pl.Datetime):
        return in_calendar(column, name, source, numbered=numbered)
    if isinstance(dtype, pl.Decimal):
        return decimal_column(column.cast(pl.String))
    if dtype.is_integer():  # wider than 64 bits
        return decimal_column(column.cast(pl.String))
    if dtype == pl.Time:
        return column.dt.to_string("%H:%M:%S%.f")
    return empty_is_missing(column.cast(pl.String))


def empty_is_missing(column: pl.Series) -> pl.Series:
    """Return a text column with its empty cells as missing."""
    empty = column == ""
    return column.set(empty, None) if empty.any() else column


def decimal_column(texts: pl.Series) -> pl.Series:
    """Return decimals, given as text, as numbers if no digit is lost, as the same text if one is.

    Whole numbers of at most 18 digits become Int64, others of at most 15 significant digits
    Float64 (a float gives those back exactly). NaN is missing.
    """
    texts = texts.set(texts.str.to_lowercase() == "nan", None)
    longest = significant_digits(texts).max()
    if longest is None:
        return texts.cast(pl.Float64)
    whole = not texts.str.contains(r"[^0-9-]").any()
    if whole and int(str(longest)) <= WHOLE_DIGITS:
        return texts.cast(pl.Int64)
    return texts.cast(pl.Float64) if int(str(longest)) <= EXACT_DIGITS else texts


def significant_digits(texts: pl.Series) -> pl.Series:
    """Return how many digits of each decimal, given as text, carry something."""
    short = texts.str.strip_chars_start("-").str.replace(r"(\.\d*?)0+$", "$1")
    short = short.str.strip_chars_end(".")
    return short.str.replace(".", "", literal=True).str.strip_chars_start("0").str.len_bytes()


def in_calendar(column: pl.Series, name: str, source: str, *, numbered: bool) -> pl.Series:
    """Return a date column whose dates Python can hold; PostgreSQL's `infinity` it cannot."""
    days = column.to_physical()
    if isinstance(column.dtype, pl.Datetime):
        per_second = {"ms": 10**3, "us": 10**6, "ns": 10**9}[column.dtype.time_unit]
        days = days // (per_second * 86_400)
    inside = days.is_between(_FIRST_DAY, _LAST_DAY)
    if not inside.all():
        first = f" in record {int((~inside).arg_true()[0]) + 1}" if numbered else ""
        raise SourceError(
            f"{source}: column '{name}' holds a date outside the years 1 to 9999{first}. "
            "Make it missing or a real date."
        )
    return column
