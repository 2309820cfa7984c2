"""The dialog that builds a hierarchy: ranges, masked characters, dates, or groups of values."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from nicegui import run, ui

from incrowd.errors import IncrowdError, ParameterError
from incrowd.hierarchies.computed import DATE_LEVELS
from incrowd.serve.pages._editing import hierarchy_of, with_hierarchy
from incrowd.serve.pages._parts import Words, notice, values_of

if TYPE_CHECKING:
    from incrowd.serve.pages._page import Page

_KINDS = {
    "intervals": "Ranges of numbers",
    "mask": "Masked characters, as in 142**",
    "dates": "Parts of a date",
    "tree": "Groups of values",
    "auto": "From the values themselves",
}
_BY_HAND = 100
"""Values that a person can still divide up into groups."""
_FITTING = {"numeric": "intervals", "date": "dates"}


class HierarchyDialog:
    """Builds a hierarchy of one column.

    Parameters
    ----------
    page, name
        The page, and the column.
    taken
        Called after a hierarchy was taken.
    """

    def __init__(self, page: Page, name: str, taken: Callable[[], Awaitable[None]]) -> None:
        self._page, self._name, self._taken = page, name, taken
        self._column = page.profile[name]
        asked = hierarchy_of(page.source.draft, name)
        suggested = asked if isinstance(asked, Mapping) else self._column.hierarchy
        self._given: dict[str, Any] = dict(suggested or {})
        kind = next(iter(self._given), None)
        if kind not in _KINDS:
            kind = _FITTING.get(self._column.kind, "tree")
        with ui.dialog() as self._dialog, ui.card():
            Words("h3", f"A hierarchy of {name}")
            self._kind = ui.select(
                _KINDS, value=kind, label="How values become coarser", on_change=self._fields
            )
            self._kind.props("outlined").classes("wide")
            self._box = ui.element("div").classes("view")
            self._answer = ui.element("div").classes("view").props('aria-live="polite"')
            with ui.element("div").classes("ends"):
                ui.button("Cancel", on_click=self._dialog.close).props("flat")
                with ui.element("div").classes("line"):
                    ui.button("Try it", icon="visibility", on_click=self._try).props("outline")
                    ui.button("Use it", icon="check", on_click=self._use).props("unelevated")
        self._dialog.on_value_change(lambda event: None if event.value else self._dialog.delete())
        self._fields()

    def open(self) -> None:
        """Show the dialog."""
        self._dialog.open()

    def _fields(self) -> None:
        self._box.clear()
        self._answer.clear()
        with self._box:
            {
                "intervals": self._intervals,
                "mask": self._mask,
                "dates": self._dates,
                "tree": self._groups,
                "auto": self._auto,
            }[str(self._kind.value)]()

    def _intervals(self) -> None:
        given = self._given.get("intervals") or {}
        with ui.element("div").classes("line"):
            self._start = _number("From", given.get("start", 0))
            self._stop = _number("To (not included)", given.get("stop", 100))
        widths = ", ".join(f"{float(width):g}" for width in given.get("widths", (5, 10, 50)))
        self._widths = ui.input("Widths, each a multiple of the one before", value=widths)
        self._widths.props("outlined").classes("wide")
        self._read = self._read_intervals

    def _read_intervals(self) -> dict[str, Any]:
        parts = [
            part for part in str(self._widths.value).replace(";", ",").split(",") if part.strip()
        ]
        try:
            widths = [_plain(float(part)) for part in parts]
        except ValueError:
            raise ParameterError("Widths are numbers, separated by commas: 5, 10, 50.") from None
        if self._start.value is None or self._stop.value is None or not widths:
            raise ParameterError("Ranges need a beginning, an end and at least one width.")
        start, stop = _plain(self._start.value), _plain(self._stop.value)
        return {"intervals": {"start": start, "stop": stop, "widths": widths}}

    def _mask(self) -> None:
        given = self._given.get("mask") or {}
        with ui.element("div").classes("line"):
            self._length = _number("Characters of a value", given.get("length", 5))
            self._side = ui.select(
                {"right": "the last first: 142**", "left": "the first first: **248"},
                value=given.get("direction", "right"),
                label="Which are masked",
            )
            self._side.props("outlined").classes("grow")
        self._read = self._read_mask

    def _read_mask(self) -> dict[str, Any]:
        made = {"length": int(self._length.value or 0)}
        return {"mask": made if self._side.value == "right" else {**made, "direction": "left"}}

    def _dates(self) -> None:
        given = self._given.get("dates")
        self._levels = ui.select(
            list(DATE_LEVELS),
            multiple=True,
            value=list(given) if isinstance(given, list) else list(DATE_LEVELS),
            label="What a date becomes",
        )
        self._levels.props("outlined use-chips").classes("wide")
        self._read = lambda: {"dates": [x for x in DATE_LEVELS if x in (self._levels.value or [])]}

    def _groups(self) -> None:
        Words("p", "One line for each group: its name, a colon, its values separated by commas.")
        Words("p", "All values stand in one line at first: divide them up.").classes("quiet small")
        self._lines = ui.textarea("Groups", value=lines_of(self._given.get("tree")))
        if not self._lines.value:
            ui.timer(0, self._propose, once=True)
        self._lines.props("outlined autogrow").classes("wide")
        self._lines.props["hint"] = "for instance   Blood: leukemia, lymphoma"
        self._read = lambda: {"tree": groups_of(str(self._lines.value or ""))}

    async def _propose(self) -> None:
        """Write down the values of the column, if they are few enough to be divided by hand."""
        found = await run.io_bound(values_of, self._page.source, self._name)
        if found and len(found) <= _BY_HAND and not self._lines.is_deleted:
            self._lines.set_value(f"Group 1: {', '.join(found)}")

    def _auto(self) -> None:
        Words("p", "Ranges of numbers, parts of dates or beginnings of words, as the values allow.")
        self._read = lambda: {"auto": True}

    async def _look(self) -> dict[str, Any] | None:
        """Build the tree of what the fields say; shows it, or what is wrong."""
        from incrowd.serve.pages._hierarchies import show_coverage, show_tree

        self._answer.clear()
        try:
            wanted = self._read()
            tree = await run.io_bound(
                self._page.source.hierarchy_tree, self._name, hierarchy=wanted
            )
        except IncrowdError as error:
            with self._answer:
                notice("bad", str(error))
            return None
        if tree is None or self._answer.is_deleted:
            return None
        with self._answer:
            show_coverage(tree)
            show_tree(tree, self._name)
        return wanted

    async def _try(self) -> None:
        await self._look()

    async def _use(self) -> None:
        wanted = await self._look()
        if wanted is None:
            return
        draft = with_hierarchy(self._page.source.draft, self._name, wanted)
        self._page.change(draft)
        self._dialog.close()
        await self._taken()


def groups_of(text: str) -> dict[str, list[str]]:
    r"""The groups that a person wrote, a line for each.

    Example
    -------
    >>> groups_of("Blood: leukemia, lymphoma\nSkin: melanoma")
    {'Blood': ['leukemia', 'lymphoma'], 'Skin': ['melanoma']}
    """
    groups: dict[str, list[str]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        label, colon, values = line.partition(":")
        members = [value.strip() for value in values.split(",") if value.strip()]
        if not colon or not label.strip() or not members:
            raise ParameterError(
                f"Line {number}: write the name of the group, a colon, its values."
            )
        groups.setdefault(label.strip(), []).extend(members)
    if not groups:
        raise ParameterError("No group is there yet: write a line for each.")
    return groups


def lines_of(tree: object) -> str:
    """Groups as a person writes them; empty where they have groups of their own."""
    if not isinstance(tree, Mapping) or not all(isinstance(each, list) for each in tree.values()):
        return ""
    if any(isinstance(value, Mapping) for each in tree.values() for value in each):
        return ""
    return "\n".join(f"{label}: {', '.join(map(str, each))}" for label, each in tree.items())


def _number(label: str, value: object) -> ui.number:
    made = ui.number(label, value=None if value is None else float(str(value)))
    made.props("outlined").classes("grow")
    return made


def _plain(number: float) -> int | float:
    """A whole number without its decimal point."""
    return int(number) if float(number).is_integer() else float(number)
