"""What Spark throws, said without the cells that its messages show.

A worker that finds something wrong with the data raises `as_raised(error)`: the message, which
holds no cell, travels to the driver inside whatever Spark makes of it, and is raised there as it
was.
"""

from __future__ import annotations

import base64
import json
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from incrowd import errors
from incrowd.errors import EngineError

_MARK = "incrowd-told"
_TOLD = re.compile(rf"{_MARK}<([A-Za-z0-9+/=]+)>")
_NAME = re.compile(r"[A-Z][A-Z0-9_.]*")
_HINTS = (
    (
        r"FileNotFoundException|NoSuchFileException|FileNotFoundError|FILE_NOT_EXIST"
        r"|FILE_NOT_FOUND|PATH_NOT_FOUND",
        "A file disappeared while it was read. Leave the files alone during a run, and start again",
    ),
    (r"No space left", "A disk is full. Make room where Spark keeps files (spark.local.dir)"),
    (
        r"maxResultSize",
        "More distinct cells or rows than may come to the driver. Allow more with `memory:` and "
        "spark.driver.maxResultSize, or publish fewer columns",
    ),
    (
        r"OutOfMemoryError|SparkOutOfMemory|UNABLE_TO_ACQUIRE_MEMORY",
        "Spark ran out of memory. Allow more with spark.driver.memory and spark.executor.memory "
        "under `spark:`",
    ),
    (
        r"No module named|ModuleNotFoundError",
        "The executors lack a Python library. Install incrowd[spark] on every machine, or ship it "
        "with spark.archives",
    ),
    (
        r"PYTHON_VERSION_MISMATCH",
        "The executors run another Python than the driver. Set spark.pyspark.python to the same "
        "version",
    ),
    (
        r"Python worker exited|Python worker failed|ExecutorLost|EOFException|EOFError"
        r"|executor .{1,40} lost",
        "An executor, or a Python process of it, died in the middle. Look into its log, and start "
        "again",
    ),
    (
        r"Connection refused|Connection reset|Answer from Java side is empty|Broken pipe"
        r"|ConnectionRefused|ConnectionReset|has been shut down|stopped SparkContext"
        r"|SparkContext was shut down|An error occurred while trying to connect",
        "Spark itself is gone: its Java process ended. Start again",
    ),
    (r"PermissionError|AccessControlException|Permission denied", "Permission was denied"),
    (
        r"CANNOT_READ_FILE|FAILED_READ_FILE|CANNOT_READ_FILE_FOOTER|SchemaColumnConvert",
        "A file is damaged, changed while it was read, or has other types than the rest",
    ),
)


def as_raised(error: Exception) -> RuntimeError:
    """What a worker raises so that the driver raises `error`, whose message shows no cell."""
    content = json.dumps([type(error).__name__, str(error)]).encode()
    return RuntimeError(f"{_MARK}<{base64.b64encode(content).decode()}>")


@contextmanager
def quiet() -> Iterator[None]:
    """Without what PySpark says about versions of libraries that are not used here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield


@contextmanager
def translated(doing: str, *kinds: type[Exception]) -> Iterator[None]:
    """Errors of Spark become an EngineError that says what was under way, and no cell.

    What a worker raised (`as_raised`) is raised as the error of the package that it was, or as one
    of `kinds`. An interruption cancels the jobs that run.
    """
    with quiet():
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

    try:
        with quiet():
            yield
    except KeyboardInterrupt:
        _cancel()
        raise
    except (PySparkException, Py4JError, ConnectionError, EOFError) as error:
        raise _explained(error, doing, kinds) from None


def _explained(error: Exception, doing: str, kinds: tuple[type[Exception], ...]) -> Exception:
    text = _text(error)
    found = _TOLD.search(text)
    if found is not None:
        name, message = json.loads(base64.b64decode(found[1]))
        for kind in kinds:
            if kind.__name__ == name:
                return kind(message)
        kind = getattr(errors, name, EngineError)
        return kind(message)
    hint = next((told for pattern, told in _HINTS if re.search(pattern, text)), None)
    advice = f" {hint}." if hint is not None else ""
    return EngineError(f"Spark failed while {doing} ({_kind(error)}).{advice}")


def _text(error: Exception) -> str:
    """All that an error says: for looking at, never for showing."""
    with suppress(Exception):  # the text is asked of Java, which may be gone
        return f"{type(error).__name__} {error}"
    return type(error).__name__


def _kind(error: Any) -> str:
    """The name of an error: Spark's own for it, the class in Java, or the class in Python."""
    with suppress(Exception):
        condition = error.getCondition()
        if isinstance(condition, str) and _NAME.fullmatch(condition):
            return condition
    with suppress(Exception):
        return str(error.java_exception.getClass().getSimpleName())
    return type(error).__name__


def _cancel() -> None:
    """Cancel all jobs of the running application, if it still runs."""
    from pyspark import SparkContext

    with suppress(Exception):
        context = SparkContext._active_spark_context
        if context is not None:
            context.cancelAllJobs()
