"""Releases written by hand in every shape: one table, or the sensitive values in one apart."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from handmade_release import SAID, csv_text, described, in_order, make_release

from incrowd.verify import Finding, verify

if TYPE_CHECKING:
    from collections.abc import Sequence

Rows: TypeAlias = "Sequence[tuple[str, str]]"
SHAPES = ("generalized", "anatomy", "lossy-join")


def make_shape(
    folder: Path,
    shape: str,
    rows: Rows,
    promises: Sequence[dict[str, Any]],
    values: Sequence[Sequence[str]] | None = None,
) -> Path:
    """Write records of a quasi-identifier `q` and a sensitive `ill`, a group for each label of `q`.

    `values` are the rows of the table of values, where it shall not be that of the records.
    """
    if shape == "generalized":
        return make_release(
            folder, ("q", "ill"), rows, quasi=("q",), sensitive=("ill",), promises=promises
        )
    numbers = {label: str(at) for at, label in enumerate(sorted({q for q, _ in rows}))}
    held = [(numbers[q], ill) for q, ill in rows]
    if shape == "anatomy":
        table, group, other = "qit.csv", "group_id", "st_ill.csv"
        columns: tuple[str, ...] = (group, "ill", "count")
        apart: list[Sequence[str]] = [(*each, str(n)) for each, n in Counter(held).items()]
    else:
        table, group, other = "nss.csv", "class_id", "ss.csv"
        columns, apart = (group, "ill"), [*held]
    apart = in_order(apart if values is None else values)

    def change(manifest: dict[str, Any]) -> None:
        (folder / other).write_bytes(csv_text(columns, apart))
        found = {**described(folder / other), "rows": len(apart), "columns": [*columns]}
        manifest["files"][other] = found
        manifest["publish"] = shape
        roles = {"q": "quasi", "ill": "sensitive"}
        manifest["attributes"] = [
            {"name": name, "role": role, "published": True} for name, role in roles.items()
        ]

    records = [(q, numbers[q]) for q, _ in rows]
    return make_release(
        folder, ("q", group), records, quasi=("q",), promises=promises, name=table, change=change
    )


def judge_shape(shape: str, rows: Rows, *promises: dict[str, Any]) -> list[Finding]:
    """The findings on promises, all else being right."""
    with tempfile.TemporaryDirectory() as folder:
        verdict = verify(make_shape(Path(folder) / "release", shape, rows, promises))
    others = verdict.findings[: -len(promises)]
    assert all(finding.holds for finding in others if finding.promise != SAID), others
    return list(verdict.findings[-len(promises) :])


def groups_by_label(rows: Rows) -> list[Counter[str]]:
    """The sensitive values of each group."""
    found: dict[str, Counter[str]] = {}
    for q, ill in rows:
        found.setdefault(q, Counter())[ill] += 1
    return list(found.values())
