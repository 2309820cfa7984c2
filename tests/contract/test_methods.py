"""Every method, under every model, whatever is asked of it: what must hold of each release."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, get_args

import polars as pl
import pytest
from contract_checks import (
    ABOUT_EVENTS,
    NEVER_DROPS,
    ONE_EACH,
    PARTS,
    RECORDS,
    groups_of,
    policy_for,
    published,
    quasi_entries,
    saved,
)
from patients import ATTRIBUTES, OPTIONS, PRIVACY, QUASI, domain_of, frame_of, labels_of, policy_of
from published_labels import bounds, covers, members

import incrowd
from incrowd.methods import METHOD_OPTIONS
from incrowd.privacy import MODELS


def test_every_model_and_every_option_is_covered_here() -> None:
    assert {model for models in PRIVACY.values() for each in models for model in each} == set(
        MODELS
    ) - {*ABOUT_EVENTS}
    # anatomize makes no generalized release, and has its own tests; so has what knows of events.
    methods = {
        name: each
        for name, each in METHOD_OPTIONS.items()
        if name != "anatomize" and not each.knows_events
    }
    assert {each["method"]["name"] for each in OPTIONS} == set(methods)
    assert sorted(itertools.chain(*PARTS.values())) == sorted(methods)
    for name, options in methods.items():
        here = [each["method"] for each in OPTIONS if each["method"]["name"] == name]
        for field, described in options.model_fields.items():
            legal = (
                (True, False) if described.annotation is bool else get_args(described.annotation)
            )
            assert {each[field] for each in here} == set(legal)


NAMES = [each["method"]["name"] for each in OPTIONS]
DROPPING = [i for i, name in enumerate(NAMES) if name == "mondrian"]
GLOBAL = [i for i, name in enumerate(NAMES) if name not in PARTS["local"]]


@pytest.mark.parametrize("option", DROPPING)
def test_some_group_is_generalized_and_some_record_suppressed(option: int) -> None:
    """So that what the tests above look at is there."""
    release = published(("k-anonymity", option, 0.1))
    assert release.manifest["records"]["suppressed"] > 0
    labels = {row[name] for row in release.rows for name in QUASI}
    assert any(label is not None and bounds(label) for label in labels)
    if labels_of(option) == "set":
        assert any(label is not None and members(label) for label in labels)
    else:
        assert {"Manual", "Office", "Law", "early", "late"} & labels


@pytest.mark.parametrize("option", GLOBAL)
def test_some_values_are_specialized_and_a_value_shows_the_same_everywhere(option: int) -> None:
    release = published(("lkc listed", option, 0.0))
    source = {record["ward"]: record for record in RECORDS}
    assert sum(len({row[name] for row in release.rows}) > 1 for name in QUASI) >= 1
    for name in QUASI:
        shown: dict[str | None, set[str | None]] = {}
        for row in release.rows:
            shown.setdefault(source[row["ward"]][name], set()).add(row[name])
        assert all(len(labels) == 1 for labels in shown.values())


@pytest.mark.parametrize("option", ONE_EACH)
@pytest.mark.parametrize("name", ["k-anonymity", "several attributes"])
def test_missing_quasi_identifiers_may_be_dropped(name: str, option: int) -> None:
    complete = [r for r in RECORDS if all(r[column] is not None for column in QUASI)]
    release = incrowd.anonymize(
        frame_of(RECORDS), policy_for((name, option, 0.0), missing="drop"), accept_unprotected=True
    )
    assert {row["ward"] for row in release.data.to_dicts()} == {r["ward"] for r in complete}
    assert release.manifest["records"] == {
        "source": len(RECORDS),
        "published": len(complete),
        "suppressed": 0,
        "missing_dropped": len(RECORDS) - len(complete),
    }
    for column, entry in quasi_entries(release.manifest).items():
        assert entry["domain"] == domain_of(column, release.data[column].to_list(), entry["labels"])
        assert None not in release.data[column].to_list()
    exact = incrowd.anonymize(
        frame_of(complete), policy_for((name, option, 0.0)), accept_unprotected=True
    )
    assert release.data.equals(exact.data)


UNDROPPED = [i for i, name in enumerate(NAMES) if name in NEVER_DROPS]


@pytest.mark.parametrize("option", UNDROPPED)
def test_methods_that_drop_nothing_give_the_same_with_suppression(option: int) -> None:
    allowed = incrowd.anonymize(
        frame_of(RECORDS), policy_for(("lkc listed", option, 0.1)), accept_unprotected=True
    )
    assert allowed.manifest["records"]["suppressed"] == 0
    assert allowed.data.to_dicts() == published(("lkc listed", option, 0.0)).rows


IN_TURN = [(name, ONE_EACH[at % len(ONE_EACH)]) for at, name in enumerate(PRIVACY)]
"""Every model by a method in turn."""


@pytest.mark.parametrize(("name", "option"), IN_TURN)
def test_records_that_are_all_alike_keep_their_values(name: str, option: int) -> None:
    """Equal in what is known of them: nothing to generalize, one group, no loss."""
    alike = [{**record, **{column: RECORDS[1][column] for column in QUASI}} for record in RECORDS]
    release = incrowd.anonymize(
        frame_of(alike), policy_for((name, option, 0.1)), accept_unprotected=True
    )
    assert len(release.data) == len(RECORDS)
    assert len(groups_of(release.data.to_dicts())) == 1
    assert release.manifest["utility"]["ncp"] == 0
    for column in QUASI:
        assert covers(release.data[column][0], RECORDS[1][column])


@pytest.mark.parametrize("option", sorted({*ONE_EACH, *DROPPING}))
def test_cells_that_are_all_missing_stay_missing(option: int) -> None:
    empty = [{**record, "age": None, "job": None, "birth": None} for record in RECORDS]
    attributes = {
        **ATTRIBUTES,
        "age": {"role": "quasi", "type": "numeric"},
        "birth": {"role": "quasi", "type": "date", "hierarchy": "dates"},
    }
    release = saved(empty, {**policy_for(("k-anonymity", option, 0.1)), "attributes": attributes})
    assert release.broken == []
    assert {(row["age"], row["job"], row["birth"]) for row in release.rows} == {(None,) * 3}
    assert quasi_entries(release.manifest)["age"]["ncp"] == pytest.approx(
        release.manifest["records"]["suppressed"] / len(RECORDS)
    )


@pytest.mark.parametrize(("name", "option"), IN_TURN)
def test_one_record_is_refused(name: str, option: int) -> None:
    """One record satisfies t-closeness, whose only group is the table; nothing else."""
    record = {**RECORDS[0], "ill": "flu", "grade": "3"}
    asked = [
        {model: {**parameters, **({"values": ["flu"]} if "values" in parameters else {})}}
        for each in PRIVACY[name]
        for model, parameters in each.items()
    ]
    policy = policy_of(asked, **OPTIONS[option])
    if all("t-closeness" in each for each in asked):
        assert len(incrowd.anonymize(frame_of([record]), policy, accept_unprotected=True).data) == 1
        return
    with pytest.raises(incrowd.IncrowdError, match=r"1 records?|cannot be reached"):
        incrowd.anonymize(frame_of([record]), policy, accept_unprotected=True)


def test_no_records_are_refused() -> None:
    with pytest.raises(incrowd.IncrowdError, match="no records"):
        incrowd.anonymize(frame_of([]), policy_of(PRIVACY["k-anonymity"]), accept_unprotected=True)


UNREACHABLE: dict[str, tuple[dict[str, Any], str]] = {
    "distinct": ({"l-diversity": {"l": 7, "sensitive": "ill"}}, "l = 6"),
    "entropy": ({"l-diversity": {"l": 6.5, "kind": "entropy", "sensitive": "ill"}}, "l = 5."),
    "recursive": (
        {"l-diversity": {"l": 7, "kind": "recursive", "c": 9.0, "sensitive": "ill"}},
        "c = inf",
    ),
    "frequency": ({"l-diversity": {"l": 6.5, "kind": "frequency", "sensitive": "ill"}}, "l = 4"),
    "p-sensitive": ({"p-sensitive": {"p": 7, "k": 2, "sensitive": "ill"}}, "p = 6"),
    "alpha-k": ({"alpha-k": {"alpha": 0.1, "k": 2, "sensitive": "ill"}}, "alpha = 0.2"),
    "confidence": ({"confidence-bounding": {"C": 0.1, "sensitive": "grade"}}, "C = 0.2"),
}


@pytest.mark.parametrize("name", UNREACHABLE)
@pytest.mark.parametrize("option", ONE_EACH)
def test_privacy_out_of_reach_is_told_with_the_best_there_is(
    name: str, option: int, tmp_path: Path
) -> None:
    asked, best = UNREACHABLE[name]
    policy = policy_of([{"k-anonymity": {"k": 2}}, asked], **OPTIONS[option], suppression=0.0)
    with pytest.raises(incrowd.errors.PrivacyError) as caught:
        incrowd.anonymize(frame_of(RECORDS), policy, accept_unprotected=True).save(
            tmp_path / "release"
        )
    assert caught.value.exit_code == 1
    assert best in str(caught.value)
    assert "k-anonymity" not in str(caught.value), "what can be reached is no complaint"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["k-anonymity", "p-sensitive", "alpha-k"])
def test_a_k_larger_than_the_table_is_refused(name: str, tmp_path: Path) -> None:
    ((model, parameters),) = PRIVACY[name][0].items()
    too_large = [{model: {**parameters, "k": len(RECORDS) + 1}}]
    with pytest.raises(incrowd.errors.InputError, match=f"k is {len(RECORDS) + 1}") as caught:
        incrowd.anonymize(frame_of(RECORDS), policy_of(too_large), accept_unprotected=True).save(
            tmp_path / "release"
        )
    assert str(len(RECORDS)) in str(caught.value)
    assert list(tmp_path.iterdir()) == []
    exactly = [{"k-anonymity": {"k": len(RECORDS)}}]
    release = incrowd.anonymize(frame_of(RECORDS), policy_of(exactly), accept_unprotected=True)
    assert len(groups_of(release.data.to_dicts())) == 1


def test_a_k_larger_than_what_missing_leaves_is_refused() -> None:
    complete = [r for r in RECORDS if all(r[column] is not None for column in QUASI)]
    asked = [{"k-anonymity": {"k": len(complete) + 1}}]
    with pytest.raises(incrowd.errors.InputError, match=f"only {len(complete)} records"):
        incrowd.anonymize(
            frame_of(RECORDS), policy_of(asked, missing="drop"), accept_unprotected=True
        )


def test_what_does_not_verify_is_not_left_behind(tmp_path: Path) -> None:
    place = tmp_path / "release"
    incrowd.anonymize(
        frame_of(RECORDS), policy_of(PRIVACY["k-anonymity"]), accept_unprotected=True
    ).save(place)
    before = {path.name: path.read_bytes() for path in place.iterdir()}
    release = incrowd.anonymize(
        frame_of(RECORDS), policy_of(PRIVACY["distinct"]), accept_unprotected=True
    )
    release.manifest["promises"].append({"model": "k-anonymity", "parameters": {"k": 60}})
    for target in (place, tmp_path / "another"):
        with pytest.raises(incrowd.errors.VerificationError, match="k-anonymity"):
            release.save(target, replace=True)
    assert [path.name for path in tmp_path.iterdir()] == ["release"]
    assert {path.name: path.read_bytes() for path in place.iterdir()} == before


def test_a_release_replaces_an_older_one(tmp_path: Path) -> None:
    place = tmp_path / "release"
    for name in ("k-anonymity", "distinct"):
        incrowd.anonymize(
            frame_of(RECORDS), policy_of(PRIVACY[name]), accept_unprotected=True
        ).save(place, replace=name == "distinct")
    assert incrowd.verify(place).holds
    assert incrowd.open_release(place).manifest["promises"][0]["model"] == "l-diversity"
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


@pytest.mark.parametrize("name", ["k-anonymity", "ordered", "hierarchical", "several attributes"])
def test_a_release_in_parquet_keeps_the_same_promises(name: str, tmp_path: Path) -> None:
    release = incrowd.anonymize(
        frame_of(RECORDS), policy_of(PRIVACY[name], format="parquet"), accept_unprotected=True
    )
    release.save(tmp_path / "release")
    assert incrowd.verify(tmp_path / "release").holds
    assert pl.read_parquet(tmp_path / "release" / "data.parquet")["grade"].dtype == pl.Int64
    assert incrowd.open_release(tmp_path / "release").data.equals(release.data)


@pytest.mark.parametrize("file_format", ["csv", "parquet"])
def test_whole_numbers_among_decimals_are_the_same_in_every_format(
    file_format: str, tmp_path: Path
) -> None:
    """A 2 beside a 2.5 stays a 2: for the judge, for who opens it, and for listed values."""
    frame = pl.DataFrame({"age": [1, 2, 3, 4], "dose": ["2", "2.5", "2", "2.5"]})
    policy = {
        "attributes": {"age": "quasi", "dose": "sensitive"},
        "privacy": [
            {"t-closeness": {"t": 0.5, "distance": "ordered"}},
            {"alpha-k": {"alpha": 0.5, "k": 2, "values": ["2"]}},
        ],
        "format": file_format,
    }
    release = incrowd.anonymize(frame, policy, accept_unprotected=True)
    release.save(tmp_path / "release")
    opened = incrowd.open_release(tmp_path / "release")
    assert opened.data.equals(release.data)
    assert opened.manifest["measured"][1]["alpha"] == 0.5
