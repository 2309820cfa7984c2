"""KL-divergence: against sums over the full product domain, and by hand."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import product
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from releases_by_hand import Entry, MakeRelease

import incrowd
from incrowd.errors import InputError, ParameterError
from incrowd.hierarchies.labels import set_label
from incrowd.utility import kl_divergence

AGES, CITIES, ILL = range(30, 34), ("Oslo", "a|b", "*", None), ("flu", "hiv", None)
KINDS = ["generalized", "anatomy", "lossy-join"]
Point = tuple[Any, ...]
Box = tuple[Collection[Any], Collection[Any]]


def divergence(original: Sequence[Point], expected: Mapping[Point, float]) -> float:
    """The sum over all points of `expected`, whose shares must add up to 1."""
    assert math.fsum(expected.values()) == pytest.approx(1)
    records = Counter(original)
    return math.fsum(
        count / len(original) * math.log(count / len(original) / expected[point])
        for point, count in records.items()
    )


def spread(
    boxes: Sequence[Box],
    groups: Sequence[tuple[str | None, ...]],
    values: Sequence[str | None],
    domain: Sequence[Point],
) -> dict[Point, float]:
    """q at every point: each record is spread over its box, its value drawn from its group."""
    expected = dict.fromkeys(domain, 0.0)
    sizes, held = Counter(groups), Counter(zip(groups, values, strict=True))
    kinds = set(values)
    for box, group in zip(boxes, groups, strict=True):
        area = math.prod(len(side) for side in box)
        for point, value in product(product(*box), kinds):
            chance = held[group, value] / sizes[group] / area / len(boxes)
            if chance:
                expected[*point, value] += chance
    return expected


@st.composite
def local_recodings(
    draw: st.DrawFn,
) -> tuple[list[Point], list[Box]]:
    """Records, each with any range of ages and any set of cities around its own."""
    records: list[Point] = []
    boxes: list[Box] = []
    for _ in range(draw(st.integers(1, 8))):
        age, city = draw(st.sampled_from(AGES)), draw(st.sampled_from(CITIES))
        records.append((age, city, draw(st.sampled_from(ILL))))
        low = draw(st.integers(AGES[0], age))
        high = draw(st.integers(age + 1, AGES[-1] + 1))
        cities = draw(st.sets(st.sampled_from(CITIES)))
        boxes.append((range(low, high), frozenset({*cities, city})))
    return records, boxes


def labels(box: tuple[range, frozenset[str | None]]) -> tuple[str, str | None]:
    ages, cities = box
    age = str(ages[0]) if len(ages) == 1 else f"[{ages[0]}-{ages[-1] + 1})"
    if len(cities) == len(CITIES):
        return age, "*"
    listed = sorted(city or "" for city in cities)
    return age, None if listed == [""] else set_label(listed)


@given(local_recodings(), st.integers(0, 2))
def test_overlapping_boxes_against_the_full_domain(
    recoding: tuple[
        list[tuple[int, str | None, str | None]], list[tuple[range, frozenset[str | None]]]
    ],
    suppressed: int,
) -> None:
    records, boxes = recoding
    shown = records[: max(len(records) - suppressed, 1)]
    suppressed = len(records) - len(shown)
    published = pl.DataFrame(
        [(*labels(box), record[2]) for box, record in zip(boxes, shown, strict=False)],
        schema=dict.fromkeys(["age", "city", "ill"], pl.String),
        orient="row",
    )
    entry = {"role": "quasi", "published": True, "labels": "set"}
    manifest = {
        "records": {
            "source": len(records),
            "published": len(shown),
            "suppressed": suppressed,
            "missing_dropped": 0,
        },
        "attributes": [
            {**entry, "name": "age", "type": "numeric", "domain": 4, "decimals": 0},
            {**entry, "name": "city", "type": "category", "domain": 4},
            {"name": "ill", "role": "sensitive", "published": True, "type": "category"},
        ],
    }
    release = SimpleNamespace(data=published, tables={"data": published}, manifest=manifest)
    original = pl.DataFrame(
        records, schema={"age": pl.Int64, "city": pl.String, "ill": pl.String}, orient="row"
    )
    kinds = {ill for _, _, ill in records}
    domain = list(product(AGES, CITIES, kinds))
    boxes = boxes[: len(shown)]
    expected = spread(boxes, [labels(box) for box in boxes], [r[2] for r in shown], domain)
    share = len(shown) / len(records)
    expected = {
        point: chance * share + suppressed / len(records) / len(domain)
        for point, chance in expected.items()
    }
    found = kl_divergence(release, original)
    assert found.divergence == pytest.approx(divergence(records, expected), abs=1e-9)
    hidden = Counter(ill for _, _, ill in records)
    nothing = {point: hidden[point[2]] / len(records) / 16 for point in domain}
    assert found.baseline == pytest.approx(divergence(records, nothing), abs=1e-9)
    assert found.ratio == pytest.approx(found.divergence / found.baseline)
    assert (found.records, found.points) == (len(records), len(set(records)))


patients = st.lists(
    st.tuples(
        st.sampled_from("FM"),
        st.sampled_from([30, 31, 38]),
        st.sampled_from(["flu", "hiv", None]),
        st.sampled_from(["bed", "iv"]),
    ),
    min_size=2,
    max_size=12,
)


@settings(max_examples=20)
@given(patients, st.sampled_from(["anatomy", "lossy-join"]), st.integers(2, 4))
def test_tables_apart_against_the_full_domain(
    records: list[tuple[str, int, str | None, str]], publish: str, k: int
) -> None:
    frame = pl.DataFrame(
        records,
        schema={"sex": pl.String, "age": pl.Int64, "ill": pl.String, "care": pl.String},
        orient="row",
    )
    chosen = {
        "attributes": {"sex": "quasi", "age": "quasi", "ill": "sensitive", "care": "sensitive"},
        "privacy": [{"k-anonymity": {"k": min(k, len(records))}}],
        "method": "mondrian",
        "publish": publish,
    }
    release = incrowd.anonymize(frame, chosen)
    joined = release.join()
    expected: defaultdict[Point, float] = defaultdict(float)
    key = "group_id" if publish == "anatomy" else "class_id"
    assert set(joined.columns) == {"sex", "age", "ill", "care", key, "probability"}
    for row in joined.iter_rows(named=True):
        point = row["sex"], int(row["age"]), row["ill"], row["care"]
        expected[point] += row["probability"] / len(records)
    found = kl_divergence(release, frame)
    assert found.divergence == pytest.approx(divergence(records, expected), abs=1e-9)
    assert (found.quasi, found.sensitive) == (("sex", "age"), ("ill", "care"))


JOBS = {"Office": {"Law": ["judge", "notary"], "Money": ["banker"]}, "Land": {"Farm": ["farmer"]}}
MEANING = {
    "Law": ["judge", "notary"],
    "Money": ["banker"],
    "Office": ["judge", "notary", "banker"],
    "Farm": ["farmer"],
    "Land": ["farmer"],
    "*": ["judge", "notary", "banker", "farmer"],
}
workers = st.lists(
    st.tuples(
        st.sampled_from(MEANING["*"]),
        st.sampled_from(["101", "102", "211"]),
        st.sampled_from(["flu", "hiv"]),
    ),
    min_size=2,
    max_size=14,
)


@settings(max_examples=20)
@given(workers)
def test_labels_of_hierarchies_against_the_full_domain(records: list[tuple[str, str, str]]) -> None:
    frame = pl.DataFrame(records, schema=["job", "zip", "ill"], orient="row")
    chosen = {
        "attributes": {
            "job": {"role": "quasi", "hierarchy": {"tree": JOBS}},
            "zip": {"role": "quasi", "type": "category", "hierarchy": {"mask": {"length": 3}}},
            "ill": "sensitive",
        },
        "privacy": [{"k-anonymity": {"k": 2}}],
        "method": {"name": "mondrian", "labels": "hierarchy"},
    }
    release = incrowd.anonymize(frame, chosen)
    zips = sorted(set(frame["zip"]))
    masks = {text[:n] + "*" * (3 - n): text[:n] for text in zips for n in (1, 2)}
    boxes: list[Box] = []
    groups = []
    for job, code, _ in release.data.select("job", "zip", "ill").iter_rows():
        begins = "" if code == "*" else masks.get(code, code)
        boxes.append((MEANING.get(job, [job]), [z for z in zips if z.startswith(begins)]))
        groups.append((job, code))
    domain = list(product(MEANING["*"], zips, {ill for _, _, ill in records}))
    expected = spread(boxes, groups, release.data["ill"].to_list(), domain)
    found = kl_divergence(release, frame, hierarchies={"job": MEANING})
    assert found.divergence == pytest.approx(divergence(records, expected), abs=1e-9)


def test_boxes_that_overlap_where_nobody_is_are_worse_than_nothing(
    make_release: MakeRelease, entry: Entry
) -> None:
    release = make_release({"age": ["[1-3)", "[2-4)"]}, [entry("age", "numeric", 3, decimals=0)])
    found = kl_divergence(release, pl.DataFrame({"age": [1, 3]}))
    # Half of each record is at 2: q is 1/4, 1/2, 1/4.
    assert found.divergence == pytest.approx(math.log(2))
    assert found.baseline == pytest.approx(math.log(3 / 2))
    assert found.ratio is not None
    assert found.ratio > 1
    assert found.sensitive == ()


@pytest.mark.parametrize("publish", KINDS)
def test_nothing_changed_is_0_and_all_suppressed_is_the_baseline(publish: str) -> None:
    frame = pl.DataFrame({"sex": list("FFMM") * 2, "ill": ["flu", "flu", "hiv", "hiv"] * 2})
    chosen = {
        "attributes": {"sex": "quasi", "ill": "sensitive"},
        "privacy": [{"k-anonymity": {"k": 4}}],
        "method": "mondrian",
        "publish": publish,
    }
    found = kl_divergence(incrowd.anonymize(frame, chosen), frame)
    assert found.divergence == pytest.approx(0, abs=1e-12)
    assert found.baseline == pytest.approx(math.log(2))
    chosen["privacy"] = [{"k-anonymity": {"k": 8}}]
    found = kl_divergence(incrowd.anonymize(frame, chosen), frame)
    assert found.ratio == pytest.approx(1)
    alike = pl.DataFrame({"sex": ["F"] * 8, "ill": ["flu"] * 8})
    assert kl_divergence(incrowd.anonymize(alike, chosen), alike).ratio is None


def test_a_domain_beyond_all_floats_is_measured(make_release: MakeRelease, entry: Entry) -> None:
    names = [f"q{number}" for number in range(120)]
    release = make_release(
        {name: ["*", "*", "7", "8"] for name in names},
        [entry(name, "category", 1000) for name in names],
    )
    original = pl.DataFrame({name: ["5", "6", "7", "8"] for name in names})
    found = kl_divergence(release, original)
    wide = math.log(1000) * 120
    assert found.baseline == pytest.approx(wide - math.log(4))
    # Two records are told exactly; each of the others has half of a box of 1000^120 points.
    assert found.divergence == pytest.approx((wide - math.log(2)) / 2)
    assert found.as_dict()["quasi"] == names


@pytest.mark.parametrize("kind", ["numeric", "category"])
def test_dates_in_any_writing_and_numbers_only_where_they_are_numbers(kind: str) -> None:
    days = ["03/05/1960", "04/05/1960", "03/05/1960", "09/05/1960"]
    doses = ["1", "1.50", "1.0", "1.5"]
    frame = pl.DataFrame({"born": days, "dose": doses, "ill": list("abba")})
    chosen = {
        "attributes": {
            "born": {"role": "quasi", "type": "date", "format": "%d/%m/%Y"},
            "dose": {"role": "quasi", "type": kind},
            "ill": "sensitive",
        },
        "privacy": [{"k-anonymity": {"k": 2}}],
    }
    release = incrowd.anonymize(frame, chosen)
    late = "[1960-05-04-1960-05-10)"
    shown = set(release.data.select("born", "dose").iter_rows())
    found = kl_divergence(release, frame)
    if kind == "numeric":
        assert shown == {("1960-05-03", "1"), (late, "1.5")}
        # Each record of 3 May has its point; those of a week in May have a sixth of theirs.
        assert found.divergence == pytest.approx(math.log(6) / 2)
        assert found.baseline == pytest.approx(math.log(7 * 6) + math.log(2) - math.log(4))
    else:
        assert shown == {("1960-05-03", "{1|1.0}"), (late, "{1.5|1.50}")}
        assert found.divergence == pytest.approx((math.log(2) + math.log(2 * 6)) / 2)
        assert found.baseline == pytest.approx(math.log(7 * 4) + math.log(2) - math.log(4))


def test_records_dropped_for_missing_cells_are_left_out() -> None:
    frame = pl.DataFrame(
        {"sex": ["F", "F", "M", "M", None, ""], "ill": ["flu", "hiv", "flu", None, "flu", "flu"]}
    )
    chosen = {
        "attributes": {"sex": "quasi", "ill": "sensitive"},
        "privacy": [{"k-anonymity": {"k": 4}}],
        "missing": "drop",
    }
    release = incrowd.anonymize(frame, chosen)
    assert release.manifest["records"]["missing_dropped"] == 2
    found = kl_divergence(release, frame)
    assert found == kl_divergence(incrowd.anonymize(frame.head(4), chosen), frame.head(4))
    assert found.records == 4
    other = frame.with_columns(sex=pl.Series(["F", "F", "M", "M", "M", None]))
    with pytest.raises(InputError, match=r"1 records that lack .* but the release dropped 2"):
        kl_divergence(release, other)


def test_refusals() -> None:
    frame = pl.DataFrame({"job": ["judge", "notary"] * 3 + ["farmer"] * 6, "ill": ["a", "b"] * 6})
    law = {"Law": ["judge", "notary"]}
    chosen = {
        "attributes": {
            "job": {"role": "quasi", "hierarchy": {"tree": {**law, "Land": ["farmer"]}}},
            "ill": "sensitive",
        },
        "privacy": [{"k-anonymity": {"k": 6}}],
        "method": {"name": "mondrian", "labels": "hierarchy"},
    }
    release = incrowd.anonymize(frame, chosen)
    with pytest.raises(InputError, match=r"behind 1 label of 'job'\. Give the policy"):
        kl_divergence(release, frame)
    found = kl_divergence(release, frame, hierarchies={"job": law})
    assert found.divergence == pytest.approx(math.log(2) / 2)
    with pytest.raises(ParameterError, match="no attribute 'jobs'"):
        kl_divergence(release, frame, hierarchies={"jobs": law})
    with pytest.raises(InputError, match=r"has 11 records, but the release accounts for 12"):
        kl_divergence(release, frame.head(11), hierarchies={"job": law})
    with pytest.raises(InputError, match="No column 'ill'"):
        kl_divergence(release, frame.drop("ill"))
    other = frame.with_columns(ill=pl.Series(["a", "b"] * 5 + ["c", "c"]))
    with pytest.raises(InputError, match="2 records are covered by no row of the release"):
        kl_divergence(release, other, hierarchies={"job": law})
