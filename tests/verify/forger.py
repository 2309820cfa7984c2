"""A forger: takes an honest release and hides something in it, with digests that fit.

Each of `FORGERIES` changes the release in a folder and makes its digests anew, so that only a judge
who knows the one form of each file finds it. One that does not fit the release raises NotHere.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
from handmade_release import csv_text, described, read_manifest, write_manifest

RAW = "Mrs Smith of 12 High Street has HIV"
GROUP_ROWS = 1 << 18


class NotHere(Exception):  # noqa: N818 - it is no error
    """The release has no place for this forgery."""


@contextmanager
def changed(folder: Path) -> Iterator[dict[str, Any]]:
    """The manifest, to be changed and sealed anew."""
    manifest = read_manifest(folder)
    yield manifest
    for name, told in manifest["files"].items():
        told |= described(folder / name)
    write_manifest(folder, manifest)


def tables(folder: Path, ending: str) -> list[Path]:
    found = sorted(folder.glob(f"*{ending}"))
    if not found:
        raise NotHere
    return found


# Text files


def in_csv(change: Callable[[list[bytes]], list[bytes]]) -> Callable[[Path], None]:
    """A forgery that changes the lines of the table of records, and of nothing else."""

    def forge(folder: Path) -> None:
        path = tables(folder, ".csv")[0]
        path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))
        with changed(folder):
            pass

    return forge


def quoted_row(lines: list[bytes]) -> list[bytes]:
    cells = lines[2].rstrip(b"\n").split(b",")
    marked = b",".join(b'"%s"' % cell for cell in cells) + b"\n"
    return [*lines[:2], marked, *lines[3:]]


def quoted_cell(lines: list[bytes]) -> list[bytes]:
    first, _, rest = lines[3].partition(b",")
    return [*lines[:3], b'"%s",%s' % (first, rest), *lines[4:]]


def quoted_header(lines: list[bytes]) -> list[bytes]:
    return [quoted_row([b"", b"", lines[0]])[2], *lines[1:]]


def trailing_comma(lines: list[bytes]) -> list[bytes]:
    return [*lines[:2], lines[2].replace(b"\n", b",\n"), *lines[3:]]


def every_trailing_comma(lines: list[bytes]) -> list[bytes]:
    return [lines[0], *(line.replace(b"\n", b",\n") for line in lines[1:])]


def carriage_return(lines: list[bytes]) -> list[bytes]:
    return [*lines[:2], lines[2].replace(b"\n", b"\r\n"), *lines[3:]]


CSV: dict[str, Callable[[Path], None]] = {
    "one quoted row": in_csv(quoted_row),
    "one quoted cell": in_csv(quoted_cell),
    "a quoted header": in_csv(quoted_header),
    "a trailing comma": in_csv(trailing_comma),
    "trailing commas in all rows": in_csv(every_trailing_comma),
    "a carriage return": in_csv(carriage_return),
    "an empty line at the end": in_csv(lambda lines: [*lines, b"\n"]),
    "an empty line at the top": in_csv(lambda lines: [lines[0], b"\n", *lines[1:]]),
    "no line feed at the end": in_csv(lambda lines: [*lines[:-1], lines[-1][:-1]]),
    "a byte order mark": in_csv(lambda lines: [b"\xef\xbb\xbf" + lines[0], *lines[1:]]),
    "a blank behind a number": in_csv(
        lambda lines: [*lines[:-1], lines[-1].replace(b"\n", b" \n")]
    ),
}


# Parquet files


def in_parquet(change: Callable[[pl.DataFrame, Path], None]) -> Callable[[Path], None]:
    """A forgery that writes the table of records anew."""

    def forge(folder: Path) -> None:
        path = tables(folder, ".parquet")[0]
        change(pl.read_parquet(path), path)
        with changed(folder):
            pass

    return forge


def written(frame: pl.DataFrame, path: Path, **how: Any) -> None:
    frame.lazy().sink_parquet(path, **{"row_group_size": GROUP_ROWS, "maintain_order": True, **how})


def empty_text(frame: pl.DataFrame, path: Path) -> None:
    """One of the records whose cell is missing gets an empty text: it is alone now."""
    name = next(
        (n for n in frame.columns if frame[n].null_count() and frame[n].dtype == pl.String), None
    )
    if name is None:
        raise NotHere
    cells = frame[name].to_list()
    cells[cells.index(None)] = ""
    written(frame.with_columns(pl.Series(name, cells, pl.String)), path)


def nan_payloads(frame: pl.DataFrame, path: Path) -> None:
    """A column of numbers as floats, where a missing one is a NaN that tells its row."""
    name = next((n for n in frame.columns if frame[n].dtype == pl.Int64), None)
    if name is None:
        raise NotHere
    bits = [struct.unpack("<d", struct.pack("<Q", 0x7FF8000000000000 + row))[0] for row in range(2)]
    cells = [*bits, *frame[name].cast(pl.Float64)[2:].to_list()]
    written(frame.with_columns(pl.Series(name, cells, pl.Float64)), path)


def gap(path: Path, at: int | None) -> None:
    """Bytes that no reader opens: behind the pages, or behind the magic at the beginning."""
    data = path.read_bytes()
    footer = int.from_bytes(data[-8:-4], "little")
    place = len(data) - 8 - footer if at is None else at
    path.write_bytes(data[:place] + RAW.encode() + data[place:])


def by_arrow(frame: pl.DataFrame, path: Path) -> None:
    import pyarrow.parquet

    pyarrow.parquet.write_table(frame.to_arrow(), path)


def of_another_version(frame: pl.DataFrame, path: Path) -> None:
    """Metadata in a file that names another version of its writer, of the same length."""
    written(frame, path, metadata={"note": RAW})
    version = pl.__version__.encode()
    path.write_bytes(path.read_bytes().replace(version, b"9" + version[1:]))


def with_more_categories(frame: pl.DataFrame, path: Path) -> None:
    name = next(n for n in frame.columns if frame[n].dtype == pl.String)
    known = [*frame[name].drop_nulls().unique().sort().to_list(), RAW]
    written(frame.with_columns(frame[name].cast(pl.Enum(known))), path)


PARQUET: dict[str, Callable[[Path], None]] = {
    "an empty text beside null": in_parquet(empty_text),
    "NaN payloads": in_parquet(nan_payloads),
    "metadata": in_parquet(lambda f, path: written(f, path, metadata={"note": RAW})),
    "metadata under another version": in_parquet(of_another_version),
    "bytes behind the pages": in_parquet(lambda _, path: gap(path, None)),
    "other row groups": in_parquet(lambda f, path: written(f, path, row_group_size=7)),
    "no statistics": in_parquet(lambda f, path: written(f, path, statistics=False)),
    "another compression": in_parquet(lambda f, path: written(f, path, compression="snappy")),
    "another writer": in_parquet(by_arrow),
    "unused categories": in_parquet(with_more_categories),
}


# The manifest


def in_manifest(change: Callable[[dict[str, Any]], None]) -> Callable[[Path], None]:
    def forge(folder: Path) -> None:
        with changed(folder) as manifest:
            change(manifest)

    return forge


def put(*steps: Any) -> Callable[[Path], None]:
    """A forgery that puts a value, the last step, at a place in the manifest."""
    *path, last, value = steps

    def change(manifest: dict[str, Any]) -> None:
        part: Any = manifest
        for step in path:
            part = part[step]
        part[last] = value

    return in_manifest(change)


def published(manifest: dict[str, Any], **wanted: Any) -> dict[str, Any]:
    for entry in manifest["attributes"]:
        if all(entry.get(key) == value for key, value in wanted.items()):
            return dict(entry)
    raise NotHere


def promise(model: str, **parameters: Any) -> Callable[[Path], None]:
    """A forgery that makes one promise more, and states what it measures as nothing."""

    def change(manifest: dict[str, Any]) -> None:
        manifest["promises"].append({"model": model, "parameters": parameters})
        manifest.pop("measured", None)

    return in_manifest(change)


def named_ancestors(manifest: dict[str, Any]) -> None:
    values = ["Flu", "Gout", "HIV", "Ulcer"]
    manifest["promises"].append(
        {
            "model": "t-closeness",
            "parameters": {"t": 0.99, "distance": "hierarchical", "sensitive": "ill"},
            "ancestors": {value: [RAW] for value in values},
        }
    )
    manifest.pop("measured", None)


def foreign_label(manifest: dict[str, Any]) -> None:
    entry = next((e for e in manifest["attributes"] if "weights" in e), None)
    if entry is None:
        raise NotHere
    entry["weights"] = dict(sorted({**entry["weights"], RAW: 2}.items()))


def unpublished_role(manifest: dict[str, Any]) -> None:
    next(e for e in manifest["attributes"] if not e["published"])["role"] = RAW


def other_order(manifest: dict[str, Any]) -> None:
    manifest["records"] = dict(reversed(manifest["records"].items()))


def fewer_alone(manifest: dict[str, Any]) -> None:
    manifest["unprotected"]["unique"] = 0


def silent_on_the_alone(manifest: dict[str, Any]) -> None:
    del manifest["unprotected"]


def listed_elsewhere(manifest: dict[str, Any]) -> None:
    manifest["unprotected"]["columns"] = []


def rewritten(folder: Path, text: Callable[[str], str]) -> None:
    path = folder / "manifest.json"
    path.write_text(text(path.read_text(encoding="utf-8")), encoding="utf-8")


MANIFEST: dict[str, Callable[[Path], None]] = {
    "an unknown key": put("note", RAW),
    "an unknown key of an attribute": put("attributes", 1, "note", RAW),
    "an unknown key of the records": put("records", "note", RAW),
    "an unknown key of a promise": put("promises", 0, "note", RAW),
    "an unknown parameter": put("promises", 0, "parameters", "note", RAW),
    "an unknown key of the method": put("method", "note", RAW),
    "an unknown option": put("method", "options", "note", RAW),
    "a sentence as levels": put("method", "levels", RAW),
    "a sentence as goal": put("goal", RAW),
    "a sentence as version": put("incrowd", f"0.1.0 {RAW}"),
    "a sentence as hierarchy": put("attributes", 1, "hierarchy", RAW),
    "a sentence as type": put("attributes", 1, "type", RAW),
    "a sentence as date format": put("attributes", 1, "format", RAW),
    "a sentence as role": in_manifest(unpublished_role),
    "a list as domain": put("attributes", 1, "domain", [1, 2, 3]),
    "a label that no record shows": in_manifest(foreign_label),
    "keys in another order": in_manifest(other_order),
    "other white space": lambda folder: rewritten(folder, lambda text: text + " " * 9),
    "escaped letters": lambda folder: rewritten(
        folder, lambda text: text.replace('"format"', '"\\u0066ormat"', 1)
    ),
    "one line": lambda folder: rewritten(folder, lambda text: json.dumps(json.loads(text))),
    "a promise about a value that no record has": promise(
        "confidence-bounding", C=0.01, sensitive="ill", values=["Plague"]
    ),
    "a promise that lists one more value": promise(
        "confidence-bounding", C=0.99, sensitive="ill", values=["HIV", RAW]
    ),
    "a promise about no column": promise("confidence-bounding", C=0.5, sensitive="iq", values=None),
    "k-anonymity of one": promise("k-anonymity", k=1),
    "a confidence of one": promise("confidence-bounding", C=1.0, sensitive="ill", values=None),
    "l-diversity of one": promise("l-diversity", l=1, kind="distinct", c=None, sensitive="ill"),
    "t-closeness of one": promise("t-closeness", t=1.0, distance="equal", sensitive="ill"),
    "p-sensitivity of one": promise("p-sensitive", p=1, k=1, sensitive="ill"),
    "names above values": in_manifest(named_ancestors),
    "fewer records alone": in_manifest(fewer_alone),
    "silence on records alone": in_manifest(silent_on_the_alone),
    "other untouched columns": in_manifest(listed_elsewhere),
}


# The folder


def listed_stranger(folder: Path) -> None:
    (folder / "notes.txt").write_text(RAW)
    with changed(folder) as manifest:
        manifest["files"]["notes.txt"] = described(folder / "notes.txt")


def stranger(folder: Path) -> None:
    (folder / "notes.txt").write_text(RAW)


def hidden_stranger(folder: Path) -> None:
    (folder / ".notes").write_text(RAW)


FOLDER: dict[str, Callable[[Path], None]] = {
    "a file more": stranger,
    "a hidden file": hidden_stranger,
    "a file more that is listed": listed_stranger,
}

# Values that differ in spelling alone

SPELLINGS = ("HIV", "hiv", "HIV ", "H\u200bIV", "\uff28\uff29\uff36", "HI\ufe0fV")
GROUPED_BY = {"data": ("age", "city"), "st_ill": ("group_id",), "ss": ("class_id",)}


def spelled_apart(folder: Path) -> None:
    """Gives all patients one value, in groups whose records spell it in different ways."""
    (path,) = [each for each in folder.iterdir() if each.stem in GROUPED_BY]
    is_csv = path.suffix == ".csv"
    frame = pl.read_csv(path, infer_schema=False) if is_csv else pl.read_parquet(path)
    counted = pl.int_range(pl.len()).over(GROUPED_BY[path.stem]) % len(SPELLINGS)
    spelled = counted.replace_strict(dict(enumerate(SPELLINGS)), return_dtype=pl.String)
    frame = frame.with_columns(spelled.alias("ill"))
    frame = frame.sort([pl.col(name).cast(pl.String).fill_null("") for name in frame.columns])
    if is_csv:
        rows = [["" if cell is None else cell for cell in row] for row in frame.rows()]
        path.write_bytes(csv_text(frame.columns, rows))
    else:
        written(frame, path)
    with changed(folder) as manifest:
        manifest["promises"] = [
            {"model": "k-anonymity", "parameters": {"k": 4}},
            {
                "model": "l-diversity",
                "parameters": {"l": 2, "kind": "distinct", "c": None, "sensitive": "ill"},
            },
        ]
        del manifest["measured"]


SPELLED = {"groups diverse by spelling alone": spelled_apart}
FORGERIES = {**CSV, **PARQUET, **MANIFEST, **FOLDER, **SPELLED}


def raw_rows_in_the_report(folder: Path) -> None:
    """What no judge refuses: it is listed as not judged."""
    path = folder / "report.html"
    path.write_text(path.read_text(encoding="utf-8") + RAW, encoding="utf-8")
    with changed(folder):
        pass
