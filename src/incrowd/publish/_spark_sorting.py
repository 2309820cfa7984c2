"""Published tables of records that stayed in Spark: sorted and written there, part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.engines.spark.engine import SparkEngine
from incrowd.publish._out_of_core import Heading, OutsideRows, shown
from incrowd.publish.spark_parts import MOST_PARTS, ROWS_OF_A_PART, refuse_unseen, write_part

if TYPE_CHECKING:
    import pyarrow as pa

_WRITTEN = "partition INT, name STRING, bytes BIGINT, sha256 STRING, many BIGINT"


def write_sorted(place: Path, rows: OutsideRows) -> dict[str, Any]:
    """Write a table as a folder of parts; returns what the manifest says of them.

    Notes
    -----
    One sort in Spark. No row comes to the driver, only the size and the SHA-256 of each part.
    """
    engine = rows.engine
    assert isinstance(engine, SparkEngine)
    parts = min(max(1, round(rows.rows / ROWS_OF_A_PART)), MOST_PARTS)
    with rows.query() as query, engine.planning("writing the release"):
        found = engine.session.sql(query)
        order = rows.order
        in_order = found.repartitionByRange(parts, *order).sortWithinPartitions(*order)
        write = _writer(str(place), rows.headings, rows.keys)
        written = sorted(
            (row.partition, row.name, row.bytes, row.sha256, row.many)
            for row in in_order.mapInArrow(write, _WRITTEN).collect()
        )
    files = {}
    for number, (_, temporary, size, digest, many) in enumerate(written):
        refuse_unseen(place / temporary, size)
        name = f"part-{number:05}{place.suffix}"
        (place / temporary).replace(place / name)
        files[f"{place.name}/{name}"] = {
            "sha256": digest,
            "bytes": size,
            "rows": many,
            "columns": rows.names,
        }
    for pattern in ("written-*", ".*"):  # of a task that was started twice, or killed
        for left in place.glob(pattern):
            left.unlink(missing_ok=True)
    return files


def _writer(
    place: str, headings: list[Heading], keys: list[str]
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What a task does with the sorted rows of one partition."""

    def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import uuid

        import pyarrow as pa
        from pyspark import TaskContext

        rows = [batch for batch in batches if batch.num_rows]
        if not rows:
            return
        columns = [
            np.concatenate([batch.column(key).to_numpy() for batch in rows]) for key in (*keys, "n")
        ]
        name = f"written-{uuid.uuid4().hex}{Path(place).suffix}"
        part = shown(headings, columns[:-1], columns[-1])
        size, digest, many = write_part(Path(place), name, part)
        context = TaskContext.get()
        assert context is not None
        told = {
            "partition": pa.array([context.partitionId()], pa.int32()),
            "name": [name],
            "bytes": [size],
            "sha256": [digest],
            "many": [many],
        }
        yield pa.RecordBatch.from_pydict(told)

    return write
