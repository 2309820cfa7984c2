"""What is left of events that attackers may know: of codes, of pairs of them, of days."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from incrowd.utility import evaluate

COVERS = {"a": "a", "b": "b", "{b|c}": "bc", "*": "abcdef", "Rare": "ef"}
LABELS = {"a": "a", "b": "b", "c": "{b|c}", "e": "Rare", "f": "Rare"}
MEANING = {"ill.code": {"Rare": ["e", "f"]}}


def made(seed: int) -> tuple[dict[str, pl.DataFrame], Any, list[set[str]], list[set[str]]]:
    """A source and a release of it: d is left out, c is a set, e and f have a label; some b, c."""
    draw = random.Random(seed)
    held = [set(draw.sample("abcdef", draw.randint(0, 4))) for _ in range(30)]
    shown = [
        {"{b|c}" if v == "b" and draw.random() < 0.5 else LABELS[v] for v in values if v != "d"}
        for values in held
    ]
    shown[0].add("*")
    days = {v: f"2020-01-{10 + 3 * at:02d}" for at, v in enumerate("abcdef")}
    rows = [(f"p{n}", v, days[v]) for n, values in enumerate(held) for v in sorted(values)]
    source = {
        "patients": pl.DataFrame({"Id": [f"p{n}" for n in range(30)], "sex": ["F", "M"] * 15}),
        "ill": pl.DataFrame(rows + rows[:5], ["who", "code", "day"], orient="row"),
    }
    tables = {
        "patients": pl.DataFrame(
            {"patient": [str(n + 1) for n in range(30)], "sex": ["F", "M"] * 15}
        ),
        "ill": pl.DataFrame(
            [(str(n + 1), label) for n, labels in enumerate(shown) for label in sorted(labels)],
            {"patient": pl.String, "code": pl.String},
            orient="row",
        ),
    }
    entry = {"role": "quasi", "published": True, "type": "category", "domain": 6}
    manifest = {
        "unit": "Id",
        "patients": {"source": 30, "published": 30, "suppressed": 0, "missing_dropped": 0},
        "tables": {"ill": {}},
        "attributes": [
            {"name": "ill.who", "table": "ill", "role": "identifier", "published": False},
            {"name": "sex", "table": "patients", "labels": "set", **entry},
            {"name": "ill.code", "table": "ill", "level": "event", "labels": "hierarchy",
             "hierarchy": "tree", "weights": {"Rare": 2, "*": 6, "{b|c}": 2}, **entry},
        ],
    }  # fmt: skip
    release = SimpleNamespace(data=tables["patients"], tables=tables, manifest=manifest)
    return source, release, held, shown


@pytest.mark.parametrize("seed", range(3))
def test_values_and_pairs_are_counted_before_and_after_as_bounds(seed: int) -> None:
    source, release, held, shown = made(seed)
    (found,) = evaluate(release, source, hierarchies=MEANING).known_events
    labels = [label for each in shown for label in each]
    assert (found.events_before, found.events) == (sum(map(len, held)), len(labels))
    assert found.unchanged == pytest.approx(sum(each in "ab" for each in labels) / len(labels))
    (code,) = found.attributes
    assert code.hidden == pytest.approx(labels.count("*") / len(labels))
    wide = {(each.least, each.most): each.share for each in code.labels}
    assert wide[1, 1] == pytest.approx(found.unchanged)
    assert wide[2, 10] == pytest.approx(
        sum(each in ("Rare", "{b|c}") for each in labels) / len(labels)
    )
    values = sorted(set().union(*held))
    assert {each.values[0] for each in code.counts} == {*values}
    assert [each.before for each in code.counts] == sorted(
        (each.before for each in code.counts), reverse=True
    )
    for each in (*code.counts, *code.pairs):
        asked = {str(v) for v in each.values}
        assert each.before == sum(asked <= values for values in held)
        assert each.at_least == sum(asked <= labels for labels in shown)
        assert each.covered == sum(
            all(any(v in COVERS[label] for label in labels) for v in asked) for labels in shown
        )
        assert each.at_least <= each.before
    assert code.vanished == sum(not any(v in labels for labels in shown) for v in values)
    pairs = {frozenset(q) for values in held for q in itertools.combinations(values, 2)}
    assert {frozenset(map(str, each.values)) for each in code.pairs} == pairs
    short = [1 - each.at_least / each.before for each in code.pairs]
    assert code.pair_error == pytest.approx(sum(short) / len(short))
    assert code.pairs_vanished == sum(each.at_least == 0 for each in code.pairs)


def test_days_between_events_are_told_before_and_after(tmp_path: Path) -> None:
    source, release, held, _ = made(1)
    day = {"name": "ill.day", "role": "quasi", "level": "event", "published": True, "table": "ill",
           "type": "date", "labels": "hierarchy", "hierarchy": "dates",
           "weights": {"2020-01": 31, "*": 40}, "domain": 40}  # fmt: skip
    release.manifest["attributes"].append(day)
    rows = source["ill"].unique().sort("who", "code")
    release.tables["ill"] = rows.select(
        patient=pl.col("who").str.slice(1).cast(pl.Int64).add(1).cast(pl.String),
        code=pl.lit("*"),
        day=pl.when(pl.col("code") == "c").then(pl.lit("2020-01")).otherwise("day"),
    )
    for name, frame in source.items():
        frame.write_csv(tmp_path / f"{name}.csv")
    (found,) = evaluate(release, tmp_path).known_events
    _, of_days = found.attributes
    gaps: list[int] = []
    left: list[int] = []
    for values in held:
        for told, asked in ((gaps, values), (left, values - {"c"})):
            days = sorted(3 * "abcdef".index(v) for v in asked)
            told += [after - before for before, after in itertools.pairwise(days)]
    assert of_days.days_before == sorted(gaps)[len(gaps) // 2]
    assert of_days.days == sorted(left)[len(left) // 2]
    exact = sum(len(values - {"c"}) for values in held) / sum(map(len, held))
    assert of_days.labels[0].share == pytest.approx(exact)


def test_without_the_tables_nothing_is_said_of_histories() -> None:
    source, release, _, _ = made(2)
    assert evaluate(release).known_events == ()
    assert evaluate(release, source["patients"]).known_events == ()
    assert "known_events" not in evaluate(release).as_dict()
    told = evaluate(release, source).as_dict()["known_events"][0]
    assert told["attributes"][0]["counts"][0]["values"]
    assert told["attributes"][0]["unreadable"] == 1
