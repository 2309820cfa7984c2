"""Which policies another one beats, and what is held against what."""

from pathlib import Path

import polars as pl
import pytest

from incrowd._runtime.progress import silent
from incrowd.comparison import Candidate
from incrowd.comparison.dominance import ReleaseRisks, Risks, dominated, release_risks
from incrowd.methods.registry import run
from incrowd.pipeline import Job


def candidate(
    name: str, average: float, highest: float, guess: float | None, ncp: float | None
) -> Candidate:
    after = Risks(average, highest, guess)
    risk = ReleaseRisks(after, before=None)  # type: ignore[arg-type]
    return Candidate(name, "generalized", "mondrian", (), 0.0, ncp=ncp, risk=risk)


def test_no_more_risk_no_less_kept_and_one_of_them_better() -> None:
    found = dominated(
        [
            candidate("base", 0.2, 0.5, 0.6, 0.3),
            candidate("safer", 0.1, 0.5, 0.6, 0.3),
            candidate("poorer", 0.2, 0.5, 0.6, 0.4),
            candidate("other", 0.3, 0.5, 0.2, 0.3),
        ]
    )
    assert found == {"base": "safer", "poorer": "safer"}


def test_equal_policies_do_not_beat_each_other() -> None:
    assert dominated([candidate(name, 0.2, 0.5, 0.6, 0.3) for name in "ab"]) == {}


def test_the_one_that_is_named_is_not_beaten_itself() -> None:
    steps = [candidate(str(at), 0.1 * at, 0.1 * at, 0.1 * at, 0.1 * at) for at in (5, 4, 3, 2, 1)]
    assert set(dominated(steps).values()) == {"1"}
    assert set(dominated(steps)) == {"5", "4", "3", "2"}


def test_a_policy_without_sensitive_attribute_is_not_held_against_one_with() -> None:
    one, two = candidate("a", 0.1, 0.1, None, 0.1), candidate("b", 0.2, 0.2, 0.3, 0.2)
    assert dominated([one, two]) == {}
    assert dominated([one, candidate("c", 0.2, 0.2, None, 0.2)]) == {"c": "a"}


def test_a_policy_without_release_is_left_out() -> None:
    failed = Candidate("far", "generalized", "mondrian", (), 0.0, problem="out of reach")
    assert dominated([failed, candidate("a", 0.1, 0.1, 0.1, 0.1)]) == {}


@pytest.mark.parametrize("publish", ["generalized", "anatomy", "lossy-join"])
def test_risks_are_those_that_can_be_counted_by_hand(publish: str, tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"age": [30, 30, 31, 50, 51, 52], "ill": ["Flu", "Flu", "HIV", "HIV", "Flu", "Gout"]}
    )
    policy = {
        "attributes": {"age": {"role": "quasi", "type": "numeric"}, "ill": "sensitive"},
        "privacy": [{"k-anonymity": {"k": 3}}],
        "publish": publish,
    }
    job = Job.begin(frame, policy, silent)
    release = job.release(run(job.task, job.policy.method))
    before = release.evidence
    assert before is None
    release.save(tmp_path / "release")
    after = release.evidence
    assert after is not None
    found = release_risks(after, job.prepared)
    # In the source five ages; after, two groups: Flu, Flu, HIV and HIV, Flu, Gout.
    assert found.before == Risks(5 / 6, 1.0, 1.0)
    identity = (2 / 6, 1 / 3) if publish == "generalized" else (5 / 6, 1.0)
    assert (found.after.average, found.after.highest) == pytest.approx(identity)
    assert found.after.guess == pytest.approx(3 / 6)
    assert (found.attribute, found.by_chance) == ("ill", 3 / 6)
    assert found.as_dict()["before"]["average"] == pytest.approx(5 / 6)


def test_the_guess_before_is_the_best_one_and_not_the_sure_one_alone(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"age": [30, 30, 31, 50, 50, 50], "ill": ["Flu", "HIV", "HIV", "Flu", "Flu", "Gout"]}
    )
    policy = {
        "attributes": {"age": {"role": "quasi", "type": "numeric"}, "ill": "sensitive"},
        "privacy": [{"k-anonymity": {"k": 3}}],
    }
    job = Job.begin(frame, policy, silent)
    release = job.release(run(job.task, job.policy.method))
    release.save(tmp_path / "release")
    assert release.evidence is not None
    found = release_risks(release.evidence, job.prepared)
    assert found.before == Risks(3 / 6, 1.0, 4 / 6)
