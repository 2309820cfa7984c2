"""Whole runs of three hospitals: each types its command in a process of its own, over TLS."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import polars as pl
import yaml
from federation_actors import BOUND, free_port, give_up_on, started
from joint_tables import PARTIES, surgeries

import incrowd
from incrowd.federation.membership.kits import make_kits
from incrowd.federation.transport.client import Line

NAMES = "ABC"
PATIENTS = [
    "Adalbert Quirin", "Bertha Ypsilanti", "Cosimo Zwack", "Dorothea Jankel", "Egbert Vondracek",
    "Frieda Xylander", "Gottlob Nepomuk", "Hedwig Oberholz", "Ignaz Pfundmair", "Jolanthe Kwast",
    "Korbinian Uhl",
]  # fmt: skip
"""Names of the patients: raw values that no policy lists."""
WARDS = [f"Ward-{number:04d}" for number in range(7001, 7012)]
"""A column without a role."""


@dataclass(frozen=True)
class Role:
    """What one hospital types in a run, where it leaves its traces, and what else it does."""

    name: str
    kit: Path
    data: Path
    home: Path
    """Where release and share go; empty before a run."""
    traces: Path
    deed: str = ""
    """What goes wrong with it; see `DEEDS`."""
    address: str | None = None
    timeout: float = 120.0
    joining: float = 300.0
    reconnect: float = 300.0
    gives_up: str = ""
    """The only hospital for which a leader's time runs out, once its trace `gone` is there."""

    @property
    def release(self) -> Path:
        return self.home / "release"

    @property
    def share(self) -> Path:
        return self.home / "share.csv"

    def trace(self, kind: str) -> Path:
        return self.traces / f"{self.name}.{kind}"

    @property
    def stderr(self) -> str:
        path = self.trace("stderr")
        return path.read_text(encoding="utf-8") if path.exists() else ""

    @property
    def log(self) -> str:
        path = self.trace("log")
        return path.read_text(encoding="utf-8") if path.exists() else ""

    @property
    def last_words(self) -> str:
        return (self.stderr.strip().splitlines() or [""])[-1]

    @property
    def command(self) -> list[str]:
        leads = self.name == NAMES[0]
        words = ["federation", "lead" if leads else "join", str(self.kit), "--json"]
        words += ["--data", str(self.data), "-o", str(self.release), "--share", str(self.share)]
        words += ["--log", str(self.trace("log"))]
        words += ["--timeout", f"{self.timeout:g}", "--joining", f"{self.joining:g}"]
        if self.address is not None:
            words += ["--listen" if leads else "--address", self.address]
        return words


