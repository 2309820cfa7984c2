"""NCP: every kind of label by hand, and against a plain loop over cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from releases_by_hand import Entry, MakeRelease, SaveRelease

from incrowd.errors import InputError
from incrowd.utility import ncp

TREE = {"kind": "category", "domain": 5, "labels": "hierarchy"}


@pytest.mark.parametrize(
    ("cell", "attribute", "loss"),
    [
        ("47", {"kind": "numeric", "domain": 11}, 0.0),
        (None, {"kind": "numeric", "domain": 11}, 0.0),
        ("[30-36)", {"kind": "numeric", "domain": 11}, 0.5),
        ("[3-3.6)", {"kind": "numeric", "domain": 11, "decimals": 1}, 0.5),
        ("[-5-1)", {"kind": "numeric", "domain": 11, "decimals": 0}, 0.5),
        ("[0-500)", {"kind": "numeric", "domain": 11}, 1.0),
        ("[1950-01-01-1950-01-31)", {"kind": "date", "domain": 59, "decimals": 0}, 0.5),
        ("{a|b|c}", {"kind": "category", "domain": 5}, 0.5),
        (r"{a|\||}", {"kind": "category", "domain": 5}, 0.5),
        ("*", {"kind": "category", "domain": 5}, 1.0),
        (r"\*", {"kind": "category", "domain": 5}, 0.0),
        ("*", {"kind": "category", "domain": 1}, 0.0),
        ("Blue", {**TREE, "weights": {"Blue": 3}}, 0.5),
        ("Mover", {**TREE, "weights": {"Blue": 3}}, 0.0),
        ("[1-9)", {**TREE, "weights": {"[1-9)": 2}}, 0.25),
        ("[1-4)", {"kind": "numeric", "domain": 5, "labels": "hierarchy", "weights": {}}, 0.5),
        ("*", TREE, 1.0),
    ],
)
def test_loss_of_one_cell(
    make_release: MakeRelease,
    entry: Entry,
    cell: str | None,
    attribute: dict[str, Any],
    loss: float,
) -> None:
    release = make_release({"x": [cell]}, [entry("x", **attribute)])
    found = ncp(release)
    assert found.total == pytest.approx(loss)
    assert found.per_attribute == {"x": pytest.approx(loss)}


def test_suppressed_records_lose_everything_and_dropped_ones_do_not_count(
    make_release: MakeRelease, entry: Entry
) -> None:
    release = make_release(
        {"age": ["30", "[30-41)"], "sex": ["F", "*"], "note": ["a", "b"]},
        [
            entry("age", "numeric", 11),
            entry("sex", "category", 2),
            {"name": "note", "role": "keep", "published": True},
        ],
        suppressed=2,
        missing_dropped=6,
    )
    found = ncp(release)
    assert found.per_attribute == {"age": 0.75, "sex": 0.75}
    assert found.total == 0.75
    assert found.as_dict() == {"total": 0.75, "per_attribute": {"age": 0.75, "sex": 0.75}}


def test_a_saved_release_gives_the_same(
    make_release: MakeRelease, save_release: SaveRelease, entry: Entry, tmp_path: Path
) -> None:
    release = make_release({"sex": [None, "*", "F"]}, [entry("sex", "category", 3)], suppressed=1)
    assert ncp(save_release(release, tmp_path / "release")) == ncp(release)


numbers = st.tuples(st.integers(0, 20), st.integers(1, 8)).map(
    lambda pair: (f"[{pair[0]}-{pair[0] + pair[1]})", pair[1])
)
plain = st.integers(0, 20).map(lambda value: (str(value), 1))
letters = st.lists(st.sampled_from("abcdef"), min_size=2, max_size=4, unique=True).map(
    lambda members: ("{" + "|".join(members) + "}", len(members))
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(
        st.tuples(
            numbers | plain | st.just(("*", 29)) | st.just((None, 1)),
            letters | st.just(("a", 1)) | st.just(("*", 6)) | st.just(("vowel", 2)),
        ),
        min_size=1,
        max_size=12,
    ),
    suppressed=st.integers(0, 4),
)
def test_ncp_equals_a_plain_loop(
    make_release: MakeRelease,
    entry: Entry,
    rows: list[tuple[tuple[str | None, int], tuple[str, int]]],
    suppressed: int,
) -> None:
    hierarchy = {"labels": "hierarchy", "weights": {"vowel": 2}}
    release = make_release(
        {"age": [row[0][0] for row in rows], "letter": [row[1][0] for row in rows]},
        [entry("age", "numeric", 29), entry("letter", "category", 6, **hierarchy)],
        suppressed=suppressed,
    )
    records = len(rows) + suppressed
    ages = (sum((row[0][1] - 1) / 28 for row in rows) + suppressed) / records
    letter = (sum((row[1][1] - 1) / 5 for row in rows) + suppressed) / records
    found = ncp(release)
    assert found.per_attribute == {"age": pytest.approx(ages), "letter": pytest.approx(letter)}
    assert found.total == pytest.approx((ages + letter) / 2)


@pytest.mark.parametrize(
    ("cells", "attribute", "number"),
    [
        (["Secret", "*", "Other"], {"kind": "category", "labels": "hierarchy"}, 2),
        (["Secret"], {"kind": "category", "labels": "hierarchy", "weights": {"Secret": "x"}}, 1),
        (["Secret"], {"kind": "category", "labels": "hierarchy", "weights": {"Secret": 0}}, 1),
        (["[1-2)", "a"], {"kind": "category"}, 1),
        (["[1950-01-01-1951-01-01)"], {"kind": "numeric"}, 1),
        (["[5-2)"], {"kind": "numeric"}, 1),
        (["[1-2)"], {"kind": "numeric", "decimals": "?"}, 1),
    ],
)
def test_labels_without_a_weight_are_counted_not_shown(
    make_release: MakeRelease,
    entry: Entry,
    cells: list[str],
    attribute: dict[str, Any],
    number: int,
) -> None:
    release = make_release({"job": cells}, [entry("job", domain=5, **attribute)])
    with pytest.raises(InputError) as caught:
        ncp(release)
    message = str(caught.value)
    assert f"'job': {number} of {len(cells)} different labels have no known weight" in message
    assert "Secret" not in message


@pytest.mark.parametrize("domain", [None, 0, "5", True])
def test_a_manifest_without_a_domain_is_refused(
    make_release: MakeRelease, entry: Entry, domain: int | str | None
) -> None:
    release = make_release({"job": ["a"]}, [entry("job", "category", domain)])
    with pytest.raises(InputError, match="no domain of 'job'"):
        ncp(release)


def test_a_release_that_does_not_fit_its_manifest_is_refused(
    make_release: MakeRelease, entry: Entry
) -> None:
    release = make_release({"sex": ["F"]}, [entry("sex", "category", 2)])
    release.manifest["records"]["published"] = 7
    with pytest.raises(InputError, match="has 1 records, but its manifest states 7"):
        ncp(release)


def test_a_release_without_a_described_column_is_refused(
    make_release: MakeRelease, entry: Entry
) -> None:
    release = make_release({"sex": ["F"]}, [entry("sexe", "category", 2)])
    with pytest.raises(InputError, match=r"lacks the column 'sexe'.*Did you mean 'sex'\?"):
        ncp(release)


def test_a_release_without_quasi_identifiers_is_refused(make_release: MakeRelease) -> None:
    release = make_release({"a": ["x"]}, [{"name": "a", "role": "keep", "published": True}])
    with pytest.raises(InputError, match="no quasi-identifier"):
        ncp(release)


def test_a_release_without_records_is_refused(make_release: MakeRelease, entry: Entry) -> None:
    release = make_release({"sex": []}, [entry("sex", "category", 2)], suppressed=3)
    with pytest.raises(InputError, match="no published records"):
        ncp(release)


def test_a_manifest_without_counts_is_refused(make_release: MakeRelease, entry: Entry) -> None:
    release = make_release({"sex": ["F"]}, [entry("sex", "category", 2)])
    del release.manifest["records"]["source"]
    with pytest.raises(InputError, match="no count of source"):
        ncp(release)
    del release.manifest["records"]
    with pytest.raises(InputError, match="lacks 'records' or 'attributes'"):
        ncp(release)


def test_a_folder_that_is_no_release_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a release"):
        ncp(tmp_path)
