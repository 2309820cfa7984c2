"""Each hospital follows the method itself: a leader can leave no question of it out, nor lie."""

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
from incrowd.federation.protocols.marks import marks_to_wire
from incrowd.federation.session.meetings import LeadersMeeting, PartysMeeting
from incrowd.federation.session.session import terms_of

NAMES = "ABC"
Method = Callable[[Any, str], Any]
"""What a hospital does at a meeting, by its name."""


@pytest.fixture(scope="module", params=["masked", "ring"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kits(tmp_path_factory.mktemp("kits"), sums=request.param)


def meet(folder: Path, leads: Method, joins: Method) -> list[Any]:
    """What every hospital came to, or its error."""

    def act(name: str) -> Any:
        kit = load_kit(folder / name)
        meeting: Any = LeadersMeeting if kit.leads else PartysMeeting
        with meeting(kit, terms_of(kit, LAYOUT), limits=LIMITS) as place:
            got = (leads if kit.leads else joins)(place, name)
            place.finish({})
        return got

    with ThreadPoolExecutor(3) as pool:
        acting = [pool.submit(act, name) for name in NAMES]
    return [each.exception() or each.result() for each in acting]


def judged(meeting: Any, *, objects: bool) -> bool:
    return bool(meeting.any({"ask": "judged"}, np.array([objects]))[0])


def rows(meeting: Any) -> list[int]:
    return list(meeting.sum({"ask": "rows"}, np.array([1, 2])))


def careful(meeting: Any, name: str) -> Any:
    """No rows are opened to which a hospital objects; B does."""
    meeting.any({"ask": "missing cells"}, np.array([False]))
    if judged(meeting, objects=name == "B"):
        return "objection"
    return rows(meeting)


def test_an_objection_is_heard_by_all(folder: Path) -> None:
    assert meet(folder, careful, careful) == ["objection"] * 3


def test_a_leader_cannot_open_rows_without_asking_for_objections(folder: Path) -> None:
    def skips(meeting: Any, _: str) -> Any:
        meeting.any({"ask": "missing cells"}, np.array([False]))
        return rows(meeting)

    ended = meet(folder, skips, careful)
    assert all(isinstance(each, FederationError) for each in ended), ended
    assert "the leader A asks for something else than the method" in str(ended[0])


def silent_about(request: bytes) -> Method:
    """A leader that tells that nobody objects, whatever was opened."""

    def act(meeting: Any, _: str) -> Any:
        leader = meeting._leader
        honest = leader._opened

        def opened(told: bytes, what: str, begun: float) -> None:
            lies = leader._session.turn.request == request
            honest(marks_to_wire(np.zeros(1, np.bool_)) if lies else told, what, begun)

        leader._opened = opened
        meeting.any({"ask": "missing cells"}, np.array([False]))
        judged(meeting, objects=False)
        return rows(meeting)

    return act


def test_a_leader_cannot_open_rows_against_an_objection(folder: Path) -> None:
    """Also under ring sums, which nobody else adds up: B knows that it objected."""
    ended = meet(folder, silent_about(b'{"ask":"judged","opens":"any"}'), careful)
    assert all(isinstance(each, FederationError) for each in ended), ended
    told = {"opened no mark where this hospital has one", "told something else than the sum 2"}
    assert any(each in str(ended[0]) for each in told), ended[0]


def test_what_nobody_waits_for_is_not_taken_for_the_next_answer(folder: Path) -> None:
    def settles(meeting: Any, _: str) -> Any:
        meeting.settle()
        first = judged(meeting, objects=True)
        meeting.settle()
        return first, rows(meeting)

    assert meet(folder, settles, settles) == [(True, [3, 6])] * 3
