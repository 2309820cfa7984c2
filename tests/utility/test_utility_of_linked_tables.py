"""What is left of linked tables, held against all tables that they were made from."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
import pytest

import incrowd
from incrowd.errors import InputError
from incrowd.utility import evaluate
from linked_tables import Tables, linked, policy_of


def with_strangers() -> Tables:
    """Tables of which some rows name nobody, and with a patient who is far from all others."""
    tables = linked(4)
    far = pl.DataFrame({"Id": ["far"], "age": [119], "sex": ["X"], "name": ["n"]})
    tables["patients"] = pl.concat([tables["patients"], far])
    visit = tables["conditions"].head(3).with_columns(PATIENT=pl.Series(["far", " FAR", "nobody"]))
    tables["conditions"] = pl.concat([tables["conditions"], visit])
    return tables


@pytest.fixture(scope="module")
def release() -> incrowd.Release:
    policy = policy_of({"k-anonymity": {"k": 4}}, suppression=0.05, method="incognito")
    conditions = {**policy["tables"]["conditions"], "unmatched": "drop"}
    policy["tables"] = {**policy["tables"], "conditions": conditions}
    return incrowd.anonymize(with_strangers(), policy)


def test_rows_and_values_of_each_table_are_counted_before_and_after(
    release: incrowd.Release,
) -> None:
    tables = with_strangers()
    assert release.manifest["patients"]["suppressed"] >= 1
    found = evaluate(release, tables)
    assert found.comparison is not None
    assert [each.table for each in found.events] == ["conditions", "drugs"]
    conditions, drugs = found.events
    named = tables["conditions"].with_columns(
        pl.col("PATIENT").str.strip_chars().str.to_lowercase()
    )
    known = named.filter(pl.col("PATIENT") != "nobody")
    assert (conditions.rows_before, conditions.rows) == (
        known.height,
        release.tables["conditions"].height,
    )
    assert (drugs.rows_before, drugs.rows) == (80, release.tables["drugs"].height)
    before = Counter(code for _, code in set(known.select("PATIENT", "CODE").rows()))
    after = Counter(
        code for _, code in set(release.tables["conditions"].select("patient", "CODE").rows())
    )
    codes = {each.name: each for each in conditions.attributes}["conditions.CODE"]
    told = {each.value: (each.before, each.after) for each in codes.patients}
    assert told == {value: (before[value], after[value]) for value in after}
    assert codes.held_before == before.total() > codes.held


def test_some_tables_or_only_that_of_the_patients_are_enough(release: incrowd.Release) -> None:
    tables = with_strangers()
    whole, own = evaluate(release, tables), evaluate(release, tables["patients"])
    assert own.comparison == whole.comparison
    assert [each.rows_before for each in own.events] == [None, None]
    some = evaluate(release, {name: tables[name] for name in ("patients", "drugs")})
    assert some.events == (own.events[0], whole.events[1])
    with pytest.raises(InputError, match="The original has no table 'patients'"):
        evaluate(release, {"drugs": tables["drugs"]})
    strange = {**tables, "drugs": tables["drugs"].with_columns(who=pl.lit("x"))}
    with pytest.raises(InputError, match=r"No row of .* names a patient of the table 'patients'"):
        evaluate(release, strange)


def test_a_folder_with_a_file_for_each_table(release: incrowd.Release, tmp_path: Path) -> None:
    tables = with_strangers()
    tables["patients"].write_csv(tmp_path / "patients.csv")
    tables["conditions"].write_csv(tmp_path / "conditions.csv")
    tables["drugs"].write_parquet(tmp_path / "drugs.parquet")
    (tmp_path / "notes.md").write_text("no table")
    found, whole = evaluate(release, tmp_path), evaluate(release, tables)
    assert found.events == whole.events
    assert found.comparison is not None
    assert whole.comparison is not None
    assert found.comparison.unchanged == whole.comparison.unchanged
    asked = evaluate(release, tmp_path, queries=30, kl=True)
    assert asked.query_error is not None
    assert asked.query_error.records == 41


def test_a_folder_of_parts_of_the_patients_is_their_table(
    release: incrowd.Release, tmp_path: Path
) -> None:
    own = with_strangers()["patients"]
    for number, part in enumerate((own.head(20), own.tail(-20))):
        part.write_csv(tmp_path / f"part-{number}.csv")
    found, expected = evaluate(release, tmp_path), evaluate(release, own)
    assert found.events == expected.events
    assert found.comparison is not None
    assert expected.comparison is not None
    assert found.comparison.unchanged == expected.comparison.unchanged
