"""A release object holds what is published and nothing else, however it is taken apart."""

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd
from incrowd._runtime.progress import silent
from incrowd.errors import InputError, VerificationError
from incrowd.methods.registry import run
from incrowd.pipeline import Job
from incrowd.publish import release as releases
from incrowd.publish.original_records import Unpublished

SECRETS = {"name": "Zebedee Quux", "age": "1234567", "town": "Xanadu", "job": "lamplighter"}
"""What the record holds that no published cell shows; the age also as numbers."""


def frame() -> pl.DataFrame:
    rows: list[tuple[str, ...]] = [
        (
            f"patient {n}",
            str(30 + n % 3),
            "Oslo" if n % 2 else "Bergen",
            "farmer",
            "abc"[n % 3],
            "x",
        )
        for n in range(24)
    ]
    rows.append((*SECRETS.values(), "a", "y"))
    return pl.DataFrame(rows, schema=[*SECRETS, "ill", "ward"], orient="row")


def policy(**more: Any) -> dict[str, Any]:
    return {
        "source": "postgresql://hunter2@db/patients",
        "attributes": {
            "name": "identifier",
            "age": "quasi",
            "town": {"role": "quasi", "hierarchy": "auto"},
            "job": {
                "role": "quasi",
                "hierarchy": {"tree": {"Land": ["farmer"], "City": ["lamplighter"]}},
            },
            "ill": "sensitive",
            "ward": "keep",
        },
        "privacy": [{"k-anonymity": {"k": 3}}],
        "suppression": 0.05,
        **more,
    }


def traces(data: bytes) -> list[str]:
    """The secrets that stand in some bytes, in any usual encoding."""
    number = int(SECRETS["age"])
    needles = {
        f"{text} ({code})": text.encode(code)
        for text in (*SECRETS.values(), "patient 7", "hunter2")
        for code in ("utf-8", "utf-16-le", "utf-16-be")
    }
    for kind in (np.int32, np.int64, np.float32, np.float64):
        needles[f"the age as {kind.__name__}"] = np.array([number], dtype=kind).tobytes()
    return [name for name, needle in needles.items() if needle in data]


LAYOUTS: dict[str, dict[str, Any]] = {
    "mondrian": {"method": {"name": "mondrian", "labels": "set"}},
    "hierarchy": {"method": {"name": "mondrian", "labels": "hierarchy"}},
    "incognito": {"method": "incognito"},
    "anatomy": {"method": "mondrian", "publish": "anatomy"},
    "lossy join": {"method": "mondrian", "publish": "lossy-join"},
    "parquet": {"method": "mondrian", "format": "parquet"},
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("when", ["made", "saved"])
def test_the_bytes_of_a_pickled_release_hold_no_unpublished_value(
    layout: str, when: str, tmp_path: Path
) -> None:
    release = incrowd.anonymize(frame(), policy(**LAYOUTS[layout]), accept_unprotected=True)
    assert release.manifest["records"]["suppressed"] == 1
    if when == "saved":
        release.save(tmp_path / "release")
    data = pickle.dumps(release)
    assert b"Bergen" in data, "what is published is there"
    assert traces(data) == []
    assert traces(repr(release).encode()) == []
    assert traces(repr(vars(release)).encode()) == []
    assert traces(pickle.dumps(copy.deepcopy(release))) == []
    assert traces(pickle.dumps(vars(release))) == []


def test_the_search_for_traces_finds_them() -> None:
    assert traces(pickle.dumps(frame().to_dicts())) != []
    assert traces(pickle.dumps(np.array([1, 1234567]))) == ["the age as int32", "the age as int64"]


def test_a_release_that_was_pickled_is_the_same_to_read_and_to_save(tmp_path: Path) -> None:
    release = incrowd.anonymize(frame(), policy(), accept_unprotected=True)
    again = pickle.loads(pickle.dumps(release))
    assert again.data.equals(release.data)
    assert again.manifest == release.manifest
    assert again.query("ill = a").count == release.query("ill = a").count
    assert incrowd.utility.ncp(again) == incrowd.utility.ncp(release)
    with pytest.raises(InputError, match="report=False"):
        again.save(tmp_path / "with")
    assert not (tmp_path / "with").exists()
    assert again.save(tmp_path / "without", report=False).holds
    assert release.save(tmp_path / "made").holds
    assert (tmp_path / "made" / "report.html").is_file()


def test_a_promise_that_only_the_records_can_settle_stays_unsaved_in_a_copy(
    tmp_path: Path,
) -> None:
    table = pl.DataFrame(
        {"age": [str(n) for n in range(12)], "a": list("wxyz") * 3, "b": list("ppqqrrpqrpqr")}
    )
    release = incrowd.anonymize(
        table,
        {
            "attributes": {"age": "quasi", "a": "sensitive", "b": "sensitive"},
            "privacy": [{"exponential-l": {"l": 2, "sensitive": ["a", "b"]}}],
            "publish": "anatomy",
        },
    )
    with pytest.raises(VerificationError):
        copy.copy(release).save(tmp_path / "copy", report=False)
    assert release.save(tmp_path / "made").holds


def test_what_needs_the_source_is_neither_pickled_nor_copied() -> None:
    release = incrowd.anonymize(frame(), policy(), accept_unprotected=True)
    kept = releases._UNPUBLISHED[release]
    for part in (kept, kept.reporting):
        for taken in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="records of the source"):
                taken(part)
        assert traces(repr(part).encode()) == []
    assert isinstance(kept, Unpublished)


def test_nothing_is_kept_once_the_release_is_gone() -> None:
    before = len(releases._UNPUBLISHED)
    release = incrowd.anonymize(frame(), policy(), accept_unprotected=True)
    assert len(releases._UNPUBLISHED) == before + 1
    del release
    assert len(releases._UNPUBLISHED) == before


@pytest.mark.parametrize("method", ["mondrian", "incognito", "top-down-specialization"])
def test_what_works_on_the_records_shows_no_cell_when_it_is_printed(method: str) -> None:
    job = Job.begin(frame(), policy(method=method), silent, accept_unprotected=True)
    outcome = run(job.task, job.policy.method)
    table = job.prepared.table
    for each in (
        job,
        job.task,
        job.prepared,
        table,
        table["age"],
        outcome,
        job.prepared.hierarchies,
    ):
        assert traces(repr(each).encode()) == []
