"""Coalitions at work: what they compute from all they see, under ring and under masked sums."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from session_parties import TRANSCRIPT, Play, play

from incrowd.federation.protocols._masking import _mask_with
from incrowd.federation.protocols._ring import RingSum
from incrowd.federation.protocols.sums import CHECK_SLOTS, Numbers

COUNTS = [np.array([3, 0, 41]), np.array([7, 1, 0]), np.array([0, 5, 9]), np.array([2, 2, 2])]
SLOTS = 3 + CHECK_SLOTS


def running_sums(table: Play, coalition: set[int]) -> dict[int, Numbers]:
    """The running sums that a coalition can read, by their sender; all went over the wire."""
    size, seen = len(table.sides), {}
    for sender, sealed in table.messages.items():
        receiver = (sender + 1) % size
        inside = coalition & {sender, receiver}
        if not inside:
            continue
        known = table.secrets[inside.pop()]
        key = known.derive(b"hop", sender, receiver, 1, TRANSCRIPT, SLOTS)
        opened = ChaCha20Poly1305(key).decrypt(bytes(12), sealed, None)
        seen[sender] = np.frombuffer(opened, np.uint64)
    return seen


def without_own_masks(table: Play, coalition: set[int]) -> dict[int, Numbers]:
    """The masked vectors of the honest parties, after the coalition took off all masks it knows."""
    left = {}
    for victim in set(range(len(table.sides))) - coalition:
        numbers = np.frombuffer(table.messages[victim], np.uint64).copy()
        for member in coalition:
            first, second = sorted((victim, member))
            key = table.secrets[member].derive(b"mask", first, second, 1, TRANSCRIPT, SLOTS)
            _mask_with(numbers, key, add=victim != first)
        left[victim] = numbers
    return left


@pytest.mark.parametrize("victim", [1, 2, 3])
def test_two_ring_neighbours_recover_the_counts_of_the_party_between_them(victim: int) -> None:
    table = play("ring", 4)
    table.run(COUNTS)
    before, after = (victim - 1) % 4, (victim + 1) % 4
    seen = running_sums(table, {before, after})
    stolen = seen[victim] - seen[before]
    assert stolen[:3].tolist() == COUNTS[victim].tolist()


def test_the_neighbours_of_the_leader_recover_its_counts_once_the_sum_is_told() -> None:
    table = play("ring", 4)
    total = table.run(COUNTS)
    seen = running_sums(table, {1, 3})
    rest = seen[3] - seen[0]  # without the leader and its random numbers
    assert (total - rest[:3]).tolist() == COUNTS[0].tolist()


@pytest.mark.parametrize("victim", range(4))
def test_two_ring_neighbours_learn_nothing_from_masked_sums(victim: int) -> None:
    table = play("masked", 4)
    table.run(COUNTS)
    neighbours = {(victim - 1) % 4, (victim + 1) % 4}
    learns_only_the_sum_of_the_honest(table, COUNTS, neighbours)


@pytest.mark.parametrize("parties", [3, 5])
def test_every_coalition_that_leaves_two_honest_parties_learns_nothing(parties: int) -> None:
    """All but two collude, the leader (place 0) among them or not."""
    counts = [np.array([place, 10 * place, 7]) for place in range(parties)]
    for honest in combinations(range(parties), 2):
        table = play("masked", parties)
        table.run(counts)
        learns_only_the_sum_of_the_honest(table, counts, set(range(parties)) - set(honest))


def learns_only_the_sum_of_the_honest(
    table: Play, counts: Sequence[np.ndarray], coalition: set[int]
) -> None:
    """Whatever split of the honest parties' sum one assumes, the view is the same.

    The view of the coalition is what is left of the honest parties' vectors. It must be explained
    as well by any other values of theirs with the same sum: with the one mask that the honest pair
    shares moved by the difference, every message stays the same.
    """
    left = without_own_masks(table, coalition)
    first, second = sorted(left)
    together = counts[first] + counts[second]
    assert (left[first] + left[second])[:3].tolist() == together.tolist()
    for mine in (np.zeros(3, int), together, counts[second], together // 2):
        supposed = mine.astype(np.uint64)
        other = together.astype(np.uint64) - supposed
        mask = left[first][:3] - supposed
        assert (other - mask).tolist() == left[second][:3].tolist()
    # The mask of the honest pair is there in every slot; the counts alone never are.
    assert not np.any(left[first][:3] == counts[first].astype(np.uint64))
    honest = table.secrets[first].derive(b"mask", first, second, 1, TRANSCRIPT, SLOTS)
    _mask_with(left[first], honest, add=False)
    assert left[first][:3].tolist() == counts[first].tolist()


def test_what_is_left_after_a_coalition_took_its_masks_off_is_spread_evenly() -> None:
    from scipy.stats import chisquare

    from incrowd.federation.protocols.key_agreement import PairKeys

    table = play("masked", 3)
    counts = [np.zeros(20_000, np.int64)] * 3
    table.run(counts)
    known: PairKeys = table.secrets[0]
    numbers = np.frombuffer(table.messages[1], np.uint64).copy()
    _mask_with(numbers, known.derive(b"mask", 0, 1, 1, TRANSCRIPT, 20_002), add=True)
    found = np.bincount(np.frombuffer(numbers.tobytes(), np.uint8), minlength=256)
    assert chisquare(found).pvalue > 1e-9


def test_all_but_one_colluding_hold_the_counts_of_the_last_under_any_protocol() -> None:
    """The sum minus one's own values: no secure sum hides that, and the attack above is sound."""
    table = play("masked", 4)
    table.run(COUNTS)
    left = without_own_masks(table, {0, 1, 3})
    assert left[2][:3].tolist() == COUNTS[2].tolist()


@pytest.mark.parametrize("single", range(4))
def test_a_single_party_learns_nothing_of_a_ring_neighbour(single: int) -> None:
    """It reads two running sums, both hidden by the random numbers of the leader."""
    views = []
    for _ in range(2):
        table = play("ring", 4)
        table.run(COUNTS)
        views.append(running_sums(table, {single}))
    for sender in views[0]:
        assert not np.any(views[0][sender] == views[1][sender])


def test_the_leader_who_carries_the_ring_cannot_read_the_running_sums_of_others() -> None:
    table = play("ring", 4)
    table.run(COUNTS)
    assert set(running_sums(table, {0})) == {0, 3}  # what it sent itself, and what came back
    assert isinstance(table.sides[0], RingSum)
