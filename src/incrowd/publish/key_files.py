"""Files of secret keys: made once, for their owner alone, and never where a release lies."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from incrowd._runtime.secret_key import KEY_BYTES, SecretKey
from incrowd.errors import OutputError
from incrowd.publish.destination import refuse_url
from incrowd.publish.ownership import has_manifest


def new_key(path: str | Path) -> SecretKey:
    """The key in a new file, which only its owner may read.

    Raises
    ------
    OutputError
        When something is there, when it lies in a release, or when it cannot be written.
    """
    refuse_url(path)
    path = Path(path)
    _refuse_release(path)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise OutputError(
            f"'{path}' exists, and what a key made is lost with it: nothing is replaced. Choose "
            "another name."
        ) from None
    except OSError as error:
        raise OutputError(
            f"The key file '{path}' cannot be made: {error.strerror}. Choose another place."
        ) from None
    try:
        with open(descriptor, "wb") as stream:  # noqa: PTH123 - of a file that is open already
            stream.write(secrets.token_bytes(KEY_BYTES))
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        path.unlink(missing_ok=True)
        raise OutputError(f"The key file '{path}' cannot be written: {error.strerror}.") from None
    return SecretKey.read(path)


def refuse_key_in(key: SecretKey, folder: Path | None) -> None:
    """Refuse a key that lies in a release, or in the folder that one will have.

    Raises
    ------
    OutputError
        With what to do about it.
    """
    if key.path is None:
        return
    _refuse_release(key.path)
    if folder is not None and folder.resolve() in key.path.parents:
        raise OutputError(
            f"The key file '{key.path.name}' lies in the output folder '{folder}': whoever gets "
            "the release would have it. Move it to a place that only you read."
        )


def _refuse_release(path: Path) -> None:
    if any(has_manifest(parent) for parent in path.resolve().parents):
        raise OutputError(
            f"The key file '{path}' lies in a release: whoever gets that would have it. Take a "
            "place that only you read."
        )
