"""Elimination: by hand, against all choices of values, and what models promise about it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
from incrowd.attacks import _elimination_loops as elimination_loops
from incrowd.attacks import eliminate, eliminate_before_after
from incrowd.attacks._elimination import Elimination
from incrowd.errors import InputError, ParameterError
from incrowd.privacy import LDiversity, MultiSensitive

BOTH = ["disease", "treatment"]
# Figure 1 of Gal, Chen, Gangopadhyay (2008), in one group.
FIGURE_1 = pl.DataFrame(
    {
        "age": ["[41-50)"] * 4,
        "disease": ["Heart disease", "Heart disease", "Flu", "Stomach disease"],
        "treatment": ["Medicine", "Surgery", "IV", "IV"],
    }
)


def exposed(found: Elimination) -> dict[str, tuple[int, int, int]]:
    return {
        each.name: (each.exposed_at_once, each.exposed_single, each.exposed_multi)
        for each in found.attributes
    }


def test_figure_1_with_one_value_ruled_out() -> None:
    found = eliminate(FIGURE_1, quasi=["age"], sensitive=BOTH)
    # No IV: heart disease for the first two. No heart disease: IV for the last two.
    assert exposed(found) == {"disease": (0, 0, 2), "treatment": (0, 0, 2)}
    assert (found.exposed_at_once, found.exposed_single, found.exposed_multi) == (0, 0, 4)
    assert (found.records, found.groups, found.values, found.joint) == (4, 1, 1, True)
    assert [each.average_values for each in found.attributes] == [3.0, 3.0]


def test_figure_1_with_two_values_ruled_out_has_no_secret_left() -> None:
    found = eliminate(FIGURE_1, values=2, quasi=["age"], sensitive=BOTH)
    assert exposed(found) == {"disease": (0, 4, 4), "treatment": (0, 4, 4)}


def test_one_attribute_alone_has_nothing_else_to_rule_out() -> None:
    found = eliminate(FIGURE_1, quasi=["age"], sensitive=["disease"])
    assert exposed(found) == {"disease": (0, 0, 0)}


def test_a_group_with_one_value_is_exposed_at_once_and_missing_is_a_value() -> None:
    frame = pl.DataFrame(
        {"ward": list("AAABB"), "disease": ["Flu", "Flu", "Flu", "Flu", None], "id": range(5)}
    )
    found = eliminate(frame, quasi=["ward"], sensitive=["disease"])
    assert exposed(found) == {"disease": (3, 5, 5)}
    assert found.attributes[0].average_values == pytest.approx(7 / 5)


def test_a_value_of_the_person_is_never_ruled_out() -> None:
    """Treatment x would remove the third record, and is the first one's too."""
    frame = pl.DataFrame(
        {"ward": ["A"] * 4, "disease": list("abcd"), "treatment": ["x", "y", "x", "y"]}
    )
    found = eliminate(frame, values=2, quasi=["ward"], sensitive=BOTH)
    # For the first: y removes the second and the fourth, c the third.
    assert exposed(found) == {"disease": (0, 0, 4), "treatment": (0, 4, 4)}
    found = eliminate(frame, values=1, quasi=["ward"], sensitive=BOTH)
    assert exposed(found) == {"disease": (0, 0, 0), "treatment": (0, 4, 4)}


def chosen_away(
    group: Sequence[tuple[str | None, ...]], values: int
) -> list[tuple[list[bool], list[bool]]]:
    """For each row and attribute, whether some choice of up to `values` values leaves one."""
    width = len(group[0])
    every = sorted({(at, row[at]) for row in group for at in range(width)}, key=repr)
    verdicts = []
    for person in group:
        mine = set(enumerate(person))
        free = [value for value in every if value not in mine]
        single, multi = [False] * width, [False] * width
        for size in range(values + 1):
            for gone in combinations(free, size):
                left = [row for row in group if not set(enumerate(row)) & set(gone)]
                for at in range(width):
                    if {row[at] for row in left} == {person[at]}:
                        multi[at] = True
                        single[at] |= all(which == at for which, _ in gone)
        verdicts.append((single, multi))
    return verdicts


