"""How tables hang together, on the page: which column names the patient, and who is found by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from incrowd.serve.pages._parts import Words, cell, notice, panel, rounded, table
from incrowd.serve.workspace.attributes import tables_in, with_unmatched
from incrowd.serve.workspace.linked_tables import LinkedTable

if TYPE_CHECKING:
    from incrowd.serve.pages._page import Page
    from incrowd.serve.workspace.workspace import WorkspaceSource


def size_words(source: WorkspaceSource) -> str:
    """How much a source holds, in words; empty while nobody knows."""
    if source.records is None:
        return ""
    if not source.is_linked:
        return f"{source.records:,} rows"
    return f"{source.records:,} patients"


class LinksPanel:
    """The tables of one source as they hang on that of the patients, and what speaks against it."""

    def __init__(self, page: Page) -> None:
        self._page = page
        with panel("How the tables hang together"):
            self._box = ui.element("div").classes("view")
        self.fill()

    def fill(self) -> None:
        """Show the tables with the draft of the moment."""
        source = self._page.source
        patients, *events = source.tables
        self._box.clear()
        with self._box:
            Words(
                "p",
                f"{source.records or 0:,} patients of {patients.file}, told apart by "
                f"'{patients.unit}'. Every promise counts these, whatever their rows elsewhere.",
            )
            with table(
                ["Table", "Rows", "Names the patient by", "Rows whose patient is found"],
                classes="cards links",
                figures=(1,),
            ):
                self._row(patients)
                for each in events:
                    self._row(each)
            Words(
                "p",
                "What others may know of events is held off by policy files alone, not on this "
                "page yet: here their columns are sensitive, kept as they are, or left out.",
            ).classes("quiet small")
            if source.problem is not None:
                notice("bad", source.problem)

    def _row(self, each: LinkedTable) -> None:
        with ui.element("tr"):
            with cell(head=True):
                Words("div", each.name).classes("" if each.is_of_patients else "branch")
                if each.file.partition(".")[0] != each.name:
                    Words("div", each.file).classes("quiet small")
            cell(f"{each.rows:,}", "Rows", figure=True)
            cell(each.unit, "Names the patient by")
            with cell(label="Patient found in"):
                if each.is_of_patients:
                    Words("span", "the table of patients").classes("quiet")
                    return
                Words("span", f"{rounded(each.found)} of the rows")
                bar = ui.linear_progress(each.found, show_value=False, size="6px")
                bar.props('rounded aria-hidden="true"')
                if each.unmatched:
                    self._unmatched(each)

    def _unmatched(self, each: LinkedTable) -> None:
        """The choice to leave rows out that name nobody."""
        asked = tables_in(self._page.source.draft)[each.name]
        box = ui.checkbox(
            f"Leave out the {each.unmatched:,} rows that name nobody",
            value=asked.get("unmatched") == "drop",
            on_change=lambda event: self._leave_out(each.name, drop=bool(event.value)),
        )
        box.props["aria-label"] = (
            f"Leave out the {each.unmatched:,} rows of {each.name} that name nobody"
        )

    def _leave_out(self, name: str, *, drop: bool) -> None:
        self._page.source.edit(with_unmatched(self._page.source.draft, name, drop=drop))
        self.fill()
