"""Small linked tables, and what a release of them must keep, counted in plain Python."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl

import incrowd

Tables = dict[str, pl.DataFrame]
POLICY: dict[str, Any] = {
    "patients": {
        "key": "Id",
        "attributes": {"age": {"role": "quasi", "type": "numeric"}, "sex": "quasi"},
        "other": "drop",
    },
    "tables": {
        "conditions": {
            "unit": "PATIENT",
            "attributes": {"CODE": "sensitive", "ward": "keep", "ENCOUNTER": "identifier"},
        },
        "drugs": {"unit": "who", "attributes": {"drug": "sensitive"}},
    },
    "privacy": [{"k-anonymity": {"k": 4}}],
}


def linked(seed: int, patients: int = 40) -> Tables:
    """Patients, of whom some have no events and one has very many, and two tables of events.

    Identifiers are written in capitals or small letters, with blanks around them.
    """
    draw = random.Random(seed)
    own = [(f"p{n}", draw.randint(20, 60), draw.choice("MF"), f"n{n}") for n in range(patients)]
    rows: list[tuple[Any, ...]] = []
    for n in range(patients):
        many = 0 if n % 7 == 5 else 25 if n == 3 else draw.choice((1, 1, 2, 4))
        for _ in range(many):
            name = draw.choice((f"p{n}", f"P{n}", f"  p{n} "))
            row = (name, draw.choice(("flu", "hiv", "gout", None)), draw.choice("AB"), len(rows))
            rows += [row] * draw.choice((1, 1, 2))
    drugs = [(f"p{draw.randrange(patients)}", draw.choice("xyz")) for _ in range(2 * patients)]
    return {
        "patients": pl.DataFrame(own, ["Id", "age", "sex", "name"], orient="row"),
        "conditions": pl.DataFrame(rows, ["PATIENT", "CODE", "ward", "ENCOUNTER"], orient="row"),
        "drugs": pl.DataFrame(drugs, ["who", "drug"], orient="row"),
    }


def policy_of(*privacy: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**POLICY, "privacy": [*privacy] or POLICY["privacy"], **more}


def histories(tables: Tables) -> dict[str, tuple[list[str], list[str]]]:
    """What each patient has in the two tables of events, sorted, in plain Python."""
    found: dict[str, tuple[list[str], list[str]]] = {
        row[0]: ([], []) for row in tables["patients"].rows()
    }
    for who, code, ward, _ in tables["conditions"].rows():
        found[who.strip().lower()][0].append(str((code, ward)))
    for who, drug in tables["drugs"].rows():
        found[who][1].append(drug)
    return {who: (sorted(first), sorted(second)) for who, (first, second) in found.items()}


def hold(tables: Tables, folder: Path, policy: dict[str, Any]) -> None:
    """What must hold of any release of such tables, counted from its files and the source alone."""
    release = incrowd.open_release(folder)
    assert list(release.tables) == ["patients", "conditions", "drugs"]
    shown = release.tables
    assert shown["patients"].columns == ["patient", "age", "sex"]
    assert shown["conditions"].columns == ["patient", "CODE", "ward"]
    assert shown["drugs"].columns == ["patient", "drug"]
    counts = release.manifest["patients"]
    labels = {who: (age, sex) for who, age, sex in shown["patients"].rows()}
    assert len(labels) == shown["patients"].height == counts["published"]
    assert {int(who) for who in labels} == set(range(1, len(labels) + 1))
    assert counts["source"] == counts["published"] + counts["suppressed"]
    assert counts["suppressed"] <= policy.get("suppression", 0) * counts["source"]
    left: dict[str, tuple[list[str], list[str]]] = {who: ([], []) for who in labels}
    held: dict[str, dict[str, set[str | None]]] = {
        name: defaultdict(set) for name in ("conditions.CODE", "drugs.drug")
    }
    for who, code, ward in shown["conditions"].rows():
        left[who][0].append(str((code, ward)))
        held["conditions.CODE"][who].add(code)
    for who, drug in shown["drugs"].rows():
        left[who][1].append(drug)
        held["drugs.drug"][who].add(drug)
    # Whole histories of patients, in both tables together; those of suppressed ones are gone.
    source = Counter(map(str, histories(tables).values()))
    found = Counter(str((sorted(first), sorted(second))) for first, second in left.values())
    assert found <= source
    assert (source - found).total() == counts["suppressed"]
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for who, own in labels.items():
        groups[own].append(who)
    for asked in policy["privacy"]:
        ((model, p),) = asked.items()
        for members in groups.values():
            if model == "k-anonymity":
                assert len(members) >= p["k"]
                continue
            assert model == "confidence-bounding"
            for value in p["values"]:
                having = sum(value in held[p["sensitive"]][who] for who in members)
                assert Fraction(having, len(members)) <= Fraction(p["C"])
