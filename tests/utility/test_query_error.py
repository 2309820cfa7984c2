"""Query error: against single queries and a plain count, and what its queries must be like."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd
from incrowd.errors import InputError, ParameterError
from incrowd.publish.release import Release
from incrowd.published.parts import Parts, open_parts
from incrowd.query import query
from incrowd.utility import query_error
from incrowd.utility._drawn_queries import Questions, draw, drawable
from incrowd.utility.query_error import expected, with_values

QUASI = ("age", "sex", "zip", "born")
HIDDEN = ("ill", "days")


def patients(number: int = 80, seed: int = 1) -> pl.DataFrame:
    draws = random.Random(seed)

    def cell(value: Any) -> Any:
        return None if draws.random() < 0.05 else value

    return pl.DataFrame(
        {
            "age": [cell(draws.randint(20, 60)) for _ in range(number)],
            "sex": [cell(draws.choice("FM")) for _ in range(number)],
            "zip": [cell(draws.choice((1001, 1002, 1015, 2001))) for _ in range(number)],
            "born": [cell(f"{draws.randint(1, 28):02}/05/1960") for _ in range(number)],
            "ill": [cell(draws.choice(("flu", "hiv", "it's"))) for _ in range(number)],
            "days": [cell(draws.choice((0.5, 1.0, 2.25, 3.0))) for _ in range(number)],
        }
    )


def policy(publish: str = "generalized", k: int = 4, **changed: Any) -> dict[str, Any]:
    return {
        "attributes": {
            **dict.fromkeys(QUASI, "quasi"),
            "born": {"role": "quasi", "format": "%d/%m/%Y"},
            **dict.fromkeys(HIDDEN, "sensitive"),
        },
        "privacy": [{"k-anonymity": {"k": k}}],
        "publish": publish,
        **changed,
    }


def masked(**changed: Any) -> dict[str, Any]:
    chosen = policy(method={"name": "mondrian", "labels": "hierarchy"}, **changed)
    chosen["attributes"]["zip"] = {"role": "quasi", "hierarchy": {"mask": {"length": 4}}}
    return chosen


POLICIES = {
    "generalized": policy(),
    "anatomy": policy("anatomy"),
    "lossy-join": policy("lossy-join"),
    "masked": masked(),
    "masked anatomy": {**masked(publish="anatomy"), "method": "mondrian"},
    "suppressed": policy(suppression=0.3, k=7),
}


def questions(
    release: Release, frame: pl.DataFrame, number: int, seed: int = 0
) -> tuple[Parts, Questions]:
    parts = open_parts(release)
    columns = {
        name: drawable(frame[name], parts.entries[name]["type"]) for name in (*QUASI, *HIDDEN)
    }
    asked = draw(
        [columns[name] for name in HIDDEN],
        [columns[name] for name in QUASI],
        queries=number,
        seed=seed,
    )
    return parts, asked


@pytest.mark.parametrize("kind", POLICIES)
def test_the_metric_is_that_of_single_queries(kind: str) -> None:
    frame = patients()
    release = incrowd.anonymize(frame, POLICIES[kind])
    found = query_error(release, frame, queries=120)
    _, asked = questions(release, frame, 120)
    known = with_values({}, asked)
    errors, true = [], asked.true.tolist()
    for number, count in enumerate(true):
        estimate = query(release, asked.text(number), hierarchies=known).count
        errors.append(abs(estimate - count) / count)
    assert (found.all.queries, found.seed, found.records) == (120, 0, 80)
    assert found.all.average == pytest.approx(np.mean(errors), abs=1e-9)
    assert found.all.median == pytest.approx(np.median(errors), abs=1e-9)
    # 1 % of 80 records is 0.8, and every query has at least one record.
    assert (found.few.queries, found.few.average, found.few.median) == (0, None, None)
    assert found.many == found.all


def test_the_bands() -> None:
    frame = pl.concat([patients(seed=seed) for seed in range(5)])
    release = incrowd.anonymize(frame, policy("anatomy"))
    found = query_error(release, frame, queries=300, seed=4)
    parts, asked = questions(release, frame, 300, seed=4)
    estimates = expected(parts, asked, with_values({}, asked))
    errors = abs(estimates - asked.true) / asked.true
    few = [error for error, true in zip(errors, asked.true, strict=True) if true < 4]
    assert 0 < len(few) < 300
    assert (found.few.queries, found.many.queries) == (len(few), 300 - len(few))
    assert found.few.average == pytest.approx(np.mean(few))
    assert found.as_dict()["below_1_percent"]["median"] == pytest.approx(np.median(few))
    assert found.as_dict()["from_1_percent"]["queries"] == found.many.queries
    assert found.as_dict()["seed"] == 4


def test_queries_depend_on_the_original_alone() -> None:
    frame = patients()
    asked = [
        questions(incrowd.anonymize(frame, chosen), frame, 200)[1] for chosen in POLICIES.values()
    ]
    for other in asked[1:]:
        assert np.array_equal(other.attribute, asked[0].attribute)
        assert np.array_equal(other.low, asked[0].low)
        assert np.array_equal(other.high, asked[0].high)
        assert np.array_equal(other.true, asked[0].true)
    fewer = questions(incrowd.anonymize(frame, policy()), frame, 50)[1]
    assert np.array_equal(fewer.low, asked[0].low[:50])
    another = questions(incrowd.anonymize(frame, policy()), frame, 200, seed=1)[1]
    assert not np.array_equal(another.low, asked[0].low)


def test_the_queries_are_what_they_are_said_to_be() -> None:
    frame = patients(300)
    _, asked = questions(incrowd.anonymize(frame, policy("anatomy")), frame, 3000)
    assert len({asked.text(number) for number in range(3000)}) == 3000
    conditions = Counter((asked.attribute >= 0).sum(axis=1).tolist())
    assert sorted(conditions) == [1, 2, 3, 4]
    assert (asked.attribute[:, 0] >= 0).all()
    quasi = asked.attribute[:, 1:]
    assert all(len(set(row[row >= 0])) == (row >= 0).sum() for row in quasi)
    assert set(quasi.ravel()) == {-1, 2, 3, 4, 5}
    wide = asked.high - asked.low > 1
    ranges = {a: int((wide & (asked.attribute == a)).sum()) for a in range(6)}
    # ill and sex are text; days, age, zip and born have ranges.
    assert [a for a, many in ranges.items() if many == 0] == [0, 3]
    assert asked.true.min() >= 1


def test_true_counts_are_those_of_a_plain_loop() -> None:
    frame = patients()
    _, asked = questions(incrowd.anonymize(frame, policy("anatomy")), frame, 200)
    columns = (*asked.sensitive, *asked.quasi)
    codes = [each.column.codes.tolist() for each in columns]
    for number in range(200):
        slots = [slot for slot in range(5) if asked.attribute[number, slot] >= 0]
        count = sum(
            all(
                asked.low[number, slot]
                <= codes[asked.attribute[number, slot]][record]
                < asked.high[number, slot]
                for slot in slots
            )
            for record in range(80)
        )
        assert count == asked.true[number]


def test_an_example_by_hand() -> None:
    """Two groups of two; the one sensitive attribute is asked for alone or with the other."""
    frame = pl.DataFrame({"sex": ["F", "F", "M", "M"], "ill": ["flu", "hiv", "flu", "flu"]})
    chosen = {
        "attributes": {"sex": "quasi", "ill": "sensitive"},
        "privacy": [{"k-anonymity": {"k": 4}}],
        "publish": "anatomy",
    }
    found = query_error(incrowd.anonymize(frame, chosen), frame, queries=50)
    # flu and hiv are exact; F flu 1.5 of 1, F hiv 0.5 of 1, M flu 1.5 of 2; M hiv has no record.
    assert found.all.queries == 5
    assert found.all.average == pytest.approx((0 + 0 + 0.5 + 0.5 + 0.25) / 5)
    assert found.all.median == pytest.approx(0.25)


def test_a_release_that_changes_nothing_has_no_error() -> None:
    frame = pl.concat([patients(10), patients(10)])
    release = incrowd.anonymize(frame, policy(k=2))
    assert query_error(release, frame, queries=500).all.average == pytest.approx(0, abs=1e-12)


def test_suppressed_records_count_in_the_truth() -> None:
    frame = pl.DataFrame({"sex": ["F"] * 6 + ["M"], "ill": ["flu"] * 7})
    chosen = {
        "attributes": {"sex": "quasi", "ill": "sensitive"},
        "privacy": [{"k-anonymity": {"k": 2}}],
        "suppression": 0.2,
    }
    release = incrowd.anonymize(frame, chosen)
    assert release.manifest["records"]["suppressed"] == 1
    found = query_error(release, frame, queries=9)
    # flu: 6 of 7; F and flu: 6 of 6; M and flu: 0 of 1.
    assert found.all.queries == 3
    assert found.all.average == pytest.approx((1 / 7 + 0 + 1) / 3)


def test_without_a_sensitive_attribute_all_conditions_are_on_quasi_identifiers() -> None:
    frame = patients().select(QUASI)
    chosen = policy()
    chosen["attributes"] = {name: chosen["attributes"][name] for name in QUASI}
    found = query_error(incrowd.anonymize(frame, chosen), frame, queries=200)
    assert found.all.queries == 200
    assert found.all.average is not None
    assert found.all.average > 0


def test_labels_that_do_not_speak_for_themselves_need_the_policy() -> None:
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
    assert set(release.data["job"]) == {"Law", "farmer"}
    with pytest.raises(InputError, match=r"behind 1 label of 'job'\. Give the policy"):
        query_error(release, frame, queries=10)
    found = query_error(release, frame, queries=10, hierarchies={"job": law})
    # Either illness alone or with farmer is exact; judge and a, notary and b are 1.5 of 3.
    assert found.all.queries == 6
    assert found.all.average == pytest.approx((0 * 4 + 0.5 * 2) / 6)


def test_an_attribute_that_is_missing_throughout_is_not_asked_about() -> None:
    frame = patients().with_columns(zip=pl.lit(None, dtype=pl.Int64))
    release = incrowd.anonymize(frame, policy("anatomy"))
    assert query_error(release, frame, queries=50).all.queries == 50
    nothing = frame.with_columns(pl.lit(None).alias(name) for name in frame.columns)
    with pytest.raises(InputError, match="all cells to ask about are missing"):
        query_error(incrowd.anonymize(nothing, policy("anatomy")), nothing)


def test_refusals() -> None:
    frame = patients()
    release = incrowd.anonymize(frame, policy())
    with pytest.raises(ParameterError, match="queries: must be a whole number of at least 1"):
        query_error(release, frame, queries=0)
    with pytest.raises(ParameterError, match="seed: must be a whole number of at least 0"):
        query_error(release, frame, seed=-1)
    with pytest.raises(InputError, match=r"has 79 records, but the manifest .* states 80"):
        query_error(release, frame.head(79))
    with pytest.raises(InputError, match="No column 'zip'"):
        query_error(release, frame.drop("zip"))
    unclear = frame.with_columns(born=pl.lit("05/05/1960"))
    with pytest.raises(InputError, match="'born' of the original: its cells may have day or"):
        query_error(release, unclear)
