"""What an SQL engine does when a request fails."""

from __future__ import annotations

import numpy as np
import pytest

from incrowd.engines._duckdb_engine import DuckDbEngine
from incrowd.errors import EngineError


def test_the_first_failure_is_told_even_where_cleaning_up_fails_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = DuckDbEngine(10**8)

    def failing(table: str) -> None:
        raise EngineError("cannot drop")

    monkeypatch.setattr(engine, "drop", failing)
    with (
        pytest.raises(EngineError, match="the first"),
        engine.lent({"code": np.arange(3, dtype=np.int64)}),
    ):
        raise EngineError("the first")
    with pytest.raises(EngineError, match="cannot drop"), engine.lent({"code": np.arange(3)}):
        pass
