"""Similarity: the paper's tables by hand, plain counting, and every kind of target."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd
from incrowd.attacks import similarity
from incrowd.attacks.categories import policy_hierarchy
from incrowd.attacks.similarity import Similarity
from incrowd.errors import HierarchyError, InputError, ParameterError

# Table 1 of Sun, Li, Wang (2010) by its diseases, and the records of the groups of later tables.
DISEASES = [
    "HIV", "HIV", "Cancer", "Cancer", "Hepatitis", "Phthisis", "Asthma", "Obesity", "Flu", "Flu",
    "Flu", "Indigestion",
]  # fmt: skip
TABLE_4 = [
    ["HIV", "Cancer"],
    ["Phthisis", "Hepatitis"],
    ["Obesity", "Asthma"],
    ["Flu", "Indigestion"],
]
GROUPS = {
    "Table 2": [[1, 2], [3, 4], [5, 6, 7, 8], [9, 12], [10, 11]],
    "Table 5": [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]],
    "Table 6": [[1, 2, 3, 9], [5, 6, 7, 8], [4, 10, 11, 12]],
    "Table 7": [[1, 2, 9, 10], [5, 6, 7, 8], [3, 4, 11, 12]],
}
SECRECY = {
    "tree": {
        "Grave": {"Top secret": ["HIV", "Cancer"], "Secret": ["Phthisis", "Hepatitis"]},
        "Mild": {"Less secret": ["Obesity", "Asthma"], "Non secret": ["Flu", "Indigestion"]},
    }
}
KINDS = ["generalized", "anatomy", "lossy-join"]


def table(name: str) -> pl.DataFrame:
    rows = [
        (f"group {number}", record, DISEASES[record - 1])
        for number, records in enumerate(GROUPS[name])
        for record in records
    ]
    return pl.DataFrame(rows, schema=["place", "record", "disease"], orient="row")


def attack(name: str, **more: Any) -> Similarity:
    return similarity(table(name), quasi=["place"], sensitive="disease", **more)


def release_of(
    frame: pl.DataFrame,
    publish: str,
    promises: Sequence[dict[str, Any]] = (),
    sensitive: str = "disease",
) -> Any:
    """A release made by hand whose groups are those of the column `place`."""
    listed = [
        {"name": "place", "role": "quasi", "published": True, "type": "category"},
        {"name": sensitive, "role": "sensitive", "published": True, "type": "category"},
    ]
    frame = frame.select("place", sensitive).cast(pl.String)
    if publish == "generalized":
        tables = {"data": frame}
    elif publish == "anatomy":
        keyed = frame.with_columns(group_id="place")
        counted = keyed.group_by("group_id", sensitive, maintain_order=True).len("count")
        tables = {
            "qit": keyed.select("place", "group_id"),
            f"st_{sensitive}": counted.cast(pl.String),
        }
    else:
        keyed = frame.with_columns(class_id="place")
        tables = {
            "nss": keyed.select("place", "class_id"),
            "ss": keyed.select("class_id", sensitive).sort(pl.all()),
        }
    manifest = {"publish": publish, "attributes": listed, "promises": list(promises)}
    return SimpleNamespace(manifest=manifest, data=next(iter(tables.values())), tables=tables)


def test_table_5_leaves_the_top_secret_records_1_to_4_open() -> None:
    found = attack("Table 5", categories=TABLE_4)
    # Records 1 to 4 are Top secret; 9 to 12 are all of one category too, but of the harmless one.
    assert found.by_category == (4, 0, 0, 4)
    assert (found.similar, found.homogeneous) == (8, 0)
    assert (found.records, found.groups, found.categories_from) == (12, 3, "given")


def test_table_2_gives_values_away_and_tables_6_and_7_give_nothing_away() -> None:
    found = attack("Table 2", categories=TABLE_4)
    # HIV twice, Cancer twice, Flu twice; Flu and Indigestion share a category.
    assert (found.homogeneous, found.by_category) == (6, (4, 0, 0, 4))
    for name in ("Table 6", "Table 7"):
        found = attack(name, categories=TABLE_4)
        assert (found.homogeneous, found.similar) == (0, 0)


def test_gains_by_hand() -> None:
    # Every group of Table 5 has all records of its diseases: shares are three times the table's.
    found = attack("Table 5", threshold=3)
    assert (found.largest_gain, found.average_gain) == (3.0, 3.0)
    assert (found.skewed, found.gained) == (12, 12)
    assert attack("Table 5", threshold=3.01).skewed == 0
    # Table 6: HIV 2/4 of 2/12 is 3, Cancer 1/4 of 2/12 is 1.5, Flu 1/4 of 3/12 is 1; the second
    # group as before; Cancer 1.5, Flu 2/4 of 3/12 is 2, Indigestion 1/4 of 1/12 is 3.
    found = attack("Table 6", threshold=2.5)
    assert found.largest_gain == 3.0
    assert found.average_gain == pytest.approx((2 * 3 + 1.5 + 1 + 4 * 3 + 1.5 + 2 * 2 + 3) / 12)
    assert (found.skewed, found.gained) == (12, 7)
    assert attack("Table 6").gained == 9


def test_one_group_of_everything_gains_nothing() -> None:
    found = similarity(
        table("Table 5").with_columns(place=pl.lit("all")), quasi=["place"], sensitive="disease"
    )
    assert (found.largest_gain, found.average_gain, found.skewed, found.gained) == (1.0, 1.0, 0, 0)
    assert (found.similar, found.by_category, found.categories_from) == (None, (), None)


def test_a_mapping_and_a_level_of_a_hierarchy_give_the_same_as_lists() -> None:
    listed = attack("Table 5", categories=TABLE_4)
    mapping = {value: str(number) for number, values in enumerate(TABLE_4) for value in values}
    assert attack("Table 5", categories=mapping) == listed
    found = attack("Table 5", hierarchy=SECRECY)
    assert (found.similar, sorted(found.by_category)) == (8, [0, 0, 4, 4])
    assert found.categories_from == "hierarchy"
    # All of a group are Grave or Mild in the first and the third; in the second they are both.
    assert [(each.level, each.nodes, each.records) for each in found.levels] == [
        (1, 4, 8),
        (2, 2, 8),
    ]
    found = attack("Table 7", hierarchy=SECRECY, level=2)
    assert (found.similar, len(found.by_category)) == (0, 2)
    mixed = table("Table 5").filter(pl.col("record").is_between(5, 6) | (pl.col("record") < 3))
    found = similarity(
        mixed.with_columns(place=pl.lit("all")),
        quasi=["place"],
        sensitive="disease",
        hierarchy=SECRECY,
    )
    assert [each.records for each in found.levels] == [0, 4]


def test_numbers_are_alike_within_an_interval() -> None:
    frame = pl.DataFrame({"ward": list("AABB"), "income": ["31.5", "34", "31.5", "71"]})
    found = similarity(
        frame,
        quasi=["ward"],
        sensitive="income",
        hierarchy={"intervals": {"start": 0, "stop": 100, "widths": [10, 50]}},
    )
    assert [(each.nodes, each.records) for each in found.levels] == [(2, 2), (2, 2)]
    assert found.homogeneous == 0


def test_a_hierarchy_may_be_a_file_or_that_of_a_policy(tmp_path: Path) -> None:
    lines = [f"{value},{number},*\n" for number, each in enumerate(TABLE_4) for value in each]
    (tmp_path / "disease.csv").write_text("".join(lines))
    (tmp_path / "policy.yaml").write_text(
        "attributes: {place: quasi, disease: {role: sensitive, hierarchy: disease.csv}}\n"
        "privacy: [k-anonymity: {k: 2}]\n"
    )
    by_file = attack("Table 5", hierarchy=tmp_path / "disease.csv")
    asked = policy_hierarchy(tmp_path / "policy.yaml", "disease")
    assert attack("Table 5", hierarchy=asked) == by_file
    assert by_file.similar == 8
    with pytest.raises(ParameterError, match=r"no attribute 'diseas'\. Did you mean 'disease'\?"):
        policy_hierarchy(tmp_path / "policy.yaml", "diseas")
    with pytest.raises(ParameterError, match="gives 'place' no hierarchy"):
        policy_hierarchy(tmp_path / "policy.yaml", "place")


@pytest.mark.parametrize("publish", KINDS)
def test_a_release_brings_the_categories_that_it_promises(publish: str) -> None:
    other = {"model": "l-diversity", "parameters": {"l": 2, "sensitive": "disease"}}
    promise = {
        "model": "l-alpha-diversity",
        "parameters": {"l": 2, "alpha": 0, "sensitive": "disease", "categories": TABLE_4},
    }
    found = similarity(release_of(table("Table 5"), publish, [other, promise]), sensitive="disease")
    raw = attack("Table 5", categories=TABLE_4).as_dict()
    assert {**found.as_dict(), "target": "", "categories_from": ""} == {
        **raw,
        "target": "",
        "categories_from": "",
    }
    assert found.categories_from == "manifest"
    found = similarity(release_of(table("Table 5"), publish, [other]), sensitive="disease")
    assert (found.similar, found.homogeneous) == (None, 0)


@pytest.mark.parametrize("publish", KINDS)
def test_a_real_release_is_attacked_in_memory_and_in_its_folder(
    publish: str, tmp_path: Path
) -> None:
    policy = {
        "attributes": {"age": "quasi", "ill": "sensitive"},
        "privacy": [{"l-diversity": {"l": 2, "sensitive": "ill"}}],
        "publish": publish,
    }
    frame = pl.DataFrame(
        {"age": [30, 31, 50, 51], "ill": ["HIV", "Cancer", "Flu", "HIV"]},
    )
    release = incrowd.anonymize(frame, policy)
    release.save(tmp_path / "release")
    kinds = [["HIV", "Cancer"], ["Flu"]]
    made = similarity(release, sensitive="ill", categories=kinds)
    saved = similarity(tmp_path / "release", sensitive="ill", categories=kinds)
    assert {**saved.as_dict(), "target": ""} == {**made.as_dict(), "target": ""}
    assert (made.groups, made.similar, made.homogeneous) == (2, 2, 0)


cells = st.sampled_from(["a", "b", "c", None])
rows = st.lists(st.tuples(st.sampled_from("xyz"), cells), min_size=1, max_size=12)
partitions = st.fixed_dictionaries(dict.fromkeys(["a", "b", "c", ""], st.sampled_from("KLM")))


@given(rows, partitions, st.sampled_from([1.5, 2, 3]))
def test_against_plain_counting(
    records: list[tuple[str, str | None]], category: dict[str, str], threshold: float
) -> None:
    frame = pl.DataFrame(records, schema=dict.fromkeys(["place", "s"], pl.String), orient="row")
    everyone = Counter(value for _, value in records)
    similar, homogeneous, skewed, gained, total, largest = 0, 0, 0, 0, 0.0, 0.0
    for place in {place for place, _ in records}:
        held = Counter(value for each, value in records if each == place)
        size = sum(held.values())
        gains = {v: held[v] * len(records) / (size * everyone[v]) for v in held}
        homogeneous += size * (len(held) == 1)
        similar += size * (len({category[v or ""] for v in held}) == 1)
        frequent = {v for v in held if gains[v] > threshold - 1e-9}
        skewed += size * bool(frequent)
        gained += sum(held[v] for v in frequent)
        total += sum(held[v] * gains[v] for v in held)
        largest = max(largest, *gains.values())
    for publish in (None, *KINDS):
        target = frame if publish is None else release_of(frame, publish, sensitive="s")
        found = similarity(
            target,
            sensitive="s",
            categories=category,
            quasi=["place"] if publish is None else None,
            threshold=threshold,
        )
        assert (found.records, found.groups) == (len(records), len({p for p, _ in records}))
        assert (found.similar, found.homogeneous) == (similar, homogeneous)
        assert (found.skewed, found.gained) == (skewed, gained)
        assert found.largest_gain == pytest.approx(largest)
        assert found.average_gain == pytest.approx(total / len(records))
        assert sum(found.by_category) == similar


@given(rows, st.integers(1, 4))
def test_more_values_than_a_category_has_leave_nothing_alike(
    records: list[tuple[str, str | None]],
    l: int,  # noqa: E741
) -> None:
    frame = pl.DataFrame(records, schema=dict.fromkeys(["place", "s"], pl.String), orient="row")
    diverse = {
        place
        for place in frame["place"].unique()
        if frame.filter(pl.col("place") == place)["s"].n_unique() >= l
    }
    frame = frame.filter(pl.col("place").is_in(list(diverse)))
    if frame.height:
        found = similarity(
            frame, quasi=["place"], sensitive="s", categories=[["a", "b"], ["c", ""]]
        )
        assert found.similar == 0 or l <= 2


def test_nothing_of_the_data_is_told() -> None:
    found = attack("Table 5", categories=TABLE_4)
    told = str(found.as_dict()) + found.one_sentence()
    assert not any(disease in told for disease in DISEASES)
    assert found.one_sentence() == (
        "Of 12 records, 8 are in groups whose values of 'disease' are all of one category; a value "
        "is up to 3 times as frequent in a group as in the table."
    )
    told = attack("Table 2", categories=TABLE_4).one_sentence()
    assert "all of one category, 6 of them with one value; a value is up to 6 times" in told
    assert "none is in groups with one value of 'disease'" in attack("Table 5").one_sentence()
    assert found.as_dict()["by_category"] == [4, 0, 0, 4]


@pytest.mark.parametrize(
    ("more", "error", "told"),
    [
        ({"categories": [["HIV"], ["Flu"]]}, ParameterError, r"6 value\(s\) of 'disease' are in"),
        ({"categories": "HIV"}, ParameterError, "must be lists of values"),
        ({"categories": ["HIV"]}, ParameterError, "category 1 must be a list"),
        ({"categories": [["HIV"], ["HIV"]]}, ParameterError, "category 2 stands in an earlier"),
        ({"categories": TABLE_4, "hierarchy": SECRECY}, ParameterError, "not both"),
        ({"categories": TABLE_4, "level": 1}, ParameterError, "one of a hierarchy"),
        ({"hierarchy": SECRECY, "level": 3}, ParameterError, r"has only 2 level\(s\) between"),
        ({"hierarchy": SECRECY, "level": 0}, ParameterError, "whole number of at least 1"),
        ({"hierarchy": 5}, ParameterError, "a hierarchy is the name of a file"),
        ({"hierarchy": {"tree": DISEASES}}, HierarchyError, "no level between its values"),
        ({"threshold": 1}, ParameterError, "a number above 1"),
    ],
)
def test_refusals(more: dict[str, Any], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told) as caught:
        attack("Table 5", **more)
    assert not any(disease in str(caught.value) for disease in ("Obesity", "Hepatitis"))


def test_columns_that_cannot_be_asked_about() -> None:
    with pytest.raises(InputError, match=r"No column 'diseas'"):
        similarity(table("Table 5"), quasi=["place"], sensitive="diseas")
    with pytest.raises(ParameterError, match="the name of one attribute"):
        similarity(table("Table 5"), quasi=["place"], sensitive=["disease"])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="No quasi-identifier is named"):
        similarity(table("Table 5"), sensitive="disease")
    apart = release_of(table("Table 5"), "anatomy")
    with pytest.raises(ParameterError, match="Leave quasi out"):
        similarity(apart, quasi=["place"], sensitive="disease")
    for publish in KINDS:
        with pytest.raises(InputError, match="'place' is a quasi-identifier of the release"):
            similarity(release_of(table("Table 5"), publish), sensitive="place")
    apart.manifest["attributes"].append({"name": "ward", "role": "keep", "published": True})
    apart.tables["qit"] = apart.data.with_columns(ward=pl.lit("A"))
    with pytest.raises(InputError, match="'ward' is no sensitive attribute of the release"):
        similarity(apart, sensitive="ward")
    missing = table("Table 5").with_columns(disease=pl.lit(None, dtype=pl.String))
    with pytest.raises(ParameterError, match="name them ''"):
        similarity(missing, quasi=["place"], sensitive="disease", categories=TABLE_4)
