"""The comparison with other tools: one measure for all of them, limits that hold, plain tables.

Nothing is installed here: the tools themselves are run by benchmarks/peers/run.py.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pytest

import incrowd
from incrowd import datasets

pytest.importorskip("resource")
PEERS = Path(__file__).parent.parent.parent / "benchmarks" / "peers"
if not PEERS.is_dir():
    pytest.skip("the benchmarks are not there", allow_module_level=True)


def script(name: str) -> ModuleType:
    """A module of the benchmark, under a name of its own."""
    spec = importlib.util.spec_from_file_location(f"peers_{name}", PEERS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


measuring, processes, tables, tools = map(script, ("measuring", "processes", "tables", "tools"))


@pytest.fixture
def domains(tmp_path: Path) -> list[Any]:
    """Ages 20 to 24 in two steps, and three works of which one has the separator in its name."""
    age = tmp_path / "age.csv"
    age.write_text("20,[20-22),*\n21,[20-22),*\n22,[22-25),*\n23,[22-25),*\n24,[22-25),*\n")
    work = tmp_path / "work.csv"
    work.write_text("nurse,ward,*\nlab-nurse,ward,*\ncook,kitchen,*\n")
    return [
        measuring.read_domain("age", age, numeric=True),
        measuring.read_domain("work", work, numeric=False),
    ]


def test_a_domain_counts_the_values_under_every_label(domains: list[Any]) -> None:
    age, work = domains
    assert len(age.values) == 5
    assert age.weights == {"[20-22)": 2, "[22-25)": 3, "*": 5}
    assert work.weights == {"ward": 2, "kitchen": 1, "*": 3}


def test_a_label_that_is_also_a_value_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "work.csv"
    path.write_text("nurse,nurse,*\nmidwife,nurse,*\n")
    with pytest.raises(ValueError, match="1 labels are values too"):
        measuring.read_domain("work", path, numeric=False)


@pytest.mark.parametrize(
    ("cell", "separator", "label"),
    [
        ("nurse,cook", ",", "{cook|nurse}"),
        ("cook,nurse", ",", "{cook|nurse}"),
        ("cook", ",", "cook"),
        ("cook-lab-nurse", "-", "{cook|lab-nurse}"),
        ("lab-nurse-nurse", "-", "{lab-nurse|nurse}"),
        ("*", ",", "*"),
    ],
)
def test_sets_are_read_by_the_values_of_the_domain(
    cell: str, separator: str, label: str, domains: list[Any]
) -> None:
    assert measuring.label_of(cell, domains[1], "sets", separator) == label


@pytest.mark.parametrize(
    ("cell", "label"),
    [("20", "20"), ("20-23", "[20-24)"), ("20 - 23", "[20-24)"), ("21-21", "21"), ("20.0", "20")],
)
def test_ranges_hold_both_their_ends(cell: str, label: str, domains: list[Any]) -> None:
    assert measuring.label_of(cell, domains[0], "sets") == label


@pytest.mark.parametrize("cell", ["lab", "nurse,", "nurse;cook", ""])
def test_a_set_that_cannot_be_read_is_an_error(cell: str, domains: list[Any]) -> None:
    with pytest.raises(ValueError, match="work: a label"):
        measuring.label_of(cell, domains[1], "sets")


@pytest.mark.parametrize("cell", ["23-20", "young", "20-"])
def test_a_range_that_cannot_be_read_is_an_error(cell: str, domains: list[Any]) -> None:
    with pytest.raises(ValueError, match="age: a"):
        measuring.label_of(cell, domains[0], "sets")


def test_a_cell_with_two_meanings_is_an_error(domains: list[Any]) -> None:
    twofold = measuring.Domain("work", False, frozenset({"a", "b", "a-b"}), {})
    with pytest.raises(ValueError, match="or several"):
        measuring.label_of("a-b", twofold, "sets", "-")


def test_a_label_that_the_hierarchy_lacks_is_an_error(domains: list[Any]) -> None:
    with pytest.raises(ValueError, match="hierarchy lacks"):
        measuring.label_of("garden", domains[1], "hierarchy")


SPELLINGS = {
    "incrowd": (["[20-22)", "24"], ["{lab-nurse|nurse}", "cook"], ","),
    "sets": (["20-21", "24"], ["nurse,lab-nurse", "cook"], ","),
    "sets with dashes": (["20 - 21", "24"], ["nurse-lab-nurse", "cook"], "-"),
    "hierarchy": (["[20-22)", "24"], ["ward", "cook"], ","),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_of_a_table_measures_the_same(spelling: str, domains: list[Any]) -> None:
    ages, works, separator = SPELLINGS[spelling]
    frame = pl.DataFrame(
        {
            "age": [ages[0]] * 2 + [ages[1]] * 2,
            "work": [works[0]] * 2 + [works[1]] * 2,
            "pay": ["1", "2", "3", "3"],
        }
    )
    found = measuring.measure(
        frame, domains, 4, labels=spelling.split()[0], separator=separator, k=2, sensitive="pay"
    )
    # two of four ages stand for 2 of 5 values, two of four works for 2 of 3
    assert found.ncp == pytest.approx((0.5 * 1 / 4 + 0.5 * 1 / 2) / 2)
    assert (found.groups, found.published, found.k, found.l) == (2, 4, 2, 1)
    assert found.broken(2, None) == []
    assert found.broken(3, 2) == ["only k=2", "only l=1"]


def test_records_that_are_not_published_lose_everything(domains: list[Any]) -> None:
    frame = pl.DataFrame({"age": ["20", "20"], "work": ["cook", "cook"]})
    assert measuring.measure(frame, domains, 8, labels="sets", k=2).ncp == pytest.approx(0.75)


def test_missing_cells_are_not_passed_over(domains: list[Any]) -> None:
    frame = pl.DataFrame({"age": ["20", None], "work": ["cook", "cook"]})
    with pytest.raises(ValueError, match="1 cells are missing"):
        measuring.measure(frame, domains, 2, labels="sets", k=2)


@pytest.mark.parametrize("labels", ["set", "hierarchy"])
def test_the_common_measure_is_the_one_of_the_manifest(labels: str, tmp_path: Path) -> None:
    quasi = ["age", "education", "race", "sex"]
    files = {path.stem: path for path in datasets.export_hierarchies("adult", tmp_path)}
    frame = datasets.load("adult").drop_nulls().head(600).select(quasi)
    release = incrowd.anonymize(
        frame,
        {
            "attributes": {n: {"role": "quasi", "hierarchy": str(files[n])} for n in quasi},
            "privacy": [{"k-anonymity": {"k": 5}}],
            "method": {"name": "mondrian", "labels": labels},
        },
    )
    read = [measuring.read_domain(n, files[n], numeric=n == "age") for n in quasi]
    found = measuring.measure(release.data, read, 600, k=5)
    assert found.ncp == pytest.approx(release.manifest["utility"]["ncp"], abs=1e-9)
    assert 0 < found.ncp < 1
    assert found.k >= 5


RUNNER = """
import sys
sys.path.insert(0, {folder!r})
from pathlib import Path
from runner import perform

