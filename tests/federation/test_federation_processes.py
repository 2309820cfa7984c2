"""The processes of a rehearsal: what they say is passed on, and none outlives the others."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from incrowd.errors import FederationError, PrivacyError
from incrowd.federation.membership.consortium import legal_name
from incrowd.federation.run._processes import Hospital, run_together
from incrowd.federation.run.rehearsal import party_names, require_same

PYTHON = [sys.executable, "-c"]
WELL = "import json, sys; print('one', file=sys.stderr); print(json.dumps({'sums': 3}))"
WAITS = "import sys, time; print('waiting', file=sys.stderr, flush=True); time.sleep(600)"


def says(line: str, code: int) -> str:
    """A process that ends with an error, in the words of the command line."""
    return f"import sys; sys.stderr.write({f'error: {line}'!r} + chr(10)); sys.exit({code})"


def run(
    folder: Path, grace: float = 30.0, **scripts: str
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    lines: list[tuple[str, str]] = []
    hospitals = [Hospital(name, [code], folder / name) for name, code in scripts.items()]
    told = run_together(
        hospitals, lambda name, line: lines.append((name, line)), command=PYTHON, grace=grace
    )
    return told, lines


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_results_and_lines_come_back_with_their_hospital(tmp_path: Path) -> None:
    told, lines = run(tmp_path, north=WELL, south=WELL.replace("one", "two"))
    assert told == {"north": {"sums": 3}, "south": {"sums": 3}}
    assert sorted(lines) == [("north", "one"), ("south", "two")]


def test_when_one_fails_the_others_are_ended(tmp_path: Path) -> None:
    noted = tmp_path / "process"
    waiting = f"import os; open({str(noted)!r}, 'w').write(str(os.getpid())); {WAITS}"
    with pytest.raises(FederationError, match=r"^west: No column 'aged'\.$"):
        run(tmp_path, 0.1, north=waiting, west=says("No column 'aged'.", 2))
    assert not noted.exists() or not alive(int(noted.read_text()))


@pytest.mark.parametrize(
    ("scripts", "told"),
    [
        (  # one that failed by itself is named, not those that were told
            {
                "north": says("The run was stopped: west stopped: it could not count.", 3),
                "west": says("Hierarchy of 'sex': 1 value is not in it.", 2),
            },
            "west: Hierarchy of 'sex': 1 value is not in it.",
        ),
        (  # its own words tell more than those of the others
            {
                "north": says("The run was stopped: west stopped: it could not count.", 3),
                "west": says("The run was stopped: west stopped: row 3 has no age.", 3),
            },
            "The run was stopped: west stopped: row 3 has no age.",
        ),
        (
            {
                "north": says("The run was stopped: west was lost in round 4.", 3),
                "west": "import os; os.kill(os.getpid(), 9)",
            },
            "west: it ended by signal 9.",
        ),
        (  # nobody but a silent one is to blame: who waited for it names it
            {
                "north": says("The run was stopped: west did not answer round 4.", 3),
                "west": WAITS,
            },
            "The run was stopped: west did not answer round 4.",
        ),
        ({"north": WELL, "west": "import sys; sys.exit(7)"}, "west: it ended with exit code 7."),
        (
            {"north": WELL, "west": says("policy: one\npolicy: two", 2)},
            "west: policy: one\npolicy: two",
        ),
    ],
)
def test_the_hospital_that_failed_by_itself_is_named(
    tmp_path: Path, scripts: dict[str, str], told: str
) -> None:
    with pytest.raises(FederationError) as caught:
        run(tmp_path, 0.1 if WAITS in scripts.values() else 30.0, **scripts)
    assert str(caught.value) == told
    assert caught.value.exit_code == 3


def test_a_privacy_out_of_reach_is_no_fault_of_a_hospital(tmp_path: Path) -> None:
    others = says("The run was stopped: north stopped: k is too large.", 3)
    with pytest.raises(PrivacyError, match="k is too large"):
        run(tmp_path, north=says("k is too large.", 1), west=others)


def test_a_process_that_ends_well_without_a_result_is_not_believed(tmp_path: Path) -> None:
    with pytest.raises(FederationError, match="west: it ended well but told no result"):
        run(tmp_path, north=WELL, west="pass")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_rehearsal_leaves_no_process(tmp_path: Path, number: int) -> None:
    noted = [tmp_path / name for name in ("a", "b")]
    waiting = [
        f"import os; open({str(path)!r}, 'w').write(str(os.getpid())); {WAITS}" for path in noted
    ]
    script = f"""
import sys
from pathlib import Path
from incrowd.cli.commands.federation import _ends_when_asked
from incrowd.federation.run._processes import Hospital, run_together
codes = {waiting!r}
folder = Path({str(tmp_path)!r})
hospitals = [Hospital(str(n), [code], folder / f"r{{n}}") for n, code in enumerate(codes)]
with _ends_when_asked():
    run_together(hospitals, lambda name, line: None, command=[sys.executable, "-c"])
"""
    process = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE)
    end = time.monotonic() + 600
    while not all(path.exists() and path.read_text() for path in noted):
        assert time.monotonic() < end
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(number)
    _, said = process.communicate(timeout=600)
    assert b"KeyboardInterrupt" in said
    assert not any(alive(int(path.read_text())) for path in noted)


def release(folder: Path, **files: str) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("other", "transcript", "told"),
    [
        ({"data": "a\n1\n"}, "aa", None),
        ({"data": "a\n2\n"}, "aa", "release of south is not the one of north"),
        ({"data": "a\n1\n", "more": ""}, "aa", "release of south is not the one of north"),
        ({}, "aa", "release of south is not the one of north"),
        ({"data": "a\n1\n"}, "ab", "south has not seen the same messages as north"),
    ],
)
def test_releases_must_be_the_same_byte_for_byte(
    tmp_path: Path, other: dict[str, str], transcript: str, told: str | None
) -> None:
    folders = {
        "north": release(tmp_path / "north", data="a\n1\n"),
        "south": release(tmp_path / "south", **other),
    }
    results = {"north": {"transcript": "aa"}, "south": {"transcript": transcript}}
    if told is None:
        require_same(folders, results)
        return
    with pytest.raises(FederationError, match=told):
        require_same(folders, results)


@pytest.mark.parametrize(
    ("stems", "names"),
    [
        (["north", "south"], ["north", "south"]),
        (["a", "A", "a"], ["a", "A 2", "a 3"]),
        (["a", "a 2", "a"], ["a", "a 2", "a 3"]),
        (["St. Anna (2024)", "Zürich"], ["St. Anna -2024", "Zürich"]),
        (["Zu\u0308rich", ".hidden", "---", "x/y"], ["Zürich", "hidden", "hospital", "x-y"]),
        (["x" * 50, "x" * 60], ["x" * 40, "x" * 38 + " 2"]),
    ],
)
def test_hospitals_are_named_after_their_files(stems: list[str], names: list[str]) -> None:
    assert party_names(stems) == names
    assert [legal_name(name) for name in names] == names


def test_results_are_read_as_they_were_told(tmp_path: Path) -> None:
    result = {"sums": 3, "share": "Zürich.csv"}
    code = f"import sys; sys.stdout.write({json.dumps(result, ensure_ascii=False)!r})"
    told, _ = run(tmp_path, north=code, south=code)
    assert told["south"] == result
