"""`init`, then `anonymize`, over a zoo of files: each runs, or is refused with a remedy that works.

The remedies are followed by rule, from the words of the refusal alone. What a file keeps secret is
neither told nor published on the way.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from zoo_files import Exhibit, exhibits

from command_line import Ended, run

ZOO = exhibits()


def _unique_names(path: Path, _: dict[str, list[str]]) -> None:
    header, _newline, rest = path.read_text().partition("\n")
    names = [f"{name or 'n'}{at}" for at, name in enumerate(header.split(","))]
    path.write_text(",".join(names) + "\n" + rest)


def _one_header(path: Path, _: dict[str, list[str]]) -> None:
    header, *lines = path.read_text().splitlines()
    path.write_text("\n".join([header, *(line for line in lines if line != header)]) + "\n")


def _no_header(_: Path, options: dict[str, list[str]]) -> None:
    options["init"].append("--no-header")


def _windows(_: Path, options: dict[str, list[str]]) -> None:
    options["init"] += ["--encoding", "cp1252"]


def _more(path: Path, _: dict[str, list[str]]) -> None:
    path.write_text(path.read_text() + "".join(f"{50 + at},F\n" for at in range(9)))


def _a_column(path: Path, _: dict[str, list[str]]) -> None:
    header, *lines = path.read_text().splitlines()
    more = [f"{line},{20 + at % 50}" for at, line in enumerate(lines)]
    path.write_text("\n".join([f"{header},age", *more]) + "\n")


def _cut(path: Path, _: dict[str, list[str]]) -> None:
    lines = path.read_text().splitlines()
    width = lines[0].count(",") + 1
    path.write_text("".join(",".join(line.split(",")[:width]) + "\n" for line in lines))


def _missing(path: Path, _: dict[str, list[str]]) -> None:
    policy = path.parent / "policy.yaml"
    written = re.search(r"`missing-values: (\[.*?\])`", " ".join(policy.read_text().split("#")))
    policy.write_text(policy.read_text() + f"missing-values: {written[1] if written else ''}\n")


def _rows(path: Path, _: dict[str, list[str]]) -> None:
    policy = path.parent / "policy.yaml"
    lines = policy.read_text().splitlines()
    lines = ["unit: row" if line.startswith("unit:") else line for line in lines]
    policy.write_text("\n".join(lines) + "\n")


# The name of a remedy, the words of the refusal that lead to it, and what is then done.
REMEDIES: tuple[tuple[str, str, Callable[[Path, dict[str, list[str]]], None]], ...] = (
    ("repeated header", "remove the repeated ones", _one_header),
    ("--no-header", "--no-header", _no_header),
    ("names", "one name for each column, each another", _unique_names),
    ("encoding", "encoding: cp1252", _windows),
    ("more records", "Add records", _more),
    ("a column", "Add the columns that the release is about", _a_column),
    ("cut", "Correct the line", _cut),
    ("unit: row", "`unit: row`", _rows),
)


def remedy_for(exhibit: Exhibit, ended: Ended) -> str:
    """The remedy of this exhibit that the refusal names."""
    named = [name for name, words, _ in REMEDIES if words in " ".join(ended.stderr.split())]
    fitting = [name for name in named if name in exhibit.remedies]
    assert fitting, ended.stderr
    return fitting[0]


def until_it_runs(exhibit: Exhibit, path: Path) -> list[str]:
    """Draft and run, following each refusal; the remedies that were followed."""
    followed: list[str] = []
    options: dict[str, list[str]] = {"init": [], "anonymize": []}
    commands = {
        "init": ["init", path.name, "-o", "policy.yaml", "--force"],
        "anonymize": ["anonymize", "policy.yaml", "-o", "release"],
    }
    for step, command in commands.items():
        ended = run(*command, *options[step], cwd=path.parent)
        while ended.returncode:
            assert ended.returncode in (1, 2), ended.stderr
            assert not [secret for secret in exhibit.secrets if secret in ended.stderr]
            name = remedy_for(exhibit, ended)
            assert name not in followed, f"{name} did not help: {ended.stderr}"
            followed.append(name)
            next(act for each, _, act in REMEDIES if each == name)(path, options)
            ended = run(*command, *options[step], cwd=path.parent)
        told = ended.stdout + ended.stderr
        assert not [secret for secret in exhibit.secrets if secret in told]
        if "`missing-values: [" in " ".join(told.split()) and "odd cells" not in followed:
            _missing(path, options)
            followed.append("odd cells")
            ended = run(*command, *options[step], cwd=path.parent) if step == "anonymize" else ended
    return followed


def test_the_zoo_is_large_enough() -> None:
    assert len({each.name for each in ZOO}) == len(ZOO) >= 40


@pytest.mark.parametrize("exhibit", ZOO, ids=lambda each: each.name)
def test_every_file_runs_or_is_refused_with_a_remedy_that_works(
    exhibit: Exhibit, tmp_path: Path
) -> None:
    path = tmp_path / exhibit.file
    path.write_bytes(exhibit.content)
    assert tuple(until_it_runs(exhibit, path)) == exhibit.remedies
    assert run("verify", "release", cwd=tmp_path).returncode == 0
    policy = (tmp_path / "policy.yaml").read_text(encoding="utf-8")
    published = "".join(
        each.read_text(encoding="utf-8") for each in (tmp_path / "release").iterdir()
    )
    assert not [secret for secret in exhibit.secrets if secret in policy + published]
