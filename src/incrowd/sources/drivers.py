"""The ADBC drivers, which are installed on demand."""

from __future__ import annotations

import importlib
from typing import Any

from incrowd.errors import SourceError


def driver(package: str) -> Any:
    """Return the DB-API module of an ADBC driver, or tell how to install it."""
    try:
        importlib.import_module("pyarrow")
        return importlib.import_module(f"{package}.dbapi")
    except ImportError:
        pass
    raise SourceError(
        "Reading from a database needs its driver, which is not installed: "
        "pip install 'incrowd[databases]'"
    )
