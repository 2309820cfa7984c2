"""Step 1, the file: dropped, chosen, or the demo registry; and those that are here already."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from nicegui import run, ui

from incrowd.serve.pages._linked import size_words
from incrowd.serve.pages._parts import (
    Words,
    cell,
    cells_of,
    ends,
    notice,
    panel,
    table,
    tried,
    view,
)
from incrowd.serve.pages._several_files import FilesField
from incrowd.sources.source import file_endings

if TYPE_CHECKING:
    from incrowd.serve.pages._page import Page
    from incrowd.serve.workspace.workspace import WorkspaceSource

_ROWS = 8
_EVERY = 0.25
"""Seconds between two looks at a file that is being read."""
_FIRST_LINES = {
    None: "Names of the columns, refused if it looks like a record",
    False: "A record: the file has no header",
    True: "Names of the columns, whatever it looks like",
}
_STAGES = {
    "waiting": "Waiting for the file",
    "reading": "Reading the file",
    "profiling": "Looking at the columns",
    "coding": "Preparing the columns",
    "generating a registry": "Making up the demo registry",
}


def show(page: Page) -> None:
    """Build the view of the files."""
    with view(
        "Which tables do you want to share?",
        "It stays on this machine: nothing is sent anywhere, and the copy made for this page is "
        "wiped when the server ends.",
    ):
        source = page.place.source(page.workspace)
        _FileChoice(page)
        if source is not None:
            _OpenFile(page, source)
        others = [each for each in page.workspace.sources if each is not source]
        if others:
            _others(page, others)
        if source is not None and source.state == "ready":
            ends(None, lambda: page.go("columns"), "Next: columns")


class _FileChoice:
    """A new file, or the demo registry."""

    def __init__(self, page: Page) -> None:
        self._page = page
        with ui.element("div").classes("halves"):
            with panel("Your own file"):
                self._field = ui.element("div").classes("wide")
                self._offer(None)
                ui.select(
                    _FIRST_LINES,
                    value=None,
                    label="First line of a text file",
                    on_change=lambda event: self._offer(event.value),
                ).props("dense outlined")
                self._problem = ui.element("div").classes("wide")
            with panel("No file at hand?"):
                Words(
                    "p",
                    "A cancer registry of made-up patients, with hierarchies and promises already "
                    "chosen, shows the whole way in a minute.",
                )
                with ui.element("div"):
                    ui.button(
                        "Try the demo registry", icon="play_arrow", on_click=self._demo
                    ).props("unelevated")

    def _offer(self, header: bool | None) -> None:
        """The field, for files whose first line is as the person says."""
        self._field.clear()
        with self._field:
            FilesField(
                header=header,
                accept=",".join([*file_endings(), ".gz"]),
                limit=self._page.upload_limit,
                arrived=self._arrived,
                refused=self._refused,
            )

    def _arrived(self, reply: dict[str, Any]) -> None:
        self._page.open_source(reply["id"])

    def _refused(self, reason: str) -> None:
        self._problem.clear()
        with self._problem:
            notice("bad", reason)

    async def _demo(self) -> None:
        source, problem = await tried(self._page.workspace.add_demo)
        if source is None:
            self._refused(problem)
            return
        self._page.open_source(source.id)


class _OpenFile:
    """The open file: how far it is read, what is wrong with it, or its first rows."""

    def __init__(self, page: Page, source: WorkspaceSource) -> None:
        self._page, self._source = page, source
        with panel(source.name):
            self._box = ui.element("div").classes("view")
        self._fill()

    def _fill(self) -> None:
        """Fill the panel alone: the field above it may be sending another file."""
        self._box.clear()
        with self._box:
            if self._source.state == "studying":
                self._watch()
            elif self._source.state == "failed":
                notice("bad", self._source.message)
                with ui.element("div"):
                    ui.button("Take it away", icon="close", on_click=self._forget).props("outline")
            else:
                self._rows()

    def _watch(self) -> None:
        self._stage = Words("p").props('role="status"')
        self._bar = ui.linear_progress(show_value=False, size="10px").props("rounded")
        self._bar.props["aria-label"] = "Reading the file"
        ui.timer(_EVERY, self._look)
        self._tell()

    def _tell(self) -> None:
        source = self._source
        self._stage.set_text(f"{_STAGES.get(source.stage, source.stage)} …")
        known = source.whole > 1
        self._bar.props("indeterminate=false" if known else "indeterminate")
        self._bar.set_value(source.done / source.whole if known else 0)

    def _look(self) -> None:
        if self._source.state == "studying":
            self._tell()
        elif self._source.state == "ready":
            self._page.go("columns")
        else:
            self._fill()

    def _rows(self) -> None:
        source = self._source
        for each in source.tables:
            Words("h4", each.file)
            self._first(each.file, each.name)
        if not source.is_linked:
            self._first(source.name, None)
        with ui.element("div"):
            ui.button("Take it away", icon="delete", on_click=self._forget).props("flat")

    def _first(self, file: str, table: str | None) -> None:
        """The first rows of a file."""
        columns, rows = self._source.preview(_ROWS, table)
        many = self._source.rows_of(table) or 0
        told = f"{many:,} rows, {len(columns):,} columns. The first ones:"
        Words("p", told).classes("quiet small")
        cells_of(columns, rows, f"First rows of {file}")

    async def _forget(self) -> None:
        await run.io_bound(self._page.workspace.remove_source, self._source.id)
        self._page.open_source(None)


def _others(page: Page, sources: list[WorkspaceSource]) -> None:
    """The files that are here but not open."""
    with panel("Other files on this page"), table(["File", "Size", ""], classes="cards"):
        for source in sources:
            with ui.element("tr"):
                cell(source.name, head=True)
                cell(size_words(source), "Size")
                with cell():
                    button = ui.button("Open", on_click=partial(page.open_source, source.id))
                    button.props("outline dense").props["aria-label"] = f"Open {source.name}"
