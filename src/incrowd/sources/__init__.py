"""Where the records come from and go to: files, frames and databases, as one polars frame."""

from incrowd.sources.naming import describe, is_database_url
from incrowd.sources.reading import read, read_pieces
from incrowd.sources.writing import write

__all__ = ["describe", "is_database_url", "read", "read_pieces", "write"]
