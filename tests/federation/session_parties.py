"""Parties of a session without a network: their sides of the sums, and all messages they send."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from incrowd.federation.membership.agreed_sessions import AgreedSession
from incrowd.federation.membership.identities import Identity
from incrowd.federation.protocols.key_agreement import Ephemeral, PairKeys
from incrowd.federation.protocols.sums import Contribution, Numbers, SecureSum, secure_sum

Sums = Literal["masked", "ring"]

NUMBER, ROSTER, TRANSCRIPT = b"n" * 32, b"r" * 32, b"t" * 32


def make_session(
    identities: Sequence[Identity], *, number: bytes = NUMBER, roster: bytes = ROSTER
) -> AgreedSession:
    names = tuple(f"Hospital {letter}" for letter in "ABCDEFGHIJ"[: len(identities)])
    public = tuple(identity.public for identity in identities)
    return AgreedSession(number, roster, names, public, two_parties=True)


def agree(parties: int, **changes: bytes) -> list[PairKeys]:
    """The secrets of every party, after an honest agreement."""
    identities = [Identity.make() for _ in range(parties)]
    session = make_session(identities, **changes)
    made = [Ephemeral(session, place, identity) for place, identity in enumerate(identities)]
    announcements = [each.announcement for each in made]
    return [each.agree(announcements) for each in made]


@dataclass
class Play:
    """One round, with everything that went over the wire, and what each party kept."""

    sides: list[SecureSum]
    secrets: list[PairKeys]
    """What every party knows, as it was before the round."""
    messages: dict[int, bytes] = field(default_factory=dict)
    """The payload that each party sent."""
    total: Numbers | None = None

    def run(self, counts: Sequence[np.ndarray], round_number: int = 1, leader: int = 0) -> Numbers:
        self.secrets = [copy.deepcopy(side._keys) for side in self.sides]

        def ask(wave: Sequence[int], carried: bytes) -> list[Contribution]:
            answers = [
                self.sides[party].contribute(round_number, TRANSCRIPT, counts[party], carried)
                for party in wave
            ]
            self.messages.update({each.party: each.payload for each in answers})
            return answers

        side, carried = self.sides[leader], b""
        answers: Sequence[Contribution] = ()
        for wave in side.waves:
            answers = ask(wave, carried)
            side.check(round_number, TRANSCRIPT, wave, answers)
            carried = answers[0].payload if len(wave) == 1 else b""
        self.total = side.opened(round_number, TRANSCRIPT, answers, len(counts[0]))
        return self.total


def play(protocol: Sums, parties: int, leader: int = 0) -> Play:
    keys = agree(parties)
    return Play([secure_sum(each, leader, protocol=protocol) for each in keys], keys)
