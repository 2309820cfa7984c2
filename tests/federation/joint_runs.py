"""Joint computations without a network, and the plain judge that they are compared with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from incrowd.federation.protocols.crowd_bits import CrowdCounts, ZeroTest
from incrowd.federation.protocols.secret_shares import Computation

Tamper = Callable[[int, int, int, bytes], bytes]
"""What a sender puts in the place of its bytes: tamper(step, sender, receiver, data)."""


@dataclass
class Run:
    """One joint computation, and all that went between the parties."""

    result: bool = False
    steps: int = 0
    received: dict[int, bytearray] = field(default_factory=dict)
    """What each party got from the others, one after the other."""


def run(crowds: Sequence[CrowdCounts], tamper: Tamper | None = None) -> Run:
    """Drive all parties step by step, as the leader does; every one must come to the same bit."""
    many = len(crowds)
    names = [f"Hospital {letter}" for letter in "ABCDEFG"[:many]]
    question = ZeroTest.of(crowds[0], many)
    sides = [
        Computation(place, names, question.prime, question.program(own))
        for place, own in enumerate(crowds)
    ]
    made = Run(received={place: bytearray() for place in range(many)})
    inboxes: list[dict[int, bytes]] = [{} for _ in sides]
    try:
        while True:
            sent = [side.advance(inbox) for side, inbox in zip(sides, inboxes, strict=True)]
            made.steps += 1
            if all(side.done for side in sides):
                results = {side.result for side in sides}
                assert len(results) == 1
                made.result = results.pop()
                return made
            inboxes = [{} for _ in sides]
            for sender, receiver in np.ndindex(many, many):
                data = sent[sender].get(receiver)
                if data and tamper:
                    data = tamper(made.steps, sender, receiver, data)
                if data:
                    inboxes[receiver][sender] = data
                    made.received[receiver] += data
            if not any(inboxes):
                raise AssertionError([side.awaited for side in sides])
    finally:
        for side in sides:
            side.close()


def judge(crowds: Sequence[CrowdCounts]) -> bool:
    """The same question, answered in the open, in floating point, coalition by coalition."""
    many, first = len(crowds), crowds[0]
    for members in range(min(first.without, many) + 1):
        for out in combinations(range(many), members):
            left = [each for place, each in enumerate(crowds) if place not in out]
            if not left:
                continue
            sizes = np.sum([each.sizes for each in left], axis=0)
            held = np.sum([each.protected for each in left], axis=0)
            mixed = np.all(held <= (first.C + 1e-9) * sizes, axis=0)
            if not np.all((sizes == 0) | ((sizes >= first.K) & mixed)):
                return False
    return True


def draw(seed: int, many: int, **changes: Any) -> list[CrowdCounts]:
    """Random crowds of several hospitals, as often private as not."""
    rng = np.random.default_rng(seed)
    cells, values = int(rng.integers(0, 4)), int(rng.integers(0, 3))
    common = {
        "K": int(rng.integers(1, 7)),
        "C": float(rng.choice([0.2, 0.5, 1 / 3, 0.7, 1.0])),
        "without": int(rng.integers(0, 3)),
        **changes,
    }
    top = int(rng.choice([2, 6, 40, 4000]))
    made = []
    for _ in range(many):
        sizes = rng.integers(0, top, cells)
        held = rng.binomial(np.tile(sizes, (values, 1)), common["C"] / 2)
        made.append(CrowdCounts(sizes, held.astype(np.int64), **common))
    return made
