"""Releases made by hand, as the metrics see them."""

from __future__ import annotations

import json
from types import SimpleNamespace

import polars as pl
import pytest


def quasi(name, kind, domain, *, labels="set", **more):
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
def make_release():
    """Builds a release from columns and the entries of its attributes."""

    def build(columns, entries, *, suppressed=0, missing_dropped=0, promises=(), source=None):
        frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
        stated = frame.height + suppressed + missing_dropped
        return SimpleNamespace(
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
def save_release():
    """Writes a release made by hand into a folder."""

    def save(release, folder):
        folder.mkdir()
        release.data.write_csv(folder / "data.csv")
        (folder / "manifest.json").write_text(json.dumps(release.manifest), encoding="utf-8")
        return folder

    return save


@pytest.fixture
def entry():
    """The manifest's entry of a quasi-identifier."""
    return quasi
