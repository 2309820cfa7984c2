"""What may go wrong with a hospital in a whole run: changes to its process before it begins."""

from __future__ import annotations

import importlib
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from whole_runs import Role

Deed = Callable[[Role], None]
MIDDLE = 15
"""The sum at which things happen; the run has more than twice as many."""


def at_sum(number: int, happens: Deed) -> Deed:
    """Let something happen when the method asks for a sum, before anything is counted."""

    def deed(role: Role) -> None:
        from incrowd.federation.session.meetings import LeadersMeeting, PartysMeeting

        meeting: Any = LeadersMeeting if role.name == "A" else PartysMeeting
        honest, asked = meeting.sum, []

        def hooked(self: Any, request: Any, counts: Any) -> Any:
            asked.append(request)
            if len(asked) == number:
                happens(role)
            return honest(self, request, counts)

        meeting.sum = hooked

    return deed


def when_judging(happens: Callable[[Role, Any], Any]) -> Deed:
    """Let something happen with the verdict on the release, when all has been written."""

    def deed(role: Role) -> None:
        judging: Any = importlib.import_module("incrowd.publish.last_look")
        honest = judging.verify
        judging.verify = lambda *given, **options: happens(role, honest(*given, **options))

    return deed


def _signalled(number: int, _role: Role) -> None:
    os.kill(os.getpid(), number)


def _hangs(role: Role) -> None:
    role.trace("gone").touch()
    os.kill(os.getpid(), signal.SIGSTOP)


def _killed(_role: Role, _verdict: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _broken(_role: Role, verdict: Any) -> Any:
    first, *rest = verdict.findings
    return replace(verdict, findings=(replace(first, holds=False), *rest))


def _home_is_gone(role: Role) -> None:
    role.home.rename(role.home.with_name("moved"))


def _rounds_otherwise(_role: Role) -> None:
    """Scores of one digit: the best candidate is another one."""
    from incrowd.methods.top_down_specialization import scores

    scores._DIGITS = 0


def _another_last_word(_role: Role) -> None:
    """The same requests, but another file at the end."""
    from incrowd.federation.run import hospital

    honest = hospital._last_word

    def told(made: Any, manifest: dict[str, Any]) -> dict[str, Any]:
        said = honest(made, manifest)
        return {**said, "files": dict.fromkeys(said["files"], "00" * 32)}

    hospital._last_word = told


def _asks_for_raw_values(role: Role) -> None:
    """A leader that asks once for the combinations of single values, which no method needs."""
    from incrowd.counts.hospitals.home import HospitalCounts

    honest, asked = HospitalCounts.sum, []

    def curious(self: Any, request: Any, counts: Any) -> Any:
        asked.append(request)
        if len(asked) == MIDDLE:
            role.trace("asked").touch()
            self.frequency_set({"Job": None, "Age": None})
            role.trace("learned").touch()
        return honest(self, request, counts)

    HospitalCounts.sum = curious  # type: ignore[method-assign]


def _tells_a_false_sum(_role: Role) -> None:
    """A leader that adds one to a count, to lead the method astray."""
    from incrowd.federation.session import _leader as leading

    honest = leading.to_wire  # type: ignore[attr-defined]
    told: list[Any] = []

    def false(sums: Any) -> Any:
        told.append(sums)
        return honest(sums + np.uint64(1) if len(told) == MIDDLE else sums)

    leading.to_wire = false  # type: ignore[attr-defined, assignment]


def no_masks(_role: Role) -> None:
    """Masking switched off, to show that the recording would find counts."""
    from incrowd.federation.protocols import _masking as masking

    masking._mask_with = lambda *_, **__: None


DEEDS: dict[str, Deed] = {
    "is killed": at_sum(MIDDLE, partial(_signalled, signal.SIGKILL)),
    "hangs": at_sum(MIDDLE, _hangs),
    "is interrupted": at_sum(MIDDLE, partial(_signalled, signal.SIGINT)),
    "is terminated": at_sum(MIDDLE, partial(_signalled, signal.SIGTERM)),
    "loses its folder": at_sum(MIDDLE, _home_is_gone),
    "is killed at the end": when_judging(_killed),
    "does not verify": when_judging(_broken),
    "rounds otherwise": _rounds_otherwise,
    "has another last word": _another_last_word,
    "asks for raw values": _asks_for_raw_values,
    "tells a false sum": _tells_a_false_sum,
    "no masks": no_masks,
}
