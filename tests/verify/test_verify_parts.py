"""Tables in parts are judged as whole files are, and nothing hides between the parts."""

from __future__ import annotations

import itertools
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from part_tamperings import (
    FILES,
    ORDER,
    READABLE,
    RECORDS,
    TAMPERINGS,
    change,
    parts,
    read,
    turned,
    write,
)  # fmt: skip
from parted_release import entry, manifest_of, part_name, relist, split

import incrowd
from incrowd.errors import InputError
from incrowd.verify import Verdict, verify

KINDS = ("generalized", "anatomy", "lossy-join")
FORMATS = ("csv", "parquet")
ATTRIBUTES = {"id": "identifier", "age": "quasi", "city": "quasi", "ill": "sensitive"}
ROWS_IN_PART = 7


def patients(quoted: bool = False) -> pl.DataFrame:
    draw = random.Random(8)
    cities = ["Oslo", 'a "b", c', "x"] if quoted else ["Oslo", "Rome", "x"]
    return pl.DataFrame(
        {
            "id": range(90),
            "age": [draw.randrange(20, 80) for _ in range(90)],
            "city": draw.choices(cities, k=90),
            "ill": draw.choices(["flu", "gout", "ulcer", None], k=90),
        }
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Path]:
    """A release of whole files, of every kind and format."""
    place = tmp_path_factory.mktemp("whole")
    made = {}
    for kind, written in itertools.product(KINDS, FORMATS):
        policy = {
            "attributes": ATTRIBUTES,
            "privacy": [{"k-anonymity": {"k": 4}}, {"l-diversity": {"l": 2, "sensitive": "ill"}}],
            "publish": kind,
            "format": written,
        }
        made[kind, written] = place / f"{kind}-{written}"
        incrowd.anonymize(patients(), policy).save(made[kind, written], report=False)
    return made


@pytest.fixture(params=itertools.product(KINDS, FORMATS), ids="-".join)
def pair(
    request: pytest.FixtureRequest, whole: dict[tuple[str, str], Path], tmp_path: Path
) -> tuple[Path, Path]:
    """A release of whole files, and the same in parts."""
    made = whole[request.param]
    return made, split(made, ROWS_IN_PART, tmp_path / "release")


@pytest.fixture(params=FORMATS)
def parted(
    request: pytest.FixtureRequest, whole: dict[tuple[str, str], Path], tmp_path: Path
) -> Path:
    """A generalized release in parts."""
    return split(whole["generalized", request.param], ROWS_IN_PART, tmp_path / "release")


def broken(folder: Path, **options: Any) -> dict[str, str]:
    return told(verify(folder, **options))


def told(verdict: Verdict) -> dict[str, str]:
    assert not verdict.holds
    return {finding.promise: finding.detail for finding in verdict.broken}


def test_the_verdict_is_that_of_whole_files(pair: tuple[Path, Path]) -> None:
    before, after = (verify(each) for each in pair)
    assert before.holds
    assert after.holds, after.broken
    assert after.groups == before.groups
    assert after.measured == before.measured
    assert [each.promise for each in after.findings] == [each.promise for each in before.findings]
    assert len(parts(pair[1])) > 4


def test_the_tables_are_those_of_whole_files(pair: tuple[Path, Path]) -> None:
    before, after = (incrowd.open_release(each) for each in pair)
    assert after.tables.keys() == before.tables.keys()
    for name, table in before.tables.items():
        assert after.tables[name].equals(table)
    assert after.data.equals(before.data)


def test_what_opens_a_release_opens_one_in_parts(pair: tuple[Path, Path]) -> None:
    from incrowd.attacks import eliminate
    from incrowd.published.parts import open_parts
    from incrowd.utility import discernibility, evaluate

    before, after = pair
    question = "age <= 50 and ill = flu"
    asked = [incrowd.open_release(each).query(question).as_dict() for each in pair]
    assert asked[0] == asked[1]
    assert open_parts(before).records == open_parts(after).records == 90
    assert evaluate(before).as_dict() == evaluate(after).as_dict()
    assert discernibility(before) == discernibility(after)
    first, second = (incrowd.risk(each).as_dict() for each in pair)
    assert {**first, "source": ""} == {**second, "source": ""}
    first, second = (eliminate(each, values=1).as_dict() for each in pair)
    assert {**first, "source": "", "target": ""} == {**second, "source": "", "target": ""}


@pytest.mark.parametrize("rows", [1, 45, 1000])
def test_parts_of_any_size(whole: dict[tuple[str, str], Path], tmp_path: Path, rows: int) -> None:
    for number, made in enumerate(whole.values()):
        assert verify(split(made, rows, tmp_path / f"{number}")).holds


def test_parts_with_quotes_and_commas(tmp_path: Path) -> None:
    policy = {"attributes": ATTRIBUTES, "privacy": [{"k-anonymity": {"k": 2}}]}
    incrowd.anonymize(patients(quoted=True), policy).save(tmp_path / "whole")
    made = split(tmp_path / "whole", ROWS_IN_PART, tmp_path / "release")
    assert b'"' in (made / part_name("data.csv", 0)).read_bytes()
    assert verify(made).holds
    first = made / part_name("data.csv", 2)
    write(first, turned(read(first)))
    relist(made, part_name("data.csv", 2))
    assert broken(made).keys() == {ORDER}


