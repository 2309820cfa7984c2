"""Reports of every kind of release: well-formed, self-contained, the same twice, no raw value."""

from __future__ import annotations

import json
import random
import re
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from report_kinds import (
    DUCKDB,
    GAL,
    ILL2,
    K3,
    KINDS,
    Page,
    patients,
    policy,
    report,
    saved,
    without_style,
)

import incrowd
from incrowd.engines import collapse
from incrowd.policy import Policy

NASTY = """<script>alert("x's")</script>"""


@pytest.fixture(scope="module")
def pages() -> dict[str, dict[str, bytes]]:
    """The files of a release of every kind."""
    return {name: saved(patients(rows), wanted) for name, (rows, wanted) in KINDS.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_pages_are_well_formed_and_need_nothing_else(
    kind: str, pages: dict[str, dict[str, bytes]]
) -> None:
    text = pages[kind]["report.html"].decode()
    page = Page(text)
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(set(ids)) == len(ids)
    pictures = [attrs for tag, attrs in page.tags if tag == "svg"]
    assert len(pictures) >= 3
    for attrs in pictures:
        assert attrs["role"] == "img"
        assert len(attrs["aria-label"] or "") > 20
    for tag, attrs in page.tags:
        assert tag not in ("script", "link", "img", "iframe", "object", "form", "base")
        assert not [name for name in attrs if name.startswith("on") or name == "src"]
        if "href" in attrs:
            assert (attrs["href"] or "").removeprefix("#") in ids
    assert not re.search(r"https?:|//|url\(|@import", text)
    assert "None" not in without_style(text).replace("None of ", "")
    assert "nan" not in Page(text).text.split()


@pytest.mark.parametrize("kind", KINDS)
def test_the_manifest_lists_the_report_and_the_release_verifies(
    kind: str, pages: dict[str, dict[str, bytes]], tmp_path: Path
) -> None:
    for name, content in pages[kind].items():
        (tmp_path / name).write_bytes(content)
    manifest = json.loads(pages[kind]["manifest.json"])
    assert manifest["files"]["report.html"]["bytes"] == len(pages[kind]["report.html"])
    verdict = incrowd.verify(tmp_path)
    assert not [finding for finding in verdict.findings if finding.holds is False]


@pytest.mark.parametrize("kind", ["suppressed", "classification", "lossy join"])
def test_the_same_source_gives_the_same_page(kind: str, pages: dict[str, dict[str, bytes]]) -> None:
    rows, wanted = KINDS[kind]
    shuffled = patients(rows).sample(fraction=1, shuffle=True, seed=9)
    assert saved(shuffled, wanted) == pages[kind]


@pytest.mark.parametrize("kind", ["suppressed", "anatomy, suppressed", "categories"])
def test_rows_that_stay_in_an_engine_give_the_same_page(
    kind: str, pages: dict[str, dict[str, bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collapse, "BYTES_A_CODE", 10**12)
    rows, wanted = KINDS[kind]
    assert saved(patients(rows), {**wanted, **DUCKDB}) == pages[kind]


def test_verify_notices_a_report_that_was_changed_or_removed(tmp_path: Path) -> None:
    place = tmp_path / "release"
    incrowd.anonymize(patients(60), policy(K3), accept_unprotected=True).save(place)
    kept = tmp_path / "kept"
    shutil.copytree(place, kept)
    page = (place / "report.html").read_text(encoding="utf-8")
    (place / "report.html").write_text(page.replace("Report", "report"), encoding="utf-8")
    assert not incrowd.verify(place).holds
    (place / "report.html").unlink()
    assert not incrowd.verify(place).holds
    assert incrowd.verify(kept).holds


def test_a_release_may_do_without_a_report() -> None:
    files = saved(patients(60), policy(K3), report=False)
    assert "report.html" not in files
    assert "report.html" not in json.loads(files["manifest.json"])["files"]


def secret_table(number: int, seed: int) -> tuple[pl.DataFrame, dict[str, Any]]:
    """A table all of whose cells are words that stand nowhere else, and its policy."""
    draw = random.Random(seed)

    def words(prefix: str, many: int) -> list[str]:
        return [f"{prefix}{draw.getrandbits(40):010x}" for _ in range(many)]

    town, street, ill, ward = words("t", 9), words("s", 30), words("i", 4), words("w", 5)
    job, stage = words("j", 8), words("g", 4)
    rows = [
        {
            "name": f"n{draw.getrandbits(40):010x}",
            "town": draw.choice(town),
            "street": draw.choice([*street, None]),
            "job": draw.choice(job),
            "stage": draw.choice(stage),
            "age": 1_000_003 + 7_919 * draw.randrange(90),
            "ill": draw.choice(ill),
            "ward": draw.choice(ward),
        }
        for _ in range(number)
    ]
    tree = {f"b{n}{draw.getrandbits(40):010x}": job[n::2] for n in range(2)}
    attributes: dict[str, Any] = {
        "name": "identifier",
        "town": {"role": "quasi", "rules": [{"apart": town[:2], "importance": 2.0}]},
        "street": "quasi",
        "job": {"role": "quasi", "hierarchy": {"tree": tree}},
        "stage": {"role": "quasi", "order": stage},
        "age": "quasi",
        "ill": "sensitive",
        "ward": "sensitive",
    }
    return pl.DataFrame(rows), {"attributes": attributes, "rule-base": 1.0}


@pytest.mark.parametrize("number", [12, 50, 600])
@pytest.mark.parametrize(
    "how",
    [
        {"privacy": [K3], "suppression": 0.2},
        {"privacy": [K3], "method": {"name": "mondrian", "labels": "hierarchy"}},
        {"privacy": [K3], "method": "research-value", "suppression": 0.3},
        {"privacy": [{"lkc": {"L": 1, "K": 2}}], "method": "top-down-specialization"},
        {"privacy": [ILL2], "publish": "anatomy", "suppression": 0.2},
        {"privacy": [K3], "publish": "lossy-join"},
    ],
    ids=["sets", "nodes", "levels", "cuts", "anatomy", "lossy join"],
)
def test_every_raw_word_of_a_report_stands_in_the_published_tables(
    number: int, how: dict[str, Any]
) -> None:
    frame, wanted = secret_table(number, seed=number)
    listed = {"confidence-bounding": {"C": 0.9, "sensitive": "ward"}}
    if how.get("method") != "top-down-specialization":
        listed["confidence-bounding"]["values"] = [frame["ward"][0]]
    wanted = {**wanted, **how, "privacy": [*how["privacy"], listed]}
    files = saved(frame, wanted)
    words = Page(files["report.html"].decode()).words
    published = "\n".join(files[name].decode() for name in files if name.endswith(".csv"))
    raw = re.compile(r"[a-z]\d?[0-9a-f]{10}")
    told = set(raw.findall(words))
    assert told <= set(raw.findall(published))
    assert not told & set(frame["name"])
    numbers = {str(age) for age in frame["age"].to_list()}
    ends = set(re.findall(r"\d{7,}", published))
    ends |= {str(int(end) + 1) for end in ends}  # where the range of a single value ends
    assert set(re.findall(r"\d{7,}", words)) & numbers <= ends


def test_words_of_suppressed_records_are_not_told() -> None:
    frame, wanted = secret_table(60, seed=8)
    rare = {name: [f"z{name}000000000"] for name in ("name", "town", "street", "job", "stage")}
    lone = pl.DataFrame({**rare, "age": [99_999_999], "ill": ["zill"], "ward": ["zward"]})
    wanted["attributes"]["job"] = "quasi"
    wanted["attributes"]["stage"] = "quasi"
    files = saved(pl.concat([frame, lone]), {**wanted, "privacy": [K3], "suppression": 0.3})
    published = b"".join(files[name] for name in files if name != "report.html")
    page = files["report.html"]
    for word in (b"ztown", b"zstreet", b"zjob", b"zill", b"zward", b"99999999", b"99,999,999"):
        if word not in published:
            assert word not in page
    assert b"zname" not in page


def test_names_and_values_are_escaped() -> None:
    frame = patients(60).rename({"town": NASTY, "ill": "<b>ill", "grade": "\"g\" & 'h'"})
    frame = frame.with_columns(
        pl.col(NASTY).replace({"Oslo": NASTY, "Bergen": "</svg><img src=x onerror=y>"}),
    )
    wanted = {
        "attributes": {
            "age": "quasi",
            NASTY: "quasi",
            "<b>ill": "sensitive",
            "\"g\" & 'h'": "sensitive",
            "late": "keep",
        },
        "other": "drop",
        "privacy": [{"l-diversity": {"l": 2, "sensitive": "<b>ill"}}],
    }
    for publish in ("generalized", "anatomy"):
        text = report(frame, {**wanted, "publish": publish})
        page = Page(text)
        assert "<script" not in text
        assert "<img" not in text
        assert "<b>ill" not in text
        assert NASTY in page.text
        assert any(NASTY in (attrs.get("aria-label") or "") for _, attrs in page.tags)


def test_places_and_lists_of_the_policy_are_left_out() -> None:
    wanted = policy(K3, ILL2, {"confidence-bounding": {"C": 0.9, "sensitive": "grade"}})
    wanted["privacy"][2]["confidence-bounding"]["values"] = ["3"]
    wanted |= {
        "source": "postgresql://zoelina@db.hospital.example/geheim",
        "output": "/home/zoelina/out",
        "spark": {"spark.master": "local[4]"},
    }
    page = Page(report(patients(120), wanted)).words
    for secret in ("postgresql", "geheim", "zoelina", "/home", "spark", "Hands"):
        assert secret not in page
    assert "values: … 1 entry in the policy file" in page
    assert "tree: … 2 branches in the policy file" in page


def test_a_policy_without_lists_is_shown_so_that_it_runs() -> None:
    wanted: dict[str, Any] = {
        "attributes": {
            "age": "quasi",
            "born": {"role": "quasi", "hierarchy": "dates"},
            "town": {"role": "quasi", "weight": 2.0},
            "ill": "sensitive",
            "grade": "sensitive",
        },
        "other": "drop",
        "privacy": [K3, GAL],
        "suppression": 0.1,
        "missing": "drop",
        "report": {"sampling-fraction": 0.5},
    }
    frame = patients(80)
    files = saved(frame, wanted)
    shown = Page(files["report.html"].decode()).texts
    text = next(each for each in shown if each.startswith("attributes:"))
    assert saved(frame, Policy.from_yaml(text)) == files


def test_the_journalist_knows_a_population(pages: dict[str, dict[str, bytes]]) -> None:
    from incrowd.attacks.population import expected_risk

    page = Page(pages["journalist"]["report.html"].decode()).text
    shown = incrowd.anonymize(patients(120), policy(K3), accept_unprotected=True).data
    smallest = shown.group_by("age", "born", "job", "town").len()["len"].min()
    highest = float(expected_risk(pl.Series([smallest]).to_numpy(), 0.1)[0])
    assert "population of which 10.0 % are in the data" in page
    assert f"{100 * highest:.1f} %" in page
    assert "at most the prosecutor's" in Page(pages["mondrian"]["report.html"].decode()).text


def test_ends_of_ranges_are_left_out_where_records_were_suppressed() -> None:
    """They may have been chosen to fit records that are not published."""
    kept = report(patients(600), policy(K3, ILL2))
    dropped = report(patients(600), policy(K3, ILL2, suppression=0.1))
    assert "stop: 100.0" in kept
    assert "stop: 100.0" not in dropped
    assert "stop: … in the policy file" in dropped
