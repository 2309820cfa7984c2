"""What a manifest, and who makes a release, is told of cells that a spreadsheet would run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from incrowd._runtime.manifests import Manifest
from incrowd.published.escaping import runs

if TYPE_CHECKING:
    from incrowd.publish.rows import ShownColumn


def found(columns: Mapping[str, ShownColumn], *, escape: bool) -> dict[str, Any]:
    """What a manifest says of formulas: how many different cells of each column, never which.

    `columns` are the published ones by what the manifest calls them.
    Nothing where there are none and nothing is escaped.
    """
    cells = {
        name: sum(runs(text) for text in column.texts if text is not None)
        for name, column in columns.items()
        if column.kind == "text"
    }
    cells = {name: many for name, many in cells.items() if many}
    names = sum(runs(name) for name in {column.name for column in columns.values()})
    if not (cells or names or escape):
        return {}
    return {"spreadsheet": {"escaped": escape, "cells": cells, "names": names}}


def formula_warnings(manifest: Manifest) -> list[str]:
    """The sentence for who makes a release with such cells; none without them."""
    stated = manifest.get("spreadsheet", {})
    counts = [f"{many:,} in '{name}'" for name, many in stated.get("cells", {}).items()]
    if stated.get("names"):
        counts.append(f"{stated['names']:,} in the names of columns")
    if not counts:
        return []
    done = (
        "They are escaped with a leading apostrophe"
        if stated["escaped"]
        else "Say `spreadsheet: escape`, or warn who opens the files in one"
    )
    return [
        f"A spreadsheet would run cells as formulas: {', '.join(counts)} (different ones). {done}."
    ]
