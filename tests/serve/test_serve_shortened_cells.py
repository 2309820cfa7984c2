"""Cells in the tables of the page."""

from __future__ import annotations

import pytest

from incrowd.serve.pages._result_tables import shortened

LONG = "x" * 40


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        (None, None),
        ("{a|b|c}", "{a|b|c}"),
        (rf"{{A\|B|C|{LONG}}}", r"{A\|B|C|… 3 values}"),
        (rf"{{A\|B|{LONG}}}", rf"{{A\|B|{LONG}"[:39] + "…"),
        (rf"{{A|B\}}|{LONG}}}", r"{A|B\}|… 3 values}"),
    ],
)
def test_long_sets_show_two_members_and_how_many_they_have(
    cell: str | None, shown: str | None
) -> None:
    assert shortened(cell) == shown
