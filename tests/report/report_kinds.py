"""Releases of every kind from small tables, and their reports as a reader and a parser see them."""

from __future__ import annotations

import random
import re
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd
from incrowd.engines import collapse
from incrowd.methods.registry import run
from incrowd.pipeline import Job
from incrowd.policy import Policy, as_policy
from incrowd.table.sql_table import SqlTable

DUCKDB = {"engine": "duckdb", "memory": "300MB"}
JOBS = {"Hands": {"Wood": ["carpenter", "joiner"], "Land": ["farmer"]}, "Desk": ["judge", "clerk"]}
ATTRIBUTES: dict[str, Any] = {
    "age": {"role": "quasi", "hierarchy": {"intervals": {"start": 0, "stop": 100, "widths": [10]}}},
    "born": {"role": "quasi", "type": "date", "hierarchy": "dates"},
    "job": {"role": "quasi", "hierarchy": {"tree": JOBS}},
    "town": "quasi",
    "ill": "sensitive",
    "grade": "sensitive",
    "late": "target",
}
CATEGORIES = [["hiv", "flu"], ["ulcer", "cold", "gout"]]


def patients(number: int, seed: int = 1) -> pl.DataFrame:
    """Patients with a cell in fifteen missing; about half of them look like another."""
    draw = random.Random(seed)

    def cell(value: object) -> object:
        return None if draw.random() < 1 / 15 else value

    jobs = ["carpenter", "joiner", "farmer", "judge", "clerk"]
    rows = [
        {
            "age": cell(draw.choice((31, 38, 44, 67, 80))),
            "born": cell(draw.choice(("1950-02-03", "1950-09-30", "1971-12-01"))),
            "job": cell(draw.choice(jobs)),
            "town": cell(draw.choice(("Oslo", "Bergen", "*", "{x}"))),
            "ill": cell(draw.choice(("hiv", "flu", "ulcer", "cold", "gout"))),
            "grade": cell(draw.choice("123")),
            "late": draw.choice("yn"),
        }
        for _ in range(number)
    ]
    kinds = {name: pl.Int64 if name == "age" else pl.String for name in ATTRIBUTES}
    return pl.DataFrame(rows, schema=kinds)


def policy(*privacy: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"attributes": ATTRIBUTES, "privacy": list(privacy), **more}


K3: dict[str, Any] = {"k-anonymity": {"k": 3}}
ILL2: dict[str, Any] = {"l-diversity": {"l": 2, "sensitive": "ill"}}
GAL: dict[str, Any] = {"multi-sensitive": {"k": 3, "l": 2, "sensitive": ["ill", "grade"]}}
WITHOUT_SENSITIVE = {name: each for name, each in ATTRIBUTES.items() if name in ("age", "town")}
RULES = {
    **ATTRIBUTES,
    "age": {**ATTRIBUTES["age"], "weight": 2.0, "rules": [{"apart": [44, 67], "importance": 25.0}]},
    "town": {"role": "quasi", "rules": [{"apart": ["Oslo", "Bergen"], "importance": 3.0}]},
}
LALPHA = {
    "l-alpha-diversity": {
        "l": 2,
        "alpha": 0.5,
        "sensitive": "ill",
        "categories": [[*CATEGORIES[0], ""], CATEGORIES[1]],
    }
}
LKC = {"lkc": {"L": 2, "K": 4, "C": 0.9, "sensitive": "ill", "values": ["hiv"]}}
CLASSES = policy(LKC, method="top-down-specialization", goal="classification")
KINDS: dict[str, tuple[int, dict[str, Any]]] = {
    "mondrian": (120, policy(K3, ILL2)),
    "median with labels": (120, policy(K3, method={"name": "mondrian", "labels": "hierarchy"})),
    "suppressed": (600, policy(K3, ILL2, suppression=0.1)),
    "full domain": (120, policy(K3, method="incognito", suppression=0.1)),
    "classification": (
        600,
        policy(LKC, method="top-down-specialization", goal="classification"),
    ),
    "classification of few": (
        120,
        policy(LKC, method="top-down-specialization", goal="classification"),
    ),
    "local": (60, policy(K3, ILL2, method="top-down-local")),
    "clustered": (60, policy(K3, method="clustering")),
    "categories": (600, policy(LALPHA)),
    "research value": (
        120,
        {**policy(K3, method="research-value", suppression=0.05), "attributes": RULES},
    ),
    "correlated": (120, policy(K3, method="research-value", weights="correlation")),
    "anatomy": (600, policy(ILL2, publish="anatomy", method="anatomize")),
    "anatomy, suppressed": (600, policy(K3, ILL2, publish="anatomy", suppression=0.1)),
    "anatomy of several": (120, policy(GAL, publish="anatomy")),
    "lossy join": (120, policy(K3, ILL2, publish="lossy-join")),
    "lossy join, missing dropped": (120, policy(K3, publish="lossy-join", missing="drop")),
    "nothing sensitive": (
        60,
        {"attributes": {**WITHOUT_SENSITIVE, "job": "keep"}, "other": "drop", "privacy": [K3]},
    ),
    "one quasi-identifier": (
        60,
        {"attributes": {"town": "quasi", "ill": "sensitive"}, "other": "drop", "privacy": [K3]},
    ),
    "one group": (10, policy({"k-anonymity": {"k": 10}})),
    "no crowd promised": (
        60,
        policy({"confidence-bounding": {"C": 0.9, "sensitive": "grade"}}),
    ),
    "journalist": (120, policy(K3, report={"sampling-fraction": 0.1})),
    "protected target": (120, policy(K3, {"l-diversity": {"l": 2, "sensitive": "late"}})),
}


def saved(frame: pl.DataFrame, wanted: dict[str, Any] | Policy, **how: Any) -> dict[str, bytes]:
    """The files of a release."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "release"
        incrowd.anonymize(frame, wanted, accept_unprotected=True).save(place, **how)
        return {path.name: path.read_bytes() for path in sorted(place.iterdir())}


def report(frame: pl.DataFrame, wanted: dict[str, Any]) -> str:
    return saved(frame, wanted)["report.html"].decode()


def private(frame: pl.DataFrame, wanted: dict[str, Any]) -> str:
    """The private report of a release."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "private.html"
        incrowd.anonymize(frame, wanted).save(Path(folder) / "release", private_report=path)
        return path.read_text(encoding="utf-8")


def job_and_outcome(frame: pl.DataFrame, wanted: dict[str, Any], on_disk: bool) -> tuple[Job, Any]:
    """A job with its rows in memory, or in an SQL engine however few they are."""
    with pytest.MonkeyPatch.context() as patch:
        if on_disk:
            patch.setattr(collapse, "BYTES_A_CODE", 10**12)
        more = DUCKDB if on_disk else {"engine": "memory"}
        job = Job.begin(
            frame, as_policy({**wanted, **more}), lambda *_: None, accept_unprotected=True
        )
        outcome = run(job.task, job.policy.method)
    assert (isinstance(job.prepared.table, SqlTable)) == on_disk
    return job, outcome


class Page(HTMLParser):
    """A page as a strict parser sees it: what is open, ids, links, pictures, text."""

    VOID = frozenset({"meta", "br", "rect", "link", "img", "input"})

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), f"an attribute of <{tag}> stands twice"
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    @property
    def words(self) -> str:
        """All that a reader may come across, alt texts as well, the markup left out."""
        spoken = [value or "" for _, attrs in self.tags for value in attrs.values()]
        return "\n".join([self.text, *spoken])


def without_style(page: str) -> str:
    return re.sub(r"(?s)<style>.*?</style>", "", page)
