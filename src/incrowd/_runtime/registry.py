"""What a room offers by name: what its own modules declare, and what other packages register."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pkgutil import iter_modules
from typing import Generic, TypeVar

from incrowd.errors import InputError

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """Things of one kind by name, those of the package first.

    Parameters
    ----------
    kind
        What each of them is, for messages.
    group
        The group of entry points by which other packages register theirs; each entry bears the
        name of what it leads to.
    package
        The package whose public modules declare its own.
    declared
        The name and the place in the list of something that a module holds; None for what is not
        of this kind.
    rooms
        Whether packages declare, and single modules do not.

    Notes
    -----
    Invariant: what the package declares is never replaced. Other packages are looked for only when
    a name is not of the package, or all are listed, so that they cost nothing else; an entry that
    is broken, or takes a name that is taken, is then refused with the package that brings it.
    """

    def __init__(
        self,
        kind: str,
        group: str,
        package: str,
        declared: Callable[[object], tuple[str, int] | None],
        rooms: bool = False,
    ) -> None:
        self._kind, self._group, self._package, self._declared = kind, group, package, declared
        self._rooms = rooms
        self._loaded: dict[str, T] = {}

    @cached_property
    def own(self) -> dict[str, T]:
        """What the package itself declares."""
        found: dict[str, tuple[int, T]] = {}
        for each in iter_modules(import_module(self._package).__path__):
            if each.name.startswith("_") or each.ispkg != self._rooms:
                continue
            for held in vars(import_module(f"{self._package}.{each.name}")).values():
                told = self._declared(held)
                if told is not None:
                    found.setdefault(told[0], (told[1], held))
        return {name: found[name][1] for name in sorted(found, key=lambda name: found[name][0])}

    @cached_property
    def _others(self) -> dict[str, EntryPoint]:
        found: dict[str, EntryPoint] = {}
        for entry in sorted(entry_points(group=self._group), key=lambda each: each.name):
            if entry.name in self.own or found.get(entry.name, entry) != entry:
                raise InputError(
                    f"The {self._kind} '{entry.name}' that {_owner(entry)} registers has a name "
                    f"that is taken. Rename it there, or uninstall {_owner(entry)}."
                )
            found[entry.name] = entry
        return found

    def __getitem__(self, name: str) -> T:
        if name in self.own:
            return self.own[name]
        if name not in self._loaded:
            self._loaded[name] = self._load(self._others[name])
        return self._loaded[name]

    def _load(self, entry: EntryPoint) -> T:
        refused = f"The {self._kind} '{entry.name}' that {_owner(entry)} registers "
        remedy = f"Mend it, or uninstall {_owner(entry)}."
        try:
            found: T = entry.load()
        except Exception as error:
            raise InputError(
                f"{refused}cannot be loaded ({type(error).__name__}). {remedy}"
            ) from error
        told = self._declared(found)
        if told is None or told[0] != entry.name:
            raise InputError(f"{refused}is not one of that name. {remedy}")
        return found

    def __iter__(self) -> Iterator[str]:
        yield from self.own
        yield from self._others

    def __len__(self) -> int:
        return len(self.own) + len(self._others)

    def __contains__(self, name: object) -> bool:
        return name in self.own or name in self._others


def _owner(entry: EntryPoint) -> str:
    return "another package" if entry.dist is None else f"'{entry.dist.name}'"
