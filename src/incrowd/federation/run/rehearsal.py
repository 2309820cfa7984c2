"""A rehearsal: a whole run among hospitals on one machine, one real process for each file.

Kits, certificates, messages and checks are those of a real run; only the network is this machine's.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import re
import shutil
import socket
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from incrowd._runtime.scratch import scratch
from incrowd.counts.hospitals.home import Opened
from incrowd.errors import FederationError, IncrowdError, InputError, OutputError, ParameterError
from incrowd.federation.membership.agreed_sessions import TWO_PARTIES
from incrowd.federation.membership.consortium import MOST_PARTIES
from incrowd.federation.membership.kits import make_kits
from incrowd.federation.protocols.secret_shares import threshold_of
from incrowd.federation.run._processes import Hospital, TellLine, run_together
from incrowd.policy import Policy
from incrowd.sources import as_source

if TYPE_CHECKING:
    from incrowd.publish.difference import Difference
    from incrowd.verify import Verdict

_HOST = "127.0.0.1"
_LONGEST_NAME = 40
_RELEASE = "release"


@dataclass(frozen=True)
class HospitalRun:
    """How the run went for one hospital."""

    name: str
    leads: bool
    records: int
    """Its own."""
    sent: int
    """Bytes of messages."""
    received: int
    sums: int
    seconds: float


@dataclass(frozen=True)
class Rehearsal:
    """A run that went well at every hospital, with the same release everywhere."""

    folder: Path
    verdict: Verdict
    parts: tuple[HospitalRun, ...]
    records: int
    """Of all hospitals together."""
    steps: int
    opened: Opened
    """What was opened beside the release."""
    transcript: str
    kept: Path | None
    """Where kits, releases, shares and logs of all hospitals are, if they were to be kept."""
    replaced: Difference | None = None
    """How the release differs from the one that it replaced, where it did."""


def rehearse(
    policy: str | Path,
    files: Sequence[str | Path],
    output: str | Path | None = None,
    *,
    replace: bool = False,
    sums: Literal["masked", "ring"] = "masked",
    allow_two: bool = False,
    keep: bool = False,
    timeout: float | None = None,
    log: TellLine = lambda _name, _line: None,
) -> Rehearsal:
    """Run a joint release on this machine, one process for each hospital's file.

    Parameters
    ----------
    policy
        The policy file; see `check_policy`.
    files
        The records of each hospital. The first one leads.
    output
        Where the release goes; as the policy says when left out.
    replace
        Whether a release that is there now may be replaced; else that is an OutputError.
    sums, allow_two
        As for `make_kits`.
    keep
        Keep what every hospital has afterwards, in a folder beside the output.
    timeout
        How long one hospital may take for one answer, in seconds.
    log
        Takes the lines that the processes write: the hospital's name, the line.

    Raises
    ------
    InputError
        When the policy, the files or the output will not do; nothing was started.
    FederationError
        When a hospital fails; the message names it and says what it said. Nothing is left then.
    VerificationError
        When the judge, asked once more, finds a promise broken or left open. Nothing is left then.

    Notes
    -----
    Every hospital is a process with its own records in memory, so all files together must fit.
    Whatever ends the rehearsal ends all processes. It is one person's, on one machine: no ledger of
    earlier runs is read, and what the processes write into one is forgotten with them.
    """
    from incrowd.federation.run._own_records import shared_part
    from incrowd.federation.run.fitness import check_hospitals, check_policy
    from incrowd.pipeline import place_for_release
    from incrowd.publish.folder import staged
    from incrowd.publish.last_look import judged, last_look
    from incrowd.sources.source_guard import Watch

    wanted = Policy.from_file(policy)
    check_policy(wanted)
    sources = _checked_files(files, allow_two)
    if wanted.hospitals.level == "joint":
        threshold_of(len(sources))  # refuses too few
    check_hospitals(wanted, len(sources))
    output = Path(output) if output is not None else wanted.base / wanted.output
    shared = shared_part(wanted)
    places = [
        place_for_release(Watch(as_source(path)), output, shared, replace=replace)
        for path in sources
    ]
    place = places[0]
    kept = _free_folder(place.folder.with_name(f"{place.folder.name}-rehearsal")) if keep else None
    names = party_names([path.stem for path in sources])
    with scratch("rehearsal") as created:
        work = created / "hospitals"
        work.mkdir(mode=0o700)
        forgotten = {"INCROWD_STATE": str(created / "state")}
        address = f"{_HOST}:{_free_port()}"
        records = _records(names, sources, wanted)
        make_kits(
            work / "kits", names, policy, address, sums=sums, allow_two=allow_two, records=records
        )
        with staged(place) as stage:
            hospitals = [
                _hospital(work, name, path, address if name == names[0] else None, timeout)
                for name, path in zip(names, sources, strict=True)
            ]
            told = run_together(hospitals, log, environment=forgotten)
            require_same({name: work / name / _RELEASE for name in names}, told)
            for path in sorted((work / names[0] / _RELEASE).iterdir()):
                shutil.copyfile(path, stage / path.name)
            verdict = dataclasses.replace(judged(stage), folder=output)
            replaced = last_look(place, stage)
            for each in places[1:]:
                each.check()
        if kept is not None:
            shutil.copytree(work, kept)
    first = told[names[0]]
    return Rehearsal(
        folder=output,
        verdict=verdict,
        parts=tuple(_part(name, told[name], leads=name == names[0]) for name in names),
        records=first["records"],
        steps=first["steps"],
        opened=Opened(first["opened"]["counts"], first["opened"]["small"]),
        transcript=first["transcript"],
        kept=kept,
        replaced=replaced,
    )


def _free_folder(folder: Path) -> Path:
    if folder.exists():
        raise OutputError(f"The folder '{folder}' exists. Remove it, or rehearse without keeping.")
    return folder


def party_names(stems: Sequence[str]) -> list[str]:
    """Names of hospitals, legal and each once, from the names of their files.

    Example
    -------
    >>> party_names(["north", "North", "St. Anna (2024)", "---"])
    ['north', 'North 2', 'St. Anna -2024', 'hospital']
    """
    names: list[str] = []
    for stem in stems:
        text = re.sub(r"[^\w .-]", "-", unicodedata.normalize("NFC", stem))
        base = _trimmed(text) or "hospital"
        name, number = base, 1
        while name.casefold() in {each.casefold() for each in names}:
            number += 1
            name = f"{_trimmed(base[: _LONGEST_NAME - len(str(number)) - 1])} {number}"
        names.append(name)
    return names


def require_same(folders: Mapping[str, Path], told: Mapping[str, Mapping[str, Any]]) -> None:
    """Fail unless all hospitals saw the same messages and hold the same release, byte for byte."""
    first, *others = folders
    for name in others:
        if told[name]["transcript"] != told[first]["transcript"]:
            raise FederationError(
                f"{name} has not seen the same messages as {first}. Nothing was written."
            )
        if _digests(folders[name]) != _digests(folders[first]):
            raise FederationError(
                f"The release of {name} is not the one of {first}, byte for byte. Nothing was "
                "written."
            )


def _trimmed(text: str) -> str:
    """A text that begins and ends with a letter or digit, and is not too long for a name."""
    text = re.sub(r"^[^\w]+", "", text)[:_LONGEST_NAME]
    return re.sub(r"[^\w]+$", "", text)


def _checked_files(files: Sequence[str | Path], allow_two: bool) -> list[Path]:
    """The files of the hospitals, once there are enough of them and none is named twice."""
    paths = [Path(file) for file in files]
    if len(paths) < 2:
        raise ParameterError("A rehearsal needs a file for each of at least two hospitals.")
    if len(paths) > MOST_PARTIES:
        raise ParameterError(f"A consortium has at most {MOST_PARTIES} hospitals.")
    if len(paths) == 2 and not allow_two:
        raise ParameterError(f"{TWO_PARTIES}. Allow it with --allow-two to go on nevertheless.")
    for path in paths:
        if not path.is_file():
            raise InputError(f"There is no file '{path}'.")
    if len({path.resolve() for path in paths}) < len(paths):
        raise InputError("A file is named twice: every hospital has its own records.")
    return paths


def _records(names: Sequence[str], sources: Sequence[Path], policy: Policy) -> dict[str, int]:
    """How many records each hospital has, as they enter a run, for the consortium file.

    Of a file that cannot be read there is none: its own process tells what is wrong with it.
    """
    from incrowd.federation.run._own_records import read_own

    found = {}
    for name, source in zip(names, sources, strict=True):
        with contextlib.suppress(IncrowdError):
            found[name] = read_own(as_source(source), policy).table.records
    return found


def _hospital(
    work: Path, name: str, source: Path, listen: str | None, timeout: float | None
) -> Hospital:
    """The process of one hospital: what a person there would type."""
    own = work / name
    own.mkdir(mode=0o700)
    arguments = ["federation", "join" if listen is None else "lead", str(work / "kits" / name)]
    arguments += ["--data", str(source.resolve()), "--output", str(own / _RELEASE)]
    arguments += ["--share", str(own / "share.csv"), "--log", str(own / "run.log"), "--json"]
    if listen is not None:
        arguments += ["--listen", listen]
    if timeout is not None:
        arguments += ["--timeout", f"{timeout:g}"]
    return Hospital(name, arguments, own / "result.json")


def _free_port() -> int:
    """A port that nobody listens at; the kits name it, so it is found before the leader starts."""
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        port: int = probe.getsockname()[1]
    return port


def _digests(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file of a release."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _part(name: str, told: Mapping[str, Any], *, leads: bool) -> HospitalRun:
    return HospitalRun(
        name=name,
        leads=leads,
        records=told["own_records"],
        sent=told["sent"],
        received=told["received"],
        sums=told["sums"],
        seconds=told["seconds"],
    )
