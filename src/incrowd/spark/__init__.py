"""Records on a cluster: read, coded, counted and written by Spark; only counts come here."""

from incrowd.spark.gathering import SparkRecords, prepare_in_spark
from incrowd.spark.writing import PartsWriter

__all__ = ["PartsWriter", "SparkRecords", "prepare_in_spark"]
