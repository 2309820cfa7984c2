"""Tables of five kinds, releases of them, and random counts with their true numbers."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import polars as pl

import incrowd
from incrowd import datasets
from incrowd.engines.preparation import prepare_source
from incrowd.policy import Policy
from incrowd.sources import as_source

AUTO = {"role": "quasi", "type": "numeric", "hierarchy": "auto"}
DATES = {
    "role": "quasi",
    "type": "date",
    "hierarchy": {"dates": ["month", "quarter", "year", "decade"]},
}


def intervals(start: int, stop: int, *widths: int) -> dict[str, Any]:
    rule = {"start": start, "stop": stop, "widths": list(widths)}
    return {"role": "quasi", "type": "numeric", "hierarchy": {"intervals": rule}}


def mask(length: int) -> dict[str, Any]:
    return {"role": "quasi", "type": "category", "hierarchy": {"mask": {"length": length}}}


TABLES: dict[str, dict[str, Any]] = {
    "adult": {
        "age": AUTO,
        "workclass": "quasi",
        "education": "quasi",
        "marital-status": "quasi",
        "sex": "quasi",
        "hours-per-week": AUTO,
        "native-country": "quasi",
        "occupation": "sensitive",
    },
    "cancer-registry": {
        "birth_date": DATES,
        "gender": "quasi",
        "race": "quasi",
        "zip": mask(5),
        "tumor_site": "sensitive",
    },
    "blood-transfusions": {
        "age": AUTO,
        "sex": "quasi",
        "weight_kg": AUTO,
        "marital_status": "quasi",
        "household_income": AUTO,
        "ward": "quasi",
        "diagnosis": "sensitive",
    },
    "death-certificates": {
        "race": "quasi",
        "sex": "quasi",
        "age_in_days": intervals(0, 102200, 365, 1825, 3650, 7300, 14600),
        "date_of_death": DATES,
        "education": {"role": "quasi", "type": "category"},
        "zipcode": mask(5),
        "manner_of_death": "sensitive",
    },
    "survey": {
        "region": "quasi",
        "age": intervals(0, 100, 5, 10, 50),
        "visits": AUTO,
        "job": "quasi",
        "smoker": "quasi",
        "ill": "sensitive",
    },
}
METHODS: dict[str, dict[str, Any]] = {
    "sets": {"method": {"name": "mondrian", "labels": "set"}},
    "nodes": {"method": {"name": "mondrian", "labels": "hierarchy"}},
    "local": {"method": "top-down-local"},
    "cuts": {"method": "top-down-specialization"},
    "levels": {"method": "incognito"},
    "clustering": {"method": "clustering"},
    "anatomy": {"publish": "anatomy"},
    "lossy-join": {"publish": "lossy-join"},
}


def survey(rows: int) -> pl.DataFrame:
    """Answers that are as uneven as people: most live in the north, most visits are few."""
    draw, made = random.Random(11), []
    for _ in range(rows):
        region = draw.choice("NNNNEESW")
        age = min(95, int(18 + draw.expovariate(1 / 22)))
        smoker = draw.random() < (0.5 if region == "N" else 0.15)
        common = ["flu", "flu", "injury", "diabetes" if age > 50 else "flu"]
        lungs = smoker and draw.random() < 0.6
        made.append(
            {
                "region": region,
                "age": age,
                "visits": min(40, int(draw.expovariate(1 / 3))),
                "job": draw.choice("abcdefghij"[: 3 + age // 12]),
                "smoker": "yes" if smoker else "no",
                "ill": draw.choice(["copd", "cancer", "asthma"]) if lungs else draw.choice(common),
            }
        )
    return pl.DataFrame(made)


def table(name: str, rows: int) -> pl.DataFrame:
    frame = survey(rows) if name == "survey" else datasets.load(name, rows=rows)
    return frame.select(list(TABLES[name]))


def released(frame: pl.DataFrame, name: str, method: str, k: int) -> tuple[Any, dict[str, Any]]:
    """A release of a table, and the values under the labels of its hierarchies."""
    policy = {
        "attributes": TABLES[name],
        "unit": "row",
        "privacy": [{"k-anonymity": {"k": k}}],
        **METHODS[method],
    }
    prepared = prepare_source(as_source(frame), Policy.model_validate(policy))
    meanings = {
        column.name: prepared.hierarchies[column.name].meanings(column)
        for column in prepared.table.of_role("quasi")
    }
    return incrowd.anonymize(frame, policy, accept_unprotected=True), meanings


def random_counts(
    frame: pl.DataFrame, name: str, number: int, seed: int = 0
) -> Iterator[tuple[str, int]]:
    """Different queries and how many records satisfy each.

    One to three conditions on quasi-identifiers, half of the queries with one on the sensitive
    attribute too. Most values come from one record, so that conditions go together as values do;
    on numbers and dates they are single values, narrow and wide ranges, and open ones.
    """
    draw, seen = random.Random(f"{name} {seed}"), set[str]()
    attributes = TABLES[name]
    quasi = [each for each, how in attributes.items() if how != "sensitive"]
    sensitive = [each for each, how in attributes.items() if how == "sensitive"]
    while len(seen) < number:
        chosen = draw.sample(quasi, draw.choice([1, 1, 2, 2, 3]))
        chosen += sensitive if draw.random() < 0.5 else []
        texts, fits, row = [], pl.lit(True), draw.randrange(frame.height)
        for column in chosen:
            row = draw.randrange(frame.height) if draw.random() < 0.3 else row
            while frame[column][row] is None:
                row = draw.randrange(frame.height)
            how = attributes[column]
            ordered = isinstance(how, dict) and how.get("type") in ("numeric", "date")
            made = _range if ordered else _among
            text, fit = made(frame, column, frame[column][row], draw)
            texts.append(text)
            fits &= fit
        text = " and ".join(texts)
        if text not in seen:
            seen.add(text)
            yield text, frame.filter(fits).height


def _range(
    frame: pl.DataFrame, column: str, value: Any, draw: random.Random
) -> tuple[str, pl.Expr]:
    kinds: list[str | float] = ["=", "<=", ">=", 0.04, 0.2, 0.5]
    kind = draw.choice(kinds)
    cell = pl.col(column)
    if kind in ("=", "<=", ">="):
        fit = {"=": cell == value, "<=": cell <= value, ">=": cell >= value}[str(kind)]
        return f"\"{column}\" {kind} '{value}'", fit
    ascending = frame[column].drop_nulls().sort()
    at, most = int(ascending.search_sorted(value)), len(ascending) - 1
    low = ascending[max(0, at - int(draw.random() * float(kind) * most))]
    high = max(value, ascending[min(most, at + int(draw.random() * float(kind) * most))])
    return f"\"{column}\" between '{low}' and '{high}'", cell.is_between(low, high)


def _among(
    frame: pl.DataFrame, column: str, value: Any, draw: random.Random
) -> tuple[str, pl.Expr]:
    cell = pl.col(column).cast(pl.String)
    kind = draw.choice(["=", "=", "!=", "in"])
    if kind != "in":
        fit = cell == str(value) if kind == "=" else cell != str(value)
        return f'"{column}" {kind} {_quoted(value)}', fit
    others = (frame[column][draw.randrange(frame.height)] for _ in range(2))
    values = sorted({str(each) for each in (value, *others) if each is not None})
    return f'"{column}" in ({", ".join(map(_quoted, values))})', cell.is_in(values)


def _quoted(value: Any) -> str:
    return "'" + str(value).replace("'", "''") + "'"
