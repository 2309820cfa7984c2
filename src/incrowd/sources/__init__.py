"""Where the records come from and go to: files, frames and databases, as one polars frame."""

from incrowd.sources._reading import describe, read
from incrowd.sources._writing import write
from incrowd.sources.source import Source, as_source

__all__ = ["Source", "as_source", "describe", "read", "write"]
