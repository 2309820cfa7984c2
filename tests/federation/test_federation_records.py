"""Numbers of records that hospitals agreed on: a run with others does not start, or stops."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
import yaml
from joint_tables import surgeries
from thread_hospitals import RECORDS, Hospitals, require_well

from incrowd.errors import FederationError, InputError, ParameterError
from incrowd.federation.membership.agreed_records import (
    read_records,
    refuse_other_number,
    require_agreed,
)
from incrowd.federation.membership.assembly import assemble, complete_from
from incrowd.federation.membership.consortium import Consortium
from incrowd.federation.membership.kits import README, Kit, enrol, load_kit, make_kits, read_member
from incrowd.federation.run import hospital

AGREED = {name: part.height for name, part in RECORDS.items()}


@pytest.fixture
def hospitals(tmp_path: Path) -> Hospitals:
    return Hospitals(tmp_path / "job").make(records=AGREED)


def test_a_run_with_the_agreed_numbers_ends_well(hospitals: Hospitals) -> None:
    require_well(hospitals.run())


def test_a_hospital_with_another_number_does_not_start(hospitals: Hospitals) -> None:
    more = pl.concat([RECORDS["C"]] * 50)
    hospitals.records = {**RECORDS, "C": more}
    ended = hospitals.run_without("C")
    assert isinstance(ended["C"], InputError)
    assert "agreed that C brings 4 records, and here are 200." in str(ended["C"])
    assert "--records C=200" in str(ended["C"])
    for name in "AB":
        assert isinstance(ended[name], FederationError), name
        assert "C did not join" in str(ended[name])
        assert not any("sum" in line for line in hospitals.logs[name][1:]), hospitals.logs[name]


def test_another_sum_stops_all_and_names_nobody(
    hospitals: Hospitals, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hospital that does not look at its own number brings invented records."""

    def look(kit: Kit, own: int) -> None:
        if kit.name != "C":
            refuse_other_number(kit, own)

    monkeypatch.setattr(hospital, "refuse_other_number", look)
    hospitals.records = {**RECORDS, "C": pl.concat([RECORDS["C"]] * 50)}
    ended = hospitals.run()
    for name, error in ended.items():
        assert isinstance(error, FederationError), name
        assert "agreed on 11 records in all, and the sum that was opened is 207" in str(error)
        assert "the sum does not show which" in str(error)
    assert not [*hospitals.folder.glob("?-0*")]
    for lines in hospitals.logs.values():  # cells that are missing, the records, and no count
        opened = {line.split(":")[0] for line in lines if line[:3] in ("sum", "any")}
        assert opened <= {"any 1", "sum 2"}


@pytest.mark.parametrize("opened", [10, 12])
def test_fewer_records_than_agreed_stop_a_run_as_more_do(opened: int) -> None:
    require_agreed(11, 11)
    with pytest.raises(FederationError, match=f"opened is {opened}"):
        require_agreed(11, opened)


def test_without_all_numbers_nothing_is_compared_and_that_is_said(tmp_path: Path) -> None:
    hospitals = Hospitals(tmp_path / "job").make(records={"A": 3, "B": 4})
    hospitals.records = {**RECORDS, "C": pl.concat([RECORDS["C"]] * 3)}
    require_well(hospitals.run())
    text = (hospitals.kits / "A" / README).read_text(encoding="utf-8")
    assert "No number of records is agreed for C" in text
    assert "- C: number not agreed" in text


def test_records_that_the_policy_drops_are_not_counted(tmp_path: Path) -> None:
    """`missing: drop` takes one of four away before the run."""
    jobs = pl.Series("Job", [None, "Doctor", "Carpenter", "Technician"])
    holed = RECORDS["C"].with_columns(jobs)
    wanted = surgeries(missing="drop")
    hospitals = Hospitals(tmp_path / "job", policy=wanted, records={**RECORDS, "C": holed})
    require_well(hospitals.make(records={**AGREED, "C": 3}).run())
    with_all = Hospitals(tmp_path / "all", policy=wanted, records={**RECORDS, "C": holed})
    with_all.make(records=AGREED)
    with pytest.raises(InputError, match=r"here are 3, without those that `missing: drop` drops"):
        with_all.part("C")


def test_the_kit_lists_the_numbers_and_the_fingerprint_covers_them(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(yaml.safe_dump(surgeries()), encoding="utf-8")
    many = {"North": 320, "South": 240, "West": 60_000}
    made = make_kits(tmp_path / "kits", list(many), policy, "localhost:8443", records=many)
    text = (tmp_path / "kits" / "North" / README).read_text(encoding="utf-8")
    assert "- West: 60,000 records" in text
    assert "Together 60,560 records." in text
    assert made.records == 60_560
    read = load_kit(tmp_path / "kits" / "South").consortium
    assert read.digest == made.digest
    other = made.to_yaml().replace("records: 60000", "records: 160")
    assert other != made.to_yaml()
    assert Consortium.from_yaml(other).digest != made.digest


def test_a_consortium_without_numbers_says_nothing_of_them(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(yaml.safe_dump(surgeries()), encoding="utf-8")
    made = make_kits(tmp_path / "kits", list("ABC"), policy, "localhost:8443")
    assert "records" not in made.to_yaml()
    assert made.records is None


def test_a_number_enters_by_enrolment(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(yaml.safe_dump(surgeries()), encoding="utf-8")
    for place, name in enumerate("ABC"):
        enrol(tmp_path / name, name, hosts=["localhost"], records=10 + place)
    members = [read_member(tmp_path / name / "member.yaml") for name in "ABC"]
    assemble(tmp_path / "all", members, policy, "localhost:8443")
    agreed = complete_from(tmp_path / "B", tmp_path / "all")
    assert agreed.records == 33
    assert "- C: 12 records" in (tmp_path / "B" / README).read_text(encoding="utf-8")


def test_whoever_assembles_cannot_change_a_number(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(yaml.safe_dump(surgeries()), encoding="utf-8")
    members = [enrol(tmp_path / name, name, hosts=["localhost"], records=10) for name in "ABC"]
    members[1] = members[1].model_copy(update={"records": 60_000})
    assemble(tmp_path / "all", members, policy, "localhost:8443")
    complete_from(tmp_path / "A", tmp_path / "all")
    with pytest.raises(InputError, match=r"something else of 'B' .*records"):
        complete_from(tmp_path / "B", tmp_path / "all")


@pytest.mark.parametrize(
    "stated", ["North", "=3", "North=", "North=0", "North=-1", "North=1.5", "North=²"]
)
def test_numbers_that_are_none_are_refused(stated: str) -> None:
    with pytest.raises(ParameterError, match="NAME=NUMBER"):
        read_records([stated])


def test_numbers_of_nobody_and_numbers_twice_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="stated twice"):
        read_records(["A=1", "A=2"])
    policy = tmp_path / "policy.yaml"
    policy.write_text(yaml.safe_dump(surgeries()), encoding="utf-8")
    with pytest.raises(ParameterError, match=r"'Nort'.* Did you mean 'North'"):
        make_kits(tmp_path / "kits", ["North", "S", "W"], policy, "h:1", records={"Nort": 3})
    with pytest.raises(ParameterError, match="at least 1"):
        enrol(tmp_path / "kit", "A", records=0)
    assert not (tmp_path / "kit").exists()
