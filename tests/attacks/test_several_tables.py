"""Linkage and risk of releases of several tables: who is found, and what their groups tell."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
from incrowd.attacks import link, risk
from incrowd.errors import InputError

# Table XI of the survey: the groups are 1 to 4 and 5 to 8, as sex divides them.
TABLE_XI = pl.DataFrame(
    {
        "age": [25, 29, 33, 55, 60, 59, 60, 58],
        "sex": list("MMMMFFFF"),
        "zipcode": [11500, 13200, 59300, 12700, 54600, 25200, 25100, 31000],
        "disease": [
            "pneumonia", "dyspepsia", "dyspepsia", "pneumonia", "flu", "gastritis", "flu",
            "bronchitis",
        ],
    }
)  # fmt: skip
VOTERS = pl.DataFrame(
    {
        "name": ["Ali", "Hoda", "Mona", "Omar"],
        "age": [25, 60, 58, 25],
        "sex": ["M", "F", "F", "M"],
        "zipcode": [11500, 25100, 31000, 99999],
    }
)
KINDS = ["anatomy", "lossy-join"]


def release_of(
    frame: pl.DataFrame,
    publish: str,
    quasi: Sequence[str],
    groups: Sequence[int],
    sensitive: str | tuple[str] = ("disease",),
) -> Any:
    """A release of several tables with these groups, made by hand."""
    listed = [
        *({"name": name, "role": "quasi", "published": True} for name in quasi),
        *({"name": name, "role": "sensitive", "published": True} for name in sensitive),
    ]
    key, records = ("group_id", "qit") if publish == "anatomy" else ("class_id", "nss")
    frame = frame.cast(pl.String).with_columns(pl.Series(key, groups).cast(pl.String))
    tables = {records: frame.select(*quasi, key)}
    if publish == "anatomy":
        for name in sensitive:
            counted = frame.group_by(key, name, maintain_order=True).len("count")
            tables[f"st_{name}"] = counted.cast(pl.String)
    else:
        tables["ss"] = frame.select(key, *sensitive).sort(pl.all())
    manifest = {
        "publish": publish,
        "attributes": listed,
        "promises": [{"model": "alpha-k", "parameters": {"alpha": 0.5, "k": 4}}],
    }
    return SimpleNamespace(manifest=manifest, data=tables[records], tables=tables)


def table_xiii(publish: str) -> Any:
    groups = [1] * 4 + [2] * 4
    return release_of(TABLE_XI, publish, ["age", "sex", "zipcode"], groups)


@pytest.mark.parametrize("publish", KINDS)
def test_ali_is_found_in_table_xiii_but_his_disease_is_not(publish: str) -> None:
    found = link(table_xiii(publish), VOTERS)
    assert dict(found.on) == {name: name for name in ("age", "sex", "zipcode")}
    # Omar lives elsewhere; the others are found, and each has a group of several diseases.
    assert found.candidates.tolist() == [1, 1, 1, 0]
    assert (found.matched, found.matched_one, found.records_singled_out) == (3, 3, 3)
    assert (found.k, found.matched_below_k) == (4, 3)
    assert [(each.name, each.people) for each in found.disclosed] == [("disease", 0)]
    assert found.values_apart
    assert found.as_dict()["values_apart"] is True
    told = found.one_sentence()
    assert told.startswith("Of 4 people on the list, 3 are matched to exactly one record.")
    assert "shows who is in the data" in told


@pytest.mark.parametrize("publish", KINDS)
def test_a_group_with_one_value_gives_it_away(publish: str) -> None:
    alike = TABLE_XI.with_columns(disease=pl.Series(["flu"] * 4 + ["flu", "cold", "flu", "cold"]))
    release = release_of(alike, publish, ["age", "sex", "zipcode"], [1] * 4 + [2] * 4)
    found = link(release, VOTERS)
    assert [(each.people, each.in_a_crowd) for each in found.disclosed] == [(1, 0)]


@pytest.mark.parametrize("publish", KINDS)
def test_candidates_in_several_groups_hold_the_values_of_all(publish: str) -> None:
    frame = pl.DataFrame({"age": [30, 30, 40, 40], "disease": ["flu", "cold", "cold", "cold"]})
    people = pl.DataFrame({"age": [30, 40]})
    apart = release_of(frame, publish, ["age"], [1, 2, 2, 2])
    # Those of 30 are in a group with flu and one with cold; those of 40 in the latter.
    assert link(apart, people).disclosed[0].people == 1
    assert link(apart, people).disclosed[0].in_a_crowd == 1
    mixed = release_of(frame, publish, ["age"], [1, 2, 1, 2])
    assert link(mixed, people).disclosed[0].people == 0


@pytest.mark.parametrize("publish", KINDS)
def test_risk_is_that_of_the_exact_records_and_of_the_groups(publish: str) -> None:
    found = risk(table_xiii(publish))
    assert (found.records, found.uniques, found.prosecutor.highest) == (8, 8, 1.0)
    raw = risk(TABLE_XI, quasi=["age", "sex", "zipcode"])
    assert found.combinations == raw.combinations
    (disease,) = found.sensitive
    assert (disease.name, disease.homogeneous_records) == ("disease", 0)
    assert (disease.confidence_per_group, disease.confidence_per_record) == (0.5, 0.5)
    by_sex = risk(table_xiii(publish), quasi=["sex"])
    assert (by_sex.groups.count, by_sex.uniques) == (2, 0)
    assert by_sex.sensitive == found.sensitive


@pytest.mark.parametrize("publish", KINDS)
def test_a_folder_is_attacked_like_the_release(publish: str, tmp_path: Path) -> None:
    policy = {
        "attributes": {
            "age": "quasi",
            "sex": "quasi",
            "zipcode": "quasi",
            "disease": "sensitive",
        },
        "privacy": [{"alpha-k": {"alpha": 0.5, "k": 4, "sensitive": "disease"}}],
        "publish": publish,
    }
    release = incrowd.anonymize(TABLE_XI, policy)
    release.save(tmp_path / "release")
    saved, made = link(tmp_path / "release", VOTERS), link(release, VOTERS)
    assert saved.target == "release"
    assert {**saved.as_dict(), "target": ""} == {**made.as_dict(), "target": ""}
    assert (saved.matched_one, saved.disclosed[0].people) == (3, 0)
    assert risk(tmp_path / "release").sensitive == risk(release).sensitive


def test_a_generalized_release_keeps_its_values_beside_the_records() -> None:
    policy = {
        "attributes": {
            "age": "quasi",
            "sex": "quasi",
            "zipcode": "identifier",
            "disease": "sensitive",
        },
        "privacy": [{"k-anonymity": {"k": 4}}],
    }
    found = link(incrowd.anonymize(TABLE_XI, policy), VOTERS)
    assert not found.values_apart
    assert "who is in the data" not in found.one_sentence()
    assert found.matched_one == 0


cells = st.sampled_from(["a", "b", None])
rows = st.lists(
    st.tuples(st.sampled_from("xyz"), cells, cells, st.sampled_from([1, 2, 3])),
    min_size=1,
    max_size=9,
)


@given(rows)
def test_disclosure_and_confidence_against_plain_counting(
    table: list[tuple[str, str | None, str | None, int]],
) -> None:
    frame = pl.DataFrame(
        [row[:3] for row in table], schema=dict.fromkeys("qst", pl.String), orient="row"
    )
    groups = [row[3] for row in table]
    people = pl.DataFrame({"q": list("xyz")})
    for publish, (at, name) in product(KINDS, enumerate("st", start=1)):
        release = release_of(frame, publish, ["q"], groups, "st")
        held = {group: {row[at] for row in table if row[3] == group} for group in groups}
        disclosed = 0
        for person in "xyz":
            of_person = [held[row[3]] for row in table if row[0] == person]
            disclosed += len(set().union(*of_person)) == 1
        found = {each.name: each for each in link(release, people).disclosed}
        assert found[name].people == disclosed
        exposure = {each.name: each for each in risk(release).sensitive}[name]
        most = {
            group: max(sum(row[3] == group and row[at] == v for row in table) for v in held[group])
            for group in held
        }
        assert exposure.confidence_per_record == sum(most.values()) / len(table)
        assert exposure.homogeneous_records == sum(len(held[group]) == 1 for group in groups)


def test_what_stands_apart_is_no_column_of_the_records() -> None:
    release = table_xiii("anatomy")
    with pytest.raises(InputError, match="No column 'disease' in the release"):
        risk(release, quasi=["disease"])
    with pytest.raises(InputError, match="No column 'group_id' in the release"):
        link(release, VOTERS, on={"group_id": "age"})
    with pytest.raises(InputError, match=r"No column 'diseas' .* Did you mean 'disease'\?"):
        link(release, VOTERS, sensitive=["diseas"])


@pytest.mark.parametrize("publish", KINDS)
def test_tables_that_do_not_fit_are_refused(publish: str) -> None:
    release = table_xiii(publish)
    last = list(release.tables)[-1]
    release.tables[last] = release.tables[last].head(3)
    with pytest.raises(InputError, match="do not fit together"):
        risk(release)


@pytest.mark.parametrize("publish", KINDS)
def test_exact_cells_are_values_whatever_they_look_like(publish: str) -> None:
    strange = ["*", "{a|b}", "[1-9)", "\\x"] * 2
    frame = pl.DataFrame({"city": strange, "age": list(range(8)), "ill": list("abababab")})
    release = incrowd.anonymize(
        frame,
        {
            "attributes": {"city": "quasi", "age": "quasi", "ill": "sensitive"},
            "privacy": [{"alpha-k": {"alpha": 0.5, "k": 4, "sensitive": "ill"}}],
            "publish": publish,
        },
    )
    found = link(release, frame.select("city", "age"))
    assert (found.matched, found.matched_one) == (8, 8)
