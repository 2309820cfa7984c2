"""The worked examples of Gal, Chen, Gangopadhyay (2008): several sensitive attributes at once.

One place of the text is not followed, and tested as such: Split (fig. 5) loses the records of a
half that does not hold when the other half does.
"""

from __future__ import annotations

import itertools
import random
import statistics
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd
from incrowd.errors import PrivacyError
from incrowd.privacy import KAnonymity, LDiversity, Measurement, MultiSensitive
from incrowd.privacy.counting import deletions

Row = tuple[str, str]
Record = dict[str, Any]
BOTH = ["disease", "treatment"]
FIGURE_1: list[Row] = [
    ("Heart disease", "Medicine"),
    ("Heart disease", "Surgery"),
    ("Flu", "IV"),
    ("Stomach disease", "IV"),
]
AGES = [42, 41, 49, 43]
FIGURE_4: list[Row] = [
    ("D1", "T1"), ("D2", "T1"), ("D3", "T2"), ("D4", "T2"), ("D5", "T3"), ("D6", "T3"),
]  # fmt: skip
LIMITS = {"disease": 4, "treatment": 2}
START = [("D1", "T1"), ("D3", "T2"), ("D5", "T3")]
FIGURE_8 = [
    # The rows collected, the values most frequent in them, their frequencies, what is proved.
    (START, ["D1", "D3", "D5"], [1, 1, 1], 3),
    ([*START, ("D2", "T1")], ["T1", "T2", "D1"], [2, 1, 1], 3),
    ([*START, ("D2", "T1"), ("D4", "T2")], ["T1", "T2", "D1"], [2, 2, 1], 3),
    (
        [*START, ("D2", "T1"), ("D4", "T2"), ("D6", "T3")],
        ["T1", "T2", "D1", "D2"],
        [2, 2, 1, 1],
        4,
    ),
]


def one_group(rows: Sequence[Row], **parameters: Any) -> Measurement:
    frame = pl.DataFrame([("[41-50)", *row) for row in rows], schema=["age", *BOTH], orient="row")
    return MultiSensitive(k=len(rows), sensitive=BOTH, **parameters).check(frame, quasi=["age"])


def fewest(rows: Sequence[Row], limits: dict[str, int] | None = None) -> int:
    """The fewest values, no more of an attribute than its limit, of which each row holds one."""
    values = sorted({(a, cell) for row in rows for a, cell in enumerate(row)})
    most = [(limits or {}).get(name, len(rows)) for name in BOTH]
    return next(
        number
        for number in range(len(values) + 1)
        for chosen in itertools.combinations(values, number)
        if all(sum(b == a for b, _ in chosen) <= most[a] for a in range(2))
        and all(any((a, cell) in chosen for a, cell in enumerate(row)) for row in rows)
    )


# --- figure 1


def test_each_attribute_of_figure_1_is_3_diverse_and_both_together_are_2_diverse() -> None:
    frame = pl.DataFrame(
        [("[41-50)", *row) for row in FIGURE_1], schema=["age", *BOTH], orient="row"
    )
    assert KAnonymity(k=4).check(frame, quasi=["age"]).holds
    for name in BOTH:
        assert LDiversity(l=3, sensitive=name).check(frame, quasi=["age"]).numbers["l"] == 3
        model = MultiSensitive(k=4, l=3, sensitive=name)  # type: ignore[arg-type]
        alone = model.check(frame, quasi=["age"])
        assert (alone.holds, alone.numbers) == (True, {"k": 4, "l": 3})
    assert fewest(FIGURE_1) == 2  # Heart disease and IV
    for l, holds in ((2, True), (3, False)):  # noqa: E741
        for how in ("greedy", "exact"):
            found = one_group(FIGURE_1, l=l, check=how)
            assert (found.holds, found.numbers) == (holds, {"k": 4, "l": 2})


def test_greedy_collects_rows_1_and_3_of_figure_1() -> None:
    """All total frequencies are 3; row 2 shares the disease with row 1, row 4 IV with row 3."""
    assert [proved([FIGURE_1], most, free=True) for most in (1, 2, 3)] == [[1], [2], [2]]


