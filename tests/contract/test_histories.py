"""Patients with several rows, by every method and model: distinct patients are what is counted.

What a release shows is counted again here in plain Python, from its table and the source alone.
"""

from __future__ import annotations

import os
import random
import tempfile
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd
from incrowd._runtime import randomness
from incrowd.errors import IncrowdError, PolicyError, PrivacyError, UnprotectedError
from incrowd.methods import METHOD_OPTIONS
from incrowd.privacy import MODELS

METHODS = [
    name for name, each in METHOD_OPTIONS.items() if each.generalizes and not each.knows_events
]
ATTRIBUTES: dict[str, Any] = {
    "id": "identifier",
    "visit": "identifier",
    "age": {"role": "quasi", "type": "numeric"},
    "sex": "quasi",
    "ill": {"role": "sensitive", "level": "event"},
    "ward": {"role": "keep", "level": "event"},
}
OVER_EVENTS: dict[str, dict[str, Any]] = {
    "confidence": {"confidence-bounding": {"C": 0.7, "sensitive": "ill"}},
    "confidence listed": {
        "confidence-bounding": {"C": 0.5, "sensitive": "ill", "values": ["hiv", "gout"]}
    },
    "alpha-k": {"alpha-k": {"alpha": 0.75, "k": 3, "sensitive": "ill"}},
    "frequency": {"l-diversity": {"l": 1.3, "kind": "frequency", "sensitive": "ill"}},
    "beta": {"beta-likeness": {"beta": 1.5, "sensitive": "ill"}},
    "delta": {"delta-disclosure": {"delta": 2.5, "sensitive": "ill"}},
    "t-closeness": {"t-closeness": {"t": 0.4, "sensitive": "ill"}},
    "lkc": {"lkc": {"L": 1, "K": 6}},
}
Row = tuple[str, int, int, str, str | None, str]


def visits(seed: int, patients: int = 40) -> list[Row]:
    """Rows of patients: some with one visit, one with very many, the same visit twice."""
    draw = random.Random(seed)
    rows: list[Row] = []
    for patient in range(patients):
        age, sex = draw.randint(20, 60), draw.choice("MF")
        many = 30 if patient == 3 else draw.choice((1, 1, 2, 3, 5))
        for _ in range(many):
            ill = draw.choice(("flu", "hiv", "gout", "polyp", None, "copd"))
            row = (f"p{patient}", len(rows), age, sex, ill, draw.choice("AB"))
            rows += [row] * draw.choice((1, 1, 2))
    draw.shuffle(rows)
    return rows


def frame_of(rows: list[Row]) -> pl.DataFrame:
    return pl.DataFrame(rows, ["id", "visit", "age", "sex", "ill", "ward"], orient="row")


def policy_of(*privacy: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"unit": "id", "attributes": ATTRIBUTES, "privacy": [*privacy], **more}


def released(rows: list[Row], policy: dict[str, Any], folder: Path) -> pl.DataFrame:
    release = incrowd.anonymize(frame_of(rows), policy)
    verdict = release.save(folder / "release", replace=True)
    assert verdict.holds
    assert verdict.of_patients
    return incrowd.open_release(folder / "release").data


def hold(rows: list[Row], shown: pl.DataFrame, policy: dict[str, Any], folder: Path) -> None:
    """What must hold of any release of patients, counted in plain Python."""
    assert shown.columns == ["patient", "age", "sex", "ill", "ward"]
    of_patient: dict[str, list[tuple[str | None, ...]]] = defaultdict(list)
    for who, *cells in shown.rows():
        of_patient[who].append(tuple(cells))
    manifest = incrowd.open_release(folder / "release").manifest
    counts = manifest["patients"]
    assert counts["published"] == len(of_patient)
    assert counts["source"] == len({row[0] for row in rows})
    assert counts["source"] == counts["published"] + counts["suppressed"]
    assert counts["suppressed"] <= policy.get("suppression", 0) * counts["source"]
    assert {int(who) for who in of_patient} == set(range(1, len(of_patient) + 1))
    groups: dict[tuple[str | None, ...], list[set[str | None]]] = defaultdict(list)
    for events in of_patient.values():
        (labels,) = {event[:2] for event in events}
        groups[labels].append({event[2] for event in events})
    # The rows that are shown are those of the patients that are left, whole histories each.
    source: dict[str, list[tuple[str | None, str]]] = defaultdict(list)
    for who, _, _, _, ill, ward in rows:
        source[who].append((ill, ward))
    histories = sorted(sorted(map(str, each)) for each in source.values())
    left = [sorted(str((e[2], e[3])) for e in each) for each in of_patient.values()]
    for history in left:
        histories.remove(history)
    assert len(histories) == counts["suppressed"]
    total = [held for each in groups.values() for held in each]
    values = {value for held in total for value in held}
    for asked in policy["privacy"]:
        ((model, p),) = asked.items()
        for held in groups.values():
            share = {v: Fraction(sum(v in h for h in held), len(held)) for v in values}
            overall = {v: Fraction(sum(v in h for h in total), len(total)) for v in values}
            kept(model, p, len(held), share, overall)


