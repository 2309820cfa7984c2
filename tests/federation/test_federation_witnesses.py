"""A leader that tells something else than was added up is found out by every hospital."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from federation_actors import LAYOUT, LIMITS, kits

from incrowd.errors import FederationError
from incrowd.federation.membership.kits import load_kit
from incrowd.federation.session._leader import Leader
from incrowd.federation.session._party import PartyOutcome, serve
from incrowd.federation.session.session import terms_of

COUNTS = {"A": [3, 0, 1], "B": [2, 0, 0], "C": [1, 0, 4]}
MARKS = {"A": [1, 0, 0], "B": [0, 0, 0], "C": [1, 0, 1]}


def count(name: str) -> Callable[[dict[str, Any]], Any]:
    return lambda request: np.array((MARKS if "opens" in request else COUNTS)[name])


def run(folder: Path, leader: type[Leader], ask: Callable[[Leader], Any], **options: Any) -> Any:
    """What the leader got, or its error, and how the run ended for the others."""
    made = kits(folder, **options)

    def lead() -> Any:
        kit = load_kit(made / "A")
        terms = terms_of(kit, LAYOUT)
        with leader(kit, count("A"), terms=terms, limits=LIMITS) as leading:
            got = ask(leading)
            leading.finish({})
        return got

    def join(name: str) -> PartyOutcome:
        kit = load_kit(made / name)
        return serve(kit, count(name), terms=terms_of(kit, LAYOUT), limits=LIMITS)

    with ThreadPoolExecutor(3) as pool:
        acting = [pool.submit(lead), pool.submit(join, "B"), pool.submit(join, "C")]
    return [each.exception() or each.result() for each in acting]


def sums(leader: Leader) -> list[list[int]]:
    return [leader.sum({"ask": number}).tolist() for number in range(2)]


def marks(leader: Leader) -> list[bool]:
    return list(leader.any({"ask": "marks"}).tolist())


def lying(change: Callable[[bytes], bytes]) -> type[Leader]:
    """A leader that tells the others something else than was opened."""

    class Lying(Leader):
        def _opened(self, told: bytes, what: str, begun: float) -> None:
            self._session.turn.own = None  # or it would contradict itself
            super()._opened(change(told), what, begun)

    return Lying


def fifty_fold(told: bytes) -> bytes:
    return (np.frombuffer(told, "<u8") * 50).astype("<u8").tobytes()


def test_an_honest_leader_is_believed(tmp_path: Path) -> None:
    got, b, c = run(tmp_path, Leader, sums)
    assert got == [[6, 0, 5], [6, 0, 5]]
    assert isinstance(b, PartyOutcome)
    assert isinstance(c, PartyOutcome)


@pytest.mark.parametrize(
    ("ask", "change"),
    [(sums, fifty_fold), (sums, lambda told: bytes(len(told))), (marks, lambda _: b"\x00")],
)
def test_false_sums_and_marks_stop_the_run(
    tmp_path: Path, ask: Callable[[Leader], Any], change: Callable[[bytes], bytes]
) -> None:
    ended = run(tmp_path, lying(change), ask)
    assert all(isinstance(each, FederationError) for each in ended), ended
    assert any("the leader A told something else than the sum 1" in str(each) for each in ended)


def test_an_answer_that_the_leader_changed_is_not_signed(tmp_path: Path) -> None:
    class Forging(Leader):
        def _last_opened(self) -> dict[str, bytes]:
            parts = super()._last_opened()
            name = "witness 1"
            if name in parts:
                parts[name] = parts[name][:-1] + bytes([parts[name][-1] ^ 1])
            return parts

    ended = run(tmp_path, Forging, sums)
    assert all(isinstance(each, FederationError) for each in ended), ended
    assert any("does not show what B sent for sum 1" in str(each) for each in ended)


def test_a_leader_that_holds_the_answers_back_is_not_believed(tmp_path: Path) -> None:
    class Silent(Leader):
        def _last_opened(self) -> dict[str, bytes]:
            return {k: v for k, v in super()._last_opened().items() if "witness" not in k}

    ended = run(tmp_path, Silent, sums)
    assert any("does not show what A sent for sum 1" in str(each) for each in ended), ended


def test_ring_sums_have_no_witnesses(tmp_path: Path) -> None:
    """A weakness of the ring: a false sum is believed."""
    got, b, c = run(tmp_path, lying(fifty_fold), sums, sums="ring")
    assert got == [[6, 0, 5], [6, 0, 5]]
    assert isinstance(b, PartyOutcome)
    assert isinstance(c, PartyOutcome)
