"""The same bytes wherever the records are kept: in memory, collapsed on disk, or on disk alone."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from patients import OPTIONS, PRIVACY, Record, frame_of, option_name, patients, policy_of

import incrowd
from incrowd.engines import collapse
from incrowd.errors import EngineError, HierarchyError, PolicyError, SourceError
from incrowd.table import sql_engine as sql_engine

pytestmark = pytest.mark.usefixtures("same_draws")
RECORDS = patients() * 3
"""Every record three times, so that there is something to collapse."""
FEWER = patients(32) * 3
"""For rows that stay on disk, where every group is a request more."""
ON_DISK = [
    number
    for number, option in enumerate(OPTIONS)
    if option["method"]["name"] not in ("top-down-local", "clustering")
]
ONE_EACH = list({OPTIONS[option]["method"]["name"]: option for option in ON_DISK}.values())
BY_REQUEST = [  # the last is refused under t-closeness
    number for number in ON_DISK if OPTIONS[number]["method"].get("resist") != "minimality-proven"
]
COUNTED = (
    "k-anonymity", "ordered", "hierarchical", "confidence listed", "lkc listed", "multi-sensitive",
    "exponential-l", "l-alpha recursive", "several attributes",
)  # fmt: skip
"""Models that want other counts of a node: sizes, values, listed ones, combinations, several."""
CASES = [
    (name, ONE_EACH[number % len(ONE_EACH)])
    for number, name in enumerate([*COUNTED, "k-anonymity", "lkc"])
]
"""Models that count otherwise by a method in turn: others are told the same counts."""
SEARCHES = list(
    {
        tuple(v for k, v in OPTIONS[option]["method"].items() if k != "labels"): option
        for option in BY_REQUEST
    }.values()
)
"""One option for each way to ask for counts, whatever is labelled and which goal is followed."""
DUCKDB = {"engine": "duckdb", "memory": "300MB"}


def files(policy: dict[str, Any], source: Any = None) -> dict[str, bytes]:
    """The bytes of a release."""
    release = incrowd.anonymize(
        frame_of(RECORDS) if source is None else source, policy, accept_unprotected=True
    )
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "release"
        release.save(place)
        return {path.name: path.read_bytes() for path in sorted(place.iterdir())}


def made(
    policy: dict[str, Any], records: list[Record] = RECORDS
) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """The tables of a release, and its manifest."""
    release = incrowd.anonymize(frame_of(records), policy, accept_unprotected=True)
    tables = {name: table.rows() for name, table in release.tables.items()}
    return tables, release.manifest


@pytest.mark.parametrize(
    ("name", "option"), CASES, ids=[f"{name}-{option_name(option)}" for name, option in CASES]
)
def test_the_release_is_that_of_the_memory_engine(name: str, option: int) -> None:
    policy = policy_of(PRIVACY[name], suppression=0.1, **OPTIONS[option])
    assert made({**policy, **DUCKDB}) == made({**policy, "engine": "memory"})


@pytest.mark.parametrize("option", ONE_EACH)
def test_the_bytes_are_those_of_the_memory_engine(option: int) -> None:
    policy = policy_of(PRIVACY["k-anonymity"], **OPTIONS[option])
    assert files({**policy, **DUCKDB}) == files({**policy, "engine": "memory"})


@pytest.fixture
def nothing_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Distinct rows stay on disk, however few they are."""
    monkeypatch.setattr(collapse, "BYTES_A_CODE", 10**12)


@pytest.mark.usefixtures("nothing_fits")
@pytest.mark.parametrize("name", COUNTED)
def test_rows_that_stay_on_disk_give_the_same_release(name: str) -> None:
    policy = policy_of(PRIVACY[name], suppression=0.1, method="mondrian", other="drop")
    left_out = ("score", "birth", "city")  # every attribute is a request more for every node
    policy["attributes"] = {n: a for n, a in policy["attributes"].items() if n not in left_out}
    expected = made({**policy, "engine": "memory"}, FEWER)
    (rows,) = expected[0].values()
    assert len({row[:3] for row in rows}) > 1
    assert made({**policy, **DUCKDB}, FEWER) == expected


@pytest.mark.usefixtures("nothing_fits")
@pytest.mark.parametrize("option", SEARCHES, ids=option_name)
def test_rows_that_stay_on_disk_give_the_same_bytes(option: int) -> None:
    policy = policy_of(PRIVACY["several at once"], **OPTIONS[option])
    assert files({**policy, **DUCKDB}) == files({**policy, "engine": "memory"})