def test_figure_1_is_released_as_figure_2() -> None:
    frame = pl.DataFrame(FIGURE_1, schema=BOTH, orient="row").with_columns(pl.Series("age", AGES))

    def policy(l: int) -> dict[str, Any]:  # noqa: E741
        return {
            "attributes": {"age": "quasi", "disease": "sensitive", "treatment": "sensitive"},
            "privacy": [{"multi-sensitive": {"k": 4, "l": l, "sensitive": BOTH}}],
        }

    release = incrowd.anonymize(frame, policy(2), accept_unprotected=True)
    assert release.data["age"].to_list() == ["[41-50)"] * 4
    assert sorted(release.data.select(BOTH).rows()) == sorted(FIGURE_1)
    with pytest.raises(PrivacyError, match=r"reaches only multi-sensitive \(k = 4, l = 2\)"):
        incrowd.anonymize(frame, policy(3), accept_unprotected=True)


# --- figures 4 and 8


def test_figure_4_is_3_diverse_and_4_diverse_with_limits() -> None:
    assert fewest(FIGURE_4) == 3  # T1, T2, T3
    assert fewest(FIGURE_4, LIMITS) == 4  # T1, T2, D5, D6
    for how in ("greedy", "exact"):
        assert one_group(FIGURE_4, l=3, check=how).holds
        free = one_group(FIGURE_4, l=4, check=how)
        assert (free.holds, free.numbers["l"]) == (False, 3)
        limited = one_group(FIGURE_4, l=4, limits=LIMITS, check=how)
        assert (limited.holds, limited.numbers["l"]) == (True, 4)
        assert not one_group(FIGURE_4, l=5, limits=LIMITS, check=how).holds
        # Theorem 2: what holds without limits holds with them; the reverse is false, as above.
        assert one_group(FIGURE_4, l=3, limits={"treatment": 2}, check=how).holds


def proved(groups: Sequence[Sequence[Row]], needed: int, *, free: bool = False) -> list[int]:
    """What the kernels prove: figure 6 without limits, figure 7 with those of figure 4."""
    values = sorted({(a, cell) for rows in groups for row in rows for a, cell in enumerate(row)})
    members = [row for rows in groups for row in rows]
    numbers = [[values.index((a, cell)) for a, cell in enumerate(row)] for row in members]
    given = (
        np.cumsum([0, *map(len, groups)]),
        np.arange(len(members)),
        np.ones(len(members), np.int64),
        np.array(numbers, np.int64),
        len(values),
        needed,
    )
    if free:
        return list(deletions.independent(*given).tolist())
    limits = np.array([LIMITS[name] for name in BOTH])
    return list(deletions.with_limits(*given, limits).tolist())


def test_the_four_steps_of_figure_8() -> None:
    for rows, selected, frequencies, number in FIGURE_8:
        counted = Counter(cell for row in rows for cell in row)
        assert [counted[value] for value in selected] == frequencies
        assert len(selected) == number
        # No value left out is more frequent, but for T3, a third treatment.
        left = set(counted) - set(selected)
        assert all(counted[v] <= frequencies[-1] for v in left if v[0] == "D" or number < 4)
        assert sum(frequencies) <= len(rows)  # theorem 6
        assert fewest(rows, LIMITS) == number
    steps = [rows for rows, *_ in FIGURE_8]
    assert proved(steps, 4) == proved(steps, 5) == [3, 3, 3, 4]
    assert proved(steps, 4, free=True) == [3, 3, 3, 3]
    assert proved([FIGURE_4], 4) == [4]
    assert proved([FIGURE_4], 3) == [3]
    assert all(len(set(column)) == 3 for column in zip(*START, strict=True))  # theorem 4


# --- figure 5


def published_split(
    group: list[Record], whole: list[Record], quasi: Sequence[str], k: int
) -> list[list[Record]]:
    """Split as printed, for l = 2 (with G for T in line 10)."""

    def width(name: str) -> float:
        cells = [record[name] for record in group]
        spread = statistics.pstdev(record[name] for record in whole)
        return float((max(cells) - min(cells)) / spread)

    name = max(quasi, key=width)
    value = statistics.median_low(record[name] for record in group)
    halves = [
        [record for record in group if record[name] <= value],
        [record for record in group if record[name] > value],
    ]
    good = [half for half in halves if satisfies(half, k, 2)]
    if not good:
        return [group]
    return [part for half in good for part in published_split(half, whole, quasi, k)]


