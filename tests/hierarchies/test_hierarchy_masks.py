"""Codes whose characters are masked one by one."""

from __future__ import annotations

import pytest
from coded_columns import assert_is_a_tree, cells, coded, paths, weighed

from incrowd.errors import HierarchyError
from incrowd.hierarchies import mask

ZIPS = ["14248", "14249", "14301", "90210"]


def test_characters_are_masked_from_the_right() -> None:
    before = ["90210", "14249", "14301", "14248", "14249"]
    column, hierarchy = mask(coded(before), length=5)
    assert paths(column, hierarchy)["14248"] == ("1424*", "142**", "14***", "1****", "*")
    assert weighed(hierarchy) == [
        {"1424*": 2, "1430*": 1, "9021*": 1},
        {"142**": 2, "143**": 1, "902**": 1},
        {"14***": 3, "90***": 1},
        {"1****": 3, "9****": 1},
        {"*": 4},
    ]
    assert cells(column) == before
    assert hierarchy.kind == "mask"
    assert_is_a_tree(column, hierarchy)


def test_characters_are_masked_from_the_left() -> None:
    column, hierarchy = mask(coded(["A17", "B17", "C28"]), length=3, direction="left")
    assert paths(column, hierarchy) == {
        "A17": ("*17", "**7", "*"),
        "B17": ("*17", "**7", "*"),
        "C28": ("*28", "**8", "*"),
    }
    assert_is_a_tree(column, hierarchy)


def test_values_that_meet_only_at_the_end_are_brought_together() -> None:
    column, hierarchy = mask(coded(["A1", "B2", "C1"]), length=2, direction="left")
    assert column.values == ("A1", "C1", "B2")
    assert hierarchy.labels[1] == ("*1", "*2")


def test_numbers_are_masked_as_texts_and_lose_their_order() -> None:
    before = ["90210", "14248", None]
    column, hierarchy = mask(coded(before, "numeric"), length=5)
    assert column.kind == "category"
    assert column.numbers is None
    assert cells(column) == before
    assert paths(column, hierarchy)[None] == ("", "", "", "", "*")
    assert_is_a_tree(column, hierarchy)


def test_a_mask_of_one_character_a_single_value_and_no_value() -> None:
    column, hierarchy = mask(coded(["a", "b"]), length=1)
    assert paths(column, hierarchy) == {"a": ("*",), "b": ("*",)}
    column, hierarchy = mask(coded(["ab"]), length=2)
    assert_is_a_tree(column, hierarchy)
    column, hierarchy = mask(coded([None]), length=2)
    assert_is_a_tree(column, hierarchy)


def test_codes_of_another_length_are_counted_and_never_shown() -> None:
    with pytest.raises(HierarchyError) as caught:
        mask(coded(["14248", "1424", "1424", "142480", None]), length=5)
    message = str(caught.value)
    assert "2 distinct values (3 records, the first is record 2)" in message
    assert "the mask of length 5" in message
    assert "1424 " not in message
    assert "142480" not in message
