"""Releases for attackers who know events: what must hold of the files, counted by the definition.

Each row has a mark, and each patient a name, which are published as they are: so what a row shows
is held against what stood there.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter, defaultdict
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd
from incrowd.errors import IncrowdError, PrivacyError
from incrowd.methods.histories import _histories
from incrowd.methods.histories._problem import HIDDEN, Problem
from incrowd.methods.histories._search import search
from incrowd.verify import verify

TREE = {"Z": {"Z1": ["Z10", "Z11"], "Z2": ["Z20", "Z21", "Z22"]}, "J": ["J0", "J1", "J2"]}
ABOVE = {
    code: [code, *(mid for mid, low in (below if isinstance(below, dict) else {}).items()
                   if code in low), chapter, "*"]
    for chapter, below in TREE.items()
    for code in (itertools.chain(*below.values()) if isinstance(below, dict) else below)
}  # fmt: skip
CODE: dict[str, Any] = {"role": "quasi", "hierarchy": {"tree": TREE}}
OWN: dict[str, Any] = {"sex": "quasi", "town": "quasi", "name": "keep"}
CASES: dict[str, list[dict[str, Any]]] = {
    "km": [{"km-anonymity": {"k": 3, "m": 2}}],
    "k-km": [{"k-km": {"k": 3, "m": 2}}],
    "lkc": [{"lkc": {"L": 3, "K": 3, "attributes": 2, "events": 2}}],
    "lkc with C": [{"lkc": {"L": 2, "K": 3, "events": 2, "C": 0.6, "sensitive": ["ill", "code"],
                            "values": ["hiv", "J2"]}}],
    "coherence": [{"coherence": {"h": 0.5, "k": 3, "p": 2, "sensitive": "code", "values": ["Z2"]}}],
    "several": [{"lkc": {"L": 1, "K": 5, "events": 1}}, {"km-anonymity": {"k": 2, "m": 3}}],
}  # fmt: skip
EVENTS_ALONE = ("km", "coherence")
OPTIONS: tuple[dict[str, Any], ...] = ({}, {"recoding": "global"}, {"keep": "exact"})
Tables = dict[str, pl.DataFrame]


def tables(seed: int, patients: int = 45) -> Tables:
    """Patients with a few events each, some of them twice, some cells missing, one without any."""
    draw = random.Random(seed)
    own, rows = [], []
    for n in range(patients):
        own.append((f"p{n}", draw.choice("FM"), draw.choice("ABC"), f"n{n}"))
        for _ in range(0 if n == 7 else draw.randint(1, 4)):
            code = draw.choice([*ABOVE, "Z10", "Z20", "J0", None])
            rows.append(
                (f"p{n}", code, draw.choice(["in", "out"]), draw.choice(["flu"] * 5 + ["hiv"]))
            )
    marked = [(*row, f"r{at}") for at, row in enumerate(rows + rows[:9])]
    return {
        "patients": pl.DataFrame(own, ["who", "sex", "town", "name"], orient="row"),
        "events": pl.DataFrame(marked, ["who", "code", "place", "ill", "mark"], orient="row"),
    }


def policy_of(case: str, *, flat: bool, option: dict[str, Any] | None = None) -> dict[str, Any]:
    """The policy of a case, for one file or for two tables."""
    named = {"code": "code" if flat else "events.code", "ill": "ill" if flat else "events.ill"}
    privacy = []
    for asked in CASES[case]:
        ((model, p),) = asked.items()
        about = p.get("sensitive")
        told = [named[each] for each in about] if isinstance(about, list) else named.get(about)
        privacy.append({model: {**p, **({"sensitive": told} if told else {})}})
    own = {"name": "keep"} if case in EVENTS_ALONE else OWN
    held: dict[str, Any] = {"code": CODE, "place": "quasi", "ill": "sensitive", "mark": "keep"}
    method = {"name": "histories", **(option or {})}
    if not flat:
        asked_of = {"unit": "who", "attributes": held}
        return {
            "patients": {"key": "who", "attributes": own, "other": "drop"},
            "tables": {"events": asked_of},
            "privacy": privacy,
            "method": method,
        }
    of_events = {
        name: {**({"role": spec} if isinstance(spec, str) else spec), "level": "event"}
        for name, spec in held.items()
    }
    return {
        "unit": "who",
        "attributes": {"who": "identifier", **own, **of_events},
        "other": "drop",
        "privacy": privacy,
        "method": method,
        "suppression": 0.4,
    }


def made(found: Tables, policy: dict[str, Any], folder: Path, *, flat: bool) -> Any:
    source: Any = found["events"].join(found["patients"], on="who") if flat else found
    release = incrowd.anonymize(source, policy, accept_unprotected=True)
    release.save(folder, report=False)
    assert verify(folder).holds
    return incrowd.open_release(folder)


def shown_of(release: Any, *, flat: bool) -> tuple[dict[str, dict[str, Any]], list[dict[str, Any]]]:
    """The published patients by pseudonym, and the published rows."""
    whole = release.tables["data"] if flat else release.tables["events"]
    people = whole if flat else release.tables["patients"]
    return {row["patient"]: row for row in people.to_dicts()}, whole.to_dicts()


def protected_codes(case: str) -> set[str]:
    return {"lkc with C": {"J2"}, "coherence": {"Z20", "Z21", "Z22"}}.get(case, set())


def hold(case: str, people: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    """Every promise, by its definition, over all choices of atoms of all patients."""
    secret = protected_codes(case)
    own: dict[str, set[Any]] = {who: set() for who in people}
    events: dict[str, set[Any]] = {who: set() for who in people}
    held: dict[str, set[str]] = {who: set() for who in people}
    for row in rows:
        if row["code"] not in secret:
            events[row["patient"]].add((row["code"], row["place"]))
        held[row["patient"]] |= {row["ill"], str(row["code"])}
    jointly = case == "k-km"
    for who, shown in people.items():
        if jointly:
            own[who] = {(shown["sex"], shown["town"])}
        elif case not in EVENTS_ALONE:
            own[who] = {(n, shown[n]) for n in ("sex", "town")}
    for asked in CASES[case]:
        ((model, p),) = asked.items()
        most_events = p.get("events", p.get("m", p.get("p")))
        most_own = 1 if jointly else p.get("attributes", p["L"]) if model == "lkc" else 0
        most = p.get("L", most_own + most_events)
        bound, values = p.get("C", p.get("h", 1)), {"hiv", *secret} if "L" in p else secret
        supports: dict[Any, set[str]] = defaultdict(set)
        for who in people:
            for a in range(most_own + 1):
                for e in range(min(most_events, most - a) + 1):
                    for some in itertools.combinations(sorted(own[who]), a):
                        for others in itertools.combinations(sorted(events[who], key=str), e):
                            supports[some, others].add(who)
        for found in supports.values():
            assert len(found) >= p.get("K", p.get("k"))
            if bound < 1:
                for value in values:
                    assert sum(value in held[who] for who in found) <= bound * len(found) + 1e-9


def stand_for_what_was_there(
    case: str, found: Tables, people: dict[str, Any], rows: list[dict[str, Any]]
) -> None:
    """Each label is one of its own value, each row of its own patient, each fact published once."""
    secret = protected_codes(case)
    source = {row["mark"]: row for row in found["events"].to_dicts()}
    whose = {row["name"]: row for row in found["patients"].to_dicts()}
    for shown in people.values():
        if "sex" in shown:
            assert shown["sex"] in (whose[shown["name"]]["sex"], "*")
    assert len({row["mark"] for row in rows}) == len(rows)
    assert not Counter((row["patient"], row["code"], row["place"]) for row in rows).total() - len(
        {(row["patient"], row["code"], row["place"]) for row in rows}
    )
    for row in rows:
        was = source[row["mark"]]
        assert was["who"] == whose[people[row["patient"]]["name"]]["who"]
        assert row["ill"] == was["ill"]
        if was["code"] in secret:
            assert (row["code"], row["place"]) == (was["code"], "*")
        else:
            assert row["code"] in ([None, "*"] if was["code"] is None else ABOVE[was["code"]])
            assert row["place"] in (was["place"], "*")
    names = {shown["name"]: who for who, shown in people.items()}
    told = {(row["patient"], row["code"]) for row in rows if row["code"] in secret}
    had = {(whose_name(found, row["who"]), row["code"]) for row in source.values()}
    assert told == {(names[name], code) for name, code in had if code in secret}


def mean_one_thing_everywhere(
    case: str, found: Tables, people: dict[str, Any], rows: list[dict[str, Any]]
) -> None:
    """With `recoding: global` each value has one label, in whichever row it is shown."""
    source = {row["mark"]: row for row in found["events"].to_dicts()}
    own = {row["name"]: row for row in found["patients"].to_dicts()}
    labels: dict[tuple[str, Any], set[Any]] = defaultdict(set)
    for row in rows:
        if source[row["mark"]]["code"] not in protected_codes(case):
            for name in ("code", "place"):
                labels[name, source[row["mark"]][name]].add(row[name])
    for shown in people.values():
        for name in {"sex", "town"} & {*shown}:
            labels[name, own[shown["name"]][name]].add(shown[name])
    assert all(len(found) == 1 for found in labels.values()), labels


def whose_name(found: Tables, who: str) -> str:
    (name,) = found["patients"].filter(pl.col("who") == who)["name"]
    return str(name)


@pytest.mark.parametrize("flat", [False, True], ids=["linked", "flat"])
@pytest.mark.parametrize("case", CASES)
def test_whoever_knows_so_many_facts_finds_a_crowd(case: str, flat: bool, tmp_path: Path) -> None:
    for seed, option in enumerate(OPTIONS):
        found = tables(seed)
        policy = policy_of(case, flat=flat, option=option)
        release = made(found, policy, tmp_path / f"{seed}", flat=flat)
        people, rows = shown_of(release, flat=flat)
        assert rows
        hold(case, people, rows)
        stand_for_what_was_there(case, found, people, rows)
        if option.get("recoding") == "global":
            mean_one_thing_everywhere(case, found, people, rows)
        counts, table = release.manifest["patients"], "data" if flat else "events"
        assert counts["published"] == len(people)
        assert counts["source"] == (44 if flat else 45)
        assert counts["suppressed"] == counts["source"] - len(people)
        assert flat or not counts["suppressed"]
        least = max(p.get("K", p.get("k")) for each in CASES[case] for p in each.values())
        left_out = release.manifest["events_left_out"]
        gone = found["events"].height - len(rows)
        assert [*left_out] == [table]
        assert left_out[table] % least == 0
        assert left_out[table] <= gone + least


def test_what_is_drawn_alone_differs_between_two_runs() -> None:
    found, policy = tables(3), policy_of("lkc", flat=False)

    def shown() -> Any:
        release = incrowd.anonymize(found, policy, accept_unprotected=True)
        people, rows = shown_of(release, flat=False)
        own = {(each["name"], each["sex"], each["town"]) for each in people.values()}
        return own, {(people[r["patient"]]["name"], r["code"], r["place"]) for r in rows}

    assert shown() == shown()


@pytest.mark.parametrize("flat", [False, True], ids=["linked", "flat"])
def test_four_patients_and_a_cascade(flat: bool, tmp_path: Path) -> None:
    """p1 {a,b}, p2 {a,b}, p3 {a,c}, p4 {c}: hiding c of p3 leaves c with one patient."""
    held = [(who, code) for who, codes in enumerate(("ab", "ab", "ac", "c")) for code in codes]
    events = pl.DataFrame(held, ["who", "code"], orient="row")
    source: Any = events
    policy: dict[str, Any] = {
        "unit": "who",
        "attributes": {"who": "identifier", "code": {"role": "quasi", "level": "event"}},
        "privacy": [{"km-anonymity": {"k": 2, "m": 2}}],
        "suppression": 0.5,
    }
    if not flat:
        source = {"patients": events.select("who").unique(), "events": events}
        tables_of = {"events": {"unit": "who", "attributes": {"code": "quasi"}}}
        policy = {
            "patients": {"key": "who"}, "tables": tables_of, "privacy": policy["privacy"]
        }  # fmt: skip
    release = incrowd.anonymize(source, policy)
    release.save(tmp_path / "release")
    rows = release.data if flat else release.tables["events"]
    atoms = [set(each["code"]) for _, each in rows.group_by("patient")]
    for have in atoms:
        for many in (1, 2):
            for choice in itertools.combinations(have, many):
                assert sum(others >= {*choice} for others in atoms) >= 2


def test_what_cannot_be_reached_is_refused_with_the_best_there_is() -> None:
    found = tables(0)
    policy = policy_of("lkc", flat=False)
    many = {"lkc": {"L": 1, "K": 46, "events": 1}}
    with pytest.raises(IncrowdError, match="K is 46, but the table has only 45"):
        incrowd.anonymize(found, {**policy, "privacy": [many]}, accept_unprotected=True)
    sure = {"lkc": {"L": 1, "K": 2, "events": 1, "C": 0.1, "sensitive": "events.ill"}}
    with pytest.raises(PrivacyError, match=r"even of all patients the share 0\.\d+ holds"):
        incrowd.anonymize(found, {**policy, "privacy": [sure]}, accept_unprotected=True)


def test_patients_without_a_row_are_suppressed_within_the_limit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The others are then searched again, until nobody is lost."""
    asked: list[int] = []

    def hiding(problem: Problem, *_: Any) -> list[Any]:
        asked.append(problem.patients)
        found = search(problem)
        for nodes, facts in zip(found, problem.facts, strict=True):
            if facts.events and len(asked) < 3:
                nodes[facts.patient == 0] = HIDDEN
        return found

    monkeypatch.setattr(_histories, "search", hiding)
    found, policy = tables(0), policy_of("lkc", flat=True)
    release = made(found, policy, tmp_path / "release", flat=True)
    assert asked == [44, 43, 42]
    assert release.manifest["patients"]["suppressed"] == 2
    hold("lkc", *shown_of(release, flat=True))
    source = found["events"].join(found["patients"], on="who")
    asked.clear()
    with pytest.raises(
        PrivacyError, match=r"within `suppression:`: of 2 of 44 patients, more than"
    ):
        incrowd.anonymize(source, {**policy, "suppression": 0.03}, accept_unprotected=True)
    asked.clear()
    linked = made(found, policy_of("lkc", flat=False), tmp_path / "linked", flat=False)
    assert (asked, linked.manifest["patients"]["suppressed"]) == ([45], 0)


