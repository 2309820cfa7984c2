"""Pictures of a report: bars before and after, as SVG that stands inside a page.

Before is an outlined bar, after a filled one, so that they are told apart without colours; every
picture has a title and a description that say in words what it shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

_WIDTH, _VALUES = 400, 70
_LABEL, _BAR, _GAP = 16, 11, 9
_LONGEST = 56
"""The longest label that fits above its bars."""


@dataclass(frozen=True)
class Bars:
    """One line of a picture: two lengths, None where there is nothing to compare, and in words."""

    label: str
    before: float | None
    after: float | None
    before_text: str | None = None
    """What stands beside the bar; the number where nothing is said."""
    after_text: str | None = None

    @property
    def present(self) -> list[tuple[str, float, str]]:
        """The bars that there are: their kind, length and words."""
        both = (
            ("before", self.before, self.before_text),
            ("after", self.after, self.after_text),
        )
        return [
            (kind, value, f"{value:,.0f}" if text is None else text)
            for kind, value, text in both
            if value is not None
        ]


def paired_bars(rows: Sequence[Bars], title: str, most: float | None = None) -> Markup:
    """Bars before and after for each row, on one scale that ends at `most`."""
    numbers = [value for row in rows for _, value, _ in row.present]
    scale = (_WIDTH - _VALUES) / (most or max(numbers, default=0) or 1)
    lines, top = [], 4
    for row in rows:
        lines.append(
            Markup('<text x="1" y="{}"><title>{}</title>{}</text>').format(
                top + _LABEL - 5, row.label, _short(row.label)
            )
        )
        top += _LABEL
        for kind, value, text in row.present:
            width = max(value * scale, 1.0 if value else 0.0)
            lines.append(
                Markup(
                    '<rect class="{}" x="{}" y="{}" width="{:.1f}" height="{}" rx="1.5"/>'
                    '<text class="value" x="{:.1f}" y="{}">{}</text>'
                ).format(kind, 1, top, width, _BAR, width + 7, top + _BAR - 1, text)
            )
            top += _BAR + 2
        top += _GAP
    return Markup(
        '<svg class="bars" role="img" viewBox="0 0 {w} {h}" width="{w}" height="{h}" '
        'aria-label="{title}. {words}"><title>{title}</title><desc>{words}</desc>{lines}</svg>'
    ).format(w=_WIDTH, h=top, title=title, words=described(rows), lines=Markup("").join(lines))


def described(rows: Sequence[Bars]) -> str:
    """The rows in words, for those who cannot see the picture."""
    told = []
    for row in rows:
        parts = [f"{kind} {text}" for kind, _, text in row.present]
        told.append(f"{row.label}: {', '.join(parts)}")
    return "; ".join(told) + "."


def _short(label: str) -> str:
    return label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…"
