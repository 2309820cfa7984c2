"""Who knows all records but one cell tries every value of it: no file may rule one out.

Where the tables are the same, so must the report be, and what the manifest says: a file that
differs excludes the values that give another one.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import polars as pl
import pytest
from report_kinds import saved

from incrowd.errors import IncrowdError

JOBS = {"Hands": {"Wood": ["carpenter", "joiner"], "Land": ["farmer"]}, "Desk": ["judge", "clerk"]}
ATTRIBUTES: dict[str, Any] = {
    "age": {"role": "quasi", "type": "numeric"},
    "job": {"role": "quasi", "hierarchy": {"tree": JOBS}},
    "ill": "sensitive",
    "cost": "sensitive",
}
K6: dict[str, Any] = {"k-anonymity": {"k": 6}}
TWO: dict[str, Any] = {"l-diversity": {"l": 2, "sensitive": "ill"}}
ENDS = {"intervals": {"start": 0, "stop": 100, "widths": [10, 50]}}
RULED = {
    **ATTRIBUTES,
    "age": {"role": "quasi", "hierarchy": ENDS, "weight": 2.0},
    "job": {**ATTRIBUTES["job"], "rules": [{"apart": ["joiner", "farmer"], "importance": 3.0}]},
}
CASES: dict[str, dict[str, Any]] = {
    "mondrian": {"privacy": [K6], "suppression": 0.15},
    "nodes": {
        "privacy": [K6],
        "suppression": 0.15,
        "method": {"name": "mondrian", "labels": "hierarchy"},
    },
    "incognito": {"privacy": [K6], "suppression": 0.15, "method": "incognito"},
    "clustering": {"privacy": [K6], "method": {"name": "clustering", "suppression": True}},
    "research value": {
        "privacy": [K6],
        "suppression": 0.15,
        "method": "research-value",
        "attributes": RULED,
    },
    "correlation": {
        "privacy": [K6],
        "suppression": 0.15,
        "method": "research-value",
        "weights": "correlation",
    },
    "auto": {
        "privacy": [K6],
        "method": "incognito",
        "attributes": {**ATTRIBUTES, "age": {"role": "quasi", "hierarchy": "auto"}},
    },
    "cuts": {"privacy": [K6], "method": "top-down-specialization"},
    "local": {"privacy": [K6], "method": "top-down-local"},
    "anatomy": {"privacy": [K6, TWO], "suppression": 0.15, "publish": "anatomy"},
    "lossy join": {"privacy": [K6, TWO], "suppression": 0.15, "publish": "lossy-join"},
}


def spread() -> pl.DataFrame:
    """Records whose values have nothing to do with each other."""
    draw = random.Random(5)
    jobs = ["carpenter", "joiner", "farmer", "judge", "clerk"]
    rows = [
        (20 + n, draw.choice(jobs), draw.choice(["hiv", "flu", "gout"]), draw.choice("12"))
        for n in range(36)
    ]
    return pl.DataFrame(rows, schema=list(ATTRIBUTES), orient="row")


def crowded(number: int = 36) -> pl.DataFrame:
    """Three crowds of records, and two records that are far from all others."""
    draw = random.Random(5)
    jobs = ["carpenter", "farmer", "judge"]
    rows = [
        (20 + 10 * (n % 3) + draw.randrange(6), jobs[n % 3], ["hiv", "flu"][n % 2], "12"[n % 2])
        for n in range(number)
    ]
    rows += [(90, "clerk", "ulcer", "7"), (99, "joiner", "hiv", "8")]
    return pl.DataFrame(rows, schema=list(ATTRIBUTES), orient="row")


def changed(frame: pl.DataFrame, row: int, name: str, value: object) -> pl.DataFrame:
    cells = frame[name].to_list()
    cells[row] = value
    return frame.with_columns(pl.Series(name, cells, frame[name].dtype))


VALUES: dict[str, list[Any]] = {
    "age": [31, 34, 52, 93, 104, None],
    "job": ["carpenter", "judge", None],
    "ill": ["flu", "rare"],
    "cost": ["7", "5000.25", "much"],
}


def possible(
    frame: pl.DataFrame, wanted: dict[str, Any], cells: list[tuple[int, str]]
) -> Iterator[tuple[dict[str, bytes], dict[str, bytes]]]:
    """The files as they are, with those of every other value that gives the same tables."""
    files = saved(frame, wanted)
    tables = {name: content for name, content in files.items() if name.endswith(".csv")}
    for row, name in cells:
        for value in VALUES[name]:
            if value == frame[name][row]:
                continue
            try:
                others = saved(changed(frame, row, name, value), wanted)
            except IncrowdError:
                continue
            if tables == {each: others.get(each) for each in tables}:
                yield files, others


def told(files: dict[str, bytes]) -> dict[str, Any]:
    """What the manifest says, without digests and the extremes of columns."""
    manifest = json.loads(files["manifest.json"])
    manifest["files"] = sorted(manifest["files"])
    return {key: value for key, value in manifest.items() if key != "digest"}


def dropped_rows(frame: pl.DataFrame, wanted: dict[str, Any]) -> list[int]:
    """The records whose removal changes nothing that is published: the suppressed ones."""
    from incrowd.methods.registry import run
    from incrowd.pipeline import Job
    from incrowd.policy import as_policy

    job = Job.begin(frame, as_policy({**wanted, "engine": "memory"}), lambda *_: None)
    group = run(job.task, job.policy.method).group_of_record
    return [row for row in range(frame.height) if group[row] < 0]  # type: ignore[index]


@pytest.mark.parametrize("case", [name for name in CASES if "suppression" in CASES[name]])
def test_no_file_tells_anything_of_a_suppressed_record(case: str) -> None:
    frame, wanted = crowded(), {"attributes": ATTRIBUTES, **CASES[case]}
    dropped = dropped_rows(frame, wanted)
    assert dropped, "nothing is suppressed"
    tried = 0
    for files, others in possible(frame, wanted, [(dropped[-1], name) for name in ATTRIBUTES]):
        assert others == files
        tried += 1
    assert tried >= 5


def test_counts_from_many_records_tell_nothing_of_a_suppressed_one() -> None:
    """The error of random counts, with two digits, moved with the values of one in 602 records."""
    frame, wanted = crowded(600), {"attributes": ATTRIBUTES, **CASES["incognito"]}
    seen = list(possible(frame, wanted, [(601, "age"), (601, "ill")]))
    assert len(seen) >= 5
    assert all(others == files for files, others in seen)


@pytest.mark.parametrize("case", [name for name in CASES if "publish" not in CASES[name]])
def test_no_report_tells_where_a_published_value_lies_within_its_label(case: str) -> None:
    frame, wanted = spread(), {"attributes": ATTRIBUTES, **CASES[case]}
    tried = 0
    for files, others in possible(frame, wanted, [(22, "age"), (22, "job")]):
        tried += 1
        assert told(others) == told(files)
        assert others["report.html"] == files["report.html"]
    assert tried
