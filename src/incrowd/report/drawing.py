"""Pictures as SVG that stand in a page or are a file: bars, and several pictures as panels of one.

They need no style sheet and no script, so they look alike in a report, on a page with a strict
content security policy and as a file. Kinds of marks differ by more than their colours, and every
picture says in words what it shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from markupsafe import Markup

from incrowd._runtime.sentences import cut_short, listed
from incrowd.errors import InputError

ENDINGS = (".svg", ".png", ".html")
INK, SOFT, PAPER = "#1b2733", "#5b6b7b", "#ffffff"
_FONT = "system-ui, 'DejaVu Sans', 'Liberation Sans', sans-serif"
_NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"'
"""What a file says that it is; in a page it would be taken for an address."""
_WIDTH, _VALUES = 400, 70
_LABEL, _BAR, _GAP, _BETWEEN = 16, 11, 9, 24
_CHARACTER = 7.1
"""How wide a character of a label above bars may be."""
_LOOKS = {
    "before": 'fill="#fdebd7" stroke="#b35806" stroke-width="1.2"',
    "after": 'fill="#0072b2"',
    "asked": f'fill="#d9dee3" stroke="{SOFT}" stroke-width="1.2" stroke-dasharray="3 2"',
    "value": f'fill="{SOFT}" font-size="11"',
    "tick": f'fill="{SOFT}" font-size="11.5"',
    "name": f'fill="{SOFT}" font-size="11.5"',
    "title": f'fill="{INK}" font-weight="600"',
    "grid": 'fill="none" stroke="#e8edf2"',
    "axis": f'fill="none" stroke="{SOFT}"',
    "leader": f'fill="none" stroke="{SOFT}" stroke-width=".8"',
    "held": 'fill="none" stroke="#b35806" stroke-dasharray="5 4"',
    "series": 'fill="none" stroke="#9fb0c0" stroke-width="1.5"',
}


def look(kind: str) -> Markup:
    """The class of a kind of mark, with its look."""
    return Markup('class="{}" ').format(kind) + Markup(_LOOKS[kind])  # noqa: S704 - ours


@dataclass(frozen=True)
class Drawing:
    """A picture: its size, what it shows in words, and the marks in it."""

    width: float
    height: float
    title: str
    words: str
    marks: Sequence[Markup]
    role: str = "img"
    """What it is to those who cannot see it: `group` where there are links in it."""

    def svg(self, kind: str = "picture", at: tuple[float, float] = (0, 0)) -> Markup:
        """The picture as an element, which may stand at a place in another picture."""
        place = Markup('x="{:g}" y="{:g}" ').format(*at) if any(at) else ""
        return Markup(
            '<svg class="{kind}" role="{role}" {place}viewBox="0 0 {w:g} {h:g}" '
            'width="{w:g}" height="{h:g}" font-family="{font}" font-size="12" '
            'fill="{ink}" aria-label="{title}. {words}"><title>{title}</title>'
            "<desc>{words}</desc>{marks}</svg>"
        ).format(
            kind=kind, role=self.role, place=place, w=self.width, h=self.height, font=_FONT,
            ink=INK, title=self.title, words=self.words, marks=Markup("").join(self.marks),
        )  # fmt: skip


def text(x: float, y: float, words: str, kind: str = "title", anchor: str = "start") -> Markup:
    """Words at a place."""
    return Markup('<text {} x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>').format(
        look(kind), x, y, anchor, words
    )


@dataclass(frozen=True)
class Bars:
    """A label with its bars: of each the kind, length (None for no bar) and words beside it."""

    label: str
    bars: Sequence[tuple[str, float | None, str | None]]

    @property
    def present(self) -> list[tuple[str, float, str]]:
        """The bars that there are; the number beside them where nothing is said."""
        return [
            (kind, value, f"{value:,.0f}" if words is None else words)
            for kind, value, words in self.bars
            if value is not None
        ]


def before_after(label: str, before: float | None, after: float) -> Bars:
    """A label with two numbers."""
    return Bars(label, (("before", before, None), ("after", after, None)))


def bars(
    rows: Sequence[Bars], title: str, most: float | None = None, width: int = _WIDTH
) -> Drawing:
    """The bars of each row, on one scale that ends at `most`."""
    numbers = [value for row in rows for _, value, _ in row.present]
    scale = (width - _VALUES) / (most or max(numbers, default=0) or 1)
    marks, top = [], 4
    for row in rows:
        marks.append(
            Markup('<text x="1" y="{}"><title>{}</title>{}</text>').format(
                top + _LABEL - 5, row.label, cut_short(row.label, int(width / _CHARACTER))
            )
        )
        top += _LABEL
        for kind, value, words in row.present:
            length = max(value * scale, 1.0 if value else 0.0)
            marks += [
                _rectangle(kind, 1, top, length),
                text(length + 7, top + _BAR - 1, words, "value"),
            ]
            top += _BAR + 2
        top += _GAP
    return Drawing(width, top, title, _described(rows), marks)


def panels(
    drawings: Sequence[Drawing],
    columns: int,
    key: Sequence[tuple[str, str]] = (),
    title: str = "",
) -> Drawing:
    """Pictures side by side, each under its title; below them what the kinds of marks are."""
    marks, left, top = [], 0.0, 0.0
    if title:
        marks.append(text(1, 15, title))
        top = 26.0
    wide = 0.0
    for start in range(0, len(drawings), columns):
        row, left = drawings[start : start + columns], 0.0
        for each in row:
            marks += [text(left + 1, top + 13, each.title), each.svg(at=(left, top + 20))]
            left += each.width + _BETWEEN
        wide = max(wide, left - _BETWEEN)
        top += max(each.height for each in row) + _BETWEEN
    left = 1.0
    for kind, words in key:
        marks += [
            _rectangle(kind, left, top, 20),
            text(left + 26, top + _BAR - 1, words, "value"),
        ]
        left += 26 + 6.5 * len(words) + _BETWEEN
    told = " ".join(f"{each.title}: {each.words}" for each in drawings)
    named = title or "; ".join(each.title for each in drawings)
    return Drawing(wide, top + (_BETWEEN if key else 0), named, told, marks)


def listing(lines: Sequence[str], title: str) -> Drawing:
    """Lines of text."""
    marks = [text(1, 16 + 20 * number, line, "name") for number, line in enumerate(lines)]
    wide = 6.5 * max((len(line) for line in lines), default=0) + 8
    return Drawing(wide, 20 * len(lines) + 8, title, "; ".join(lines), marks)


def _rectangle(kind: str, left: float, top: float, width: float) -> Markup:
    return Markup('<rect {} x="{:g}" y="{:g}" width="{:.1f}" height="{}" rx="1.5"/>').format(
        look(kind), left, top, width, _BAR
    )


def refuse_unable(path: str | Path) -> None:
    """Raise, before any work, when a picture could not be written to a path."""
    path = Path(path)
    if path.suffix not in ENDINGS:
        legal = listed(ENDINGS, quoted=False, last=" or ")
        raise InputError(f"A picture ends with {legal}, '{path.name}' does not.")
    if not path.resolve().parent.is_dir():
        raise InputError(f"The folder '{path.parent}' for the picture does not exist.")
    if path.suffix == ".png":
        _rasterizer()


def save(drawing: Drawing, path: str | Path) -> None:
    """Write a picture to a file of the kind that its name says, on white."""
    path, white = Path(path), Markup('<rect width="100%" height="100%" fill="#ffffff"/>')
    svg = replace(drawing, marks=[white, *drawing.marks]).svg()
    svg = Markup(str(svg).replace("<svg", f"<svg {_NAMESPACE}", 1))  # noqa: S704 - ours
    if path.suffix == ".png":
        path.write_bytes(_rasterizer().svg_to_png(str(svg), scale=2))
        return
    if path.suffix == ".html":
        svg = Markup(
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>{}</title>{}'
        ).format(drawing.title, svg)
    path.write_text(svg, encoding="utf-8")


def _rasterizer() -> Any:
    """The library that turns SVG into PNG, or an error that says how to get it."""
    try:
        import vl_convert
    except ImportError:
        raise InputError('Pictures need more libraries: pip install "incrowd[report]".') from None
    return vl_convert


def _described(rows: Sequence[Bars]) -> str:
    """The rows in words, for those who cannot see the picture."""
    told = []
    for row in rows:
        parts = [f"{kind} {words}" for kind, _, words in row.present]
        told.append(f"{row.label}: {', '.join(parts)}")
    return "; ".join(told) + "."
