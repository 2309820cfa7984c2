"""Small tables of every shape: what must hold of any release, checked record by record."""

from __future__ import annotations

import tempfile
from collections import Counter
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from published_labels import covers, members, penalty, shown_decimals, shown_size, weight

import incrowd

ORDER = ("low", "mid", "high")
QUASI = ("age", "dose", "seen", "stage", "city")
Rows = list[dict[str, Any]]

cells = {
    "age": st.none() | st.integers(-5, 40).map(str),
    "dose": st.none() | st.sampled_from(("-1.5", "0", "0.25", "2", "10.75")),
    "seen": st.none()
    | st.integers(0, 400).map(lambda n: (date(1999, 12, 1) + timedelta(days=n)).isoformat()),
    "stage": st.none() | st.sampled_from(ORDER),
    "city": st.none() | st.sampled_from(("Oslo", "a|b", "{x}", "*", "\\", "[1-2)", "é\n")),
    "ill": st.none() | st.sampled_from(("flu", "hiv", "ulcer", "*")),
}
tables: st.SearchStrategy[Rows] = st.lists(st.fixed_dictionaries(cells), min_size=2, max_size=25)
methods = st.fixed_dictionaries(
    {
        "name": st.just("mondrian"),
        "split": st.sampled_from(("loss", "median")),
        "labels": st.sampled_from(("set", "hierarchy")),
    }
)
ROLES: dict[str, Any] = {
    "age": {"role": "quasi", "type": "numeric"},
    "dose": {"role": "quasi", "type": "numeric"},
    "seen": {"role": "quasi", "type": "date"},
    "stage": {"role": "quasi", "order": list(ORDER)},
    "city": {"role": "quasi", "type": "category"},
    "ill": "sensitive",
    "ward": "keep",
}
MODELS: list[dict[str, Any]] = [
    {"l-diversity": {"l": 2}},
    {"l-diversity": {"l": 1.5, "kind": "entropy"}},
    {"l-diversity": {"l": 2, "kind": "recursive", "c": 3.0}},
    {"l-diversity": {"l": 1.5, "kind": "frequency"}},
    {"t-closeness": {"t": 0.4}},
    {"p-sensitive": {"p": 2, "k": 2}},
    {"alpha-k": {"alpha": 0.7, "k": 2}},
    {"confidence-bounding": {"C": 0.7}},
]


def released(rows: Rows, *, auto: bool = False, **policy: Any) -> Any:
    frame = pl.DataFrame(
        [{**row, "ward": f"w{number:02}"} for number, row in enumerate(rows)],
        schema=dict.fromkeys(ROLES, pl.String),
    )
    roles = {name: {**ROLES[name], "hierarchy": "auto"} if auto else ROLES[name] for name in QUASI}
    return incrowd.anonymize(
        frame, {"attributes": {**ROLES, **roles}, **policy}, accept_unprotected=True
    )


@settings(max_examples=50)
@given(
    rows=tables,
    k=st.integers(2, 5),
    method=methods,
    limit=st.sampled_from((0.0, 0.1, 0.3)),
    auto=st.booleans(),
)
def test_any_release_is_whole_covered_and_honest_about_its_loss(
    rows: Rows, k: int, method: dict[str, str], limit: float, auto: bool
) -> None:
    k = min(k, len(rows))
    release = released(
        rows, auto=auto, privacy=[{"k-anonymity": {"k": k}}], method=method, suppression=limit
    )
    shown, manifest = release.data.to_dicts(), release.manifest
    gone = manifest["records"]["suppressed"]
    assert gone == len(rows) - len(shown) <= limit * len(rows)
    assert len({row["ward"] for row in shown}) == len(shown)
    assert min(Counter(tuple(row[name] for name in QUASI) for row in shown).values()) >= k
    means = []
    for entry in manifest["attributes"]:
        if entry["role"] != "quasi":
            continue
        name, lost = entry["name"], Fraction(gone)
        labels = [row[name] for row in shown]
        if entry["type"] == "numeric":
            assert entry["decimals"] == shown_decimals(labels)
        assert entry["domain"] == shown_size(labels, entry["type"])
        for row in shown:
            source = rows[int(row["ward"][1:])]
            assert row["ill"] == source["ill"]
            above = calendar(source[name]) if auto and name == "seen" else ()
            assert covers(row[name], source[name], above=above), (name, row[name])
            stated = entry.get("weights", {}).get(row[name])
            own = weight(row[name], entry["domain"], entry["decimals"])
            own = own if stated is None else Fraction(stated)
            lost += penalty(row[name], own, entry["domain"])
        means.append(lost / len(rows))
        assert entry["ncp"] == pytest.approx(float(means[-1]), abs=1e-11)
    expected = float(sum(means) / len(means))
    assert manifest["utility"]["ncp"] == pytest.approx(expected, abs=1e-11)
    assert manifest["utility"]["information_kept"] == pytest.approx(1 - expected, abs=1e-11)


