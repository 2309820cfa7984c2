"""Linked tables: patients in one, their events in others; distinct patients are counted."""

from __future__ import annotations

import os
import random
import tempfile
from collections import defaultdict
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd
from incrowd._runtime import randomness
from incrowd.counts import RowCounts
from incrowd.engines import collapse
from incrowd.engines.choice import choose
from incrowd.errors import IncrowdError, OutputError, PolicyError, PrivacyError, UnprotectedError
from incrowd.methods import METHOD_OPTIONS
from incrowd.pipeline import Job
from incrowd.policy.reach import source_of
from incrowd.publish.key_files import new_key
from incrowd.report.of_events import most_held, told_of_source
from linked_tables import POLICY, Tables, hold, linked, policy_of

METHODS = [name for name, each in METHOD_OPTIONS.items() if each.generalizes]
HIV = {"confidence-bounding": {"C": 0.75, "sensitive": "conditions.CODE", "values": ["hiv"]}}
DRUG = {"confidence-bounding": {"C": 0.8, "sensitive": "drugs.drug", "values": ["x", "y"]}}


@pytest.fixture(params=["memory", "duckdb", "duckdb, profiles too"])
def everywhere(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The records in one home after the other."""
    monkeypatch.setitem(POLICY, "engine", request.param.partition(",")[0])
    monkeypatch.setitem(POLICY, "memory", "300MB")
    if request.param.endswith("too"):
        monkeypatch.setattr(collapse, "BYTES_A_CODE", 10**12)


@pytest.mark.parametrize(
    ("method", "engine"),
    [
        *((method, "memory") for method in METHODS),
        *((method, "duckdb") for method in METHODS if METHOD_OPTIONS[method].runs_on(RowCounts)),
    ],
)
def test_every_method_counts_patients(method: str, engine: str, tmp_path: Path) -> None:
    tables = linked(5)
    policy = policy_of(
        {"k-anonymity": {"k": 4}}, HIV, DRUG, method=method, suppression=0.2, engine=engine
    )
    policy["format"] = "csv" if engine == "memory" else "parquet"
    release = incrowd.anonymize(tables, policy)
    verdict = release.save(tmp_path / "release")
    assert verdict.holds
    assert verdict.of_patients
    assert release.data.equals(release.tables["patients"])
    hold(tables, tmp_path / "release", policy)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from(METHODS), st.sampled_from(["csv", "parquet"]))
def test_random_patients(number: int, method: str, ending: str) -> None:
    tables = linked(number, random.Random(number).randint(4, 25))
    policy = policy_of(
        {"k-anonymity": {"k": 3}}, HIV, method=method, format=ending, suppression=0.3
    )
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "release"
        try:
            verdict = incrowd.anonymize(tables, policy).save(folder, report=False)
        except (PrivacyError, UnprotectedError):  # out of reach, or a ward of one patient alone
            return
        assert verdict.holds
        hold(tables, folder, policy)


@pytest.mark.usefixtures("everywhere")
def test_a_release_worked_out_by_hand(same_draws: None, tmp_path: Path) -> None:
    """Four patients, k = 2: two groups; the one with the only visit elsewhere is found by it."""
    patients = pl.DataFrame({"id": ["a", "b", "c", "d"], "sex": ["F", "F", "M", "M"]})
    visits = pl.DataFrame({"of": ["B ", "a", "b", "d", "c", "a"], "code": list("xyxzxx")})
    policy: dict[str, Any] = {
        **{name: POLICY[name] for name in ("engine", "memory") if name in POLICY},
        "patients": {"key": "id", "attributes": {"sex": "quasi"}},
        "tables": {"visits": {"unit": "of", "attributes": {"code": "sensitive"}}},
        "privacy": [
            {"k-anonymity": {"k": 2}},
            {"confidence-bounding": {"C": 0.5, "sensitive": "visits.code", "values": ["y", "z"]}},
        ],
    }
    release = incrowd.anonymize({"patients": patients, "visits": visits}, policy)
    assert release.save(tmp_path / "release").holds
    both = release.tables["patients"].join(release.tables["visits"], on="patient")
    shown = sorted(
        (sex[0], "".join(sorted(code)))
        for _, sex, code in both.group_by("patient").agg("sex", "code").rows()
    )
    assert shown == [("F", "xx"), ("F", "xy"), ("M", "x"), ("M", "z")]
    assert release.manifest["tables"] == {
        "visits": {
            "rows": 6,
            "rows_per_patient": [{"from": 0, "to": 1, "patients": 2}, {"from": 2, "patients": 2}],
        }
    }
    asked = [*policy["privacy"][:1], {"confidence-bounding": {"C": 0.9, "values": ["x"]}}]
    with pytest.raises(PrivacyError):  # all patients have x, however few of the rows of men do
        incrowd.anonymize(
            {"patients": patients, "visits": visits.with_columns(code=pl.lit("x"))},
            {**policy, "privacy": asked},
        )


def test_what_groups_tell_of_events_is_counted_alike(tmp_path: Path) -> None:
    """Of a release for its report, and of the source for the private one."""
    policy = policy_of({"k-anonymity": {"k": 3}}, HIV, DRUG, method="mondrian", suppression=0.2)

    def told(policy: dict[str, Any]) -> tuple[Any, ...]:
        job = Job.begin(linked(9), policy)
        release = job.searched()
        private = tmp_path / "private.html"
        release.save(tmp_path / "release", replace=True, private_report=private)
        private.unlink()
        names = ["conditions.CODE", "drugs.drug"]
        most = [most_held(job.prepared, name) for name in names]
        return release.evidence.after.told, told_of_source(job.prepared, names), most

    expected = told(policy)
    assert all(0 < each < 1 for each in expected[2])
    for stays in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(collapse, "BYTES_A_CODE", 10**12 if stays else collapse.BYTES_A_CODE)
            assert told({**policy, "engine": "duckdb", "memory": "300MB"}) == expected


def test_large_tables_go_to_disk_by_themselves(tmp_path: Path) -> None:
    """All tables together count; a method that needs single records keeps them in memory."""
    policy = written(linked(7), tmp_path)

    def engine(**more: Any) -> str:
        asked = incrowd.Policy.from_mapping({**policy, **more})
        return choose(asked, source_of(asked)).name

    assert engine() == "memory"
    assert engine(memory="4KB") == "duckdb"
    assert engine(memory="4KB", method="clustering") == "memory"
    with pytest.raises(PolicyError, match="works on single records"):
        engine(engine="duckdb", method="clustering")


# What tables get wrong: defined, counted and told


def changed(tables: Tables, name: str, **columns: Any) -> Tables:
    return {**tables, name: tables[name].with_columns(**columns)}


@pytest.mark.usefixtures("everywhere")
def test_rows_of_nobody_are_refused_or_left_out_and_counted(tmp_path: Path) -> None:
    tables = linked(2)
    strangers = pl.DataFrame({"who": ["p999", None, "  ", "p999"], "drug": ["q", "q", "x", "y"]})
    more = {**tables, "drugs": pl.concat([tables["drugs"], strangers])}
    told = r"4 of 84 rows of .* name nobody of .* by 'who' \(2 of them have no value\)"
    with pytest.raises(PolicyError, match=told) as raised:
        incrowd.anonymize(more, policy_of())
    assert "say `unmatched: drop` in `tables.drugs`" in str(raised.value)
    policy = policy_of()
    allowed = {**policy["tables"]["drugs"], "unmatched": "drop"}
    policy["tables"] = {**policy["tables"], "drugs": allowed}
    release = incrowd.anonymize(more, policy)
    assert any("4 rows of drugs name nobody" in remark for remark in release.remarks)
    assert release.manifest["unmatched"] == {"drugs": 4}
    assert "q" not in release.tables["drugs"]["drug"].to_list()
    assert release.save(tmp_path / "release").holds
    hold(tables, tmp_path / "release", policy)


@pytest.mark.usefixtures("everywhere")
def test_tables_that_do_not_hang_together_are_refused() -> None:
    tables = changed(linked(2), "drugs", who=pl.lit("nobody"))
    with pytest.raises(PolicyError, match=r"Is 'who' the column .* and 'Id' the key\?"):
        incrowd.anonymize(tables, policy_of())


@pytest.mark.usefixtures("everywhere")
def test_a_patient_with_five_equal_rows_is_one_patient(tmp_path: Path) -> None:
    tables = linked(3)
    own = tables["patients"]
    again = own.filter(own["Id"] == "p0").with_columns(Id=pl.lit(" P0"))
    more = {**tables, "patients": pl.concat([own, *[again] * 4])}
    release = incrowd.anonymize(more, policy_of())
    assert any("1 of 40 patients have several rows" in remark for remark in release.remarks)
    assert release.save(tmp_path / "release").holds
    hold(tables, tmp_path / "release", policy_of())


@pytest.mark.usefixtures("everywhere")
def test_patients_whose_rows_differ_are_refused_or_decided() -> None:
    tables = linked(3)
    own = tables["patients"]
    others = own.filter(pl.col("Id").is_in(["p0", "p1"])).with_columns(age=pl.lit(99, pl.Int64))
    more = {**tables, "patients": pl.concat([own, own, others])}
    with pytest.raises(PolicyError, match=r"'age' \(of 2 patients\)") as raised:
        incrowd.anonymize(more, policy_of())
    assert "keep it in one of the `tables:`" in str(raised.value)
    age = {"role": "quasi", "type": "numeric", "take": "most-frequent"}
    patients = {"key": "Id", "attributes": {"age": age, "sex": "quasi"}, "other": "drop"}
    release = incrowd.anonymize(more, policy_of(patients=patients))
    assert release.manifest["patients"]["source"] == 40
    assert "99" not in "".join(release.data["age"].to_list())


@pytest.mark.usefixtures("everywhere")
def test_a_patient_without_a_key_is_refused() -> None:
    lacking = pl.when(pl.col("Id") == "p4").then(pl.lit(" ")).otherwise("Id")
    with pytest.raises(PolicyError, match="'Id' is missing in 1 of 40 rows"):
        incrowd.anonymize(changed(linked(3), "patients", Id=lacking), policy_of())


@pytest.mark.usefixtures("everywhere")
def test_a_patient_who_lacks_a_value_is_gone_from_all_tables(tmp_path: Path) -> None:
    lacking = pl.when(pl.col("Id") == "p3").then(None).otherwise("age")
    tables = changed(linked(3), "patients", age=lacking)
    tables = changed(
        tables,
        "drugs",
        drug=pl.when(pl.col("who") == "p3").then(pl.lit("secret")).otherwise("drug"),
    )
    tables["drugs"] = pl.concat(
        [tables["drugs"], pl.DataFrame({"who": ["p3"], "drug": ["secret"]})]
    )
    release = incrowd.anonymize(tables, policy_of(missing="drop"))
    assert release.manifest["patients"]["missing_dropped"] == 1
    assert release.save(tmp_path / "release").holds
    assert all(b"secret" not in path.read_bytes() for path in (tmp_path / "release").iterdir())


@pytest.mark.usefixtures("everywhere")
def test_a_suppressed_patient_is_gone_from_all_tables(tmp_path: Path) -> None:
    tables = linked(3)
    old = pl.DataFrame({"Id": ["old"], "age": [119], "sex": ["X"], "name": ["n"]})
    tables["patients"] = pl.concat([tables["patients"], old])
    visit = tables["conditions"].head(1).with_columns(PATIENT=pl.lit("old"), CODE=pl.lit("secret"))
    tables["conditions"] = pl.concat([tables["conditions"], visit])
    policy = policy_of({"k-anonymity": {"k": 4}}, method="incognito", suppression=0.03)
    release = incrowd.anonymize(tables, policy)
    assert release.manifest["patients"]["suppressed"] == 1
    assert release.save(tmp_path / "release").holds
    assert all(b"secret" not in path.read_bytes() for path in (tmp_path / "release").iterdir())
    hold(tables, tmp_path / "release", policy)


@pytest.mark.usefixtures("everywhere")
def test_a_table_of_suppressed_patients_alone_is_refused() -> None:
    tables = linked(3)
    old = pl.DataFrame({"Id": ["old"], "age": [119], "sex": ["X"], "name": ["n"]})
    tables["patients"] = pl.concat([tables["patients"], old])
    tables["drugs"] = pl.DataFrame({"who": ["old"], "drug": ["z"]})
    policy = policy_of({"k-anonymity": {"k": 4}}, method="incognito", suppression=0.03)
    with pytest.raises(PolicyError, match="No row of drugs is left"):
        incrowd.anonymize(tables, policy)


@pytest.mark.usefixtures("everywhere")
def test_long_histories_are_cut_in_each_table(tmp_path: Path) -> None:
    tables = linked(3)
    release = incrowd.anonymize(tables, policy_of(**{"most-events": 3}))
    assert release.save(tmp_path / "release").holds
    assert any("rows in conditions, so many were drawn" in remark for remark in release.remarks)
    for name in ("conditions", "drugs"):
        assert release.tables[name].group_by("patient").len()["len"].max() == 3


@pytest.mark.usefixtures("everywhere")
def test_a_table_of_which_no_column_is_left_is_not_published(tmp_path: Path) -> None:
    policy = policy_of()
    policy["tables"] = {**policy["tables"], "drugs": {"unit": "who", "other": "drop"}}
    release = incrowd.anonymize(linked(3), policy)
    assert list(release.tables) == ["patients", "conditions"]
    assert release.save(tmp_path / "release").holds
    names = {each["name"] for each in release.manifest["attributes"] if not each["published"]}
    assert {"Id", "name", "drugs.who", "drugs.drug"} <= names


@pytest.mark.usefixtures("everywhere")
def test_what_singles_patients_out_in_any_table_is_refused() -> None:
    tables = linked(3)
    visit = tables["conditions"].head(1).with_columns(ward=pl.lit("the only one"))
    tables["conditions"] = pl.concat([tables["conditions"], visit])
    with pytest.raises(UnprotectedError, match=r"1 of 40 patients .*'conditions.ward' \(by itself"):
        incrowd.anonymize(tables, policy_of())
    release = incrowd.anonymize(tables, policy_of(), accept_unprotected=True)
    assert release.manifest["unprotected"] == {"columns": ["conditions.ward"], "unique": 1}


@pytest.mark.usefixtures("everywhere")
def test_a_patient_without_events_is_singled_out_by_their_own_columns() -> None:
    tables = linked(3)
    alone = pl.DataFrame({"Id": ["new"], "age": [30], "sex": ["F"], "name": ["elsewhere"]})
    own = tables["patients"].with_columns(name=pl.lit("here"))
    tables["patients"] = pl.concat([own, alone])
    policy = policy_of()
    attributes = {**policy["patients"]["attributes"], "name": "keep"}
    policy["patients"] = {**policy["patients"], "attributes": attributes}
    release = incrowd.anonymize(tables, policy, accept_unprotected=True)
    told = {"columns": ["name", "conditions.ward"], "unique": 1}
    assert release.manifest["unprotected"] == told


# What memory gives is what is given elsewhere, up to the pseudonyms


def messy(seed: int) -> Tables:
    """Tables with all that may be wrong with them, and that a policy may allow."""
    draw = random.Random(seed)
    tables = dated(linked(seed, draw.randint(8, 24)))
    own = tables["patients"]
    ages = pl.Series([draw.choice((None, 30, 40, 41)) for _ in range(own.height)], dtype=pl.Int64)
    own = own.with_columns(age=ages, seen=pl.lit(draw.choice((1.5, 2))), birth=pl.date(1970, 5, 3))
    again = own.sample(3, seed=seed).with_columns(age=pl.lit(draw.choice((None, 40)), pl.Int64))
    many = own.height
    strangers = pl.DataFrame(
        [(draw.choice(("p99", None, " ")), "Flu", "A", 1, date(1999, 1, 1)) for _ in range(3)],
        tables["conditions"].schema,
        orient="row",
    )
    conditions = pl.concat([tables["conditions"], strangers]).with_columns(
        day=pl.Series(
            [
                draw.choice((None, date(2020, 1, 1) + timedelta(draw.randrange(900))))
                for _ in range(tables["conditions"].height + 3)
            ],
            dtype=pl.Date,
        )
    )
    assert conditions.height > many / 2
    return {**tables, "patients": pl.concat([own, again, own]), "conditions": conditions}


def of_each(tables: Tables) -> list[str]:
    """All that is shown of each patient, in all tables, whoever that is."""
    shown: dict[str, list[str]] = defaultdict(list)
    for name, frame in tables.items():
        for who, *cells in frame.rows():
            shown[who].append(f"{name}: {cells}")
    return sorted(str(sorted(each)) for each in shown.values())


def told_of(tables: Tables, policy: dict[str, Any], key: Path | None) -> tuple[Any, ...]:
    """A release without what is drawn, and what is said of it; or how it is refused."""
    try:
        release = incrowd.anonymize(tables, policy, accept_unprotected=True, key=key)
    except IncrowdError as error:
        return type(error), str(error)
    # That profiles stayed on disk is said there alone.
    remarks = [each for each in release.remarks if "request by request" not in each]
    shown = release.tables if key is None else {n: f.rows() for n, f in release.tables.items()}
    return (of_each(release.tables) if key is None else shown), release.manifest, remarks


DAYS: list[dict[str, Any]] = [
    {"coarse": "quarter"},
    {"relative-to": "first", "unit": "weeks"},
    {"relative-to": "birth", "unit": "years"},
    {"relative-to": {"first": "conditions.CODE", "value": "hiv"}, "unit": "months", "widths": [3]},
]


@settings(max_examples=20)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["mondrian", "incognito", "top-down-specialization"]),
    st.sampled_from(DAYS),
    st.booleans(),
    st.sampled_from([None, {"shift": "30 days"}]),
    st.data(),
)
def test_other_homes_publish_what_memory_does(
    number: int,
    method: str,
    time: dict[str, Any],
    stays: bool,
    shift: dict[str, Any] | None,
    data: st.DataObject,
) -> None:
    """With a shift by a key, which makes all the same; else without one."""
    policy = of_days(time if shift is None else shift, "sensitive")
    tables = policy["tables"]
    tables["conditions"]["unmatched"] = data.draw(st.sampled_from(["drop", "drop", "refuse"]))
    if data.draw(st.booleans()):
        tables["drugs"]["attributes"].pop("day")
        tables["drugs"]["other"] = "drop"
    taken = data.draw(st.sampled_from(["most-frequent", "most-frequent", None]))
    age = {"role": "quasi", "type": "numeric"} | ({} if taken is None else {"take": taken})
    birth = {"role": "keep", "type": "date", "time": shift or {"coarse": "year"}}
    policy["patients"] = {
        "key": "Id", "other": "drop",
        "attributes": {"age": age, "sex": "quasi", "seen": "sensitive", "birth": birth},
    }  # fmt: skip
    policy |= {
        "method": method, "suppression": 0.4,
        "missing": data.draw(st.sampled_from(["value", "drop"])),
        "privacy": [{"k-anonymity": {"k": 2}}, HIV],
    }  # fmt: skip
    source = messy(number)
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        key = None if shift is None else Path(place) / "a.key"
        if key is not None:
            new_key(key)
        expected = told_of(source, policy, key)
        patch.setattr(collapse, "BYTES_A_CODE", 10**12 if stays else collapse.BYTES_A_CODE)
        assert told_of(source, {**policy, "engine": "duckdb", "memory": "300MB"}, key) == expected


@pytest.mark.usefixtures("everywhere")
def test_pseudonyms_are_drawn_and_the_same_in_all_tables(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(randomness, "_bytes", os.urandom)
    tables = linked(6)
    once, again = (incrowd.anonymize(tables, policy_of()) for _ in range(2))
    assert once.tables["conditions"].rows() != again.tables["conditions"].rows()
    without = pl.exclude("patient")
    assert sorted(once.data.select(without).rows()) == sorted(again.data.select(without).rows())
    for release in (once, again):
        assert release.save(tmp_path / "release", replace=True).holds
        hold(tables, tmp_path / "release", policy_of())


# Where tables come from, and where a release may go


def written(tables: Tables, folder: Path) -> dict[str, Any]:
    """The tables in files of several kinds, and a policy that names them."""
    tables["patients"].write_csv(folder / "patients.csv")
    tables["conditions"].write_parquet(folder / "conditions.parquet")
    tables["drugs"].write_csv(folder / "drugs.csv", separator=";")
    policy = policy_of(output=str(folder / "release"))
    policy["patients"] = {**policy["patients"], "source": str(folder / "patients.csv")}
    conditions = {**policy["tables"]["conditions"], "source": str(folder / "conditions.parquet")}
    drugs = {**policy["tables"]["drugs"], "source": str(folder / "drugs.csv"), "separator": ";"}
    return {**policy, "tables": {"conditions": conditions, "drugs": drugs}}


def test_files_of_several_kinds_give_what_frames_give(tmp_path: Path, same_draws: None) -> None:
    tables = linked(7)
    policy = written(tables, tmp_path)
    from_files, from_frames = (
        incrowd.anonymize(None, policy),
        incrowd.anonymize(tables, policy_of()),
    )
    for name, frame in from_frames.tables.items():
        assert from_files.tables[name].equals(frame)
    one_frame = incrowd.anonymize({"drugs": tables["drugs"]}, {**policy, "tables": {
        **policy["tables"], "drugs": policy_of()["tables"]["drugs"]}})  # fmt: skip
    assert one_frame.tables["drugs"].equals(from_frames.tables["drugs"])


@pytest.mark.usefixtures("everywhere")
def test_cells_and_names_that_a_spreadsheet_runs_are_escaped_in_every_table(tmp_path: Path) -> None:
    tables = linked(3)
    formula = pl.when(pl.col("drug") == "x").then(pl.lit("=1+1")).otherwise("drug")
    tables["drugs"] = tables["drugs"].select("who", formula.alias("=drug"))
    policy = policy_of(spreadsheet="escape")
    drugs = {"unit": "who", "attributes": {"=drug": "sensitive"}}
    release = incrowd.anonymize(tables, {**policy, "tables": {**policy["tables"], "drugs": drugs}})
    assert release.save(tmp_path / "release").holds
    told = {"escaped": True, "cells": {"drugs.=drug": 1}, "names": 1}
    assert release.manifest["spreadsheet"] == told
    assert (tmp_path / "release" / "drugs.csv").read_text().startswith("patient,'=drug\n")
    opened = incrowd.open_release(tmp_path / "release").tables["drugs"]
    assert opened.equals(release.tables["drugs"])


def test_the_output_may_not_overlap_with_any_table(tmp_path: Path) -> None:
    policy = written(linked(7), tmp_path)
    inside = tmp_path / "drugs"
    inside.mkdir()
    (tmp_path / "drugs.csv").rename(inside / "drugs.csv")
    drugs = {**policy["tables"]["drugs"], "source": str(inside)}
    policy = {**policy, "tables": {**policy["tables"], "drugs": drugs}}
    release = incrowd.anonymize(None, policy)
    with pytest.raises(OutputError, match="lies inside the folder of the source"):
        release.save(inside / "release")
    with pytest.raises(OutputError, match="source"):
        release.save(tmp_path, replace=True)
    assert release.save(tmp_path / "release").holds


def test_a_table_that_changes_meanwhile_stops_the_release(tmp_path: Path) -> None:
    release = incrowd.anonymize(None, written(linked(7), tmp_path))
    with (tmp_path / "drugs.csv").open("a") as file:
        file.write("p1;x\n")
    with pytest.raises(IncrowdError, match=r"drugs.csv of .* was changed"):
        release.save(tmp_path / "release")
    assert not (tmp_path / "release").exists()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("patients.csv", "one source is not enough"),
        ({"patient": pl.DataFrame()}, "Did you mean 'patients'"),
        ({"patients": pl.DataFrame({"Id": ["a"]})}, "no `source:` in `tables.conditions`"),
    ],
)
def test_what_is_given_must_be_the_tables(given: Any, told: str) -> None:
    with pytest.raises(PolicyError, match=told):
        incrowd.anonymize(given, policy_of())


def test_several_tables_need_a_policy_of_several() -> None:
    flat = {"attributes": {"age": "quasi"}, "privacy": [{"k-anonymity": {"k": 2}}]}
    with pytest.raises(PolicyError, match="it needs `patients:` and `tables:`"):
        incrowd.anonymize(linked(1), flat)


def test_a_release_is_replaced_and_the_difference_told(tmp_path: Path) -> None:
    tables = linked(7)
    incrowd.anonymize(tables, policy_of()).save(tmp_path / "release")
    more = {**tables, "drugs": tables["drugs"].with_columns(drug=pl.lit("x"))}
    release = incrowd.anonymize(more, policy_of())
    release.save(tmp_path / "release", replace=True)
    assert release.replaced is not None
    assert not release.replaced.same
    assert release.replaced.values["drugs.drug"][0] > 0


# Dates, which are changed alike in all tables


def dated(tables: Tables) -> Tables:
    """The tables with a day of each event, the same for all events of a patient."""
    day = pl.date(2020, 1, 1)
    return {
        **tables,
        "conditions": tables["conditions"].with_columns(day=day),
        "drugs": tables["drugs"].with_columns(day=day),
    }


def of_days(time: dict[str, Any], role: str) -> dict[str, Any]:
    policy = policy_of()
    day = {"role": role, "type": "date", "time": time}
    tables = {
        name: {**each, "attributes": {**each["attributes"], "day": day}}
        for name, each in policy["tables"].items()
    }
    return {**policy, "tables": tables}


@pytest.mark.usefixtures("everywhere")
def test_a_patient_has_one_shift_for_all_tables(tmp_path: Path) -> None:
    policy = of_days({"shift": "90 days"}, "sensitive")
    release = incrowd.anonymize(dated(linked(3)), policy)
    assert release.save(tmp_path / "release").holds
    both = pl.concat(
        [release.tables[name].select("patient", "day") for name in ("conditions", "drugs")]
    )
    shown = both.group_by("patient").agg(pl.col("day").n_unique())
    assert set(shown["day"]) == {1}
    assert both["day"].n_unique() > 5


@pytest.mark.usefixtures("everywhere")
def test_days_are_counted_from_the_first_event_of_any_table(tmp_path: Path) -> None:
    tables = dated(linked(3))
    tables["drugs"] = tables["drugs"].with_columns(day=pl.date(2020, 1, 11))
    release = incrowd.anonymize(tables, of_days({"relative-to": "first"}, "sensitive"))
    assert release.save(tmp_path / "release").holds
    came = set(release.tables["conditions"]["patient"])
    assert set(release.tables["conditions"]["day"]) == {"0"}
    after = {"10" if who in came else "0" for who in release.tables["drugs"]["patient"]}
    assert set(release.tables["drugs"]["day"]) == after


def test_what_is_wrong_with_dates_is_told_with_its_table() -> None:
    policy = of_days({"relative-to": {"first": "CODE", "value": "hiv"}}, "sensitive")
    with pytest.raises(PolicyError, match=r"tables\.drugs\.attributes\.day: .*'conditions.CODE'"):
        incrowd.Policy.from_mapping(policy)