def by_hand(
    rows: Sequence[tuple[str | None, ...]], quasi: int, values: int, *, joint: bool = True
) -> list[int | list[int]]:
    """The counts of `eliminate`, from all choices; without joint values, multi is single."""
    groups: dict[tuple[str | None, ...], list[tuple[str | None, ...]]] = {}
    for row in rows:
        groups.setdefault(row[:quasi], []).append(row[quasi:])
    verdicts = [each for group in groups.values() for each in chosen_away(group, values)]
    width = len(rows[0]) - quasi
    nothing = [each for group in groups.values() for each, _ in chosen_away(group, 0)]
    told: list[int | list[int]] = [
        [sum(each[at] for each in nothing) for at in range(width)],
        sum(map(any, nothing)),
    ]
    for kind in (0, 1 if joint else 0):
        told.append([sum(each[kind][at] for each in verdicts) for at in range(width)])
        told.append(sum(any(each[kind]) for each in verdicts))
    return told


def counts(found: Elimination) -> list[int | list[int]]:
    return [
        [each.exposed_at_once for each in found.attributes],
        found.exposed_at_once,
        [each.exposed_single for each in found.attributes],
        found.exposed_single,
        [each.exposed_multi for each in found.attributes],
        found.exposed_multi,
    ]


cells = st.sampled_from(["a", "b", "c", "d", None])
tables = st.integers(1, 3).flatmap(
    lambda width: st.lists(
        st.tuples(st.sampled_from("xy"), *[cells] * width), min_size=1, max_size=9
    )
)


def framed(rows: Sequence[tuple[str | None, ...]]) -> tuple[pl.DataFrame, list[str]]:
    names = ["q", *(f"s{at}" for at in range(len(rows[0]) - 1))]
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row"), names[1:]


@given(tables, st.integers(1, 3))
def test_raw_and_generalized_against_all_choices(
    rows: list[tuple[str | None, ...]], values: int
) -> None:
    frame, sensitive = framed(rows)
    expected = by_hand(rows, 1, values)
    raw = eliminate(frame, values=values, quasi=["q"], sensitive=sensitive)
    assert counts(raw) == expected
    roles = {"q": "quasi", **dict.fromkeys(sensitive, "sensitive")}
    listed = [{"name": name, "role": role, "published": True} for name, role in roles.items()]
    release = SimpleNamespace(data=frame, manifest={"attributes": listed})
    assert counts(eliminate(release, values=values)) == expected


def parted(frame: pl.DataFrame, sensitive: Sequence[str], publish: str) -> Any:
    """A release of several tables with the groups of q, made by hand."""
    roles = {"q": "quasi", **dict.fromkeys(sensitive, "sensitive")}
    listed = [{"name": name, "role": role, "published": True} for name, role in roles.items()]
    key, records = ("group_id", "qit") if publish == "anatomy" else ("class_id", "nss")
    group = frame["q"].replace_strict({"x": "1", "y": "2"}).alias(key)
    tables = {records: frame.select("q").with_columns(group)}
    if publish == "anatomy":
        for name in sensitive:
            tables[f"st_{name}"] = (
                frame.select(group, name)
                .group_by(key, name, maintain_order=True)
                .len("count")
                .cast(pl.String)
            )
    else:
        tables["ss"] = frame.select(group, *sensitive).reverse()
    manifest = {"publish": publish, "attributes": listed}
    return SimpleNamespace(data=tables[records], tables=tables, manifest=manifest)


@given(tables, st.integers(1, 3))
def test_releases_of_several_tables_against_all_choices(
    rows: list[tuple[str | None, ...]], values: int
) -> None:
    frame, sensitive = framed(rows)
    lossy = eliminate(parted(frame, sensitive, "lossy-join"), values=values)
    assert counts(lossy) == by_hand(rows, 1, values)
    assert lossy.joint
    anatomy = eliminate(parted(frame, sensitive, "anatomy"), values=values)
    assert counts(anatomy) == by_hand(rows, 1, values, joint=False)
    assert not anatomy.joint


@given(tables)
def test_more_values_expose_more_and_any_attribute_more_than_one(
    rows: list[tuple[str | None, ...]],
) -> None:
    frame, sensitive = framed(rows)
    before = None
    for values in range(1, 6):
        found = eliminate(frame, values=values, quasi=["q"], sensitive=sensitive)
        for at_once, single, multi in exposed(found).values():
            assert at_once <= single <= multi
        assert found.exposed_at_once <= found.exposed_single <= found.exposed_multi
        told = [number for each in exposed(found).values() for number in each]
        told += [found.exposed_single, found.exposed_multi]
        assert before is None or all(np.greater_equal(told, before))
        before = told


