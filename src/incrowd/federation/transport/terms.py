"""What hospitals must have in common before a run, and how long each waits for the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from incrowd._runtime.plain_fields import PlainFields
from incrowd._runtime.sentences import listed
from incrowd._version import __version__
from incrowd.errors import InputError, ParameterError

_SHOWN = 12


@dataclass(frozen=True)
class Terms(PlainFields):
    """What must be the same at every hospital, word by word, or the run does not start."""

    consortium: str
    """The digest of the consortium file."""
    policy: str
    """The digest of the policy."""
    layout: str
    """The digest of the columns: names, order, types, values agreed."""
    sums: str = "masked"
    """The protocol of sums."""
    version: str = __version__

    def difference(self, other: Mapping[str, Any]) -> str | None:
        """How the terms of a hospital differ from these of the leader, in words, or None.

        Example
        -------
        >>> leading = Terms(consortium="aa", policy="bb", layout="cc")
        >>> leading.difference({**leading.as_dict(), "policy": "dd"})
        'has another policy (digest dd; that of the leader: bb)'
        """
        mine = self.as_dict()
        for name, meaning in _MEANINGS.items():
            theirs = other.get(name)
            if theirs != mine[name]:
                told = str(theirs)[:_SHOWN] if isinstance(theirs, str) else "none"
                return meaning.format(theirs=told, mine=mine[name][:_SHOWN])
        return None


_MEANINGS = {
    "version": "runs version {theirs} of incrowd (the leader: {mine})",
    "consortium": "has another consortium file (digest {theirs}; that of the leader: {mine})",
    "policy": "has another policy (digest {theirs}; that of the leader: {mine})",
    "layout": "has other columns, or the same in another order (digest {theirs}; that of the "
    "leader: {mine}); all need the same columns in the same order",
    "sums": "computes sums by '{theirs}' (the leader: '{mine}')",
}


@dataclass(frozen=True)
class TimeLimits:
    """How long a run waits, in seconds, and how large a message may be, in bytes.

    Notes
    -----
    Every wait of a run ends within one of these. A hospital that is killed is noticed within
    `reconnect`, one that hangs within `timeout`, a leader that is gone within `reconnect` or
    `timeout`; a hospital that never comes within `joining`.
    """

    joining: float = 600.0
    """The leader waits so long for all hospitals, and a hospital for the leader."""
    timeout: float = 120.0
    """An answer, and any sign of life of the leader, must come within this."""
    poll: float = 20.0
    """The leader holds a question for the next request so long; firewalls cut silent lines."""
    reconnect: float = 5.0
    """A line that was cut may be opened again within this."""
    patience: float = 3600.0
    """The leader may think so long between two rounds."""
    size: int = 128 * 1024 * 1024
    """The largest message: about 16 million counts."""

    def __post_init__(self) -> None:
        for name in ("joining", "timeout", "poll", "reconnect", "patience"):
            if not getattr(self, name) > 0:
                raise ParameterError(f"{name} must be more than 0 seconds.")
        if self.size < 1024:
            raise ParameterError("The largest message must be at least 1,024 bytes.")

    @property
    def hold(self) -> float:
        """How long a question of this side may be held: well within its own timeout."""
        return min(self.poll, self.timeout / 3)


def need_libraries() -> None:
    """Fail with the remedy where the libraries of the extra `federation` are missing."""
    missing = [name for name in ("httpx", "starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise InputError(
            f"A run among hospitals needs {listed(missing, quoted=False)}: "
            'pip install "incrowd[federation]".'
        )
