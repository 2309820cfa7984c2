"""The harness of the browser tests: `incrowd serve` as a real process, Chromium by Playwright.

Everything that a page complains of is kept: errors and warnings of its console, content that the
security policy refused, requests to other hosts, requests that failed.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
PATIENCE = 600_000
"""Milliseconds after which something counts as missing: room for any busy machine."""
CITIES, ILLNESSES = ("Berlin", "Paris", "Rome", "Oslo", "Bern"), ("Flu", "HIV", "Gastritis")
DROP = """(files) => {
  const carried = new DataTransfer();
  for (const [name, text] of Object.entries(files))
    carried.items.add(new File([text], name, {type: 'text/csv'}));
  return carried;
}"""


def chromium() -> str | None:
    """The browser of this machine, None without one."""
    found = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    return next((path for path in found if path is not None), None)


def need_browser() -> None:
    """Skip the tests of a module where the page or a browser is not installed."""
    pytest.importorskip("nicegui", reason="the page needs the extra incrowd[serve]")
    pytest.importorskip("playwright", reason="browser tests need Playwright")
    if chromium() is None:
        pytest.skip("no Chromium on this machine", allow_module_level=True)


@dataclass
class Server:
    """A running `incrowd serve`."""

    address: str
    door: str
    """The address with the token."""
    process: subprocess.Popen[str]


@contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[Server]:
    """Run `incrowd serve` in a process of its own, and end it."""
    command = [sys.executable, "-m", "incrowd", "serve", "--no-open", "--port", "0", "--json"]
    env = {**os.environ, "TMPDIR": str(folder)}
    process = subprocess.Popen(
        [*command, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=env,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    line = process.stdout.readline()
    try:
        assert line, process.stderr.read()
        told = json.loads(line)
        yield Server(told["address"], told["open"], process)
    finally:
        process.terminate()
        _, faults = process.communicate(timeout=600)
    assert faults == "", faults


@dataclass
class Complaints:
    """What went wrong in a page that a person may not have seen."""

    host: str
    told: list[str] = field(default_factory=list)

    def watch(self, page: Any) -> None:
        """Listen to a page."""
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.told.append(f"error: {error}"))
        page.on("request", self._request)
        page.on("response", self._response)

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.told.append(f"{message.type}: {message.text}")

    def _request(self, request: Any) -> None:
        where = urlsplit(request.url)
        if where.scheme not in ("data", "blob") and where.netloc != self.host:
            self.told.append(f"another host: {where.netloc}")

    def _response(self, response: Any) -> None:
        if response.status >= 400:
            self.told.append(f"{response.status}: {response.request.method} {response.url}")


@contextmanager
def browsing() -> Iterator[Any]:
    """A browser; `open_page` opens a page that is watched."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def open_page(browser: Any, server: Server, size: dict[str, int] | None = None) -> Iterator[Any]:
    """A page at the door of a server, which must not have complained of anything at its end.

    What a test expects to be told is taken out of `page.complaints.told` by it.
    """
    context = browser.new_context(viewport=size or WIDE, accept_downloads=True)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.complaints = Complaints(urlsplit(server.address).netloc)
    page.complaints.watch(page)
    try:
        page.goto(server.door)
        page.get_by_role("heading", level=2).first.wait_for()
        yield page
        assert page.complaints.told == []
    except BaseException as error:
        error.add_note(f"The page complained of {page.complaints.told} and showed:")
        error.add_note(page.locator("body").inner_text()[:3_000])
        raise
    finally:
        context.close()


def ward(patients: int = 300) -> str:
    """A small table of patients, the same every time."""
    draw = random.Random(9)
    lines = ["name,age,sex,city,diagnosis"]
    for number in range(patients):
        cells = (draw.randint(20, 89), draw.choice("FM"), draw.choice(CITIES))
        lines.append(f"P{number},{','.join(map(str, cells))},{draw.choice(ILLNESSES)}")
    return "\n".join(lines) + "\n"


def drop(page: Any, text: str) -> None:
    """Drop a file on the field for files."""
    drop_files(page, {"ward.csv": text})


def drop_files(page: Any, files: dict[str, str]) -> None:
    """Drop files on the field, as a hand with a mouse does: it moves until it may."""
    from playwright.sync_api import TimeoutError as TooLate

    carried = {"dataTransfer": page.evaluate_handle(DROP, files)}
    for _ in range(600):  # a field that the page has just made anew has not seen the hand
        page.dispatch_event(".q-uploader", "dragover", carried)
        with suppress(TooLate):
            page.dispatch_event(".q-uploader__dnd", "drop", carried, timeout=1_000)
            return
    raise AssertionError("the field takes no file")


def to_step(page: Any, name: str) -> None:
    """Choose a step in the line on top."""
    page.locator(".q-stepper__tab", has_text=name).click()


def has_no_sideways_scroll(page: Any) -> bool:
    """Whether the page is no wider than the window."""
    return bool(
        page.evaluate(
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )
    )


def cut_off(page: Any) -> list[str]:
    """What reaches beyond the right edge, but for what scrolls in a box of its own."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll('main *')]
            .filter(e => !e.closest('.cells > *, .policy > *, .q-tree > *, .drawing > *'))
            .filter(e => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 1)
            .map(e => `${e.tagName} ${e.className}`)"""
    )
    return found
