"""A table of patients in a file of SQLite, and in one of DuckDB."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb

PATIENTS = [(20 + n % 30, "MF"[n % 2], ("Flu", "HIV")[n % 2]) for n in range(60)]


def registry(folder: Path) -> Path:
    path = folder / "registry.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE patients (age, sex, disease)")
        connection.executemany("INSERT INTO patients VALUES (?, ?, ?)", PATIENTS)
        connection.commit()
    return path


def warehouse(folder: Path) -> Path:
    path = folder / "visits.duckdb"
    with closing(duckdb.connect(str(path))) as connection:
        connection.execute("CREATE TABLE patients (age INTEGER, sex VARCHAR, disease VARCHAR)")
        connection.executemany("INSERT INTO patients VALUES (?, ?, ?)", PATIENTS)
    return path
