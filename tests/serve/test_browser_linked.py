"""In a real browser: several files dropped at once become one verified release of linked tables."""

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import (
    NARROW,
    Server,
    browsing,
    cut_off,
    drop_files,
    has_no_sideways_scroll,
    need_browser,
    open_page,
    serving,
    to_step,
    ward,
)
from clinic import clinic

import incrowd

need_browser()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("linked")) as running:
        yield running


@pytest.fixture(scope="module")
def chrome() -> Iterator[Any]:
    with browsing() as browser:
        yield browser


def test_three_dropped_files_become_a_verified_release(
    server: Server, chrome: Any, tmp_path: Path
) -> None:
    with open_page(chrome, server) as page:
        drop_files(page, clinic(stray=3))
        page.get_by_role("button", name="These are tables of the same patients").click()

        # How the tables hang together, and what must be decided before a run.
        page.get_by_role("heading", name="How the tables hang together").wait_for()
        page.get_by_text("98 % of the rows").wait_for()
        page.get_by_text("patients are the only one with their age, sex and city").wait_for()
        page.get_by_role("alert").filter(has_text="3 of 140 rows of conditions.csv").wait_for()
        leave_out = "Leave out the 3 rows of conditions that name nobody"
        page.get_by_role("checkbox", name=leave_out).click()
        page.get_by_role("alert").wait_for(state="detached")
        assert not page.get_by_role("combobox", name="Role of drugs.PATIENT").count()
        page.get_by_role("combobox", name="Role of conditions.note").click()
        page.get_by_role("option").nth(2).wait_for()
        assert page.get_by_role("option").count() == 3
        page.get_by_role("option", name="Identifier").click()
        page.set_viewport_size(NARROW)
        assert has_no_sideways_scroll(page), cut_off(page)

        to_step(page, "Privacy")
        page.get_by_text("finds at least 5 patients that fit").wait_for()
        assert not page.get_by_label("Publish as").count()
        page.get_by_role("button", name="Next: run").click()
        page.get_by_role("button", name="Start").click()
        page.get_by_text("Verified. All promises hold").wait_for()
        for name, rows in (("patients.csv", "60"), ("conditions.csv", "137"), ("drugs.csv", "56")):
            page.get_by_role("row").filter(has_text=name).get_by_text(rows, exact=True).wait_for()
        with page.expect_download() as waiting:
            page.get_by_role("link", name="Download the release").click()
        packed = Path(waiting.value.path()).read_bytes()

    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        archive.extractall(tmp_path)
    assert incrowd.verify(tmp_path / "release").holds
    manifest = json.loads((tmp_path / "release" / "manifest.json").read_text(encoding="utf-8"))
    assert set(manifest["tables"]) == {"conditions", "drugs"}


def test_several_files_may_also_be_taken_apart_or_not_at_all(server: Server, chrome: Any) -> None:
    files = {"one.csv": ward(40), "other.csv": ward(40)}
    with open_page(chrome, server) as page:
        to_step(page, "File")
        drop_files(page, files)
        page.get_by_role("button", name="Take none").click()
        page.get_by_text("What are these 2 files?").wait_for(state="detached")
        drop_files(page, files)
        page.get_by_role("button", name="Separate files").click()
        page.get_by_text("records are the only one").wait_for()
        to_step(page, "File")
        page.get_by_role("heading", name="Other files on this page").wait_for()
        for name in files:
            page.locator("main .panel").get_by_text(name, exact=True).wait_for()
