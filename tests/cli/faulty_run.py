"""The real command line in a process of its own, with something going wrong at a chosen moment.

The deed is done when the moment comes, once, just before the work that the moment is named after.
Processes begin as copies of one that has imported what they need.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import incrowd.cli.signals
import incrowd.engines.collapse
import incrowd.pipeline
import incrowd.publish.manifest
from incrowd.cli import main
from incrowd.verify import _judge as judge

MOMENTS: dict[str, tuple[Any, str]] = {
    "reading": (incrowd.engines.collapse.Collapse, "add"),
    "collapsing": (incrowd.engines.collapse.Collapse, "distinct"),
    "method": (incrowd.pipeline, "run"),
    "writing": (incrowd.publish.manifest, "describe_file"),  # the first table is written
    "verifying": (judge, "load"),
}


def signal_now(number: str) -> None:
    os.kill(os.getpid(), int(number))


def signal_soon(number: str) -> None:
    """While a database is at work, which looks for signals itself."""
    threading.Timer(0.05, lambda: os.kill(os.getpid(), int(number))).start()


def touch(path: str) -> None:
    Path(path).touch()


def grow(path: str) -> None:
    with Path(path).open("a", encoding="utf-8") as file:
        file.write("99,flu,w1\n")


def shrink(path: str) -> None:
    os.truncate(path, 100)


def replace(path: str) -> None:
    """Another file with the same content, size and time of change."""
    old = Path(path)
    found = old.stat()
    new = old.with_suffix(".new")
    new.write_bytes(old.read_bytes())
    os.utime(new, ns=(found.st_atime_ns, found.st_mtime_ns))
    new.rename(old)


def remove(path: str) -> None:
    Path(path).unlink()


def add(path: str) -> None:
    Path(path).write_text("age,ill,ward\n50,flu,w1\n", encoding="utf-8")


def nothing(_argument: str) -> None:
    pass


DEEDS: dict[str, Callable[[str], None]] = {
    deed.__name__: deed
    for deed in (signal_now, signal_soon, touch, grow, shrink, replace, remove, add, nothing)
}


def arrange(moment: str, deed: str) -> None:
    """Have the deed done when the moment comes."""
    name, _, argument = deed.partition(":")
    owner, function = MOMENTS[moment]
    original = getattr(owner, function)
    done = False

    def at_the_moment(*arguments: Any, **options: Any) -> Any:
        nonlocal done
        if not done:
            done = True
            DEEDS[name](argument)
        return original(*arguments, **options)

    setattr(owner, function, at_the_moment)


@dataclass(frozen=True)
class Act:
    """What goes wrong in a run, and where it runs."""

    moment: str
    deed: str
    words: tuple[str, ...]
    folder: Path
    temporary: Path
    largest_file: int | None = None
    """Bytes above which a file cannot grow, as on a disk without room."""

    def play(self, out: Path, err: Path) -> None:
        """Run the command line to its end, in this process and into two files."""
        os.chdir(self.folder)
        for number, path in ((1, out), (2, err)):
            os.dup2(os.open(path, os.O_WRONLY), number)
        tempfile.tempdir = None
        os.environ["TMPDIR"] = str(self.temporary)
        if self.largest_file is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (self.largest_file, self.largest_file))
        arrange(self.moment, self.deed)
        incrowd.cli.signals._LARGE = 10_000_000
        sys.argv = ["incrowd", *self.words]
        main()


PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["incrowd.report.page", __name__])
