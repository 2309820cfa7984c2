"""Cells in the tables of a terminal."""

from __future__ import annotations

import pytest

from incrowd.cli.output.releases import shortened


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        (None, "(missing)"),
        ("{a|b}", "{a|b}"),
        ("{a|b|c}", "{3 values}"),
        (r"{a\|b|c}", r"{a\|b|c}"),
        (r"{a\|b|c|d}", "{3 values}"),
        (r"\{a|b|c}", r"\{a|b|c}"),
        ("{a|b|c", "{a|b|c"),
        ("x" * 40, "x" * 27 + "…"),
    ],
)
def test_long_sets_show_how_many_members_they_have(cell: str | None, shown: str) -> None:
    assert shortened(cell) == shown
