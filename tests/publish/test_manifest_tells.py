"""The manifest tells no more of the source than the published cells and the policy do."""

import random
from typing import Any

import polars as pl
import pytest

import incrowd
from incrowd.utility import ncp

METHODS: dict[str, Any] = {
    "mondrian": {"name": "mondrian", "labels": "hierarchy", "split": "median"},
    "top-down-specialization": "top-down-specialization",
    "top-down-local": "top-down-local",
    "incognito": "incognito",
    "research-value": "research-value",
    "clustering": "clustering",
}
RANGES = {"intervals": {"start": 0, "stop": 120, "widths": [30, 60]}}
HIDDEN: dict[str, tuple[Any, str, list[str]]] = {
    "an extreme age": (RANGES, "numeric", ["94", "107", "119"]),
    "decimals": (RANGES, "numeric", ["95", "95.5", "95.54321"]),
    "a part of the calendar": ({"dates": ["decade"]}, "date", ["1954-01-01", "1959-12-31"]),
    "behind a mask": ({"mask": {"length": 4}}, "category", ["4714", "4719", "4717"]),
}
"""A hierarchy, a type, and values of one record that show alike under it."""


def people(column: str, last: str, beside: list[str]) -> pl.DataFrame:
    draw = random.Random(3)
    cells = [*(beside[n % len(beside)] for n in range(39)), last]
    rest = {
        "sex": [draw.choice("fm") for _ in cells],
        "ill": [draw.choice(("Flu", "HIV", "Cold")) for _ in cells],
    }
    return pl.DataFrame({column: cells, **rest}, schema_overrides={column: pl.String})


def released(frame: pl.DataFrame, quasi: Any, **more: Any) -> Any:
    policy = {
        "attributes": {"x": quasi, "sex": "keep", "ill": "sensitive"},
        "privacy": [{"k-anonymity": {"k": 5}}],
        **more,
    }
    return incrowd.anonymize(frame, policy, accept_unprotected=True)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.usefixtures("same_draws")
@pytest.mark.parametrize("case", HIDDEN)
def test_a_value_that_no_cell_shows_changes_no_byte(case: str, method: str) -> None:
    hierarchy, kind, values = HIDDEN[case]
    beside = {"date": ["1953-02-03", "1951-07-08", "1931-01-01"], "category": ["4712", "4713"]}
    quasi = {"role": "quasi", "type": kind, "hierarchy": hierarchy}
    found = [
        released(people("x", value, beside.get(kind, ["92", "93", "63", "64", "35"])), quasi,
                 method=METHODS[method])
        for value in values
    ]  # fmt: skip
    shown = set(found[0].data["x"])
    assert not shown & set(values)
    assert all(each.data.equals(found[0].data) for each in found), "no cell shows it"
    assert all(each.manifest == found[0].manifest for each in found)


FLAT = ["mondrian", "top-down-local", "incognito", "research-value"]


@pytest.mark.parametrize("method", FLAT)
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("numeric", ["70", "9876.54321", "107"]),
        ("date", ["1960-01-01", "1999-05-06"]),
        ("category", ["zRare", "zCommon"]),
    ],
)
def test_behind_a_star_nothing_of_the_domain_is_told(
    method: str, kind: str, values: list[str]
) -> None:
    """Neither its extremes and decimals, nor how many values there are, nor that one is missing."""
    beside = {
        "numeric": [f"{n}" for n in range(20, 60)],
        "date": [f"19{n}-01-01" for n in range(20, 60)],
        "category": [f"c{n}" for n in range(1, 40)],
    }[kind]
    cells = [people("x", value, beside) for value in values]
    frames = [*cells, cells[0].with_columns(x=pl.concat([cells[0]["x"][:-1], pl.Series([None])]))]
    quasi = {"role": "quasi", "type": kind}
    found = [released(frame, quasi, method=METHODS[method]) for frame in frames]
    entry = found[0].manifest["attributes"][0]
    assert set(found[0].data["x"]) == {"*"}
    assert (entry["domain"], entry["decimals"], entry["ncp"]) == (None, 0, 1.0)
    assert all(each.data.equals(found[0].data) for each in found)
    assert all(each.manifest == found[0].manifest for each in found)
    assert ncp(found[0]).per_attribute["x"] == 1.0


