"""Commands before a run among hospitals: init; or enrol, assemble, complete; and consent."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from incrowd.cli.app import Commands, OutputOptions
from incrowd.errors import InputError

if TYPE_CHECKING:
    from incrowd.federation.membership.consortium import Consortium

federation_app = Commands(
    help="A joint release of hospitals that may not pool their records.",
    epilog="Start with [bold]incrowd federation rehearse policy.yaml a.csv b.csv c.csv[/bold].",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

_PolicyFile = Annotated[Path, typer.Argument(help="The policy that all agreed on (YAML).")]
_Hosts = Annotated[
    list[str] | None,
    typer.Option("--host", help="Another name or address under which the leader may be dialled."),
]
_ValidDays = Annotated[int, typer.Option("--days", help="How long the certificates are valid.")]


@dataclass(frozen=True)
class SumOptions:
    """How counts are added up, and among whom."""

    sums: Annotated[
        Literal["masked", "ring"],
        typer.Option(
            "--sums", help="How counts are added up; ring is weak, for repeating the paper."
        ),
    ] = "masked"
    allow_two: Annotated[
        bool,
        typer.Option("--allow-two", help="Two hospitals, though nothing is hidden between them."),
    ] = False


@dataclass(frozen=True)
class _LeaderOptions:
    """Who leads, and where."""

    address: Annotated[
        str, typer.Option("--address", help="Where the others dial the leader: host:port.")
    ]
    leader: Annotated[
        str | None, typer.Option("--leader", help="Who leads; the first one when left out.")
    ] = None


@federation_app.command(
    epilog="Example: incrowd federation init policy.yaml --party North --party South --party West "
    "--records North=320 --records South=240 --records West=160 "
    "--address north.example.org:8443 -o kits"
)
def init(
    policy: _PolicyFile,
    parties: Annotated[
        list[str], typer.Option("--party", help="A hospital; once for each, in a fixed order.")
    ],
    *,
    leading: _LeaderOptions,
    hosts: _Hosts = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder to make, with a kit for each.")
    ] = Path("kits"),
    records: Annotated[
        list[str] | None,
        typer.Option(
            "--records", help="How many records a hospital brings: NAME=NUMBER, once for each."
        ),
    ] = None,
    days: _ValidDays = 30,
    adding: SumOptions,
    shown: OutputOptions,
) -> None:
    """Make a consortium: one folder (kit) for each hospital, with all it needs to take part."""
    from incrowd.cli.output.federation import kits_summary, show_kits
    from incrowd.federation.membership.agreed_records import read_records
    from incrowd.federation.membership.kits import make_kits

    _check(policy, len(parties), adding.allow_two, shown)
    consortium = make_kits(
        output,
        parties,
        policy,
        leading.address,
        leader=leading.leader,
        hosts=hosts or (),
        days=days,
        **vars(adding),
        records=read_records(records or ()),
    )
    _warn(consortium, shown)
    if not shown.result(kits_summary(output, consortium)):
        show_kits(output, consortium, shown)


@federation_app.command(
    epilog="Example: incrowd federation enrol North --records 320 -o north-kit "
    "--host north.example.org"
)
def enrol(
    name: Annotated[str, typer.Argument(help="The hospital's name.")],
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder to make: the kit, which stays here.")
    ] = Path("kit"),
    hosts: Annotated[
        list[str] | None,
        typer.Option("--host", help="Where the others may dial this hospital, if it may lead."),
    ] = None,
    records: Annotated[
        int | None,
        typer.Option("--records", help="How many records this hospital brings into a run."),
    ] = None,
    identity: Annotated[
        Path | None,
        typer.Option("--identity", help="The identity.pem of an earlier kit, to keep its key."),
    ] = None,
    days: _ValidDays = 30,
    shown: OutputOptions,
) -> None:
    """Make this hospital's own keys, where nobody may make them for all."""
    from incrowd.cli.output.federation import show_enrolled
    from incrowd.federation.membership.kits import MEMBER
    from incrowd.federation.membership.kits import enrol as make_keys

    member = make_keys(
        output, name, hosts=hosts or (), days=days, records=records, identity=identity
    )
    summary = {
        "name": name,
        "kit": str(output),
        "member": str(output / MEMBER),
        "records": records,
        "fingerprint": member.public.fingerprint,
    }
    if not shown.result(summary):
        show_enrolled(member, output, shown)


