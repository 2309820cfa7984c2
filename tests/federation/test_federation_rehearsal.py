"""A rehearsal from its command to its release: real processes, real kits, dirty data."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import incrowd
from incrowd import datasets
from incrowd.errors import InputError, ParameterError, VerificationError
from incrowd.federation.run import rehearsal
from incrowd.federation.run._processes import Hospital
from incrowd.federation.run.rehearsal import rehearse

INCROWD = [sys.executable, "-c", "from incrowd.cli import main; main()"]
EXAMPLE = Path(__file__).parents[2] / "examples" / "hospitals"
FILES = {"north": (320, 1), "south": (240, 2), "west": (160, 3)}
"""The hospitals of the example: how many records of the generator, and its seed."""
ENVIRONMENT = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A copy of the example that a test may spoil, with a folder for temporary files."""
    shutil.copytree(EXAMPLE, tmp_path / "job")
    (tmp_path / "tmp").mkdir()
    return tmp_path / "job"


_STARTED: list[subprocess.Popen[str]] = []


@pytest.fixture(autouse=True)
def no_process_outlives_a_test() -> Iterator[None]:
    yield
    while _STARTED:
        process = _STARTED.pop()
        if process.poll() is None:
            process.terminate()
            process.communicate()


def start(job: Path, *arguments: str, files: str = "north south west") -> subprocess.Popen[str]:
    words = ["rehearse", "policy.yaml", *(f"{name}.csv" for name in files.split()), "-o", "out"]
    process = subprocess.Popen(
        [*INCROWD, "federation", *words, *arguments], cwd=job, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={
            **ENVIRONMENT,
            "TMPDIR": str(job.parent / "tmp"),
            "INCROWD_STATE": str(job.parent / "state"),
        },
    )  # fmt: skip
    _STARTED.append(process)
    return process


