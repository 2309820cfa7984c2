"""Releases made by hand, as the metrics see them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest


@dataclass
class Made:
    """A release that no method made."""

    data: pl.DataFrame
    tables: dict[str, pl.DataFrame]
    manifest: dict[str, Any]


MakeRelease = Callable[..., Made]
SaveRelease = Callable[[Made, Path], Path]
Entry = Callable[..., dict[str, Any]]


def quasi(
    name: str, kind: str, domain: int | None, *, labels: str = "set", **more: Any
) -> dict[str, Any]:
    return {
        "name": name,
        "role": "quasi",
        "published": True,
        "type": kind,
        "labels": labels,
        "domain": domain,
        **more,
    }


@pytest.fixture
def make_release() -> MakeRelease:
    """Builds a release from columns and the entries of its attributes."""

    def build(
        columns: Mapping[str, Sequence[str | None]],
        entries: Sequence[Mapping[str, Any]],
        *,
        suppressed: int = 0,
        missing_dropped: int = 0,
        promises: Sequence[Mapping[str, Any]] = (),
        source: int | None = None,
    ) -> Made:
        frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
        stated = frame.height + suppressed + missing_dropped
        return Made(
            data=frame,
            tables={"data": frame},
            manifest={
                "format": "incrowd-release/1",
                "records": {
                    "source": stated if source is None else source,
                    "published": frame.height,
                    "suppressed": suppressed,
                    "missing_dropped": missing_dropped,
                },
                "attributes": entries,
                "promises": list(promises),
                "files": {"data.csv": {}},
            },
        )

    return build


@pytest.fixture
def save_release() -> SaveRelease:
    """Writes a release made by hand into a folder."""

    def save(release: Made, folder: Path) -> Path:
        folder.mkdir()
        release.data.write_csv(folder / "data.csv")
        (folder / "manifest.json").write_text(json.dumps(release.manifest), encoding="utf-8")
        return folder

    return save


@pytest.fixture
def entry() -> Entry:
    """The manifest's entry of a quasi-identifier."""
    return quasi
