"""The policy file as text: to read, to correct, and to run on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from incrowd.errors import IncrowdError
from incrowd.serve.pages._parts import Words, notice

if TYPE_CHECKING:
    from incrowd.serve.pages._page import Page


def policy_panel(page: Page) -> None:
    """The draft as text, which can be corrected here: it is checked before it is taken."""
    with ui.expansion("The policy file as text", icon="description").classes("panel"):
        Words(
            "p",
            "All that was chosen in the steps before, as a file. What no step offers, such as "
            "weights or rules of researchers, can be written here.",
        ).classes("quiet")
        text = ui.textarea("policy.yaml", value=page.source.policy_text())
        text.props('outlined autogrow input-class="code" spellcheck=false').classes("wide")
        problem = ui.element("div").classes("wide")

        def take() -> None:
            problem.clear()
            try:
                page.source.set_policy(text.value or "")
            except IncrowdError as error:
                with problem:
                    notice("bad", str(error))
                return
            ui.notify("The policy was taken.", type="positive")
            page.redraw()

        with ui.element("div").classes("line"):
            ui.button("Take this text", icon="check", on_click=take).props("outline")
        command_line()


def command_line() -> None:
    """How the same release is made without the page."""
    Words("p", "Run it on the command line, beside the source:").classes("quiet small")
    Words("pre", "incrowd anonymize policy.yaml").classes("policy")
