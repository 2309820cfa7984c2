"""What an analyst sees leads, and is not better for a release that is worse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd
from incrowd.utility import evaluate, seen
from incrowd.utility.count_error import STEPS, told_error
from incrowd.utility.granularity import in_words, meaningful, seen_cells


def entry(name: str, kind: str, labels: str = "set", **more: Any) -> dict[str, Any]:
    return {"name": name, "role": "quasi", "type": kind, "labels": labels, "ncp": 0.1, **more}


@pytest.mark.parametrize(
    ("about", "cells", "typical"),
    [
        (entry("age", "numeric"), {"[30-40)": 5, "[30-90)": 2, "44": 9}, "10 years"),
        (entry("income", "numeric"), {"[1000-3500)": 5}, "2,500 wide"),
        (entry("weight_kg", "numeric"), {"[60-62.5)": 5}, "2.5 kg"),
        (entry("born", "date"), {"[1950-01-01-1959-01-01)": 5}, "9 years"),
        (entry("born", "date"), {"[1950-01-01-1950-01-11)": 5}, "10 days"),
        (
            entry("born", "date", "hierarchy", weights={"1950-Q1": 90, "1950s": 3652}),
            {"1950-Q1": 3, "1950s": 1},
            "3 months",
        ),
        (
            entry("born", "date", "hierarchy", weights={"1950": 365}),
            {"1950": 3, "*": 1},
            "1 year",
        ),
        (entry("town", "category"), {"{a|b|c|d}": 5, "{a|b}": 1, "*": 9}, "sets of 4 values"),
        (
            entry("zip", "category", "hierarchy", hierarchy="mask", weights={"142**": 9}),
            {"142**": 5, "14248": 1},
            "2 characters hidden",
        ),
        (
            entry("job", "category", "hierarchy", hierarchy="tree", weights={"Office": 3}),
            {"Office": 5, "judge": 1},
            "labels for 3 values",
        ),
        (entry("sex", "category"), {"F": 5, None: 1, "*": 1}, None),
    ],
)
def test_widths_are_told_in_the_own_unit(
    about: dict[str, Any], cells: dict[str | None, int], typical: str | None
) -> None:
    assert seen_cells(about, cells).typical == typical


def test_shares_of_cells() -> None:
    found = seen_cells(entry("sex", "category", domain=3), {"F": 5, None: 1, "*": 2})
    assert (found.unchanged, found.hidden, found.ncp) == (0.75, 0.25, 0.1)
    assert in_words([found]) == (
        "75.0 % of the cells of quasi-identifiers are as they were, 25.0 % are hidden (*)."
    )


def test_ncp_is_told_only_of_domains_that_people_look_over() -> None:
    assert meaningful(entry("age", "numeric", domain=100))
    assert meaningful(entry("born", "date", domain=40_000))
    assert not meaningful(entry("code", "numeric", domain=10**14))
    assert meaningful(entry("job", "category", domain=40))
    assert not meaningful(entry("name", "category", domain=5_000))
    assert not meaningful(entry("town", "category", domain=None))


def test_counts_are_told_coarsely_and_as_the_release_answers() -> None:
    about = entry("age", "numeric", decimals=0, domain=60)
    narrow: dict[str | None, int] = {f"[{low}-{low + 2})": 50 for low in range(20, 60, 2)}
    wide: dict[str | None, int] = {"[20-60)": 1000}
    assert seen_cells(about, {"30": 7, "40": 9}).count_error == 0
    found = [seen_cells(about, cells).count_error for cells in (narrow, wide)]
    assert found[0] is not None
    assert 0 < found[0] <= 0.1
    assert found[1] == 1
    assert {*found} <= {*STEPS}
    assert seen_cells(about, {"*": 9}).count_error is None
    assert [told_error(each) for each in (None, 0, 0.05, 10.0)] == [
        "-", "exact", "± 5 %", "± more than 100 %",
    ]  # fmt: skip


def test_a_worse_release_does_not_look_better() -> None:
    """Codes of 14 digits in ranges nobody can use: 1 - NCP was 99 %, and stood first."""
    codes = [10**13 + 7 * n for n in range(40)] + [9 * 10**13 + n for n in range(40)]
    frame = pl.DataFrame({"code": codes, "ill": ["a", "b"] * 40})
    asked: dict[str, Any] = {
        "attributes": {"code": {"role": "quasi", "type": "numeric"}, "ill": "sensitive"},
        "privacy": [{"k-anonymity": {"k": 5}}],
    }
    release = incrowd.anonymize(frame, asked)
    assert release.manifest["utility"]["information_kept"] > 0.99
    found = seen(release)[0]
    assert (found.unchanged, found.ncp) == (0, None)
    assert found.typical is not None
    assert in_words([found]).startswith("0 % of the cells of quasi-identifiers are as they were.")


@pytest.mark.parametrize("publish", ["generalized", "anatomy"])
@pytest.mark.parametrize("method", ["mondrian", "incognito", "clustering"])
def test_one_function_for_a_release_in_memory_and_in_a_folder(
    publish: str, method: str, tmp_path: Path
) -> None:
    frame = pl.DataFrame(
        {"age": [20 + n % 9 for n in range(60)], "job": list("abcdef") * 10, "ill": list("xy") * 30}
    )
    release = incrowd.anonymize(
        frame,
        {
            "attributes": {"age": "quasi", "job": "quasi", "ill": "sensitive"},
            "privacy": [{"k-anonymity": {"k": 3}}],
            "publish": publish,
            "method": method,
        },
    )
    release.save(tmp_path / "r")
    assert release.seen == seen(tmp_path / "r") == evaluate(tmp_path / "r").seen
    assert release.evidence is not None
    assert tuple(each.seen for each in release.evidence.attributes) == release.seen
