"""Hospitals in threads of one process, whose sums are plain: a run without a network."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from typing import Any, TypeVar

import numpy as np

from incrowd.federation.protocols.crowd_bits import CrowdCounts
from incrowd.privacy.base import SLACK

_T = TypeVar("_T")


class RoundTable:
    """A table for some hospitals; what each contributed is kept, request by request."""

    def __init__(self, hospitals: int) -> None:
        self.hospitals = hospitals
        self.heard: list[tuple[dict[str, Any], list[Any]]] = []
        self._barrier = threading.Barrier(hospitals, timeout=300)
        self._own: list[Any] = [None] * hospitals
        self._requests: list[dict[str, Any]] = [{}] * hospitals

    def meet(self, act: Callable[[Chair], _T]) -> list[_T]:
        """What each hospital comes to when all act at the same time."""
        with ThreadPoolExecutor(self.hospitals) as pool:
            chairs = [Chair(self, place) for place in range(self.hospitals)]
            acting = [pool.submit(self._act, act, chair) for chair in chairs]
        errors = [each.exception() for each in acting]
        first = [e for e in errors if e and not isinstance(e, threading.BrokenBarrierError)]
        if first:
            raise first[0]
        return [each.result() for each in acting]

    def _act(self, act: Callable[[Chair], _T], chair: Chair) -> _T:
        try:
            return act(chair)
        except BaseException:
            self._barrier.abort()
            raise

    def exchange(self, place: int, request: Mapping[str, Any], own: Any) -> Sequence[Any]:
        """What all hospitals have for a request."""
        self._own[place], self._requests[place] = own, dict(request)
        self._barrier.wait()
        assert all(each == self._requests[0] for each in self._requests), "another request"
        answers = list(self._own)
        if self._barrier.wait() == 0:
            self.heard.append((dict(request), answers))
        self._barrier.wait()
        return answers


class Chair:
    """The place of one hospital."""

    def __init__(self, table: RoundTable, place: int) -> None:
        self.table, self.place = table, place

    @property
    def hospitals(self) -> int:
        return self.table.hospitals

    def sum(self, request: Mapping[str, Any], counts: Any) -> Any:
        return np.sum(self.table.exchange(self.place, request, counts), axis=0)

    def settle(self) -> None:
        self.table.exchange(self.place, {"ask": "ready"}, np.zeros(1, np.bool_))

    def any(self, request: Mapping[str, Any], marks: Any) -> Any:
        return np.any(self.table.exchange(self.place, request, marks), axis=0)

    def holds(self, request: Mapping[str, Any], crowds: CrowdCounts) -> bool:
        every = self.table.exchange(self.place, request, crowds)
        assert len({(one.K, one.C, one.without, one.sizes.size) for one in every}) == 1
        for absent in range(crowds.without + 1):
            for coalition in combinations(range(len(every)), absent):
                rest = [one for place, one in enumerate(every) if place not in coalition]
                sizes = np.sum([one.sizes for one in rest], axis=0)
                protected = np.sum([one.protected for one in rest], axis=0)
                held = sizes > 0
                if (sizes[held] < crowds.K).any():
                    return False
                if (protected[:, held] > (crowds.C + SLACK) * sizes[held]).any():
                    return False
        return True
