"""Hospitals as processes of their own, well-behaved and not; the tests start them."""

from __future__ import annotations

import dataclasses
import gc
import json
import multiprocessing
import os
import secrets
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from incrowd.errors import IncrowdError
from incrowd.federation.membership.consortium import Consortium
from incrowd.federation.membership.kits import Kit, load_kit, make_kits
from incrowd.federation.transport.rounds import Rounds, _Bell
from incrowd.federation.transport.terms import TimeLimits

_PROCESSES = multiprocessing.get_context("forkserver")
LIMITS = TimeLimits(joining=300.0, timeout=120.0, poll=0.5, reconnect=300.0, patience=600.0)
"""Room for any busy machine: whoever waits one of them out on purpose has a shorter one."""
SOON = replace(LIMITS, reconnect=1.0)
"""For a leader who must notice that another one is gone."""
BRIEF = 0.5
"""Seconds for those who wait when nobody can come any more, see `give_up_on` and `_outlives`."""
BOUND = 600.0
"""Seconds after which a run counts as stuck: room for any busy machine, never waited out."""
LAYOUT = "11" * 32
SUMS = 4
POLICY = """
attributes:
  sex: quasi
  surgery: sensitive
privacy:
  - k-anonymity: {k: 2}
method: mondrian
"""


def own_counts(place: int, number: int, size: int = 5) -> np.ndarray:
    """Counts that are easily told from anything else in a stream of bytes."""
    start = 0x0000_5A17_0000_0000 + 1_000_003 * place + 7_919 * number
    return np.arange(start, start + size, dtype=np.uint64)


def started(act: Callable[..., None], *given: Any, name: str | None = None) -> Any:
    """A process that does something, a fork of a server that has loaded what hospitals need."""
    _PROCESSES.set_forkserver_preload(["warm"])
    with pytest.MonkeyPatch.context() as patch:  # the server looks for modules there
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        forkserver.ensure_running()
    process = _PROCESSES.Process(target=_forked, args=(act, *given), name=name)
    process.start()
    return process


def _forked(act: Callable[..., None], *given: Any) -> None:
    gc.freeze()  # what the server has loaded is looked through no more
    act(*given)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def kits(folder: Path, names: Sequence[str] = ("A", "B", "C"), **options: Any) -> Path:
    """A new consortium whose leader, the first hospital, listens on this machine."""
    policy = folder / "policy.yaml"
    policy.write_text(POLICY, encoding="utf-8")
    address = f"127.0.0.1:{free_port()}"
    make_kits(folder / "kits", names, policy, address, **options)
    return folder / "kits"


@dataclass
class Play:
    """What one hospital does in a run, and where it leaves its traces."""

    name: str
    kits: Path
    traces: Path
    behaviour: str = ""
    address: str | None = None
    proxy: str | None = None
    terms: dict[str, str] = field(default_factory=dict)
    """Terms that this hospital has otherwise than the others."""
    limits: TimeLimits = LIMITS
    sums: int = SUMS
    gives_up: str = ""
    """The only hospital for which a leader's time runs out, once it is gone."""

    @property
    def outcome(self) -> Path:
        return self.traces / f"{self.name}.json"

    @property
    def log(self) -> Path:
        return self.traces / f"{self.name}.log"

    @property
    def pid(self) -> Path:
        return self.traces / f"{self.name}.pid"

    def gone(self, name: str) -> Path:
        """A file that says that a hospital has gone, or will never come."""
        return self.traces / f"{name}.gone"

    def start(self) -> Any:
        return started(act, self, name=self.name)


def act(play: Play) -> None:
    """The process of a hospital: its exit code is the one of the command line."""
    with play.log.open("a", encoding="utf-8", buffering=1) as log:
        sys.stderr = sys.stdout = log
        play.pid.write_text(str(os.getpid()))
        try:
            outcome = _run(play, lambda line: print(line, file=log))
        except IncrowdError as error:
            print(f"error: {error}", file=log)
            sys.exit(error.exit_code)
        play.outcome.write_text(json.dumps(outcome))


