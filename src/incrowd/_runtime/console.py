"""What a person sees in a terminal: progress on stderr, plain tables on stdout."""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from rich.console import Console

    from incrowd._runtime.progress import Progress


_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """A text without the characters that would steer a terminal: names may come from a stranger."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)


@dataclass(frozen=True)
class Output:
    """Where results and messages go, as the user asked: tables, JSON, or nothing but errors."""

    as_json: bool = False
    quiet: bool = False

    @property
    def console(self) -> Console:
        """The terminal that results are printed to."""
        from rich.console import Console

        return Console(highlight=False, soft_wrap=False)

    def result(self, data: dict[str, Any]) -> bool:
        """Print the result as JSON if that was asked for; says whether it was."""
        if self.as_json:
            sys.stdout.write(_json(data) + "\n")
        return self.as_json or self.quiet

    def say(self, text: str = "") -> None:
        """Print a line of the result; its style marks are understood."""
        if not (self.as_json or self.quiet):
            self.console.print(visible(text))

    def plain(self, text: str) -> None:
        """Print lines of the result just as they are."""
        if not (self.as_json or self.quiet):
            sys.stdout.write(visible(text) + "\n")

    def table(
        self, title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], *, right: int = 1
    ) -> None:
        """Print a table; the columns from number `right` on hold numbers."""
        if self.as_json or self.quiet:
            return
        from rich import box
        from rich.markup import escape
        from rich.table import Table

        named = any(columns)
        shown = Table(box=box.SIMPLE_HEAD if named else None, show_header=named, padding=(0, 1))
        for number, column in enumerate(columns):
            shown.add_column(
                column, justify="right" if number >= right else "left", overflow="fold"
            )
        for row in rows:
            shown.add_row(*(escape(visible(str(cell))) for cell in row))
        self.console.print(f"[bold]{escape(visible(title))}[/]")
        self.console.print(shown)
        if not named:
            self.console.print()

    def message(self, text: str) -> None:
        """Print a message for the person at the terminal, on stderr."""
        if not self.quiet:
            sys.stderr.write(visible(text) + "\n")

    @contextmanager
    def progress(self) -> Iterator[Progress]:
        """A progress bar on stderr that appears once the work has taken a while."""
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        console = Console(stderr=True)
        if self.quiet:
            yield lambda _stage, _done, _whole: None
            return
        if not console.is_terminal:
            with _PlainLines(self) as lines:
                yield lines.tell
            return
        bar = Progress(
            SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(),
            console=console, transient=True,
        )  # fmt: skip
        with bar:
            task = bar.add_task("starting", total=None)

            def tell(stage: str, done: int, whole: int) -> None:
                bar.update(task, description=stage, completed=done, total=whole if done else None)

            yield tell


def _json(data: dict[str, Any]) -> str:
    """JSON in which every control character is written as its number."""
    written = json.dumps(data, indent=2, ensure_ascii=False)
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", written)


class _PlainLines:
    """Progress as plain lines, for logs and pipes.

    The first comes after two seconds, and at most one every two seconds. A stage that says nothing
    new is told again after twice the time, so that a long wait makes few lines.
    """

    def __init__(self, output: Output, *, every: float = 2.0) -> None:
        self._output = output
        self._every = every
        self._text, self._told = "", ""
        self._began = self._last = time.monotonic()
        self._wait = every
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._clock = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._clock.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._clock.join()

    def tell(self, stage: str, done: int, whole: int) -> None:
        """Take what is under way."""
        share = f" {100 * done // max(whole, 1)} %" if done else ""
        self._text = f"{stage}{share}"
        self._show()

    def _run(self) -> None:
        # Work that holds the interpreter tells nothing by itself, and may take minutes.
        while not self._ended.wait(self._every / 4):
            self._show()

    def _show(self) -> None:
        with self._lock:
            now = time.monotonic()
            new = self._text != self._told
            if not self._text or now - self._last < (self._every if new else self._wait):
                return
            self._wait = self._every if new else 2 * self._wait
            self._last, self._told = now, self._text
            self._output.message(f"{self._text} ({now - self._began:.0f} s) …")


def percent(share: float) -> str:
    """A share as a percentage that a person can read, never rounded to 0 or 100 % falsely."""
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    if share < 0.0001:
        return "< 0.01 %"
    if share > 0.9999:
        return "> 99.99 %"
    return f"{100 * share:.2f} %" if share < 0.01 or share > 0.99 else f"{100 * share:.1f} %"
