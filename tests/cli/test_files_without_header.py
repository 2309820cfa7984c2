"""A file without a header goes through every command once the person says that it has none."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from command_line import run

NO_HEADER = "--no-header"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with patients in a file without a header."""
    folder = tmp_path_factory.mktemp("headerless")
    draw = random.Random(3)
    rows = [
        [1000 + i, draw.randint(20, 80), draw.choice("FM"), draw.choice(["Flu", "HIV", "Gout"])]
        for i in range(60)
    ]
    text = "".join(",".join(map(str, row)) + "\n" for row in rows)
    (folder / "patients.csv").write_text(text)
    return folder


COMMANDS = [
    ["init", "patients.csv", "-o", "draft.yaml", "--force"],
    ["risk", "patients.csv", "--quasi", "column_2,column_3"],
    ["feasibility", "--data", "patients.csv", "--quasi", "column_2,column_3", "--k", "2"],
    ["patterns", "patients.csv", "--control", "column_4"],
    ["attack", "patients.csv", "--eliminate", "1", "--quasi", "column_2,column_3",
     "--sensitive", "column_4"],
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_commands_on_a_bare_file(place: Path, command: list[str]) -> None:
    refused = run(*command, cwd=place)
    assert refused.returncode == 2
    assert NO_HEADER in refused.stderr
    assert "1000" not in refused.stderr
    done = run(*command, NO_HEADER, cwd=place)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_from_init_to_verify(place: Path, engine: str) -> None:
    assert run("init", "patients.csv", NO_HEADER, "--force", cwd=place).returncode == 0
    policy = (place / "patients.yaml").read_text().replace("column_4: quasi", "column_4: sensitive")
    assert "header: false" in policy
    (place / "run.yaml").write_text(policy + f"engine: {engine}\n")
    folder = f"release-{engine}"
    made = run("anonymize", "run.yaml", "-o", folder, "--json", cwd=place)
    assert made.returncode == 0, made.stderr
    records = json.loads(made.stdout)["records"]
    assert records["published"] + records["suppressed"] == 60
    header = (place / folder / "data.csv").read_text().split("\n")[0]
    assert header == "column_2,column_3,column_4"
    for command in (["verify"], ["evaluate"], ["attack", "--eliminate", "1"]):
        name, *rest = command
        original = ["--original", "patients.csv"]
        done = run(name, folder, *rest, *original, NO_HEADER, cwd=place)
        assert done.returncode == 0, done.stderr
        refused = run(name, folder, *rest, *original, cwd=place)
        assert refused.returncode == 2
        assert NO_HEADER in refused.stderr


def test_a_policy_for_such_a_file_compares_and_checks(place: Path) -> None:
    assert run("init", "patients.csv", NO_HEADER, "--force", cwd=place).returncode == 0
    assert run("policy", "check", "patients.yaml", cwd=place).returncode == 0
    found = run("compare", "patients.yaml", "--over", "k=2,5", "--queries", "0", cwd=place)
    assert found.returncode == 0, found.stderr
