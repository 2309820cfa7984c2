"""In a real browser: the demo registry in few clicks and cancelled, by keyboard alone, narrow."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from browser import (
    NARROW,
    Server,
    browsing,
    cut_off,
    drop,
    has_no_sideways_scroll,
    need_browser,
    open_page,
    serving,
    to_step,
    ward,
)

need_browser()


@pytest.fixture(scope="module")
def chrome() -> Iterator[Any]:
    with browsing() as browser:
        yield browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("demo")) as running:
        yield running


def test_the_demo_takes_six_clicks_and_survives_a_reload_and_a_cancel(
    server: Server, chrome: Any
) -> None:
    with open_page(chrome, server) as page:
        page.get_by_role("button", name="Try the demo registry").click()
        page.get_by_text("records are the only one").wait_for()
        page.get_by_role("button", name="Next: hierarchies").click()
        page.get_by_role("button", name="Next: privacy").click()
        page.get_by_text("at least 3 different values of tumor_topography").wait_for()
        page.get_by_label("k", exact=True).fill("9")
        page.get_by_text("finds at least 9 records").wait_for()

        page.reload()
        page.get_by_text("finds at least 9 records").wait_for()
        assert page.get_by_label("k", exact=True).input_value() == "9"
        page.get_by_role("button", name="Next: run").click()

        page.get_by_role("button", name="Start").click()
        page.get_by_role("button", name="Cancel").click()
        page.get_by_text("was cancelled. Nothing of it was kept.").wait_for()
        page.get_by_role("button", name="Start").click()
        page.get_by_role("progressbar", name="Progress of run 2").wait_for()
        page.reload()
        page.get_by_text("Verified. All promises hold").wait_for()

        # The picture tells each run in words, and its points lead to the runs.
        picture = page.get_by_role("group", name="Risk and utility of each run.")
        assert "Run 2 (shown): risk at most 1 in 9" in picture.get_attribute("aria-label")
        picture.get_by_role("link").get_by_text("Run 2 (shown)", exact=True).click()
        page.wait_for_url("**/?run=*")
        page.get_by_role("heading", name="Run 2: the release").wait_for()

        released = page.get_by_role("region", name="Released")
        first = released.get_by_role("row").nth(1).inner_text()
        page.get_by_role("button", name="Released: next rows").click()
        page.get_by_text("11 to 20 of 72,194").wait_for()
        assert released.get_by_role("row").nth(1).inner_text() != first


def press_until(page: Any, name: str, key: str = "Enter", most: int = 80) -> None:
    """Go on with the Tab key until something of that name has the focus, and press a key."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if name in page.evaluate("document.activeElement.innerText || ''"):
            page.keyboard.press(key)
            return
    raise AssertionError(f"The Tab key does not lead to '{name}'.")


def test_the_keyboard_alone_leads_to_a_release_and_the_focus_is_seen(
    server: Server, chrome: Any
) -> None:
    with open_page(chrome, server) as page:
        to_step(page, "File")
        press_until(page, "Try the demo registry", "Shift")  # within reach
        drop(page, ward())
        page.get_by_text("records are the only one").wait_for()
        assert page.evaluate("document.activeElement.innerText").startswith("What does each column")

        # A role is changed without a mouse.
        for _ in range(20):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.ariaLabel") == "Role of sex":
                break
        outline = (
            "getComputedStyle(document.activeElement.closest('.q-field__control')).outlineStyle"
        )
        assert page.evaluate(outline) == "solid"
        page.keyboard.press("Enter")
        page.get_by_role("option", name="Keep as it is").wait_for()
        for _ in range(3):
            page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.get_by_text("records are the only one with their age and city").wait_for()

        press_until(page, "Next: hierarchies")
        page.get_by_role("heading", name="How may each quasi-identifier").wait_for()
        press_until(page, "Next: privacy")
        page.get_by_role("heading", name="What must an attacker").wait_for()
        press_until(page, "Next: run")
        page.get_by_role("heading", name="Make the release").wait_for()
        press_until(page, "Start")
        page.get_by_text("Verified. All promises hold").wait_for()
        with page.expect_download() as waiting:
            press_until(page, "Download the release")
        assert waiting.value.suggested_filename.startswith("release-")


def test_a_narrow_window_cuts_nothing_off(server: Server, chrome: Any) -> None:
    with open_page(chrome, server, NARROW) as page:

        def fits() -> None:
            assert has_no_sideways_scroll(page)
            assert cut_off(page) == []

        to_step(page, "File")
        fits()
        drop(page, ward())
        page.get_by_text("records are the only one").wait_for()
        fits()
        page.get_by_role("button", name="Next: hierarchies").click()
        page.get_by_text("Covers all").first.wait_for()
        fits()
        page.get_by_role("button", name="Next: privacy").click()
        page.get_by_role("button", name="Add").click()
        page.get_by_text("any two facts about a patient").wait_for()
        fits()
        page.get_by_role("button", name="Take promise 3 away").click()
        page.get_by_role("button", name="Next: run").click()
        page.get_by_role("button", name="Start").click()
        page.get_by_text("Verified. All promises hold").wait_for()
        page.get_by_role("group", name="Risk and utility").wait_for()
        page.get_by_text(re.compile("^1 to 10 of ")).nth(1).wait_for()  # source and release
        fits()
