"""Records in an SQL engine: where tables of codes are kept, joined and counted out of memory."""

from incrowd.sql.duckdb_engine import DuckDbEngine
from incrowd.sql.engine import SqlEngine
from incrowd.sql.rows import SqlRows

__all__ = ["DuckDbEngine", "SqlEngine", "SqlRows"]
