"""Hospitals of one session without a network: parties as they are, and a leader that is played."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from federation_actors import LAYOUT, LIMITS

from incrowd.federation.membership.kits import load_kit
from incrowd.federation.protocols import witnesses
from incrowd.federation.protocols.marks import hidden_marks, marks_to_wire, opened_marks, opening
from incrowd.federation.protocols.sums import (
    CHECK_SLOTS,
    Contribution,
    from_wire,
    to_wire,
    with_checks,
)
from incrowd.federation.session._party import _Party
from incrowd.federation.session._turns import Turn
from incrowd.federation.session.session import Session, terms_of
from incrowd.federation.transport.messages import Message, canonical

LEADER = "A"
Own = Mapping[str, list[int]]
"""The own counts or marks of every hospital, by its name."""


class Hospitals:
    """Parties that answer messages, and what a leader needs to talk to them.

    The leader keeps its own story: nothing stops it from telling what it likes.
    """

    def __init__(self, kits: Path, own: Callable[[str, dict[str, Any]], Any], **more: Any) -> None:
        self.kits = {path.name: load_kit(path) for path in sorted(kits.iterdir()) if path.is_dir()}
        self.kit = self.kits[LEADER]
        self.names = self.kit.consortium.names
        self.session = secrets.token_hex(32)
        self.own = own
        self.heard: dict[str, list[tuple[str, bytes]]] = {name: [] for name in self.names}
        self.sessions: dict[str, Session] = {}
        self.parties: dict[str, _Party] = {}
        for name, kit in self.kits.items():
            party = Session(kit, self.session, partial(own, name), **more)
            self.sessions[name] = party
            if name != LEADER:
                log, terms = (lambda _: None), terms_of(kit, LAYOUT)
                party.told = lambda kind, data, name=name: self.heard[name].append((kind, data))
                self.parties[name] = _Party(kit, party._count, None, terms, LIMITS, log, None)
        self.party = self.sessions[LEADER]
        self.story = self.party._transcript
        self.number = 0
        self.turn: Turn | None = None

    def tell(
        self, parts: Mapping[str, bytes], to: str | None = None, **fields: Any
    ) -> dict[str, dict[str, bytes]]:
        """Send one message to all, or to one; the parts of their answers."""
        fields = {"number": self.number, "transcript": self.story.digest.hex(), **fields}
        answers = {}
        for name, party in self.parties.items():
            if to in (None, name):
                message = Message("request", self.session, 0, LEADER, fields, parts)
                answers[name] = dict(party._answer(self.sessions[name], message)[1])
        return answers

    def agree(self) -> None:
        """Hand the keys around."""
        keys = b"".join(self.sessions[name].announcement for name in self.names)
        self.party.agree(keys)
        self.tell({"keys": keys})

    def request(self, request: Mapping[str, Any], opens: Any) -> bytes:
        """A request as bytes, with which the leader's story goes on."""
        data = canonical(opening(request, opens))
        self.story.add("request", data)
        self.number += 1
        waves = self.party.sums.waves
        session = bytes.fromhex(self.session)
        self.turn = Turn.of(self.number, data, session, self.story.digest, waves)
        return data

    def ask(
        self, request: Mapping[str, Any], opens: Any, answer: Mapping[str, bytes] | None = None
    ) -> dict[int, bytes]:
        """Ask all for a masked sum or marks, telling an answer; what the parties sent, by place."""
        data = self.request(request, opens)
        told = self.tell({"request": data, **(answer or {})}, wave=list(range(len(self.names))))
        self.signed = {self.names.index(name): each["vouch"] for name, each in told.items()}
        return {self.names.index(name): each["counts"] for name, each in told.items()}

    def answered(
        self, sent: Mapping[int, bytes], target: np.ndarray | None = None
    ) -> dict[str, bytes]:
        """The parts that tell an answer, with what all sent, after the leader's own part is added.

        With a `target` the leader waits for the others, and chooses its own part so that the sum
        is what it likes: it needs no masks for that. Otherwise it is honest.
        """
        turn, place = self.turn, self.kit.place
        assert turn is not None
        turn.own = np.asarray(self.own(LEADER, turn.asked))
        bounded = turn.opens == "sum"
        size = turn.own.size
        if target is None:
            numbers = turn.own if bounded else hidden_marks(turn.own, LEADER)
            mine = self.party.sums.contribute(
                turn.number, turn.transcript, numbers, bounded=bounded
            ).payload
        else:
            slots = with_checks(target, 1, LEADER, bounded=False)
            slots[-2] = len(self.names)
            others = [from_wire(each, size + CHECK_SLOTS, LEADER) for each in sent.values()]
            mine = to_wire(slots - np.sum(others, axis=0, dtype=np.uint64))
        all_sent = {
            where: Contribution(where, turn.number, turn.transcript, payload)
            for where, payload in {**sent, place: mine}.items()
        }
        signed = {
            **self.signed,
            place: witnesses.vouch(self.kit.identity, all_sent[place], turn.binding),
        }
        sums = self.party.sums.opened(
            turn.number,
            turn.transcript,
            [all_sent[where] for where in range(len(self.names))],
            size,
            bounded=bounded,
        )
        opened = to_wire(sums) if bounded else marks_to_wire(opened_marks(sums))
        self.story.add(turn.opens, opened)
        shown = {where: (each, signed[where]) for where, each in all_sent.items()}
        return {turn.opens: opened, **witnesses.to_parts(shown)}
