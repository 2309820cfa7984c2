"""What is measured for a report is what the published table shows, nothing of the suppressed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from report_kinds import K3, LKC, Page, job_and_outcome, patients, policy

import incrowd
from incrowd.hierarchies.labels import Anything, parse
from incrowd.publish.relabelling import without_suppressed
from incrowd.report._source_evidence import SourceMeasuring
from incrowd.report.evidence import Evidence, Measuring


def measured(frame: pl.DataFrame, wanted: dict[str, Any]) -> tuple[Evidence, Any]:
    """The evidence for a release, with that of its source, and the release."""
    job, outcome = job_and_outcome(frame, wanted, on_disk=False)
    release = job.release(outcome)
    source = published = job.prepared
    if outcome.suppressed:
        published, outcome = without_suppressed(source, job.policy, outcome)
    measuring = SourceMeasuring(job.policy, source, published, outcome, job._interests())
    found = Measuring(job.policy, published, outcome).evidence(release.manifest, release.seen)
    return replace(found, source=measuring.evidence(release, lambda *_: None)), release


@pytest.mark.parametrize(
    "how",
    [
        {"method": {"name": "mondrian", "labels": "set"}, "suppression": 0.1},
        {"method": {"name": "mondrian", "labels": "hierarchy"}},
        {"method": "incognito", "suppression": 0.1},
        {"method": "top-down-specialization"},
    ],
    ids=["sets", "nodes", "levels", "cuts"],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_what_became_of_each_attribute_is_what_its_cells_show(
    how: dict[str, Any], seed: int
) -> None:
    found, release = measured(patients(90, seed), policy(K3, **how))
    entries = {entry["name"]: entry for entry in release.manifest["attributes"]}
    assert [each.name for each in found.attributes] == ["age", "born", "job", "town"]
    for each in found.attributes:
        cells = release.data[each.name].to_list()
        stars = [cell for cell in cells if cell is not None and isinstance(parse(cell), Anything)]
        assert each.seen.hidden == pytest.approx(len(stars) / len(cells))
        assert each.labels == len(set(cells))
        entry = entries[each.name]
        assert each.seen.ncp == (None if entry["domain"] is None else pytest.approx(entry["ncp"]))
        assert each.seen.hidden + each.seen.unchanged <= 1 + 1e-9
        label, share = each.frequent[0]
        shown = None if label == "(missing)" else label
        most = max(cells.count(cell) for cell in set(cells))
        assert share == pytest.approx(cells.count(shown) / len(cells)) == most / len(cells)


def test_levels_are_named_where_all_records_show_one() -> None:
    found, release = measured(patients(90), policy(K3, method="incognito"))
    for each in found.attributes:
        stars = set(release.data[each.name]) == {"*"}
        assert (each.levels == "nothing") == stars
        assert (each.levels == "its values as they were") == (each.seen.unchanged == 1)
        assert stars or each.seen.unchanged == 1 or each.levels.startswith("level ")


def test_what_the_source_is_held_against() -> None:
    classes = policy(LKC, method="top-down-specialization", goal="classification")
    found = measured(patients(60), classes)[0].source
    assert found is not None
    assert found.before.records == 60
    assert found.query_error is not None
    assert found.classification is not None
    assert found.classification.be is not None


def by_level() -> tuple[pl.DataFrame, dict[str, Any]]:
    """Patients with diseases under a tree, whose labels at level 1 are the promised categories."""
    tree = {"secret": ["hiv", "flu"], "public": ["ulcer", "cold", "gout"]}
    order = ["secret", "public"]
    model = {"l": 2, "alpha": 0.5, "sensitive": "ill", "categories": {"level": 1, "order": order}}
    wanted = policy({"l-alpha-diversity": model})
    wanted["attributes"] = {
        **wanted["attributes"],
        "ill": {"role": "sensitive", "hierarchy": {"tree": tree}},
    }
    return patients(120).drop_nulls(), wanted


def test_categories_by_level_are_published_and_verify(tmp_path: Path) -> None:
    frame, wanted = by_level()
    release = incrowd.anonymize(frame, wanted)
    release.save(tmp_path / "release", private_report=tmp_path / "private.html")
    assert incrowd.verify(tmp_path / "release").holds
    promised = release.manifest["promises"][0]["parameters"]["categories"]
    assert [sorted(each) for each in promised] == [["flu", "hiv"], ["cold", "gout", "ulcer"]]
    for name in ("release/report.html", "private.html"):
        page = Page((tmp_path / name).read_text(encoding="utf-8"))
        assert "values of one category of 'ill'" in page.text


def with_lone_town(*apart: str) -> tuple[pl.DataFrame, pl.DataFrame, dict[str, Any]]:
    """Patients, one more from a town of their own, and a policy that suppresses this one."""
    frame = patients(60).drop_nulls()
    lone = frame[:1].with_columns(pl.lit("Zell").alias("town"), pl.lit("elf").alias("job"))
    wanted = {
        "attributes": {
            "town": {"role": "quasi", "rules": [{"apart": list(apart), "importance": 3.0}]},
            "job": {"role": "quasi", "weight": 1.0},
        },
        "other": "drop",
        "privacy": [{"k-anonymity": {"k": 2}}],
        "method": "research-value",
        "suppression": 0.1,
    }
    return frame, pl.concat([frame, lone]), wanted


def test_research_value_knows_nothing_of_suppressed_values() -> None:
    """With the lone town of the suppressed record, a label would stand for one town more."""
    frame, more, wanted = with_lone_town("Oslo", "Bergen")
    without, _ = measured(frame, wanted)
    found, release = measured(more, wanted)
    assert release.manifest["records"]["suppressed"] >= 1
    assert "Zell" not in set(release.data["town"])
    labels = []
    for one in (found, without):
        assert one.source is not None
        assert one.source.research is not None
        labels.append([each.labels for each in one.source.research.attributes])
    assert labels[0] == pytest.approx(labels[1])


def test_rules_about_values_that_are_not_published_are_not_told() -> None:
    _, more, wanted = with_lone_town("Zell", "Bergen")
    found, release = measured(more, wanted)
    assert "Zell" not in set(release.data["town"])
    assert found.source is not None
    assert found.source.research is None
