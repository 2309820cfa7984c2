"""The command line itself, and the options that its commands share."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from incrowd._runtime.console import Output
from incrowd._version import __version__


class Commands(typer.Typer):
    """Commands that may take options together, as a dataclass: each of its fields is an option.

    Fields of one name in several dataclasses are one option, which all of them have.
    """

    def command(self, name: str | None = None, **settings: Any) -> Callable[..., Any]:
        """Register a function as a command."""
        register = super().command(name, **settings)
        return lambda function: register(_unfolded(function))


def _unfolded(function: Callable[..., None]) -> Callable[..., None]:
    """The function with the fields of its dataclasses for parameters, where these stand."""
    hints = get_type_hints(function, include_extras=True)
    groups = {
        name: (group, inspect.signature(group, eval_str=True).parameters)
        for name, group in hints.items()
        if isinstance(group, type) and is_dataclass(group)
    }
    parameters: dict[str, inspect.Parameter] = {}
    for name, each in inspect.signature(function).parameters.items():
        own = {name: each.replace(annotation=hints[name])}
        for option, asked in (groups[name][1] if name in groups else own).items():
            parameters.setdefault(option, asked)

    @wraps(function)
    def command(**given: Any) -> None:
        own = {name: value for name, value in given.items() if name in hints}
        for name, (group, fields) in groups.items():
            own[name] = group(**{each: given[each] for each in fields})
        function(**own)

    named = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters.values()]
    command.__signature__ = inspect.Signature(named)  # type: ignore[attr-defined]
    return command


app = Commands(
    name="incrowd",
    help="Turn tables of patients into data that may be shared.",
    epilog="Start with [bold]incrowd demo[/bold], then [bold]incrowd init your-data.csv[/bold].",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
)
policy_app = Commands(help="About policy files.", no_args_is_help=True)
app.add_typer(policy_app, name="policy")
key_app = Commands(help="About secret keys of pseudonyms and shifted dates.", no_args_is_help=True)
app.add_typer(key_app, name="key")

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
SourceOption = Annotated[
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
LabelPolicy = Annotated[
    Path | None,
    typer.Option("--policy", help="The policy, to understand labels of its hierarchies."),
]
PictureFile = Annotated[
    Path | None, typer.Option("--picture", help="Also draw it: .svg, .png or .html.")
]
Query = Annotated[str | None, typer.Option("--query", help="SQL that selects the records.")]


@dataclass(frozen=True)
class OutputOptions(Output):
    """How results are shown."""

    as_json: Annotated[bool, typer.Option("--json", help="Results as JSON on stdout.")] = False
    quiet: Quiet = False


@dataclass(frozen=True)
class SourceOptions:
    """What must be known of a source to read it."""

    query: Query = None
    separator: Separator = None
    encoding: Encoding = None
    header: Header = None


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
