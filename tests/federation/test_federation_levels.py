"""The levels of protection: what each table is, what it protects from, and what was opened."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from joint_tables import PARTIES, SURGERIES, adult, adult_policy, dealt, surgeries, together
from plain_search import Node, Rules, Search, intervals, joined, tree
from split_tables import TREES, split_tables

import incrowd
from incrowd.errors import PolicyError, PrivacyError, SourceError
from incrowd.federation.session.session import OwnRecordsError
from incrowd.privacy import LKC

LEVELS: dict[str, dict[str, Any]] = {
    "own": {},
    "joint": {"protect": "joint"},
    "joint, all honest": {"protect": "joint", "trust": "honest"},
}
ROOTS = {
    "a": joined([*tree(TREES["a"]), Node((None,))]),
    "b": joined([*tree(TREES["b"]), Node((None,))]),
    "n": joined([*intervals(0, 24, [3, 12]), Node((None,))]),
}
CLASSES = ["yes", "no", "perhaps", None]


def _shown(label: str | None, root: Node) -> frozenset[Any]:
    """The values that a label of the release stands for."""
    if label is None:
        return frozenset([None])
    if label == "*":
        return frozenset(root.values)
    if re.fullmatch(r"\d+", label):
        return frozenset([int(label)])
    if between := re.fullmatch(r"\[(\d+)-(\d+)\)", label):
        return frozenset(range(int(between[1]), int(between[2])))
    found = TREES["a"].get(label) or next(
        (below[label] for below in TREES["a"].values() if label in below), None
    )
    return frozenset([label] if found is None else joined(tree(found)).values)


@pytest.mark.parametrize("level", LEVELS)
@given(case=split_tables())
@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
def test_random_tables_are_those_of_the_pooled_records_under_the_same_rules(
    level: str, case: tuple[list[pl.DataFrame], dict[str, Any]]
) -> None:
    parts, policy = case
    if policy["missing"] == "drop":
        parts = [part.drop_nulls(["a", "b", "n"]) for part in parts]
        if any(part.is_empty() for part in parts):
            return
    bounds = policy["privacy"][0]["lkc"]
    if bounds["K"] == 1 and bounds["C"] == 1:
        return  # no promise
    rules = Rules(
        bounds["L"], bounds["K"], bounds["C"], "s", bounds.get("values"), "c", CLASSES,
        ["0", "1", "2", None], policy["method"]["search"], policy["goal"], level.partition(",")[0],
        m=0 if "honest" in level else 1,
    )  # fmt: skip
    records = [
        {**row, "owner": place} for place, part in enumerate(parts) for row in part.to_dicts()
    ]
    try:
        plain = Search(records, ROOTS, rules)
    except ValueError:
        with pytest.raises((PrivacyError, SourceError)):
            together(parts, {**policy, "hospitals": LEVELS[level]})
        return
    if rules.listed and not any(each["s"] in rules.listed for each in records):
        return  # refused: the promise would promise nothing
    made, table = together(parts, {**policy, "hospitals": LEVELS[level]})
    assert made[0].steps == plain.steps
    for name, root in ROOTS.items():
        shown = {_shown(label, root) for label in made[0].release.data[name].to_list()}
        assert shown == {frozenset(node.values) for node in plain.shown[name]}
    data = made[0].release.data
    assert all(each.release.data.equals(data) for each in made)
    shares = pl.concat([each.share.frame() for each in made])
    assert shares.sort(shares.columns, nulls_last=True).equals(
        data.sort(shares.columns, nulls_last=True)
    )
    _nothing_small(table, rules.step)


def _nothing_small(table: Any, step: int) -> None:
    """What every hospital added to a sum, but to the release, is rounded; nothing else is a sum."""
    for request, answers in table.heard:
        counted = isinstance(answers[0], np.ndarray) and answers[0].dtype != np.bool_
        if not counted or request["ask"] in ("rows", "records"):
            continue
        assert request["ask"] in ("combinations", "totals", "sizes", "squares")
        if request["ask"] != "squares":
            assert all((np.asarray(own) % step == 0).all() for own in answers)


@pytest.mark.parametrize("goal", ["classification", "general"])
def test_every_share_keeps_the_policy_alone(goal: str, tmp_path: Path) -> None:
    policy = adult_policy(tmp_path, 2, 10, 0.5, 1_500, goal=goal, hospitals={})
    parts = dealt(adult(1_500), 3, seed=3)
    made, table = together(parts, policy)
    quasi = [n for n, a in policy["attributes"].items() if a["role"] == "quasi"]
    model = LKC(L=2, K=10, C=0.5, sensitive="marital-status", values=["Divorced", "Separated"])
    shares = [each.share.frame() for each in made]
    for number in (1, 2, 3):
        for some in combinations(shares, number):
            assert model.check(pl.concat(some), quasi).holds
    assert made[0].steps > 3
    assert made[0].opened.small == 0
    assert made[0].release.manifest["hospitals"] == {"number": 3, "protect": "own", "m": 2}
    _nothing_small(table, 10)


def test_a_member_with_invented_records_sees_no_more_of_the_others(tmp_path: Path) -> None:
    """It brings every combination often enough, so that nothing but the others holds a label back.

    Without its own share, the release shows the records of the others: in crowds, at every level
    but the one in which all are honest.
    """
    table = adult(800)
    policy = adult_policy(tmp_path, 2, 10, 0.5, 800, goal="classification", hospitals={})
    quasi = [n for n, a in policy["attributes"].items() if a["role"] == "quasi"]
    model = LKC(L=2, K=10, C=0.5, sensitive="marital-status", values=["Divorced", "Separated"])
    rng = np.random.default_rng(1)
    drawn = {name: table[name].sample(4_000, with_replacement=True, seed=int(rng.integers(1 << 30)))
             for name in table.columns}  # fmt: skip
    parts = [*dealt(table, 2), pl.DataFrame(drawn)]
    found = {}
    for level in ("honest", "own", "joint"):
        asked = {"trust": "honest"} if level == "honest" else {"protect": level}
        made, _ = together(parts, {**policy, "hospitals": asked})
        taken = pl.concat([made[2].release.data, made[2].share.frame()])
        others = taken.group_by(taken.columns).len().filter(pl.col("len") % 2 == 1)
        assert others.height  # what is left when the own share is taken off is not nothing
        rest = pl.concat([made[0].share.frame(), made[1].share.frame()])
        found[level] = model.check(rest, quasi).holds
    assert found == {"honest": False, "own": True, "joint": True}


def test_own_records_that_cannot_keep_the_policy_stop_the_run_without_a_number() -> None:
    policy = surgeries(hospitals={}, privacy=[{"k-anonymity": {"k": 4}}])
    with pytest.raises(OwnRecordsError) as told:
        together(PARTIES, policy)  # three, four and four records
    assert "protect: joint" in str(told.value)
    assert not re.search(r"\d", told.value.public)


def test_what_is_opened_on_the_way(tmp_path: Path) -> None:
    """The default opens rounded class counts, bits and the release; the paper's way far more."""
    parts = dealt(adult(3_000), 3)
    policy = adult_policy(tmp_path, 2, 20, 0.5, 3_000, goal="classification", hospitals={})
    own, table = together(parts, policy)
    asked = {request["ask"] for request, _ in table.heard}
    assert asked == {
        "begin",
        "records",
        "totals",
        "combinations",
        "objections",
        "judged",
        "rows",
        "ready",
    }
    honest, _ = together(parts, {**policy, "hospitals": {"trust": "honest"}})
    assert honest[0].opened.small > 1_000
    assert own[0].opened.cells < honest[0].opened.cells / 20
    assert own[0].opened.small == 0


