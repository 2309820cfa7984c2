"""Whom known events find, against plain counting of all sets, on small random tables."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd
from histories_by_hand import release_of
from incrowd.attacks import RiskByPower, atom_sets, power_before_after, risk_by_power
from incrowd.attacks.atom_sets import AtomsOfPatients, sets_of_each
from incrowd.errors import InputError, ParameterError

Atom = tuple[Any, ...]
C = "conditions.CODE"


def tables(seed: int, patients: int = 25, kinds: int = 12) -> dict[str, pl.DataFrame]:
    """Patients, some without events, and two tables; identifiers in several spellings."""
    draw = random.Random(seed)
    own = [(f"p{n}", draw.choice("MF"), draw.choice(("1", "2"))) for n in range(patients)]
    names = [f"p{draw.randrange(patients)}" for _ in range(4 * patients)]
    conditions = [
        (draw.choice((name, f" {name.upper()}")), f"c{draw.randrange(kinds)}", draw.choice("xy"))
        for name in names
    ]
    drugs = [(f"p{draw.randrange(patients)}", draw.choice(("d1", "d2", None))) for _ in own]
    return {
        "patients": pl.DataFrame(own, ["Id", "sex", "zip"], orient="row"),
        "conditions": pl.DataFrame(conditions, ["PATIENT", "CODE", "ward"], orient="row"),
        "drugs": pl.DataFrame(drugs, ["patient", "drug"], orient="row"),
    }


def profiles(
    given: dict[str, pl.DataFrame], events: list[str]
) -> dict[str, tuple[tuple[str, str], set[Atom]]]:
    found = {who: ((sex, code), set[Atom]()) for who, sex, code in given["patients"].rows()}
    for name, unit in (("conditions", "PATIENT"), ("drugs", "patient")):
        asked = [each.split(".")[1] for each in events if each.startswith(name)]
        for row in given[name].rows(named=True) if asked else []:
            atom = tuple(row[each] for each in asked)
            if any(cell is not None for cell in atom):
                found[row[unit].strip().lower()][1].add((name, *atom))
    return found


def by_hand(
    people: dict[str, tuple[tuple[str, str], set[Atom]]], many: int, *, attributes: bool
) -> tuple[float, int, float, float, float]:
    risks, fewest, alone, below, ever = [], len(people), [], [], []
    for own, held in people.values():
        found = [
            sum(set(q) <= theirs and (same == own or not attributes) for same, theirs in everyone)
            for everyone in [people.values()]
            for q in itertools.combinations(held, min(many, len(held)))
        ]
        risks.append(np.mean([1 / each for each in found]))
        alone.append(np.mean([each == 1 for each in found]))
        below.append(np.mean([each < 5 for each in found]))
        ever.append(any(each == 1 for each in found))
        fewest = min(fewest, *found)
    return (
        float(np.mean(risks)), fewest, *(float(np.mean(each)) for each in (alone, below, ever))
    )  # type: ignore[return-value]  # fmt: skip


@pytest.mark.parametrize(
    "events",
    [
        ["conditions.CODE"],
        ["conditions.CODE", "conditions.ward"],
        ["conditions.CODE", "drugs.drug"],
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_figures_are_those_of_counting_every_set(seed: int, events: list[str]) -> None:
    given = tables(seed)
    people = profiles(given, events)
    found = incrowd.risk(given, events=events, quasi=["sex", "zip"])
    assert isinstance(found, RiskByPower)
    assert found.patients == len(people)
    assert found.average_events * len(people) == pytest.approx(
        sum(len(held) for _, held in people.values())
    )
    assert [(each.events, each.attributes) for each in found.known] == [
        (many, attributes) for attributes in (False, True) for many in (1, 2, 3, 5)
    ]
    for each in found.known:
        expected = by_hand(people, each.events, attributes=each.attributes)
        told = (
            each.average, each.fewest, each.singled_out, each.below, each.ever_singled_out
        )  # fmt: skip
        assert told == pytest.approx(expected)
        assert each.largest == pytest.approx(1 / each.fewest)
        assert (each.drawn, each.margin) == (0, 0)
        assert each.fewer == sum(len(held) < each.events for _, held in people.values())


@pytest.mark.parametrize("crowded", [64, 1])
def test_supports_of_any_sets_are_counted(crowded: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets longer than what is kept of them, that begin alike, and first atoms with many others."""
    monkeypatch.setattr(atom_sets, "_CROWDED", crowded)
    draw = random.Random(7)
    rows = [set(draw.sample(range(30), draw.randint(0, 28))) for _ in range(90)]
    pairs = np.array([(who, atom) for who, row in enumerate(rows) for atom in row])
    draw.shuffle(rows_again := [*range(len(pairs)), *range(20)])
    atoms = AtomsOfPatients.of(90, 30, *pairs[rows_again].T)
    sets = [draw.sample(range(30), draw.choice((0, 1, 2, 2, 3, 5, 14, 20))) for _ in range(2000)]
    sets += [sorted(row)[: draw.randint(0, 20)] for row in rows for _ in range(20)]
    given = np.full((len(sets), 20), -1, dtype=np.int32)
    for at, each in enumerate(sets):
        given[at, : len(each)] = each
    expected = [sum(set(each) <= row for row in rows) for each in sets]
    assert atoms.supports(given).tolist() == expected


