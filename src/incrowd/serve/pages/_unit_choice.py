"""What a row is: the question beside the roles, since rows are what every promise counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nicegui import ui

from incrowd.policy.units import ROW
from incrowd.serve.pages._editing import columns_of, with_unit
from incrowd.serve.pages._parts import Words, notice, panel
from incrowd.serve.workspace.attributes import Draft, tables_in
from incrowd.table.profiles import PATIENTS

if TYPE_CHECKING:
    from nicegui.events import ValueChangeEventArguments

    from incrowd.serve.pages._page import Page

_OPEN = ""
"""The choice of who has not chosen: then no identifier may repeat."""


def unit_words(draft: Draft) -> str:
    """What the draft takes a row for, in a sentence."""
    if tables_in(draft):
        key = tables_in(draft)[PATIENTS].get("key")
        return f"Counted are patients, told apart by '{key}', whatever their rows in other tables."
    unit = draft.get("unit")
    if unit is None or unit == ROW:
        return "Counted are records: each row is taken for another patient."
    return f"Counted are patients, told apart by '{unit}', whatever their rows."


class UnitChoice:
    """The choice of the unit, why it was guessed, and what speaks against it.

    `follow` is called when another was chosen.
    """

    def __init__(self, page: Page, follow: Callable[[], None]) -> None:
        self._page, self._follow = page, follow
        with panel("What is a row?"):
            self._box = ui.element("div").classes("view")
        self.fill()

    def fill(self) -> None:
        """Show the choices that the roles of the moment leave."""
        source = self._page.source
        draft = source.draft
        choices = {
            _OPEN: "Not said: no identifier may repeat",
            ROW: "Each row is another patient",
            **{
                name: f"Each value of {name} is one patient"
                for name in columns_of(draft, source.columns, "identifier")
                if name in draft.get("attributes", {}) and name != ROW
            },
        }
        chosen, guess = draft.get("unit") or _OPEN, self._page.profile.unit
        self._box.clear()
        with self._box:
            ui.select(
                choices,
                value=chosen if chosen in choices else _OPEN,
                label="Who is protected",
                on_change=self._changed,
            ).props("outlined").classes("wide")
            if source.problem is not None:
                notice("bad", source.problem)
            elif chosen == guess.unit and guess.undecided:
                notice("warn", guess.reason)
            elif chosen == guess.unit:
                Words("p", guess.reason).classes("quiet small")

    def _changed(self, event: ValueChangeEventArguments[Any]) -> None:
        unit = event.value if event.value != _OPEN else None
        self._page.source.edit(with_unit(self._page.source.draft, unit))
        self.fill()
        self._follow()