@given(tables, st.integers(2, 4))
def test_l_of_a_model_exposes_nobody_to_l_less_2_values(
    rows: list[tuple[str | None, ...]], values: int
) -> None:
    """Exactly where a model holds with l = values + 2; distinct values for one attribute alone."""
    frame, sensitive = framed(rows)
    found = eliminate(frame, values=values, quasi=["q"], sensitive=sensitive)
    jointly = MultiSensitive(k=2, l=values + 2, sensitive=sensitive)
    if jointly.check(frame, quasi=["q"]).holds:
        assert found.exposed_multi == 0
    for each in found.attributes:
        model = LDiversity(l=values + 2, kind="distinct", sensitive=each.name)
        assert model.check(frame, quasi=["q"]).holds == (each.exposed_single == 0)


def test_a_multi_sensitive_release_exposes_nobody_to_l_less_2_values() -> None:
    rng = np.random.default_rng(4)
    frame = pl.DataFrame(
        {
            "age": rng.integers(20, 90, 600),
            "disease": rng.integers(0, 9, 600).astype(str),
            "treatment": rng.integers(0, 7, 600).astype(str),
        }
    )
    policy = {
        "attributes": {"age": "quasi", **dict.fromkeys(BOTH, "sensitive")},
        "privacy": [{"multi-sensitive": {"k": 4, "l": 4, "sensitive": BOTH, "check": "exact"}}],
        "method": "mondrian",
    }
    before, after = eliminate_before_after(incrowd.anonymize(frame, policy), frame, values=2)
    assert after.groups > 5
    assert (after.exposed_multi, after.records) == (0, 600)
    assert before.exposed_multi > 0
    assert eliminate(incrowd.anonymize(frame, policy), values=3).exposed_multi > 0


@pytest.mark.parametrize("nodes", [0, 3, 20_000])
def test_what_the_bounds_leave_open_is_searched_and_what_the_search_leaves_is_solved(
    monkeypatch: pytest.MonkeyPatch, nodes: int
) -> None:
    """Without a search the solver settles what lies between the bounds: yes for some, no for some.

    With all its nodes the search must find the same.
    """
    verdicts = []

    def solved(*given: Any) -> int:
        verdicts.append(real(*given))
        return verdicts[-1]

    real = elimination_loops._solved
    monkeypatch.setattr(elimination_loops, "_MOST_NODES", nodes)
    monkeypatch.setattr(elimination_loops, "_VISITS_AT_ONCE", 20)
    monkeypatch.setattr(elimination_loops, "_FEWEST_AT_ONCE", 20)
    monkeypatch.setattr(elimination_loops, "_solved", solved)
    draw = np.random.default_rng(19)
    for _ in range(8):
        rows = [("x", *map(str, draw.integers(0, 6, 3))) for _ in range(12)]
        frame, sensitive = framed(rows)
        found = eliminate(frame, values=3, quasi=["q"], sensitive=sensitive)
        assert counts(found) == by_hand(rows, 1, 3)
    expected = {0: {elimination_loops.YES, elimination_loops.NO}, 20_000: set()}
    assert set(verdicts) == expected.get(nodes, set(verdicts))