@pytest.mark.parametrize("how", ["since the first", "by the calendar"])
def test_the_time_of_an_event_is_part_of_the_fact(how: str, tmp_path: Path) -> None:
    draw = random.Random(4)
    found = tables(4)
    days = [str(date(2020, 1, 1) + timedelta(draw.randrange(900))) for _ in found["events"]["who"]]
    found["events"] = found["events"].with_columns(pl.Series("day", days))
    asked = {"hierarchy": {"dates": ["quarter", "year"]}, "type": "date"}
    if how == "since the first":
        asked = {"time": {"relative-to": "first", "widths": [30, 90, 360]}}
    policy = policy_of("k-km", flat=False)
    held = policy["tables"]["events"]["attributes"]
    held |= {"day": {"role": "quasi", **asked}, "place": "identifier"}
    _, rows = shown_of(made(found, policy, tmp_path / "release", flat=False), flat=False)
    source = {row["mark"]: row for row in found["events"].to_dicts()}
    first: dict[str, date] = {}
    for row in source.values():
        day = date.fromisoformat(row["day"])
        first[row["who"]] = min(day, first.get(row["who"], day))
    seen = set()
    for row in rows:
        was = source[row["mark"]]
        day = date.fromisoformat(was["day"])
        if how == "since the first":
            since = (day - first[was["who"]]).days
            low = [since // width * width for width in (30, 90, 360)]
            legal = {f"[{a}-{a + w})" for a, w in zip(low, (30, 90, 360), strict=True)}
            legal |= {str(since), "*"}
        else:
            legal = {was["day"], f"{day.year}-Q{(day.month + 2) // 3}", str(day.year), "*"}
        assert row["day"] in legal
        seen.add(row["day"])
    assert len(seen) > 2