def test_every_hospital_judges_its_own_share_before_rows_are_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A fault of the search that would show a small crowd is found by the judge, before a row."""
    from incrowd.federation.run._level_own import OwnSpecialization

    monkeypatch.setattr(OwnSpecialization, "_unopposed", lambda *_: True)
    monkeypatch.setattr(
        OwnSpecialization, "_held_children", lambda _self, _attribute, families: list(families)
    )
    heard: list[str] = []

    def listening(self: Any, request: dict[str, Any], marks: Any) -> Any:
        heard.append(request["ask"])
        return any_(self, request, marks)

    from round_table import Chair

    any_ = Chair.any
    monkeypatch.setattr(Chair, "any", listening)
    with pytest.raises(incrowd.errors.VerificationError):
        together(PARTIES, surgeries(hospitals={}))
    assert "judged" not in heard


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"reveal": "counts"}, "trust: honest"),
        ({"reveal": "counts", "m": 1}, "trust: honest"),
        ({"protect": "own", "reveal": "bits"}, "stands alone"),
        ({"protect": "own", "trust": "honest"}, "stands alone"),
        ({"protect": "joint", "m": 0}, "m: 1"),
        ({"protect": "joint", "reveal": "counts", "trust": "honest"}, "Leave `reveal` out"),
    ],
)
def test_levels_that_contradict_themselves_are_refused(asked: dict[str, Any], told: str) -> None:
    with pytest.raises(PolicyError, match=told):
        incrowd.Policy.from_mapping(surgeries(hospitals=asked))


@pytest.mark.parametrize(
    ("asked", "level", "without"),
    [
        ({}, "own", 1),
        ({"protect": "own"}, "own", 1),
        ({"m": 1}, "own", 1),
        ({"reveal": "bits"}, "joint", 1),
        ({"reveal": "bits", "m": 2}, "joint", 2),
        ({"protect": "joint", "trust": "honest"}, "joint", 0),
        ({"trust": "honest"}, "honest", 0),
        ({"trust": "honest", "reveal": "counts", "m": 1}, "honest", 1),
    ],
)
def test_the_level_that_a_policy_asks_for(asked: dict[str, Any], level: str, without: int) -> None:
    found = incrowd.Policy.from_mapping(surgeries(hospitals=asked)).hospitals
    assert (found.level, found.without) == (level, without)


def test_two_hospitals_can_protect_their_own() -> None:
    both = [SURGERIES[:5], SURGERIES[5:]]
    made, _ = together(both, surgeries(hospitals={}))
    assert all(each.release.data.equals(made[0].release.data) for each in made)


def test_how_many_records_were_dropped_is_rounded_too() -> None:
    """Two records lack a job at one hospital, one at another; K is 2, and 1 is not told."""
    lacking = pl.DataFrame(
        {"Job": [None, None], "Sex": ["M", "F"], "Age": [34, 58], "Transfuse": ["Y", "N"],
         "Surgery": ["Plastic", "Urology"]}
    )  # fmt: skip
    parts = [pl.concat([PARTIES[0], lacking]), pl.concat([PARTIES[1], lacking[:1]]), PARTIES[2]]
    policy = surgeries(hospitals={}, missing="drop", privacy=[{"k-anonymity": {"k": 2}}])
    made, _ = together(parts, policy)
    assert made[0].release.manifest["records"]["missing_dropped"] == 2
    honest, _ = together(parts, {**policy, "hospitals": {"trust": "honest"}})
    assert honest[0].release.manifest["records"]["missing_dropped"] == 3
