"""What went over the lines of a run, as someone with the keys of both ends reads it."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from incrowd.federation.membership.kits import load_kit
from incrowd.federation.protocols.marks import marks_to_wire, opening
from incrowd.federation.protocols.sums import to_wire
from incrowd.federation.session.session import checker
from incrowd.federation.transport.messages import (
    FROM_LEADER,
    FROM_PARTIES,
    MAGIC,
    Message,
    canonical,
    decode,
)

_LENGTH = struct.Struct(">I")
_SIGNATURE = 64


@dataclass
class Line:
    """All messages between a hospital and the leader, in order."""

    messages: list[Message] = field(default_factory=list)

    def parts(self, name: str) -> list[bytes]:
        """The parts of a name, in the order in which they were sent."""
        return [each.parts[name] for each in self.messages if name in each.parts]

    @property
    def opened(self) -> list[tuple[str, bytes]]:
        """What the leader told: sums and marks."""
        return [
            (name, each.parts[name])
            for each in self.messages
            for name in ("sum", "any", "bit")
            if name in each.parts
        ]

    def witnesses(self, place: int) -> list[bytes]:
        """What the leader says that a hospital sent, sum by sum, without the signatures."""
        return [each[_SIGNATURE:] for each in self.parts(f"witness {place}")]

    def numbers(self) -> np.ndarray:
        """Every number that stands for a count of one hospital, its own or another one."""
        hidden = self.parts("counts")
        for place in range(3):
            hidden += self.witnesses(place)
        return np.concatenate([np.frombuffer(each, "<u8") for each in hidden])


def read_line(seen: bytes, kits: Path, party: str) -> Line:
    """The messages in the bytes that passed, each signed by whom it names."""
    check = checker(load_kit(kits / party))
    line, begin = Line(), seen.find(MAGIC)
    while begin >= 0:
        start = begin + len(MAGIC) + _LENGTH.size
        (size,) = _LENGTH.unpack_from(seen, begin + len(MAGIC))
        header = json.loads(seen[start : start + size])
        end = start + size + sum(length for _, length, _ in header["parts"]) + _SIGNATURE
        kinds = FROM_PARTIES | FROM_LEADER
        line.messages.append(decode(seen[begin:end], check, kinds, limit=1 << 20))
        begin = seen.find(MAGIC, end)
    return line


@dataclass(frozen=True)
class Asked:
    """One request of a run, and what each hospital has to say to it."""

    request: dict[str, Any]
    own: Sequence[np.ndarray]
    """By hospital."""

    @property
    def opens(self) -> str:
        return "any" if self.own[0].dtype == np.bool_ else "sum"

    @property
    def wire(self) -> bytes:
        """The request as it is sent."""
        return canonical(opening(self.request, "any" if self.opens == "any" else "sum"))

    @property
    def told(self) -> tuple[str, bytes]:
        """What all hospitals are told in the end."""
        if self.opens == "any":
            return "any", marks_to_wire(np.any(self.own, axis=0))
        return "sum", to_wire(np.sum(self.own, axis=0).astype(np.uint64))


def asked_of(heard: Iterable[tuple[dict[str, Any], list[Any]]]) -> list[Asked]:
    """The requests that a round table heard, with the answers of its hospitals."""
    return [Asked(request, [np.asarray(each) for each in own]) for request, own in heard]


def telling_vectors(asked: Sequence[Asked], place: int) -> list[bytes]:
    """A hospital's own counts as bytes: vectors that cannot stand in a record by chance.

    They have at least four counts, three of them not 0, and are not in the sums, which are public.
    """
    public = b"|".join(each.told[1] for each in asked)
    found = []
    for each in asked:
        own = each.own[place]
        if each.opens == "sum" and own.size >= 4 and np.count_nonzero(own) >= 3:
            data = own.astype("<u8").tobytes()
            if data not in public and data not in found:
                found.append(data)
    return found
