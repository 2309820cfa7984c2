"""Files on their way into the workspace, piece by piece: one, or several of one source."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Self

from incrowd.errors import InputError, SourceError
from incrowd.serve.workspace._names import safe_name
from incrowd.serve.workspace.runs import POLICY_NAME
from incrowd.sources.files import TEXT_ENDINGS, ending_of, look_alike, require_file
from incrowd.sources.source import file_endings, strange_ending

MOST_FILES = 50
"""So many files one upload may have."""
_HEAD = 1 << 12


class TooLargeError(InputError):
    """A file is larger than the server takes."""


class Upload:
    """A file on its way into the workspace, piece by piece; removed unless it is finished."""

    def __init__(self, path: Path, limit: int, left: int | None = None) -> None:
        self.path = path
        self._limit = limit
        self._left = limit if left is None else left
        self._file = path.open("xb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._file.close()
        if kind is not None:
            shutil.rmtree(self.path.parent, ignore_errors=True)

    def write(self, piece: bytes) -> None:
        """Add a piece; raises TooLargeError beyond the limit."""
        self._left -= len(piece)
        if self._left < 0:
            raise TooLargeError(
                f"More than {self._limit / 1e6:,.0f} MB are sent, the most that this "
                "server takes. Start it with a higher --upload-limit, or name the file: "
                "incrowd serve FILE."
            )
        self._file.write(piece)


class SeveralUploads:
    """Several files on their way into one folder, one after the other; removed unless finished.

    Parameters
    ----------
    folder
        Where they go; it is there, and empty.
    limit
        The most bytes of all of them together.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder = folder
        self.paths: list[Path] = []
        self._limit, self._left = limit, limit
        self._open: Upload | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.end()
        if kind is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def begin(self, name: str) -> None:
        """The next pieces are of a file of this name.

        Raises
        ------
        SourceError
            Its ending is none that can be read, another file has its name, or there are too many.
        """
        self.end()
        path = self.folder / accepted_name(name)
        if path.name.lower() in (each.name.lower() for each in self.paths):
            raise SourceError(f"Two of the files are called {path.name}. Call one otherwise.")
        if len(self.paths) == MOST_FILES:
            raise SourceError(f"One source has {MOST_FILES} files at most. Send fewer.")
        self._open = Upload(path, self._limit, self._left)
        self.paths.append(path)

    def write(self, piece: bytes) -> None:
        """Add a piece to the file that was begun last; raises TooLargeError beyond the limit."""
        assert self._open is not None
        self._open.write(piece)
        self._left -= len(piece)

    def end(self) -> None:
        """Close the file that was begun last."""
        if self._open is not None:
            self._open.__exit__(None)
            self._open = None


def accepted_name(name: str) -> str:
    """The name that a file gets in the workspace; raises SourceError for a strange ending."""
    bare = safe_name(name, "data.csv")
    if ending_of(Path(bare)) not in file_endings():
        raise strange_ending(Path(bare))
    # The policy file lies beside the source, and may not be taken for it.
    return bare if bare != POLICY_NAME else f"data-{bare}"


def refuse_strange(path: Path) -> None:
    """Refuse at once what cannot be a table, without reading it."""
    require_file(path)
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if ending_of(path) in TEXT_ENDINGS and path.suffix.lower() != ".gz":
        alike = look_alike(head)
        if alike is not None:
            raise SourceError(f"{path.name} looks like {alike[0]}. {alike[1]}.")
