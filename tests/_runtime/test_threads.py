"""Pieces of work in threads: all done, or given up together."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from incrowd._runtime import threads


def test_work_that_waits_is_given_up_after_an_interruption(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[dict[str, Any]] = []

    class Pool(ThreadPoolExecutor):
        def shutdown(self, **options: Any) -> None:  # type: ignore[override]
            asked.append(options)
            super().shutdown(**options)

    def work(piece: int) -> None:
        if piece == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(threads, "ThreadPoolExecutor", Pool)
    threads.in_threads(range(3), work)
    assert not any(each.get("cancel_futures") for each in asked)
    with pytest.raises(KeyboardInterrupt):
        threads.in_threads(range(8), work)
    assert any(each.get("cancel_futures") for each in asked)


@pytest.mark.parametrize("worth", [1, 10, 10_000])
def test_runs_are_neighbours_and_leave_nothing_out(worth: int) -> None:
    sizes = np.random.default_rng(1).integers(0, 100, 500)
    runs = threads.even_runs(sizes, worth)
    assert [place for run in runs for place in range(run.start, run.stop)] == list(range(500))
    assert len(runs) <= max(1, int(sizes.sum()) // worth)


def test_nothing_makes_no_runs() -> None:
    assert threads.even_runs(np.zeros(0, np.int64)) == []
