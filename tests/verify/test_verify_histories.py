"""What may be known of patients and their events, judged from files: against all combinations."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from handmade_histories import Judged, Published, Table, judged, lkc, write

from incrowd.verify import verify
from incrowd.verify.verdict import Finding

SIZES = ("K", "k")
SHARES = ("C", "h")


def drawn(draw: random.Random, *, flat: bool) -> Published:
    """A small release: labels of different levels, events of one table or two, protected ones."""
    many = draw.randint(1, 14)
    protected = draw.choice([(), ("F1",), ("F1", "F2")])
    own = [
        (str(n + 1), draw.choice("*ab"), draw.choice("*xx"), draw.choice("uv")) for n in range(many)
    ]
    roles = {"age": "quasi", "sex": "quasi", "dead": "sensitive"}
    patients = Table(roles, own)
    names = ["data"] if flat else draw.choice([["conditions"], ["conditions", "drugs"]])
    events = {}
    for name in names:
        rows = set()
        for n in range(many):
            for _ in range(draw.randint(int(flat), 4)):
                code = draw.choice(["E", "E1", "E2", "*", "", *protected])
                year = "*" if code in protected else draw.choice(["*", "2020"])
                rows.add((str(n + 1), code, year))
        with_ward = [(*row, draw.choice(["A", "B"])) for row in sorted(rows)]
        shape = {"code": "quasi", "year": "quasi", "ward": "sensitive"}
        events[name] = Table(shape, with_ward)
    return Published(patients, events, ())


def promise_of(draw: random.Random, made: Published, *, flat: bool) -> dict[str, Any]:
    """A promise with limits and protected values that the release may or may not keep."""
    place = "" if flat else "conditions."
    table = next(iter(made.events.values()))
    codes = {row[1] for row in table.rows}
    listed = [value for value in ("F1", "F2") if value in codes]
    ward, dead = (
        min((row[at] for row in rows), default="")
        for rows, at in ((table.rows, 3), (made.patients.rows, 3))
    )
    secrets: list[dict[str, Any]] = [{}, {"sensitive": "dead", "values": None}]
    if table.rows:
        secrets.append({"sensitive": f"{place}ward", "values": [ward]})
    if listed:
        secrets += [
            {"sensitive": f"{place}code", "values": listed},
            {"sensitive": [f"{place}code", "dead"], "values": [*listed, dead]},
        ] * 2
    secret = draw.choice(secrets)
    k = draw.randint(1, 3)
    share = draw.choice([0.3, 0.5, 0.75])
    model = draw.choice(["lkc", "lkc", "lkc", "km-anonymity", "k-km", "coherence"])
    if model == "km-anonymity":
        return {"model": model, "parameters": {"k": k + 1, "m": draw.randint(1, 3)}}
    if model == "k-km":
        return {"model": model, "parameters": {"k": k + 1, "m": draw.randint(0, 3) or 1}}
    if model == "coherence":
        bound = {"h": share, **(secret or secrets[1])}
        return {"model": model, "parameters": {**bound, "k": k + 1, "p": draw.randint(1, 3)}}
    limits = {
        "attributes": draw.choice([None, 0, 1, 2]), "events": draw.choice([None, 0, 1, 2, 3])
    }  # fmt: skip
    if limits["attributes"] == limits["events"] == 0:
        limits["events"] = 1
    return lkc(draw.randint(1, 3), k + 1, **limits, **({"C": share, **secret} if secret else {}))


def by_definition(made: Published, promise: Mapping[str, Any], *, flat: bool) -> Judged:
    told = promise["parameters"]
    most = {"lkc": "L", "km-anonymity": "m", "coherence": "p", "k-km": "m"}[promise["model"]]
    known = told[most]
    if promise["model"] == "k-km":
        return judged(made, told, (known + 1, 1, known), joint=True, flat=flat)
    attributes, events = (told.get(name) for name in ("attributes", "events"))
    if promise["model"] != "lkc":
        attributes = 0
    limits = [known if limit is None else limit for limit in (attributes, events)]
    return judged(made, told, (known, limits[0], limits[1]), flat=flat)


@pytest.mark.parametrize("flat", [True, False], ids=["flat", "linked"])
@pytest.mark.parametrize("seed", range(12))
def test_the_judge_agrees_with_the_definition(seed: int, flat: bool, tmp_path: Path) -> None:
    """Every number, and whether the promise is kept, as all combinations of all patients tell."""
    for number in range(5):
        draw = random.Random(f"{seed} {number}")
        made = drawn(draw, flat=flat)
        made = made.promising(*(promise_of(draw, made, flat=flat) for _ in range(3)))
        verdict = verify(write(tmp_path / f"{number}", made, flat=flat))
        found = verdict.findings[-3:]
        others = [each.detail for each in verdict.broken if each not in found]
        assert all(detail.startswith("nothing is promised of who knows") for detail in others)
        for promise, finding in zip(made.promises, found, strict=True):
            agrees(finding, promise, by_definition(made, promise, flat=flat))


def agrees(finding: Finding, promise: Mapping[str, Any], expected: Judged) -> None:
    told, measured = promise["parameters"], finding.measured
    k = next(told[name] for name in SIZES if name in told)
    bound = next((told[name] for name in SHARES if told.get(name) is not None), 1)
    sizes, shares = (
        [measured[name] for name in names if name in measured] for names in (SIZES, SHARES)
    )
    assert sizes == [expected.size], (promise, finding)
    share = [pytest.approx(float(expected.share))] if told.get("sensitive") else []
    assert shares == share, (promise, finding)
    fine = expected.size >= k and (not shares or float(expected.share) <= bound)
    assert finding.holds is fine, (promise, finding)
