"""Pictures as files: SVG or PNG, drawn without a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from incrowd.errors import InputError

ENDINGS = (".svg", ".png", ".html")


def refuse_unable(path: str | Path) -> None:
    """Raise, before any work, when a picture could not be written to a path."""
    path = Path(path)
    if path.suffix not in ENDINGS:
        raise InputError(f"A picture ends with {', '.join(ENDINGS)}, '{path.name}' does not.")
    if not path.resolve().parent.is_dir():
        raise InputError(f"The folder '{path.parent}' for the picture does not exist.")
    altair()


def altair() -> Any:
    """The library that draws, or an error that says how to get it."""
    try:
        import altair as alt
        import vl_convert  # noqa: F401 - draws without a browser
    except ImportError:
        raise InputError('Pictures need more libraries: pip install "incrowd[report]".') from None
    return alt


def save(chart: Any, path: str | Path) -> None:
    """Write a chart to a file of the kind that its name says."""
    chart.configure_view(strokeWidth=0).save(str(path), scale_factor=2)
