"""Short names for messages, without passwords."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pandas
import polars as pl
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.sources import describe
from incrowd.sources.source import url_scheme


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("patients.csv", "patients.csv"),
        ("/data/2024/patients.csv", "patients.csv"),
        (Path("data/patients.parquet"), "patients.parquet"),
        (pandas.DataFrame(), "a pandas frame"),
        (pl.DataFrame(), "a polars frame"),
        (pl.LazyFrame(), "a polars frame"),
        (pyarrow.table({}), "a pyarrow table"),
        ({"a": [1]}, "a dict"),
        ("sqlite:///registry.db", "registry.db"),
        ("sqlite:////data/registry.db", "registry.db"),
        ("sqlite://", "a sqlite database"),
        ("postgresql://localhost/registry", "postgresql://localhost/registry"),
        ("postgres://ann@db.example.org:5433/registry", "postgres://db.example.org:5433/registry"),
        ("postgresql://ann:s3cret@host/registry?sslmode=require", "postgresql://host/registry"),
        ("postgresql://host/registry?user=ann&password=s3cret", "postgresql://host/registry"),
        ("postgresql://ann:s3/cr@et@host/registry", "postgresql://host/registry"),
        ("postgresql://ann:s3?cret@host/registry", "a postgresql database"),
        ("postgresql://host/registry?password=s3@cret", "a postgresql database"),
        ("postgresql://ann:s3cret@/registry?host=/run", "postgresql:///registry"),
        ("postgresql://", "a postgresql database"),
    ],
)
def test_describes_a_source(source: object, name: str) -> None:
    assert describe(source) == name


ODD = st.text(alphabet="cret/@:?#&%= ")


@given(password=st.builds(lambda before, after: f"{before}sé{after}", ODD, ODD))
def test_never_shows_a_password(password: str) -> None:
    for secret in (password, quote(password, safe="")):
        for url in (
            f"postgresql://ann:{secret}@host/registry",
            f"postgresql://host/registry?password={secret}",
            f"postgresql://ann@host/registry?password={secret}&sslmode=require",
        ):
            assert secret not in describe(url)
            assert "sé" not in describe(url)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sqlite:///a.db", True),
        ("postgresql://host/db", True),
        ("mysql://host/db", True),
        ("postgresql+psycopg://host/db", True),
        ("patients.csv", False),
        ("data/patients.csv", False),
        ("C:/patients.csv", False),
        ("C://patients.csv", False),
        (Path("sqlite:///a.db"), False),
        (None, False),
    ],
)
def test_tells_a_url_from_a_path(text: object, expected: bool) -> None:
    assert bool(url_scheme(text)) is expected
