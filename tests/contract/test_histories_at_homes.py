"""Patients with several rows, wherever these are kept: the same labels, up to the pseudonyms.

What memory gives is compared with what DuckDB gives, whether profiles fit into memory or stay on
disk. What a release shows is counted again in `test_histories.py`; here it is on those homes, too.
"""

from __future__ import annotations

import random
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_histories import OVER_EVENTS, frame_of, hold, policy_of, visits

import incrowd
from incrowd._runtime import randomness
from incrowd.counts import RowCounts
from incrowd.engines import collapse
from incrowd.errors import IncrowdError, PolicyError, UnprotectedError
from incrowd.methods import METHOD_OPTIONS
from incrowd.pipeline import Job
from incrowd.report.of_events import most_held, told_of_source

METHODS = [
    name for name, each in METHOD_OPTIONS.items() if each.generalizes and each.runs_on(RowCounts)
]
HOMES = ["fits", "stays"]
"""Whether the profiles fit into memory."""
ATTRIBUTES: dict[str, Any] = {
    "id": "identifier",
    "age": {"role": "quasi", "type": "numeric"},
    "sex": "quasi",
    "zip": {"role": "quasi", "take": "most-frequent"},
    "job": {"role": "sensitive", "take": "last"},
    "town": {"role": "keep", "take": "first"},
    "day": {"role": "keep", "level": "event", "type": "date"},
    "ill": {"role": "sensitive", "level": "event"},
    "ward": {"role": "keep", "level": "event"},
}


@contextmanager
def home(kept: str) -> Iterator[dict[str, Any]]:
    """What a policy says of a home, and whether profiles stay there."""
    with pytest.MonkeyPatch.context() as patch:
        if kept == "stays":
            patch.setattr(collapse, "BYTES_A_CODE", 10**12)
        yield {"engine": "duckdb", "memory": "300MB"}


def messy(seed: int, patients: int) -> pl.DataFrame:
    """Rows whose patients differ where they should not, on days of which some are equal."""
    draw = random.Random(seed)
    rows: list[tuple[Any, ...]] = []
    for patient in range(patients):
        age = draw.choice((*range(20, 60, 4), None))
        sex, towns = draw.choice("MF"), [draw.choice("PQ") for _ in range(2)]
        for _ in range(draw.choice((1, 1, 2, 4, 9))):
            name = draw.choice((f"p{patient}", f" P{patient}"))
            zip_code = draw.choice(("10", "11", "20", None))
            job = draw.choice(("nurse", "Nurse ", "baker", None))
            day = draw.choice(("2024-01-01", "2024-01-02", "2024-05-01", None))
            ill = draw.choice(("flu", "Flu", "hiv", "gout", None))
            row = (name, age, sex, zip_code, job, draw.choice(towns), day, ill, draw.choice("AB"))
            rows += [row] * draw.choice((1, 1, 2))
    draw.shuffle(rows)
    return pl.DataFrame(rows, list(ATTRIBUTES), orient="row", infer_schema_length=None)


def by_patient(shown: pl.DataFrame) -> Counter[tuple[Any, ...]]:
    """The rows of each patient, whoever that is."""
    rows: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for who, *cells in shown.rows():
        rows[who].append(tuple(map(str, cells)))
    return Counter(tuple(sorted(each)) for each in rows.values())


def made(frame: pl.DataFrame, policy: dict[str, Any]) -> tuple[Any, ...]:
    """The labels and the manifest of a release, or how it is refused."""
    try:
        release = incrowd.anonymize(frame, policy, accept_unprotected=True)
    except IncrowdError as error:
        return type(error), str(error)
    return by_patient(release.data), release.manifest


@settings(max_examples=15)
@given(
    st.integers(0, 10**6), st.sampled_from(METHODS), st.sampled_from(sorted(OVER_EVENTS)),
    st.sampled_from(HOMES), st.sampled_from(["drop", "value"]),
)  # fmt: skip
def test_random_patients_have_the_same_labels(
    number: int, method: str, model: str, kept: str, missing: str
) -> None:
    frame = messy(number, random.Random(number).randint(4, 30))
    policy = {
        "unit": "id", "attributes": ATTRIBUTES, "method": method, "suppression": 0.3,
        "missing": missing, "privacy": [{"k-anonymity": {"k": 3}}, OVER_EVENTS[model]],
    }  # fmt: skip
    expected = made(frame, policy)
    with home(kept) as where:
        assert made(frame, {**policy, **where}) == expected


@pytest.mark.parametrize("kept", HOMES)
def test_patients_who_are_suppressed_are_gone_with_all_that_only_they_had(kept: str) -> None:
    """Their values are in no domain, no dictionary and no list of what is shown."""
    frame = messy(5, 40)
    odd = frame.head(1).with_columns(
        id=pl.lit("odd"), sex=pl.lit("X"), ill=pl.lit("plague"), ward=pl.lit("Z")
    )
    only = {name: ATTRIBUTES[name] for name in ("id", "sex", "town", "ill", "day", "ward")}
    policy = {
        "unit": "id", "attributes": only, "other": "drop", "method": "incognito",
        "suppression": 0.1,
        "privacy": [
            {"k-anonymity": {"k": 3}},
            {"confidence-bounding": {"C": 0.6, "sensitive": "ill", "values": ["plague", "hiv"]}},
        ],
    }  # fmt: skip
    expected = made(pl.concat([frame, odd]), policy)
    assert expected[1]["patients"]["suppressed"] > 0
    assert "plague" not in str(expected[0])
    assert "'Z'" not in str(expected[0])
    with home(kept) as where:
        assert made(pl.concat([frame, odd]), {**policy, **where}) == expected


