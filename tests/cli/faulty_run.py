"""The real command line, with something going wrong at a chosen moment.

    python faulty_run.py MOMENT DEED ARGUMENTS…

The deed is done when the moment comes, once, just before the work that the moment is named after.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import incrowd.cli.signals
import incrowd.engines.collapse
import incrowd.methods.registry
import incrowd.publish.manifest
from incrowd.cli import main
from incrowd.verify import _judge as judge

MOMENTS: dict[str, tuple[Any, str]] = {
    "reading": (incrowd.engines.collapse.Collapse, "add"),
    "collapsing": (incrowd.engines.collapse.Collapse, "distinct"),
    "method": (incrowd.methods.registry, "run"),
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


if __name__ == "__main__":
    arrange(*sys.argv[1:3])
    incrowd.cli.signals._LARGE = 10_000_000
    sys.argv = ["incrowd", *sys.argv[3:]]
    main()