def work(table, job):
{body}

perform(work, lambda job: None, lambda made, job: Path(job["published"]).write_text(str(made)))
"""


def ran(body: str, tmp_path: Path, limit: float = 60, memory: float = 4e9) -> Any:
    path = tmp_path / "work.py"
    path.write_text(RUNNER.format(folder=str(PEERS / "runners"), body=f"    {body}"))
    job = {
        "package": "numpy",
        "memory": int(memory),
        "published": str(tmp_path / "published.txt"),
    }
    return processes.run_job(sys.executable, path, job, tmp_path, limit)


def test_a_run_tells_its_seconds_and_its_peak(tmp_path: Path) -> None:
    found = ran("return len(bytearray(b'x') * 300_000_000)", tmp_path)
    assert found.ended == "well"
    assert (tmp_path / "published.txt").read_text() == "300000000"
    assert 0 < found.seconds < found.whole
    assert 300e6 < found.peak < 600e6


def test_what_the_parent_holds_is_not_in_the_peak(tmp_path: Path) -> None:
    held = bytearray(b"x") * 300_000_000
    found = ran("return 1", tmp_path)
    assert len(held) > found.peak > 0


def test_a_run_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    found = ran("exec('while True: pass')", tmp_path, limit=1)
    assert found.ended == "time"
    assert 1 <= found.whole < 60


def test_a_run_that_takes_too_much_memory_is_ended(tmp_path: Path) -> None:
    found = ran("return len(bytearray(b'x') * 3_000_000_000)", tmp_path, memory=2e9)
    assert found.ended == "memory"


def test_a_run_that_fails_says_why(tmp_path: Path) -> None:
    found = ran("raise KeyError('no such level')", tmp_path)
    assert (found.ended, found.error) == ("error", "KeyError: 'no such level'")
    died = ran("import os; os._exit(3)", tmp_path)
    assert (died.ended, died.error) == ("error", "exit code 3")


def test_environments_of_their_own_do_not_see_our_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "somewhere")
    assert "PYTHONPATH" not in processes._surroundings("/other/bin/python")
    assert processes._surroundings(sys.executable)["PYTHONPATH"] == "somewhere"


def result(**more: Any) -> dict[str, Any]:
    told = {
        "table": "adult", "title": "Adult", "tool": "one", "manner": "any", "job": "k", "k": 5,
        "l": None, "ended": "well", "seconds": 1.234, "whole": 12.34, "peak": 56_000_000,
        "ncp": 0.25, "groups": 1234, "published": 5678, "found_k": 5, "found_l": None,
        "broken": "", "load": 2.04, "limit": 300.0, "memory": 8_000_000_000, "error": "",
    }  # fmt: skip
    return told | more


def test_the_table_shows_figures_failures_and_broken_promises() -> None:
    page = tables.page(
        [
            result(),
            result(tool="two", l=2, job="l", found_k=3, found_l=2, broken="only k=3"),
            result(tool="three", ended="time"),
            result(tool="four", ended="memory"),
            result(tool="five", ended="skipped", error="k alone did not finish", peak=0),
            result(tool="six", ended="error", error="KeyError:\n 1 | 2"),
            result(tool="seven", job="check", found_k=5, found_l=2),
        ]
    )
    rows = {line.split(" | ")[0].strip("| "): line for line in page.splitlines()}
    assert rows["one"] == (
        "| one | any | k=5 | 1.23 | 12.3 | 56 | 0.2500 | 1,234 | 5,678 | k=5 | 2.0 |"
    )
    assert rows["two"].endswith("| **only k=3** | 2.0 |")
    assert "did not finish: over 300 s" in rows["three"]
    assert "did not finish: over 8 GB" in rows["four"]
    assert "not tried: k alone did not finish" in rows["five"]
    assert "failed: KeyError: 1 / 2" in rows["six"]
    assert rows["seven"] == "| seven | 1.23 | 12.3 | 56 | k=5, l=2 | 2.0 |"
    assert len({line.count("|") for line in page.splitlines() if "any" in line}) == 1


def test_every_tool_has_a_runner_and_a_pinned_version() -> None:
    everything = [*tools.incrowd_tools(), *tools.PEERS, tools.VERIFY, tools.PYCANON]
    assert len({tool.name for tool in everything}) == len(everything)
    for tool in everything:
        assert (PEERS / "runners" / tool.runner).is_file()
        assert all("==" in requirement for requirement in tool.requirements)
        assert (tool.package == "incrowd") == (not tool.requirements)


def test_the_whole_comparison_runs_for_incrowd_alone(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            sys.executable, str(PEERS / "run.py"), "--work", str(tmp_path), "--rows", "200",
            "--tools", "incrowd mondrian (memory)", "incrowd verify",
        ],
        capture_output=True, text=True, check=True, env=dict(os.environ),
    )  # fmt: skip
    kept = json.loads((tmp_path / "results.json").read_text())
    assert [each["job"] for each in kept.values()] == ["k", "l", "check"]
    assert {each["ended"] for each in kept.values()} == {"well"}
    assert all(each["found_k"] >= 5 for each in kept.values())
    assert all(each["found_l"] >= 2 for each in list(kept.values())[1:])
    assert "Adult blown up to 200 records" in done.stdout
    first = next(iter(kept.values()))
    by_hand = subprocess.run(
        [
            sys.executable, str(PEERS / "run.py"), "--work", str(tmp_path), "--rows", "200",
            "--measure", str(tmp_path / "releases" / next(iter(kept)) / "data.csv"),
            "--labels", "incrowd",
        ],
        capture_output=True, text=True, check=True, env=dict(os.environ),
    )  # fmt: skip
    told = json.loads(by_hand.stdout)
    assert (told["ncp"], told["groups"], told["broken"]) == (first["ncp"], first["groups"], [])
