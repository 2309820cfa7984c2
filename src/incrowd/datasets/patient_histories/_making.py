"""Makes histories piece by piece, and writes them into files that appear when all are complete.

A piece is a run of patients. Everything is drawn by the number of the patient, so that the pieces
are the same together however they are cut, and whoever makes which.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import polars as pl

from incrowd._runtime.progress import Progress
from incrowd._runtime.scratch import staging
from incrowd._runtime.threads import threads
from incrowd.datasets.numbered_draws import NumberedDraws
from incrowd.datasets.patient_histories._diagnoses import draw_diagnoses
from incrowd.datasets.patient_histories._dirt import Dirt, WrongRows
from incrowd.datasets.patient_histories._frames import HistoryTables, MadeTable
from incrowd.datasets.patient_histories._people import draw_people
from incrowd.datasets.patient_histories._planned import draw_visits
from incrowd.errors import OutputError

PIECE = 50_000
"""Patients of a piece."""
_MOST_MAKERS = 2  # a piece takes some 300 MB while it is made

HistoryPiece = dict[str, MadeTable]


@dataclass(frozen=True)
class AskedHistories:
    """Which histories are made."""

    patients: int
    seed: int
    dirt: float
    flat: bool


def made(asked: AskedHistories, first: int, many: int) -> HistoryPiece:
    """Return the tables of some of the patients, with what is wrong in them."""
    draws = NumberedDraws(asked.seed)
    people = draw_people(draws, np.arange(first, first + many, dtype=np.uint64))
    visited = draw_diagnoses(draws, people, draw_visits(draws, people))
    tables = HistoryTables(draws, Dirt(draws, asked.dirt), people, visited)
    return tables.flat() if asked.flat else tables.several()


def pieces(asked: AskedHistories, size: int = PIECE) -> Iterator[HistoryPiece]:
    """Yield the tables piece by piece, in order; the next ones are made meanwhile."""
    starts = range(0, asked.patients, size)
    makers = min(threads(), _MOST_MAKERS, len(starts))
    with ThreadPoolExecutor(makers) as pool:
        coming: deque[Future[HistoryPiece]] = deque()
        todo = (
            pool.submit(made, asked, first, min(size, asked.patients - first)) for first in starts
        )
        try:
            coming.extend(islice(todo, makers))
            while coming:
                piece = coming.popleft().result()
                coming.extend(islice(todo, 1))
                yield piece
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def added(known: dict[str, WrongRows], piece: HistoryPiece) -> None:
    """Add the wrong rows of a piece to those of the ones before it."""
    for name, (_, wrong) in piece.items():
        counts = known.setdefault(name, {})
        for way, many in wrong.items():
            counts[way] = counts.get(way, 0) + many


def write_pieces(
    asked: AskedHistories,
    folder: Path,
    names: tuple[str, ...],
    progress: Progress,
    size: int = PIECE,
) -> tuple[dict[str, int], dict[str, WrongRows]]:
    """Write all pieces into CSV files of a folder; return how many rows each has, and wrong ones.

    They are written beside the folder and moved there when all are complete.
    """
    rows, wrong, done = dict.fromkeys(names, 0), dict[str, WrongRows](), 0
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with staging(folder) as stage:
            with ExitStack() as stack:
                files = {
                    name: stack.enter_context((stage / f"{name}.csv").open("wb")) for name in names
                }
                progress("generating patients", 0, asked.patients)
                for piece in pieces(asked, size):
                    for name, (frame, _) in piece.items():
                        frame.write_csv(files[name], include_header=done == 0)
                        rows[name] += frame.height
                    added(wrong, piece)
                    done = min(done + size, asked.patients)
                    progress("generating patients", done, asked.patients)
            folder.mkdir(exist_ok=True)
            for name in names:
                (stage / f"{name}.csv").replace(folder / f"{name}.csv")
    except (OSError, pl.exceptions.PolarsError) as error:
        why = error.strerror if isinstance(error, OSError) else "the disk is full or fails"
        raise OutputError(
            f"Cannot write the histories to '{folder}': {why}. Choose another folder, or make room."
        ) from error
    return rows, wrong
