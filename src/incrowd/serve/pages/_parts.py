"""Small parts that all views are made of: headings, messages, plain tables, the buttons below."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, ParamSpec, TypeVar

from nicegui import run, ui
from nicegui.elements.mixins.text_element import TextElement

from incrowd.errors import IncrowdError
from incrowd.serve.workspace.workspace import WorkspaceSource

Tone = Literal["info", "good", "warn", "bad"]
_CallP = ParamSpec("_CallP")
_CallT = TypeVar("_CallT")
Click = Callable[[], Any] | Callable[[], Awaitable[Any]]

_SIGNS: dict[Tone, tuple[str, str]] = {
    "info": ("info", "Note"),
    "good": ("check_circle", "Good"),
    "warn": ("warning", "Check"),
    "bad": ("error", "Error"),
}


class Words(TextElement):
    """Text in an element of HTML that means something: a heading, a paragraph, a cell."""

    def __init__(self, tag: str, text: str = "") -> None:
        super().__init__(tag=tag, text=text)


@contextmanager
def view(title: str, lead: str = "") -> Iterator[None]:
    """One view: its heading, a sentence on what to do here, and then what it holds."""
    with ui.element("section").classes("view"):
        Words("h2", title)
        if lead:
            Words("p", lead).classes("quiet")
        yield


@contextmanager
def panel(title: str = "") -> Iterator[ui.element]:
    """A framed part of a view."""
    with ui.element("div").classes("panel") as box:
        if title:
            Words("h3", title)
        yield box


def notice(tone: Tone, text: str) -> ui.element:
    """A message with a sign and a colour; people who see neither hear its kind first."""
    icon, kind = _SIGNS[tone]
    box = ui.element("div").classes(f"told {tone}")
    box.props('role="alert"' if tone == "bad" else 'role="status"')
    with box:
        ui.icon(icon).props(f'role="img" aria-label="{kind}"')
        Words("div", text)
    return box


async def tried(
    call: Callable[_CallP, _CallT],
    *given: _CallP.args,
    **named: _CallP.kwargs,
) -> tuple[_CallT | None, str]:
    """What a call tells, made in a thread; or nothing, and why it tells nothing."""
    try:
        return await run.io_bound(call, *given, **named), ""
    except IncrowdError as error:
        return None, str(error)


def figure(value: str, meaning: str) -> None:
    """A number that matters and what it is."""
    with ui.element("div"):
        Words("div", value).classes("big")
        Words("div", meaning).classes("quiet small")


@contextmanager
def table(
    columns: Sequence[str], *, caption: str = "", classes: str = "", figures: Sequence[int] = ()
) -> Iterator[None]:
    """A table of HTML with its head; the rows are made inside the block with `row`."""
    with ui.element("table").classes(f"plain {classes}"):
        if caption:
            Words("caption", caption).classes("quiet small")
        with ui.element("thead"), ui.element("tr"):
            for number, name in enumerate(columns):
                cell = Words("th", name).props('scope="col"')
                if number in figures:
                    cell.classes("figure")
        with ui.element("tbody"):
            yield


def cell(text: str = "", label: str = "", *, figure: bool = False, head: bool = False) -> Words:
    """A cell of the current row; `label` is shown before it where rows have become cards."""
    made = Words("th" if head else "td", text)
    if head:
        made.props('scope="row"')
    if label:
        made.props["data-label"] = label
    return made.classes("figure") if figure else made


def cells_of(columns: Sequence[str], rows: Sequence[Sequence[str | None]], caption: str) -> None:
    """A table of many columns, in a box of its own that scrolls sideways."""
    box = ui.element("div").classes("cells").props('tabindex="0" role="region"')
    box.props["aria-label"] = caption
    with box, table(columns):
        for row in rows:
            with ui.element("tr"):
                for text in row:
                    cell("(missing)" if text is None else text).classes(
                        "quiet" if text is None else ""
                    )


def ends(back: Click | None, forward: Click | None, label: str = "Next") -> ui.button | None:
    """The buttons below a view; returns the one that leads on."""
    with ui.element("div").classes("ends"):
        if back is not None:
            ui.button("Back", icon="arrow_back", on_click=back).props("outline")
        else:
            ui.element("span")
        if forward is None:
            return None
        return ui.button(label, on_click=forward).props('unelevated icon-right="arrow_forward"')


def values_of(source: WorkspaceSource, name: str) -> list[str]:
    """The values of a column, the most frequent first; reads them, so call it in a thread."""
    texts, records = source.require_ready().texts(name)
    order = sorted(range(len(texts)), key=lambda at: -records[at])
    return [text for at in order if (text := texts[at]) is not None]


def rounded(share: float) -> str:
    """A share as people read it: whole percents, tenths where they matter, 100 only for all.

    Example
    -------
    >>> rounded(0.5), rounded(0.9999), rounded(0.004), rounded(0.0001)
    ('50 %', '99.9 %', '0.4 %', 'below 0.1 %')
    """
    hundred = 100 * share
    if 0 < hundred < 0.1:
        return "below 0.1 %"
    if 99 < hundred < 100:
        return f"{min(hundred, 99.9):.1f} %"
    return f"{hundred:.0f} %" if hundred >= 10 or hundred == 0 else f"{hundred:.1f} %"
