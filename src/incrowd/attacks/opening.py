"""What an attack is played on: a release with its manifest, or any file or frame without one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.errors import InputError, ParameterError

if TYPE_CHECKING:
    import polars as pl

    from incrowd.table import Column


@dataclass(frozen=True)
class Target:
    """A table under attack; `entries` are the published attributes that a manifest describes."""

    frame: pl.DataFrame
    name: str
    manifest: Mapping[str, Any] | None = None

    @property
    def entries(self) -> dict[str, Mapping[str, Any]]:
        """The manifest's entry of every published attribute, empty without a manifest."""
        listed = (self.manifest or {}).get("attributes", ())
        return {str(each["name"]): each for each in listed if each.get("published")}

    def of_role(self, role: str) -> list[str]:
        """The published attributes of a role, none without a manifest."""
        return [name for name, entry in self.entries.items() if entry.get("role") == role]

    @property
    def promised_k(self) -> int | None:
        """The largest k that the manifest promises, None without one."""
        return largest_promised_k(self.manifest or {})


def open_target(source: Any, *, columns: Sequence[str] | None = None) -> Target:
    """The table in a release, a release folder, a file or a frame.

    `columns` are all that is read of a file or frame; a release is always read whole.
    """
    from incrowd.sources import describe, read

    if isinstance(getattr(source, "manifest", None), Mapping):
        return _of_release(source, "the release")
    if isinstance(source, str | Path) and Path(source).is_dir():
        from incrowd.publish.release import open_release

        return _of_release(open_release(source), describe(source))
    return Target(read(source, columns=columns), describe(source))


def require_columns(target: Target, names: Sequence[str]) -> None:
    """Return when the target has all these columns; raise InputError with the nearest name."""
    from incrowd.sources.columns import chosen

    chosen(target.frame.columns, names, target.name)


def name_list(names: object, parameter: str) -> list[str] | None:
    """The names as a list, None as None; anything but different names of columns is refused."""
    if names is None:
        return None
    if (
        isinstance(names, str)
        or not isinstance(names, Sequence)
        or not all(isinstance(name, str) for name in names)
        or len(set(names)) < len(names)
    ):
        raise ParameterError(f"{parameter}: must be a list of column names, each only once.")
    return list(names)


def largest_promised_k(manifest: Mapping[str, Any]) -> int | None:
    """The largest k among the promises of a manifest, None when no promise has one."""
    found = [promise.get("parameters", {}).get("k") for promise in manifest.get("promises", ())]
    return max((k for k in found if isinstance(k, int)), default=None)


def code_as_seen(series: pl.Series) -> Column:
    """The coded column, its type seen from the data; text when its numbers cannot be ordered."""
    from incrowd.coding import code_column
    from incrowd.errors import SourceError

    try:
        return code_column(series, role="quasi")
    except SourceError:
        return code_as_text(series)


def code_as_text(series: pl.Series) -> Column:
    """The coded column with every different text as a value of its own."""
    from incrowd.coding import code_column

    return code_column(series, role="quasi", kind="category")


def _of_release(release: Any, name: str) -> Target:
    publish = release.manifest.get("publish", "generalized")
    if publish != "generalized":
        raise InputError(
            f"{name[0].upper()}{name[1:]} is published as {publish}; this version attacks and "
            "measures generalized releases only. Its table of records can be given as a file."
        )
    target = Target(release.data, name, release.manifest)
    if not target.frame.height:
        raise InputError(f"{name[0].upper()}{name[1:]} has no published records.")
    return target
