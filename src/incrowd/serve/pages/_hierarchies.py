"""Step 3, the hierarchies: how each quasi-identifier becomes coarser, as a tree with coverage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from nicegui import ui

from incrowd.serve.pages import _addresses as addresses
from incrowd.serve.pages._dropping import drop_field
from incrowd.serve.pages._editing import columns_of, hierarchy_of, with_hierarchy
from incrowd.serve.pages._hierarchy_dialog import HierarchyDialog
from incrowd.serve.pages._parts import Click, Words, ends, notice, tried, view

if TYPE_CHECKING:
    from incrowd.serve.pages._page import Page
    from incrowd.serve.workspace.trees import Node, Tree

_ENDINGS = ".csv,.tsv,.txt"
_LIMIT = 64 << 20


def show(page: Page) -> None:
    """Build the view of the hierarchies."""
    quasi = columns_of(page.source.draft, page.source.columns, "quasi")
    with view(
        "How may each quasi-identifier become coarser?",
        "A hierarchy says what a value turns into, step by step: a street becomes a town, a town a "
        "county. Columns without one are made coarser by ranges and sets, or hidden.",
    ):
        if page.source.is_linked:
            Words(
                "p",
                "These are columns of the table of patients. Columns of events have no hierarchies "
                "here: they are published as they are, or not at all.",
            ).classes("quiet")
        if not quasi:
            notice("warn", "No column is a quasi-identifier. Choose some in step 2.")
        for number, name in enumerate(quasi):
            _ColumnPanel(page, name, opened=number == 0)
        ends(lambda: page.go("columns"), lambda: page.go("privacy"), "Next: privacy")


def described(hierarchy: Any) -> str:
    """What a draft says of a hierarchy, in words.

    Example
    -------
    >>> described({"intervals": {"start": 0, "stop": 100, "widths": [5, 20]}})
    'ranges from 0 to 100, of width 5, then 20'
    """
    if hierarchy is None:
        return "no hierarchy: ranges or sets of values, or hidden"
    if hierarchy in ("auto", {"auto": True}):
        return "built from the values themselves"
    if hierarchy == "dates":
        return "dates: month, quarter, year, decade"
    if isinstance(hierarchy, str):
        return f"from the file {hierarchy.rsplit('/', 1)[-1]}"
    kind, details = next(iter(hierarchy.items()), ("", None))
    if kind == "file":
        return f"from the file {str(details).rsplit('/', 1)[-1]}"
    if kind == "intervals" and isinstance(details, Mapping):
        widths = ", then ".join(f"{float(width):g}" for width in details["widths"])
        bounds = f"{float(details['start']):g} to {float(details['stop']):g}"
        return f"ranges from {bounds}, of width {widths}"
    if kind == "mask" and isinstance(details, Mapping):
        side = "first" if details.get("direction") == "left" else "last"
        return f"the {side} characters masked one after the other"
    if kind == "dates":
        levels = details if isinstance(details, list) else ["month", "quarter", "year", "decade"]
        return f"dates: {', '.join(levels)}"
    return "groups of values"


class _ColumnPanel:
    """One quasi-identifier: what its hierarchy is, how much it covers, its tree, and changes."""

    def __init__(self, page: Page, name: str, *, opened: bool) -> None:
        self._page, self._name, self._seen = page, name, False
        self._fold = ui.expansion(name, value=False, on_value_change=self._unfold)
        self._fold.classes("panel fold").props('header-class="strong"')
        with self._fold:
            self._body = ui.element("div").classes("view")
        self._caption()
        if opened:
            self._fold.set_value(True)

    def _caption(self) -> None:
        self._fold.props["caption"] = described(hierarchy_of(self._page.source.draft, self._name))
        self._fold.update()

    async def _unfold(self) -> None:
        if self._fold.value and not self._seen:
            self._seen = True
            await self._fill()

    async def _fill(self) -> None:
        self._caption()
        self._body.clear()
        with self._body:
            busy = ui.linear_progress(show_value=False).props("indeterminate")
            busy.props["aria-label"] = "Building the tree"
        found, problem = await tried(self._page.source.hierarchy_tree, self._name)
        if self._body.is_deleted:
            return
        self._body.clear()
        with self._body:
            if found is None:
                notice("bad", problem or "The tree could not be built.")
            else:
                show_coverage(found)
                show_tree(found, self._name)
            self._changes()

    def _changes(self) -> None:
        with ui.element("div").classes("line"):
            self._button("Build one", "account_tree", self._build, "Build a hierarchy of")
            self._button("Use a file", "upload_file", self._file, "Use a file for the hierarchy of")
            if hierarchy_of(self._page.source.draft, self._name) is not None:
                self._button("Do without", "close", self._without, "Do without a hierarchy of")

    def _button(self, text: str, icon: str, click: Click, told: str) -> None:
        """A button, which tells those who do not see the panel what column it is about."""
        button = ui.button(text, icon=icon, on_click=click)
        look = "flat" if icon == "close" else "outline"
        button.props(look).props["aria-label"] = f"{told} {self._name}"

    def _build(self) -> None:
        HierarchyDialog(self._page, self._name, self._fill).open()

    async def _without(self) -> None:
        self._page.change(with_hierarchy(self._page.source.draft, self._name, None))
        await self._fill()

    def _file(self) -> None:
        with ui.dialog() as dialog, ui.card():
            Words("h3", f"A file with the hierarchy of {self._name}")
            Words(
                "p",
                "One line for each value: the value itself, then what it becomes, step by step, "
                "up to *. Separated by commas or semicolons.",
            ).classes("quiet")
            Words("pre", "Berlin;Germany;Europe;*\nParis;France;Europe;*").classes("policy")
            problem = ui.element("div").classes("wide")

            def refused(reason: str) -> None:
                problem.clear()
                with problem:
                    notice("bad", reason)

            async def arrived(_: dict[str, Any]) -> None:
                dialog.close()
                await self._fill()

            drop_field(
                address=addresses.hierarchy(self._page.source.id, self._name),
                method="PUT",
                label="Drop the file here.",
                accept=_ENDINGS,
                limit=_LIMIT,
                arrived=arrived,
                refused=refused,
            )
            with ui.element("div").classes("ends"):
                ui.button("Cancel", on_click=dialog.close).props("flat")
        dialog.on_value_change(lambda event: None if event.value else dialog.delete())
        dialog.open()


def show_coverage(tree: Tree) -> None:
    """How many values a hierarchy knows, and what is missing from it."""
    found = tree.coverage
    if found.complete:
        steps = f"{tree.height} step{'s' * (tree.height != 1)}"
        notice("good", f"Covers all {found.values:,} values, in {steps} up to *.")
        return
    notice(
        "warn",
        f"{found.missing:,} of {found.values:,} values are missing from it; they are in "
        f"{found.records_missing:,} of {found.records:,} rows. No release can be made until "
        "all are there.",
    )


def show_tree(tree: Tree, name: str) -> None:
    """The labels of a hierarchy as a tree, the topmost two levels unfolded."""
    if tree.root is None:
        return
    nodes = [_node(tree.root, "0")]
    shown = ui.tree(nodes, label_key="label", node_key="id")
    shown.props["aria-label"] = f"Hierarchy of {name}"
    shown.expand([key for key, depth in _keys(nodes[0], 0) if depth < 1])


def _node(node: Node, key: str) -> dict[str, Any]:
    rows = f"{node.records:,} row{'s' * (node.records != 1)}"
    values = f"{node.values:,} values, " if node.values > 1 else ""
    children = [_node(child, f"{key}.{at}") for at, child in enumerate(node.children)]
    if node.more:
        children.append({"id": f"{key}.more", "label": f"… {node.more:,} more"})
    made: dict[str, Any] = {"id": key, "label": f"{node.label}   ({values}{rows})"}
    return {**made, "children": children} if children else made


def _keys(node: dict[str, Any], depth: int) -> Iterator[tuple[str, int]]:
    yield node["id"], depth
    for child in node.get("children", ()):
        yield from _keys(child, depth + 1)
