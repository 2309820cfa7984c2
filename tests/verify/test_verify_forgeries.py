"""Everything that a forger hides in a release with digests that fit is refused, with a reason."""

from __future__ import annotations

import itertools
import random
import shutil
from pathlib import Path

import forger
import polars as pl
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from handmade_release import public_pem, read_manifest, write_manifest

import incrowd
from incrowd.verify import verify

KINDS = ("generalized", "anatomy", "lossy-join")
FORMATS = ("csv", "parquet")
LAYOUTS = ["-".join(each) for each in itertools.product(KINDS, FORMATS)]
PRIVACY = [
    {"k-anonymity": {"k": 4}},
    {"l-diversity": {"l": 2, "sensitive": "ill"}},
    {"alpha-k": {"alpha": 0.9, "k": 2, "sensitive": "ill", "values": ["HIV", "Flu"]}},
    {"t-closeness": {"t": 0.9, "sensitive": "ill"}},
]
ROLES = {"id": "identifier", "age": "quasi", "city": "quasi", "ill": "sensitive"}
LABEL = "a label that no record shows"


def patients() -> pl.DataFrame:
    draw = random.Random(18)
    return pl.DataFrame(
        {
            "id": range(120),
            "age": [draw.randrange(20, 80) for _ in range(120)],
            "city": draw.choices(["Oslo", "Rome", "Lima", None], k=120),
            "ill": draw.choices(["Flu", "Gout", "HIV", "Ulcer"], k=120),
            "ward": [*draw.choices(["A", "B", None], k=119), "C"],
            "visits": [draw.randrange(9) for _ in range(120)],
        }
    )


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A release of every layout, by its name."""
    place = tmp_path_factory.mktemp("honest")
    for kind, written in itertools.product(KINDS, FORMATS):
        policy = {
            "attributes": {
                **ROLES,
                "city": {
                    "role": "quasi",
                    "hierarchy": {"tree": {"N": ["Oslo"], "S": ["Rome", "Lima"]}},
                },
                "ward": "keep",
                "visits": {"role": "keep", "type": "numeric"},
            },
            "privacy": PRIVACY,
            "method": {"name": "mondrian", "labels": "hierarchy"},
            "publish": kind,
            "format": written,
        }
        release = incrowd.anonymize(patients(), policy, accept_unprotected=True)
        verdict = release.save(place / f"{kind}-{written}")
        assert verdict.holds
    return {name: place / name for name in LAYOUTS}


def fitting() -> list[tuple[str, str]]:
    """Forgeries of tables for all layouts of their format, of manifests for one format of each."""
    pairs = [(name, layout) for name in forger.CSV for layout in LAYOUTS if "csv" in layout]
    pairs += [
        (name, layout) for name in forger.PARQUET for layout in LAYOUTS if "csv" not in layout
    ]
    others = {**forger.MANIFEST, **forger.FOLDER}
    pairs += [(name, layout) for name in others for layout in LAYOUTS if "csv" in layout]
    pairs += [(name, layout) for name in forger.SPELLED for layout in LAYOUTS]
    # Only generalized labels have weights.
    elsewhere = {(LABEL, layout) for layout in LAYOUTS if "generalized" not in layout}
    return [pair for pair in pairs if pair not in elsewhere]


@pytest.mark.parametrize(("name", "layout"), fitting())
def test_a_forgery_is_refused_with_a_reason(
    name: str, layout: str, honest: dict[str, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "release"
    shutil.copytree(honest[layout], folder)
    forger.FORGERIES[name](folder)
    verdict = verify(folder)
    assert not verdict.holds
    assert all(each.detail for each in verdict.broken)
    assert forger.RAW not in str(verdict.as_dict())


@pytest.mark.parametrize("layout", LAYOUTS)
def test_spelling_is_all_that_is_wrong_with_groups_diverse_by_it(
    layout: str, honest: dict[str, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "release"
    shutil.copytree(honest[layout], folder)
    forger.spelled_apart(folder)
    verdict = verify(folder)
    (broken,) = verdict.broken
    assert broken.promise.startswith("l-diversity")
    assert broken.measured["l"] == 1
    (told,) = [each for each in verdict.findings if each.promise.startswith("spellings")]
    assert told.warns
    assert told.holds
    assert "HIV" not in str(verdict.as_dict())


def test_what_is_not_judged_is_listed(honest: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "release"
    shutil.copytree(honest["generalized-csv"], folder)
    forger.raw_rows_in_the_report(folder)
    verdict = verify(folder)
    assert verdict.holds
    assert any(each.startswith("'report.html': only that it is") for each in verdict.not_judged)
    assert verdict.as_dict()["not_judged"] == list(verdict.not_judged)


def test_untouched_columns_that_single_out_are_a_warning(honest: dict[str, Path]) -> None:
    for folder in honest.values():
        verdict = verify(folder)
        assert verdict.holds
        (warning,) = verdict.warnings
        alone = patients().group_by("ward", "visits").len().filter(pl.col("len") == 1).height
        assert alone
        assert warning.detail == (
            f"{alone} of 120 records {'is' if alone == 1 else 'are'} unique on the columns"
            " published as they are ('ward', 'visits')"
        )
        assert warning.measured == {"unique": alone}
        assert read_manifest(folder)["unprotected"] == {
            "columns": ["ward", "visits"],
            "unique": alone,
        }


def test_a_forger_who_signs_anew_is_found_by_the_key(
    honest: dict[str, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "release"
    shutil.copytree(honest["generalized-csv"], folder)
    write_manifest(folder, read_manifest(folder), Ed25519PrivateKey.generate())
    assert verify(folder).holds
    verdict = verify(folder, key=public_pem(Ed25519PrivateKey.generate()))
    assert [each.promise for each in verdict.broken] == ["signature"]


def test_a_file_of_another_polars_stays_open(honest: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "release"
    shutil.copytree(honest["generalized-parquet"], folder)
    path = folder / "data.parquet"
    version = pl.__version__.encode()
    data = path.read_bytes()
    assert data.count(version) == 1
    path.write_bytes(data.replace(version, b"9" + version[1:]))
    with forger.changed(folder):
        pass
    verdict = verify(folder)
    assert verdict.holds
    assert [each.promise for each in verdict.open] == ["bytes are those of the cells"]
