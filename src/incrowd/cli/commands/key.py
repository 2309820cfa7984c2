"""The command that makes a secret key."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from incrowd._runtime.console import Output
from incrowd.cli.app import Quiet, key_app


@key_app.command("new", epilog="Example: incrowd key new registry.key")
def new(
    file: Annotated[Path, typer.Argument(help="The file to make; nothing is replaced.")],
    quiet: Quiet = False,
) -> None:
    """Make a secret key: pseudonyms and shifts by it are the same in every release.

    Keep it where the source is kept, and take another one for each recipient: who holds two
    releases made with one key can join them. Use: incrowd anonymize policy.yaml --key FILE
    """
    from incrowd.publish.key_files import new_key

    made = new_key(file)
    Output(quiet=quiet).message(
        f"{file} holds a new key with the fingerprint {made.fingerprint}. Only its owner may read "
        "it: never put it into a release, and take another key for another recipient."
    )
