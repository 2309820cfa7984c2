"""The tables of a release in a folder, each in one file or in parts, as its manifest lists them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.errors import InputError
from incrowd.published.escaping import undone_frame
from incrowd.verify.files.published import is_legal, table_name

if TYPE_CHECKING:
    import polars as pl

_TABLES = (".csv", ".parquet")
_CHANGED = "It was changed; check it with incrowd verify."


def read_tables(
    folder: Path, files: Mapping[str, Any], *, escaped: bool = False
) -> dict[str, pl.DataFrame]:
    """Every published table by the name of its file or folder, without the ending, as text.

    Parameters
    ----------
    folder
        The folder of the release.
    files
        What its manifest says of each file, by its path in the folder. The parts of a table are
        read in the order of their names.
    escaped
        Whether cells of CSV files are escaped for spreadsheets; that is undone.

    Raises
    ------
    InputError
        When a listed file is not one of the folder, or the parts of a table do not fit together.
    """
    listed: dict[str, list[str]] = {}
    for name in files:
        if Path(name).suffix in _TABLES:
            listed.setdefault(table_name(name), []).append(name)
    strangers = [name for names in listed.values() for name in names if not is_legal(name)]
    if strangers:
        raise InputError(f"The release lists a file that is not in its folder. {_CHANGED}")
    if not listed:
        raise InputError(f"The release lists no table. {_CHANGED}")
    tables: dict[str, pl.DataFrame] = {}
    for table, names in listed.items():
        if Path(table).stem in tables:
            raise InputError(f"The release lists the table '{Path(table).stem}' twice. {_CHANGED}")
        frame = _joined(folder, sorted(names), files)
        undo = escaped and table.endswith(".csv")
        tables[Path(table).stem] = undone_frame(frame) if undo else frame
    return tables


def _joined(folder: Path, names: list[str], files: Mapping[str, Any]) -> pl.DataFrame:
    """The rows of all parts of a table; those without rows are passed over, unless all are."""
    import polars as pl

    from incrowd.sources import read

    some = [name for name in names if len(names) == 1 or _rows(files[name]) != 0] or names[:1]
    frames: list[pl.DataFrame] = []
    for name in some:
        separator, header = (",", True) if name.endswith(".csv") else (None, None)
        frame = read(folder / name, separator=separator, header=header).cast(pl.String)
        if frames and frame.columns != frames[0].columns:
            raise InputError(f"The parts of a table have different columns. {_CHANGED}")
        frames.append(frame)
    return frames[0] if len(frames) == 1 else pl.concat(frames)


def _rows(entry: Any) -> Any:
    return entry.get("rows") if isinstance(entry, Mapping) else None