def kept(
    model: str, p: dict[str, Any], size: int, share: dict[Any, Fraction], whole: dict[Any, Fraction]
) -> None:
    """That a group keeps a promise, by the definition over sets of values."""
    slack = Fraction(1, 10**6)
    if model == "k-anonymity":
        assert size >= p["k"]
    elif model in ("confidence-bounding", "alpha-k"):
        most = Fraction(p["C"] if model == "confidence-bounding" else p["alpha"])
        assert all(share.get(v, 0) <= most + slack for v in p.get("values") or share)
        assert size >= p.get("k", 1)
    elif model == "l-diversity":
        assert all(each <= 1 / Fraction(p["l"]) + slack for each in share.values())
    elif model == "beta-likeness":
        assert all((share[v] - whole[v]) / whole[v] <= Fraction(p["beta"]) + slack for v in share)
    elif model == "delta-disclosure":
        assert all(share.values())
    elif model == "t-closeness":
        assert max(abs(share[v] - whole[v]) for v in share) <= Fraction(p["t"]) + slack


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("model", OVER_EVENTS)
def test_every_model_by_every_method_counts_patients(
    model: str, method: str, tmp_path: Path
) -> None:
    rows = visits(len(model))
    policy = policy_of(
        {"k-anonymity": {"k": 4}}, OVER_EVENTS[model], method=method, suppression=0.1
    )
    hold(rows, released(rows, policy, tmp_path), policy, tmp_path)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from(METHODS), st.sampled_from(sorted(OVER_EVENTS)))
def test_random_patients(number: int, method: str, model: str) -> None:
    rows = visits(number, random.Random(number).randint(4, 25))
    policy = policy_of({"k-anonymity": {"k": 3}}, OVER_EVENTS[model], method=method)
    with tempfile.TemporaryDirectory() as place:
        try:
            shown = released(rows, policy, Path(place))
        except (PrivacyError, UnprotectedError, PolicyError):  # too few, or out of reach
            return
        hold(rows, shown, policy, Path(place))


@pytest.mark.parametrize("method", METHODS)
def test_labels_hang_neither_on_the_order_of_rows_nor_on_how_many_there_are(
    method: str, same_draws: None
) -> None:
    """Rows of a patient that stand twice, and rows in another order, change no label."""
    rows = visits(2)
    policy = policy_of({"k-anonymity": {"k": 4}}, OVER_EVENTS["confidence"], method=method)

    def groups(given: list[Row]) -> list[tuple[Any, ...]]:
        shown = incrowd.anonymize(frame_of(given), policy).data
        return sorted(shown.unique(["patient"]).select("age", "sex").rows())

    mixed = random.Random(1).sample([*rows, *rows], 2 * len(rows))
    assert groups(rows) == groups(mixed)


# The cases of section 5 of the specification


def test_a_patient_with_five_equal_rows_is_no_crowd() -> None:
    rows: list[Row] = [("p1", 0, 30, "F", "flu", "A")] * 5
    rows += [(f"p{n}", n, 50, "M", "flu", "A") for n in range(2, 8)]
    without = {**policy_of({"k-anonymity": {"k": 5}})}
    with pytest.raises(PolicyError, match="needs `unit:`"):
        incrowd.anonymize(frame_of(rows), {k: v for k, v in without.items() if k != "unit"})
    release = incrowd.anonymize(frame_of(rows), policy_of({"k-anonymity": {"k": 5}}))
    assert release.data.select("age", "sex").unique().height == 1


def test_a_group_of_whom_all_hold_both_values_keeps_no_secret(tmp_path: Path) -> None:
    rows: list[Row] = [
        (f"p{n}", 2 * n + at, 30, "F", ill, "A")
        for n in range(5)
        for at, ill in enumerate(("hiv", "flu"))
    ]
    distinct = {"l-diversity": {"l": 2, "kind": "distinct", "sensitive": "ill"}}
    with pytest.raises(PolicyError, match="all patients of a group may hold the same two values"):
        incrowd.anonymize(frame_of(rows), policy_of(distinct))
    for asked in (
        {"l-diversity": {"l": 2, "kind": "frequency", "sensitive": "ill"}},
        {"confidence-bounding": {"C": 0.5, "sensitive": "ill"}},
    ):
        with pytest.raises(PrivacyError):
            incrowd.anonymize(frame_of(rows), policy_of(asked)).save(tmp_path / "release")
    assert not (tmp_path / "release").exists()