def act(role: Role) -> None:
    """The process of a hospital: the command line, once a deed has changed what it does."""
    from whole_run_deeds import DEEDS

    from incrowd.cli import main
    from incrowd.cli.commands import federation as federating

    for number, kind in ((1, "json"), (2, "stderr")):
        os.dup2(os.open(role.trace(kind), os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    usual = federating._limits
    federating._limits = lambda *asked: replace(usual(*asked), reconnect=role.reconnect)
    os.environ["INCROWD_STATE"] = str(role.traces.parent / f"state-{role.name}")
    if role.gives_up:
        give_up_on(role.gives_up, (role.traces / f"{role.gives_up}.gone").exists)
    dialling = Line._dialling
    Line._dialling = lambda self: _patient(dialling(self))  # type: ignore[method-assign]
    if role.deed:
        DEEDS[role.deed](role)
    sys.argv = ["incrowd", *role.command]
    main()


def _patient(client: httpx.Client) -> httpx.Client:
    """A client with time to connect, also where `reconnect` is short."""
    client.timeout = Role.timeout
    return client


class Hospitals:
    """A consortium of three hospitals with their records, and the processes of its runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.address = f"127.0.0.1:{free_port()}"
        self.kits = folder / "kits"
        self.data = folder / "records"
        self.data.mkdir()
        for name, part in records().items():
            part.write_csv(self.data / f"{name}.csv")
            (folder / name).mkdir()
        (folder / "policy.yaml").write_text(yaml.safe_dump(policy()), encoding="utf-8")
        make_kits(self.kits, list(NAMES), folder / "policy.yaml", self.address)
        self._runs = 0
        self._started: list[Any] = []

    def roles(self, **changes: Any) -> dict[str, Role]:
        """The three hospitals of a new run; a change is a deed, or fields of a role."""
        self._runs += 1
        traces = self.folder / f"run-{self._runs}"
        traces.mkdir()
        roles = {}
        for name in NAMES:
            role = Role(
                name=name,
                kit=self.kits / name,
                data=self.data / f"{name}.csv",
                home=self.folder / name,
                traces=traces,
                address=self.address if name == NAMES[0] else None,
            )
            change = changes.get(name, {})
            roles[name] = replace(role, **({"deed": change} if isinstance(change, str) else change))
        return roles

    def start(self, role: Role) -> Any:
        self._started.append(started(act, role, name=role.name))
        return self._started[-1]

    def run(self, *, waits_for: str = NAMES, **changes: Any) -> Run:
        """Run until the named hospitals have ended."""
        roles = self.roles(**changes)
        processes = {name: self.start(role) for name, role in roles.items()}
        run = Run(roles, processes)
        run.wait(waits_for)
        return run

    def runs_well(self) -> None:
        """The same kits run to the end, to the table of the pooled records, and nothing else."""
        run = self.run()
        assert run.codes == dict.fromkeys(NAMES, 0), {n: r.stderr for n, r in run.roles.items()}
        manifests, told = set(), {}
        for name, role in run.roles.items():
            assert (role.release / "data.csv").read_bytes() == pooled_bytes(), name
            assert incrowd.verify(role.release).holds
            manifests.add((role.release / "manifest.json").read_bytes())
            told[name] = json.loads(role.trace("json").read_text(encoding="utf-8"))
            assert pl.read_csv(role.share).height == told[name]["own_records"]
            assert sorted(each.name for each in role.home.iterdir()) == ["release", "share.csv"]
        assert len(manifests) == 1
        assert len({each["transcript"] for each in told.values()}) == 1

    def close(self) -> None:
        for process in self._started:
            if process.is_alive():
                process.kill()
            process.join()
            process.close()


class Run:
    """One run: its roles and processes, and how they ended."""

    def __init__(self, roles: dict[str, Role], processes: dict[str, Any]) -> None:
        self.roles = roles
        self.processes = processes

    def wait(self, names: str) -> None:
        end = time.monotonic() + BOUND
        for name in names:
            self.processes[name].join(max(0.0, end - time.monotonic()))

    @property
    def codes(self) -> dict[str, int | None]:
        """The exit codes; None for a process that has not ended."""
        return {name: process.exitcode for name, process in self.processes.items()}

    def stopped(self, cause: str, names: str = NAMES, **codes: int) -> None:
        """All ended, with exit code 3 unless told; the named say the cause; nobody has anything."""
        told = {name: role.stderr for name, role in self.roles.items()}
        assert self.codes == {**dict.fromkeys(NAMES, 3), **codes}, told
        for name in names:
            words = self.roles[name].last_words
            assert words.startswith("error: "), (name, told)
            assert cause in words, (name, told)
            assert words in self.roles[name].log, (name, self.roles[name].log)
        self.has_nothing()

    def has_nothing(self, names: str = NAMES) -> None:
        """No release, no part of one, no share, hidden or not, and no result."""
        for name in names:
            role = self.roles[name]
            assert list(role.home.iterdir()) == [], name
            path = role.trace("json")
            assert not path.exists() or path.read_text(encoding="utf-8") == "", name


def policy() -> dict[str, Any]:
    """The paper's example; identifiers and columns without a role are left out."""
    made = surgeries(other="drop")
    made["attributes"]["Name"] = "identifier"
    return made


def records() -> dict[str, pl.DataFrame]:
    """The records of the hospitals A, B and C of the paper, with the names of patients."""
    made, begin = {}, 0
    for name, part in zip(NAMES, PARTIES, strict=True):
        end = begin + part.height
        names = [pl.Series("Name", PATIENTS[begin:end]), pl.Series("Ward", WARDS[begin:end])]
        made[name] = part.with_columns(names)
        begin = end
    return made


@cache
def pooled_bytes() -> bytes:
    """The published file of the pooled records."""
    release = incrowd.anonymize(pl.concat(records().values()), policy())
    with tempfile.TemporaryDirectory() as folder:
        release.save(Path(folder, "pooled"))
        return Path(folder, "pooled", "data.csv").read_bytes()
