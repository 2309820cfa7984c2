"""The one way to a release: whoever takes it has every guard, also in Python."""

from collections.abc import Callable
from pathlib import Path

import pytest

import incrowd
from incrowd.errors import EngineError, OutputError
from incrowd.pipeline import Plan

POLICY = {
    "attributes": {"age": "quasi", "ill": "sensitive"},
    "unit": "row",
    "privacy": [{"k-anonymity": {"k": 2}}],
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "records"
    folder.mkdir()
    path = folder / "patients.csv"
    path.write_text("age,ill\n30,Flu\n31,HIV\n50,Flu\n52,Flu\n", encoding="utf-8")
    return path


def changed(path: Path) -> None:
    path.write_text("age,ill\n30,Flu\n31,HIV\n50,Flu\n52,HIV\n60,Flu\n", encoding="utf-8")


@pytest.mark.parametrize("change", [changed, Path.unlink], ids=["changed", "removed"])
def test_a_source_that_changed_since_it_was_read_is_seen_when_a_release_is_saved(
    source: Path, tmp_path: Path, change: Callable[[Path], None]
) -> None:
    release = incrowd.anonymize(source, POLICY)
    change(source)
    with pytest.raises(EngineError, match=r"patients\.csv (was changed|disappeared)"):
        release.save(tmp_path / "release")
    assert not (tmp_path / "release").exists()
    assert [each.name for each in tmp_path.iterdir()] == ["records"]


def test_a_source_that_stays_what_it_was_is_no_obstacle(source: Path, tmp_path: Path) -> None:
    assert incrowd.anonymize(source, POLICY).save(tmp_path / "release").holds


def test_a_release_never_takes_the_place_of_its_source(source: Path) -> None:
    release = incrowd.anonymize(source, POLICY)
    with pytest.raises(OutputError):
        release.save(source.parent)
    assert source.exists()


def test_steps_are_guarded_as_well(source: Path, tmp_path: Path) -> None:
    policy = {**POLICY, "method": "top-down-specialization", "privacy": [{"lkc": {"L": 1, "K": 2}}]}
    steps = incrowd.specialize(source, policy)
    list(steps)
    changed(source)
    with pytest.raises(EngineError, match="was changed"):
        steps.release().save(tmp_path / "release")


def test_what_comes_to_the_output_during_a_run_stays(source: Path, tmp_path: Path) -> None:
    plan = Plan(source, POLICY, tmp_path / "release")
    assert plan.place is not None
    release = plan.begin().searched()
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match="was made"):
        release.save(plan.place)
    assert [each.name for each in (tmp_path / "release").iterdir()] == ["notes.txt"]


def test_a_source_that_changed_before_it_was_read_is_seen_once_it_was(source: Path) -> None:
    plan = Plan(source, POLICY)
    changed(source)
    with pytest.raises(EngineError, match=r"patients\.csv was changed"):
        plan.begin()
