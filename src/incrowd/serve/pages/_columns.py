"""Step 2, the columns: what each holds, which role it probably has and why, and the live risk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nicegui import ui

from incrowd._runtime.sentences import listed
from incrowd.policy.units import ROW
from incrowd.serve.pages._editing import (
    OF_EVENTS,
    ROLES,
    columns_of,
    is_of_events,
    role_of,
    varies,
    with_role,
    with_varying,
)
from incrowd.serve.pages._linked import LinksPanel
from incrowd.serve.pages._parts import Words, cell, ends, notice, panel, rounded, table, tried, view
from incrowd.serve.pages._unit_choice import UnitChoice
from incrowd.serve.workspace.attributes import names_patients
from incrowd.serve.workspace.pictures import one_in
from incrowd.table.profiles import column_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nicegui.events import ValueChangeEventArguments

    from incrowd.profiling.profiles import ColumnProfile
    from incrowd.serve.pages._page import Page
    from incrowd.serve.workspace.linked_tables import LinkedTable

_AT_ONCE = 30
"""Columns on one sheet; wider tables are turned over."""
_NAMED = 5
_WORST = 1
_KINDS = {"numeric": "numbers", "category": "categories", "date": "dates", "ordered": "ordered"}


def show(page: Page) -> None:
    """Build the view of the columns."""
    profile = page.profile
    with view(
        "What does each column tell about a patient?",
        "The roles are guesses. Check them before anything else: what others may know of a patient "
        "is a quasi-identifier, what nobody should learn is sensitive.",
    ):
        for warning in profile.warnings:
            notice("warn", warning)
        with ui.element("div").classes("sides"):
            box = ui.element("div").classes("wide view")
            with ui.element("div").classes("sticky first-when-narrow"):
                risk = LiveRisk(page)
            with box:
                if page.source.is_linked:
                    _tables(page, risk)
                else:
                    _flat(page, risk)
        ends(
            lambda: page.go("file"),
            lambda: page.go("hierarchies"),
            "Next: hierarchies",
        )


def _flat(page: Page, risk: LiveRisk) -> None:
    """The columns of one file, below the question of what a row is."""
    unit = UnitChoice(page, lambda: sheet.follow())
    sheet = _Sheet(page, risk, unit, page.profile.columns)


def _tables(page: Page, risk: LiveRisk) -> None:
    """How the tables hang together, and the columns of each."""
    links = LinksPanel(page)
    for each in page.source.tables:
        with ui.element("section").classes("view"):
            Words("h3", each.name)
            columns = [page.profile[name] for name in each.attributes]
            _Sheet(page, risk, links, columns, each)


class _Sheet:
    """The table of columns of one file, a sheet at a time.

    `beside` is what tells of the rows, and shows what is wrong with the draft.
    """

    def __init__(
        self,
        page: Page,
        risk: LiveRisk,
        beside: UnitChoice | LinksPanel,
        columns: Sequence[ColumnProfile],
        of: LinkedTable | None = None,
    ) -> None:
        self._page, self._risk, self._sheet = page, risk, 1
        self._beside, self._columns, self._of = beside, columns, of
        sheets = -(-len(self._columns) // _AT_ONCE)
        self._box = ui.element("div").classes("wide")
        if sheets > 1:
            ui.pagination(
                1, sheets, direction_links=True, value=1, on_change=lambda e: self._turn(e.value)
            ).props('aria-label="Sheets of columns"')
        self._fill()

    def follow(self) -> None:
        """Show the columns, and the risk, with another answer to whose the rows are."""
        self._fill()
        with self._box:
            ui.timer(0, self._risk.follow, once=True)

    def _turn(self, sheet: int) -> None:
        self._sheet = sheet
        self._fill()

    def _fill(self) -> None:
        self._box.clear()
        begin = (self._sheet - 1) * _AT_ONCE
        rows = self._page.source.rows_of(None if self._of is None else self._of.name)
        patients = None if self._of is not None else self._page.source.patients
        whose = "" if patients is None else f" of {patients:,} patients"
        caption = f"{rows or 0:,} rows{whose}, {len(self._columns):,} columns"
        with (
            self._box,
            table(["Column", "Different values", "Role", "Why"], caption=caption, classes="cards"),
        ):
            for column in self._columns[begin : begin + _AT_ONCE]:
                with ui.element("tr"):
                    self._row(column)

    def _row(self, column: ColumnProfile) -> None:
        with cell(head=True):
            own = column.name if self._of is None else column_of(self._of.name, column.name)
            Words("div", own)
            Words("div", _KINDS.get(column.kind, column.kind)).classes("quiet small")
        with cell(label="Different values"):
            Words("span", f"{column.distinct:,}")
            if column.missing:
                Words("div", f"{rounded(column.missing)} missing").classes("quiet small")
        with cell():
            self._role(column.name)
        with cell().classes("small"):
            Words("div", column.reason)
            for warning in column.warnings:
                Words("div", f"Check: {warning}").classes("strong")

    def _role(self, name: str) -> None:
        """The choice of a role; there is none for the column that links a table."""
        draft = self._page.source.draft
        if names_patients(draft, name):
            Words("div", "Identifier: names the patient, and becomes a pseudonym").classes("small")
            return
        chosen = ui.select(
            {r: ROLES[r] for r in OF_EVENTS} if is_of_events(draft, name) else ROLES,
            value=role_of(draft, name),
            label=f"Role of {name}",
            on_change=lambda event: self._changed(name, event),
        )
        chosen.props("outlined dense options-dense").classes("role")
        if self._of is None and draft.get("unit", ROW) not in (ROW, name):
            box = ui.checkbox(
                "Varies within a patient",
                value=varies(draft, name),
                on_change=lambda event: self._varies(name, event),
            )
            box.props["aria-label"] = f"{name} varies within a patient"

    def _varies(self, name: str, event: ValueChangeEventArguments[Any]) -> None:
        draft = self._page.source.draft
        self._page.source.edit(with_varying(draft, name, varying=bool(event.value)))
        self._beside.fill()

    async def _changed(self, name: str, event: ValueChangeEventArguments[Any]) -> None:
        draft, notes = with_role(self._page.source.draft, name, event.value)
        self._page.change(draft)
        for note in notes:
            ui.notify(note, type="warning", multi_line=True)
        self._beside.fill()
        await self._risk.follow()


class LiveRisk:
    """The figure beside the roles: how exposed the file is with these quasi-identifiers."""

    def __init__(self, page: Page) -> None:
        self._page, self._asked = page, 0
        with panel("Risk of the raw file"):
            self._busy = ui.linear_progress(show_value=False).props("indeterminate")
            self._busy.props["aria-label"] = "Counting"
            self._box = ui.element("div").classes("view").props('aria-live="polite"')
        ui.timer(0, self.follow, once=True)

    async def follow(self) -> None:
        """Count again for the roles of the moment; an answer that comes too late is dropped."""
        self._asked += 1
        asked, source = self._asked, self._page.source
        quasi = columns_of(source.draft, source.columns, "quasi")
        sensitive = columns_of(source.draft, source.columns, "sensitive")
        self._busy.set_visibility(True)
        found, problem = await tried(source.risk, quasi, sensitive)
        if asked != self._asked or self._box.is_deleted:
            return
        self._busy.set_visibility(False)
        self._box.clear()
        with self._box:
            if found is None:
                notice("warn", problem or "Not counted.")
            else:
                _figures(found)


def _figures(found: dict[str, Any]) -> None:
    share, prosecutor = found["uniques"]["share"], found["prosecutor"]
    highest = one_in(prosecutor["highest"])
    with ui.element("div"):
        Words("div", f"{_of_hundred(share)} of 100").classes("big")
        Words(
            "div",
            f"{found['one']}s are the only one with their "
            f"{listed(found['quasi'], _NAMED, quoted=False)}.",
        )
    for who, knows, what in (
        (
            "Prosecutor",
            "knows that a patient is in the file",
            f"{highest} at worst, {rounded(prosecutor['average'])} on average",
        ),
        (
            "Journalist",
            "knows only that a patient could be in it",
            f"{highest} at worst, less the larger the population",
        ),
        (
            "Marketer",
            "wants to find as many as possible",
            f"{rounded(found['marketer'])} of all {found['one']}s",
        ),
    ):
        with ui.element("div"):
            Words("div", f"{who}: {what}").classes("strong")
            Words("div", f"An attacker who {knows}.").classes("quiet small")
    worst = sorted(found["sensitive"], key=lambda each: -each["homogeneous_share"])
    for each in worst[:_WORST]:
        Words(
            "p",
            f"{rounded(each['homogeneous_share'])} of the {found['one']}s share "
            f"{'a value of' if each['several'] else 'their'} {each['name']} with all that look "
            "alike, so who knows the rest knows that too.",
        ).classes("small")


def _of_hundred(share: float) -> str:
    hundred = 100 * share
    if 0 < hundred < 1:
        return "Fewer than 1"
    return f"{min(round(hundred), 99) if share < 1 else 100}"
