"""Properties of Spark: the few that a policy may set, and those that a person gives.

Some properties name programs, options of Java, files and machines: `spark.pyspark.python` and
`spark.driver.extraJavaOptions` run code before any record is read. A policy may come from a
stranger, so it sets sizes and numbers only.

Invariant: every property that a policy sets is in `_HARMLESS`, and its value matches the shape that
stands there. Everything else comes from the person: `--spark`, `spark=` in Python, spark-submit,
the files and the environment of Spark.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from incrowd._runtime.plain_yaml import as_text
from incrowd.errors import ParameterError, nearest

_SIZE = (r"[1-9]\d{0,8}(?:[bkmgt]b?)?", "a size, as in 4g or 512m")
_NUMBER = (r"[1-9]\d{0,6}", "a whole number, as in 8")
_SHARE = (r"0?\.\d{1,6}", "a share, as in 0.6")
_SWITCH = (r"true|false", "true or false")
_MASTER = (r"local(?:\[(?:[1-9]\d{0,3}|\*)\])?", "local, local[4] or local[*]")
_HARMLESS = {
    "spark.master": _MASTER,
    "spark.driver.memory": _SIZE,
    "spark.driver.memoryOverhead": _SIZE,
    "spark.driver.cores": _NUMBER,
    "spark.driver.maxResultSize": _SIZE,
    "spark.executor.memory": _SIZE,
    "spark.executor.memoryOverhead": _SIZE,
    "spark.executor.cores": _NUMBER,
    "spark.executor.instances": _NUMBER,
    "spark.cores.max": _NUMBER,
    "spark.task.cpus": _NUMBER,
    "spark.memory.fraction": _SHARE,
    "spark.memory.storageFraction": _SHARE,
    "spark.memory.offHeap.enabled": _SWITCH,
    "spark.memory.offHeap.size": _SIZE,
    "spark.default.parallelism": _NUMBER,
    "spark.sql.shuffle.partitions": _NUMBER,
    "spark.sql.files.maxPartitionBytes": _SIZE,
    "spark.sql.adaptive.enabled": _SWITCH,
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": _SIZE,
    "spark.sql.adaptive.coalescePartitions.enabled": _SWITCH,
}
POLICY_PROPERTIES = tuple(_HARMLESS)
"""What a policy may set under `spark:`."""
_NAME = re.compile(r"spark\.[A-Za-z0-9_.\-]{1,200}")


def policy_properties(value: object) -> object:
    """The properties that a policy sets, as texts; refuses all that are not known to be harmless.

    Raises
    ------
    ValueError
        With where the property, or its value, belongs instead.
    """
    if not isinstance(value, Mapping):
        return value
    return {str(name): _harmless(str(name), as_text(each)) for name, each in value.items()}


def person_properties(given: Sequence[str] | Mapping[str, str] | None) -> dict[str, str]:
    """The properties that a person gives, as a mapping or as texts NAME=VALUE.

    Example
    -------
    >>> person_properties(["spark.master=yarn", "spark.executor.memory=8g"])
    {'spark.master': 'yarn', 'spark.executor.memory': '8g'}
    """
    if isinstance(given, Mapping):
        pairs = [(str(name), str(as_text(value))) for name, value in given.items()]
    else:
        parted = [str(each).partition("=") for each in given or ()]
        bare = next((name for name, equal, _ in parted if not equal), None)
        if bare is not None:
            raise ParameterError(f"--spark: write NAME=VALUE, as in spark.master=yarn, not {bare}.")
        pairs = [(name.strip(), value) for name, _, value in parted]
    for name, value in pairs:
        if not _NAME.fullmatch(name):
            raise ParameterError(
                f"spark: '{name}' is no property of Spark; their names begin with `spark.`, as in "
                "spark.master."
            )
        if not value or not value.isprintable():
            raise ParameterError(f"spark: {name} has no value, or one with odd characters.")
    return dict(pairs)


def _harmless(name: str, value: object) -> object:
    if not name.startswith("spark."):
        raise ValueError(
            f"'{name}' is no property of Spark; their names begin with `spark.`, as in "
            "`spark: {spark.master: local[4], spark.driver.memory: 4g}`"
        )
    if name not in _HARMLESS:
        raise ValueError(
            f"a policy may not set '{name}', for some properties of Spark run code or open "
            f"connections.{nearest(name, POLICY_PROPERTIES)} It may set sizes, cores and "
            "partitions. Take it out of the policy and give it yourself: "
            f"`--spark {name}=…`, or spark= in Python"
        )
    shape, legal = _HARMLESS[name]
    if not isinstance(value, str):
        return value
    if not re.fullmatch(shape, value, re.IGNORECASE | re.ASCII):
        master = name == "spark.master"
        elsewhere = f". Give another yourself: `--spark {name}=…`" if master else ""
        raise ValueError(f"{name} in a policy is {legal}{elsewhere}")
    return value