def test_an_interrupt_is_let_through(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_given: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(elimination_loops, "_decide", interrupted)
    with pytest.raises(KeyboardInterrupt):
        eliminate(FIGURE_1, quasi=["age"], sensitive=BOTH)


def test_before_and_after_read_only_what_is_needed(tmp_path: Path) -> None:
    patients = FIGURE_1.with_columns(
        pl.Series("age", [42, 41, 49, 43]), name=pl.Series(["Ann", "Bea", "Cleo", "Dora"])
    )
    patients.write_csv(tmp_path / "patients.csv")
    policy = {
        "attributes": {"age": "quasi", **dict.fromkeys(BOTH, "sensitive"), "name": "identifier"},
        "privacy": [{"k-anonymity": {"k": 4}}],
    }
    incrowd.anonymize(patients, policy).save(tmp_path / "release")
    before, after = eliminate_before_after(tmp_path / "release", tmp_path / "patients.csv")
    assert (before.target, before.quasi, before.groups) == ("patients.csv", ("age",), 4)
    assert (before.exposed_at_once, before.exposed_multi) == (4, 4)
    assert (after.target, after.exposed_at_once, after.exposed_multi) == ("release", 0, 4)
    chosen = eliminate_before_after(
        tmp_path / "release", tmp_path / "patients.csv", sensitive=["disease"]
    )
    assert [each.name for each in chosen.before.attributes] == ["disease"]
    assert chosen.after.exposed_multi == 0


@pytest.mark.parametrize("publish", ["anatomy", "lossy-join"])
def test_figure_1_published_as_several_tables(publish: str, tmp_path: Path) -> None:
    patients = FIGURE_1.with_columns(pl.Series("age", [42, 41, 49, 43]))
    policy = {
        "attributes": {"age": "quasi", **dict.fromkeys(BOTH, "sensitive")},
        "privacy": [{"k-anonymity": {"k": 4}}],
        "publish": publish,
    }
    incrowd.anonymize(patients, policy).save(tmp_path / "release")
    found = eliminate(tmp_path / "release")
    # Only the lossy join shows that those without IV have heart disease.
    jointly = 2 if publish == "lossy-join" else 0
    assert exposed(found) == {"disease": (0, 0, jointly), "treatment": (0, 0, jointly)}
    assert (found.joint, found.quasi) == (publish == "lossy-join", ("age",))
    assert exposed(eliminate(tmp_path / "release", values=2, sensitive=["treatment"])) == {
        "treatment": (0, 4, 4)
    }


def test_as_dict_is_plain_json_without_values_of_the_data() -> None:
    found = eliminate(FIGURE_1, quasi=["age"], sensitive=BOTH)
    told = json.loads(json.dumps(found.as_dict()))
    assert told["attributes"][0] == {
        "name": "disease",
        "average_values": 3.0,
        "exposed_at_once": 0,
        "exposed_single": 0,
        "exposed_multi": 2,
    }
    assert (told["quasi"], told["joint"], told["exposed_multi"]) == (["age"], True, 4)
    assert "Flu" not in json.dumps(told)


def test_one_sentence() -> None:
    assert eliminate(FIGURE_1, quasi=["age"], sensitive=BOTH).one_sentence() == (
        "Of 4 records, 4 lose all but one value of a sensitive attribute to someone who rules out "
        "1 value; 0 had no other."
    )
    alone = eliminate(FIGURE_1, values=1, quasi=["age"], sensitive=["disease"])
    assert alone.one_sentence().startswith("Of 4 records, none loses all but one value")
    assert "rules out 2 values" in (
        eliminate(FIGURE_1, values=2, quasi=["age"], sensitive=BOTH).one_sentence()
    )


PARTED = parted(framed([("x", "a"), ("y", "b")])[0], ["s0"], "anatomy")


@pytest.mark.parametrize(
    ("target", "arguments", "error", "message"),
    [
        (FIGURE_1, {"values": 0}, ParameterError, "values: must be a whole number from 1 to 10"),
        (FIGURE_1, {"values": 11}, ParameterError, "from 1 to 10, got 11"),
        (FIGURE_1, {"values": True}, ParameterError, "whole number"),
        (FIGURE_1, {"values": 1.5}, ParameterError, "whole number"),
        (FIGURE_1, {"sensitive": BOTH}, InputError, "No quasi-identifier is named"),
        (FIGURE_1, {"quasi": ["age"]}, InputError, "has no sensitive attribute"),
        (FIGURE_1, {"quasi": ["age"], "sensitive": ["age"]}, ParameterError, "as quasi and as"),
        (FIGURE_1, {"quasi": ["age"], "sensitive": ["diseas"]}, InputError, "mean 'disease'"),
        (PARTED, {"quasi": ["q"]}, ParameterError, "given by its tables. Leave quasi out"),
        (PARTED, {"sensitive": ["s1"]}, InputError, "No column 's1' in the release"),
        (PARTED, {"sensitive": []}, InputError, "The release has no sensitive attribute"),
    ],
)
def test_refusals(
    target: pl.DataFrame | Any, arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        eliminate(target, **arguments)


def test_only_what_stands_apart_is_asked_about() -> None:
    release = parted(framed([("x", "a"), ("y", "b")])[0], ["s0"], "anatomy")
    release.tables["qit"] = release.tables["qit"].with_columns(ward=pl.lit("A"))
    release.manifest["attributes"].append({"name": "ward", "role": "keep", "published": True})
    with pytest.raises(InputError, match="'ward' is no sensitive attribute of the release"):
        eliminate(release, sensitive=["ward"])
