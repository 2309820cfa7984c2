"""Who leaves: two runs with and without a hospital differ by its counts, so all are asked first."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from joint_tables import PARTIES, SURGERIES, surgeries
from thread_hospitals import RECORDS, Hospitals, require_well

from incrowd.errors import FederationError, InputError
from incrowd.federation.membership.consents import give, save
from incrowd.federation.membership.kits import load_kit
from incrowd.federation.membership.ledgers import Ledger
from incrowd.federation.run import hospital
from incrowd.federation.run._history import History
from incrowd.federation.run._own_records import read_own
from incrowd.sources import as_source


def refuse_to_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(*_arguments: Any, **_options: Any) -> None:
        raise AssertionError("somebody was dialled")

    for meeting in ("LeadersMeeting", "PartysMeeting"):
        monkeypatch.setattr(hospital, meeting, nobody)


def lay(consent: Any, hospitals: Hospitals) -> None:
    for name in hospitals.names:
        save(consent, hospitals.kits / name)


def surgeries_of(folder: Path) -> Counter[str]:
    return Counter(pl.read_csv(folder / "data.csv")["Surgery"].to_list())


@pytest.fixture
def first(tmp_path: Path) -> Hospitals:
    """A, B and C after a run."""
    made = Hospitals(tmp_path / "first", states=tmp_path).make()
    require_well(made.run())
    return made


@pytest.fixture
def without_c(tmp_path: Path) -> Hospitals:
    """A and B, with the records and ledgers that they have."""
    return Hospitals(tmp_path / "second", "AB", states=tmp_path).make()


def test_a_run_without_one_hospital_needs_the_consent_of_all(
    first: Hospitals, without_c: Hospitals, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as alone:
        refuse_to_meet(alone)
        for name, ended in without_c.run().items():
            assert isinstance(ended, InputError), ended
            told = str(ended)
            assert "over about 100 % of these records, and its members were others" in told
            assert "That shows counts of C, as exact as the runs open them" in told
            assert "missing: A, B, C." in told
            assert "incrowd federation consent KIT --earlier EARLIER/consortium.yaml" in told
            assert f"second/kits/{name}/consents" in told
        for name in "AB":
            lay(give(without_c.kits / name, earlier=first.kits / name), without_c)
        for ended in without_c.run().values():
            assert isinstance(ended, InputError)
            assert "missing: C." in str(ended)
    lay(give(first.kits / "C", new=without_c.kits / "A" / "consortium.yaml"), without_c)
    require_well(without_c.run())
    assert any("all members of both consented" in line for line in without_c.logs["A"])
    # That is what they consented to:
    with_c, rest = (surgeries_of(run.folder / "A-0") for run in (first, without_c))
    assert with_c - rest == Counter(PARTIES[2]["Surgery"].to_list())


def test_a_consent_to_another_run_is_not_taken_for_this_one(
    first: Hospitals, without_c: Hospitals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everybody consented once; then new kits are made, and the old consents laid into them."""
    for name in "AB":
        lay(give(without_c.kits / name, earlier=first.kits / name), without_c)
    lay(give(first.kits / "C", new=without_c.kits / "A"), without_c)
    again = Hospitals(tmp_path / "third", "AB", states=tmp_path).make()
    for name in "AB":
        shutil.copytree(without_c.kits / name / "consents", again.kits / name / "consents")
    refuse_to_meet(monkeypatch)
    for ended in again.run().values():
        assert isinstance(ended, InputError), ended
        assert "missing: A, B, C. Not counted: " in str(ended)
        assert str(ended).count("is for other consortia") == 3


def test_one_hospital_that_remembers_stops_the_run_for_all(
    first: Hospitals, tmp_path: Path
) -> None:
    """The leader has deleted its ledger and D was never there: B refuses, and nothing is opened."""
    shutil.rmtree(first.state("A"))
    newcomer = {**RECORDS, "D": SURGERIES[2:6]}
    other = Hospitals(tmp_path / "second", "ABD", records=newcomer, states=tmp_path).make()
    ended = other.run_without("B")
    assert isinstance(ended["B"], InputError)
    assert "counts of C on one side and of D on the other" in str(ended["B"])
    for name in "AD":
        assert isinstance(ended[name], FederationError), ended[name]
        assert not [line for line in other.logs[name] if line.startswith(("sum ", "any "))]
        assert not (other.folder / f"{name}-0").exists()
    assert Ledger(other.state("D")).runs == ()


def test_without_a_ledger_nothing_is_known(
    first: Hospitals, without_c: Hospitals, tmp_path: Path
) -> None:
    for name in "AB":
        shutil.rmtree(first.state(name))
    require_well(without_c.run())


