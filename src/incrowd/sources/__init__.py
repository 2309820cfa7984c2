"""Where the records come from and go to: files, frames and databases, as one polars frame.

What another package derives a kind of source from is loaded when it is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from incrowd._runtime.late import late_names
from incrowd.sources._reading import describe, read
from incrowd.sources._writing import write
from incrowd.sources.source import Source, SourceLike, as_source

if TYPE_CHECKING:
    from incrowd.sources._databases import Database
    from incrowd.sources.columns import tidy
    from incrowd.sources.paths import PathSource
    from incrowd.sources.plain_paths import plain_path

__all__ = [
    "Database",
    "PathSource",
    "Source",
    "SourceLike",
    "as_source",
    "describe",
    "plain_path",
    "read",
    "tidy",
    "write",
]
__getattr__ = late_names(
    __name__,
    {
        "Database": "incrowd.sources._databases",
        "PathSource": "incrowd.sources.paths",
        "plain_path": "incrowd.sources.plain_paths",
        "tidy": "incrowd.sources.columns",
    },
)