@pytest.mark.parametrize("model", MODELS)
def test_models_of_one_value_are_refused_with_what_can_be_promised(model: str) -> None:
    described = MODELS[model]
    asked = described.starting(["ill"])
    if "sensitive" not in asked or (described.against_events and not described.partial):
        return  # the latter is about who knows events, and nobody does here
    if "categories" in described.model_fields:
        asked["categories"] = [["hiv"], ["flu", "gout", "polyp", "copd", ""]]
    try:
        incrowd.Policy.from_mapping(policy_of({model: asked}))
        told = ""
    except PolicyError as error:
        told = str(error)
    if described.over_events and (model != "l-diversity" or asked.get("kind") == "frequency"):
        assert not told
    else:
        assert "counts one value of 'ill' for each patient" in told
        assert "confidence-bounding" in told
        assert "l-diversity {kind: frequency}" in told


def test_columns_that_single_patients_out_are_refused() -> None:
    rows = visits(4)
    rows[0] = (*rows[0][:5], "the only one")
    with pytest.raises(UnprotectedError, match="1 of 40 patients have a row that is unique"):
        incrowd.anonymize(frame_of(rows), policy_of({"k-anonymity": {"k": 4}}))
    release = incrowd.anonymize(
        frame_of(rows), policy_of({"k-anonymity": {"k": 4}}), accept_unprotected=True
    )
    assert release.manifest["unprotected"] == {"columns": ["ward"], "unique": 1}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"unit": "row"}, "`level: event` needs `unit:`"),
        ({"publish": "anatomy"}, "say `publish: generalized`"),
        (
            {"attributes": {**ATTRIBUTES, "ill": {"role": "quasi", "level": "event"}}},
            "a column of events with the role quasi needs a promise",
        ),
        (
            {"attributes": {**ATTRIBUTES, "ill": {"role": "target", "level": "event"}}},
            "a target has one value for each patient",
        ),
        (
            {"attributes": {**ATTRIBUTES, "age": {"role": "quasi", "take": "last"}}},
            "needs one column with `level: event` and `type: date`",
        ),
        (
            {"attributes": {**ATTRIBUTES, "patient": "keep"}},
            "is the column of pseudonyms",
        ),
    ],
)
def test_what_does_not_go_together_is_refused_before_any_work(
    changed: dict[str, Any], told: str
) -> None:
    frame = frame_of(visits(1)).with_columns(pl.lit("x").alias("patient"))
    policy = {**policy_of({"k-anonymity": {"k": 4}}), "other": "drop", **changed}
    with pytest.raises(IncrowdError, match=told) as raised:
        incrowd.anonymize(frame, policy)
    assert raised.value.exit_code == 2


def test_pseudonyms_are_drawn_and_not_told_by_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(randomness, "_bytes", os.urandom)
    rows = visits(6)
    policy = policy_of({"k-anonymity": {"k": 4}})
    once, again = (incrowd.anonymize(frame_of(rows), policy).data for _ in range(2))
    assert once.rows() != again.rows()
    without = pl.exclude("patient", "ill")  # which may be missing, and is in no order then
    assert sorted(once.select(without).rows()) == sorted(again.select(without).rows())


def test_a_history_is_cut_where_its_length_would_tell_whose_it_is(tmp_path: Path) -> None:
    rows = visits(3)
    policy = policy_of({"k-anonymity": {"k": 4}}, OVER_EVENTS["confidence"], **{"most-events": 4})
    release = incrowd.anonymize(frame_of(rows), policy)
    assert any("patients with more than 4 rows" in remark for remark in release.remarks)
    assert release.save(tmp_path / "release").holds
    shown = release.data
    lengths = shown.group_by("patient").len()["len"]
    assert lengths.max() == 4
    counted = Counter(row[0] for row in rows)
    assert sorted(lengths.to_list()) == sorted(min(many, 4) for many in counted.values())
    with pytest.raises(PolicyError, match="it needs `unit:`"):
        incrowd.Policy.from_mapping({**policy, "unit": "row", "attributes": {"age": "quasi"}})


def test_missing_quasi_identifiers_drop_whole_patients() -> None:
    rows = [(*r[:2], None if r[0] == "p7" else r[2], *r[3:]) for r in visits(8)]
    frame = pl.DataFrame(rows, ["id", "visit", "age", "sex", "ill", "ward"], orient="row")
    release = incrowd.anonymize(frame, policy_of({"k-anonymity": {"k": 4}}, missing="drop"))
    assert release.manifest["patients"]["missing_dropped"] == 1
    assert release.data.height == sum(r[0] != "p7" for r in rows)
