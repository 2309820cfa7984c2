"""Sources that Spark reads: Parquet and text files in any place it knows, and its own frames.

Parquet is read by Spark. Text files are read by the same code as everywhere, one task for each
file: what a cell is, and what is refused, does not hang on the engine (_texts.py).
"""

from __future__ import annotations

import glob
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from incrowd._runtime.spark_errors import translated
from incrowd._runtime.spark_session import session as any_session
from incrowd.engines.spark._texts import TextFiles, read_texts
from incrowd.errors import SourceError
from incrowd.sources.columns import check_names, refuse_columns
from incrowd.sources.files import (
    FILE_ENDINGS,
    PARQUET_ENDINGS,
    SUPPORTED,
    ending_of,
    refuse_text_options,
    require_file,
)
from incrowd.sources.folders import other_columns, partitions_of, refuse_clash
from incrowd.sources.parquet import PANDAS_INDEX, read_parquet_schema
from incrowd.sources.paths import Files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType

    from incrowd.policy import Policy
    from incrowd.sources import Source

_MAGIC = re.compile(r"([\\*?\[\]{}])")
_WHAT = "`engine: spark` reads Parquet and text files, folders of them, and frames of PySpark"
_NESTED = ("array", "map", "struct", "variant", "binary", "interval", "void", "udt")
_LARGEST = 2**31 - 2**20
"""The bytes of a text file that Spark hands to a task from a distant place."""


@dataclass(frozen=True)
class SparkSource:
    """The records of a source as a frame of Spark, its columns named c0, c1, … in order."""

    session: SparkSession
    frame: DataFrame
    names: tuple[str, ...]
    keep: bool
    """Whether reading it again costs more than keeping it."""
    times: Mapping[str, pl.Datetime] = field(default_factory=dict)
    """Columns of times with the unit and the zone that they have in the files: Spark has one."""


def open_source(source: Source, policy: Policy, memory: int | None = None) -> SparkSource:
    """The records of a source, not read yet; raises what sources raise elsewhere."""
    given = source.for_spark()
    if source.engine == "spark":
        return _of_frame(given, source.label, policy)
    if policy.query is not None or source.is_database:
        raise SourceError(
            f"{_WHAT}, no databases. Save the result of the query as Parquet, or say "
            "`engine: memory`."
        )
    if given is None:
        raise SourceError(
            f"{_WHAT}, not {source.label}. Save it as Parquet, or say `engine: memory`."
        )
    if isinstance(given, str):
        return _distant(any_session(policy.spark, memory), given, source.label, policy)
    path, files = given, Files(given).files()
    ending = ending_of(files[0])
    if ending not in FILE_ENDINGS:
        require_file(path)
        raise SourceError(f"{_WHAT}. {path.name} is none of these. {SUPPORTED}.")
    for file in files:
        require_file(file)
    parts = [partitions_of(file, path) for file in files]
    if ending in PARQUET_ENDINGS:
        refuse_text_options(policy.text_options, path.name)
        return _parquet(files, parts, path, policy, memory)
    running = any_session(policy.spark, memory)
    found = TextFiles([str(file) for file in files], parts, policy.text_options)
    frame, names = read_texts(running, found)
    return SparkSource(running, frame, names, keep=True)


def _of_frame(frame: DataFrame, name: str, policy: Policy) -> SparkSource:
    if ".connect." in type(frame).__module__:
        raise SourceError(
            f"{name} of Spark Connect is not supported. Use a session that runs in this process."
        )
    if policy.query is not None:
        raise SourceError(f"A query needs a database, but {name} is none. Leave the query out.")
    refuse_text_options(policy.text_options, name)
    with translated("opening the source"):
        return _plain(frame.sparkSession, frame, name, keep=True)


def _parquet(
    files: Sequence[Path],
    parts: Sequence[dict[str, str | None]],
    path: Path,
    policy: Policy,
    memory: int | None,
) -> SparkSource:
    """Parquet files in a file system of this machine, or one that all machines share."""
    first = None
    for file, given in zip(files, parts, strict=True):
        schema = read_parquet_schema(file)
        refuse_clash(file, given, schema)
        first = first or (schema, list(given))
        if list(schema) != list(first[0]) or list(given) != first[1]:
            raise other_columns(file)
        changed = [name for name in schema if schema[name] != first[0][name]]
        if changed:
            raise SourceError(
                f"{file.name}: column '{changed[0]}' has another type than in the files before "
                "it. Save all files with the same types, or say `engine: duckdb`."
            )
    assert first is not None
    times = _times(first[0], files[0].name)
    running = any_session(policy.spark, memory)
    with translated("opening the source"):
        reader = running.read
        if parts[0]:
            reader = reader.option("basePath", _local(_base(path)))
        frame = reader.parquet(*(_local(file) for file in files))
        return replace(_plain(running, frame, path.name, keep=False), times=times)


