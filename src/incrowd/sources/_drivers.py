"""The ADBC drivers, which are installed on demand."""

from __future__ import annotations

import importlib
from typing import Any

from incrowd.errors import SourceError


def driver(package: str) -> tuple[Any, Any]:
    """Return the DB-API module of an ADBC driver and pyarrow, or tell how to install them."""
    try:
        arrow = importlib.import_module("pyarrow")
        return importlib.import_module(f"{package}.dbapi"), arrow
    except ImportError:
        pass
    raise SourceError(
        "Reading from a database needs its driver, which is not installed: "
        "pip install 'incrowd[databases]'"
    )
