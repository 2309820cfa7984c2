"""Run: one release in the making or made, with its progress, its result and its files."""

from __future__ import annotations

import os
import shutil
import threading
import time
import zipfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from incrowd.errors import IncrowdError, ParameterError, UnprotectedError, nearest
from incrowd.published.layouts import RECORDS
from incrowd.serve.workspace._jobs import CancelledError, State, Workers, WorkerTask
from incrowd.serve.workspace._worker import ACCEPT
from incrowd.serve.workspace.sources import NotReadyError, WorkspaceSource
from incrowd.table.profiles import PATIENTS

POLICY_NAME = "policy.yaml"
PRIVATE_NAME = "private-report.html"
_THEN = (1980, 1, 1, 0, 0, 0)
"""The time of all files in an archive: the same release gives the same archive."""


@dataclass(frozen=True)
class Rows:
    """Some rows of a published table, all cells as text, None where one is missing."""

    table: str
    tables: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    offset: int
    total: int


class Run:
    """One run of a policy: waiting, running, then done, failed or cancelled.

    `policy` is the text as it runs. `stage`, `done` and `whole` tell how far it is, `message` why
    it failed, `unprotected` whether only for columns that single records out and were not accepted
    (`accept_unprotected`). Once done, `folder` holds the release and `summary` its figures.
    """

    def __init__(
        self,
        number: int,
        identity: str,
        source: WorkspaceSource,
        place: Path,
        accept_unprotected: bool = False,
    ) -> None:
        text, policy = source.checked_policy()
        self.id = identity
        self.number = number
        self.source = source
        self.policy = text
        self.state: State = "waiting"
        self.stage, self.done, self.whole = "waiting", 0, 1
        self.message = ""
        self.accept_unprotected = accept_unprotected
        self.unprotected = False
        self.started: datetime | None = None
        self.summary: dict[str, Any] | None = None
        self.ended = threading.Event()
        self._place = place
        self._files = source.used_files(policy)
        self._quasi, self._sensitive = policy.quasi, policy.sensitive
        self._seconds: float | None = None
        self._begun = 0.0
        self._job: WorkerTask | None = None
        self._lock = threading.Lock()
        try:
            self._lay_out()
        except BaseException:
            self._wipe()  # nobody else knows of it yet
            raise

    def _lay_out(self) -> None:
        """Put what the run needs into its own folder: later edits do not reach it."""
        inputs = self._place / "inputs"
        inputs.mkdir(parents=True)
        for name in self.source.inputs():
            link(self.source.folder / name, inputs / name)
        for file in self._files:
            target = inputs / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.source.folder / file, target)
        (inputs / POLICY_NAME).write_text(self.policy, encoding="utf-8")

    @property
    def folder(self) -> Path | None:
        """The folder of the release, once it is done."""
        return self._place / "release" if self.state == "done" else None

    @property
    def seconds(self) -> float:
        """How long it has been running, or ran."""
        if self._seconds is not None:
            return self._seconds
        return time.monotonic() - self._begun if self._begun else 0.0

    @property
    def report(self) -> Path | None:
        """The report of the release, where it has one."""
        path = None if self.folder is None else self.folder / "report.html"
        return path if path is not None and path.is_file() else None

    @property
    def private_report(self) -> Path | None:
        """The report that holds the source against the release: no part of it."""
        path = self._place / PRIVATE_NAME
        return path if self.state == "done" and path.is_file() else None

    def work(self, workers: Workers) -> None:
        """Make the release, in a process of its own; waits for it."""
        with self._lock:
            if self.state != "waiting":
                return
            self.state, self.started = "running", datetime.now(UTC)
            self._begun = time.monotonic()
            arguments = [
                str(self._place / "inputs" / POLICY_NAME),
                str(self._place / "release"),
                str(self._place / PRIVATE_NAME),
            ]
            if self.accept_unprotected:
                arguments.append(ACCEPT)
            self._job = WorkerTask(workers, "release", arguments)
        state: State = "failed"
        try:
            summary = self._job.run(self._tell)
            before = self.source.risk(self._quasi, self._sensitive)
            self.summary = {**summary, "risk_before": before}
            state = "done"
        except CancelledError:
            state = "cancelled"
        except IncrowdError as error:
            self.message = str(error)
            self.unprotected = isinstance(error, UnprotectedError)
        finally:
            self._end(state)

    def cancel(self) -> None:
        """Stop it and leave nothing of it behind; nothing happens when it has ended."""
        with self._lock:
            job = self._job
            if self.state == "waiting":
                self.state = "cancelled"
                self._wipe()
                self.ended.set()
        if job is not None:
            job.stop()
            self.ended.wait()

    def _tell(self, stage: str, done: int, whole: int) -> None:
        self.stage, self.done, self.whole = stage, done, whole

    def _end(self, state: State) -> None:
        self._seconds = time.monotonic() - self._begun
        if state != "done":
            self._wipe()
        with self._lock:
            self.state = state
        self.ended.set()

    def _wipe(self) -> None:
        shutil.rmtree(self._place, ignore_errors=True)

    # -- results -----------------------------------------------------------------------------

    def _done(self) -> Path:
        folder = self.folder
        if folder is None:
            raise NotReadyError(f"Run {self.number} has no release: it is {self.state}.")
        return folder

    def archive(self) -> Path:
        """A zip file of the release, the policy and its hierarchies, made when first asked for."""
        folder, inputs = self._done(), self._place / "inputs"
        path = self._place / "release.zip"
        with self._lock:
            if not path.exists():
                partial = path.with_suffix(".partial")
                files = [
                    *((f"release/{p.relative_to(folder).as_posix()}", p) for p in _files(folder)),
                    *((name, inputs / name) for name in (POLICY_NAME, *self._files)),
                ]
                with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as packed:
                    for name, file in files:
                        entry = zipfile.ZipInfo(name, _THEN)
                        entry.compress_type = zipfile.ZIP_DEFLATED
                        entry.external_attr = 0o644 << 16
                        with file.open("rb") as read, packed.open(entry, "w") as write:
                            shutil.copyfileobj(read, write, 1 << 20)
                partial.replace(path)
        return path

    def file(self, name: str) -> Path:
        """A file of the release by its name; raises ParameterError for any other."""
        names = {p.relative_to(self._done()).as_posix(): p for p in _files(self._done())}
        if name not in names:
            raise ParameterError(f"The release has no file '{name}'.{nearest(name, names)}")
        return names[name]

    def files(self) -> list[str]:
        """The names of the files of the release."""
        return [p.relative_to(self._done()).as_posix() for p in _files(self._done())]

    def table(self, offset: int = 0, rows: int = 100, name: str | None = None) -> Rows:
        """Published rows from `offset` on, of the table of records or another one.

        Cost: the file is read up to the last row that is asked for.
        """
        tables = {
            p.stem: p for p in sorted(_files(self._done()), key=_records_first)
            if p.suffix in (".csv", ".parquet")
        }  # fmt: skip
        chosen = name if name is not None else next(iter(tables))
        if chosen not in tables:
            raise ParameterError(f"The release has no table '{chosen}'.{nearest(chosen, tables)}")
        path = tables[chosen]
        whole: pl.LazyFrame
        if path.suffix == ".csv":
            whole = pl.scan_csv(path, infer_schema=False)
        else:
            whole = pl.scan_parquet(path).cast(pl.String)
        total = int(whole.select(pl.len()).collect().item())
        some = whole.slice(offset, rows).collect()
        return Rows(
            chosen, tuple(tables), tuple(some.columns), tuple(some.iter_rows()), offset, total
        )


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _records_first(path: Path) -> tuple[bool, str]:
    return path.stem not in (*RECORDS.values(), PATIENTS), path.name


def link(path: Path, target: Path) -> None:
    """Let a second name lead to a file, without copying it where the system can."""
    for attempt in (os.link, os.symlink, shutil.copyfile):
        try:
            attempt(path.resolve(), target)
        except OSError:
            continue
        return
