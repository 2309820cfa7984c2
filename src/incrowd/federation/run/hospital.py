"""A run at one hospital, from its own file to the release that all hospitals publish."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incrowd._runtime.progress import Progress, silent
from incrowd.counts.hospitals.home import Opened
from incrowd.errors import EngineError, FederationError, InputError
from incrowd.federation.membership.agreed_records import refuse_other_number
from incrowd.federation.membership.kits import Kit
from incrowd.federation.membership.ledgers import Ledger
from incrowd.federation.run._history import History
from incrowd.federation.run._joint_table import Made, make
from incrowd.federation.run._own_records import read_own
from incrowd.federation.run.fitness import check_policy
from incrowd.federation.run.places import Places, staged_share
from incrowd.federation.session.meetings import Ended, LeadersMeeting, Meeting, PartysMeeting
from incrowd.federation.session.session import terms_of
from incrowd.federation.transport.messages import STOPPED
from incrowd.federation.transport.rounds import Log
from incrowd.federation.transport.terms import Terms, TimeLimits, need_libraries
from incrowd.publish.difference import Difference
from incrowd.sources import SourceLike, as_source
from incrowd.verify import Verdict


@dataclass(frozen=True)
class Joint:
    """How a run ended for one hospital."""

    folder: Path
    """The release, the same bytes at every hospital."""
    share: Path
    """A CSV file: the hospital's own records as the release shows them. Never published."""
    verdict: Verdict
    hospitals: int
    records: int
    """Of all hospitals together."""
    own_records: int
    steps: int
    sums: int
    """How many answers were opened: sums, and marks or bits where no count was needed."""
    opened: Opened
    """How many counts were opened beside the release, and how many of them of small crowds."""
    transcript: str
    """The digest of all public messages; the same at every hospital."""
    sent: int
    """Bytes of messages, without TLS and HTTP."""
    received: int
    seconds: float
    replaced: Difference | None = None
    """How the release differs from the one that it replaced, where it did."""
    remarks: tuple[str, ...] = ()
    """What the people of this hospital should know of its own records; no cell is in it."""


def lead(
    kit: Kit,
    source: SourceLike,
    output: str | Path,
    *,
    share: Path | None = None,
    replace: bool = False,
    limits: TimeLimits | None = None,
    log: Log | None = None,
    progress: Progress = silent,
    state: str | Path | None = None,
    again: bool = False,
    listen_at: str | None = None,
) -> Joint:
    """Lead a run with the own records, and write the release.

    Parameters
    ----------
    kit
        The leader's kit.
    source
        The own records: a file, a frame or a database URL.
    output
        The folder of the release. It appears at the end, verified, or not at all.
    share
        Where the own records go as the release shows them; `OUTPUT-share.csv` when left out.
    replace
        Whether a release that is there now, with the own share of it, may be replaced; else that
        is an OutputError, before anything is sent.
    limits, log, listen_at
        As for `Leader`.
    progress
        Called with (stage, done, whole) as the work goes on.
    state
        The folder of the ledger of this hospital's runs; the user's own when left out.
    again
        Whether to take part although an earlier run under another policy showed these records, so
        that nobody judges what both show together; else that is an InputError.

    Raises
    ------
    InputError
        When something here will not do, before anything is sent: among others a number of records
        that was not agreed, or an earlier run with other members to which not all consented.
    FederationError
        When the run was stopped, here or elsewhere; the message names who and why.

    Example
    -------
    ::

        joint = lead(load_kit("kits/North"), "north.csv", "release")
        joint.verdict.holds
    """
    need_libraries()

    def meeting(terms: Terms) -> Meeting:
        return LeadersMeeting(kit, terms, limits=limits, log=log, listen_at=listen_at)

    places = Places(Path(output), share, replace)
    return _run(kit, source, places, meeting, progress, log or _unheard, state, again)


def join(
    kit: Kit,
    source: SourceLike,
    output: str | Path,
    *,
    share: Path | None = None,
    replace: bool = False,
    limits: TimeLimits | None = None,
    log: Log | None = None,
    progress: Progress = silent,
    state: str | Path | None = None,
    again: bool = False,
    address: str | None = None,
    proxy: str | None = None,
) -> Joint:
    """Join a run with the own records, and write the release, the same as at all hospitals.

    Parameters
    ----------
    kit
        The hospital's kit.
    source, output, share, replace, progress, state, again
        As for `lead`.
    limits, log, address, proxy
        As for `serve`.

    Raises
    ------
    FederationError
        When the run was stopped, here or elsewhere; the message names who and why.
    """
    need_libraries()

    def meeting(terms: Terms) -> Meeting:
        return PartysMeeting(kit, terms, limits=limits, log=log, address=address, proxy=proxy)

    places = Places(Path(output), share, replace)
    return _run(kit, source, places, meeting, progress, log or _unheard, state, again)


def _run(
    kit: Kit,
    source: SourceLike,
    places: Places,
    meet: Callable[[Terms], Meeting],
    progress: Progress,
    log: Log,
    state: str | Path | None,
    again: bool,
) -> Joint:
    begun = time.perf_counter()
    check_policy(kit.policy)
    given = as_source(source)
    place = places.checked(given, kit.policy)
    progress("reading", 0, 1)
    own = read_own(place.watch or given, kit.policy)
    refuse_other_number(kit, own.table.records)
    history = History(kit, own, Ledger(state), again=again)
    for line in history.checked():
        log(line)
    ended: list[Ended] = []
    with _in_a_run(kit.name), meet(terms_of(kit, own.layout)) as meeting:
        made = make(
            own,
            meeting,
            progress,
            agreed=kit.consortium.records,
            opened=history.begin,
            earlier=history.earlier,
            showing=history.show,
        )

        def confirm(manifest: dict[str, Any]) -> None:
            ended.append(meeting.finish(_last_word(made, manifest)))

        with staged_share(made.share, places.share):
            verdict = made.release.save(place, confirm=confirm)
    end = ended[0]
    try:
        history.end(end.transcript)
    except InputError as error:  # the run is over and counts in any case
        log(f"history: the run stays noted as stopped. {error}")
    return Joint(
        places.output,
        places.share,
        verdict,
        meeting.hospitals,
        made.records,
        own.table.records,
        made.steps,
        end.answers,
        made.opened,
        end.transcript,
        end.sent,
        end.received,
        time.perf_counter() - begun,
        made.release.replaced,
        made.release.remarks,
    )


def _unheard(_line: str) -> None:
    """Where nobody keeps a log."""


@contextmanager
def _in_a_run(name: str) -> Iterator[None]:
    """Whatever fails once others take part is a failure of the run, and told as such."""
    try:
        yield
    except FederationError:
        raise
    except (InputError, EngineError) as error:
        raise FederationError(f"{STOPPED}{name} stopped: {error}") from error


def _last_word(made: Made, manifest: dict[str, Any]) -> dict[str, Any]:
    """What all hospitals must have come to: the same files, and the same manifest."""
    return {
        "steps": made.steps,
        "files": {name: told["sha256"] for name, told in manifest["files"].items()},
        "manifest": manifest["digest"],
    }