def _times(schema: pl.Schema, file: str) -> dict[str, pl.Datetime]:
    """The columns of times; refuses those that Spark cannot read."""
    for name, kind in schema.items():
        fine = isinstance(kind, pl.Datetime) and kind.time_unit == "ns"
        if fine or isinstance(kind, pl.Time):
            what = "times in nanoseconds" if fine else "times of day"
            remedy = "microseconds" if fine else "text"
            raise SourceError(
                f"{file}: column '{name}' holds {what}, which Spark cannot read. Save it in "
                f"{remedy}, or say `engine: duckdb`."
            )
    return {name: kind for name, kind in schema.items() if isinstance(kind, pl.Datetime)}


def _base(path: Path) -> Path:
    """The folder under which folders name columns."""
    if path.is_dir():
        return path
    fixed = next(i for i, part in enumerate(path.parts) if glob.has_magic(part))
    return Path(*path.parts[:fixed])


def _local(path: Path) -> str:
    """A path as Spark takes it literally, wherever its own files are."""
    return "file://" + _MAGIC.sub(r"\\\1", str(path))


def _distant(running: SparkSession, url: str, name: str, policy: Policy) -> SparkSource:
    """Files in a place that Spark reaches, such as hdfs:// and s3a://."""
    with translated("listing the source"):
        found = (
            running.read.format("binaryFile")
            .option("recursiveFileLookup", "true")
            .load(url)
            .select("path", "length")
            .toArrow()
            .to_pydict()
        )
    sizes = {
        path: size
        for path, size in zip(found["path"], found["length"], strict=True)
        if ending_of(Path(path)) in FILE_ENDINGS
    }
    if not sizes:
        raise SourceError(f"{name} holds no table. {SUPPORTED}.")
    kinds = {ending_of(Path(path)) in PARQUET_ENDINGS for path in sizes}
    if len(kinds) > 1:
        raise SourceError(
            f"{name} has text files and Parquet files. Name those of one kind, as in "
            f"{name}/*.parquet."
        )
    if kinds == {True}:
        refuse_text_options(policy.text_options, name)
        with translated("opening the source"):
            merged = running.read.option("mergeSchema", "true").parquet(url)
            frame = running.read.parquet(url)
            if merged.columns != frame.columns:
                raise SourceError(
                    f"The files of {name} differ in their columns. All files of a source need the "
                    "same columns."
                )
            return _plain(running, frame, name, keep=False)
    if max(sizes.values()) > _LARGEST:
        raise SourceError(
            f"{name} has a text file of more than 2 GB. Save it as Parquet, or in smaller files."
        )
    paths = sorted(sizes)
    parts = [_folders(path, url) for path in paths]
    files = TextFiles(paths, parts, policy.text_options, distant=True)
    frame, names = read_texts(running, files)
    return SparkSource(running, frame, names, keep=True)


def _folders(path: str, url: str) -> dict[str, str | None]:
    """The columns that the folders below the source name, as in `year=2024`."""
    depth = len(Path(url.split("://", 1)[1]).parts)
    below = Path(*Path(path.split(":", 1)[1].lstrip("/")).parts[depth:])
    return partitions_of(Path("/source") / below, Path("/source")) if below.parts[:-1] else {}


def _plain(running: SparkSession, frame: DataFrame, name: str, *, keep: bool) -> SparkSource:
    """The columns with plain cells, under short names; raises where one has none."""
    fields = [each for each in frame.schema.fields if not PANDAS_INDEX.fullmatch(each.name)]
    check_names([each.name for each in fields], name, "Give every column a name.")
    refuse_columns([f"'{each.name}'" for each in fields if _has_no_cells(each.dataType)], name)
    numbered = frame.toDF(*(f"x{i}" for i in range(len(frame.columns))))
    places = [i for i, each in enumerate(frame.schema.fields) if each in fields]
    chosen = numbered.select(*(numbered[f"x{i}"].alias(f"c{n}") for n, i in enumerate(places)))
    return SparkSource(running, chosen, tuple(each.name for each in fields), keep)


def _has_no_cells(kind: DataType) -> bool:
    return kind.typeName().startswith(_NESTED) or "interval" in kind.typeName()
