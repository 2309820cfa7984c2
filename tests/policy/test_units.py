"""Patients with several rows: no home of the records lets them be a crowd of themselves."""

import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd
from incrowd.comparison import compare
from incrowd.engines._duckdb_engine import DuckDbEngine
from incrowd.engines.preparation import prepare_source
from incrowd.errors import PolicyError
from incrowd.policy import Policy
from incrowd.policy.units import looked_at
from incrowd.sources import as_source
from incrowd.table.repeats import Counting, Repeats, comparable

ROWS, PATIENTS = 1_000, 200
POLICY: dict[str, Any] = {
    "attributes": {
        "patient_id": "identifier",
        "age": "quasi",
        "sex": "quasi",
        "zip": "quasi",
        "ill": "sensitive",
    },
    "privacy": [{"k-anonymity": {"k": 5}}],
    "method": "mondrian",
}


def visits(patients: int = PATIENTS) -> pl.DataFrame:
    """Rows of which each patient has as many; what others know of a patient never changes."""
    who = [row % patients for row in range(ROWS)]
    return pl.DataFrame(
        {
            "patient_id": [f"P{7 * each:05}" for each in who],
            "age": [20 + each * 37 % 71 for each in who],
            "sex": ["FM"[each % 2] for each in who],
            "zip": [1000 + each * 13 % 97 for each in who],
            "ill": [("Flu", "HIV", "Gout")[row % 3] for row in range(ROWS)],
        }
    )


def refusal(source: Any, **changed: Any) -> str:
    with pytest.raises(PolicyError) as raised:
        incrowd.anonymize(source, {**POLICY, **changed})
    assert raised.value.exit_code == 2
    message = str(raised.value)
    assert "P00" not in message, "no message has a cell"
    return message


def as_csv(frame: pl.DataFrame, folder: Path) -> Path:
    frame.write_csv(folder / "visits.csv")
    return folder / "visits.csv"


def as_parquet(frame: pl.DataFrame, folder: Path) -> Path:
    frame.write_parquet(folder / "visits.parquet")
    return folder / "visits.parquet"


def as_parts(frame: pl.DataFrame, folder: Path) -> Path:
    """Two files of which neither repeats a patient."""
    (folder / "parts").mkdir()
    frame.head(PATIENTS).write_csv(folder / "parts" / "a.csv")
    frame.slice(PATIENTS, PATIENTS).write_csv(folder / "parts" / "b.csv")
    return folder / "parts"


def as_database(frame: pl.DataFrame, folder: Path) -> str:
    with sqlite3.connect(folder / "visits.db") as database:
        database.execute("CREATE TABLE visits (patient_id, age, sex, zip, ill)")
        database.executemany("INSERT INTO visits VALUES (?, ?, ?, ?, ?)", frame.rows())
    return f"sqlite:///{folder / 'visits.db'}"


SOURCES: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    "polars": lambda frame, _: frame,
    "pandas": lambda frame, _: frame.to_pandas(),
    "arrow": lambda frame, _: frame.to_arrow(),
    "csv": as_csv,
    "parquet": as_parquet,
    "parts": as_parts,
}


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("kind", SOURCES)
def test_a_patient_with_several_rows_is_refused_wherever_the_records_are(
    kind: str, engine: str, tmp_path: Path
) -> None:
    message = refusal(SOURCES[kind](visits(), tmp_path), engine=engine)
    rows = 2 * PATIENTS if kind == "parts" else ROWS
    assert f"'patient_id' (200 different values in {rows:,} rows)" in message
    assert "Say `unit: row` if each row is another patient" in message
    assert "Say `unit: patient_id` if it names the patient" in message


def test_a_patient_with_several_rows_is_refused_in_a_database(tmp_path: Path) -> None:
    pytest.importorskip("adbc_driver_sqlite")
    source = as_database(visits(), tmp_path)
    message = refusal(source, query="SELECT * FROM visits")
    assert "'patient_id' (200 different values in 1,000 rows)" in message


def test_without_the_refusal_groups_would_be_single_patients() -> None:
    """The attack: what `unit: row` publishes when it is not true."""
    released = incrowd.anonymize(visits(), {**POLICY, "unit": "row"})
    assert released.manifest["unit"] == "row"
    crowds = Counter(released.data.select("age", "sex", "zip").rows())
    assert min(crowds.values()) >= 5
    assert len(crowds) > PATIENTS // 2, "nearly every crowd is one patient"


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_unit_with_one_row_for_each_value_needs_no_pseudonyms(engine: str) -> None:
    kept = visits().unique("patient_id", keep="first", maintain_order=True)
    released = incrowd.anonymize(kept, {**POLICY, "unit": "patient_id", "engine": engine})
    assert released.manifest["unit"] == "patient_id"
    assert "patient_id" not in released.data.columns


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_missing_cells_are_not_rows_of_one_patient(engine: str) -> None:
    gaps = visits(ROWS).with_columns(
        pl.when(pl.int_range(pl.len()) < 3).then(pl.lit(" ")).otherwise("patient_id")
        .alias("patient_id")
    )  # fmt: skip
    released = incrowd.anonymize(gaps, {**POLICY, "engine": engine})
    assert released.manifest["unit"] == "row"
    assert [each for each in released.remarks if "'patient_id' is missing in 3 of 1,000" in each]
    message = refusal(gaps, unit="patient_id", engine=engine)
    assert "'patient_id' is missing in 3 of 1,000 rows" in message
    assert not incrowd.anonymize(gaps, {**POLICY, "unit": "row"}).remarks


