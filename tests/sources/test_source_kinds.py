"""A kind of source from outside the package goes all ways that the kinds of the package go."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import incrowd
from incrowd._runtime.registry import Registry
from incrowd.cli.app import app
from incrowd.engines.choice import choose
from incrowd.engines.policy_check import check
from incrowd.errors import EngineError, InputError, OutputError, PolicyError, SourceError
from incrowd.policy import Policy
from incrowd.policy.reach import source_of
from incrowd.profiling import profile
from incrowd.serve.workspace.workspace import Workspace
from incrowd.sources import as_source, read, source
from incrowd.sources.duckdb_files import Duckdb
from incrowd.sources.frames import Frame
from incrowd.sources.paths import Files
from incrowd.sources.postgresql import Postgresql
from incrowd.sources.source import KINDS
from incrowd.sources.source_guard import Watch
from incrowd.sources.sqlite import Sqlite

TOY = '''
from pathlib import Path

import polars as pl

from incrowd.errors import SourceError
from incrowd.sources import Source
from incrowd.sources.columns import tidy
from incrowd.sources._databases import Database
from incrowd.sources.paths import PathSource
from incrowd.sources.plain_paths import plain_path


class Ward(Source):
    """Patients of a ward, one in a line, as in `toy://ward.toy`."""

    kind = "toy"
    schemes = ("toy",)

    def __init__(self, given):
        self._file = given.removeprefix("toy://")

    @property
    def label(self):
        return Path(self._file).name

    @property
    def path(self):
        return Path(self._file)

    def frames(self, wanted):
        lines = self.path.read_text().splitlines()
        if not lines:
            raise SourceError(f"{self.label} has no patients.")
        for begin in range(0, len(lines), 25):
            cells = [line.split() for line in lines[begin : begin + 25]]
            yield tidy(pl.DataFrame(cells, ["age", "sex", "disease"], orient="row"), self.label)

    def named(self, change):
        return f"toy://{change(self._file)}"

    def refuse_in_policy(self):
        plain_path(self._file)


class Bed(Source):
    """Patients in Python."""

    kind = "bed"

    def __init__(self, given):
        self._given = given

    @classmethod
    def takes(cls, given):
        return isinstance(given, tuple) and given[:1] == ("bed",)

    label = "a bed"

    def frames(self, wanted):
        yield tidy(pl.DataFrame({"age": self._given[1:]}), self.label)


class Leaves(PathSource):
    """Patients in a file with an ending of its own."""

    kind, endings = "leaves", (".leaves",)
    frames = Ward.frames


class Far(Database):
    """Patients on a network."""

    kind, schemes, dialect = "far", ("far",), "postgresql"

    def fetch(self, query):
        raise AssertionError("asked, though nobody but a policy named it")
'''
ENTRIES = (
    "[incrowd.sources]\ntoy = toy_ward:Ward\nbed = toy_ward:Bed\nfar = toy_ward:Far\n"
    "leaves = toy_ward:Leaves\n"
)
ASKED = {
    "attributes": {"age": "quasi", "sex": "quasi", "disease": "sensitive"},
    "privacy": [{"k-anonymity": {"k": 5}}],
}


def install(folder: Path, entries: str) -> Path:
    """A package that is installed there, as far as Python can tell."""
    (folder / "toy_ward-1.dist-info").mkdir(parents=True)
    (folder / "toy_ward-1.dist-info" / "METADATA").write_text("Name: toy-ward\nVersion: 1\n")
    (folder / "toy_ward-1.dist-info" / "entry_points.txt").write_text(entries)
    (folder / "toy_ward.py").write_text(TOY)
    return folder


@pytest.fixture
def _installed(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    monkeypatch.syspath_prepend(install(tmp_path / "site", getattr(request, "param", ENTRIES)))
    anew: Registry[Any] = Registry("source", "incrowd.sources", "incrowd.sources", source._declared)
    monkeypatch.setattr(source, "KINDS", anew)
    yield
    sys.modules.pop("toy_ward", None)


@pytest.fixture
def ward(tmp_path: Path) -> Path:
    path = tmp_path / "ward.toy"
    lines = [f"{20 + n % 30} {'MF'[n % 2]} {('Flu', 'HIV')[n % 2]}\n" for n in range(60)]
    path.write_text("".join(lines))
    return path


def test_every_kind_of_the_package_is_found_in_its_own_file() -> None:
    assert set(KINDS) >= {"duckdb", "files", "frame", "postgresql", "spark-frame", "sqlite"}
    for given, kind in (
        ("a.csv", Files),
        (Path("folder"), Files),
        ("sqlite:///a.db", Sqlite),
        ("duckdb:///a.duckdb", Duckdb),
        ("postgres://host/db", Postgresql),
        (pl.DataFrame({"a": [1]}), Frame),
        (pl.LazyFrame({"a": [1]}), Frame),
        (None, Frame),
    ):
        found = as_source(given)
        assert type(found) is kind
        assert as_source(found) is found


@pytest.mark.usefixtures("_installed")
def test_a_foreign_kind_is_read_as_others_are(ward: Path) -> None:
    frame = read(f"toy://{ward}", columns=["sex", "age"])
    assert frame.columns == ["sex", "age"]
    assert frame.height == 60
    assert read(("bed", 30, 40))["age"].to_list() == [30, 40]
    found = profile(f"toy://{ward}")
    assert (found.source, found.records) == ("ward.toy", 60)
    with pytest.raises(SourceError, match=r"needs a database, but ward\.toy is none"):
        read(f"toy://{ward}", query="SELECT 1")
    with pytest.raises(incrowd.errors.ParameterError, match=r"and ward\.toy is none"):
        read(f"toy://{ward}", separator=";")
    with pytest.raises(SourceError, match=r"No column 'agee' in ward\.toy"):
        read(f"toy://{ward}", columns=["agee"])


@pytest.mark.usefixtures("_installed")
def test_a_foreign_kind_goes_from_a_starting_policy_to_a_verified_release(
    ward: Path, tmp_path: Path
) -> None:
    (tmp_path / "policies").mkdir()
    policy, release = tmp_path / "policies" / "ward.yaml", tmp_path / "release"

    def run(*command: str) -> None:
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output

    run("init", f"toy://{ward}", "-o", str(policy))
    assert 'source: "toy://../ward.toy"\n' in policy.read_text()
    run("anonymize", str(policy), "-o", str(release))
    run("verify", str(release), "--original", f"toy://{ward}")
    assert pl.read_csv(release / "data.csv").height >= 58
    run("anonymize", str(policy), "-o", str(release), "--source", f"toy://{ward}", "--replace")
    run("risk", f"toy://{ward}", "--quasi", "age,sex")
    left = check(Policy.from_file(policy)).unchecked
    assert left == ("whether the columns and values of ward.toy fit: only a run opens it",)


@pytest.mark.usefixtures("_installed")
def test_a_foreign_kind_is_watched_measured_and_kept_from_the_output(
    ward: Path, tmp_path: Path
) -> None:
    given = f"toy://{ward}"
    small = Policy.from_mapping({**ASKED, "memory": "1KB"})
    assert choose(small, as_source(given)).name == "duckdb"
    release = incrowd.anonymize(given, {**ASKED, "memory": "1KB"})
    assert sorted(incrowd.anonymize(given, ASKED).data.rows()) == sorted(release.data.rows())
    with pytest.raises(OutputError, match="source"):
        release.save(ward)
    watch = Watch(as_source(given))
    watch.check()
    with ward.open("a") as file:
        file.write("50 M Flu\n")
    told = r"ward\.toy was changed while the source was worked on"
    with pytest.raises(EngineError, match=told):
        watch.check()
    with pytest.raises(EngineError, match=told):
        release.save(tmp_path / "release")
    assert not (tmp_path / "release").exists()


@pytest.mark.usefixtures("_installed")
def test_a_file_of_a_foreign_kind_is_taken_from_the_page(ward: Path, tmp_path: Path) -> None:
    own = ward.rename(tmp_path / "ward.leaves")
    assert read(own).height == 60
    (tmp_path / "served").mkdir()
    with Workspace(tmp_path / "served", limit=100_000, at_once=1) as workspace:
        with workspace.receive("ward.leaves") as upload:
            upload.write(own.read_bytes())
            assert upload.path.name == "ward.leaves"
        with pytest.raises(SourceError, match=r"\.parquet and \.pq, \.leaves\."):
            workspace.receive("ward.roots")


@pytest.mark.usefixtures("_installed")
def test_a_policy_opens_no_foreign_kind_that_does_not_say_how() -> None:
    with pytest.raises(PolicyError, match="connects to nothing"):
        source_of(Policy.from_mapping({**ASKED, "source": "far://host/db", "query": "patients"}))
    with pytest.raises(PolicyError, match="no address on a network"):
        Policy.from_mapping({**ASKED, "source": "toy:////host/share/ward.toy"})
    bed = as_source(("bed", 30, 40))
    assert bed.in_policy() is None
    with pytest.raises(ValueError, match="a kind that no policy names"):
        bed.refuse_in_policy()


@pytest.mark.parametrize(
    ("_installed", "told"),
    [
        ("[incrowd.sources]\nsqlite = toy_ward:Ward\n", "'sqlite' that 'toy-ward' registers has a"),
        ("[incrowd.sources]\ntoy = toy_ward:Bed\n", "'toy' that 'toy-ward' registers is not one"),
        ("[incrowd.sources]\ntoy = toy_ward:Gone\n", "'toy' that 'toy-ward' registers cannot be"),
    ],
    indirect=["_installed"],
)
@pytest.mark.usefixtures("_installed")
def test_a_foreign_kind_that_is_broken_is_told_with_its_package(told: str) -> None:
    assert type(as_source("sqlite:///a.db")) is Sqlite
    with pytest.raises(InputError, match=told):
        as_source("toy://ward.toy")


def test_a_foreign_kind_is_found_by_the_program_that_is_installed(
    ward: Path, tmp_path: Path
) -> None:
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from incrowd.cli import main; main()"
    site = install(tmp_path / "site", ENTRIES)
    command = [sys.executable, "-c", code, str(site), "init", "toy://ward.toy", "-o", "ward.yaml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert 'source: "toy://ward.toy"' in (tmp_path / "ward.yaml").read_text()