def test_a_run_that_was_stopped_counts(
    tmp_path: Path, without_c: Hospitals, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first answers were opened: C brought others than agreed, and all stopped at the sum."""
    hospitals = Hospitals(tmp_path / "first", states=tmp_path)
    hospitals.make(records={"A": 3, "B": 4, "C": 5})
    monkeypatch.setattr(hospital, "refuse_other_number", lambda *_: None)
    for ended in hospitals.run().values():
        assert isinstance(ended, FederationError)
    (run,) = Ledger(hospitals.state("A")).runs
    assert run.ended == "stopped"
    assert run.hospital == "A"
    refuse_to_meet(monkeypatch)
    with pytest.raises(InputError, match="must consent; missing: A, B, C"):
        without_c.part("B")


def test_what_is_written_of_a_run_shows_no_record(first: Hospitals) -> None:
    ledger = Ledger(first.state("C"))
    (run,) = ledger.runs
    assert run.ended == Ledger(first.state("A")).runs[0].ended != "stopped"
    assert [member.name for member in run.members] == list("ABC")
    assert run.consortium == load_kit(first.kits / "A").consortium.digest.hex()
    text = ledger.path.read_text(encoding="utf-8")
    for cell in ("Doctor", "Carpenter", "Plastic", "Vascular"):
        assert cell not in text


def test_the_same_members_again_are_told_and_not_refused(first: Hospitals, tmp_path: Path) -> None:
    """New kits, one record more at A, and another policy."""
    wanted = surgeries(privacy=[{"k-anonymity": {"k": 2}}])
    more = {**RECORDS, "A": SURGERIES[:4]}
    again = Hospitals(
        tmp_path / "again", "CAB", records=more, policy=wanted, states=tmp_path
    ).make()
    require_well(again.run())
    told = [line for line in again.logs["A"] if line.startswith("history: ")]
    assert len(told) == 2
    assert "all keys are new since then" in told[1]
    assert "about 75 % of these records were in 1 earlier run of the same hospitals" in told[0]
    assert "show the records that came or went, and under another policy other sides" in told[0]


def test_other_records_may_go_with_other_members(first: Hospitals, tmp_path: Path) -> None:
    """None of them was in the earlier run."""
    swapped = {"A": PARTIES[1], "B": PARTIES[2]}
    others = Hospitals(tmp_path / "second", "AB", records=swapped, states=tmp_path).make()
    require_well(others.run())


def test_a_policy_with_other_columns_does_not_hide_who_left(
    first: Hospitals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = surgeries(other="drop")
    del wanted["attributes"]["Sex"]
    fewer = Hospitals(tmp_path / "second", "AB", policy=wanted, states=tmp_path).make()
    refuse_to_meet(monkeypatch)
    with pytest.raises(InputError, match=r"nobody can tell whether it was over these records"):
        fewer.part("B")


def test_two_runs_that_begin_at_the_same_time_see_each_other(tmp_path: Path) -> None:
    runs = [Hospitals(tmp_path / names, names, states=tmp_path).make() for names in ("ABC", "AB")]
    histories = []
    for hospitals in runs:
        kit = load_kit(hospitals.kits / "B")
        own = read_own(as_source(RECORDS["B"]), kit.policy)
        histories.append(History(kit, own, Ledger(hospitals.state("B"))))
    for history in histories:
        assert history.checked() == []
    histories[0].begin()
    with pytest.raises(InputError, match="missing: A, B, C"):
        histories[1].begin()
    assert len(Ledger(runs[0].state("B")).runs) == 1


def trusting_nobody(**more: Any) -> dict[str, Any]:
    return surgeries(hospitals={}, **more)


def test_what_was_shown_is_remembered_and_judged_with_what_will_be(tmp_path: Path) -> None:
    run = Hospitals(tmp_path / "first", policy=trusting_nobody(), states=tmp_path).make()
    require_well(run.run())
    (entry,) = Ledger(run.state("B")).runs
    assert entry.shown is not None
    assert set(entry.shown) == {"Job", "Sex", "Age"}
    require_well(run.run(1))
    told = [line for line in run.logs["B"] if line.startswith("history: ")]
    assert "1 earlier run showed some of these records; this hospital objects to what" in told[0]
    tables = {(run.folder / f"B-{number}" / "data.csv").read_bytes() for number in (0, 1)}
    assert len(tables) == 1  # what was shown may be shown again


def test_a_release_under_another_policy_needs_a_word_of_the_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Hospitals(tmp_path / "first", policy=trusting_nobody(), states=tmp_path).make()
    require_well(run.run())
    wanted = trusting_nobody(privacy=[{"k-anonymity": {"k": 2}}])
    other = Hospitals(tmp_path / "other", policy=wanted, states=tmp_path).make()
    with monkeypatch.context() as alone:
        refuse_to_meet(alone)
        with pytest.raises(InputError, match=r"under another policy.*--again"):
            other.part("B")
    require_well(other.run(again=True))


def test_two_runs_that_show_at_the_same_time_see_each_other(tmp_path: Path) -> None:
    run = Hospitals(tmp_path / "first", policy=trusting_nobody(), states=tmp_path).make()
    kit = load_kit(run.kits / "B")
    own = read_own(as_source(RECORDS["B"]), kit.policy)
    histories = [History(kit, own, Ledger(run.state("B"))) for _ in range(2)]
    for history in histories:
        history.checked()
        history.begin()
    cuts = {"Job": [(0, 5)], "Sex": [(0, 1)], "Age": [(0, 98)]}
    histories[0].show(cuts)
    with pytest.raises(InputError, match="came in between"):
        histories[1].show(cuts)
