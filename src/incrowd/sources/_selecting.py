"""One SELECT, and nothing else: what SQL a source may be read with, in every database.

A policy carries a query, and a policy may come from a stranger. The query is read here, word by
word, before any database is opened; each database then holds it to reading once more by its own
means (a read-only file, a read-only transaction, an authorizer), since only the database knows all
of its grammar.

Invariant: what passes is one statement that begins as a SELECT does, its parentheses close where
they should, and it names no word that changes data and no function known to reach beyond the
database.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from incrowd.errors import SourceError

Dialect = Literal["sqlite", "duckdb", "postgresql"]
_TABLE = re.compile(r"\s*(\w+|\"[^\"]+\")(\.(\w+|\"[^\"]+\")){0,2}\s*")
_LONGEST = 100_000
_BEGINNINGS = ("select", "with", "values", "table", "from", "(")
_CHANGING = ("insert", "update", "delete", "merge", "into")
_ONE = (
    "the query must be one SELECT (it may begin with WITH), or the name of a table. Only reading "
    "is allowed"
)

_BEYOND = re.compile(
    r"""
    pg_(?!typeof$).*                      # files, sessions, settings and slots of the server
    | lo_.* | loread | lowrite            # large objects: files of the server
    | dblink.* | postgres_fdw_.* | http.* # other servers
    | .*_to_xml.* | ts_stat | ts_rewrite | crosstab.* | connectby   # SQL within texts
    | set_config | nextval | setval
    | load_extension | readfile | writefile | edit | fsdir | lsdir | fts3_tokenizer   # SQLite
    | read_(csv|csv_auto|json.*|ndjson.*|parquet|text|blob|xlsx|ods|duckdb)           # DuckDB
    | parquet_.* | sniff_csv | glob | sqlite_.* | postgres_.* | mysql_.* | iceberg_.* | delta_scan
    | query | query_table | getenv
    """,
    re.VERBOSE,
)
_HARMLESS = {"sqlite": ("glob", "sqlite_version"), "duckdb": (), "postgresql": ("query",)}
"""What is another function in a database than the one that the list means."""


_LETTERS = r"A-Za-z_\x80-\U0010ffff"
_LETTER = f"[{_LETTERS}]"


class Token(NamedTuple):
    """A part of a query: a `word`, a `name` in quotes, a `text`, or another `sign`."""

    kind: Literal["word", "name", "text", "sign"]
    text: str


def one_select(query: str | None, dialect: Dialect, where: str) -> str:
    """The one SELECT that a query is, in SQL; a name of a table selects all its records.

    Parameters
    ----------
    query
        SQL, or the name of a table.
    dialect
        The database that it is for.
    where
        What to call the place in messages.

    Raises
    ------
    SourceError
        It is no query, more than one statement, or does more than read the database.

    Example
    -------
    >>> one_select("patients", "sqlite", "registry.db")
    'SELECT * FROM patients'
    """
    if query is None or not query.strip():
        raise SourceError(
            f"{where} is a database: say which records to read with a query, for example "
            "SELECT * FROM patients."
        )
    if _TABLE.fullmatch(query):
        return f"SELECT * FROM {query}"
    if len(query) > _LONGEST or "\0" in query:
        raise SourceError(f"{where}: the query is too long, or no text. Write one SELECT.")
    tokens = list(_tokens(query, dialect, where))
    _refuse_several(tokens, where)
    _refuse_changing(tokens, where)
    _refuse_beyond(tokens, dialect, where)
    return query


def reaches_beyond(function: str, dialect: Dialect) -> bool:
    """Whether a function is known to reach files or servers, or to run SQL that is hidden."""
    name = function.lower()
    return _BEYOND.fullmatch(name) is not None and name not in _HARMLESS[dialect]


def _refuse_several(tokens: list[Token], where: str) -> None:
    """Refuse what is not one statement that begins as a SELECT does."""
    signs = [each.text.lower() if each.kind in ("word", "sign") else "" for each in tokens]
    ends = [at for at, each in enumerate(signs) if each == ";"]
    if ends and any(each != ";" for each in signs[ends[0] :]):
        raise SourceError(f"{where}: the query has more than one statement; {_ONE}.")
    if not signs or signs[0] not in _BEGINNINGS:
        raise SourceError(f"{where}: {_ONE}.")
    depth = 0
    for each in signs:
        depth += (each == "(") - (each == ")")
        if depth < 0:
            break
    if depth:
        raise SourceError(f"{where}: the parentheses of the query do not match. Correct it.")


def _refuse_changing(tokens: list[Token], where: str) -> None:
    for each in tokens:
        if each.kind == "word" and each.text.lower() in _CHANGING:
            word = each.text.upper()
            raise SourceError(
                f"{where}: the query has the word {word}, which changes data; {_ONE}. A column of "
                f'that name is written in quotes, "{each.text}".'
            )


def _refuse_beyond(tokens: list[Token], dialect: Dialect, where: str) -> None:
    """Refuse functions that read files, open connections, or run SQL that stands in a text."""
    for each, following in zip(tokens, [*tokens[1:], Token("sign", "")], strict=True):
        if each.kind not in ("word", "name") or following != ("sign", "("):
            continue
        if reaches_beyond(each.text, dialect):
            raise SourceError(
                f"{where}: the query calls {each.text}(), which reaches beyond the tables of the "
                "database, or may. Make a table or a view of what it gives, and read that."
            )


def _tokens(query: str, dialect: Dialect, where: str) -> Iterator[Token]:
    """The parts of a query in order, without comments, read as the database reads them.

    Forms that hide words, or that end where only the database knows (U&"…", E'…'), are refused.
    """
    pattern = _PATTERNS[dialect]
    at = 0
    while at < len(query):
        if query.startswith("/*", at):
            at = _after_comment(query, at, where, nested=dialect != "sqlite")
            continue
        match = pattern.match(query, at)
        if match is None:
            raise SourceError(f"{where}: a quote in the query is not closed. Correct it.")
        at = match.end()
        kind = match.lastgroup
        if kind == "hidden":
            raise SourceError(
                f"{where}: the query holds U& or E texts. Write their characters plainly."
            )
        if kind == "dollar":
            at = query.find(match[0], at)
            if at < 0:
                raise SourceError(f"{where}: a quote in the query is not closed. Correct it.")
            at += len(match[0])
            yield Token("text", "")
        elif kind == "word":
            yield Token("word", match[0])
        elif kind == "name":
            yield Token("name", match[0][1:-1].replace('""', '"'))
        elif kind == "text":
            yield Token("text", "")
        elif kind == "sign":
            yield Token("sign", match[0])


def _after_comment(query: str, at: int, where: str, *, nested: bool) -> int:
    """The place after a comment; PostgreSQL and DuckDB count comments within comments."""
    depth = 0
    for match in re.finditer(r"/\*|\*/", query[at:]):
        if match[0] == "/*":
            depth = depth + 1 if nested or not depth else depth
        else:
            depth -= 1
        if not depth:
            return at + match.end()
    raise SourceError(f"{where}: a comment in the query is not closed. Correct it.")


def _pattern(dialect: Dialect) -> re.Pattern[str]:
    """How the parts of a query are told apart; only ASCII is space, or a digit, to a database."""
    names = r'"(?:[^"]|"")*"'
    dollar = hidden = r"(?!)"
    line = r"--[^\r\n]*"
    if dialect == "sqlite":
        line = r"--[^\n]*"
        names += r"|`(?:[^`]|``)*`|\[[^\]]*\]"
    else:
        hidden = r"[uU]&[\"']|[eE]'"
        dollar = rf"\$(?:{_LETTER}[{_LETTERS}0-9]*)?\$"
    return re.compile(
        rf"(?P<space>[ \t\n\r\f\v]+|{line})|(?P<hidden>{hidden})|(?P<text>'(?:[^']|'')*')"
        rf"|(?P<name>{names})|(?P<dollar>{dollar})|(?P<word>{_LETTER}[{_LETTERS}0-9$]*)"
        r"|(?P<number>[0-9.]+)|(?P<sign>[^'\"`])",
        re.DOTALL,
    )


_PATTERNS: dict[Dialect, re.Pattern[str]] = {
    "sqlite": _pattern("sqlite"),
    "duckdb": _pattern("duckdb"),
    "postgresql": _pattern("postgresql"),
}
