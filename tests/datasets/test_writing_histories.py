import errno
from itertools import pairwise
from pathlib import Path

import pytest

from incrowd import datasets
from incrowd._runtime.progress import silent
from incrowd.datasets.patient_histories import FLAT, TABLES, _making
from incrowd.errors import OutputError

AskedHistories = _making.AskedHistories


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("dirt", [0.0, 0.2])
def test_bytes_do_not_depend_on_pieces_or_threads(
    flat: bool, dirt: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, names = AskedHistories(1500, 7, dirt, flat), tuple(FLAT if flat else TABLES)
    told = {}
    for size in (10_000, 371, 97):
        place = tmp_path / str(size)
        told[size] = _making.write_pieces(asked, place, names, silent, size)
    monkeypatch.setattr(_making, "threads", lambda: 1)
    told[500] = _making.write_pieces(asked, tmp_path / "500", names, silent, 500)
    for size in (371, 97, 500):
        assert contents(tmp_path / str(size)) == contents(tmp_path / "10000"), size
        assert told[size] == told[10_000]


@pytest.mark.parametrize("flat", [False, True])
def test_files_hold_what_is_loaded(flat: bool, tmp_path: Path) -> None:
    written = datasets.write_histories(tmp_path / "a" / "b", 200, seed=3, dirt=0.1, flat=flat)
    loaded = datasets.load_histories(200, seed=3, dirt=0.1, flat=flat)
    assert sorted(written.files) == sorted(FLAT if flat else TABLES)
    for name, path in written.files.items():
        assert path == tmp_path / "a" / "b" / f"{name}.csv"
        assert path.read_text(encoding="utf-8") == loaded.tables[name].write_csv()
        assert written.rows[name] == loaded.tables[name].height
    assert written.wrong == loaded.wrong


def test_progress_tells_how_many_patients_are_done(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    names = tuple(TABLES)
    _making.write_pieces(
        AskedHistories(500, 0, 0.0, False),
        tmp_path / "x",
        names,
        lambda *each: told.append(each),
        200,
    )
    assert told == [("generating patients", done, 500) for done in (0, 200, 400, 500)]


def test_no_more_pieces_are_made_ahead_than_there_are_makers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[int] = []

    def made(_asked: AskedHistories, first: int, _many: int) -> _making.HistoryPiece:
        begun.append(first)
        return {}

    monkeypatch.setattr(_making, "made", made)
    for taken, _ in enumerate(_making.pieces(AskedHistories(100, 0, 0.0, False), 1), start=1):
        assert len(begun) <= taken + 2
    assert begun == sorted(begun)
    assert len(begun) == 100


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
def test_nothing_appears_when_it_stops_half_way(
    error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    genuine = _making.made

    def made(asked: AskedHistories, first: int, many: int) -> _making.HistoryPiece:
        if first:
            raise error
        return genuine(asked, first, many)

    monkeypatch.setattr(_making, "made", made)
    monkeypatch.setattr(_making, "PIECE", 50)
    expected = OutputError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected) as caught:
        _making.write_pieces(
            AskedHistories(200, 0, 0.0, False), tmp_path / "x", tuple(TABLES), silent, size=50
        )
    assert isinstance(error, KeyboardInterrupt) or "No space left" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_files_that_stand_are_replaced_only_when_asked(tmp_path: Path) -> None:
    (tmp_path / "conditions.csv").write_text("precious")
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"conditions\.csv' exists"):
        datasets.write_histories(tmp_path, 5)
    assert (tmp_path / "conditions.csv").read_text() == "precious"
    datasets.write_histories(tmp_path, 5, replace=True)
    assert (tmp_path / "conditions.csv").read_text().startswith("patient,encounter")
    datasets.write_histories(tmp_path, 5, flat=True)
    names = {"notes.txt", "visits.csv", *(f"{name}.csv" for name in TABLES)}
    assert {path.name for path in tmp_path.iterdir()} == names
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(OutputError, match="is a file"):
        datasets.write_histories(tmp_path / "x", 5)
    with pytest.raises(OutputError, match="Cannot write the histories"):
        datasets.write_histories(tmp_path / "x" / "y", 5)


def test_what_is_drawn_for_one_thing_is_not_drawn_for_another() -> None:
    """Draws of two purposes whose check sums are equal would be the same draws."""
    import re
    import zlib

    from incrowd.datasets.patient_histories._tables import diseases

    purposes = {f"ill with {name}" for name in diseases().names}
    for path in Path(_making.__file__).parent.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        purposes.update(re.findall(r'(?:chance|uniform|bits|below|names)\(\s*f?"([^"]+)"', text))
    assert len(purposes) > 150
    sums = sorted(zlib.crc32(purpose.encode()) for purpose in purposes)
    assert all(one < other for one, other in pairwise(sums))
