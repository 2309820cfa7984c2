"""Releases with changed dates: what survives a change, what does not, and who could tell.

What a release shows is held against its source in plain Python, patient by patient: patients are
told apart by a column of their own that is published untouched.
"""

from __future__ import annotations

import json
import os
import random
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd
from incrowd._runtime import randomness
from incrowd._runtime.secret_key import SecretKey
from incrowd.engines import collapse
from incrowd.errors import IncrowdError, PolicyError
from incrowd.federation import check_policy
from incrowd.policy import Policy
from incrowd.policy.times import told_times
from incrowd.publish.key_files import new_key, refuse_key_in

Row = tuple[str, str, int, str, date | None, date | None, date | None]
NAMES = ["id", "who", "age", "code", "birth", "start", "end"]
WEEKS = {"shift": "182 days", "weeks": True}
EVENT = {"role": "keep", "level": "event"}


def visits(seed: int = 1, patients: int = 40) -> list[Row]:
    draw = random.Random(seed)
    rows: list[Row] = []
    for patient in range(patients):
        birth = date(1950, 1, 1) + timedelta(draw.randint(0, 9000))
        own = (f" P{patient} ", f"w{patient}", draw.randint(20, 29))
        for _ in range(draw.choice((1, 2, 5))):
            start = date(2019, 1, 1) + timedelta(draw.randint(0, 2000))
            end = start + timedelta(draw.choice((0, 0, 3, 40)))
            gone = draw.random() < 0.1
            rows.append((*own, draw.choice("abc"), birth, None if gone else start, end))
    draw.shuffle(rows)
    return rows


