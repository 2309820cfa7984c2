"""Faults in the middle of a whole run: it stops everywhere, says who and why, writes nothing.

What happens is hooked to a sum of the method (or to its last step), not to a time. All faults
happen to one consortium: its kits begin anew after each, and after the last they run to the end.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
import yaml
from whole_runs import NAMES, Hospitals, Run, policy

from incrowd.federation.membership.kits import CONSORTIUM, POLICY, complete, load_kit, policy_digest
from incrowd.federation.session.session import terms_of

SOON = {"reconnect": 1.0}
"""For those who must notice that another one is gone."""
BUT_C = {"timeout": 0.5, "joining": 0.5, "gives_up": "C"}
"""For a leader who waits for C in vain."""
KILLED = -signal.SIGKILL
INTERRUPTED = 130


@pytest.fixture(scope="module")
def hospitals(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hospitals]:
    made = Hospitals(tmp_path_factory.mktemp("hospitals"))
    yield made
    made.close()


def test_a_leader_that_is_killed_in_the_middle_stops_all(hospitals: Hospitals) -> None:
    run = hospitals.run(A="is killed", B=SOON, C=SOON)
    run.stopped("The run was stopped: the leader A cannot be reached", "BC", A=KILLED)


def test_a_hospital_that_hangs_is_not_waited_for_and_ends_when_it_wakes(
    hospitals: Hospitals,
) -> None:
    run = hospitals.run(waits_for="AB", A=BUT_C, C={"deed": "hangs", **SOON})
    assert run.codes == {"A": 3, "B": 3, "C": None}, run.roles["A"].stderr
    for name in "AB":
        assert "The run was stopped: C did not answer round " in run.roles[name].last_words
        assert "within 0.5 s" in run.roles[name].last_words
    run.has_nothing()
    os.kill(run.processes["C"].pid, signal.SIGCONT)
    run.wait("C")
    run.stopped("The run was stopped: the leader A cannot be reached", "C")


def test_a_hospital_that_starts_again_in_the_middle_stops_all(hospitals: Hospitals) -> None:
    roles = hospitals.roles(C="is killed")
    run = Run(roles, {name: hospitals.start(role) for name, role in roles.items()})
    run.wait("C")
    assert run.codes == {"A": None, "B": None, "C": KILLED}
    run.processes["C"] = hospitals.start(replace(roles["C"], deed=""))
    run.wait(NAMES)
    run.stopped("The run was stopped: C was started again in round ")


def test_an_interrupt_at_the_leader_stops_all(hospitals: Hospitals) -> None:
    run = hospitals.run(A="is interrupted")
    run.stopped("A stopped: it was interrupted.", "BC", A=INTERRUPTED)
    assert run.roles["A"].last_words == "interrupted: nothing was written"
    assert run.roles["A"].log.endswith("interrupted\n")


def test_nobody_publishes_what_does_not_verify_at_one_hospital(hospitals: Hospitals) -> None:
    run = hospitals.run(C="does not verify")
    run.stopped("The run was stopped: C stopped: ", "AB", C=1)
    assert all("its release does not verify" in run.roles[each].last_words for each in "AB")
    assert "The release does not verify and was not written." in run.roles["C"].last_words


def test_nobody_publishes_when_one_hospital_cannot_write(hospitals: Hospitals) -> None:
    home = hospitals.folder / "C"
    run = hospitals.run(C="loses its folder")
    assert not home.exists()
    (hospitals.folder / "moved").rename(home)
    run.stopped("The run was stopped: C stopped: ")
    assert "The own share cannot be written: No such file" in run.roles["C"].last_words
    for role in run.roles.values():
        assert role.last_words.count("C stopped: ") == 1
        assert str(hospitals.folder) not in role.last_words


def test_a_method_that_goes_another_way_stops_all(hospitals: Hospitals) -> None:
    """First a hospital rounds scores otherwise, and so asks for other counts; then all goes the
    same way to the end, where it has another table.
    """
    run = hospitals.run(C="rounds otherwise")
    run.stopped("the leader A asks for something else than the method at C.")
    run = hospitals.run(C="has another last word")
    run.stopped("the leader A has come to another result at C.")


def test_a_kit_of_another_policy_has_another_consortium_file(hospitals: Hospitals) -> None:
    """Which does not start: see `test_hospitals_that_differ_do_not_start`."""
    leads, other = (
        terms_of(load_kit(folder), "00")
        for folder in (hospitals.kits / "A", kit_of_another_policy(hospitals))
    )
    told = leads.difference(other.as_dict())
    assert told is not None
    assert told.startswith("has another consortium file (digest ")


def kit_of_another_policy(hospitals: Hospitals) -> Path:
    """The keys of C are right; its consortium was assembled with another policy."""
    other, kit = hospitals.folder / "other.yaml", hospitals.folder / "kit"
    changed = policy()
    changed["privacy"][0]["lkc"]["K"] = 3
    other.write_text(yaml.safe_dump(changed), encoding="utf-8")
    shutil.copytree(hospitals.kits / "C", kit)
    (kit / CONSORTIUM).unlink()
    mine = load_kit(hospitals.kits / "C").consortium
    complete(kit, mine.model_copy(update={"policy": policy_digest(other)}), other)
    return kit


def test_records_and_kits_that_will_not_do_keep_a_hospital_away(hospitals: Hospitals) -> None:
    """It does not begin, and shows no cell; the others name it when they have waited."""
    strange = hospitals.folder / "strange.csv"
    frame = pl.read_csv(hospitals.data / "C.csv")
    frame.with_columns(pl.lit("Astronaut").alias("Job")).write_csv(strange)
    roles = hospitals.roles(A=BUT_C, C={"data": strange})
    roles["C"].trace("gone").touch()
    run = Run(roles, {name: hospitals.start(role) for name, role in roles.items()})
    run.wait(NAMES)
    run.stopped("The run was stopped: C did not join within 0.5 s.", "AB", C=2)
    assert "Column 'Job': 1 distinct values (4 records" in run.roles["C"].last_words
    assert "Astronaut" not in "".join(role.stderr + role.log for role in run.roles.values())
    with (hospitals.kits / "C" / POLICY).open("a", encoding="utf-8") as stream:
        stream.write("# K may be smaller here\n")
    alone = Run(roles := hospitals.roles(), {"C": hospitals.start(roles["C"])})
    alone.wait("C")
    assert alone.codes == {"C": 3}
    assert "is not the one of the consortium" in roles["C"].last_words
    alone.has_nothing()
    shutil.copy(hospitals.folder / "policy.yaml", hospitals.kits / "C" / POLICY)


def test_what_a_hospital_leaves_that_is_killed_at_the_end_is_cleared_by_the_next_run(
    hospitals: Hospitals,
) -> None:
    run = hospitals.run(A=SOON, C="is killed at the end")
    assert run.codes == {"A": 3, "B": 3, "C": KILLED}
    run.has_nothing("AB")
    for name in "AB":
        assert "The run was stopped: C was lost in round " in run.roles[name].last_words
    left = [path.name for path in run.roles["C"].home.iterdir()]
    assert len(left) == 2
    assert all(each.startswith(".") and each.endswith(".partial") for each in left)
    hospitals.runs_well()
