"""Where the records come from and go to: files, frames and databases, as one polars frame."""

from incrowd.sources._reading import read, read_pieces
from incrowd.sources._writing import write
from incrowd.sources.naming import describe, is_database_url

__all__ = ["describe", "is_database_url", "read", "read_pieces", "write"]
