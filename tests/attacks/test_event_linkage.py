"""People of whom some events are known, looked up in releases, against the definition."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from incrowd.attacks import event_lookup, link_events
from incrowd.errors import InputError, ParameterError

COVERS: dict[str, dict[Any, Any]] = {
    "code": {
        "a": "a", "b": "b", "{a|b}": "ab", "{b|c}": "bc", "c": "c", "*": "abcd", None: "",
    },
    "ward": {"x": "x", "{x|y}": "xy", "y": "y", "*": "xyz"},
    "drug": {"1": "1", "[1-3)": "12", "*": "123"},
    "age": {"30": ["30"], "[30-32)": ["30", "31"], "*": ["30", "31", "32"]},
}  # fmt: skip
VALUES: dict[str, list[str]] = {
    "code": list("abcd"), "ward": list("xyz"), "drug": list("123"), "age": ["30", "31", "32"]
}  # fmt: skip
TABLES = {"ill": ["code", "ward"], "drugs": ["drug"]}


def release_with(seed: int, patients: int = 14) -> Any:
    """Random labels; of `ill` two columns, of `drugs` one."""
    draw = random.Random(seed)
    names = [str(number) for number in range(1, patients + 1)]
    tables = {
        "patients": pl.DataFrame(
            {"patient": names, "age": [draw.choice([*COVERS["age"]]) for _ in names]}
        ),
        **{
            table: pl.DataFrame(
                [
                    (draw.choice(names), *(draw.choice([*COVERS[each]]) for each in columns))
                    for _ in range(3 * patients)
                ],
                dict.fromkeys(("patient", *columns), pl.String),
                orient="row",
            )
            for table, columns in TABLES.items()
        },
    }
    entries = [
        {"name": name, "role": "quasi", "published": True, "labels": "set", "type": kind, **more}
        for name, kind, more in (
            ("age", "numeric", {"table": "patients"}),
            ("ill.code", "category", {"table": "ill", "level": "event"}),
            ("ill.ward", "category", {"table": "ill", "level": "event"}),
            ("drugs.drug", "numeric", {"table": "drugs", "level": "event"}),
        )
    ]
    manifest = {
        "unit": "Id",
        "patients": {"published": patients},
        "tables": {"ill": {}, "drugs": {}},
        "attributes": entries,
        "promises": [{"model": "lkc", "parameters": {"K": 4}}],
    }
    return SimpleNamespace(data=tables["patients"], tables=tables, manifest=manifest)


def list_of(seed: int, people: int = 40) -> pl.DataFrame:
    draw = random.Random(f"list {seed}")
    rows = []
    for number in range(people):
        age = draw.choice([*VALUES["age"], None])
        for _ in range(draw.randint(1, 4)):
            known = [draw.choice([None, *VALUES[each]]) for each in ("code", "ward", "drug")]
            rows.append((f"n{number}", age, *known))
    return pl.DataFrame(
        rows, dict.fromkeys(["name", "age", "code", "ward", "drug"], pl.String), orient="row"
    )


def fit(known: dict[str, str], row: dict[str, str]) -> bool:
    return all(value in COVERS[each][row[each]] for each, value in known.items())


def expected(release: Any, people: pl.DataFrame) -> list[int]:
    """How many patients fit each person, row by row."""
    found = []
    for (_,), rows in people.group_by("name", maintain_order=True):
        facts = [
            (table, {each: row[each] for each in columns if row[each] is not None})
            for row in rows.rows(named=True)
            for table, columns in (*TABLES.items(), ("patients", ["age"]))
        ]
        shown = [
            {
                table: frame.filter(pl.col("patient") == who).rows(named=True)
                for table, frame in release.tables.items()
            }
            for who in release.data["patient"]
        ]
        found.append(
            sum(
                all(
                    not known or any(fit(known, row) for row in of[table]) for table, known in facts
                )
                for of in shown
            )
        )
    return found


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("at_once", [1 << 25, 60])
def test_patients_fit_whose_rows_cover_what_is_known(
    seed: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_lookup, "_AT_ONCE", at_once)
    release, people = release_with(seed), list_of(seed)
    found = link_events(release, people)
    assert found.candidates.tolist() == (counts := expected(release, people))
    assert dict(found.on) == {
        "age": "age", "ill.code": "code", "ill.ward": "ward", "drugs.drug": "drug"
    }  # fmt: skip
    assert (found.people, found.patients, found.k) == (40, 14, 4)
    assert found.matched == sum(each > 0 for each in counts)
    assert found.matched_one == counts.count(1)
    assert found.matched_below_k == sum(0 < each < 4 for each in counts)
    assert sum(each.people for each in found.fitting) == 40
    for each in found.fitting:
        assert each.people == sum(
            each.least <= many and (each.most is None or many <= each.most) for many in counts
        )
    assert bool(found.remarks) == (0 in counts)


def test_what_is_known_of_one_event_is_in_one_row() -> None:
    """Two rows that each show half of it do not fit."""
    release = release_with(0, patients=2)
    release.tables["ill"] = pl.DataFrame(
        {"patient": ["1", "1", "2"], "code": ["a", "b", "a"], "ward": ["x", "y", "y"]}
    )
    people = pl.DataFrame({"who": ["Ada"], "code": ["a"], "ward": ["y"]})
    assert link_events(release, people).candidates.tolist() == [1]
    apart = pl.DataFrame({"who": ["Ada", "Ada"], "code": ["a", None], "ward": [None, "y"]})
    assert link_events(release, apart).candidates.tolist() == [2]


def test_the_result_is_told_in_words_and_json() -> None:
    release = release_with(3)
    people = pl.DataFrame({"mrn": [1, 1, 2], "illness": ["a", "b", "zz"]})
    found = link_events(release, people, on={"ill.code": "illness"}, k=3)
    told = found.one_sentence()
    assert told.startswith("Of 2 people on the list, known by 1.5 events each, ")
    assert told.endswith("fewer than 3.")
    assert found.as_dict()["on"] == {"ill.code": "illness"}
    assert "candidates" not in found.as_dict()
    star = release.tables["ill"].filter(pl.col("code") == "*")["patient"].n_unique()
    assert found.candidates[1] == star


def test_labels_of_a_hierarchy_are_explained_or_said_to_fit_everybody() -> None:
    release = release_with(1, patients=3)
    release.tables["ill"] = pl.DataFrame(
        {"patient": ["1", "2", "3"], "code": ["Upper", "Lower", "a"], "ward": ["x"] * 3}
    )
    entry = release.manifest["attributes"][1]
    entry |= {"labels": "hierarchy", "hierarchy": "tree", "weights": {"Upper": 2, "Lower": 2}}
    people = pl.DataFrame({"who": ["Ada"], "code": ["a"]})
    unread = link_events(release, people)
    assert (unread.candidates.tolist(), unread.unreadable) == ([3], (("ill.code", 2),))
    meaning = {"ill.code": {"Upper": ["a", "b"], "Lower": ["c", "d"]}}
    read = link_events(release, people, hierarchies=meaning)
    assert (read.candidates.tolist(), read.unreadable) == ([2], ())


def test_what_cannot_be_looked_up_is_refused() -> None:
    release, people = release_with(2), list_of(2)
    with pytest.raises(InputError, match="no column of an event"):
        link_events(release, people.select("name", "age"))
    with pytest.raises(InputError, match="--person COLUMN"):
        link_events(release, people.with_columns(note=pl.lit("x")))
    with pytest.raises(InputError, match="'ages'"):
        link_events(release, people, on={"ages": "age"})
    with pytest.raises(ParameterError, match="k: must be"):
        link_events(release, people, k=0)
    with pytest.raises(InputError, match="looked up in a release"):
        link_events(people, people)
    differing = people.with_columns(age=pl.int_range(pl.len()).cast(pl.String))
    with pytest.raises(InputError, match="differ between the rows"):
        link_events(release, differing)
    release.manifest["attributes"][1]["time"] = {"shift": 30}
    with pytest.raises(InputError, match="changed days"):
        link_events(release, people)
