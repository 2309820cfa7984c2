"""Frames of PySpark, whose records are in Spark already."""

from typing import Any

from incrowd.sources.frames import Frame


class SparkFrame(Frame):
    """A frame of PySpark; PySpark itself is not loaded to tell."""

    kind = "spark-frame"
    engine = "spark"

    @classmethod
    def takes(cls, given: object) -> bool:
        """Whether PySpark made it."""
        kind = type(given)
        return kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql")

    def for_spark(self) -> Any:
        """The frame itself."""
        return self.native