def test_a_part_may_be_empty(parted: Path) -> None:
    name = parts(parted)[-1]
    table = name.partition("/")[0]
    empty = part_name(table, len(parts(parted)))
    write(parted / empty, read(parted / name)[: 0 if table.endswith(".parquet") else 1])
    relist(parted, empty, columns=manifest_of(parted)["files"][name]["columns"])
    assert verify(parted).holds
    assert incrowd.open_release(parted).data.height == 90


def test_many_parts_make_a_short_report(parted: Path) -> None:
    verdict = verify(parted)
    assert "'data." in verdict.findings[2].detail
    assert f"in {len(parts(parted))} parts" in verdict.findings[2].detail
    for name in parts(parted):
        path = parted / name
        path.write_bytes(path.read_bytes() + b" ")
    problem = broken(parted)[FILES]
    assert problem.count("bytes instead of") == 5
    assert problem.endswith(f"; and {len(parts(parted)) - 5} more problems")


@pytest.mark.parametrize("tamper", TAMPERINGS, ids=lambda tamper: tamper.__name__)
def test_what_was_done_to_parts_is_found(parted: Path, tamper: Callable[[Path], str]) -> None:
    promise = tamper(parted)
    assert promise in broken(parted)


@pytest.mark.parametrize(
    "name",
    [
        "../data.csv",
        "data.csv/../part-00000.csv",
        "data.csv/./part-00000.csv",
        "data.csv//part-00000.csv",
        "/data.csv/part-00000.csv",
        "data.csv/part-00000.parquet",
        "data.csv/part-00000.csv/part-00000.csv",
        "more/data.csv/part-00000.csv",
        "data.csv/part-0.csv",
        "data.csv/part-000000.csv",
        "data.csv/part-٠٠٠٠٠.csv",
        "data.csv/part-00000.csv\n",
        "data.csv/PART-00000.csv",
        "data.csv/part-00000.csv.gz",
        "data.csv/notes.txt",
        "data.csv/",
        "data.csv\\part-00000.csv",
        "..csv/part-00000.csv/..",
        "data.txt/part-00000.txt",
    ],
)
def test_paths_that_are_no_parts_are_refused(
    whole: dict[tuple[str, str], Path], tmp_path: Path, name: str
) -> None:
    made = split(whole["generalized", "csv"], 1000, tmp_path / "release")
    first = made / part_name("data.csv", 0)
    for manifest in change(made):
        manifest["files"] = {name: entry(first, 90, manifest["files"][parts(made)[0]]["columns"])}
    found = broken(made)
    assert FILES in found
    assert READABLE in found
    with pytest.raises(InputError):
        assert incrowd.open_release(made).data.height


def test_tables_apart_may_mix_files_and_parts(
    whole: dict[tuple[str, str], Path], tmp_path: Path
) -> None:
    """Each table stands alone: one in parts beside one in a file is as good."""
    made = whole["anatomy", "csv"]
    mixed = split(made, ROWS_IN_PART, tmp_path / "release")
    shutil.rmtree(mixed / "st_ill.csv")
    shutil.copy(made / "st_ill.csv", mixed / "st_ill.csv")
    for manifest in change(mixed):
        files = manifest["files"]
        manifest["files"] = {n: e for n, e in files.items() if not n.startswith("st_")}
        manifest["files"]["st_ill.csv"] = manifest_of(made)["files"]["st_ill.csv"]
    assert verify(mixed).holds


@pytest.mark.parametrize("table", ["qit", "st_ill"])
@pytest.mark.parametrize("written", FORMATS)
def test_parts_of_tables_apart_are_judged_too(
    whole: dict[tuple[str, str], Path], tmp_path: Path, table: str, written: str
) -> None:
    made = split(whole["anatomy", written], ROWS_IN_PART, tmp_path / "release")
    one, two = (part_name(f"{table}.{written}", number) for number in (1, 2))
    for manifest in change(made):
        manifest["files"][one]["rows"] += 2
    assert f"'{one}' has 7 rows, not 9" in broken(made)[RECORDS]
    for manifest in change(made):
        manifest["files"][one]["rows"] -= 2
    write(made / two, turned(read(made / two)))
    relist(made, two)
    assert broken(made).keys() == {ORDER}


def test_empty_cells_behind_the_last_column_are_found(
    whole: dict[tuple[str, str], Path], tmp_path: Path
) -> None:
    """How many there are could tell something."""
    made = split(whole["generalized", "csv"], ROWS_IN_PART, tmp_path / "release")
    path = made / parts(made)[3]
    path.write_bytes(path.read_bytes().replace(b"\n", b",,,\n").replace(b",,,\n", b"\n", 1))
    relist(made, parts(made)[3])
    assert "more cells than columns" in broken(made)[READABLE]


def test_types_of_parts_must_be_the_same(
    whole: dict[tuple[str, str], Path], tmp_path: Path
) -> None:
    """A number in one part and text in another would be read differently by different readers."""
    parted = split(whole["generalized", "parquet"], ROWS_IN_PART, tmp_path / "release")
    name = parts(parted)[3]
    write(parted / name, pl.read_parquet(parted / name).with_columns(pl.col("ill").cast(pl.Binary)))
    relist(parted, name)
    assert "other types" in broken(parted)[READABLE]
