"""The tables that a release of linked tables was made from, and whose their rows are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from incrowd._runtime.arrays import IntArray
from incrowd._runtime.manifests import Manifest
from incrowd.errors import InputError
from incrowd.sources.files import FILE_ENDINGS, ending_of
from incrowd.table.profiles import PATIENTS, column_of
from incrowd.table.repeats import Linking

if TYPE_CHECKING:
    import polars as pl

    from incrowd.sources import SourceLike


@dataclass(frozen=True)
class OriginalRows:
    """The rows of patients in a table of the original.

    Parameters
    ----------
    frame
        The attributes of events, as the release calls them.
    patient
        The place of each row's patient among those of the original.
    """

    frame: pl.DataFrame
    patient: IntArray = field(repr=False)


def original_tables(original: SourceLike, manifest: Manifest) -> Mapping[str, SourceLike]:
    """The table of the patients, and of linked tables the others that were given with it.

    Parameters
    ----------
    original
        A source; of linked tables also a mapping of sources by the names of the tables, or a folder
        with a file called as each of them.
    manifest
        That of the release.
    """
    if "tables" not in manifest:
        return {PATIENTS: original}
    names = (PATIENTS, *manifest["tables"])
    if isinstance(original, Mapping):
        if PATIENTS not in original:
            raise InputError(
                f"The original has no table '{PATIENTS}'. Give all tables by their names in the "
                "release."
            )
        return {name: original[name] for name in names if name in original}
    if isinstance(original, str | Path) and Path(original).is_dir():
        files = [each for each in Path(original).iterdir() if ending_of(each) in FILE_ENDINGS]
        found = {each.name.partition(".")[0]: each for each in files if each.is_file()}
        if PATIENTS in found:
            return {name: found[name] for name in names if name in found}
    return {PATIENTS: original}


def rows_of_table(
    name: str, source: SourceLike, events: Sequence[str], manifest: Manifest, linking: Linking
) -> OriginalRows:
    """The rows of a table that name a patient.

    Parameters
    ----------
    name
        The table.
    source
        Where it is.
    events
        Its attributes, as the release calls them.
    manifest
        That of the release. It says which columns are identifiers, and not which of these names the
        patient: that is the one by which most rows find one.
    linking
        What knows the patients.
    """
    from incrowd.sources import describe, read

    listed = [each for each in manifest["attributes"] if each.get("table") == name]
    identifiers = [column_of(name, each["name"]) for each in listed if each["role"] == "identifier"]
    called = {column_of(name, each): each for each in events}
    frame = read(source, columns=list(dict.fromkeys([*identifiers, *called])))
    best: IntArray | None = None
    for each in identifiers:
        found = linking.numbers(linking.hashes(frame[each]))
        if best is None or (found >= 0).sum() > (best >= 0).sum():
            best = found
    if best is None or not (best >= 0).any():
        raise InputError(
            f"No row of {describe(source)} names a patient of the table '{PATIENTS}'. Give the "
            "tables that the release was made from."
        )
    return OriginalRows(frame.select(*called).rename(called).filter(best >= 0), best[best >= 0])
