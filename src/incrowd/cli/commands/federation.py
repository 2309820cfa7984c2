"""Commands of a run among hospitals: lead, join, rehearse."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from incrowd.cli.app import OutputOptions, Replace, app
from incrowd.cli.commands._enrolment import SumOptions, federation_app
from incrowd.errors import IncrowdError, InputError, OutputError

if TYPE_CHECKING:
    from incrowd.federation.membership.kits import Kit
    from incrowd.federation.run.hospital import Joint
    from incrowd.federation.transport.terms import TimeLimits
    from incrowd.sources import Source

app.add_typer(federation_app, name="federation")

_KitFolder = Annotated[Path, typer.Argument(help="The folder (kit) of this hospital.")]
_ReleaseFolder = Annotated[
    Path | None, typer.Option("--output", "-o", help="The release folder; `output:` if left out.")
]
_Timeout = Annotated[
    float | None,
    typer.Option("--timeout", help="Seconds that one answer may take; 120 when left out."),
]


@dataclass(frozen=True)
class _PartOptions:
    """What a hospital brings, and where its release goes."""

    data: Annotated[
        str | None,
        typer.Option("--data", help="Its own records; the policy's `source:` when left out."),
    ] = None
    output: _ReleaseFolder = None
    replace: Replace = False
    again: Annotated[
        bool,
        typer.Option(
            "--again", help="Although an earlier run under another policy showed these records."
        ),
    ] = False


@dataclass(frozen=True)
class _RunOptions:
    """How long a run waits, and what is kept of it beside the release."""

    share: Annotated[
        Path | None,
        typer.Option("--share", help="A CSV for the own records as the release shows them."),
    ] = None
    timeout: _Timeout = None
    joining: Annotated[
        float | None,
        typer.Option("--joining", help="Seconds to wait until all are there; 600 when left out."),
    ] = None
    log_file: Annotated[
        Path | None, typer.Option("--log", help="A file that takes the lines of the log, too.")
    ] = None


@federation_app.command(epilog="Example: incrowd federation lead kits/North --data north.csv")
def lead(
    kit: _KitFolder,
    *,
    part: _PartOptions,
    listen: Annotated[
        str | None,
        typer.Option("--listen", help="host:port to listen at, if not all addresses."),
    ] = None,
    course: _RunOptions,
    shown: OutputOptions,
) -> None:
    """Lead a run: wait for the other hospitals, then make the release together with them."""
    from incrowd.federation.run.hospital import lead as run

    _take_part(kit, part, course, shown, run, listen_at=listen)


@federation_app.command(epilog="Example: incrowd federation join kits/South --data south.csv")
def join(
    kit: _KitFolder,
    *,
    part: _PartOptions,
    address: Annotated[
        str | None,
        typer.Option("--address", help="Where the leader is, if not as the kit says: host:port."),
    ] = None,
    proxy: Annotated[
        str | None,
        typer.Option("--proxy", help="A web proxy on the way out: http://proxy.example.org:3128."),
    ] = None,
    course: _RunOptions,
    shown: OutputOptions,
) -> None:
    """Join a run: find the leader, wait, then make the release together with the others."""
    from incrowd.federation.run.hospital import join as run

    _take_part(kit, part, course, shown, run, address=address, proxy=proxy)


@federation_app.command(
    epilog="Example: incrowd federation rehearse policy.yaml north.csv south.csv west.csv"
)
def rehearse(
    policy: Annotated[Path, typer.Argument(help="The policy (YAML).")],
    files: Annotated[
        list[Path], typer.Argument(help="The records of each hospital; the first one leads.")
    ],
    *,
    output: _ReleaseFolder = None,
    replace: Replace = False,
    keep: Annotated[
        bool,
        typer.Option("--keep", help="Keep kits, shares and logs, in a folder beside the release."),
    ] = False,
    adding: SumOptions,
    timeout: _Timeout = None,
    shown: OutputOptions,
) -> None:
    """Do it all on this machine: kits, and one process for each hospital's file."""
    from incrowd.cli.output.federation import HospitalLines, rehearsal_summary, show_rehearsal
    from incrowd.federation.run.rehearsal import party_names
    from incrowd.federation.run.rehearsal import rehearse as run
    from incrowd.policy import Policy

    with _ends_when_asked():
        made = run(
            policy,
            files,
            output,
            replace=replace,
            **vars(adding),
            keep=keep,
            timeout=timeout,
            log=HospitalLines(party_names([path.stem for path in files]), shown),
        )
    if made.replaced is not None:
        shown.message(made.replaced.sentence())
    if not shown.result(rehearsal_summary(made)):
        show_rehearsal(made, Policy.from_file(policy), shown)