@pytest.fixture(params=["memory", "duckdb", "duckdb, profiles too"])
def where(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What a policy says of a home of the records."""
    if request.param.endswith("too"):
        monkeypatch.setattr(collapse, "BYTES_A_CODE", 10**12)
    return {"engine": request.param.partition(",")[0], "memory": "300MB"}


def policy_of(**times: dict[str, Any]) -> dict[str, Any]:
    """The policy with `time:` for some of the dates; the others are left out."""
    dates = {
        name: ({"role": "keep"} if name == "birth" else EVENT) | {"time": times[name]}
        if name in times
        else "identifier"
        for name in ("birth", "start", "end")
    }
    return {
        "unit": "id",
        "attributes": {
            "id": "identifier", "who": "keep", "age": "quasi",
            "code": {"role": "sensitive", "level": "event"}, **dates,
        },
        "privacy": [{"k-anonymity": {"k": 3}}],
    }  # fmt: skip


def made(rows: list[Row], policy: dict[str, Any], **more: Any) -> incrowd.Release:
    frame = pl.DataFrame(rows, NAMES, orient="row")
    return incrowd.anonymize(frame, policy, accept_unprotected=True, **more)


def by_patient(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found = defaultdict(list)
    for row in rows:
        found[row[1]].append(row)
    return found


def shown_of(release: incrowd.Release, *names: str) -> dict[str, list[tuple[str | None, ...]]]:
    """The published rows of each patient."""
    found = defaultdict(list)
    for who, *cells in release.data.select("who", *names).rows():
        found[who].append(tuple(cells))
    return found


def moved(day: date | None, by: int) -> str | None:
    return None if day is None else (day + timedelta(by)).isoformat()


def shift_of(rows: list[Row], shown: list[tuple[str | None, ...]]) -> int:
    """The one shift that turns all dates of a patient's rows into the published ones."""
    birth = shown[0][0]
    assert birth is not None
    assert rows[0][4] is not None
    by = (date.fromisoformat(birth) - rows[0][4]).days
    expected = [tuple(moved(day, by) for day in row[4:]) for row in rows]
    key = lambda cells: [cell or "" for cell in cells]  # noqa: E731
    assert sorted(expected, key=key) == sorted(shown, key=key)
    return by


def shifts_of(rows: list[Row], release: incrowd.Release) -> dict[str, int]:
    shown = shown_of(release, "birth", "start", "end")
    return {who: shift_of(own, shown[who]) for who, own in by_patient(rows).items()}


@pytest.mark.parametrize("weeks", [True, False])
def test_all_dates_of_a_patient_move_by_one_shift_so_intervals_survive(
    weeks: bool, where: dict[str, Any], tmp_path: Path
) -> None:
    rows = visits()
    time = {"shift": "182 days", "weeks": weeks}
    release = made(rows, {**policy_of(birth=time, start=time, end=time), **where})
    shifts = shifts_of(rows, release)
    assert all(-182 <= by <= 182 for by in shifts.values())
    assert all(by % 7 == 0 for by in shifts.values()) is weeks
    assert len(set(shifts.values())) > 10
    assert release.save(tmp_path / "release").holds


def test_no_shift_is_told_by_anything_that_is_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two releases that differ in shifts, the manifests tell the same."""
    monkeypatch.setattr(randomness, "_bytes", os.urandom)
    rows = visits()
    policy = policy_of(birth=WEEKS, start=WEEKS)
    one, other = made(rows, policy), made(rows, policy)
    one.save(tmp_path / "one")
    assert one.data.rows() != other.data.rows()
    told = {name: one.manifest[name] for name in other.manifest}
    assert told == other.manifest
    entry = next(e for e in one.manifest["attributes"] if e["name"] == "birth")
    assert entry["time"] == {"way": "shift", "days": 182, "weeks": True}
    report = (tmp_path / "one" / "report.html").read_text(encoding="utf-8")
    assert "A shift is a mask, not anonymity" in report
    assert "birth (dates changed)" in report


def test_a_shift_leads_past_today_and_before_birth_and_is_never_cut_off() -> None:
    """Spec 005, case 6: the published dates end where no limit is."""
    today = date.today()
    rows: list[Row] = [
        (f"P{n}", f"w{n}", 20, "a", today, today, today - timedelta(n % 3)) for n in range(200)
    ]
    release = made(rows, policy_of(birth=WEEKS, start=WEEKS, end=WEEKS))
    shifts = shifts_of(rows, release)
    assert min(shifts.values()) < -100
    assert max(shifts.values()) > 100
    assert max(release.data["start"].to_list()) > today.isoformat()


def test_dates_that_a_shift_could_move_off_the_calendar_are_refused_before_any_is_drawn() -> None:
    rows = visits()
    rows[0] = (*rows[0][:6], date(9999, 12, 30))
    with pytest.raises(PolicyError, match="close to the first or the last day") as raised:
        made(rows, policy_of(end=WEEKS))
    assert "9999" not in str(raised.value)


def test_times_count_from_the_earliest_of_all_dates_of_a_patient(where: dict[str, Any]) -> None:
    rows = visits()
    first = {"relative-to": "first"}
    policy = policy_of(start=first, end=first | {"widths": [30, 90]})
    release = made(rows, {**policy, **where})
    shown = shown_of(release, "start", "end")
    for who, own in by_patient(rows).items():
        zero = min(day for row in own for day in row[5:] if day is not None)
        expected = []
        for row in own:
            start = None if row[5] is None else str((row[5] - zero).days)
            assert row[6] is not None
            low = (row[6] - zero).days // 30 * 30
            expected.append((start, f"[{low}-{low + 30})"))
        assert sorted(map(str, expected)) == sorted(map(str, shown[who]))


def test_times_since_birth_are_ages_and_birth_itself_is_told_by_its_year(
    where: dict[str, Any], tmp_path: Path
) -> None:
    rows = visits()
    policy = policy_of(birth={"coarse": "year"}, start={"relative-to": "birth", "unit": "years"})
    release = made(rows, {**policy, **where})
    shown = shown_of(release, "birth", "start")
    for who, own in by_patient(rows).items():
        expected = []
        for row in own:
            born, start = row[4], row[5]
            assert born is not None
            birthday = start and (start.month, start.day) >= (born.month, born.day)
            age = None if start is None else start.year - born.year - (not birthday)
            expected.append((str(born.year), None if age is None else str(age)))
        assert sorted(map(str, expected)) == sorted(map(str, shown[who]))
    assert release.save(tmp_path / "release").holds


def test_times_count_from_the_first_event_with_a_value(where: dict[str, Any]) -> None:
    rows = visits()
    index = {"relative-to": {"first": "code", "value": "b"}, "unit": "weeks"}
    release = made(rows, {**policy_of(start=index), **where})
    shown = shown_of(release, "code", "start")
    without = 0
    for who, own in by_patient(rows).items():
        found = [row[5] for row in own if row[3] == "b" and row[5] is not None]
        without += not found
        expected = []
        for row in own:
            known = found and row[5] is not None
            told = str((row[5] - min(found)).days // 7) if known else None  # type: ignore[operator]
            expected.append((row[3], told))
        assert sorted(map(str, expected)) == sorted(map(str, shown[who]))
    remark = next(each for each in release.remarks if each.startswith("time:"))
    assert f"{without} of 40 patients" in remark
    assert any(told and told.startswith("-") for each in shown.values() for _, told in each)
    unknown = {"relative-to": {"first": "code", "value": "zzz"}}
    with pytest.raises(PolicyError, match="no row has the `value:`"):
        made(rows, {**policy_of(start=unknown), **where})


def test_first_is_that_of_all_rows_also_where_some_are_not_published(
    where: dict[str, Any],
) -> None:
    rows = visits()
    first = {"relative-to": "first"}
    cut = made(rows, {**policy_of(end=first), "most-events": 1, **where})
    whole = shown_of(made(rows, policy_of(end=first)), "end")
    shown = shown_of(cut, "end")
    assert all(set(shown[who]) <= set(whole[who]) for who in shown)
    assert any(told not in (("0",),) for each in shown.values() for told in each)


def test_models_and_the_guard_judge_what_is_published() -> None:
    """Days single everybody out; of their quarters every one is held by many."""
    rows = [
        (f"P{n}", "w", 20 + n % 2, "a", None, date(2020, 1, 1) + timedelta(n), date(2020, 1, 1))
        for n in range(90)
    ]
    frame = pl.DataFrame(rows, NAMES, orient="row", schema_overrides={"birth": pl.Date})
    policy = policy_of(start={"coarse": "quarter"})
    assert incrowd.anonymize(frame, policy).manifest["unprotected"]["unique"] == 0
    exact = policy_of(start={"relative-to": "birth"}, birth={"coarse": "year"})
    assert set(incrowd.anonymize(frame, exact).data["start"]) == {None}
    policy["attributes"]["start"] = {**EVENT, "type": "date"}
    with pytest.raises(IncrowdError, match="unique on the columns") as raised:
        incrowd.anonymize(frame, policy)
    assert "`time:`" in str(raised.value)
    sensitive = policy_of(start={"coarse": "year"})
    sensitive["attributes"]["start"]["role"] = "sensitive"
    sensitive["privacy"].append({"confidence-bounding": {"C": 0.9, "sensitive": "start"}})
    with pytest.raises(IncrowdError, match="confidence-bounding"):
        incrowd.anonymize(frame, sensitive)


@pytest.mark.parametrize("unit", ["row", "id"])
def test_a_patient_with_one_row_has_a_shift_too(
    unit: str, where: dict[str, Any], tmp_path: Path
) -> None:
    rows = [own[0] for own in by_patient(visits()).values()]
    policy = {**policy_of(birth=WEEKS, end=WEEKS), "unit": unit, **where}
    policy["attributes"]["code"] = "sensitive"
    policy["attributes"]["end"] = {"role": "keep", "time": WEEKS}
    release = made(rows, policy)
    assert "patient" not in release.data.columns
    shown = shown_of(release, "birth", "end")
    shifts = set()
    for row in rows:
        ((birth, end),) = shown[row[1]]
        assert birth is not None
        assert row[4] is not None
        by = (date.fromisoformat(birth) - row[4]).days
        shifts.add(by)
        assert moved(row[6], by) == end
    assert len(shifts) > 10
    assert release.save(tmp_path / "release").holds


def test_missing_quasi_identifiers_and_suppression_leave_each_patient_their_own_dates(
    where: dict[str, Any],
) -> None:
    rows = visits(3)
    rows = [(*r[:2], None if r[1] == "w7" else 90 if r[1] == "w9" else r[2], *r[3:]) for r in rows]  # type: ignore[misc]
    policy = {
        **policy_of(birth=WEEKS, start=WEEKS, end=WEEKS), "missing": "drop", "suppression": 0.1,
        **where,
    }  # fmt: skip
    release = made(rows, policy)
    left = shown_of(release, "birth", "start", "end")
    assert {"w7", "w9"}.isdisjoint(left)
    assert len(left) == 38
    for who, own in by_patient(rows).items():
        if who in left:
            shift_of(own, left[who])


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "a.key"
    new_key(path)
    return path


def test_with_a_key_pseudonyms_and_shifts_are_the_same_in_every_release(
    where: dict[str, Any], key: Path, tmp_path: Path
) -> None:
    rows = visits()
    policy = policy_of(birth=WEEKS, start=WEEKS, end=WEEKS)
    release = made(rows, {**policy, **where}, key=key)
    assert release.save(tmp_path / "release").holds
    # The next release has other rows in another order, and one spells its patients otherwise.
    others = [(r[0].strip().lower(), *r[1:]) for r in rows[::-1] if r[1] not in ("w1", "w2")]
    again = made(others, {**policy, "method": "incognito"}, key=key)
    shifts = shifts_of(rows, release)
    assert {who: shifts[who] for who in by_patient(others)} == shifts_of(others, again)
    names = dict(release.data.select("who", "patient").rows())
    assert dict(again.data.select("who", "patient").rows()).items() <= names.items()
    whole = [name.tobytes().hex() for name in SecretKey.read(key).names(f"p{n}" for n in range(40))]
    assert names == {f"w{n}": name for n, name in enumerate(whole)}
    assert release.manifest["pseudonyms"] == {"fingerprint": SecretKey.read(key).fingerprint}
    told = json.dumps(release.manifest) + str(release.remarks)
    assert key.read_bytes().hex() not in told
    assert any("each recipient needs a key of their own" in each for each in release.remarks)


def test_another_key_has_other_pseudonyms_and_shifts(key: Path, tmp_path: Path) -> None:
    new_key(tmp_path / "b.key")
    rows = visits()
    policy = policy_of(birth=WEEKS, start=WEEKS, end=WEEKS)
    one, other = made(rows, policy, key=key), made(rows, policy, key=tmp_path / "b.key")
    assert not set(one.data["patient"]) & set(other.data["patient"])
    assert shifts_of(rows, one) != shifts_of(rows, other)


def test_with_a_key_a_patient_with_one_row_has_a_pseudonym_too(
    where: dict[str, Any], key: Path, tmp_path: Path
) -> None:
    rows = [own[0] for own in by_patient(visits()).values()]
    policy = {**policy_of(), **where}
    policy["attributes"]["code"] = "sensitive"
    release = made(rows, policy, key=key)
    assert release.data["patient"].str.len_chars().unique().to_list() == [32]
    assert release.save(tmp_path / "release").of_patients


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"unit": "row"}, "`unit: row`, each row is another's"),
        ({"unit": None}, "has no `unit:`"),
        ({"publish": "anatomy"}, "no column of pseudonyms"),
    ],
)
def test_a_key_without_patients_to_name_is_refused(
    changed: dict[str, Any], told: str, key: Path
) -> None:
    policy = {**policy_of(), **changed}
    policy["attributes"]["code"] = "sensitive"
    with pytest.raises(PolicyError, match=told):
        made(visits(), policy, key=key)


def test_a_key_in_a_release_or_in_the_place_of_one_is_refused(key: Path, tmp_path: Path) -> None:
    release = made(visits(), policy_of(), key=key)
    with pytest.raises(IncrowdError, match="lies in the output folder"):
        refuse_key_in(SecretKey.read(key), key.parent)
    release.save(tmp_path / "release")
    with pytest.raises(IncrowdError, match="lies in a release"):
        new_key(tmp_path / "release" / "b.key")
    inside = tmp_path / "release" / "c.key"
    inside.write_bytes(key.read_bytes())
    inside.chmod(0o600)
    with pytest.raises(IncrowdError, match="lies in a release"):
        made(visits(), policy_of(), key=inside)


TIMES = [
    {"coarse": "month"},
    {"coarse": "quarter"},
    {"relative-to": "first"},
    {"relative-to": "first", "unit": "months"},
    {"relative-to": "birth", "unit": "months", "widths": [5, 10]},
    {"relative-to": "birth", "unit": "years"},
    {"relative-to": {"first": "code", "value": "c"}, "unit": "weeks", "widths": [2]},
    {"relative-to": {"first": "code", "value": "c"}, "unit": "years"},
    WEEKS,
]


def shown_alike(release: incrowd.Release) -> tuple[Any, ...]:
    """All that a release shows and tells, but for the numbers of patients."""
    shown = release.data.select(pl.exclude("patient"))
    told = [each for each in release.remarks if each.startswith("time:")]
    return sorted(map(str, shown.rows())), release.manifest, told


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.sampled_from(TIMES), st.sampled_from(TIMES), st.booleans())
def test_other_homes_publish_what_memory_does(
    number: int, start: dict[str, Any], end: dict[str, Any], stays: bool
) -> None:
    """By one key also the shifts are the same; without it all that hangs on none."""
    rows = visits(number, 12)
    policy = {**policy_of(birth={"coarse": "year"}, start=start, end=end), "suppression": 0.3}
    policy["attributes"]["end"] = {"role": "sensitive", "level": "event", "time": end}
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        new_key(Path(place) / "a.key")
        by_key = {"key": Path(place) / "a.key"}
        expected = made(rows, policy, **by_key)
        policy |= {"engine": "duckdb", "memory": "300MB"}
        patch.setattr(collapse, "BYTES_A_CODE", 10**12 if stays else collapse.BYTES_A_CODE)
        found = made(rows, policy, **by_key)
        assert found.data.equals(expected.data)
        assert shown_alike(found) == shown_alike(expected)


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.sampled_from(TIMES[:6]), st.sampled_from(TIMES[:6]))
def test_records_that_are_each_another_patient_are_dated_alike_at_all_homes(
    number: int, start: dict[str, Any], end: dict[str, Any]
) -> None:
    rows = visits(number, 20)
    policy = {**policy_of(birth={"coarse": "year"}, start=start, end=end), "unit": "row"}
    for name in ("start", "end", "code"):
        policy["attributes"][name] = {
            each: said for each, said in policy["attributes"][name].items() if each != "level"
        }
    expected = made(rows, policy)
    found = made(rows, {**policy, "engine": "duckdb", "memory": "300MB"})
    assert found.data.equals(expected.data)
    assert shown_alike(found) == shown_alike(expected)


def test_hospitals_say_that_they_cannot() -> None:
    policy = policy_of(birth=WEEKS)
    policy["method"] = "top-down-specialization"
    with pytest.raises(PolicyError, match="Change the dates at each hospital first"):
        check_policy(Policy.from_mapping(policy))


def test_what_is_no_date_is_refused() -> None:
    policy = policy_of(start={"relative-to": "age"})
    with pytest.raises(PolicyError, match="'age' is not read as dates"):
        made(visits(), policy)


@pytest.mark.parametrize(
    ("times", "told"),
    [
        (
            {"birth": {"coarse": "month"}, "start": WEEKS},
            "the shift as exactly as the period",
        ),
        (
            {"start": {"relative-to": "first"}, "end": {"coarse": "month"}},
            "periods and intervals together narrow down each day",
        ),
        ({"start": {"relative-to": "first"}, "end": WEEKS}, "counted from knows the shift"),
        (
            {"birth": {"coarse": "year"}, "start": {"relative-to": "birth"}},
            "Who knows 'birth' of a person knows every date",
        ),
        ({"end": WEEKS}, "A shift is a mask"),
    ],
)
def test_what_dates_tell_together_is_said(times: dict[str, Any], told: str) -> None:
    sentences = told_times(made(visits(), policy_of(**times)).manifest)
    assert sum(told in each for each in sentences) == 1


# Linked tables


def linked(seed: int = 4) -> dict[str, pl.DataFrame]:
    """Patients, some of whom have stays, and some drugs."""
    draw = random.Random(seed)
    people = [
        (f"P{n}", f"w{n}", 20 + n % 5, date(1960, 1, 1) + timedelta(37 * n)) for n in range(40)
    ]
    stays, drugs = [], []
    for name, who, _, birth in people[:-3]:
        for _ in range(draw.choice((1, 2, 4))):
            day = birth + timedelta(draw.randint(9000, 12000))
            stays.append((name.lower(), who, draw.choice("ab"), day))
    for name, who, _, birth in people[3:]:
        drugs.append((f" {name}", who, birth + timedelta(draw.randint(9000, 12000))))
    return {
        "patients": pl.DataFrame(people, ["id", "who", "age", "birth"], orient="row"),
        "stays": pl.DataFrame(stays, ["of", "who", "code", "day"], orient="row"),
        "drugs": pl.DataFrame(drugs, ["of", "who", "day"], orient="row"),
    }


def linked_policy(birth: Any, stay: Any, drug: Any) -> dict[str, Any]:
    return {
        "patients": {
            "key": "id",
            "attributes": {"who": "keep", "age": "quasi", "birth": {"role": "keep", "time": birth}},
        },
        "tables": {
            "stays": {
                "unit": "of",
                "attributes": {
                    "who": "keep", "code": "sensitive", "day": {"role": "keep", "time": stay}
                },
            },
            "drugs": {
                "unit": "of",
                "attributes": {"who": "keep", "day": {"role": "keep", "time": drug}},
            },
        },
        "privacy": [{"k-anonymity": {"k": 3}}],
    }  # fmt: skip


def of_each(table: pl.DataFrame, *names: str) -> dict[str, list[tuple[Any, ...]]]:
    found = defaultdict(list)
    for who, *cells in table.select("who", *names).rows():
        found[who].append(tuple(cells))
    return found


@pytest.mark.parametrize("by_key", [False, True])
def test_one_shift_moves_the_dates_of_all_linked_tables(
    by_key: bool, key: Path, tmp_path: Path
) -> None:
    tables = linked()
    policy = linked_policy(WEEKS, WEEKS, WEEKS)
    given = key if by_key else None
    release = incrowd.anonymize(tables, policy, accept_unprotected=True, key=given)
    assert release.save(tmp_path / "release").holds
    shown = release.tables
    births = {who: day for who, ((day,),) in of_each(shown["patients"], "birth").items()}
    shifts = {
        who: (date.fromisoformat(births[who]) - day).days
        for who, ((day,),) in of_each(tables["patients"], "birth").items()
    }
    assert len(set(shifts.values())) > 10
    for name in ("stays", "drugs"):
        moved_days = of_each(shown[name], "day")
        for who, days in of_each(tables[name], "day").items():
            expected = sorted(moved(day, shifts[who]) or "" for (day,) in days)
            assert sorted(day for (day,) in moved_days[who]) == expected
    if by_key:
        again = incrowd.anonymize(tables, policy, accept_unprotected=True, key=given)
        assert all(again.tables[name].equals(shown[name]) for name in shown)
        assert shown["patients"]["patient"].str.len_chars().unique().to_list() == [32]


def test_times_in_linked_tables_count_from_one_day() -> None:
    tables = linked()
    first = {"relative-to": "first"}
    shown = incrowd.anonymize(
        tables, linked_policy({"coarse": "year"}, first, first), accept_unprotected=True
    ).tables
    stays, drugs = of_each(shown["stays"], "day"), of_each(shown["drugs"], "day")
    own_stays, own_drugs = of_each(tables["stays"], "day"), of_each(tables["drugs"], "day")
    for who in {*own_stays, *own_drugs}:
        zero = min(day for (day,) in (*own_stays.get(who, ()), *own_drugs.get(who, ())))
        for shown_days, days in ((stays, own_stays), (drugs, own_drugs)):
            expected = sorted(str((day - zero).days) for (day,) in days.get(who, ()))
            assert sorted(day for (day,) in shown_days.get(who, ())) == expected


def test_the_first_event_of_one_table_is_day_0_of_another(tmp_path: Path) -> None:
    tables = linked()
    within = {"relative-to": {"first": "code", "value": "b"}}
    across = {"relative-to": {"first": "stays.code", "value": "b"}}
    policy = linked_policy({"coarse": "year"}, within, across)
    release = incrowd.anonymize(tables, policy, accept_unprotected=True)
    assert release.save(tmp_path / "release").holds
    drugs = of_each(release.tables["drugs"], "day")
    own = of_each(tables["stays"], "code", "day")
    for who, ((day,),) in of_each(tables["drugs"], "day").items():
        found = [at for code, at in own.get(who, ()) if code == "b"]
        assert drugs[who] == [(str((day - min(found)).days) if found else None,)]
    with pytest.raises(PolicyError, match=r"tables\.drugs\.attributes\.day: .* no date of those"):
        incrowd.anonymize(tables, linked_policy({"coarse": "year"}, {"coarse": "year"}, across))
    with pytest.raises(
        PolicyError, match=r"tables\.drugs\.attributes\.day: .* Did you mean 'stays"
    ):
        incrowd.anonymize(tables, linked_policy({"coarse": "year"}, within, within))


@pytest.mark.parametrize("role", ["keep", "sensitive"])
@pytest.mark.parametrize(
    "written",
    [
        pl.col("end"),
        pl.col("end").cast(pl.Datetime),
        pl.col("end").dt.to_string("%Y-%m-%d") + " 10:30",
        pl.col("end").dt.to_string("%d.%m.%Y"),
        pl.col("end").dt.to_string("%Y%m%d").cast(pl.Int64),
        pl.when(pl.col("age") > 22).then(pl.col("end").cast(pl.String)).otherwise(pl.lit("never")),
    ],
)
def test_days_beside_shifted_ones_are_refused_where_nobody_said_that_they_are_days(
    role: str, written: pl.Expr
) -> None:
    frame = pl.DataFrame(visits(), NAMES, orient="row").with_columns(written.alias("end"))
    policy = policy_of(start=WEEKS)
    policy["attributes"] = {**policy["attributes"], "end": {"role": role, "level": "event"}}
    with pytest.raises(PolicyError, match="'end' shows days as they are"):
        incrowd.anonymize(frame, policy, accept_unprotected=True)


def test_shifts_in_days_and_in_weeks_are_not_one_number() -> None:
    """Both have 51 steps. Were they one, two releases by one key would tell the shift exactly."""
    key = SecretKey(bytes(range(32)))
    names = key.names(map(str, range(500)))
    days, weeks = key.below(51, names), key.below(51, names, 7)
    assert (days == weeks).mean() < 0.1
