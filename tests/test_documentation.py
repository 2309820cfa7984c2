"""What can run of the README, CONTRIBUTING, SECURITY and docs/ runs, on patients made for it."""

import ast
import re
import shlex
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer
import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import incrowd
import incrowd.cli.commands
from command_line import run
from incrowd._runtime import plain_yaml
from incrowd.cli.app import app
from incrowd.methods.registry import METHOD_OPTIONS
from incrowd.policy import as_policy
from incrowd.privacy import MODELS
from incrowd.sources.source import KINDS
from incrowd.verify.models import JUDGES

REPOSITORY = Path(__file__).parent.parent
PAGES = [
    *(REPOSITORY / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY")),
    *sorted((REPOSITORY / "docs").rglob("*.md")),
]
BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```", re.DOTALL | re.MULTILINE)

ONLY_IMPORTED = {
    "load_kit(": "hospitals on machines of their own",
    "from incrowd.cli import main": "the script that spark-submit starts on a cluster",
}
"""What a block has that is not run, and why: its imports run, the rest is parsed."""

ONLY_PARSED = {
    "incrowd demo": "takes long; run by tests/cli",
    "incrowd federation ": "hospitals have files and machines of their own; see tests/federation",
    "incrowd serve": "goes on until it is ended; run by tests/serve",
    "--spark ": "a cluster",
    "postgresql://": "a server of a hospital",
}
"""What a call has that is not run, and why: the command line takes its words apart, that is all."""

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


def visits() -> pl.DataFrame:
    """Two rows for each of 60 patients."""
    rows = range(120)
    return pl.DataFrame(
        {
            "patient": [f"p{row % 60}" for row in rows],
            "birth_date": [f"19{40 + row % 60 // 2}-05-17" for row in rows],
            "sex": ["Female" if row % 4 < 2 else "Male" for row in rows],
            "zip": [f"{14200 + row % 5}" for row in rows],
            "code": [("I10", "E11.9", "J06.9", "Z23")[row // 7 % 4] for row in rows],
            "class": [("ambulatory", "emergency")[row // 60] for row in rows],
        }
    )


def policy_of_visits() -> dict[str, Any]:
    return {
        "source": "visits.csv",
        "unit": "patient",
        "attributes": {
            "patient": "identifier",
            "birth_date": {"role": "quasi", "hierarchy": "dates"},
            "sex": "quasi",
            "zip": {"role": "quasi", "type": "category", "hierarchy": {"mask": {"length": 5}}},
            "code": {"role": "sensitive", "level": "event"},
            "class": {"role": "keep", "level": "event"},
        },
        "privacy": [{"k-anonymity": {"k": 5}}],
        "output": "visits-release",
    }


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the pages name."""
    folder = tmp_path_factory.mktemp("documented")
    table = patients()
    table.write_csv(folder / "patients.csv")
    visits().write_csv(folder / "visits.csv")
    (folder / "histories.yaml").write_text(yaml.safe_dump(policy_of_visits()), encoding="utf-8")
    table.select("age", "sex", "zip").head(20).write_csv(folder / "voters.csv")
    lines = [f"{value},{'grave' if value in DISEASES[1:3] else 'mild'},*" for value in DISEASES]
    (folder / "diagnosis.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    policy = {
        "source": "patients.csv",
        "unit": "id",
        "attributes": {
            **ROLES,
            "surgery": "identifier",
            "diagnosis": {"role": "sensitive", "hierarchy": "diagnosis.csv"},
        },
        "privacy": [{"k-anonymity": {"k": 2}}],
        "method": "top-down-specialization",
        "output": "release",
    }
    changes: dict[str, dict[str, Any]] = {
        "policy": {},
        "generalized": {},
        "stricter": {"privacy": [{"k-anonymity": {"k": 5}}]},
        "anatomy": {"method": "mondrian", "publish": "anatomy"},
        "lossy-join": {"method": "mondrian", "publish": "lossy-join"},
    }
    for name, change in changes.items():
        text = yaml.safe_dump({**policy, **change})
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def here(world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that folder, in which the test stands."""
    shutil.copytree(world, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


WITH_PYTHON = [page for page in PAGES if blocks(page, "python")]


def what_runs(block: str) -> str:
    """A block, or its imports where it needs what a test has not."""
    if not any(part in block for part in ONLY_IMPORTED):
        return block
    lines = [node for node in ast.parse(block).body if isinstance(node, ast.ImportFrom)]
    assert lines
    return "\n".join(map(ast.unparse, lines))


@pytest.mark.parametrize("page", WITH_PYTHON, ids=named)
@pytest.mark.filterwarnings("default")
def test_the_python_of_a_page_runs_in_order(page: Path, here: Path) -> None:
    code = "\n".join(map(what_runs, blocks(page, "python")))
    frame = pl.read_csv("patients.csv", schema_overrides={"zip": pl.String})
    release = incrowd.anonymize(frame, "policy.yaml", accept_unprotected=True)
    if named(page) == "docs/federation.md":  # it makes a release of its own
        shutil.copytree(REPOSITORY / "examples" / "hospitals", here, dirs_exist_ok=True)
    elif "release.save(" not in code:
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
        elif "patients" in read:  # each table has attributes of its own
            yield {"privacy": whole["privacy"]} | read
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


def release_key(folder: Path) -> None:
    """The key that the page on verifying makes with OpenSSL."""
    key = Ed25519PrivateKey.generate()
    plain = serialization.NoEncryption()
    pem, secret = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    public = serialization.PublicFormat.SubjectPublicKeyInfo
    (folder / "release-key.pem").write_bytes(key.private_bytes(pem, secret, plain))
    (folder / "release-key.pub.pem").write_bytes(key.public_key().public_bytes(pem, public))


def as_linkage_names_them(folder: Path) -> None:
    """Columns that are called otherwise in the release than in the list."""
    for name, age, sex in [
        ("policy.yaml", "birth_date", "gender"),
        ("patients.csv", "birth_date", "gender"),
        ("voters.csv", "born", "sex"),
    ]:
        text = (folder / name).read_text(encoding="utf-8")
        text = re.sub(r"\bsex\b", sex, re.sub(r"\bage\b", age, text))
        (folder / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=named)
def test_the_commands_of_a_page_run_in_order(page: Path, here: Path) -> None:
    called = commands(page)
    if named(page) == "docs/linkage.md":
        as_linkage_names_them(here)
    if called[0][0] != "anonymize" and any("release" in call for call in called):
        assert run("anonymize", "policy.yaml", cwd=here).returncode == 0
    release_key(here)
    for arguments in called:
        call = shlex.join(["incrowd", *arguments])
        if any(part in call for part in ONLY_PARSED):
            parsed(arguments)
            continue
        # Pages show one way after another to make a release; that of histories lies elsewhere.
        if arguments[0] == "anonymize" and "histories.yaml" not in arguments:
            shutil.rmtree("release", ignore_errors=True)
        ended = run(*arguments, cwd=here)
        assert ended.returncode == 0, (call, ended.stderr)


def test_what_is_only_parsed_stands_on_some_page() -> None:
    called = [shlex.join(["incrowd", *call]) for page in WITH_COMMANDS for call in commands(page)]
    for part in ONLY_PARSED:
        assert any(part in call for call in called), part


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "toml")], ids=named)
def test_entry_points_of_a_page_are_asked_for_and_name_what_its_python_defines(page: Path) -> None:
    groups = {registry._group for registry in (KINDS, MODELS, METHOD_OPTIONS, JUDGES)}
    code = "\n".join(blocks(page, "python"))
    for text in blocks(page, "toml"):
        for group, entries in tomllib.loads(text)["project"]["entry-points"].items():
            assert group in groups
            for place in entries.values():
                name = place.partition(":")[2]
                assert re.search(rf"^(class )?{name}\b", code, re.MULTILINE), place


def test_places_that_contributing_names_are_there() -> None:
    text = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
    places = re.findall(r"[\s`](\w+(?:/[\w.]*)+)", text)
    assert {"tests/privacy", "hierarchies/", "benchmarks/deliberate_faults/run.py"} <= set(places)
    for place in places:
        roots = (REPOSITORY, REPOSITORY / "src" / "incrowd")
        assert any((root / place).exists() for root in roots), place


def parsed(arguments: list[str]) -> None:
    """Take the words of a call apart as the command line does."""
    command: Any = typer.main.get_command(app)
    context: Any = None
    while hasattr(command, "resolve_command"):
        context = command.make_context(command.name, arguments, parent=context)
        _, command, arguments = command.resolve_command(
            context, [*context._protected_args, *context.args]
        )
    command.make_context(command.name, arguments, parent=context)
