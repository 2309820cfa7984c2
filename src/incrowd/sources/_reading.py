"""One door for every source: what it is decides who reads it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.errors import ParameterError, SourceError, nearest
from incrowd.sources.files import (
    PARQUET_ENDINGS,
    SUPPORTED,
    TEXT_ENDINGS,
    TextOptions,
    ending_of,
    refuse_text_options,
    require_file,
)
from incrowd.sources.folders import is_many, read_many
from incrowd.sources.naming import describe, is_database_url

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl


def read(
    source: Any,
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
    chosen_columns = _as_list(columns)
    text = TextOptions(
        separator=separator, encoding=encoding, header=header, missing_values=missing_values
    )
    if isinstance(source, str) and is_database_url(source):
        from incrowd.sources.databases import read_database

        refuse_text_options(text, describe(source))
        return read_database(source, query, columns=chosen_columns)
    if query is not None:
        raise SourceError(
            f"A query needs a database, but {describe(source)} is none. Leave the query out, or "
            "give a URL such as sqlite:///file.db."
        )
    if not isinstance(source, str | Path):
        from incrowd.sources.frames import read_frame

        refuse_text_options(text, describe(source))
        return read_frame(source, columns=chosen_columns)
    path = Path(source).expanduser()
    if is_many(path):
        return _joined(read_many(path, **text), chosen_columns)
    ending = ending_of(path)
    if ending in TEXT_ENDINGS:
        from incrowd.sources.csv import read_csv

        return read_csv(path, **text, columns=chosen_columns)
    if ending in PARQUET_ENDINGS:
        from incrowd.sources.parquet import read_parquet

        refuse_text_options(text, describe(source))
        return read_parquet(path, columns=chosen_columns)
    require_file(path)
    hint = nearest(ending, (*TEXT_ENDINGS, *PARQUET_ENDINGS))
    ending_text = f"the ending {path.suffix}" if path.suffix else "no ending"
    raise SourceError(f"{path.name} has {ending_text}, which is not supported.{hint} {SUPPORTED}.")


def read_pieces(
    source: Any,
    *,
    query: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    missing_values: Sequence[str] | None = None,
) -> Iterator[pl.DataFrame]:
    """Yield the records of any source in order: files, DuckDB's too, in many frames, others in one.

    Takes and refuses what `read` does.
    """
    text = TextOptions(
        separator=separator, encoding=encoding, header=header, missing_values=missing_values
    )
    if isinstance(source, str) and is_database_url(source):
        from incrowd.sources.databases import read_database_pieces

        refuse_text_options(text, describe(source))
        yield from read_database_pieces(source, query)
        return
    if isinstance(source, str | Path) and query is None:
        path = Path(source).expanduser()
        if is_many(path):
            yield from read_many(path, **text)
            return
        if ending_of(path) in TEXT_ENDINGS:
            from incrowd.sources.csv import read_csv_pieces

            yield from read_csv_pieces(path, **text)
            return
        if ending_of(path) in PARQUET_ENDINGS:
            from incrowd.sources.parquet import read_parquet_pieces

            refuse_text_options(text, describe(source))
            yield from read_parquet_pieces(path)
            return
    yield read(source, query=query, **text)


def _joined(pieces: Iterator[pl.DataFrame], columns: list[str] | None) -> pl.DataFrame:
    """All pieces as one frame."""
    import polars as pl

    from incrowd.sources.columns import chosen

    whole = pl.concat(pieces, how="vertical_relaxed")
    return whole.select(chosen(whole.columns, columns, "the files"))


def _as_list(columns: Sequence[str] | None) -> list[str] | None:
    if columns is None:
        return None
    if isinstance(columns, str) or not all(isinstance(name, str) for name in columns):
        raise ParameterError("columns: must be a list of column names.")
    return list(columns)
