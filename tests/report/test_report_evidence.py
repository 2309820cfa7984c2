"""What is measured for a report is what the published table shows, nothing of the suppressed."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from report_kinds import K3, LKC, job_and_outcome, patients, policy

from incrowd.hierarchies.labels import Anything, parse
from incrowd.publish.relabelling import without_suppressed
from incrowd.report.evidence import Evidence, Measuring
from incrowd.report.rounding import TOLD_FROM


def measured(frame: pl.DataFrame, wanted: dict[str, Any]) -> tuple[Evidence, Any, Any]:
    """The evidence for a release, the release, and what it was measured with."""
    job, outcome = job_and_outcome(frame, wanted, on_disk=False)
    release = job.release(outcome)
    source = published = job.prepared
    if outcome.suppressed:
        published, outcome = without_suppressed(source, job.policy, outcome)
    measuring = Measuring(job.policy, source, published, outcome, job._interests())
    return measuring.evidence(release, lambda *_: None), release, measuring


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
    found, release, _ = measured(patients(90, seed), policy(K3, **how))
    entries = {entry["name"]: entry for entry in release.manifest["attributes"]}
    assert [each.name for each in found.attributes] == ["age", "born", "job", "town"]
    for each in found.attributes:
        cells = release.data[each.name].to_list()
        stars = [cell for cell in cells if cell is not None and isinstance(parse(cell), Anything)]
        assert each.hidden == pytest.approx(len(stars) / len(cells))
        assert each.labels == len(set(cells))
        assert each.kept == pytest.approx(1 - entries[each.name]["ncp"])
        assert each.hidden + each.exact <= 1 + 1e-9
        label, share = each.frequent[0]
        shown = None if label == "(missing)" else label
        most = max(cells.count(cell) for cell in set(cells))
        assert share == pytest.approx(cells.count(shown) / len(cells)) == most / len(cells)


def test_levels_are_named_where_all_records_show_one() -> None:
    found, release, _ = measured(patients(90), policy(K3, method="incognito"))
    for each in found.attributes:
        stars = set(release.data[each.name]) == {"*"}
        assert (each.levels == "nothing") == stars
        assert (each.levels == "its values as they were") == (each.exact == 1)
        assert stars or each.exact == 1 or each.levels.startswith("level ")


def test_figures_that_join_quasi_identifiers_with_values_need_many_records() -> None:
    classes = policy(LKC, method="top-down-specialization", goal="classification")
    few, _, _ = measured(patients(TOLD_FROM - 1), classes)
    assert few.few
    assert few.query_error is None
    assert few.classification is not None
    assert few.classification.be is None
    many, _, _ = measured(patients(TOLD_FROM), classes)
    assert not many.few
    assert many.query_error is not None
    assert many.classification is not None
    assert many.classification.be is not None


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
    without, _, _ = measured(frame, wanted)
    found, release, _ = measured(more, wanted)
    assert release.manifest["records"]["suppressed"] >= 1
    assert "Zell" not in set(release.data["town"])
    assert found.research is not None
    assert without.research is not None
    labels = [[each.labels for each in one.research.attributes] for one in (found, without)]
    assert labels[0] == pytest.approx(labels[1])


def test_rules_about_values_that_are_not_published_are_not_told() -> None:
    _, more, wanted = with_lone_town("Zell", "Bergen")
    found, release, _ = measured(more, wanted)
    assert "Zell" not in set(release.data["town"])
    assert found.research is None


@pytest.mark.parametrize(("k", "least"), [(3, 5), (8, 8)])
def test_no_bar_has_fewer_records_than_a_promised_crowd(k: int, least: int) -> None:
    found, _, measuring = measured(patients(90), policy({"k-anonymity": {"k": k}}))
    assert measuring.least == least
    assert {each.rounded for each in found.distributions} <= {least}
    for each in found.distributions:
        assert all(step.before >= least for step in each.steps)