def test_draws_are_sets_of_the_patient_and_near_what_all_sets_tell() -> None:
    given = tables(3, patients=60, kinds=40)
    every = risk_by_power(given, events=["conditions.CODE"], powers=[2], draws=1000).known[0]
    some = risk_by_power(given, events=["conditions.CODE"], powers=[2], draws=3).known[0]
    assert some.drawn
    assert some.sets < every.sets
    assert 0 < some.margin < 0.2
    assert abs(some.average - every.average) < 2 * some.margin
    assert some.fewest >= every.fewest
    atoms = AtomsOfPatients.of(2, 9, np.repeat([0, 1], [9, 2]), np.r_[np.arange(9), [3, 4]])
    drawn = sets_of_each(atoms, 3, 50)
    assert drawn.drawn.tolist() == [True, False]
    mine = [
        frozenset(q) for q, who in zip(drawn.sets.tolist(), drawn.owner, strict=True) if not who
    ]
    assert all(len(q) == 3 and q <= set(range(9)) for q in mine)
    assert len(set(mine)) > 30
    seen: dict[int, int] = defaultdict(int)
    for q in sets_of_each(atoms, 3, 83).sets.tolist():
        for atom in q:
            seen[atom] += 1
    assert min(seen[atom] for atom in range(9)) > 10
    assert drawn.sets[-1].tolist() == [3, 4, -1]


def test_the_same_question_has_the_same_answer(tmp_path: Path) -> None:
    for name, frame in tables(5).items():
        frame.write_csv(tmp_path / f"{name}.csv")
    first = incrowd.risk(tmp_path, events=["conditions.CODE"])
    assert (
        first
        == incrowd.risk([tmp_path / "patients.csv", tmp_path / "conditions.csv"], events=["CODE"])
        or first.as_dict()["known"]
    )
    flat = pl.read_csv(tmp_path / "conditions.csv")
    of_rows = risk_by_power(flat, events=["CODE"], unit="PATIENT", draws=2)
    assert of_rows == risk_by_power(flat, events=["CODE"], unit="PATIENT", draws=2)
    without = risk_by_power({"conditions": flat}, events=["CODE"], draws=2)
    assert without.known == of_rows.known
    assert "not counted" in without.remarks[0]


def test_a_release_is_asked_by_its_labels() -> None:
    release = release_of(
        [
            ("30", "F", [("flu", "A"), ("hiv", "A"), ("flu", "A")]),
            ("30", "F", [("flu", "A")]),
            ("[30-33)", "M", [("hiv", "B"), ("flu", None)]),
            ("[30-33)", "M", [(None, None)]),
        ]
    )
    found = risk_by_power(release, events=["ill"], powers=[1, 2])
    assert found.quasi == ("age", "sex")
    assert [(e.events, e.attributes, e.fewest, e.ever_singled_out) for e in found.known] == [
        (1, False, 2, 0), (2, False, 2, 0), (1, True, 1, 0.5), (2, True, 1, 0.5)
    ]  # fmt: skip
    both = risk_by_power(release, quasi=[], powers=[1])
    assert both.events == ("ill", "ward")
    assert both.known[0].ever_singled_out == 0.5
    assert "singled" not in both.sentences()[0]


