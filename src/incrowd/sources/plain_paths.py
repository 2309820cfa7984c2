"""Paths that a stranger may name: files and folders of this machine, and nothing on a network."""

import re

SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]+):/(/?)")
"""How an address on a network begins."""
_LONGEST = 4096
_LONGEST_NAME = 255


def plain_path(path: str) -> str:
    r"""The path of a file or folder of this machine, as a policy names it.

    Raises
    ------
    ValueError
        It is an address on a network (`https://…`, `\\host\share`), or no path.
    """
    if not path or len(path) > _LONGEST or not _writable(path):
        raise ValueError("must be the path of a file or folder")
    if max(map(len, re.split(r"[\\/]", path))) > _LONGEST_NAME:
        raise ValueError(f"must be a path whose names have at most {_LONGEST_NAME} characters")
    if path.count("**") > 1:
        raise ValueError("may have `**` once; name the folder below which the files are")
    if re.match(r"[\\/]{2}", path) or SCHEME.match(path):
        raise ValueError(
            "must be a path on this machine: a policy opens no address on a network. Copy the file "
            "here and name the copy"
        )
    return path


def _writable(path: str) -> bool:
    """Whether a file system can have such a name: no half characters, no NUL."""
    try:
        return b"\0" not in path.encode("utf-8")
    except UnicodeEncodeError:
        return False