def _run(play: Play, log: Callable[[str], None]) -> dict[str, Any]:
    from incrowd.federation.session._leader import Leader
    from incrowd.federation.session._party import serve
    from incrowd.federation.session.session import terms_of

    if play.behaviour == "dates unchecked":
        Consortium.require_valid = lambda *_: None  # type: ignore[method-assign]
    kit = load_kit(play.kits / play.name)
    terms = dataclasses.replace(terms_of(kit, LAYOUT), **play.terms)
    count = MISCOUNTS.get(play.behaviour, _honest)

    def counting(request: dict[str, Any]) -> np.ndarray:
        return count(play, kit, int(request["number"]))

    if play.gives_up:
        give_up_on(play.gives_up, play.gone(play.gives_up).exists)
    tamper = TAMPERS.get(play.behaviour)
    if tamper is not None:
        tamper(play, kit)
    if not kit.leads:
        outcome = serve(
            kit,
            counting,
            terms=terms,
            limits=play.limits,
            log=log,
            address=play.address,
            proxy=play.proxy,
        )
        return {"payload": outcome.payload, "transcript": outcome.transcript}
    with Leader(kit, counting, terms=terms, limits=play.limits, log=log) as leader:
        opened = [leader.sum({"number": number}).tolist() for number in range(play.sums)]
        leader.finish({"digest": "ab12"})
        return {"sums": opened, "transcript": leader.transcript}


class _LateBell(_Bell):
    """Seconds are counted only once they are due."""

    def __init__(self, due: Callable[[], bool]) -> None:
        super().__init__()
        self._due = due

    async def until(self, ready: Callable[[], bool], seconds: float) -> None:
        while not (ready() or self._due()):
            await super().until(ready, 0.01)
        await super().until(ready, seconds)


def give_up_on(
    name: str, gone: Callable[[], bool], patch: pytest.MonkeyPatch | None = None
) -> None:
    """Let the time of a leader here run out for one hospital alone: it is gone, others answered."""
    begun = Rounds.__post_init__

    def begin(rounds: Rounds) -> None:
        def due() -> bool:
            others = (place for other, place in rounds.places.items() if other != name)
            answered = all(place.round == rounds.round for place in others)
            return rounds._ended is None and answered and gone()

        begun(rounds)
        rounds._came = _LateBell(due)

    (patch or pytest.MonkeyPatch()).setattr(Rounds, "__post_init__", begin)


# Hospitals that miscount: what happens in the middle of counting


def _honest(play: Play, kit: Kit, number: int) -> np.ndarray:
    return own_counts(kit.place, number)


def _at_two(deed: Callable[[Play], Any]) -> Callable[[Play, Kit, int], np.ndarray]:
    """A hospital that does something in the third round, and counts well before."""

    def count(play: Play, kit: Kit, number: int) -> np.ndarray:
        found = deed(play) if number == 2 else None
        return own_counts(kit.place, number) if found is None else found

    return count


def _signal_to(name: str, number: int) -> Callable[[Play], None]:
    def deed(play: Play) -> None:
        os.kill(int((play.traces / f"{name}.pid").read_text()), number)

    return deed


def _hang(play: Play) -> None:
    play.gone(play.name).touch()
    os.kill(os.getpid(), signal.SIGSTOP)


def _crash(play: Play) -> None:
    raise ValueError("the cell 'Transgender' of row 3")


MISCOUNTS: dict[str, Callable[[Play, Kit, int], np.ndarray]] = {
    "dies": _at_two(lambda _: os.kill(os.getpid(), signal.SIGKILL)),
    "hangs": _at_two(_hang),
    "kills C": _at_two(_signal_to("C", signal.SIGKILL)),
    "overflows": _at_two(lambda _: np.array([1, 2**63, 3, 4, 5], np.uint64)),
    "counts less": _at_two(lambda _: np.array([1, 2, 3], np.uint64)),
    "counts below 0": _at_two(lambda _: np.array([1, -2, 3, 4, 5])),
    "crashes": _at_two(_crash),
    "is interrupted": _at_two(lambda _: signal.raise_signal(signal.SIGINT)),
}

# Hospitals that tamper with what they send


def _sends(deed: Callable[[list[bytes]], bytes | None]) -> Callable[[Play, Kit], None]:
    """A hospital that sends other bytes than it should, once it has answered three rounds."""

    def tamper(play: Play, kit: Kit) -> None:
        from incrowd.federation.transport import client as dialling

        honest = dialling.Line.exchange
        sent: list[bytes] = []

        def exchange(line: Any, data: bytes, patience: float | None = None) -> bytes | None:
            if b'"kind":"poll"' not in data:
                sent.append(data)
            instead = deed(sent) if len(sent) == 5 else None
            return honest(line, data if instead is None else instead, patience)

        dialling.Line.exchange = exchange  # type: ignore[method-assign, assignment]

    return tamper


