"""Members that lie, invent and pool what they see, against a hospital at the level `own`."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Mapping
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from coalition import (
    QUASI,
    C,
    K,
    Last,
    Shown,
    against_the_first,
    example_parts,
    example_policy,
    in_small_crowds,
    invented,
)
from joint_tables import PARTIES, dealt, surgeries, together
from round_table import Chair, RoundTable

import incrowd
from incrowd._runtime.scratch import SCRATCH, remove_left
from incrowd.counts.hospitals.home import HospitalCounts
from incrowd.errors import FederationError, VerificationError
from incrowd.federation.run._joint_table import make
from incrowd.federation.run._level_own import OwnSpecialization
from incrowd.federation.run._own_records import read_own
from incrowd.privacy import LKC
from incrowd.publish.release import Release
from incrowd.sources import as_source

PRIVATE = LKC(L=2, K=K, C=C, sensitive="diagnosis")


# -- invented records --------------------------------------------------------------------------


@pytest.mark.parametrize("follows", [None, "insurance"])
def test_a_member_that_invites_every_split_finds_nobody(follows: str | None) -> None:
    """All others are hospitals of 560 records; honest trust shows each of them in a small crowd."""
    parts = [*example_parts()[:2], invented(20_000, follows)]
    found = {}
    for level, asked in {"own": {}, "honest": {"trust": "honest"}}.items():
        made, _ = together(parts, example_policy(hospitals=asked))
        shares = [each.share.frame().select(QUASI).to_numpy().astype(str) for each in made[:2]]
        alone = sum(int(in_small_crowds(each).sum()) for each in shares)
        found[level] = (int(in_small_crowds(np.concatenate(shares)).sum()), alone)
    assert found == {"own": (0, 0), "honest": (560, 560)}


# -- lies --------------------------------------------------------------------------------------


def _steer(rng: np.random.Generator, request: Mapping[str, Any], own: Any) -> Any:
    """Scores as the liar likes them, so that it chooses what is specialized first."""
    if request["ask"] in ("combinations", "totals"):
        return rng.integers(0, 40, own.size) * K
    return rng.integers(0, 10**6, own.size) if request["ask"] == "squares" else own


def _claim(rng: np.random.Generator, request: Mapping[str, Any], own: Any) -> Any:
    """Also labels that nobody has."""
    if request["ask"] == "objections":
        return own | (rng.random(own.size) < 0.2)
    return _steer(rng, request, own)


def _more_rows(rng: np.random.Generator, request: Mapping[str, Any], own: Any) -> Any:
    return own + (rng.random(own.size) < 0.2) if request["ask"] == "rows" else own


def _other_rows(rng: np.random.Generator, request: Mapping[str, Any], own: Any) -> Any:
    """Takes away what others have, as numbers modulo 2^64 can."""
    if request["ask"] != "rows":
        return own
    moved = own.copy()
    moved[np.argmax(own)] -= own.max() + 200
    moved[-1] += own.max() + 200
    return moved


def _fewer_records(_rng: np.random.Generator, request: Mapping[str, Any], own: Any) -> Any:
    """Says that it has as few records as agreed, and brings more."""
    return own - np.array([30, 0]) if request["ask"] == "records" else own


@pytest.mark.parametrize("goal", ["classification", "general"])
@pytest.mark.parametrize("lie", [_steer, _claim])
def test_whatever_the_others_say_the_share_of_a_hospital_keeps_the_policy(
    lie: Any, goal: str
) -> None:
    for seed in range(2):
        made, table = against_the_first(example_parts(), example_policy(goal=goal), lie, seed)
        assert PRIVATE.check(made.share.frame(), QUASI).holds
        for request, answers in table.heard:
            if request["ask"] in ("combinations", "totals"):
                assert not (answers[0] % K).any()


@pytest.mark.parametrize("lie", [_more_rows, _other_rows, _fewer_records])
def test_rows_that_are_not_the_records_that_were_told_stop_the_run(lie: Any) -> None:
    with pytest.raises(FederationError, match="not the records that they said"):
        against_the_first(example_parts(), example_policy(), lie, 0)


# -- all but one, and what follows from rounded counts -----------------------------------------


@pytest.mark.parametrize("seed", [1])
def test_no_small_crowd_of_two_facts_follows_from_class_counts_and_the_release(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bounds by linear programming; from counts that are not rounded, some crowds do follow."""
    few = 3
    shown = Shown.watching(monkeypatch)
    bounds = {"L": 2, "K": few, "C": 0.7, "sensitive": "diagnosis"}
    policy = example_policy(privacy=[{"lkc": bounds}])
    parts = dealt(pl.concat(example_parts()).sample(72, seed=seed), 3, seed)

    def between_one_and_k(step: int) -> int:
        _, table = together(parts, policy)
        last = Last(parts[0], policy, 0, table, shown, step)
        ends = [each for pair in combinations(QUASI, 2) for each in last.bounds(*pair)]
        assert all(low <= true <= high for low, true, high in ends)
        assert any(0 < true < few for _, true, _ in ends)
        return sum(low > 0 and high < few for low, _, high in ends)

    assert between_one_and_k(few) == 0
    monkeypatch.setattr(HospitalCounts, "told", lambda _self, counts: counts)
    assert between_one_and_k(1) > 0


