"""The worked examples of Sun, Li, Wang (2010): twelve patients, four categories of disease.

Three places of the text are not followed, and tested as such: the weights printed for beta = 2 do
not come from equation (1); the text calls Table 7 distinct (3,1)-diverse, which one of its groups
is not; the weight of a group counts every record, as the proof of theorem 1 does.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import polars as pl
import pytest

from incrowd.privacy import LAlphaDiversity, LDiversity, Measurement
from incrowd.privacy._categories import weight_parts

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
    "Table 5": [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]],
    "Table 6": [[1, 2, 3, 9], [5, 6, 7, 8], [4, 10, 11, 12]],
    "Table 7": [[1, 2, 9, 10], [5, 6, 7, 8], [3, 4, 11, 12]],
}
"""The records (numbered as in Table 1) of the groups of each table, found by their diseases."""


def table(name: str) -> pl.DataFrame:
    rows = [
        (f"group {number}", DISEASES[record - 1])
        for number, records in enumerate(GROUPS[name])
        for record in records
    ]
    return pl.DataFrame(rows, schema=["group", "disease"], orient="row")


def diverse(name: str, l: float, alpha: float, **more: Any) -> Measurement:  # noqa: E741
    model = LAlphaDiversity(l=l, alpha=alpha, sensitive="disease", categories=TABLE_4, **more)
    return model.check(table(name), quasi=["group"])


def weight_of(diseases: list[str], **more: Any) -> float:
    frame = pl.DataFrame({"group": ["all"] * len(diseases), "disease": diseases})
    model = LAlphaDiversity(l=1, alpha=0, sensitive="disease", categories=TABLE_4, **more)
    return model.check(frame, quasi=["group"]).numbers["alpha"]


def weights(beta: float) -> list[Fraction]:
    parts = weight_parts(4, beta)
    return [Fraction(part) / Fraction(parts[-1]) for part in parts]


def test_uniform_weights() -> None:
    assert weights(0) == [0, Fraction(1, 3), Fraction(2, 3), 1]
    assert weight_of(["Cancer", "Phthisis", "Asthma", "Flu"]) == 2


def test_sensitivity_weights_are_those_of_the_formula() -> None:
    assert weights(2) == [0, Fraction(36, 49), Fraction(45, 49), 1]
    total = weight_of(["Cancer", "Phthisis", "Asthma", "Flu"], weights={"sensitivity": 2})
    assert total == 130 / 49
    printed: list[Fraction | int] = [0, Fraction(9, 61), Fraction(45, 61), 1]
    assert sum(printed) == Fraction(115, 61)
    assert weights(2) != printed


@pytest.mark.parametrize("beta", [0, 1, 2, 3])
def test_weights_satisfy_equation_1(beta: int) -> None:
    found = weights(beta)
    steps = [b - a for a, b in pairwise(found)]
    between = [Fraction(1, i**beta) for i in (1, 2, 3)]
    assert steps[1] / steps[0] == between[1] / between[0]
    assert steps[2] / steps[1] == between[2] / between[1]


def test_a_weight_counts_every_record() -> None:
    """Theorem 1: six records of weight 1 weigh 6, though they hold one value."""
    assert weight_of(["Flu"] * 6 + ["HIV"] * 6) == 6
    frame = pl.DataFrame({"group": ["all"] * 12, "disease": ["Flu"] * 6 + ["HIV"] * 6})
    model = LAlphaDiversity(l=2, alpha=6, sensitive="disease", categories=[["HIV"], ["Flu"]])
    assert model.check(frame, quasi=["group"]).holds


def test_table_5_is_2_diverse_and_open_to_the_similarity_attack() -> None:
    frame = table("Table 5")
    found = LDiversity(l=2, sensitive="disease").check(frame, quasi=["group"])
    assert found.holds
    assert found.numbers == {"l": 2}
    assert set(DISEASES[:4]) <= set(TABLE_4[0]), "records 1 to 4 are all Top Secret"
    for alpha in (0.001, 1):
        opened = diverse("Table 5", 2, alpha)
        assert not opened.holds
        assert opened.failing == 1
    assert diverse("Table 5", 2, 0).numbers == {"l": 2, "alpha": 0}


def test_table_6_is_distinct_3_1_diverse() -> None:
    found = diverse("Table 6", 3, 1)
    assert found.holds
    assert found.numbers == {"l": 3, "alpha": 1}
    assert not diverse("Table 6", 4, 1).holds
    assert not diverse("Table 6", 3, 1.1).holds
    assert not diverse("Table 6", 2, 1, kind="entropy").holds, "three in four are Top Secret"


def test_table_7_is_entropy_2_2_diverse() -> None:
    found = diverse("Table 7", 2, 2, kind="entropy")
    assert found.holds
    assert found.numbers == {"l": pytest.approx(2), "alpha": 2}
    assert not diverse("Table 7", 2, 2.1, kind="entropy").holds
    assert not diverse("Table 7", 2.1, 2, kind="entropy").holds


def test_table_7_is_not_distinct_3_1_diverse_as_the_text_says() -> None:
    found = diverse("Table 7", 3, 1)
    assert not found.holds
    assert found.failing == 1, "HIV, HIV, Flu, Flu has two values"
    assert diverse("Table 7", 2, 2).holds


def test_recursive_diversity_of_the_tables() -> None:
    """Table 7: two and two of a category, 2 < c 2 for every c above 1; Table 6: 3 < c 1."""
    assert diverse("Table 7", 2, 2, kind="recursive", c=1.01).holds
    assert not diverse("Table 7", 2, 2, kind="recursive", c=1).holds
    assert not diverse("Table 6", 2, 1, kind="recursive", c=3).holds
    found = diverse("Table 6", 2, 1, kind="recursive", c=3.01)
    assert found.holds
    assert found.numbers == {"c": 3, "alpha": 1}
    assert not diverse("Table 5", 2, 0, kind="recursive", c=100).holds


def test_proposition_1_what_is_l_diverse_is_less_diverse_too() -> None:
    for l in (1, 2, 3):  # noqa: E741
        assert diverse("Table 6", l, 1).holds