def test_a_mask_does_not_tell_that_all_behind_it_are_one_value() -> None:
    quasi = {"role": "quasi", "type": "category", "hierarchy": {"mask": {"length": 4}}}
    others, ill = ["5822", "5823"] * 3, list("abcdef") * 2
    frames = [
        pl.DataFrame({"x": zips + others, "sex": ["f"] * 12, "ill": ill})
        for zips in (["4711"] * 6, ["4711", "4712"] * 3)
    ]
    found = [released(frame, quasi, method="incognito") for frame in frames]
    assert set(found[0].data["x"]) == {"471*", "582*"}
    assert found[0].manifest == found[1].manifest
    assert found[0].manifest["attributes"][0]["weights"] == {"471*": 6, "582*": 6}


@pytest.mark.parametrize("publish", ["generalized", "anatomy", "lossy-join"])
@pytest.mark.parametrize("hierarchy", [None, "auto"])
def test_the_values_of_a_suppressed_record_leave_the_manifest_as_it_is(
    publish: str, hierarchy: str | None
) -> None:
    quasi = {"role": "quasi", **({} if hierarchy is None else {"hierarchy": hierarchy})}
    found = []
    for last in ("107", "117.25", "300"):
        rows = [
            *((str(20 + n % 4), "fm"[n % 2], "abc"[n % 3]) for n in range(48)),
            (last, "x", "a"),
        ]
        frame = pl.DataFrame(rows, schema=["x", "sex", "ill"], orient="row")
        method = {"name": "mondrian", "labels": "set" if hierarchy is None else "hierarchy"}
        found.append(
            released(frame, quasi, method=method, suppression=0.05, publish=publish)
        )  # fmt: skip
    assert found[0].manifest["records"]["suppressed"] == 1
    for each in found[1:]:
        assert each.manifest == found[0].manifest
        assert all(each.tables[name].equals(table) for name, table in found[0].tables.items())


def test_the_domain_is_the_hull_of_what_labels_show() -> None:
    """Extremes that a range shows are counted, and nothing beyond them."""
    ages = ["17", "18", "19", "20", "21", "90"]
    frame = pl.DataFrame({"x": ages, "sex": ["f"] * 6, "ill": list("abcdef")})
    policy = {"method": {"name": "mondrian"}, "privacy": [{"k-anonymity": {"k": 3}}]}
    release = released(frame, "quasi", **policy)
    assert set(release.data["x"]) == {"[17-20)", "[20-91)"}
    entry = release.manifest["attributes"][0]
    assert (entry["domain"], entry["decimals"]) == (74, 0)
    assert ncp(release).per_attribute["x"] == pytest.approx(entry["ncp"])


@pytest.mark.parametrize(
    ("hierarchy", "domain"),
    [
        ({"tree": {"A": ["a1", "a2", "a3"], "B": ["b1"]}}, 5),
        ({"mask": {"length": 2}}, 3),
        (None, 3),
    ],
)
def test_sets_show_their_members_and_the_missing_cell_among_them(
    hierarchy: Any, domain: int
) -> None:
    """Of a tree the policy lists four values, the missing one is the fifth."""
    cells = ["a1", "a1", None, "a2", "a2", "a2"]
    frame = pl.DataFrame({"x": cells, "sex": ["f"] * 6, "ill": list("abcdef")})
    quasi = {"role": "quasi", **({} if hierarchy is None else {"hierarchy": hierarchy})}
    policy = {"method": {"name": "mondrian"}, "privacy": [{"k-anonymity": {"k": 3}}]}
    release = released(frame, quasi, **policy)
    assert any(label.startswith("{|a1") for label in release.data["x"])
    entry = release.manifest["attributes"][0]
    assert (entry["domain"], entry["missing"]) == (domain, True)
    assert ncp(release).per_attribute["x"] == pytest.approx(entry["ncp"])
