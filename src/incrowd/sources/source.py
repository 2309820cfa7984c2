"""The protocol of sources: what is asked of where records are, whatever kind that is.

A kind is one file with one class. Those of the package are modules of this room; another package
registers its own in the group of entry points `incrowd.sources`, under the name of the kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import polars as pl

from incrowd._runtime.registry import Registry
from incrowd.errors import SourceError, nearest
from incrowd.sources.files import (
    FILE_ENDINGS,
    SUPPORTED,
    TextOptions,
    ending_of,
    refuse_text_options,
)
from incrowd.sources.plain_paths import SCHEME

SourceLike = object
"""What a person gives for records: a path, a database URL, a frame or a Source (`as_source`)."""


class Selection(NamedTuple):
    """What is to be read of a source: the result of a query, all columns or some in an order."""

    query: str | None = None
    text: TextOptions = TextOptions()
    columns: list[str] | None = None


class Source(ABC):
    """Where records are: `as_source` makes one of what a person gives.

    A kind says what it takes (`schemes`, or `takes`), its `label`, and how its records are read
    (`frames`); where they are in files, its `path`; the rest may stay. No policy names it unless it
    says how (`named`, `refuse_in_policy`).
    """

    kind: ClassVar[str]
    """The name of the kind; a class without one is none."""
    schemes: ClassVar[tuple[str, ...]] = ()
    """How addresses of this kind begin, as in `scheme://…`."""
    endings: ClassVar[tuple[str, ...]] = ()
    """How files of this kind end."""
    engine: ClassVar[str | None] = None
    """The engine that has its records already, if one does."""
    by_path: ClassVar[bool] = False
    """Whether it is named by a path; else by an address, which only a run opens, or it is given."""
    remark: ClassVar[str | None] = None
    """What a starting policy says beside it."""

    @abstractmethod
    def __init__(self, given: Any) -> None: ...

    @classmethod
    def takes(cls, given: object) -> bool:
        """Whether what a person gives is of this kind; nothing is opened for that."""
        return url_scheme(given) in cls.schemes

    @property
    @abstractmethod
    def label(self) -> str:
        """A short name for messages, which never shows a password."""

    @abstractmethod
    def frames(self, wanted: Selection) -> Iterator[pl.DataFrame]:
        """Yield the records in order, all columns, at least one record, tidy (columns.py).

        A SourceError says what is wrong with them, and shows no cell.
        """

    def frame(self, wanted: Selection) -> pl.DataFrame:
        """The records at once, those columns that are wanted."""
        from incrowd.sources.columns import chosen

        whole = pl.concat(self.frames(wanted), how="vertical_relaxed")
        return whole.select(chosen(whole.columns, wanted.columns, self.label))

    def refuse(self, wanted: Selection) -> None:
        """Refuse what can be wanted only of another kind of source."""
        if wanted.query is not None:
            raise SourceError(
                f"A query needs a database, but {self.label} is none. Leave the query out, or give "
                "a URL such as sqlite:///file.db."
            )
        refuse_text_options(wanted.text, self.label)

    @property
    def is_database(self) -> bool:
        """Whether its records are the answer to a query."""
        return False

    def check_query(self, query: str) -> None:  # noqa: B027
        """Refuse, with a SourceError, a query that is never asked; of no kind but databases."""

    def for_spark(self) -> Any:
        """What Spark reads by itself: a path, an address or its own frame; else None."""
        return None

    @property
    def path(self) -> Path | None:
        """The file or folder that the records are read from; None of servers and frames."""
        return None

    @property
    def paths(self) -> list[Path]:
        """The path, as a list; several where a source has several tables."""
        return [] if self.path is None else [self.path]

    @property
    def tables(self) -> Mapping[str, Source]:
        """The sources of its tables by their names, where it has several."""
        return {}

    def files(self) -> list[Path]:
        """The files that must not change while they are worked on."""
        return [] if self.path is None else [self.path]

    @property
    def size(self) -> int:
        """The bytes of its files; 0 where there are none, or reading will say what is wrong."""
        try:
            return sum(file.stat().st_size for file in self.files())
        except (OSError, SourceError):
            return 0

    def named(self, change: Callable[[str], str]) -> str | None:  # noqa: ARG002
        """How a policy names it, its path changed; None where no policy can."""
        return None

    def refuse_in_policy(self) -> None:
        """Refuse, with a ValueError, what no policy may say of its source, whoever runs it."""
        raise ValueError(f"{self.label} is of a kind that no policy names. Give it with --source")

    def in_policy(self) -> str | None:
        """What a person gave, as a policy may name it; None where no policy may."""
        try:
            self.refuse_in_policy()
        except ValueError:
            return None
        return self.named(str)

    def of_policy(self, base: Path, engine: str) -> Source:  # noqa: ARG002
        """The source that a policy in the folder `base` names by this; may raise PolicyError."""
        return type(self)(self.named(lambda path: str(base / path)))

    def unchecked(self, base: Path, query: str | None) -> tuple[str, ...]:  # noqa: ARG002
        """What a check of a policy in the folder `base` leaves to a run."""
        return (f"whether the columns and values of {self.label} fit: only a run opens it",)

    def pieces(self, query: str | None, text: TextOptions) -> Iterator[pl.DataFrame]:
        """The records in order, in one frame or many; refuses what `incrowd.sources.read` does."""
        wanted = Selection(query, text)
        self.refuse(wanted)
        yield from self.frames(wanted)


def _declared(held: object) -> tuple[str, int] | None:
    """The name of a kind; a special one comes before the one that it is made from."""
    if isinstance(held, type) and issubclass(held, Source) and "kind" in vars(held):
        return held.kind, -len(held.__mro__)
    return None


KINDS: Registry[type[Source]] = Registry("source", "incrowd.sources", "incrowd.sources", _declared)


def file_endings() -> list[str]:
    """The endings of the files that are read, of all kinds."""
    return list(dict.fromkeys(ending for kind in KINDS.values() for ending in kind.endings))


def strange_ending(path: Path) -> SourceError:
    """The error for a file with an ending that is not read."""
    known = file_endings()
    ending = f"the ending {path.suffix}" if path.suffix else "no ending"
    others = "".join(f", {each}" for each in known if each not in FILE_ENDINGS)
    return SourceError(
        f"{path.name} has {ending}, which is not supported.{nearest(ending_of(path), known)} "
        f"{SUPPORTED}{others}."
    )


def as_source(given: object) -> Source:
    """The source that a person gives: a path, a database URL, a frame, or a source already.

    Other packages are asked only about what no kind of this one takes. Nothing is opened.

    Example
    -------
    >>> as_source("duckdb:///visits.duckdb").label
    'visits.duckdb'
    """
    from incrowd.sources._databases import Address
    from incrowd.sources.frames import Frame
    from incrowd.sources.paths import Files

    if isinstance(given, Source):
        return given
    for kind in KINDS.values():
        if kind.takes(given):
            return kind(given)
    if isinstance(given, str) and url_scheme(given):
        return Address(given)
    return Files(given) if isinstance(given, str | Path) else Frame(given)


def url_scheme(url: object) -> str:
    """The lower-case scheme of what is written like a URL (`scheme://…`), else an empty text."""
    match = SCHEME.match(url) if isinstance(url, str) else None
    return match[1].lower() if match and match[2] else ""