def _sign_otherwise(**changes: Any) -> Callable[[Play, Kit], None]:
    """A hospital that signs answers of the third round with other headers."""

    def tamper(play: Play, kit: Kit) -> None:
        from incrowd.federation.session import _party as joining

        honest = joining.encode  # type: ignore[attr-defined]

        def encode(message: Any, sign: Any) -> Any:
            if message.kind == "answer" and message.round == 3:
                message = dataclasses.replace(message, **changes)
            return honest(message, sign)

        joining.encode = encode  # type: ignore[attr-defined]

    return tamper


def _sends_twice(play: Play, kit: Kit) -> None:
    """A hospital that sends every message again, as after a line that was cut."""
    from incrowd.federation.transport import client as dialling

    honest = dialling.Line._once

    def once(line: Any, data: bytes) -> bytes | None:
        first = honest(line, data)
        return first if b'"kind":"knock"' in data else honest(line, data)

    dialling.Line._once = once  # type: ignore[method-assign, assignment]


def _outlives(number: int) -> Callable[[Play, Kit], None]:
    """A hospital that has its third counts ready when the leader goes, and then waits briefly.

    B lets the leader go, by a signal, once C is there too.
    """

    def tamper(play: Play, kit: Kit) -> None:
        from incrowd.federation.transport import client as dialling

        honest, sent = dialling.Line.exchange, []
        last = kit.consortium.leader if kit.place > 1 else "C"

        def exchange(line: Any, data: bytes, patience: float | None = None) -> bytes | None:
            sent.append(b'"kind":"poll"' not in data)
            if sum(sent) == 6:
                play.gone(kit.name).touch()
                while not play.gone(last).exists():
                    time.sleep(0.01)
                if last == "C":
                    _signal_to("A", number)(play)
                    play.gone("A").touch()
                line.limits = replace(LIMITS, timeout=BRIEF, reconnect=BRIEF)
                line._client.timeout = BRIEF
            return honest(line, data, patience)

        dialling.Line.exchange = exchange  # type: ignore[method-assign, assignment]

    return tamper


def _other_certificate(play: Play, kit: Kit) -> None:
    """A hospital that dials with a certificate that nobody has pinned."""
    from incrowd.federation.membership._certificates import make_certificate

    made = make_certificate(kit.name)
    kit.certificate_path.write_text(made.certificate)
    kit.key_path.write_bytes(made.key)


def _certificate_of_another(play: Play, kit: Kit) -> None:
    """A hospital that dials with the certificate of B."""
    for name in (kit.certificate_path.name, kit.key_path.name):
        (play.kits / kit.name / name).write_bytes((play.kits / "B" / name).read_bytes())


def _no_masks(play: Play, kit: Kit) -> None:
    """Masking switched off, to show that the recording would find counts."""
    from incrowd.federation.protocols import _masking as masking

    masking._mask_with = lambda *_, **__: None


TAMPERS: dict[str, Callable[[Play, Kit], None]] = {
    "garbage": _sends(lambda _: secrets.token_bytes(400)),
    "empty": _sends(lambda _: b""),
    "changed": _sends(lambda sent: sent[-1][:-80] + bytes(80)),
    "too large": _sends(lambda _: bytes(LIMITS.size + 1)),
    "replays": _sends(lambda sent: sent[-3]),
    "replays hello": _sends(lambda sent: sent[1]),
    "sends twice": _sends_twice,
    "outlives a killed leader": _outlives(signal.SIGKILL),
    "outlives a stopped leader": _outlives(signal.SIGSTOP),
    "another round": _sign_otherwise(round=7),
    "another session": _sign_otherwise(session="ab" * 32),
    "another sender": _sign_otherwise(sender="B"),
    "another kind": _sign_otherwise(kind="closed"),
    "another story": _sign_otherwise(fields={"transcript": "00" * 32, "number": 2}),
    "no counts": _sign_otherwise(parts={}),
    "other certificate": _other_certificate,
    "certificate of B": _certificate_of_another,
    "no masks": _no_masks,
}