def _take_part(
    folder: Path,
    part: _PartOptions,
    course: _RunOptions,
    shown: OutputOptions,
    run: Callable[..., Joint],
    **way: str | None,
) -> None:
    """Run this hospital's part from its kit to its result."""
    from incrowd.cli.output.federation import ending, joint_summary, show_joint, who_sees_what
    from incrowd.federation.membership.kits import load_kit
    from incrowd.federation.protocols.secret_shares import need_sharing
    from incrowd.federation.run.fitness import check_policy
    from incrowd.federation.run.places import Places

    limits = _limits(course.timeout, course.joining)
    kit = load_kit(folder)
    _refuse_other_role(kit, run.__name__)
    _refuse_odd_way(**way)
    remarks = check_policy(kit.policy)
    if kit.policy.hospitals.level == "joint":
        need_sharing()
    source = _source(kit, part.data)
    place = part.output if part.output is not None else Path(kit.policy.output)
    Places(place, course.share, part.replace).checked(source, kit.policy)  # before a log is begun
    with _ends_when_asked(), _log(course.log_file, shown) as log:
        for line in who_sees_what(kit.consortium, kit.policy, remarks):
            log(line)
        with shown.progress() as progress:
            joint = run(
                kit, source, place, share=course.share, replace=part.replace, again=part.again,
                limits=limits, log=log, progress=progress, **way,
            )  # fmt: skip
        for line in ending(joint):
            log(line)
    if not shown.result(joint_summary(kit, joint)):
        show_joint(kit, joint, shown)


def _limits(timeout: float | None, joining: float | None) -> TimeLimits:
    from incrowd.federation.transport.terms import TimeLimits

    usual = TimeLimits()
    return TimeLimits(
        timeout=usual.timeout if timeout is None else timeout,
        joining=usual.joining if joining is None else joining,
    )


def _refuse_other_role(kit: Kit, command: str) -> None:
    """Refuse to lead with the kit of a hospital that joins, and the other way round."""
    role = "lead" if kit.leads else "join"
    if command != role:
        raise InputError(
            f"The kit '{kit.folder}' is that of {kit.name}, and {kit.consortium.leader} leads. "
            f"Start it with `incrowd federation {role}`."
        )


def _refuse_odd_way(
    listen_at: str | None = None, address: str | None = None, proxy: str | None = None
) -> None:
    """Refuse addresses that are none, before any record is read."""
    from incrowd.federation.membership.consortium import split_address

    for each in (listen_at, address):
        if each is not None:
            split_address(each)
    if proxy is not None and not proxy.startswith(("http://", "https://")):
        raise InputError(
            f"'{proxy}' is no proxy; write its address as in http://proxy.example.org:3128."
        )


def _source(kit: Kit, data: str | None) -> Source:
    """The own records of this hospital."""
    from incrowd.policy.reach import source_of

    if data is None and kit.policy.source is None:
        raise InputError("The policy names no `source:`. Say where your records are: --data FILE.")
    source = source_of(kit.policy, data)
    path = source.path if source.by_path else None
    if path is not None and not path.exists():
        raise InputError(f"There is no file '{path}'. Say where your records are: --data FILE.")
    return source


@contextmanager
def _log(path: Path | None, shown: OutputOptions) -> Iterator[Callable[[str], None]]:
    """Lines for the person at the terminal and, if asked for, for a file; an error ends it."""
    if path is None:
        yield shown.message
        return
    with _opened(path) as stream:

        def tell(line: str) -> None:
            stream.write(line + "\n")
            stream.flush()
            shown.message(line)

        try:
            yield tell
        except IncrowdError as error:
            stream.write(f"error: {error}\n")
            raise
        except KeyboardInterrupt:
            stream.write("interrupted\n")
            raise


def _opened(path: Path) -> TextIO:
    try:
        return path.open("a", encoding="utf-8")
    except OSError as error:
        raise OutputError(f"Cannot write the log '{path}': {error.strerror}.") from None


@contextmanager
def _ends_when_asked() -> Iterator[None]:
    """Treat the signal to terminate like an interrupt, so that everything is cleared up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