def run(job: Path, *arguments: str, files: str = "north south west") -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a rehearsal."""
    process = start(job, *arguments, files=files)
    out, err = process.communicate(timeout=900)
    return process.returncode, out, err


def nothing_is_left(job: Path) -> None:
    """No release, no half of one, and no temporary folder."""
    assert sorted(path.name for path in job.iterdir()) == sorted(
        [*(f"{name}.csv" for name in FILES), "hierarchies", "policy.yaml"]
    )
    assert list((job.parent / "tmp").iterdir()) == []


def change(job: Path, name: str, old: str, new: str, count: int = 1) -> None:
    path = job / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, count), encoding="utf-8")


@pytest.mark.parametrize("name", FILES)
def test_the_files_of_the_example_are_generated_ones(name: str) -> None:
    rows, seed = FILES[name]
    found = pl.read_csv(EXAMPLE / f"{name}.csv")
    made = datasets.load("blood-transfusions", rows=rows, seed=seed).select(found.columns)
    assert made.write_csv().encode() == (EXAMPLE / f"{name}.csv").read_bytes()


def test_the_hierarchy_of_the_example_is_that_of_the_data_set(tmp_path: Path) -> None:
    written = datasets.export_hierarchies("blood-transfusions", tmp_path)
    theirs = next(path for path in written if path.name == "insurance.csv")
    assert (EXAMPLE / "hierarchies" / "insurance.csv").read_bytes() == theirs.read_bytes()


def test_three_hospitals_make_the_release_of_their_pooled_records(job: Path) -> None:
    change(job, "policy.yaml", "goal:", "hospitals: {trust: honest}\ngoal:")
    code, out, err = run(job, "--json", "--keep")
    assert code == 0, err
    told = json.loads(out)
    assert told["verified"] is True
    assert told["records"] == 720
    assert {each["name"]: each["records"] for each in told["hospitals"]} == {
        name: rows for name, (rows, _) in FILES.items()
    }
    assert [each["leads"] for each in told["hospitals"]] == [True, False, False]
    pooled = pl.concat([pl.read_csv(job / f"{name}.csv") for name in FILES])
    incrowd.anonymize(pooled, job / "policy.yaml", accept_unprotected=True).save(job / "pooled")
    data = (job / "out" / "data.csv").read_bytes()
    assert data == (job / "pooled" / "data.csv").read_bytes()
    assert incrowd.verify(job / "out").holds
    shares = []
    for name, (rows, _) in FILES.items():
        own = job / "out-rehearsal" / name
        assert (own / "release" / "data.csv").read_bytes() == data
        shares.append(pl.read_csv(own / "share.csv", infer_schema=False))
        assert shares[-1].height == rows
        first, second = (own / "run.log").read_text(encoding="utf-8").splitlines()[:2]
        assert first.startswith("Protection NONE among the hospitals (trust: honest)")
        assert second.startswith("3 hospitals: north (leads)")
        assert f"{name.ljust(5)} | transcript: {told['transcript']}" in err
        readme = (job / "out-rehearsal" / "kits" / name / "README.md").read_text(encoding="utf-8")
        assert "- west: 160 records" in readme
        assert "Together 720 records." in readme
    assert not (job.parent / "state").exists(), "a rehearsal has no history"
    assert not [*(job / "out-rehearsal").rglob("ledger*")]
    released = pl.read_csv(job / "out" / "data.csv", infer_schema=False)
    together = pl.concat(shares).select(released.columns)
    assert together.sort(released.columns).equals(released.sort(released.columns))
    assert list((job.parent / "tmp").iterdir()) == []


def test_dirty_records_of_one_hospital_stop_all_with_its_name(job: Path) -> None:
    change(job, "west.csv", "Widowed", "Wydowed")  # a value outside the tree
    code, out, err = run(job)
    assert (code, out) == (3, "")
    words = err.strip().splitlines()[-1]
    assert words.startswith("error: west: ")
    assert "'marital_status'" in words
    assert "Wydowed" not in err
    nothing_is_left(job)


def test_a_privacy_out_of_reach_is_exit_code_1(job: Path) -> None:
    change(job, "policy.yaml", "C: 0.33", "C: 0.01")
    code, out, err = run(job, "--quiet")
    assert (code, out) == (1, ""), err
    (last,) = err.splitlines()
    assert last.startswith("error: The records of this hospital alone cannot keep the policy")
    nothing_is_left(job)


def test_two_hospitals_only_when_switched_on(job: Path) -> None:
    """Shown for people: a line for each hospital. Every share keeps the policy alone."""
    two = "north south"
    code, _, err = run(job, files=two)
    assert code == 2
    assert "any sum minus one's own value is the other's" in err
    assert "--allow-two" in err
    nothing_is_left(job)
    code, out, err = run(job, "--allow-two", "--sums", "ring", "--keep", files=two)
    assert code == 0, err
    assert "byte for byte the same at all of them" in out
    for name in two.split():
        rows, _ = FILES[name]
        assert any(line.split()[:1] == [name] and f" {rows} " in line for line in out.splitlines())
    assert "north (leads)" in out
    assert err.count("Who sees what in this run:") == 1
    assert err.count("WARNING: With ring sums, the two neighbours of a hospital") == 1
    assert "south | " in err
    assert incrowd.verify(job / "out").holds
    model = incrowd.privacy.LKC(L=2, K=10, C=0.33, sensitive="diagnosis")
    quasi = ["age", "sex", "marital_status", "employment", "insurance"]
    for name in two.split():
        share = pl.read_csv(job / "out-rehearsal" / name / "share.csv", infer_schema=False)
        assert model.check(share, quasi).holds
        assert share["employment"].n_unique() > 1


def test_an_interrupted_rehearsal_leaves_nothing(job: Path) -> None:
    process = start(job)
    assert process.stderr is not None
    for line in process.stderr:
        if "waiting for 2 hospitals" in line:
            break
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=900)
    assert process.returncode == 130
    assert "interrupted: nothing was written" in err
    nothing_is_left(job)


def test_what_cannot_be_rehearsed_is_refused_before_anything_starts(tmp_path: Path) -> None:
    policy = EXAMPLE / "policy.yaml"
    north, south = EXAMPLE / "north.csv", EXAMPLE / "south.csv"
    out = tmp_path / "out"
    with pytest.raises(ParameterError, match="at least two hospitals"):
        rehearse(policy, [north], out)
    with pytest.raises(InputError, match=r"There is no file '.*east\.csv'"):
        rehearse(policy, [north, south, EXAMPLE / "east.csv"], out)
    with pytest.raises(InputError, match="named twice"):
        rehearse(policy, [north, south, EXAMPLE / ".." / "hospitals" / "north.csv"], out)
    with pytest.raises(InputError, match="does not exist"):
        rehearse(policy, [north, south, EXAMPLE / "west.csv"], tmp_path / "no" / "out")
    (tmp_path / "out-rehearsal").mkdir()
    with pytest.raises(InputError, match="without keeping"):
        rehearse(policy, [north, south, EXAMPLE / "west.csv"], out, keep=True)
    assert [path.name for path in tmp_path.iterdir()] == ["out-rehearsal"]


def test_a_promise_that_the_files_leave_open_appears_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `save` has it: what could not be judged is not published either."""
    frame = pl.DataFrame({"age": [30, 31, 50, 52], "ill": [*"abcd"], "ward": [*"wxyz"]})
    policy = {
        "attributes": {"age": "quasi", "ill": "sensitive", "ward": "sensitive"},
        "privacy": [{"multi-sensitive": {"k": 2, "l": 2, "sensitive": ["ill", "ward"]}}],
        "publish": "anatomy",
        "method": "anatomize",
    }
    incrowd.anonymize(frame, policy).save(tmp_path / "anatomy", report=False)
    verdict = incrowd.verify(tmp_path / "anatomy")
    assert verdict.holds
    assert verdict.open

    def ended(hospitals: list[Hospital], *_: object, **__: object) -> dict[str, object]:
        for each in hospitals:
            shutil.copytree(tmp_path / "anatomy", each.result.parent / "release")
        return {each.name: {"transcript": ""} for each in hospitals}

    monkeypatch.setattr(rehearsal, "run_together", ended)
    out = tmp_path / "out"
    with pytest.raises(VerificationError, match="was not written"):
        rehearse(EXAMPLE / "policy.yaml", [EXAMPLE / f"{name}.csv" for name in FILES], out)
    assert [path.name for path in tmp_path.iterdir()] == ["anatomy"]
