"""What is left of patients with several rows: of the patients, and apart from that of rows."""

from __future__ import annotations

import random
from collections import Counter

import polars as pl
import pytest

import incrowd
from incrowd.errors import InputError
from incrowd.utility import evaluate, query_error

POLICY = {
    "unit": "id",
    "attributes": {
        "id": "identifier",
        "age": {"role": "quasi", "type": "numeric"},
        "sex": {"role": "quasi", "take": "most-frequent"},
        "ill": {"role": "sensitive", "level": "event"},
        "seen": {"role": "keep", "level": "event", "type": "date", "format": "%d.%m.%Y"},
    },
    "privacy": [{"k-anonymity": {"k": 4}}],
    "method": "mondrian",
    "suppression": 0.2,
}


def visits() -> pl.DataFrame:
    """One patient far from all others, who is suppressed, with very many rows."""
    draw = random.Random(3)
    rows: list[tuple[str, int, str | None, str, str]] = []
    for number in range(40):
        age, sex = (97 if number == 7 else draw.randint(20, 30)), draw.choice("MF")
        for _ in range(25 if number == 7 else draw.choice((1, 2, 4))):
            ill = draw.choice(("flu", "Flu ", "hiv", "gout"))
            rows.append((f"p{number}", age, sex, ill, f"0{draw.randint(1, 9)}.03.2024"))
    rows.append((rows[0][0], rows[0][1], None, "flu", "01.03.2024"))  # sex is missing once
    return pl.DataFrame(rows, ["id", "age", "sex", "ill", "seen"], orient="row")


@pytest.fixture(scope="module")
def release() -> incrowd.Release:
    return incrowd.anonymize(visits(), POLICY, accept_unprotected=True)


def test_loss_is_stated_by_patient_and_by_event(release: incrowd.Release) -> None:
    found = evaluate(release, visits())
    counts = release.manifest["patients"]
    assert counts["suppressed"] > 0
    assert (found.one, found.source, found.published) == ("patient", 40, counts["published"])
    # NCP over patients: that of the manifest, in which suppressed ones are lost.
    assert found.ncp.total == pytest.approx(release.manifest["utility"]["ncp"])
    (rows,) = found.events
    assert (rows.rows_before, rows.rows) == (visits().height, release.data.height)
    told = found.as_dict()
    assert told["patients"]["published"] == counts["published"]
    assert "records" not in told


def test_how_many_patients_have_each_value_is_counted_before_and_after(
    release: incrowd.Release,
) -> None:
    ill, seen = evaluate(release, visits()).events[0].attributes
    plain = {"Flu ": "flu", "flu": "flu", "hiv": "hiv", "gout": "gout"}
    before = Counter(plain[v] for _, v in set(visits().select("id", "ill").rows()) if v != "Flu ")
    before["flu"] = len(
        {who for who, v in visits().select("id", "ill").rows() if plain[v] == "flu"}
    )
    after = Counter(
        plain.get(value, value.lower())
        for _, value in set(release.data.select("patient", "ill").rows())
    )
    told = {(each.value or "").lower(): (each.before, each.after) for each in ill.patients}
    assert told == {value: (before[value], after[value]) for value in after}
    assert (ill.held_before, ill.held) == (before.total(), after.total())
    days = {(who, day) for who, day in visits().select("id", "seen").rows()}
    assert seen.held_before == len(days)
    assert all((each.before or 0) >= each.after for each in seen.patients)


def test_the_original_is_gathered_and_what_was_taken_is_said(release: incrowd.Release) -> None:
    comparison = evaluate(release, visits()).comparison
    assert comparison is not None
    assert "'sex' differs between the rows of 1 patients" in comparison.remarks[0]
    shares = comparison.unchanged.values()
    assert all(share is not None and 0 <= share <= 1 for share in shares)
    assert query_error(release, visits(), queries=20).records == 40


def test_an_original_of_others_is_refused_in_patients(release: incrowd.Release) -> None:
    fewer = visits().filter(pl.col("id") != "p1")
    with pytest.raises(InputError, match="39 patients, but the release accounts for 40"):
        evaluate(release, fewer)
    with pytest.raises(InputError, match="No column 'id'"):
        evaluate(release, visits().drop("id"))
