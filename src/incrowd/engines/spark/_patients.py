"""Whose each record in Spark is: identifiers as they are compared, and keyed hashes of the unit.

The key is drawn for the run and handed over as a table of one row, so that it is in no plan that
Spark shows or logs.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from incrowd._runtime import randomness
from incrowd.table.sql_histories import DRAWN, FIRST, WHO

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructField

    from incrowd.policy import Policy

_BLANKS_AROUND = r"(?U)^\s+|\s+$"
_KEY, _LOT = "\x1fkey", "\x1flot"
_DIGITS = 15
"""The hexadecimal digits that a whole number of 64 bits holds for sure."""


def comparable(field: StructField) -> Column:
    """The values of an identifier column as texts that are compared, null where there is none."""
    from pyspark.sql import functions as sql

    text = sql.regexp_replace(sql.col(field.name).cast("string"), _BLANKS_AROUND, "")
    there = text != ""
    if field.dataType.typeName() in ("float", "double"):
        there &= ~sql.isnan(field.name)
    return sql.when(there, sql.lower(text))


def with_patients(
    session: SparkSession, frame: DataFrame, policy: Policy
) -> tuple[DataFrame, tuple[str, ...]]:
    """The records with the hash of their patient, who is told apart by the last column.

    Also the names of all that they keep beside their codes: records have no order, and a secret
    number each where histories may be cut.
    """
    from pyspark.sql import functions as sql

    keys = [(secrets.token_hex(32), randomness.keys(4).tobytes().hex())]
    secret = session.createDataFrame(keys, [_KEY, _LOT])
    keyed = frame.crossJoin(sql.broadcast(secret))
    hashed = sql.sha2(sql.concat(sql.col(_KEY), comparable(frame.schema.fields[-1])), 256)
    made = {name: _number(hashed, at) for at, name in enumerate(WHO)}
    made[FIRST] = sql.lit(-1).cast("bigint")
    if policy.most_events is not None:
        made[DRAWN] = _number(sql.sha2(sql.concat(sql.col(_LOT), sql.expr("uuid()")), 256), 0)
    return keyed.withColumns(made), tuple(made)


def _number(digest: Column, at: int) -> Column:
    """A whole number from some of the digits of a digest."""
    from pyspark.sql import functions as sql

    digits = sql.substring(digest, 1 + at * _DIGITS, _DIGITS)
    return sql.conv(digits, 16, 10).cast("bigint")
