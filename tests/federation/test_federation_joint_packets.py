"""What leaves a hospital in a whole run: recorded above TLS, and told in its logs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from joint_tables import together
from recorded_messages import Asked, Line, asked_of, read_line, telling_vectors
from recording import Recorder
from whole_runs import NAMES, PATIENTS, WARDS, Hospitals, Role, policy, pooled_bytes, records

import incrowd
from incrowd.cli.output.federation import who_sees_what
from incrowd.federation.membership.kits import load_kit
from incrowd.federation.run.fitness import check_policy
from incrowd.federation.transport.messages import parse

SMALL = 1 << 32
"""A random number of 64 bits is below this once in 2^32 times; every count is."""

PROGRESS = re.compile(r"^[a-z]+( \(greedy\))?( \d+ %)? \(\d+ s\) …\n", re.MULTILINE)
"""How much is done, now and then, of candidates that all know; on the terminal alone."""


@dataclass(frozen=True)
class Recorded:
    """A run that went well, and what was seen between its hospitals."""

    masked: bool
    roles: dict[str, Role]
    seen: dict[str, bytes]
    """By the hospital whose line it is."""
    lines: dict[str, Line]


def recorded(hospitals: Hospitals, *, masked: bool) -> Recorded:
    deed = {} if masked else {"deed": "no masks"}
    with ExitStack() as stack:
        taps = {
            name: stack.enter_context(Recorder(hospitals.kits, name, opened=True)) for name in "BC"
        }
        joining: dict[str, Any] = {
            name: {"address": tap.address, **deed} for name, tap in taps.items()
        }
        run = hospitals.run(A=deed, **joining)
        assert run.codes == dict.fromkeys(NAMES, 0), {n: r.stderr for n, r in run.roles.items()}
        seen = {name: tap.seen for name, tap in taps.items()}
    lines = {name: read_line(data, hospitals.kits, name) for name, data in seen.items()}
    return Recorded(masked, run.roles, seen, lines)


@pytest.fixture(scope="module", params=[True, False], ids=["masked", "masking switched off"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    hospitals = Hospitals(tmp_path_factory.mktemp("run"))
    try:
        return recorded(hospitals, masked=request.param)
    finally:
        hospitals.close()


@pytest.fixture(scope="module")
def asked() -> list[Asked]:
    """The requests of the run, with the true counts of every hospital."""
    return asked_of(together(list(records().values()), policy())[1].heard)


def test_every_hospital_has_the_table_of_the_pooled_records(run: Recorded) -> None:
    for name, role in run.roles.items():
        assert (role.release / "data.csv").read_bytes() == pooled_bytes(), name
        assert incrowd.verify(role.release).holds
    assert len({(r.release / "manifest.json").read_bytes() for r in run.roles.values()}) == 1


def test_the_record_holds_the_requests_and_sums_that_all_know(
    run: Recorded, asked: list[Asked]
) -> None:
    """So it is read aright, and the true counts below are those of this run."""
    assert len(asked) > 40
    for line in run.lines.values():
        assert line.parts("request") == [each.wire for each in asked]
        assert line.opened == [each.told for each in asked]
        assert len(line.parts("counts")) == len(asked)


def test_no_raw_value_of_a_patient_is_in_the_record(run: Recorded) -> None:
    """Neither what the policy lists (it is spoken of in codes) nor what it does not."""
    table = records()
    words = [*PATIENTS, *WARDS]
    for column in ("Job", "Surgery"):
        words += [value for part in table.values() for value in part[column].to_list()]
    for seen in run.seen.values():
        assert b'"of":"Job"' in seen, "names of columns are no secret, so the record is readable"
        assert [word for word in set(words) if word.encode() in seen] == []


def test_no_vector_of_counts_of_one_hospital_is_in_the_record(
    run: Recorded, asked: list[Asked]
) -> None:
    found, sought = {}, {}
    for place, name in enumerate(NAMES):
        vectors = telling_vectors(asked, place)
        sought[name] = len(vectors)
        found[name] = sum(any(each in seen for seen in run.seen.values()) for each in vectors)
    assert min(sought.values()) >= 8
    assert found == (dict.fromkeys(NAMES, 0) if run.masked else sought)


def test_every_number_of_one_hospital_is_random(run: Recorded, asked: list[Asked]) -> None:
    """Also where a vector is short, or has only zeros: a count would be a small number."""
    for line in run.lines.values():
        numbers = line.numbers()
        sent = sum(each.own[0].size + 2 for each in asked)
        assert numbers.size == 4 * sent  # its own, and what all have sent
        small = int((numbers < SMALL).sum())
        assert small == 0 if run.masked else small > numbers.size / 3


def test_what_is_handed_around_is_what_each_has_sent(run: Recorded) -> None:
    for place, name in enumerate(NAMES[1:], 1):
        sent = run.lines[name].parts("counts")
        assert all(line.witnesses(place) == sent for line in run.lines.values())


def test_messages_carry_nothing_else(run: Recorded) -> None:
    """Every part and every field of every message is of a known kind."""
    parts = {"key", "keys", "request", "sum", "any", "counts", "vouch", "payload"}
    parts |= {f"witness {place}" for place in range(3)}
    terms = {"consortium", "policy", "layout", "sums", "version"}
    fields = {"nonce", "hold", "transcript", "number", "wave"} | terms
    for line in run.lines.values():
        assert {name for each in line.messages for name in each.parts} == parts
        assert {name for each in line.messages for name in each.fields} == fields
        for message in line.messages:
            assert message.fields.get("number", 0) <= len(line.parts("counts"))
            assert message.fields.get("wave", [0, 1, 2]) == [0, 1, 2]
        (payload,) = line.parts("payload")
        assert parse(payload).keys() == {"steps", "files", "manifest"}


def expected_log(role: Role, asked: list[Asked]) -> list[str]:
    """Every line that a hospital's log may have: its numbers are public ones, T is a time."""
    kit, told = load_kit(role.kit), json.loads(role.trace("json").read_text(encoding="utf-8"))
    lines = who_sees_what(kit.consortium, kit.policy, check_policy(kit.policy))
    if kit.leads:
        lines += ["waiting for 2 hospitals, for 300 s at most", "B has joined", "C has joined"]
    else:
        lines += ["the leader A was found; waiting for the other hospitals"]
        lines += ["3 hospitals are here; the run begins"]
    for number, each in enumerate(asked, 1):
        size = each.own[0].size
        whose = "counts of all hospitals" if each.opens == "sum" else "marks of any hospital"
        what = f"{size:,} {whose}, T" if kit.leads else f"{8 * (size + 2):,} bytes, hidden"
        lines.append(f"{each.opens} {number}: {what}")
    return [
        *lines,
        f"the run is over: {len(asked)} answers",
        f"release: {role.release}, verified",
        f"own share, never to be published: {role.share}",
        f"transcript: {told['transcript']}",
        f"{len(asked)} answers opened, {told['sent']:,} bytes sent, {told['received']:,} received, "
        "T",
        f"Opened beside the release: {told['opened']['counts']:,} counts, "
        f"{told['opened']['small']:,} of them of 1 to K - 1 records",
    ]