def _of_two(**more: Any) -> dict[str, Any]:
    """A policy over two quasi-identifiers."""
    asked = surgeries(hospitals={}, **more)
    kept = ("Sex", "Age", "Transfuse", "Surgery")
    asked["attributes"] = {name: asked["attributes"][name] for name in kept}
    return asked


def _people(*some: tuple[int, str, int]) -> pl.DataFrame:
    """So many records of a sex and an age; classes and surgeries by turns."""
    rows = [(sex, age) for number, sex, age in some for _ in range(number)]
    return pl.DataFrame(
        {
            "Sex": [sex for sex, _ in rows],
            "Age": [age for _, age in rows],
            "Transfuse": ["YN"[place % 2] for place in range(len(rows))],
            "Surgery": [("Plastic", "Urology", "Eye")[place % 3] for place in range(len(rows))],
        }
    )


def _told(count: int) -> int:
    return 0 if count < K else (count + K // 2) // K * K


def test_no_small_crowd_follows_from_squares_and_the_release() -> None:
    """Of 23 men the release must not tell how many are old: nine."""
    last = _people((14, "M", 24), (9, "M", 63), (15, "F", 24), (15, "F", 63))
    other = _people(*((50, sex, age) for sex in "MF" for age in (24, 63)))
    policy = _of_two(privacy=[{"k-anonymity": {"k": K}}], goal="general")
    made, table = together([last, other, other], policy)
    assert set(made[0].release.data["Age"].unique()) == {"*"}
    assert dict(made[0].share.frame()["Sex"].value_counts().iter_rows()) == {"M": 23, "F": 30}
    possible = set(product(range(24), range(31)))  # young men and women, as far as known
    asked = [
        answers[0].tolist()
        for request, answers in table.heard
        if request["ask"] == "squares" and request["of"] == "Age"
    ]
    for number, said in enumerate(asked):  # the first time before the sexes are told apart
        possible = {
            (men, women)
            for men, women in possible
            if said == _squares([(men, 23 - men), (women, 30 - women)], apart=number > 0)
        }
    assert (14, 15) in possible
    assert not {23 - men for men, _ in possible} <= set(range(1, K))


def _squares(groups: list[tuple[int, int]], apart: bool) -> list[int]:
    """What a hospital with these groups, young and old, would say."""
    if not apart:
        groups = [(sum(young for young, _ in groups), sum(old for _, old in groups))]
    told = [(_told(young), _told(old)) for young, old in groups]
    before = sum((young + old) ** 2 for young, old in told)
    after = sum(young**2 + old**2 for young, old in told)
    return [before, after, sum(young for young, _ in told), sum(old for _, old in told)]


@pytest.mark.parametrize("search", ["greedy", "gain", "frugal"])
def test_squares_are_opened_only_of_groups_that_may_be_shown(
    search: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whenever a hospital tells squares, none of its crowds with two facts is a small one."""
    from incrowd.federation.run import _sealed_search as sealed

    of_children = sealed._SummedSquares.of_children
    crowds: list[int] = []

    def watched(self: Any, attribute: int, children: Any, below: Any) -> float:
        records = below.records(below.numbering(children), len(children))
        values = below._leaves.values(below.leaves)
        for other in range(values.shape[1]):
            for value in np.unique(values[:, other]):
                crowds.extend(records[values[:, other] == value].sum(axis=0).tolist())
        return of_children(self, attribute, children, below)

    monkeypatch.setattr(sealed._SummedSquares, "of_children", watched)
    method = {"name": "top-down-specialization", "search": search}
    together(example_parts(), example_policy(goal="general", method=method))
    assert len(crowds) > 100
    assert not [crowd for crowd in crowds if 0 < crowd < K]


# -- what an objection tells -------------------------------------------------------------------


def test_a_hospital_that_objects_does_not_tell_which_child_is_the_small_one() -> None:
    last, other = _people((30, "M", 24), (2, "F", 24)), _people((30, "M", 24), (30, "F", 24))
    policy = _of_two(privacy=[{"k-anonymity": {"k": K}}])
    _, table = together([last, other, other], policy)
    asked = [
        (request["families"], answers)
        for request, answers in table.heard
        if request["ask"] == "objections" and request.get("in") == "Sex"
    ]
    (families, answers), *_ = asked
    assert answers[0][: len(families)].tolist() == [True]
    assert not answers[0][len(families) :].any()
    assert answers[1][len(families) :].any()


def test_an_objection_of_a_tiny_hospital_tells_more_than_its_share_as_the_docs_say() -> None:
    """Minimality: the others know the sex of six people, and that two of them had one surgery.

    That the hospital objects to showing the sex tells that a sex has too many of them.
    """
    surgery = ["Transgender"] * 2 + ["Plastic", "Urology", "Eye", "Plastic"]
    last = _people((2, "M", 24), (4, "F", 24)).with_columns(Surgery=pl.Series(surgery))
    other = _people((30, "M", 24), (30, "F", 24))
    policy = _of_two(
        privacy=[{"lkc": {"L": 2, "K": 2, "C": 0.5, "values": ["Transgender"]}}],
    )
    _, table = together([last, other, other], policy)
    said = next(
        bool(answers[0][0])
        for request, answers in table.heard
        if request["ask"] == "objections" and request.get("in") == "Sex"
    )
    likely = [
        pair
        for pair in combinations(range(6), 2)
        if said == any(len(set(pair) & set(sex)) > len(sex) / 2 for sex in ((0, 1), (2, 3, 4, 5)))
    ]
    assert said
    assert max(sum(who in pair for pair in likely) for who in range(6)) > 0.5 * len(likely)


# -- promises about the target -----------------------------------------------------------------


def _about_the_target() -> dict[str, Any]:
    bounds = {"L": 2, "K": 2, "C": 0.7, "sensitive": "Transfuse", "values": ["Y"]}
    return surgeries(hospitals={}, privacy=[{"lkc": bounds}])


def test_a_promise_about_the_target_is_judged_by_every_hospital(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made, _ = together(PARTIES, _about_the_target())
    assert made[0].release.data.height == 11
    monkeypatch.setattr(OwnSpecialization, "_unopposed", lambda *_: True)
    monkeypatch.setattr(
        OwnSpecialization, "_held_children", lambda _self, _attribute, families: list(families)
    )
    with pytest.raises(VerificationError):
        together(PARTIES, _about_the_target())


def test_the_share_that_is_judged_does_not_stay_on_the_disk(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nor where the process is killed: then the next one finds the folder by its name."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    used: list[Path] = []
    save = Release.save

    def watched(self: Release, folder: Path, **more: Any) -> Any:
        used.append(Path(folder).parent)
        assert stat.S_IMODE(used[-1].stat().st_mode) == 0o700
        return save(self, folder, **more)

    monkeypatch.setattr(Release, "save", watched)
    together(PARTIES, surgeries(hospitals={}))
    assert len(used) == len(PARTIES)
    assert not list(tmp_path.iterdir())
    gone = tmp_path / used[0].name.replace(str(os.getpid()), "999999999")
    (gone / "share").mkdir(parents=True)
    remove_left(tmp_path, SCRATCH)
    assert not gone.exists()


# -- several runs ------------------------------------------------------------------------------


@pytest.mark.parametrize("remembers", [True, False])
def test_several_runs_with_other_invented_members_find_nobody(remembers: bool) -> None:
    """Who links rows across releases knows the narrower label of each attribute.

    A hospital that remembers what it showed objects; one that does not (a ledger was deleted) is
    found out, though every release keeps the policy alone.
    """
    wanted, victim = incrowd.Policy.from_mapping(example_policy()), example_parts()[0]
    table = read_own(as_source(victim), wanted).prepared().table
    codes = {column.name: column.codes.astype(int) for column in table.columns}
    shown: list[Any] = []
    labels = []
    for follows in QUASI:
        parts, earlier = [victim, invented(5_000, follows)], list(shown) if remembers else []

        def act(chair: Chair, parts: Any = parts, earlier: Any = earlier) -> Any:
            own = read_own(as_source(parts[chair.place]), wanted)
            if chair.place:
                return make(own, chair)  # type: ignore[arg-type]
            return make(own, chair, earlier=earlier, showing=shown.append)  # type: ignore[arg-type]

        RoundTable(2).meet(act)
        begins = {name: np.array([low for low, _ in shown[-1][name]]) for name in QUASI}
        places = [np.searchsorted(begins[name], codes[name], side="right") for name in QUASI]
        labels.append(np.stack(places, axis=1))
        assert not in_small_crowds(labels[-1]).any()
    together_shown = np.stack(
        [
            np.unique(np.stack([each[:, place] for each in labels]), axis=1, return_inverse=True)[1]
            for place in range(len(QUASI))
        ],
        axis=1,
    )
    assert in_small_crowds(together_shown).any() != remembers
