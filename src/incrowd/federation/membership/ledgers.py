"""The ledger of a hospital: which runs it took part in. It stays on the hospital's machine.

    STATE/
      ledger.json    the key of the sketches and one entry for each run    secret
      ledger.lock    held while the ledger is read and written

STATE is `INCROWD_STATE`, or the folder for such things of the user. Nothing of a ledger is ever
sent. Whoever may read it can test guesses on the records of earlier runs; whoever deletes it makes
this hospital forget them.
"""

from __future__ import annotations

import base64
import os
import secrets
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from incrowd._runtime.scratch import staging
from incrowd.errors import InputError, OutputError
from incrowd.federation.membership.sketches import Sketch

FORMAT: Literal["incrowd-ledger/1"] = "incrowd-ledger/1"
STOPPED_RUN = "stopped"
"""How a run ended that did not come to a release, or has not yet."""
_FILE, _LOCK = "ledger.json", "ledger.lock"
_KEY_SIZE = 32
_REMEDY = "Name a folder of your own with the environment variable INCROWD_STATE."


class _LedgerPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class EarlierMember(_LedgerPart):
    """A member of an earlier run, as its consortium named it."""

    name: str
    identity: str


class EarlierRun(_LedgerPart):
    """One run that this hospital took part in."""

    id: str = Field(pattern=r"^[0-9a-f]{16}$")
    begun: str
    """When the first answer was opened, in UTC."""
    hospital: str
    """The own name in it."""
    consortium: str
    """The digest of its file."""
    consortium_id: str
    members: tuple[EarlierMember, ...]
    policy: str
    """The digest of the policy."""
    ended: str = STOPPED_RUN
    """The digest of all public messages, or that the run was stopped."""
    records: int
    columns: tuple[str, ...]
    layout: str
    least: str
    """The smallest hashes of the own records, in base64."""
    shown: dict[str, tuple[tuple[int, int], ...]] | None = None
    """What its release shows of each attribute, as runs of codes; None where no row was opened."""

    @property
    def sketch(self) -> Sketch:
        """What is known of the own records of that time."""
        least = np.frombuffer(base64.b64decode(self.least), dtype=">u8").astype(np.uint64)
        return Sketch(self.records, self.columns, self.layout, least)


class _Content(_LedgerPart):
    format: Literal["incrowd-ledger/1"] = FORMAT
    key: str
    runs: tuple[EarlierRun, ...] = ()


class Ledger:
    """The runs of this hospital, in a folder of its own.

    Parameters
    ----------
    folder
        Where the ledger is; `state_folder()` when left out. It is made where there is none.

    Raises
    ------
    InputError
        When there is a ledger that cannot be read, or that others may read.
    OutputError
        When none can be written: a run that leaves no trace is none that others can rely on.
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = Path(folder) if folder is not None else state_folder()
        self.path = self.folder / _FILE
        with self._locked():
            if not self.path.exists():
                key = base64.b64encode(secrets.token_bytes(_KEY_SIZE)).decode()
                self._write(_Content(key=key))
            self.key = base64.b64decode(self._read().key)
            """The key of the sketches."""

    @property
    def runs(self) -> tuple[EarlierRun, ...]:
        """The runs so far, the oldest first."""
        with self._locked():
            return self._read().runs

    def begin(self, run: EarlierRun, check: Callable[[Sequence[EarlierRun]], object]) -> None:
        """Add a run, once `check` lets it pass beside all others; nobody comes in between."""
        with self._locked():
            content = self._read()
            check(content.runs)
            self._write(content.model_copy(update={"runs": (*content.runs, run)}))

    def finish(self, run: str, transcript: str) -> None:
        """Note that a run came to its end."""
        self._note(run, {"ended": transcript})

    def show(
        self,
        run: str,
        cuts: Mapping[str, Sequence[tuple[int, int]]],
        check: Callable[[Sequence[EarlierRun]], object],
    ) -> None:
        """Note what a release will show, once `check` lets it pass beside all other runs."""
        self._note(run, {"shown": {name: tuple(runs) for name, runs in cuts.items()}}, check)

    def _note(
        self,
        run: str,
        told: Mapping[str, object],
        check: Callable[[Sequence[EarlierRun]], object] = len,
    ) -> None:
        with self._locked():
            content = self._read()
            check(content.runs)
            runs = tuple(
                each.model_copy(update=told) if each.id == run else each for each in content.runs
            )
            self._write(content.model_copy(update={"runs": runs}))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Nobody else reads or writes the ledger while the block runs."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = os.open(self.folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise self._refused(error) from None
        try:
            try:
                _lock(file)
            except OSError as error:  # some network drives lock nothing
                raise self._refused(error) from None
            yield
        finally:
            os.close(file)

    def _refused(self, error: OSError) -> OutputError:
        return OutputError(
            f"The ledger of this hospital's runs cannot be kept in '{self.folder}': "
            f"{error.strerror}. {_REMEDY}"
        )

    def _read(self) -> _Content:
        try:
            mode = self.path.stat().st_mode
            content = _Content.model_validate_json(self.path.read_bytes())
        except (OSError, ValidationError):
            raise InputError(
                f"The ledger of this hospital's runs, '{self.path}', cannot be read, so nobody "
                "knows who took part before. Put a copy of it there; or, if you answer for it, "
                "move it away: earlier runs are then forgotten."
            ) from None
        if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
            raise InputError(
                f"Other users of this machine may read the ledger '{self.path}'. Say "
                f"`chmod 600 '{self.path}'`."
            )
        return content

    def _write(self, content: _Content) -> None:
        """Put the new ledger in the place of the old one, in one step."""
        try:
            with staging(self.path) as folder:
                stage = folder / self.path.name
                stage.touch(mode=0o600)
                with stage.open("wb") as stream:
                    stream.write(content.model_dump_json(indent=1).encode())
                    stream.flush()
                    os.fsync(stream.fileno())
                stage.replace(self.path)
        except OSError as error:
            raise OutputError(
                f"The ledger '{self.path}' cannot be written: {error.strerror}. {_REMEDY}"
            ) from None


def state_folder() -> Path:
    """Where ledgers are kept: INCROWD_STATE, or the user's folder for the state of programs."""
    named = os.environ.get("INCROWD_STATE")
    if named:
        return Path(named)
    above = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_STATE_HOME")
    return Path(above or Path.home() / ".local" / "state", "incrowd")


def least_as_text(sketch: Sketch) -> str:
    """The hashes of a sketch as an entry holds them."""
    return base64.b64encode(sketch.least.astype(">u8").tobytes()).decode()


def _lock(file: int) -> None:
    """Wait until this process alone holds a file; closing it lets go."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file, msvcrt.LK_LOCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)
