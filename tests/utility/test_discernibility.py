"""Discernibility and group sizes: by hand and against a plain loop over records."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from releases_by_hand import Entry, MakeRelease

from incrowd.utility import discernibility

K = [{"model": "k-anonymity", "parameters": {"k": 2}}]


def test_metrics_by_hand(make_release: MakeRelease, entry: Entry) -> None:
    release = make_release(
        {"sex": ["F", "F", "M", "M", "M"], "age": ["*", "*", "*", "*", "*"]},
        [entry("sex", "category", 2), entry("age", "numeric", 9)],
        suppressed=1,
        missing_dropped=2,
        promises=K,
    )
    found = discernibility(release)
    # Groups of 2 and 3; the suppressed record is charged all 8 records of the source.
    assert (found.dm, found.dr) == (4 + 9 + 8, 21 / 64)
    assert (found.groups, found.average, found.seen_by_record) == (2, 2.5, 13 / 5)
    assert (found.k, found.cavg) == (2, 1.25)
    assert found.as_dict()["cavg"] == 1.25


def test_the_largest_promised_k_counts(make_release: MakeRelease, entry: Entry) -> None:
    promises = [*K, {"model": "alpha-k", "parameters": {"alpha": 0.5, "k": 4, "sensitive": "d"}}]
    release = make_release({"sex": ["F"] * 8}, [entry("sex", "category", 2)], promises=promises)
    assert (discernibility(release).k, discernibility(release).cavg) == (4, 2.0)


def test_without_a_promised_k_there_is_no_cavg(make_release: MakeRelease, entry: Entry) -> None:
    promise = {"model": "t-closeness", "parameters": {"t": 0.2, "sensitive": "d"}}
    release = make_release({"sex": ["F"]}, [entry("sex", "category", 2)], promises=[promise])
    found = discernibility(release)
    assert found.k is None
    assert found.cavg is None


def test_missing_is_a_value_and_other_columns_do_not_part_groups(
    make_release: MakeRelease, entry: Entry
) -> None:
    release = make_release(
        {"sex": ["F", None, None], "disease": ["Flu", "Flu", "HIV"]},
        [
            entry("sex", "category", 2),
            {"name": "disease", "role": "sensitive", "published": True},
        ],
    )
    assert discernibility(release).groups == 2


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(
        st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from(["*", "x"])),
        min_size=1,
        max_size=15,
    ),
    suppressed=st.integers(0, 3),
)
def test_dm_equals_a_plain_loop(
    make_release: MakeRelease, entry: Entry, rows: list[tuple[str | None, str]], suppressed: int
) -> None:
    release = make_release(
        {"one": [row[0] for row in rows], "two": [row[1] for row in rows]},
        [entry("one", "category", 3), entry("two", "category", 2)],
        suppressed=suppressed,
        promises=K,
    )
    found = discernibility(release)
    source = len(rows) + suppressed
    alike = [sum(row == other for other in rows) for row in rows]
    assert found.dm == sum(alike) + suppressed * source
    assert found.dr == pytest.approx(found.dm / source**2)
    assert found.groups == len(set(rows))
    assert found.average == pytest.approx(len(rows) / len(set(rows)))
    assert found.seen_by_record == pytest.approx(sum(alike) / len(rows))
    assert found.cavg == pytest.approx(found.average / 2)
