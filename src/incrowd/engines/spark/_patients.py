"""Whose each record in Spark is: identifiers as they are compared, and keyed hashes of the unit.

The key is drawn for the run, or given, and handed over as a table of one row, so that it is in no
plan that Spark shows or logs.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from incrowd._runtime import randomness
from incrowd.table.sql_histories import DRAWN, FIRST, WHO

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructField

    from incrowd._runtime.secret_key import SecretKey
    from incrowd.policy import Policy

_BLANKS_AROUND = r"(?U)^\s+|\s+$"
_INNER, _OUTER, _LOT = "\x1finner", "\x1fouter", "\x1flot"
_DIGITS = 16
"""The hexadecimal digits of a whole number of 64 bits."""
_WHOLE = 1e15
"""Below this, whole numbers with a fraction's type are written as whole ones."""


def comparable(field: StructField) -> Column:
    """The values of an identifier column as texts that are compared, null where there is none."""
    from pyspark.sql import functions as sql

    cell = sql.col(field.name)
    fractions = field.dataType.typeName() in ("float", "double")
    written = cell.cast("string")
    if fractions:
        whole = (cell == sql.floor(cell)) & (sql.abs(cell) < _WHOLE)
        written = sql.when(whole, cell.cast("bigint").cast("string")).otherwise(written)
    text = sql.regexp_replace(written, _BLANKS_AROUND, "")
    there = text != ""
    if fractions:
        there &= ~sql.isnan(field.name)
    return sql.when(there, sql.lower(text))


class Hashing:
    """What tells patients apart in all tables of a run, and draws a secret number for each row.

    Parameters
    ----------
    key
        What patients are called by, where somebody gave one; else a key is drawn for the run.
    """

    def __init__(self, key: SecretKey | None = None) -> None:
        drawn = (secrets.token_bytes(64), secrets.token_bytes(64))
        self._pads = drawn if key is None else key.name_pads()
        self._lot = randomness.keys(4).tobytes()

    def with_patients(
        self, session: SparkSession, frame: DataFrame, policy: Policy
    ) -> tuple[DataFrame, tuple[str, ...]]:
        """The records with the hash of their patient, who is told apart by the last column.

        Also the names of all that they keep beside their codes: records have no order, and a secret
        number each where histories may be cut. Who has no value has the hash 0.
        """
        from pyspark.sql import functions as sql

        text = sql.encode(comparable(frame.schema.fields[-1]), "UTF-8")
        inner = sql.unhex(sql.sha2(sql.concat(sql.col(_INNER), text), 256))
        hashed = sql.sha2(sql.concat(sql.col(_OUTER), inner), 256)
        made = {
            name: sql.coalesce(_number(hashed, at), sql.lit(0).cast("bigint"))
            for at, name in enumerate(WHO)
        }
        made[FIRST] = sql.lit(-1).cast("bigint")
        if policy.most_events is not None:
            made[DRAWN] = self._drawn()
        return self._with_secrets(session, frame).withColumns(made), tuple(made)

    def each_apart(
        self, session: SparkSession, frame: DataFrame
    ) -> tuple[DataFrame, tuple[str, ...]]:
        """The records where each is another patient's, as if these had names."""
        from pyspark.sql import functions as sql

        made = {name: self._drawn() for name in WHO}
        made[FIRST] = sql.lit(-1).cast("bigint")
        return self._with_secrets(session, frame).withColumns(made), tuple(made)

    def _with_secrets(self, session: SparkSession, frame: DataFrame) -> DataFrame:
        from pyspark.sql import functions as sql

        given = [tuple(map(bytearray, (*self._pads, self._lot)))]
        secret = session.createDataFrame(given, [_INNER, _OUTER, _LOT])
        return frame.crossJoin(sql.broadcast(secret))

    def _drawn(self) -> Column:
        from pyspark.sql import functions as sql

        text = sql.encode(sql.expr("uuid()"), "UTF-8")
        return _number(sql.sha2(sql.concat(sql.col(_LOT), text), 256), 0)


def _number(digest: Column, at: int) -> Column:
    """A whole number of 64 bits from some of the digits of a digest."""
    from pyspark.sql import functions as sql

    digits = sql.substring(digest, 1 + at * _DIGITS, _DIGITS)
    return sql.conv(digits, 16, -10).cast("bigint")
