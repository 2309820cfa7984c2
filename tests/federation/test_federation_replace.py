"""A hospital's older release is not replaced by a run, nor its records mixed with one."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from federation_actors import LIMITS, free_port
from joint_tables import PARTIES, surgeries

import incrowd
from incrowd.errors import FederationError, IncrowdError, OutputError
from incrowd.federation.membership.kits import load_kit, make_kits
from incrowd.federation.run import hospital
from incrowd.federation.run.hospital import Joint, join, lead

NAMES = "ABC"


@dataclass(frozen=True)
class Consortium:
    """Three hospitals, each with a folder of its own, which run in threads of this process."""

    folder: Path

    def records(self, name: str) -> Path:
        return self.folder / name / f"{name}.csv"

    def release(self, name: str) -> Path:
        return self.folder / name / "release"

    def part(self, name: str, **options: Any) -> Joint:
        run = lead if name == NAMES[0] else join
        kit = load_kit(self.folder / "kits" / name)
        options = {"limits": LIMITS, "output": self.release(name), **options}
        return run(kit, self.records(name), options.pop("output"), **options)

    def run(self, **options: Any) -> dict[str, Joint | IncrowdError]:
        """How a run ended at every hospital; options are for all."""

        def told(name: str) -> Joint | IncrowdError:
            try:
                return self.part(name, **options)
            except IncrowdError as error:
                return error

        with ThreadPoolExecutor(len(NAMES)) as pool:
            return dict(zip(NAMES, pool.map(told, NAMES), strict=True))


@pytest.fixture
def hospitals(tmp_path: Path) -> Consortium:
    policy = tmp_path / "policy.yaml"
    policy.write_text(yaml.safe_dump(surgeries()), encoding="utf-8")
    make_kits(tmp_path / "kits", list(NAMES), policy, f"127.0.0.1:{free_port()}")
    for name, part in zip(NAMES, PARTIES, strict=True):
        (tmp_path / name).mkdir()
        part.write_csv(tmp_path / name / f"{name}.csv")
    return Consortium(tmp_path)


def stand(folder: Path, *, drop: int = 0) -> bytes:
    """An older release of the pooled records, without the last ones; its bytes."""
    records = pl.concat(PARTIES)
    incrowd.anonymize(records.head(records.height - drop), surgeries()).save(folder)
    return (folder / "manifest.json").read_bytes()


def refuse_to_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(*_arguments: Any, **_options: Any) -> None:
        raise AssertionError("somebody was dialled")

    for meeting in ("LeadersMeeting", "PartysMeeting"):
        monkeypatch.setattr(hospital, meeting, nobody)


@pytest.mark.parametrize("name", ["A", "B"])
def test_a_release_that_stands_is_refused_before_anything_is_sent(
    hospitals: Consortium, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    before = stand(hospitals.release(name))
    refuse_to_meet(monkeypatch)
    with pytest.raises(OutputError, match=r"holds a release already, of 11 records .*--replace"):
        hospitals.part(name)
    assert (hospitals.release(name) / "manifest.json").read_bytes() == before


def test_with_replace_the_old_goes_and_the_difference_is_told(hospitals: Consortium) -> None:
    first = hospitals.run()
    assert all(isinstance(each, Joint) and each.replaced is None for each in first.values()), first
    again = hospitals.run()
    assert all(isinstance(each, OutputError) for each in again.values()), again
    replaced = hospitals.run(replace=True)
    for name, joint in replaced.items():
        assert isinstance(joint, Joint), joint
        assert joint.replaced is not None
        assert joint.replaced.same
        held = sorted(path.name for path in (hospitals.folder / name).iterdir())
        assert held == [f"{name}.csv", "release", "release-share.csv"]


PLACES: dict[str, Callable[[Path], dict[str, Any]]] = {
    "is the source itself": lambda home: {"output": home / "B.csv"},
    "source lies inside the output": lambda home: {"output": home},
    "is not the own share": lambda home: {
        "output": home / "new", "share": home / "notes.csv", "replace": True,
    },
    "'.*notes.csv' exists": lambda home: {"output": home / "new", "share": home / "notes.csv"},
    "would replace the own records": lambda home: {
        "output": home / "new", "share": home / "link.csv",
    },
}  # fmt: skip


@pytest.mark.parametrize("told", PLACES)
def test_places_that_overlap_or_hold_something_else_are_refused(
    hospitals: Consortium, monkeypatch: pytest.MonkeyPatch, told: str
) -> None:
    home = hospitals.folder / "B"
    (home / "notes.csv").write_text("mine\n", encoding="utf-8")
    (home / "link.csv").symlink_to("B.csv")
    refuse_to_meet(monkeypatch)
    with pytest.raises(OutputError, match=told):
        hospitals.part("B", **PLACES[told](home))
    assert (home / "notes.csv").read_text(encoding="utf-8") == "mine\n"


def test_a_folder_of_records_is_not_written_into(
    hospitals: Consortium, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_to_meet(monkeypatch)
    kit = load_kit(hospitals.folder / "kits" / "B")
    with pytest.raises(OutputError, match="inside the folder of the source"):
        join(kit, hospitals.folder / "B", hospitals.folder / "B" / "release")


def grow(hospitals: Consortium) -> None:
    with hospitals.records("B").open("a", encoding="utf-8") as stream:
        stream.write(hospitals.records("C").read_text(encoding="utf-8").splitlines()[-1] + "\n")


def appear(hospitals: Consortium) -> None:
    stand(hospitals.release("B"))


@pytest.mark.parametrize(
    ("deed", "own", "public"),
    [
        (grow, "B.csv was changed while", "its source was changed, or its machine failed"),
        (appear, "release' was made while this ran", "it could not write its release"),
    ],
)
def test_what_changes_at_one_hospital_during_the_run_stops_all(
    hospitals: Consortium,
    monkeypatch: pytest.MonkeyPatch,
    deed: Callable[[Consortium], None],
    own: str,
    public: str,
) -> None:
    usual = hospital.make  # type: ignore[attr-defined]

    def make(records: Any, *arguments: Any, **options: Any) -> Any:
        made = usual(records, *arguments, **options)
        if records.table.name == "B.csv":
            deed(hospitals)
        return made

    monkeypatch.setattr(hospital, "make", make)
    ended = hospitals.run()
    assert all(isinstance(each, FederationError) for each in ended.values()), ended
    assert own in str(ended["B"])
    for name in "AC":
        assert f"B stopped: {public}" in str(ended[name])
        assert "B.csv" not in str(ended[name])
        assert [path.name for path in (hospitals.folder / name).iterdir()] == [f"{name}.csv"]
