"""Pictures of a report: bars before and after, as SVG that stands inside a page.

Before is an outlined bar, after a filled one, so that they are told apart without colours; every
picture has a title and a description that say in words what it shows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

_WIDTH, _LABELS, _VALUES = 720, 200, 110
_BAR, _GAP = 11, 9
_LONGEST = 27


@dataclass(frozen=True)
class Bars:
    """One line of a picture; None where there is nothing to compare."""

    label: str
    before: float | None
    after: float | None


def paired_bars(
    rows: Sequence[Bars], title: str, shown: Callable[[float], str], most: float | None = None
) -> Markup:
    """Bars before and after for each row, on one scale that ends at `most`.

    `shown` writes a number beside its bar.
    """
    numbers = [value for row in rows for value in (row.before, row.after) if value is not None]
    scale = (_WIDTH - _LABELS - _VALUES) / (most or max(numbers, default=0) or 1)
    lines, top = [], 4
    for row in rows:
        present = [
            (kind, value)
            for kind, value in (("before", row.before), ("after", row.after))
            if value is not None
        ]
        middle = top + len(present) * (_BAR + 2) / 2 + 3
        lines.append(
            Markup('<text x="{}" y="{:g}" text-anchor="end"><title>{}</title>{}</text>').format(
                _LABELS - 8, middle, row.label, _short(row.label)
            )
        )
        for kind, value in present:
            width = max(value * scale, 1.0 if value else 0.0)
            lines.append(
                Markup(
                    '<rect class="{}" x="{}" y="{}" width="{:.1f}" height="{}" rx="1.5"/>'
                    '<text class="value" x="{:.1f}" y="{}">{}</text>'
                ).format(
                    kind, _LABELS, top, width, _BAR, _LABELS + width + 6, top + _BAR - 1,
                    shown(value),
                )
            )  # fmt: skip
            top += _BAR + 2
        top += _GAP
    return Markup(
        '<svg class="bars" role="img" viewBox="0 0 {w} {h}" width="{w}" height="{h}" '
        'aria-label="{title}. {words}"><title>{title}</title><desc>{words}</desc>{lines}</svg>'
    ).format(
        w=_WIDTH, h=top, title=title, words=described(rows, shown), lines=Markup("").join(lines)
    )


def described(rows: Sequence[Bars], shown: Callable[[float], str]) -> str:
    """The rows in words, for those who cannot see the picture."""
    told = []
    for row in rows:
        parts = [
            f"{kind} {shown(value)}"
            for kind, value in (("before", row.before), ("after", row.after))
            if value is not None
        ]
        told.append(f"{row.label}: {', '.join(parts)}")
    return "; ".join(told) + "."


def _short(label: str) -> str:
    return label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…"