@pytest.mark.usefixtures("nothing_fits")
@pytest.mark.parametrize(
    ("publish", "missing"),
    [
        ("generalized", "drop"),
        ("anatomy", "value"),
        ("lossy-join", "drop"),
    ],
)
def test_rows_that_stay_on_disk_are_published_alike(publish: str, missing: str) -> None:
    frame = frame_of(RECORDS).with_columns(
        pl.when(pl.int_range(pl.len()) % 7 == 0).then(None).otherwise(pl.col("age")).alias("age")
    )
    privacy = [{"alpha-k": {"alpha": 0.7, "k": 4, "sensitive": "ill"}}]
    more = {} if publish != "generalized" else {"suppression": 0.1}
    policy = policy_of(privacy, method="mondrian", publish=publish, missing=missing, **more)
    expected = files({**policy, "engine": "memory"}, frame)
    assert files({**policy, **DUCKDB}, frame) == expected


@pytest.mark.usefixtures("nothing_fits")
def test_what_needs_single_records_says_what_can_run() -> None:
    privacy = [{"l-diversity": {"l": 2, "sensitive": "ill"}}]
    policy = policy_of(privacy, method="anatomize", publish="anatomy", **DUCKDB)
    with pytest.raises(EngineError, match="take mondrian with the same `publish:`"):
        incrowd.anonymize(frame_of(RECORDS), policy, accept_unprotected=True)


@pytest.mark.usefixtures("nothing_fits")
def test_levels_that_leave_too_many_groups_are_ruled_out_by_their_sizes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    policy = policy_of(PRIVACY["k-anonymity"], method="incognito", suppression=0.05)
    expected = made({**policy, "engine": "memory"})
    monkeypatch.setattr(sql_engine, "BYTES_A_ROW", 300_000_000 // 60)
    assert made({**policy, **DUCKDB}) == expected
    monkeypatch.setattr(sql_engine, "BYTES_A_ROW", 300_000_000)
    with pytest.raises(EngineError, match="more groups than `memory:` allows to judge"):
        incrowd.anonymize(frame_of(RECORDS), {**policy, **DUCKDB}, accept_unprotected=True)


def test_hierarchies_made_from_the_data_count_records(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [30] * 50 + [*range(20, 70)], "ill": ["a", "b"] * 50})
    policy = {
        "attributes": {"age": {"role": "quasi", "hierarchy": "auto"}, "ill": "sensitive"},
        "privacy": [{"k-anonymity": {"k": 5}}],
        "method": "incognito",
    }
    expected = files({**policy, "engine": "memory"}, frame)
    assert files({**policy, **DUCKDB}, frame) == expected


@pytest.mark.parametrize("publish", ["anatomy", "lossy-join"])
@pytest.mark.parametrize("method", ["mondrian", "anatomize"])
def test_tables_apart_are_the_same(publish: str, method: str) -> None:
    if method == "anatomize" and publish == "lossy-join":
        privacy = [{"alpha-k": {"alpha": 0.5, "k": 4, "sensitive": "ill"}}]
    else:
        privacy = [{"l-diversity": {"l": 2, "sensitive": "ill"}}]
    policy = policy_of(privacy, method=method, publish=publish)
    expected = files({**policy, "engine": "memory"})
    assert files({**policy, **DUCKDB}) == expected


@pytest.mark.parametrize("model", ["multi-sensitive", "exponential-l"])
def test_several_sensitive_attributes_are_dealt_alike(model: str) -> None:
    """What is counted jointly moves with the records that it was made of."""
    draw = random.Random(3)
    rows = [
        (draw.randrange(9), draw.choice("abcd"), draw.choice("tuvw"), n % 4) for n in range(160)
    ]
    frame = pl.DataFrame(rows, ["age", "illness", "drug", "ward"], orient="row")
    policy = {
        "attributes": {"age": "quasi", "illness": "sensitive", "drug": "sensitive", "ward": "keep"},
        "privacy": [{model: {"l": 2, **({"k": 4} if model == "multi-sensitive" else {})}}],
        "method": "anatomize",
        "publish": "anatomy",
    }
    expected = files({**policy, "engine": "memory"}, frame)
    assert files({**policy, **DUCKDB}, frame) == expected
    assert files({**policy, "engine": "memory"}, frame.sample(fraction=1, shuffle=True)) == expected