def test_capital_letters_and_blanks_make_no_other_patient() -> None:
    written = visits(ROWS).with_columns(
        pl.Series("patient_id", [f" p{n}" if n % 2 else f"P{n - 1} " for n in range(1, ROWS + 1)])
    )
    message = refusal(written)
    assert "500 different values in 1,000 rows" in message
    assert "differ in capital letters or in blanks around them count as the same" in message


def test_of_several_identifiers_each_is_looked_at_unless_the_unit_is_named() -> None:
    frame = visits(ROWS).with_columns(pl.lit("North").alias("hospital"))
    attributes = {**POLICY["attributes"], "hospital": "identifier"}
    message = refusal(frame, attributes=attributes)
    assert "'hospital' (1 value in 1,000 rows)" in message
    assert "If 'patient_id', whose values do not repeat, names the patient" in message
    for unit in ("patient_id", "row"):
        released = incrowd.anonymize(frame, {**POLICY, "attributes": attributes, "unit": unit})
        assert released.manifest["unit"] == unit
    assert looked_at(Policy.from_mapping({**POLICY, "unit": "row"})) == []


def test_tables_without_identifiers_run_as_before() -> None:
    attributes = {name: a for name, a in POLICY["attributes"].items() if name != "patient_id"}
    plain = visits().drop("patient_id")
    assert incrowd.anonymize(plain, {**POLICY, "attributes": attributes}).manifest["unit"] == "row"


def test_policies_side_by_side_refuse_it_too() -> None:
    with pytest.raises(PolicyError, match="'patient_id' \\(200 different values"):
        compare([POLICY, {**POLICY, "unit": "row"}], visits(), queries=0)
    with pytest.raises(PolicyError, match="'patient_id' \\(200 different values"):
        compare([POLICY], visits(), over={"k": [5, 10]}, queries=0)


def test_identifiers_are_counted_on_disk_within_the_limit(tmp_path: Path) -> None:
    policy = Policy.from_mapping(POLICY)
    with pytest.raises(PolicyError, match="200 different values in 1,000 rows"):
        prepare_source(as_source(as_csv(visits(), tmp_path)), policy, memory=200_000_000)
    alone = prepare_source(as_source(visits(ROWS)), policy, memory=200_000_000)
    assert alone.table.records == ROWS


@pytest.mark.parametrize(
    ("unit", "told"),
    [
        ("patientid", "unit: 'patientid' is not among the attributes. Did you mean 'patient_id'?"),
        ("rows", "unit: 'rows' is not among the attributes. Did you mean 'row'?"),
        ("age", "unit: the role of 'age' is quasi; the unit is a column with the role identifier"),
        (["patient_id"], "unit: must be `row`, or the name of one identifier column"),
    ],
)
def test_a_unit_that_is_no_identifier_is_refused_with_the_policy(unit: object, told: str) -> None:
    with pytest.raises(PolicyError) as raised:
        Policy.from_mapping({**POLICY, "unit": unit})
    assert told in str(raised.value)


CELLS = st.one_of(
    st.sampled_from(["a", "A", " a", "b", "", " ", None, "1", "1.0"]), st.integers(0, 9).map(str)
)


@settings(max_examples=25)
@given(st.lists(st.lists(CELLS, max_size=6), min_size=1, max_size=4), st.booleans())
def test_repeats_are_those_of_counting_by_hand(pieces: list[list[str | None]], disk: bool) -> None:
    cells = [cell for piece in pieces for cell in piece]
    there = [cell.strip().lower() for cell in cells if cell is not None and cell.strip()]
    engine = DuckDbEngine(200_000_000) if disk else None
    counting = Counting(["id"], engine)
    for piece in pieces:
        counting.add(pl.DataFrame({"id": piece}, schema={"id": pl.String}))
    assert counting.repeats() == [Repeats("id", len(cells), len(there), len(set(there)))]
    if engine is not None:
        engine.close()


def test_numbers_are_compared_as_they_are_written() -> None:
    assert comparable(pl.Series([1.0, 2.5, float("nan"), None])).to_list() == ["1", "2.5"]
    assert comparable(pl.Series([1, 2, None])).to_list() == ["1", "2"]
