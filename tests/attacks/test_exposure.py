"""Risk on tables small enough to check by hand, and against plain counting."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.attacks import risk
from incrowd.errors import InputError, ParameterError

PATIENTS = pl.DataFrame(
    {
        "age": [34, 34, 34, 51, 51, 70],
        "sex": ["F", "F", "F", "M", "M", "M"],
        "zip": ["01", "01", "01", "02", "02", "02"],
        "disease": ["Flu", "Flu", "HIV", "Flu", "Flu", "Ulcer"],
    }
)


def test_prosecutor_risk_by_hand() -> None:
    found = risk(PATIENTS, quasi=["age", "sex"])
    assert (found.records, found.quasi) == (6, ("age", "sex"))
    assert found.groups.count == 3
    assert (found.groups.smallest, found.groups.average, found.groups.largest) == (1, 2.0, 3)
    prosecutor = found.prosecutor
    assert (prosecutor.highest, prosecutor.average) == (1.0, 0.5)
    assert prosecutor.lowest == pytest.approx(1 / 3)
    assert prosecutor.share_at_highest == pytest.approx(1 / 6)
    assert found.uniques == 1
    assert found.unique_share == pytest.approx(1 / 6)
    assert (found.marketer, found.marketer_basis) == (0.5, "sample")
    assert found.journalist is None


def test_records_are_above_a_threshold_only_strictly() -> None:
    five = pl.DataFrame({"age": [1] * 5 + [2] * 4 + [3] * 20})
    above = dict(
        risk(five, quasi=["age"], thresholds=(0.33, 0.25, 0.2, 0.05)).prosecutor.share_above
    )
    assert above == {0.33: 0.0, 0.25: 0.0, 0.2: 4 / 29, 0.05: 9 / 29}


@pytest.mark.parametrize(
    ("size", "above"),
    [
        (2, (0.33, 0.2, 0.09, 0.05)),
        (3, (0.2, 0.09, 0.05)),
        (4, (0.2, 0.09, 0.05)),
        (5, (0.09, 0.05)),
        (10, (0.09, 0.05)),
        (11, (0.05,)),
        (19, (0.05,)),
        (20, ()),
    ],
)
def test_groups_of_3_5_11_and_20_are_not_above_the_thresholds_they_stand_for(
    size: int, above: tuple[float, ...]
) -> None:
    found = risk(pl.DataFrame({"age": [1] * size}), quasi=["age"]).prosecutor.share_above
    assert [threshold for threshold, share in found if share] == list(above)


def test_default_thresholds_are_the_published_ones() -> None:
    above = risk(PATIENTS, quasi=["age"]).prosecutor.share_above
    assert [threshold for threshold, _ in above] == [0.33, 0.2, 0.09, 0.05]


def test_missing_is_a_value_of_its_own() -> None:
    frame = pl.DataFrame({"age": [34, None, None, 34], "sex": ["F", "F", "F", None]})
    found = risk(frame, quasi=["age", "sex"])
    assert (found.groups.count, found.uniques) == (3, 2)
    assert [each.distinct for each in found.attributes] == [2, 2]


def test_numbers_written_differently_are_one_value() -> None:
    assert risk(pl.DataFrame({"age": ["38", "38.0", "038"]}), quasi=["age"]).groups.count == 3
    assert risk(pl.DataFrame({"age": ["38", "38.0"]}), quasi=["age"]).groups.count == 1


def test_numbers_too_mixed_to_be_ordered_are_compared_as_text() -> None:
    frame = pl.DataFrame({"dose": ["0.000000000001", "9000000000000000", "0.000000000001"]})
    assert risk(frame, quasi=["dose"]).groups.count == 2


@pytest.mark.parametrize("convert", [pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
def test_any_frame_gives_the_same(convert: Callable[..., Any]) -> None:
    same: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": ["disease"]}
    theirs, ours = risk(convert(PATIENTS), **same).as_dict(), risk(PATIENTS, **same).as_dict()
    assert {**theirs, "source": ""} == {**ours, "source": ""}


def test_a_file_needs_no_policy(tmp_path: Path) -> None:
    PATIENTS.write_csv(tmp_path / "patients.csv")
    found = risk(tmp_path / "patients.csv", quasi=["age", "zip"], sensitive=["disease"])
    assert (found.source, found.uniques) == ("patients.csv", 1)


def test_sensitive_values_that_groups_give_away() -> None:
    found = risk(PATIENTS, quasi=["age"], sensitive=["disease"]).sensitive[0]
    # Groups: 34 = Flu, Flu, HIV; 51 = Flu, Flu; 70 = Ulcer.
    assert (found.name, found.homogeneous_records, found.homogeneous_share) == ("disease", 3, 0.5)
    assert found.confidence_per_group == pytest.approx((2 / 3 + 1 + 1) / 3)
    assert found.confidence_per_record == pytest.approx(5 / 6)


@pytest.mark.parametrize("memory", [None, "300MB"])
def test_groups_that_differ_in_spelling_alone_give_their_value_away(
    memory: str | None, tmp_path: Path
) -> None:
    frame = pl.DataFrame(
        {"ward": ["A"] * 5, "ill": ["HIV", "hiv", "HIV ", "H\u200bIV", "\uff28\uff29\uff36"]}
    )
    path = tmp_path / "data.parquet"
    frame.write_parquet(path)
    found = risk(path, quasi=["ward"], sensitive=["ill"], memory=memory)
    assert found.sensitive[0].homogeneous_records == 5
    assert found.sensitive[0].confidence_per_record == 1
    other = risk(frame.reverse(), quasi=["ill"])
    assert other.uniques == 5  # what an attacker knows is compared as it is written


def test_as_dict_is_plain_json() -> None:
    found = risk(PATIENTS, quasi=["age"], sensitive=["disease"], sampling_fraction=0.5)
    told = json.loads(json.dumps(found.as_dict()))
    assert told["prosecutor"]["share_above"][0] == {"threshold": 0.33, "share": 0.5}
    assert told["uniques"] == {"records": 1, "share": 1 / 6}
    assert told["journalist"]["basis"] == told["marketer"]["basis"] == "sampling fraction"
    assert told["combinations"][0]["attributes"] == ["age"]


def write_release(folder: Path) -> dict[str, Any]:
    manifest = {
        "format": "incrowd-release/1",
        "records": {"source": 4, "published": 4, "suppressed": 0, "missing_dropped": 0},
        "attributes": [
            {"name": "id", "role": "identifier", "published": False},
            {"name": "age", "role": "quasi", "published": True, "type": "numeric", "labels": "set"},
            {"name": "sex", "role": "quasi", "published": True, "type": "category"},
            {"name": "disease", "role": "sensitive", "published": True, "type": "category"},
        ],
        "promises": [{"model": "k-anonymity", "parameters": {"k": 2}}],
        "files": {"data.csv": {}},
    }
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (folder / "data.csv").write_text(
        "age,sex,disease\n[30-40),F,Flu\n[30-40),F,Flu\n[40-50),*,Flu\n[40-50),*,HIV\n",
        encoding="utf-8",
    )
    return manifest


def test_a_release_folder_brings_its_own_attributes(tmp_path: Path) -> None:
    manifest = write_release(tmp_path / "release")
    found = risk(tmp_path / "release")
    assert found.quasi == ("age", "sex")
    assert (found.prosecutor.highest, found.uniques, found.combinations) == (0.5, 0, ())
    assert found.sensitive[0].homogeneous_records == 2
    release = SimpleNamespace(
        manifest=manifest, data=pl.read_csv(tmp_path / "release" / "data.csv")
    )
    assert risk(release).groups == found.groups
    assert risk(str(tmp_path / "release"), quasi=["sex"]).groups.count == 2


def test_release_cells_are_compared_as_published(tmp_path: Path) -> None:
    release = SimpleNamespace(
        data=pl.DataFrame({"age": ["38", "38.0"]}),
        manifest={"attributes": [{"name": "age", "role": "quasi", "published": True}]},
    )
    assert risk(release).groups.count == 2


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"quasi": ["aeg"]}, InputError, "No column 'aeg' in a polars frame. Did you mean 'age'?"),
        ({"quasi": ["age"], "sensitive": ["diseas"]}, InputError, "Did you mean 'disease'?"),
        ({}, InputError, "No quasi-identifier is named.*age, sex, zip, disease"),
        ({"quasi": []}, InputError, "No quasi-identifier is named"),
        ({"quasi": "age"}, ParameterError, "quasi: must be a list of column names"),
        ({"quasi": ["age", "age"]}, ParameterError, "each only once"),
        ({"quasi": ["age", 3]}, ParameterError, "quasi: must be a list"),
        ({"quasi": ["age"], "sensitive": ["age"]}, ParameterError, "'age' is named as quasi and"),
        ({"quasi": ["age"], "sampling_fraction": 0}, ParameterError, "above 0 and at most 1"),
        ({"quasi": ["age"], "sampling_fraction": 1.2}, ParameterError, "above 0 and at most 1"),
        ({"quasi": ["age"], "sampling_fraction": "x"}, ParameterError, "must be a number"),
        ({"quasi": ["age"], "sampling_fraction": True}, ParameterError, "must be a number"),
        ({"quasi": ["age"], "thresholds": (0.2, 2)}, ParameterError, "from 0 to 1, got 2"),
        ({"quasi": ["age"], "top": -1}, ParameterError, "top: must be a whole number"),
        (
            {"quasi": ["age"], "population": PATIENTS, "sampling_fraction": 0.5},
            ParameterError,
            "not both",
        ),
    ],
)
def test_refusals(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message.replace("?", r"\?")):
        risk(PATIENTS, **arguments)


def test_a_folder_that_is_no_release_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a release"):
        risk(tmp_path, quasi=["age"])


def test_a_release_without_records_is_refused() -> None:
    release = SimpleNamespace(data=pl.DataFrame({"age": []}), manifest={"attributes": []})
    with pytest.raises(InputError, match="no published records"):
        risk(release, quasi=["age"])


cells = st.sampled_from(["a", "b", "c", None])
tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[cells] * width), min_size=1, max_size=12)
)


@given(tables)
def test_all_numbers_against_plain_counting(rows: list[tuple[str | None, ...]]) -> None:
    names = [f"c{at}" for at in range(len(rows[0]))]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    found = risk(frame, quasi=names, top=1000)
    sizes = Counter(rows)
    risks = [1 / sizes[row] for row in rows]
    assert found.groups.count == len(sizes)
    assert found.prosecutor.highest == max(risks)
    assert found.prosecutor.lowest == min(risks)
    assert found.prosecutor.average == pytest.approx(sum(risks) / len(rows))
    at_highest = sum(each == max(risks) for each in risks)
    assert found.prosecutor.share_at_highest == pytest.approx(at_highest / len(rows))
    for (threshold, share), size in zip(found.prosecutor.share_above, (3, 5, 11, 20), strict=True):
        assert abs(threshold - 1 / size) < 0.005
        assert share == pytest.approx(sum(sizes[row] < size for row in rows) / len(rows))
    assert found.uniques == sum(each == 1 for each in risks)
    uniques = plain_uniques(rows)
    for at, attribute in enumerate(found.attributes):
        assert attribute.distinct == len({row[at] for row in rows})
        assert attribute.uniques == uniques[(at,)]
    wanted = [
        (-count, len(chosen), chosen)
        for chosen, count in uniques.items()
        if count
        and all(uniques.get(tuple(x for x in chosen if x != drop), 0) < count for drop in chosen)
    ]
    assert [
        (-each.uniques, len(each.attributes), tuple(names.index(x) for x in each.attributes))
        for each in found.combinations
    ] == sorted(wanted)
    for each in found.combinations_by_size:
        size = len(each.attributes)
        assert each.uniques == max(n for chosen, n in uniques.items() if len(chosen) == size)
        assert each.share == each.uniques / len(rows)


def plain_uniques(rows: Sequence[tuple[str | None, ...]]) -> dict[tuple[int, ...], int]:
    result = {}
    for size in range(1, len(rows[0]) + 1):
        for chosen in combinations(range(len(rows[0])), size):
            counts = Counter(tuple(row[at] for at in chosen) for row in rows)
            result[chosen] = sum(count == 1 for count in counts.values())
    return result


@given(tables)
def test_sensitive_exposure_against_plain_counting(rows: list[tuple[str | None, ...]]) -> None:
    names = [f"c{at}" for at in range(len(rows[0]))]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    frame = frame.with_columns(
        secret=pl.Series([row[-1] or row[0] for row in rows], dtype=pl.String)
    )
    found = risk(frame, quasi=names[:1], sensitive=["secret"]).sensitive[0]
    groups = defaultdict(list)
    for row in rows:
        groups[row[0]].append(row[-1] or row[0])
    alike = sum(len(group) for group in groups.values() if len(set(group)) == 1)
    best = [max(Counter(group).values()) for group in groups.values()]
    assert found.homogeneous_records == alike
    assert found.confidence_per_record == pytest.approx(sum(best) / len(rows))
    shares = [most / len(group) for most, group in zip(best, groups.values(), strict=True)]
    assert found.confidence_per_group == pytest.approx(sum(shares) / len(groups))
