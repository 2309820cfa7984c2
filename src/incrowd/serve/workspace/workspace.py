"""Workspace: everything that one running server holds, in one private folder.

The folder is that of `incrowd._runtime.scratch`: only its owner can read it, it is removed
when the server ends, and the next one removes it when this one is killed.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any, Self

from incrowd.errors import InputError, SourceError
from incrowd.serve.workspace._jobs import Workers
from incrowd.serve.workspace.runs import Run, link
from incrowd.serve.workspace.sources import WorkspaceSource
from incrowd.serve.workspace.uploads import (
    SeveralUploads,
    TooLargeError,
    Upload,
    accepted_name,
    refuse_strange,
)
from incrowd.sources.files import TextOptions, require_file

__all__ = ["Run", "TooLargeError", "UnknownError", "Upload", "Workspace", "WorkspaceSource"]

DEFAULT_LIMIT = 2 << 30
"""The largest file that is taken, in bytes."""
DEMO = "cancer-registry.csv"
_PIECE = 1 << 20


class UnknownError(InputError):
    """There is no source or run with that number."""


class Workspace:
    """The sources and runs of one server.

    Parameters
    ----------
    folder
        A private folder of its own, see `incrowd._runtime.scratch.scratch`.
    limit
        The largest file that is taken, in bytes.
    at_once
        How many runs go on at the same time, others wait; left out, one for every two cores.

    Example
    -------
    >>> from incrowd._runtime.scratch import scratch
    >>> with scratch("example") as folder, Workspace(folder) as workspace:
    ...     workspace.sources
    []
    """

    def __init__(
        self, folder: Path, *, limit: int = DEFAULT_LIMIT, at_once: int | None = None
    ) -> None:
        self.folder = folder
        self.limit = limit
        self.temporary = folder / "tmp"
        for each in ("tmp", "sources", "runs"):
            (folder / each).mkdir(mode=0o700, exist_ok=True)
        self._sources: dict[str, WorkspaceSource] = {}
        self._runs: dict[str, Run] = {}
        self._made = 0
        self._closed = False
        self._lock = threading.RLock()
        self._processes = Workers(self.temporary)
        self._processes.prepare()
        self._studies = ThreadPoolExecutor(2, thread_name_prefix="incrowd-study")
        many = at_once if at_once is not None else max(1, (os.cpu_count() or 1) // 2)
        self._releases = ThreadPoolExecutor(many, thread_name_prefix="incrowd-run")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop everything and wipe the folder."""
        with self._lock:
            self._closed = True
            sources, runs = self.sources, self.runs
        self._together([*(run.cancel for run in runs), *(source.stop for source in sources)])
        self._processes.close()
        self._studies.shutdown(wait=True, cancel_futures=True)
        self._releases.shutdown(wait=True, cancel_futures=True)
        for each in self.folder.iterdir():
            if each.is_dir():
                shutil.rmtree(each, ignore_errors=True)

    # -- sources -----------------------------------------------------------------------------

    @property
    def sources(self) -> list[WorkspaceSource]:
        """All sources, the oldest first."""
        with self._lock:
            return list(self._sources.values())

    def source(self, number: str) -> WorkspaceSource:
        """A source by its id; raises UnknownError."""
        with self._lock:
            if number not in self._sources:
                raise UnknownError("There is no such source. It may have been removed.")
            return self._sources[number]

    def add_source(self, name: str, stream: IO[bytes] | Path) -> WorkspaceSource:
        """Take a CSV, TSV or Parquet file, and begin to study it.

        Parameters
        ----------
        name
            What the file is called; its ending tells what it is.
        stream
            The content, which is streamed to disk, or the path of a file, which is not copied.

        Raises
        ------
        SourceError
            It is empty, of an ending or a kind that cannot be read. What is found wrong later
            becomes the `message` of the source, whose `state` is then failed.
        TooLargeError
            It is larger than the limit; nothing of it is kept.
        """
        if isinstance(stream, Path):
            require_file(stream)
            with self.receive(name) as upload:
                upload.path.unlink()
                link(stream, upload.path)
        else:
            with self.receive(name) as upload:
                while piece := stream.read(_PIECE):
                    upload.write(piece)
        return self.received(upload)

    def receive(self, name: str) -> Upload:
        """Begin to take a file piece by piece; `received` ends it."""
        bare = accepted_name(name)
        return Upload(self._new_folder() / bare, self.limit)

    def receive_several(self) -> SeveralUploads:
        """Begin to take files of one source; `received_several` ends it."""
        return SeveralUploads(self._new_folder(), self.limit)

    def _new_folder(self) -> Path:
        folder = self.folder / "sources" / secrets.token_hex(8)
        folder.mkdir(mode=0o700)
        return folder

    def received(self, upload: Upload, text: TextOptions | None = None) -> WorkspaceSource:
        """The source of a file that has arrived."""
        try:
            refuse_strange(upload.path)
        except BaseException:
            shutil.rmtree(upload.path.parent, ignore_errors=True)
            raise
        source = WorkspaceSource(upload.path.parent.name, upload.path.name, upload.path.parent)
        return self._begin(source, text)

    def received_several(
        self, uploads: SeveralUploads, text: TextOptions | None = None
    ) -> WorkspaceSource:
        """The source of several files that have arrived, tables of the same patients."""
        folder, names = uploads.folder, [path.name for path in uploads.paths]
        try:
            if len(names) < 2:
                raise SourceError(
                    "Tables that hang together are two files at least. Send one file by itself."
                )
            for path in uploads.paths:
                refuse_strange(path)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return self._begin(WorkspaceSource(folder.name, names[0], folder, files=names), text)

    def add_linked(self, paths: Sequence[Path]) -> WorkspaceSource:
        """Take files of this machine that are tables of the same patients; they are not copied."""
        with self.receive_several() as uploads:
            for path in paths:
                require_file(path)
                uploads.begin(path.name)
                uploads.end()
                uploads.paths[-1].unlink()
                link(path, uploads.paths[-1])
        return self.received_several(uploads)

    def add_demo(self) -> WorkspaceSource:
        """Take the bundled cancer registry with its hierarchies and its policy."""
        folder = self._new_folder()
        return self._begin(WorkspaceSource(folder.name, DEMO, folder, demo=True), None)

    def _begin(self, source: WorkspaceSource, text: TextOptions | None) -> WorkspaceSource:
        with self._lock:
            self._refuse_closed()
            self._sources[source.id] = source
            self._studies.submit(source.study, self._processes, text)
        return source

    def remove_source(self, number: str) -> None:
        """Wipe a source with all its runs."""
        source = self.source(number)
        with self._lock:
            runs = [run for run in self.runs if run.source is source]
            del self._sources[number]
        self._together([source.stop, *(run.cancel for run in runs)])
        for run in runs:
            self.remove_run(run.id)
        shutil.rmtree(source.folder, ignore_errors=True)

    # -- runs --------------------------------------------------------------------------------

    @property
    def runs(self) -> list[Run]:
        """All runs, the oldest first."""
        with self._lock:
            return list(self._runs.values())

    def run(self, number: str) -> Run:
        """A run by its id; raises UnknownError."""
        with self._lock:
            if number not in self._runs:
                raise UnknownError("There is no such run. It may have been removed.")
            return self._runs[number]

    def start(self, source_id: str, *, accept_unprotected: bool = False) -> Run:
        """Begin a run of a source's policy, as it is now; others may have to end before it.

        `accept_unprotected` is as for `incrowd.anonymize`.

        Raises
        ------
        PolicyError
            The policy is not legal or does not fit the source.
        NotReadyError
            The source is still being studied.
        """
        source = self.source(source_id)
        number = secrets.token_hex(8)
        with self._lock:
            self._refuse_closed()
            place = self.folder / "runs" / number
            run = Run(self._made + 1, number, source, place, accept_unprotected)
            self._made += 1
            self._runs[number] = run
            self._releases.submit(run.work, self._processes)
        return run

    def remove_run(self, number: str) -> None:
        """Cancel a run where it goes on, and wipe it."""
        run = self.run(number)
        run.cancel()
        with self._lock:
            self._runs.pop(number, None)
        shutil.rmtree(self.folder / "runs" / number, ignore_errors=True)

    def _refuse_closed(self) -> None:
        if self._closed:
            raise InputError("The server is about to end.")

    @staticmethod
    def _together(calls: list[Callable[[], Any]]) -> None:
        """Make all calls at once and wait for them: each may have to wait for a process."""
        threads = [threading.Thread(target=call) for call in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def temporary_files_in(workspace: Workspace) -> None:
    """Let the temporary files of this process, such as uploads, lie in the workspace."""
    tempfile.tempdir = str(workspace.temporary)