def satisfies(group: Sequence[Record], k: int, l: int) -> bool:  # noqa: E741
    return len(group) >= k and fewest([(r["disease"], r["treatment"]) for r in group]) >= l


def patients(rows: Sequence[Row], **quasi: Sequence[int]) -> list[Record]:
    return [
        {
            "id": f"p{number + 1:02}",
            **{name: cells[number] for name, cells in quasi.items()},
            "disease": row[0],
            "treatment": row[1],
        }
        for number, row in enumerate(rows)
    ]


def groups_of_release(records: list[Record], quasi: Sequence[str], k: int) -> list[list[Record]]:
    """The records of each published group, known by their ids."""
    roles = {**dict.fromkeys(quasi, "quasi"), **dict.fromkeys(BOTH, "sensitive"), "id": "keep"}
    release = incrowd.anonymize(
        pl.DataFrame(records),
        {
            "attributes": roles,
            "privacy": [{"multi-sensitive": {"k": k, "l": 2, "sensitive": BOTH}}],
            "method": {"name": "mondrian", "split": "median"},
        },
        accept_unprotected=True,
    )
    assert release.data.height == len(records)
    found: dict[tuple[Any, ...], list[Record]] = {}
    by_id = {record["id"]: record for record in records}
    for row in release.data.iter_rows(named=True):
        found.setdefault(tuple(row[name] for name in quasi), []).append(by_id[row["id"]])
    return list(found.values())


def ids(groups: Sequence[Sequence[Record]]) -> list[str]:
    return sorted(record["id"] for group in groups for record in group)


# Three patients that differ, then five alike: no half of the five alone is 2-diverse.
EIGHT: list[Row] = [
    ("Heart disease", "Medicine"), ("Stomach disease", "Surgery"), ("Cold", "Rest"),
    *[("Flu", "IV")] * 5,
]  # fmt: skip


def test_split_as_published_loses_half_of_the_patients_and_here_the_group_stays_whole() -> None:
    records = patients(EIGHT, age=range(1, 9))
    printed = published_split(records, records, ["age"], 4)
    assert ids(printed) == ["p01", "p02", "p03", "p04"]
    (whole,) = groups_of_release(records, ["age"], 4)
    assert ids([whole]) == ids([records])
    assert satisfies(whole, 4, 2)


def test_the_next_widest_attribute_is_cut_where_the_widest_loses_patients() -> None:
    records = patients(EIGHT, age=range(1, 9), zip=[1, 2, 5, 3, 4, 6, 7, 8])
    assert ids(published_split(records, records, ["age", "zip"], 4)) == ["p01", "p02", "p03", "p04"]
    groups = groups_of_release(records, ["age", "zip"], 4)
    assert sorted(map(ids, ([group] for group in groups))) == [
        ["p01", "p02", "p04", "p05"],
        ["p03", "p06", "p07", "p08"],
    ]
    assert all(satisfies(group, 4, 2) for group in groups)


def test_every_patient_is_in_exactly_one_group() -> None:
    lost = parted = 0
    for seed in range(40):
        draw = random.Random(seed)
        number, k = draw.randint(6, 30), draw.randint(2, 4)
        rows = [(draw.choice("aab"), draw.choice("xxxyz")) for _ in range(number)]
        ages, zips = (draw.sample(range(100), number) for _ in range(2))
        records = patients(rows, age=ages, zip=zips)
        if not satisfies(records, k, 2):
            continue
        groups = groups_of_release(records, ["age", "zip"], k)
        assert ids(groups) == ids([records])
        assert all(satisfies(group, k, 2) for group in groups), seed
        parted += len(groups) > 1
        lost += len(ids(published_split(records, records, ["age", "zip"], k))) < number
    assert parted > 20
    assert lost > 20
