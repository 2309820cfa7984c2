"""One way in for every source: what it is decides who reads it."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from incrowd.errors import ParameterError
from incrowd.sources.files import TextOptions
from incrowd.sources.source import Selection, SourceLike, as_source


def read(
    source: SourceLike,
    *,
    query: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    missing_values: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
) -> pl.DataFrame:
    """Return the records of any source as one polars frame.

    Parameters
    ----------
    source
        A path to a `.csv`, `.tsv` or `.txt` file (also with `.gz`) or to a `.parquet` or `.pq`
        file, to a folder of such files, or a pattern such as `visits/*.csv`; a database URL
        (`sqlite:///file.db`, `duckdb:///file.duckdb`, `postgresql://…`) together with `query`; or a
        frame of polars, pandas, pyarrow or another library that Narwhals takes.
    query
        The SQL that selects the records, or the name of their table; for a database only.
    separator, encoding
        Of a text file only; found from its content, and UTF-8, when None.
    header
        Of a text file only: whether its first line has the names of the columns. When None it must,
        and one that looks like a record is refused; when False columns are called column_1 and so
        on.
    missing_values
        Of a text file only: cells that mean that a value is missing, beside empty ones, as in
        `["NA", "?"]`; blanks around cells do not matter.
    columns
        The columns to return, in this order; all when None.

    Raises
    ------
    SourceError
        The source cannot be read as a table with at least one record; the message says why,
        where and what to do, and shows no cell.
    ParameterError
        An option is not legal, or does not fit this kind of source.

    Notes
    -----
    Columns of text files are all text. Other sources keep their types, see
    `incrowd.sources.columns`. The index of a pandas frame is ignored.

    Examples
    --------
    >>> import polars
    >>> read(polars.DataFrame({"age": [34, 51], "sex": ["F", "M"]}), columns=["sex"]).shape
    (2, 1)
    """
    text = TextOptions(
        separator=separator, encoding=encoding, header=header, missing_values=missing_values
    )
    found, wanted = as_source(source), Selection(query, text, _as_list(columns))
    found.refuse(wanted)
    return found.frame(wanted)


def describe(source: object) -> str:
    """Return a short name of a source for messages: a file name, or `a pandas frame`."""
    return as_source(source).label


def _as_list(columns: Sequence[str] | None) -> list[str] | None:
    if columns is None:
        return None
    if isinstance(columns, str) or not all(isinstance(name, str) for name in columns):
        raise ParameterError("columns: must be a list of column names.")
    return list(columns)