def test_logs_show_names_rounds_sizes_and_times_and_no_count(
    run: Recorded, asked: list[Asked]
) -> None:
    for role in run.roles.values():
        for text in (role.log, PROGRESS.sub("", role.stderr)):
            lines = re.sub(r"\d+\.\d m?s$", "T", text, flags=re.MULTILINE).splitlines()
            joined = sorted(line for line in lines if line.endswith("has joined"))
            order = iter(joined)  # the others come in any order
            lines = [next(order) if line in joined else line for line in lines]
            assert lines == expected_log(role, asked), role.name


@pytest.fixture
def hospitals(tmp_path: Path) -> Iterator[Hospitals]:
    made = Hospitals(tmp_path)
    yield made
    made.close()


def test_a_leader_that_asks_for_more_than_the_method_needs_gets_no_answer(
    hospitals: Hospitals, asked: list[Asked]
) -> None:
    """It asks for the combinations of single jobs and ages: every party refuses to answer."""
    with Recorder(hospitals.kits, "B", opened=True) as tap:
        run = hospitals.run(A="asks for raw values", B={"address": tap.address})
        line = read_line(tap.seen, hospitals.kits, "B")
    *honest, last = line.parts("request")
    assert parse(last) == {"ask": "combinations", "of": [[["Job", None], ["Age", None]]]}
    assert honest == [each.wire for each in asked][: len(honest)]
    assert len(line.parts("counts")) == len(honest), "no answer to the last one"
    assert run.roles["A"].trace("asked").exists()
    assert not run.roles["A"].trace("learned").exists()
    for name in "BC":
        assert f"sum {len(honest) + 1}:" not in run.roles[name].log, name
        words = f"the leader A asks for something else than the method at {name}. "
        assert run.roles[name].last_words.startswith(f"error: The run was stopped: {words}")
    run.stopped("the leader A asks for something else than the method at ")


def test_a_leader_that_tells_a_false_sum_is_found_out(hospitals: Hospitals) -> None:
    run = hospitals.run(A="tells a false sum")
    run.stopped("the leader A told something else than the sum ")
