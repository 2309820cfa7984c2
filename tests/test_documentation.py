"""Every block of the README and of docs/ that can run runs, on patients made for it."""

import ast
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer
import yaml

import incrowd
from incrowd._runtime import plain_yaml
from incrowd.cli.app import app
from incrowd.policy import as_policy

REPOSITORY = Path(__file__).parent.parent
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```", re.DOTALL | re.MULTILINE)

ONLY_IMPORTED = {
    "docs/federation.md": "hospitals on machines of their own",
    "docs/spark.md": "the script that spark-submit starts on a cluster",
}
"""Pages whose Python needs what a test has not, and why: their imports run, the rest is parsed."""

ROLES: dict[str, Any] = {
    "id": "identifier",
    "age": {
        "role": "quasi",
        "type": "numeric",
        "hierarchy": {"intervals": {"start": 0, "stop": 120, "widths": [5, 10, 40]}},
    },
    "sex": "quasi",
    "zip": {"role": "quasi", "hierarchy": {"mask": {"length": 5}}},
    "job": "sensitive",
    "disease": "sensitive",
    "diagnosis": "sensitive",
    "treatment": "sensitive",
    "income": "sensitive",
    "outcome": "target",
}
DISEASES = ["Flu", "HIV", "Cancer", "Cold"]


def blocks(page: Path, *kinds: str) -> list[str]:
    """The fenced blocks of a page that are of some kind, as they stand."""
    return [
        found[3].replace(f"\n{found[1]}", "\n")
        for found in BLOCK.finditer(page.read_text(encoding="utf-8"))
        if found[2] in kinds
    ]


def named(page: Path) -> str:
    return page.relative_to(REPOSITORY).as_posix()


def patients() -> pl.DataFrame:
    rows = range(120)
    return pl.DataFrame(
        {
            "id": [f"p{row}" for row in rows],
            "age": [20 + row * 7 % 60 for row in rows],
            "sex": ["female" if row % 2 else "male" for row in rows],
            "zip": [f"{14200 + row % 5}" for row in rows],
            "job": [("judge", "lawyer", "mover")[row % 3] for row in rows],
            "disease": [DISEASES[row % 4] for row in rows],
            "diagnosis": [DISEASES[row * 3 % 4] for row in rows],
            "treatment": [("pills", "surgery", "rest")[row % 3] for row in rows],
            "income": [row * 11 % 100 for row in rows],
            "outcome": ["good" if row % 4 else "bad" for row in rows],
            "surgery": ["Plastic" if row % 3 else "Urology" for row in rows],
        }
    )


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the pages name."""
    folder = tmp_path_factory.mktemp("documented")
    table = patients()
    table.write_csv(folder / "patients.csv")
    table.select("age", "sex", "zip").head(20).write_csv(folder / "voters.csv")
    lines = [f"{value},{'grave' if value in DISEASES[1:3] else 'mild'},*" for value in DISEASES]
    (folder / "diagnosis.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    policy = {
        "source": "patients.csv",
        "unit": "id",
        "attributes": {**ROLES, "surgery": "identifier"},
        "privacy": [{"k-anonymity": {"k": 2}}],
        "method": "top-down-specialization",
        "output": "release",
    }
    apart = {"method": "mondrian", "publish": "anatomy"}
    for name, written in {
        "policy": policy,
        "generalized": policy,
        "anatomy": policy | apart,
    }.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(written), encoding="utf-8")
    return folder


@pytest.fixture
def here(world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that folder, in which the test stands."""
    shutil.copytree(world, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


WITH_PYTHON = [page for page in PAGES if blocks(page, "python")]


@pytest.mark.parametrize("page", WITH_PYTHON, ids=named)
@pytest.mark.filterwarnings("default")
def test_the_python_of_a_page_runs_in_order(page: Path, here: Path) -> None:
    code = "\n".join(blocks(page, "python"))
    if named(page) in ONLY_IMPORTED:
        lines: list[ast.stmt] = [
            node for node in ast.parse(code).body if isinstance(node, ast.ImportFrom)
        ]
        assert lines
        exec(compile(ast.Module(lines, []), named(page), "exec"), {})
        return
    frame = pl.read_csv("patients.csv", schema_overrides={"zip": pl.String})
    release = incrowd.anonymize(frame, "policy.yaml", accept_unprotected=True)
    if "release.save(" not in code:
        release.save("release", report=False)
    known = {
        "incrowd": incrowd,
        "frame": frame,
        "table": frame,
        "policy": "policy.yaml",
        "release": release,
        "kinds": [["HIV", "Cancer"], ["Flu", "Cold"]],
    }
    exec(compile(code, named(page), "exec"), known)


def described(text: str) -> Iterator[dict[str, Any]]:
    """The policies that a block stands for: whole ones, or parts put into one."""
    sensitive = ("disease", "diagnosis", "surgery", "treatment", "topography", "histology")
    whole: dict[str, Any] = {
        "attributes": ROLES | dict.fromkeys((*sensitive, "recur_status"), "sensitive"),
        "privacy": [{"k-anonymity": {"k": 2}}],
    }
    whole["attributes"] |= {"survival_years": "sensitive", "patient_id": "identifier"}
    tree = {"grave": ["HIV", "Cancer"], "mild": ["Flu", "Cold"]}
    whole["attributes"]["diagnosis"] = {"role": "sensitive", "hierarchy": {"tree": tree}}
    lines = text.splitlines()
    keys = [line.split(":")[0] for line in lines]
    parts = lines if len(set(keys)) < len(keys) and not any(" " in key for key in keys) else [text]
    for part in parts:
        read = plain_yaml.load(part)
        if isinstance(read, list):
            yield from (whole | {"privacy": [model]} for model in read)
        else:
            yield whole | read


WITH_POLICIES = [page for page in PAGES if blocks(page, "yaml")]


@pytest.mark.parametrize("page", WITH_POLICIES, ids=named)
def test_the_policies_of_a_page_are_policies(page: Path, here: Path) -> None:
    (here / "race.csv").write_text("White,*\nBlack,*\nHispanic,*\n", encoding="utf-8")
    for text in blocks(page, "yaml"):
        for policy in described(text):
            assert as_policy(policy).privacy


def commands(page: Path) -> list[list[str]]:
    """The arguments of every call of the command line in the blocks of a page."""
    lines = "\n".join(blocks(page, "", "shell")).replace("\\\n", " ").splitlines()
    parts = (part.strip() for line in lines for part in line.split("&&"))
    called = (re.sub(r"^(\w+=\S+ )+", "", part) for part in parts)
    return [shlex.split(call, comments=True)[1:] for call in called if call.startswith("incrowd ")]


WITH_COMMANDS = [page for page in PAGES if commands(page)]


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=named)
def test_the_command_line_knows_the_commands_of_a_page(page: Path, here: Path) -> None:
    import incrowd.cli.commands  # noqa: F401 - which adds them to the app

    for arguments in commands(page):
        command: Any = typer.main.get_command(app)
        context: Any = None
        rest = arguments
        while hasattr(command, "resolve_command"):
            context = command.make_context(command.name, rest, parent=context)
            _, command, rest = command.resolve_command(
                context, [*context._protected_args, *context.args]
            )
        command.make_context(command.name, rest, parent=context)
