"""What an attacker, or an accident, may do to a generalized release in parts.

Each of `TAMPERINGS` changes the release in a folder and gives the promise that must break.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
from parted_release import manifest_of, part_name, relist, reseal

FILES = "files are the released ones"
MANIFEST = "manifest is whole"
READABLE = "data can be read"
RECORDS = "records add up"
ORDER = "rows are in sorted order"


def parts(folder: Path) -> list[str]:
    """The paths of all files of a release, in order."""
    return sorted(manifest_of(folder)["files"])


def change(folder: Path) -> Iterator[dict[str, Any]]:
    """The manifest, to be changed and sealed anew."""
    manifest = manifest_of(folder)
    yield manifest
    reseal(folder, manifest)


def read(path: Path) -> list[bytes] | pl.DataFrame:
    """The rows of a part, with its header if it is a text file."""
    if path.suffix == ".parquet":
        return pl.read_parquet(path)
    return path.read_bytes().splitlines(keepends=True)


def write(path: Path, rows: Any) -> None:
    if path.suffix == ".parquet":
        rows.write_parquet(path)
    else:
        path.write_bytes(b"".join(rows))


def turned(rows: Any) -> Any:
    """The same rows in the opposite order."""
    return rows.reverse() if isinstance(rows, pl.DataFrame) else [rows[0], *rows[:0:-1]]


def changed_cell(folder: Path) -> str:
    path = folder / parts(folder)[3]
    content = path.read_bytes()
    path.write_bytes(content.replace(b"flu", b"flo", 1) if b"flu" in content else content[:-1])
    return FILES


def removed_part(folder: Path) -> str:
    (folder / parts(folder)[3]).unlink()
    return FILES


def removed_table(folder: Path) -> str:
    shutil.rmtree((folder / parts(folder)[0]).parent)
    return FILES


def unlisted_part(folder: Path) -> str:
    name = parts(folder)[3]
    for manifest in change(folder):
        del manifest["files"][name]
    return FILES


def removed_and_unlisted(folder: Path) -> str:
    name = parts(folder)[3]
    (folder / name).unlink()
    for manifest in change(folder):
        del manifest["files"][name]
    return FILES  # the number is lacking


def removed_last(folder: Path) -> str:
    name = parts(folder)[-1]
    (folder / name).unlink()
    for manifest in change(folder):
        del manifest["files"][name]
    return RECORDS


def added_beside_parts(folder: Path) -> str:
    table = parts(folder)[0].partition("/")[0]
    (folder / table / "names.txt").write_text("who is who")
    return FILES


def added_hidden(folder: Path) -> str:
    table = parts(folder)[0].partition("/")[0]
    (folder / table / ".names").write_text("who is who")
    return FILES


def added_folder(folder: Path) -> str:
    table = parts(folder)[0].partition("/")[0]
    (folder / table / "more").mkdir()
    return FILES


def added_part(folder: Path) -> str:
    names = parts(folder)
    table = names[0].partition("/")[0]
    shutil.copy(folder / names[-1], folder / part_name(table, len(names)))
    return FILES


def added_part_listed(folder: Path) -> str:
    names = parts(folder)
    table = names[0].partition("/")[0]
    added = part_name(table, len(names))
    shutil.copy(folder / names[-1], folder / added)
    for manifest in change(folder):
        manifest["files"][added] = manifest["files"][names[-1]]
    return RECORDS


def swapped_names(folder: Path) -> str:
    first, second = (folder / name for name in parts(folder)[2:4])
    first.rename(folder / "aside")
    second.rename(first)
    (folder / "aside").rename(second)
    return FILES


def swapped_and_listed(folder: Path) -> str:
    swapped_names(folder)
    one, two = parts(folder)[2:4]
    for manifest in change(folder):
        files = manifest["files"]
        files[one], files[two] = files[two], files[one]
    return ORDER


def turned_part(folder: Path) -> str:
    name = parts(folder)[4]
    write(folder / name, turned(read(folder / name)))
    relist(folder, name)
    return ORDER


def wrong_rows(folder: Path) -> str:
    one, two = parts(folder)[2:4]
    for manifest in change(folder):
        manifest["files"][one]["rows"] += 1
        manifest["files"][two]["rows"] -= 1
    return RECORDS


def row_moved_to_the_next(folder: Path) -> str:
    one, two = parts(folder)[2:4]
    first, second = read(folder / one), read(folder / two)
    if isinstance(first, pl.DataFrame) and isinstance(second, pl.DataFrame):
        write(folder / one, first[:-1])
        write(folder / two, pl.concat([first[-1:], second]))
    elif isinstance(first, list) and isinstance(second, list):
        write(folder / one, first[:-1])
        write(folder / two, [second[0], first[-1], *second[1:]])
    relist(folder, one)
    relist(folder, two)
    return RECORDS


def other_columns_listed(folder: Path) -> str:
    name = parts(folder)[3]
    for manifest in change(folder):
        manifest["files"][name]["columns"] = manifest["files"][name]["columns"][::-1]
    return FILES


def renamed_column(folder: Path) -> str:
    name = parts(folder)[3]
    rows = read(folder / name)
    if isinstance(rows, pl.DataFrame):
        write(folder / name, rows.rename({"city": "town"}))
    else:
        write(folder / name, [rows[0].replace(b"city", b"town"), *rows[1:]])
    relist(folder, name)
    return READABLE


def reordered_columns(folder: Path) -> str:
    name = parts(folder)[3]
    rows = read(folder / name)
    if isinstance(rows, pl.DataFrame):
        write(folder / name, rows.select("city", "age", "ill"))
    else:
        write(folder / name, [rows[0].replace(b"age,city", b"city,age"), *rows[1:]])
    relist(folder, name)
    return READABLE


def further_column(folder: Path) -> str:
    name = parts(folder)[3]
    rows = read(folder / name)
    if isinstance(rows, pl.DataFrame):
        write(folder / name, rows.with_columns(id=pl.lit("patient")))
    else:
        write(folder / name, [line.replace(b"\n", b",id\n") for line in rows])
    relist(folder, name)
    return READABLE


def no_header(folder: Path) -> str:
    name = parts(folder)[3]
    rows = read(folder / name)
    if isinstance(rows, pl.DataFrame):
        (folder / name).write_bytes(b"PAR1PAR1")
    else:
        write(folder / name, rows[1:])
    relist(folder, name)
    return READABLE


def torn_row(folder: Path) -> str:
    path = folder / parts(folder)[3]
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2].rstrip(b",") + b",,,,")
    relist(folder, parts(folder)[3])
    return READABLE


def link_to_part(folder: Path) -> str:
    path = folder / parts(folder)[3]
    path.rename(folder.parent / "elsewhere")
    path.symlink_to(folder.parent / "elsewhere")
    return FILES


def link_to_folder(folder: Path) -> str:
    table = (folder / parts(folder)[0]).parent
    table.rename(folder.parent / "elsewhere")
    table.symlink_to(folder.parent / "elsewhere")
    return FILES


def folder_in_place_of_a_part(folder: Path) -> str:
    path = folder / parts(folder)[3]
    path.unlink()
    path.mkdir()
    return FILES


def fifo_in_place_of_a_part(folder: Path) -> str:
    path = folder / parts(folder)[3]
    path.unlink()
    os.mkfifo(path)
    return FILES


def file_beside_the_folder(folder: Path) -> str:
    name = parts(folder)[0]
    table, other = name.partition("/")[0], "csv" if name.endswith("parquet") else "parquet"
    shutil.copy(folder / name, folder / f"data.{other}")
    for manifest in change(folder):
        manifest["files"][f"data.{other}"] = manifest["files"][name]
    assert table != f"data.{other}"
    return FILES


def both_file_and_folder_listed(folder: Path) -> str:
    name = parts(folder)[0]
    for manifest in change(folder):
        manifest["files"][name.partition("/")[0]] = manifest["files"][name]
    return FILES


def a_second_table(folder: Path) -> str:
    name = parts(folder)[0]
    ending = Path(name).suffix
    (folder / f"people{ending}").mkdir()
    added = part_name(f"people{ending}", 0)
    shutil.copy(folder / name, folder / added)
    for manifest in change(folder):
        manifest["files"][added] = manifest["files"][name]
    return FILES


def undescribed_part(folder: Path) -> str:
    name = parts(folder)[3]
    for manifest in change(folder):
        del manifest["files"][name]["rows"]
    return MANIFEST


def one_cell_of_another_group(folder: Path) -> str:
    """A forger who describes the file anew breaks the promise of the model."""
    name = parts(folder)[3]
    rows = read(folder / name)
    if isinstance(rows, pl.DataFrame):
        last = rows[-1:].with_columns(city=pl.lit("zzz"))
        write(folder / name, pl.concat([rows[:-1], last]))
    else:
        cells = rows[-1].split(b",")
        write(folder / name, [*rows[:-1], b",".join([cells[0], b"zzz", *cells[2:]])])
    relist(folder, name)
    return "k-anonymity (k=4)"


TAMPERINGS: list[Callable[[Path], str]] = [
    changed_cell, removed_part, removed_table, unlisted_part, removed_and_unlisted, removed_last,
    added_beside_parts, added_hidden, added_folder, added_part, added_part_listed, swapped_names,
    swapped_and_listed, turned_part, wrong_rows, row_moved_to_the_next, other_columns_listed,
    renamed_column, reordered_columns, further_column, no_header, torn_row, link_to_part,
    link_to_folder, folder_in_place_of_a_part, fifo_in_place_of_a_part, file_beside_the_folder,
    both_file_and_folder_listed, a_second_table, undescribed_part, one_cell_of_another_group,
]  # fmt: skip
