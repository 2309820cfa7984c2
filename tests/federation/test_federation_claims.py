"""What docs/federation-security.md says and no other file plays: who learns what of what."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from federation_actors import kits
from joint_runs import run
from session_parties import TRANSCRIPT, agree, play
from sessions_without_lines import Hospitals
from test_federation_collusion import running_sums

from incrowd.federation.protocols._desks import Desk
from incrowd.federation.protocols._recombination import recombined
from incrowd.federation.protocols.crowd_bits import CrowdCounts, ZeroTest
from incrowd.federation.protocols.marks import hidden_marks, opened_marks
from incrowd.federation.protocols.secret_shares import threshold_of
from incrowd.federation.protocols.sums import secure_sum
from incrowd.federation.session.session import DisagreementError

PAGE = Path(__file__).parents[2] / "docs" / "federation-security.md"


# Sums


@pytest.mark.parametrize(("protocol", "more"), [("masked", 16), ("ring", 32)])
def test_a_round_is_eight_bytes_a_count_and_a_few(protocol: Any, more: int) -> None:
    table = play(protocol, 3)
    table.run([np.arange(50)] * 3)
    assert {len(sent) for sent in table.messages.values()} == {8 * 50 + more}
    assert table.sides[0].payload_size(50) == 8 * 50 + more


@pytest.mark.parametrize("protocol", ["masked", "ring"])
def test_false_counts_shift_the_sums_by_as_much(protocol: Any) -> None:
    """Nothing can notice false counts that could be true ones."""
    counts = [np.array([3, 1]), np.array([2, 2]), np.array([60_000, 0])]
    assert play(protocol, 3).run(counts).tolist() == [60_005, 3]


def test_any_two_of_a_ring_know_the_sum_over_those_between_them() -> None:
    counts = [np.array([place, 100 * place, 5]) for place in range(5)]
    table = play("ring", 5)
    table.run(counts)
    seen = running_sums(table, {1, 4})
    between = seen[3] - seen[1]
    assert between[:3].tolist() == (counts[2] + counts[3]).tolist()


# Marks


def test_who_has_a_mark_learns_whether_another_has_and_not_how_many() -> None:
    """Everyone adds up, and takes its own random numbers off."""
    for others in ([[0, 1], [0, 1]], [[0, 1], [0, 0]]):
        sides = [secure_sum(keys, 0) for keys in agree(3)]
        mine = hidden_marks(np.array([1, 1]), "A")
        numbers = [mine, *(hidden_marks(np.array(each), "B") for each in others)]
        sent = [
            side.contribute(1, TRANSCRIPT, each, bounded=False)
            for side, each in zip(sides, numbers, strict=True)
        ]
        sums = sides[1].opened(1, TRANSCRIPT, sent, 2, bounded=False)
        assert opened_marks(sums - mine).tolist() == [False, True]
        assert (sums - mine)[1] > 2**32, "a random number, whether one has a mark or two"


def test_the_neighbours_of_a_ring_see_the_marks_between_them() -> None:
    table = play("ring", 4)
    marks = [np.array(each) for each in ([0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 0])]
    numbers = [hidden_marks(each, "A") >> np.uint64(3) for each in marks]
    table.run(numbers)
    seen = running_sums(table, {1, 3})
    assert opened_marks((seen[2] - seen[1])[:3]).tolist() == [False, True, False]


# One bit


@pytest.mark.parametrize("many", [3, 4, 5])
def test_one_more_than_may_pool_their_shares_hold_all_counts(
    monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    """Why more than half of the hospitals must be honest."""
    shares: dict[int, list[Any]] = {}
    honest = Desk.inputs

    async def inputs(desk: Desk, own: Any) -> Any:
        given = await honest(desk, own)
        if own.size:
            shares[desk._runtime.pid] = given
        return given

    monkeypatch.setattr(Desk, "inputs", inputs)
    crowds = [CrowdCounts(np.array([7 + place]), np.array([[0]]), 40, 0.5) for place in range(many)]
    run(crowds)
    pooled, question = threshold_of(many) + 1, ZeroTest.of(crowds[0], many)
    of_the_last = [shares[place][many - 1] for place in range(pooled)]
    names = [str(place) for place in range(pooled)]
    found = recombined(of_the_last, of_the_last[0].size, names, pooled - 1, question.prime)
    assert question.tables(found, 1)[0, 0] == 7 + many - 1


# Keys


def test_when_a_session_ends_its_keys_are_forgotten(tmp_path: Path) -> None:
    hospitals = Hospitals(kits(tmp_path), lambda *_: np.array([1]))
    hospitals.agree()
    hospitals.ask({"ask": 1}, "sum")
    session: Any = hospitals.sessions["B"]
    assert session._pairs is not None
    assert session._ephemeral._private is None, "used once"
    session.close()
    assert session._pairs is None
    with pytest.raises(DisagreementError):
        session.contribute(b"")


# The page


def test_the_page_names_tests_that_are_there() -> None:
    """Each section says where its claims are played."""
    said = re.findall(r"^Tests: .*(?:\n.+)*", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    named = [name for each in said for name in re.findall(r"`(?:test_federation)?(_\w+)`", each)]
    assert len(said) >= 9
    for name in named:
        assert (Path(__file__).parent / f"test_federation{name}.py").exists(), name
    assert {"_turns", "_cheating", "_meetings", "_claims"} <= set(named)
