"""The command line itself, and the options that its commands share."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from incrowd._version import __version__

app = typer.Typer(
    name="incrowd",
    help="Turn tables of patients into data that may be shared.",
    epilog="Start with [bold]incrowd demo[/bold], then [bold]incrowd init your-data.csv[/bold].",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
)
policy_app = typer.Typer(help="About policy files.", no_args_is_help=True)
app.add_typer(policy_app, name="policy")

AsJson = Annotated[bool, typer.Option("--json", help="Results as JSON on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
Separator = Annotated[
    str | None, typer.Option("--separator", help="Separator of a text file; found when left out.")
]
Encoding = Annotated[
    str | None, typer.Option("--encoding", help="Encoding of a text file; UTF-8 when left out.")
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of a text file has the names of its columns. [default: it "
        "must, and one that looks like a record is refused]",
        show_default=False,
    ),
]
MissingValues = Annotated[
    list[str] | None,
    typer.Option(
        "--missing-value",
        help="A cell of a text file that means missing, as in NA; may be given several times.",
    ),
]
AcceptUnprotected = Annotated[
    bool,
    typer.Option(
        "--accept-unprotected",
        help="Publish columns kept as they are even where they single records out.",
    ),
]
Replace = Annotated[
    bool,
    typer.Option("--replace", help="Put the new release in the place of an older one there."),
]
Source = Annotated[
    str | None,
    typer.Option(
        "--source", help="The data, in place of that of the policy: a file, or an address."
    ),
]
Spark = Annotated[
    list[str] | None,
    typer.Option(
        "--spark",
        metavar="NAME=VALUE",
        help="A property of Spark, as in spark.master=yarn; may be repeated.",
    ),
]
Query = Annotated[str | None, typer.Option("--query", help="SQL that selects the records.")]


def _version(show: bool) -> None:
    if show:
        sys.stdout.write(f"incrowd {__version__}\n")
        raise typer.Exit


@app.callback()
def _main(
    _: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass
