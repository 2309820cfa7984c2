"""A table whose protected values are spelled anew at random gives the same release, everywhere."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patients import OPTIONS, PRIVACY, frame_of, option_name, patients, policy_of

import incrowd
from incrowd.engines import collapse
from incrowd.table.spellings import folded

RECORDS = patients()
PROTECTED = ("ill", "grade", "income")
DUCKDB = {"engine": "duckdb", "memory": "300MB"}
ONE_EACH = list({each["method"]["name"]: at for at, each in enumerate(OPTIONS)}.values())
WIDE = {ord("!") + at: 0xFF01 + at for at in range(94)}
WAYS = (
    str,
    str.upper,
    str.title,
    "  {}\t".format,
    "\u00a0{}".format,
    "{}\u200b".format,
    "\ufeff{}".format,
    lambda text: text[0] + "\u00ad" + text[1:],
    lambda text: text.translate(WIDE),
)
NUMBERS = (str, "{}.0".format, "{}e0".format, "+{}".format, " {}".format, WAYS[-1], "0.{}e1".format)


def spelled(draw: random.Random, names: tuple[str, ...]) -> pl.DataFrame:
    """The patients, with each cell of some columns spelled in some way."""
    records = []
    for record in RECORDS:
        cells = dict(record)
        for name in names:
            text = cells[name]
            if text is not None:
                cells[name] = draw.choice(NUMBERS if text.isdigit() else WAYS)(text)
            elif draw.random() < 0.5:
                cells[name] = draw.choice((" ", "\u200b", "\u00a0"))
        records.append(cells)
    return frame_of(records)


def protected_by(privacy: list[dict[str, Any]]) -> tuple[str, ...]:
    """The sensitive attributes, and the target where a model protects it."""
    named = str([next(iter(each.values())) for each in privacy])
    return PROTECTED if "income" in named else PROTECTED[:2]


def shown(source: pl.DataFrame, policy: dict[str, Any]) -> dict[str, Counter[Any]]:
    """The rows of all tables of a release, whatever the spelling of their protected values."""
    names = protected_by(policy["privacy"])
    release = incrowd.anonymize(source, policy, accept_unprotected=True)
    rows = {}
    for table, frame in release.tables.items():
        texts = {name: frame[name].cast(pl.String).drop_nulls().unique() for name in names
                 if name in frame.columns}  # fmt: skip
        for each in texts.values():
            assert len({folded(text) for text in each}) == len(each)
        written = [
            pl.col(name).cast(pl.String).map_elements(folded, return_dtype=pl.String)
            for name in texts
        ]
        rows[table] = Counter(frame.with_columns(written).rows())
    return rows


def small(privacy: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A policy that publishes few columns, so that it takes little time."""
    policy = policy_of(privacy, other="drop", **more)
    kept = ("id", "age", "job", *PROTECTED)
    attributes = {name: policy["attributes"][name] for name in kept}
    return {**policy, "attributes": attributes}


@pytest.mark.parametrize("name", PRIVACY)
def test_no_promise_is_kept_or_broken_by_spelling(name: str) -> None:
    method = {"name": "mondrian", "resist": "nothing"}
    policy = small(PRIVACY[name], suppression=0.1, method=method)
    source = spelled(random.Random(name), protected_by(PRIVACY[name]))
    assert shown(source, policy) == shown(frame_of(RECORDS), policy)


@pytest.mark.parametrize("option", ONE_EACH, ids=option_name)
def test_no_method_groups_by_spelling(option: int) -> None:
    policy = policy_of(PRIVACY["distinct"], **OPTIONS[option])
    source = spelled(random.Random(option), PROTECTED[:2])
    assert shown(source, policy) == shown(frame_of(RECORDS), policy)


@given(st.randoms(use_true_random=False))
@settings(max_examples=10)
def test_spellings_change_nothing(draw: random.Random) -> None:
    policy = small(PRIVACY["several at once"], method="incognito")
    assert shown(spelled(draw, PROTECTED[:2]), policy) == shown(frame_of(RECORDS), policy)


@pytest.mark.parametrize("publish", ["generalized", "anatomy", "lossy-join"])
@pytest.mark.parametrize("stays", [False, True])
def test_every_home_publishes_the_same_spellings(
    publish: str, stays: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = spelled(random.Random(3), PROTECTED[:2])
    privacy = [{"alpha-k": {"alpha": 0.7, "k": 4, "sensitive": "ill", "values": ["FLU", "Copd"]}}]
    policy = policy_of(privacy, method="mondrian", publish=publish)
    expected = incrowd.anonymize(source, policy, accept_unprotected=True)
    if stays:
        monkeypatch.setattr(collapse, "BYTES_A_CODE", 10**12)
    found = incrowd.anonymize(source, {**policy, **DUCKDB}, accept_unprotected=True)
    for name, table in expected.tables.items():
        assert found.tables[name].rows() == table.rows()
    assert found.manifest == expected.manifest
    told = [each for each in expected.remarks if each.startswith("Column ")]
    assert [each for each in found.remarks if each.startswith("Column ")] == told
    assert any("5 values are written in" in each for each in told)
