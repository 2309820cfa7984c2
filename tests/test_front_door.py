"""The package as a newcomer finds it: its names and rooms, and what importing them loads."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import polars as pl
import pytest

import incrowd

HEAVY = {
    *("altair", "cryptography", "duckdb", "fastapi", "highspy", "jinja2", "mpyc", "narwhals"),
    *("nicegui", "numba", "numpy", "pandas", "polars", "pyarrow", "pyspark", "sklearn", "uvicorn"),
}
"""What takes long to import, and is not needed before it is used."""


def python(code: str) -> str:
    """What a fresh interpreter prints."""
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout


def test_every_room_and_name_is_an_attribute_as_soon_as_the_package_is_imported() -> None:
    listed = python(
        "import incrowd\nfor name in dir(incrowd): print(name, getattr(incrowd, name).__class__)"
    )
    kinds = dict(line.split(" ", 1) for line in listed.splitlines())
    assert set(kinds) == set(dir(incrowd))
    assert kinds["attacks"] == "<class 'module'>"
    assert kinds["verify"] == "<class 'function'>"


def test_the_names_listed_are_the_public_names_and_the_rooms() -> None:
    rooms = set(dir(incrowd)) - set(incrowd.__all__)
    assert set(incrowd.__all__) <= set(dir(incrowd))
    assert rooms >= {"attacks", "utility", "privacy", "feasibility", "datasets", "errors", "query"}
    for room in rooms:
        assert getattr(incrowd, room) is import_module(f"incrowd.{room}")
    with pytest.raises(AttributeError, match="no attribute 'anonymise'"):
        incrowd.anonymise  # noqa: B018


def test_verify_stays_the_function_whatever_of_its_room_is_imported() -> None:
    import_module("incrowd.verify.verdict")
    assert callable(incrowd.verify)


@pytest.mark.parametrize(
    "code",
    ["import incrowd", "from incrowd.cli import main", "import incrowd; dir(incrowd)"],
)
def test_nothing_heavy_is_imported_before_it_is_used(code: str) -> None:
    loaded = python(f"{code}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})")
    assert "incrowd" in loaded.split()
    assert not HEAVY & set(loaded.split())


def test_the_help_needs_nothing_heavy() -> None:
    code = (
        "import sys; from incrowd.cli import main; sys.argv = ['incrowd', '--help']\n"
        "try: main()\n"
        "except SystemExit: print('loaded:', *{name.split('.')[0] for name in sys.modules})"
    )
    told, _, loaded = python(code).rpartition("loaded:")
    assert "anonymize" in told
    assert not HEAVY & set(loaded.split())


def test_a_release_shows_its_promises_records_and_columns_and_no_cell(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [30, 30, 52, 52], "ill": ["Flu", "HIV", "Flu", "Gout"]})
    diverse = {"l": 2, "alpha": 1, "sensitive": "ill", "categories": [["Flu"], ["HIV", "Gout"]]}
    release = incrowd.anonymize(
        frame,
        {
            "attributes": {"age": "quasi", "ill": "sensitive"},
            "privacy": [{"k-anonymity": {"k": 2}}, {"l-alpha-diversity": diverse}],
        },
    )
    shown = (
        "<Release: k-anonymity (k = 2); l-alpha-diversity (l = 2, alpha = 1.0); "
        "4 records of ['age', 'ill']>"
    )
    assert repr(release) == shown
    release.save(tmp_path / "release", report=False)
    assert repr(release) == shown
