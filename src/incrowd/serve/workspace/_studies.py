"""Studies: what a worker finds in files, for the page that shows them and counts their risk."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from incrowd._runtime.progress import Progress

WHOSE = "whose.npy"
"""For each row of a table the number of its patient, -1 where the table of patients has none."""
_HEAD = 1_000
"""Rows of a file that are kept as text, to be shown."""


def study(
    progress: Progress,
    path: str,
    folder: str,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
) -> Any:
    """Profile a file, draft its policy, and leave its columns as codes in a folder.

    Notes
    -----
    The file is read once. Every column costs one coding of its n cells; what is kept on disk is at
    most 4 bytes for each, and the distinct texts.
    """
    from dataclasses import asdict, replace

    from incrowd.profiling import profile, starting_policy
    from incrowd.sources import describe, read
    from incrowd.sources.files import TextOptions

    source = Path(path)
    progress("reading", 0, 1)
    options = TextOptions(separator=separator, encoding=encoding, header=header)
    frame = read(source, **options)
    progress("profiling", 0, 1)
    reading = {name: value for name, value in options.items() if isinstance(value, str | bool)}
    found = replace(profile(frame), source=describe(source), reading=reading)
    text = starting_policy(found, source_name=source.name, policy_name=f"{source.stem}.yaml")
    coded = kept_columns(progress, frame, Path(folder))
    return {"profile": asdict(found), "policy": text, "coded": coded}


def study_tables(
    progress: Progress,
    folder: str,
    separator: str | None,
    encoding: str | None,
    header: bool | None,
    *paths: str,
) -> Any:
    """Profile files that hang together, draft the policy for all, and leave their columns as codes.

    Each table has a folder of its own, named by its place, with whose its rows are.

    Notes
    -----
    Each file is read twice: for the profile, which needs all of them together, and then one after
    the other for what is kept of them, as of a flat file.
    """
    from dataclasses import asdict

    from incrowd.profiling import linked_policy, profile_tables
    from incrowd.sources import read
    from incrowd.sources.files import TextOptions
    from incrowd.table.profiles import PATIENTS

    text = TextOptions(separator=separator, encoding=encoding, header=header)
    progress("reading", 0, 1)
    files = [Path(path) for path in paths]
    found = profile_tables(files, separator=separator, encoding=encoding, header=header)
    named = {name: source.paths[0].name for name, source in found.sources.items()}
    own, linking = found.patients, _linking(found.patients.unit.unit)
    units = {PATIENTS: own.unit.unit, **{each.name: each.unit for each in found.tables}}
    unmatched = {each.name: each.unmatched for each in found.tables}
    tables = []
    for number, (name, unit) in enumerate(units.items()):
        frame = read(found.sources[name], **text)
        place = Path(folder) / str(number)
        coded = kept_columns(progress, frame, place)
        linking(frame.get_column(unit), place)
        tables.append(
            {
                "name": name,
                "file": named[name],
                "rows": frame.height,
                "unit": unit,
                "unmatched": unmatched.get(name, 0),
                "columns": frame.columns,
                "coded": coded,
            }
        )
    policy = linked_policy(found, source_names=named)
    return {"profile": asdict(found.whole), "policy": policy, "tables": tables}


def _linking(key: str) -> Callable[[Any, Path], None]:
    """What keeps whose the rows of a table are; that of the patients comes first."""
    import numpy as np

    from incrowd.table.repeats import Linking

    linking, known = Linking(key), False

    def keep(cells: Any, folder: Path) -> None:
        nonlocal known
        hashes = linking.hashes(cells)
        numbers = linking.numbers(hashes) if known else linking.patients(hashes)[0]
        known = True
        np.save(folder / WHOSE, numbers)

    return keep


def demo(progress: Progress, folder: str, coded: str) -> Any:
    """Write the bundled registry with its hierarchies into a folder, and study it."""
    from incrowd import datasets
    from incrowd.sources import write

    name = "cancer-registry"
    progress("generating a registry", 0, 1)
    path = Path(folder) / f"{name}.csv"
    write(datasets.load(name), path)
    datasets.export_hierarchies(name, folder)
    return {**study(progress, str(path), coded), "policy": datasets.policy(name)}


def kept_columns(progress: Progress, frame: Any, folder: Path) -> list[int]:
    """Write codes and distinct texts of every column; returns how many codes each has."""
    import numpy as np
    import polars as pl

    from incrowd.attacks.targets import code_as_seen, code_as_text
    from incrowd.table.spellings import fold

    folder.mkdir(parents=True, exist_ok=True)
    head = {"columns": frame.columns, "rows": _texts(frame.head(_HEAD))}
    (folder / "head.json").write_text(json.dumps(head, ensure_ascii=False), encoding="utf-8")
    cardinalities = []
    for number, series in enumerate(frame.get_columns()):
        progress("coding", number, frame.width)
        plain = code_as_text(series)
        values = pl.Series(
            "text", [*plain.values, *([None] * bool(plain.missing))], dtype=pl.String
        )
        counted = pl.Series("records", plain.counts())
        pl.DataFrame([values, counted]).write_parquet(folder / f"{number}.parquet")
        seen = code_as_seen(series)
        np.save(folder / f"{number}.npy", seen.codes)
        if seen.kind == "category":
            spelled = fold(plain.values)
            if len(spelled.values) < len(plain.values):
                of_code = np.array([*spelled.value_of, len(spelled.values)])
                np.save(folder / f"{number}.values.npy", of_code)
        cardinalities.append(seen.cardinality)
    return cardinalities


def _texts(frame: Any) -> list[list[str | None]]:
    """The cells of a frame as the text they would be published as."""
    from incrowd.table.dictionary import as_text

    columns = [as_text(series).to_list() for series in frame.get_columns()]
    return [list(row) for row in zip(*columns, strict=True)]


def head_of(folder: Path) -> dict[str, Any]:
    """The columns and the first rows that a study kept of a table."""
    found: dict[str, Any] = json.loads((folder / "head.json").read_text(encoding="utf-8"))
    return found