def calendar(cell: str | None) -> tuple[str, ...]:
    if cell is None:
        return ()
    year, month, _ = cell.split("-")
    return f"{year}-{month}", f"{year}-Q{(int(month) + 2) // 3}", year, f"{year[:3]}0s"


@settings(max_examples=25)
@given(
    rows=tables,
    method=methods,
    models=st.lists(st.sampled_from(MODELS), min_size=1, max_size=3),
    limit=st.sampled_from((0.0, 0.2)),
)
def test_any_release_verifies_or_none_is_left(
    rows: Rows, method: dict[str, str], models: list[dict[str, Any]], limit: float
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "release"
        try:
            release = released(rows, privacy=models, method=method, suppression=limit)
        except incrowd.errors.PrivacyError:
            assert list(Path(folder).iterdir()) == []
            return
        assert release.save(place).holds
        assert incrowd.verify(place).holds
        assert incrowd.open_release(place).data.equals(release.data)


@pytest.mark.parametrize("split", ["loss", "median"])
def test_an_outlier_is_suppressed_where_that_pays(split: str) -> None:
    """With it all records show [20-901), the whole domain; without it they show 20."""
    frame = pl.DataFrame({"age": [20] * 9 + [900], "ward": list("abcdefghiz")})

    def under(limit: float) -> Any:
        policy = {
            "attributes": {"age": "quasi", "ward": "keep"},
            "privacy": [{"k-anonymity": {"k": 3}}],
            "method": {"name": "mondrian", "split": split},
            "suppression": limit,
        }
        return incrowd.anonymize(frame, policy, accept_unprotected=True)

    assert under(0.0).manifest["records"]["suppressed"] == 0
    assert under(0.09).manifest["records"]["suppressed"] == 0, "a tenth is more than 0.09"
    limited = under(0.1)
    assert limited.manifest["records"]["suppressed"] == 1
    assert "z" not in limited.data["ward"].to_list()
    assert set(limited.data["age"]) == {"20"}
    assert (limited.manifest["utility"]["ncp"], under(0.0).manifest["utility"]["ncp"]) == (0.1, 1)


@pytest.mark.parametrize("value", ["*", "{a|b}", "[1-2)", "\\a", "[2000-01-01-2001-01-01)"])
@pytest.mark.parametrize("labels", ["set", "hierarchy"])
def test_a_value_that_looks_like_a_label_is_told_apart(value: str, labels: str) -> None:
    frame = pl.DataFrame({"city": [value, value, "a", "b"], "ward": list("1234")})
    policy = {
        "attributes": {"city": "quasi", "ward": "keep"},
        "privacy": [{"k-anonymity": {"k": 2}}],
        "method": {"name": "mondrian", "labels": labels},
    }
    shown = dict(
        incrowd.anonymize(frame, policy, accept_unprotected=True).data.select("ward", "city").rows()
    )
    assert shown["1"] == shown["2"] == "\\" + value
    assert shown["3"] == ("*" if labels == "hierarchy" else "{a|b}")
    assert members(shown["1"]) is None


def by_label(hierarchy: Any, frame: dict[str, list[str]]) -> Any:
    policy = {
        "attributes": {
            "job": {"role": "quasi", "hierarchy": hierarchy},
            **{name: "quasi" for name in frame if name != "job"},
        },
        "privacy": [{"k-anonymity": {"k": 2}}],
        "method": {"name": "mondrian", "labels": "hierarchy"},
    }
    try:
        return incrowd.anonymize(pl.DataFrame(frame), policy, accept_unprotected=True).manifest[
            "attributes"
        ][0]
    except incrowd.errors.HierarchyError:
        return None  # refusing such a hierarchy is as good


def test_a_label_that_is_also_a_value_weighs_all_it_may_stand_for() -> None:
    """Some published X are the value X, some stand for a or b; nobody can tell which."""
    tree = {"tree": {"X": ["a", "b"], "Y": ["c", "X"]}}
    entry = by_label(tree, {"job": ["a", "b", "X", "X", "c", "c"]})
    if entry is not None:
        assert entry["weights"] == {"X": 3}
        assert entry["ncp"] == pytest.approx(4 / 6 * 2 / 3)


def test_a_label_of_two_levels_weighs_as_its_wider_node(tmp_path: Path) -> None:
    """X covers a and b at level 1, and c too at level 2: a published X may be any of the three."""
    file = tmp_path / "jobs.csv"
    file.write_text("a,X,X,*\nb,X,X,*\nc,Y,X,*\nd,Z,W,*\n", encoding="utf-8")
    entry = by_label(str(file), {"job": list("abaccc"), "zip": list("112222")})
    if entry is not None:
        assert entry["weights"] == {"X": 3}
        assert entry["ncp"] == pytest.approx(2 / 3)
