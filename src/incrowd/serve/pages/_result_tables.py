"""The released table beside the raw one, and what became of each column."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from nicegui import run, ui

from incrowd._runtime.manifests import counts_in, counts_rows
from incrowd._runtime.sentences import cut_short
from incrowd.hierarchies.labels import Members, parse, set_label
from incrowd.serve.pages._parts import Words, cell, cells_of, notice, panel, rounded, table, tried
from incrowd.serve.workspace.workspace import Run, WorkspaceSource
from incrowd.table.profiles import PATIENT, PATIENTS, of_table

_ROWS = 10
_LONGEST = 40
_SORTED = (
    "Released rows are sorted by what they show, so that their order tells nothing: rows beside "
    "one another do not belong together."
)
_BY_PSEUDONYM = (
    f"Released rows are sorted by the pseudonym in the column '{PATIENT}', which was drawn at "
    "random: the order of patients tells nothing."
)


def published_tables(current: Run) -> None:
    """The tables of a release, each with its rows and what is in it."""
    assert current.folder is not None
    manifest = json.loads((current.folder / "manifest.json").read_text(encoding="utf-8"))
    with panel("The published tables"):
        with table(["File", "Rows", "Columns"], classes="cards", figures=(1,)):
            tables = {n: told for n, told in manifest["files"].items() if "rows" in told}
            for name, told in tables.items():
                with ui.element("tr"):
                    cell(name, head=True)
                    cell(f"{told['rows']:,}", "Rows", figure=True)
                    cell(", ".join(told["columns"]), "Columns").classes("breakable")
        Words(
            "p",
            f"A row belongs to whom the same '{PATIENT}' names in every file: a number drawn for "
            "this release. The download has all files.",
        ).classes("quiet small")


def what_became(current: Run) -> None:
    """A line for each column: whether it is published, how, and how much of it is as it was."""
    with panel("What became of each column"):
        box = ui.element("div").classes("wide")

    async def fill() -> None:
        found = await run.io_bound(_columns_of, current)
        if found is None or box.is_deleted:
            return
        with (
            box,
            table(
                ["Column", "Role", "Now", "For instance", "As it was", "The others, typically"],
                classes="cards",
                figures=(4, 5),
            ),
        ):
            for name, role, now, instance, unchanged, typical in found:
                with ui.element("tr"):
                    cell(name, head=True)
                    cell(role, "Role")
                    cell(now, "Now")
                    cell(instance, "For instance").classes("small breakable")
                    cell(unchanged, "As it was", figure=True)
                    cell(typical, "The others, typically", figure=True)

    ui.timer(0, fill, once=True)


def _columns_of(current: Run) -> list[tuple[str, str, str, str, str, str]]:
    """For each column its name, role, what became of it, a published cell, and what is seen."""
    assert current.folder is not None
    seen = (current.summary or {}).get("seen", {})
    manifest = json.loads((current.folder / "manifest.json").read_text(encoding="utf-8"))
    apart, of_patients = manifest["publish"] != "generalized", counts_rows(manifest)
    cells = _instances(current, manifest)
    return [
        (
            entry["name"],
            entry["role"],
            _now(entry, apart=apart, unit=of_patients and entry["name"] == manifest["unit"]),
            _instance(cells, entry),
            rounded(seen[entry["name"]]["unchanged"]) if entry["name"] in seen else "",
            (seen[entry["name"]]["typical"] or "") if entry["name"] in seen else "",
        )
        for entry in manifest["attributes"]
    ]


def _instances(current: Run, manifest: dict[str, Any]) -> dict[str, str | None]:
    """A published cell of each column of the table of records, and of each table of events."""
    published = counts_in(manifest)["published"]
    row = current.table(published // 2, 1)
    cells = dict(zip(row.columns, row.rows[0], strict=True)) if row.rows else {}
    if row.table == PATIENTS:
        for name in row.tables[1:]:
            rows = manifest["tables"][name]["rows"]
            event = current.table(rows // 2, 1, name)
            for cells_of_row in event.rows:
                named = (of_table(name, each) for each in event.columns)
                cells |= dict(zip(named, cells_of_row, strict=True))
    return cells


def _instance(cells: Mapping[str, str | None], entry: dict[str, Any]) -> str:
    """A published cell; the pseudonyms may have the name of a column that is not published."""
    if not entry["published"] or entry["name"] not in cells:
        return ""
    return shortened(cells[entry["name"]]) or "(missing)"


def _now(entry: dict[str, Any], *, apart: bool, unit: bool = False) -> str:
    if not entry["published"]:
        return "not published: a pseudonym stands for it" if unit else "not published"
    if "time" in entry:
        return "changed dates"
    if entry["role"] == "sensitive":
        return "as it was, shown by group only" if apart else "as it was"
    if entry["role"] != "quasi" or apart or not entry.get("ncp"):
        return "as it was"
    if entry["ncp"] == 1:
        return "hidden: * everywhere"
    labels = {
        "set": "ranges or sets of values",
        "hierarchy": "labels of its hierarchy",
        "cut": "labels of its hierarchy, or ranges",
    }
    return labels.get(entry.get("labels", ""), "generalized")


def shortened(text: str | None) -> str | None:
    """A cell that fits a table; long sets show how many values they stand for.

    Example
    -------
    >>> shortened("{00178|00263|00385|00447|09944|10001|10002}")
    '{00178|00263|… 7 values}'
    """
    if text is None or len(text) <= _LONGEST:
        return text
    parsed = parse(text)
    if isinstance(parsed, Members) and len(parsed.values) > 2:
        return f"{set_label(parsed.values[:2])[:-1]}|… {len(parsed.values):,} values}}"
    return cut_short(text, _LONGEST)


def side_by_side(source: WorkspaceSource, current: Run) -> None:
    """The raw table and the released one, some rows at a time."""
    with panel("Before and after"):
        Words("p", _BY_PSEUDONYM if "patients" in (current.summary or {}) else _SORTED).classes(
            "quiet small"
        )
        with ui.element("div").classes("halves"):
            _Raw(source)
            _Released(current)


class _Paged(ABC):
    """Rows of a table, turned over by two buttons."""

    title = ""

    def __init__(self) -> None:
        self._offset = 0
        with ui.element("div").classes("view"):
            Words("h3", self.title)
            self._extra()
            self._box = ui.element("div").classes("wide")
            with ui.element("div").classes("line"):
                self._back = ui.button(icon="chevron_left", on_click=lambda: self._turn(-_ROWS))
                self._back.props("outline dense").props["aria-label"] = f"{self.title}: rows before"
                self._where = Words("span").classes("small").props('aria-live="polite"')
                self._on = ui.button(icon="chevron_right", on_click=lambda: self._turn(_ROWS))
                self._on.props("outline dense").props["aria-label"] = f"{self.title}: next rows"
        ui.timer(0, self._fill, once=True)

    def _extra(self) -> None:  # noqa: B027 - most have none
        """Further fields above the rows."""

    async def _turn(self, by: int) -> None:
        self._offset = max(0, self._offset + by)
        await self._fill()

    async def _fill(self) -> None:
        found, problem = await tried(self._rows)
        if self._box.is_deleted:
            return
        self._box.clear()
        with self._box:
            if found is None:
                notice("bad", problem or "These rows cannot be shown.")
                return
            columns, rows, total = found
            cells_of(columns, [[shortened(text) for text in row] for row in rows], self.title)
        last = self._offset + len(rows)
        self._where.set_text(f"{self._offset + 1 if rows else 0:,} to {last:,} of {total:,}")
        self._back.set_enabled(self._offset > 0)
        self._on.set_enabled(last < total)

    @abstractmethod
    def _rows(self) -> tuple[list[str], list[list[str | None]], int]:
        """The columns, the rows from the offset on, and how many rows there are."""


class _Raw(_Paged):
    """The first thousand rows of the file."""

    title = "Raw"

    def __init__(self, source: WorkspaceSource) -> None:
        self._source = source
        self._table = next((each.name for each in source.tables), None)
        super().__init__()

    def _extra(self) -> None:
        names = [each.name for each in self._source.tables]
        if names:
            ui.select(names, value=names[0], label="Raw table", on_change=self._choose).props(
                "outlined dense"
            )

    async def _choose(self, event: Any) -> None:
        self._table, self._offset = event.value, 0
        await self._fill()

    def _rows(self) -> tuple[list[str], list[list[str | None]], int]:
        columns, rows = self._source.preview(1_000, self._table)
        return columns, rows[self._offset : self._offset + _ROWS], len(rows)


class _Released(_Paged):
    """The published rows, of each table that the release has."""

    title = "Released"

    def __init__(self, current: Run) -> None:
        self._run = current
        self._table: str | None = None
        self._names: tuple[str, ...] = ()
        super().__init__()

    def _extra(self) -> None:
        self._tables = ui.select({}, label="Table", on_change=self._choose)
        self._tables.props("outlined dense").set_visibility(False)

    async def _fill(self) -> None:
        await super()._fill()
        if len(self._names) > 1 and not self._tables.options:
            self._tables.set_options(list(self._names), value=self._names[0])
            self._tables.set_visibility(True)

    async def _choose(self, event: Any) -> None:
        if event.value != (self._table or self._names[0]):
            self._table, self._offset = event.value, 0
            await self._fill()

    def _rows(self) -> tuple[list[str], list[list[str | None]], int]:
        found = self._run.table(self._offset, _ROWS, self._table)
        self._names = found.tables
        return list(found.columns), [list(row) for row in found.rows], found.total