@federation_app.command(
    epilog="Example: incrowd federation assemble policy.yaml north.yaml south.yaml west.yaml "
    "--leader North --address north.example.org:8443 -o consortium"
)
def assemble(
    policy: _PolicyFile,
    members: Annotated[
        list[Path], typer.Argument(help="The member.yaml of each hospital, in a fixed order.")
    ],
    *,
    leading: _LeaderOptions,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder to make; it holds nothing secret.")
    ] = Path("consortium"),
    adding: SumOptions,
    shown: OutputOptions,
) -> None:
    """Make a consortium of hospitals that enrolled: a folder to send to all of them."""
    from incrowd.cli.output.federation import consortium_summary, show_assembled
    from incrowd.federation.membership.assembly import assemble as make_consortium
    from incrowd.federation.membership.kits import read_member

    _check(policy, len(members), adding.allow_two, shown)
    listed = [read_member(path) for path in members]
    consortium = make_consortium(
        output, listed, policy, leading.address, leader=leading.leader, **vars(adding)
    )
    _warn(consortium, shown)
    if not shown.result({"consortium": str(output), **consortium_summary(consortium)}):
        show_assembled(output, consortium, shown)


@federation_app.command(epilog="Example: incrowd federation complete north-kit consortium")
def complete(
    kit: Annotated[Path, typer.Argument(help="The folder that `enrol` made here.")],
    consortium: Annotated[Path, typer.Argument(help="The folder that `assemble` made.")],
    shown: OutputOptions,
) -> None:
    """Add the consortium to this hospital's own keys: the kit is ready then."""
    from incrowd.cli.output.federation import consortium_summary, show_completed, start_command
    from incrowd.federation.membership.assembly import complete_from
    from incrowd.federation.membership.kits import load_kit

    agreed = complete_from(kit, consortium)
    name = load_kit(kit).name
    _warn(agreed, shown)
    summary = {"name": name, "kit": str(kit), **consortium_summary(agreed)}
    if not shown.result({**summary, "command": start_command(agreed, name, str(kit))}):
        show_completed(kit, agreed, name, shown)


@federation_app.command(
    epilog="Example: incrowd federation consent kits/North --earlier old-kits/North/consortium.yaml"
)
def consent(
    kit: Annotated[
        Path,
        typer.Argument(help="This hospital's kit: of the new run, or of the earlier if it left."),
    ],
    *,
    earlier: Annotated[
        Path | None,
        typer.Option("--earlier", help="The consortium.yaml of the earlier run."),
    ] = None,
    new: Annotated[
        Path | None,
        typer.Option("--new", help="The consortium.yaml of the new run."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file to write; in the kit's consents/ if not."),
    ] = None,
    shown: OutputOptions,
) -> None:
    """Sign that the difference of two runs with other members may be seen."""
    from incrowd.cli.output.federation import show_consent
    from incrowd.federation.membership.consents import give, save

    given = give(kit, earlier=earlier, new=new)
    place = save(given, kit, output)
    if not shown.result({**given.model_dump(), "file": str(place)}):
        show_consent(given, place, shown)


def _check(policy: Path, hospitals: int, allow_two: bool, shown: OutputOptions) -> None:
    """Refuse what cannot be run among hospitals; tell what people should know of the policy."""
    from incrowd.federation.membership.agreed_sessions import TWO_PARTIES
    from incrowd.federation.membership.kits import POLICY, policy_files
    from incrowd.federation.protocols.secret_shares import threshold_of
    from incrowd.federation.run.fitness import check_hospitals, check_policy
    from incrowd.policy import Policy

    if hospitals == 2 and not allow_two:
        raise InputError(f"{TWO_PARTIES}. Say --allow-two to go on nevertheless.")
    wanted = Policy.from_file(policy)
    for remark in check_policy(wanted):
        shown.message(remark)
    carried = sorted(policy_files(policy).keys() - {POLICY.name})
    if carried:
        shown.message(
            f"Every kit carries, beside the policy: {', '.join(carried)}. Look that these are "
            "hierarchies and nothing else: all hospitals will have them."
        )
    if wanted.hospitals.level == "joint":
        threshold_of(hospitals)  # refuses too few
    check_hospitals(wanted, hospitals)


def _warn(consortium: Consortium, shown: OutputOptions) -> None:
    """Tell the weaknesses that were switched on."""
    from incrowd.cli.output.federation import warnings_of

    for warning in warnings_of(consortium):
        shown.message(f"warning: {warning}")
