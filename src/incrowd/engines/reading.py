"""The records of a source, read and coded on the engine that was chosen for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incrowd._runtime.progress import Progress, silent
from incrowd.engines._linked import prepare_linked
from incrowd.engines.preparation import Prepared, prepare_source

if TYPE_CHECKING:
    from incrowd._runtime.secret_key import SecretKey
    from incrowd.engines.choice import Engine
    from incrowd.engines.spark.gathering import SparkRecords
    from incrowd.policy import Policy
    from incrowd.sources import Source
    from incrowd.sources.source_guard import Watch


def prepare_on(
    engine: Engine,
    source: Source | Watch,
    policy: Policy,
    progress: Progress = silent,
    key: SecretKey | None = None,
) -> tuple[Prepared, SparkRecords | None]:
    """The prepared records of a source; and where Spark keeps them, if it does."""
    if engine.name != "spark" and policy.patients is not None:
        return prepare_linked(source, policy, engine.memory, progress, key), None
    if engine.name != "spark":
        return prepare_source(source, policy, engine.memory, progress, key), None
    from incrowd.engines.spark.gathering import prepare_in_spark
    from incrowd.engines.spark.linked import prepare_linked_in_spark

    assert engine.memory is not None
    if policy.patients is not None:
        return prepare_linked_in_spark(source, policy, engine.memory, progress, key)
    return prepare_in_spark(source, policy, engine.memory, progress, key)