@pytest.mark.parametrize("method", ["top-down-local", "clustering"])
def test_methods_that_move_single_records_say_so_at_once(method: str) -> None:
    policy = policy_of(PRIVACY["k-anonymity"], method=method, **DUCKDB)
    with pytest.raises(PolicyError, match="Say `engine: memory`, or take mondrian"):
        incrowd.anonymize(frame_of(RECORDS), policy, accept_unprotected=True)


def test_mistakes_are_counted_in_records_not_in_rows() -> None:
    frame = pl.DataFrame({"age": ["1", "2", "x", "2", "x"], "ill": ["a"] * 5})
    policy = {
        "attributes": {"age": {"role": "quasi", "type": "numeric"}, "ill": "sensitive"},
        "privacy": [{"k-anonymity": {"k": 2}}],
        **DUCKDB,
    }
    with pytest.raises(SourceError, match=r"2 of 5 rows are not a number; the first is record 3"):
        incrowd.anonymize(frame, policy, accept_unprotected=True)
    tree = {"role": "quasi", "type": "category", "hierarchy": {"tree": {"few": ["1", "2"]}}}
    policy["attributes"] = {"age": tree, "ill": "sensitive"}
    with pytest.raises(HierarchyError, match=r"\(2 records, the first is record 3\)"):
        incrowd.anonymize(frame, policy, accept_unprotected=True)


def test_a_limit_that_means_nothing_is_refused() -> None:
    for wrong in ("much", "0MB", "0.0001KB", "99999999TB", "9" * 400 + "GB"):
        with pytest.raises(PolicyError, match="as in 4GB or 512MB"):
            incrowd.Policy.from_mapping(policy_of(PRIVACY["k-anonymity"], memory=wrong))


def test_nothing_is_left_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    incrowd.anonymize(
        frame_of(RECORDS), policy_of(PRIVACY["k-anonymity"], **DUCKDB), accept_unprotected=True
    )
    assert list(tmp_path.iterdir()) == []
    broken = frame_of(RECORDS).with_columns(pl.lit("x").alias("age"))
    with pytest.raises(incrowd.errors.InputError):
        incrowd.anonymize(
            broken, policy_of(PRIVACY["k-anonymity"], **DUCKDB), accept_unprotected=True
        )
    assert list(tmp_path.iterdir()) == []


def test_a_disk_without_room_is_an_engine_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "mkdtemp", lambda **_: "/dev/full/nowhere")
    with pytest.raises(EngineError):
        incrowd.anonymize(
            frame_of(RECORDS), policy_of(PRIVACY["k-anonymity"], **DUCKDB), accept_unprotected=True
        )


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_many_files_are_one_source(tmp_path: Path, kind: str) -> None:
    frame = frame_of(RECORDS)
    source = tmp_path / "source"
    source.mkdir()
    for number in range(3):
        part = frame[number * 72 : (number + 1) * 72]
        path = source / f"part-{number}.{kind}"
        part.write_csv(path) if kind == "csv" else part.write_parquet(path)
    policy = policy_of(PRIVACY["k-anonymity"])
    expected = files({**policy, "engine": "memory"})
    for place in (source, source / f"*.{kind}"):
        assert files({**policy, **DUCKDB}, place) == expected
        assert files({**policy, "engine": "memory"}, place) == expected


def test_missing_cells_of_published_records_are_counted_alike(tmp_path: Path) -> None:
    draw = random.Random(1)
    cells = [draw.choice(["1", "2", "10", "1000", None, None]) for _ in range(600)]
    frame = pl.DataFrame(
        {"age": [*cells, "5"], "job": [*draw.choices("xy", k=600), "z"], "ill": ["a"] * 601}
    )
    frame.write_csv(tmp_path / "p.csv")
    policy = {
        "attributes": {"age": "quasi", "job": "quasi", "ill": "sensitive"},
        "privacy": [{"k-anonymity": {"k": 5}}],
        "suppression": 0.5,
    }
    made = {}
    for engine in ("memory", "duckdb"):
        release = incrowd.anonymize(
            tmp_path / "p.csv", {**policy, "engine": engine}, accept_unprotected=True
        )
        release.save(tmp_path / engine)
        assert release.manifest["records"]["suppressed"] > 0
        made[engine] = {path.name: path.read_bytes() for path in (tmp_path / engine).iterdir()}
    assert made["memory"] == made["duckdb"]