@pytest.mark.parametrize("kept", HOMES)
@pytest.mark.parametrize("number", range(len(METHODS)))
def test_every_method_counts_patients_on_disk(kept: str, number: int, tmp_path: Path) -> None:
    for model in list(OVER_EVENTS)[number :: len(METHODS)]:
        rows = visits(number)
        privacy = [{"k-anonymity": {"k": 4}}, OVER_EVENTS[model]]
        policy = policy_of(*privacy, method=METHODS[number], suppression=0.1)
        with home(kept) as where:
            release = incrowd.anonymize(frame_of(rows), {**policy, **where})
            assert release.save(tmp_path / "release", replace=True).holds
        hold(rows, incrowd.open_release(tmp_path / "release").data, policy, tmp_path)


@pytest.mark.parametrize("kept", HOMES)
def test_what_singles_patients_out_is_counted_alike(kept: str) -> None:
    for seed in range(3):
        frame = messy(seed, 12)
        policy = {
            "unit": "id", "attributes": ATTRIBUTES, "privacy": [{"k-anonymity": {"k": 3}}],
        }  # fmt: skip
        with pytest.raises(UnprotectedError) as expected:
            incrowd.anonymize(frame, policy)
        with home(kept) as where, pytest.raises(UnprotectedError) as raised:
            incrowd.anonymize(frame, {**policy, **where})
        assert str(raised.value) == str(expected.value)


def test_columns_of_patients_that_differ_are_refused_in_the_same_words() -> None:
    taken = {"age", "sex", "zip", "job", "town"}
    attributes = {
        name: {"role": "quasi"} if name in taken else asked for name, asked in ATTRIBUTES.items()
    }
    policy = {"unit": "id", "attributes": attributes, "privacy": [{"k-anonymity": {"k": 3}}]}
    with pytest.raises(PolicyError, match=r"'zip' \(of \d+ patients\)") as expected:
        incrowd.anonymize(messy(1, 20), policy)
    with home("fits") as where, pytest.raises(PolicyError) as raised:
        incrowd.anonymize(messy(1, 20), {**policy, **where})
    assert str(raised.value) == str(expected.value)


@pytest.mark.parametrize("kept", HOMES)
def test_pseudonyms_are_drawn_on_disk(kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Patients have no order there, and theirs is not left to the engine all the same."""
    drawn: list[int] = []

    def permutation(many: int) -> np.ndarray[Any, np.dtype[np.int64]]:
        drawn.append(many)
        return np.arange(many)[::-1]

    monkeypatch.setattr(randomness, "permutation", permutation)
    with home(kept) as where:
        release = incrowd.anonymize(
            frame_of(visits(6)), policy_of({"k-anonymity": {"k": 4}}, **where)
        )
        shown = release.data
    assert drawn == [40]
    assert {int(each) for each in shown["patient"]} == set(range(1, 41))


@pytest.mark.parametrize("kept", HOMES)
def test_what_groups_tell_of_events_is_counted_alike(kept: str, tmp_path: Path) -> None:
    """Of a release for its report, of the source for the private one and for comparisons."""
    frame = messy(7, 30)
    policy = {
        "unit": "id", "attributes": ATTRIBUTES, "privacy": [{"k-anonymity": {"k": 3}}],
        "method": "mondrian", "suppression": 0.2,
    }  # fmt: skip

    def told(policy: dict[str, Any]) -> tuple[Any, ...]:
        job = Job.begin(frame, policy, accept_unprotected=True)
        release = job.searched()
        release.save(tmp_path / "release", replace=True)
        source = job.prepared
        return (
            release.evidence.after.told,
            told_of_source(source, ["ill"]),
            most_held(source, "ill"),
        )

    expected = told(policy)
    assert 0 < expected[2] < 1
    with home(kept) as where:
        assert told({**policy, **where}) == expected


@pytest.mark.parametrize("kept", HOMES)
def test_long_histories_are_cut_on_disk(kept: str) -> None:
    rows = visits(3)
    policy = policy_of({"k-anonymity": {"k": 4}}, OVER_EVENTS["confidence"], **{"most-events": 4})
    with home(kept) as where:
        release = incrowd.anonymize(frame_of(rows), {**policy, **where})
        with tempfile.TemporaryDirectory() as folder:
            assert release.save(Path(folder) / "release").holds
    assert any("patients with more than 4 rows" in remark for remark in release.remarks)
    lengths = release.data.group_by("patient").len()["len"]
    counted = Counter(row[0] for row in rows)
    assert sorted(lengths.to_list()) == sorted(min(many, 4) for many in counted.values())


def test_patients_without_a_column_of_events_may_have_several_rows() -> None:
    rows = visits(9)
    attributes = {"id": "identifier", "age": "quasi", "sex": "quasi"}
    policy = {
        "unit": "id", "attributes": attributes, "other": "drop", "missing": "drop",
        "suppression": 0.2, "privacy": [{"k-anonymity": {"k": 4}}],
    }  # fmt: skip
    frame = frame_of(rows).with_columns(
        age=pl.when(pl.col("id") != "p7").then(pl.col("age")), visit=None, ill=None, ward=None
    )
    expected = made(frame, policy)
    assert sum(len(each) * many for each, many in expected[0].items()) > 40
    for kept in HOMES:
        with home(kept) as where:
            assert made(frame, {**policy, **where}) == expected