def test_what_cannot_be_answered_is_refused() -> None:
    given = tables(1)
    flat = given["conditions"]
    with pytest.raises(ParameterError, match="--unit COLUMN"):
        incrowd.risk(flat, events=["CODE"])
    with pytest.raises(InputError, match="CODE"):
        incrowd.risk(given, events=["conditions.COD"])
    with pytest.raises(InputError, match=r"--unit patients\.COLUMN,conditions\.COLUMN"):
        incrowd.risk({**given, "conditions": flat.rename({"PATIENT": "x"})}, events=["CODE"])
    with pytest.raises(InputError, match="No row of conditions names a patient"):
        incrowd.risk(given, events=["CODE"], unit="patients.sex,conditions.PATIENT")
    with pytest.raises(ParameterError, match="'memory' means nothing"):
        incrowd.risk(given, events=["CODE"], memory="1GB")  # type: ignore[call-overload]
    with pytest.raises(ParameterError, match="draws"):
        risk_by_power(given, events=["CODE"], draws=1)
    frame = pl.DataFrame({"age": ["1"]})
    manifest = {"attributes": [{"name": "age", "published": True, "role": "quasi"}]}
    release = SimpleNamespace(data=frame, tables={"data": frame}, manifest=manifest)
    with pytest.raises(InputError, match="has no events"):
        incrowd.risk(release, events=["age"])


def test_rows_that_name_nobody_are_left_out_and_told() -> None:
    given = tables(2)
    stranger = pl.DataFrame([("p999", "c0", "x")], ["PATIENT", "CODE", "ward"], orient="row")
    more = {**given, "conditions": pl.concat([given["conditions"], stranger])}
    found = risk_by_power(more, events=["conditions.CODE"])
    assert found.remarks == ("1 rows of conditions name nobody of patients, and are left out.",)
    assert found.known == risk_by_power(given, events=["conditions.CODE"]).known


def _labels(value: str) -> str:
    """What the release below shows of a value: b and c are shown as one, d is left out."""
    return {"b": "{b|c}", "c": "{b|c}"}.get(value, value)


@pytest.mark.parametrize("seed", range(3))
def test_true_values_are_looked_up_in_the_release_of_a_source(seed: int) -> None:
    """Patients whose labels cover the values, against plain counting."""
    draw = random.Random(seed)
    held = [
        {"a" if draw.random() < 0.7 else "b", *draw.sample("abcde", draw.randint(1, 3))}
        for _ in range(15)
    ]
    sexes = [draw.choice("FM") for _ in held]
    source = pl.DataFrame(
        [(n, sexes[n], value) for n, values in enumerate(held) for value in values],
        ["id", "sex", "ill"],
        orient="row",
    )
    shown = [{_labels(each) for each in values if each != "d"} for values in held]
    rows = pl.DataFrame(
        [(str(n + 1), sexes[n], label) for n, labels in enumerate(shown) for label in labels],
        dict.fromkeys(("patient", "sex", "ill"), pl.String),
        orient="row",
    )
    entry = {"role": "quasi", "published": True, "type": "category", "labels": "set"}
    manifest = {
        "unit": "id",
        "patients": {"published": len(held)},
        "attributes": [{"name": "sex", **entry}, {"name": "ill", "level": "event", **entry}],
    }
    release = SimpleNamespace(data=rows, tables={"data": rows}, manifest=manifest)
    found = power_before_after(release, source, powers=[1, 2])
    published = [(sexes[n], labels) for n, labels in enumerate(shown) if labels]
    assert found.after.patients == len(published)
    for each in found.looked_up.known:
        risks, nobody, alone = [], [], []
        for sex, values in zip(sexes, held, strict=True):
            many = [
                sum(
                    all(any(v in label for label in labels) for v in q)
                    and (not each.attributes or sex == other)
                    for other, labels in published
                )
                for q in itertools.combinations(values, min(each.events, len(values)))
            ]
            risks.append(np.mean([1 / m if m else 0 for m in many]))
            nobody.append(np.mean([m == 0 for m in many]))
            alone.append(np.mean([m == 1 for m in many]))
        assert each.average == pytest.approx(np.mean(risks))
        assert each.nobody == pytest.approx(np.mean(nobody))
        assert each.singled_out == pytest.approx(np.mean(alone))
    assert (
        found.before.known
        == risk_by_power(
            source, events=["ill"], quasi=["sex"], unit="id", powers=[1, 2], draws=100
        ).known
    )
    release_alone = risk_by_power(release, powers=[1, 2], draws=100)
    assert found.after.known == release_alone.known
    assert found.as_dict()["looked_up"]["known"][0]["events"] == 1
