"""Lists of names in sentences."""

import pytest

from incrowd._runtime.sentences import listed


@pytest.mark.parametrize(
    ("names", "most", "told"),
    [
        ([], None, ""),
        (["a"], 1, "'a'"),
        (["a", "b"], None, "'a' and 'b'"),
        (["a", "b", "c"], 3, "'a', 'b' and 'c'"),
        (["a", "b", "c"], 2, "'a', 'b' and 1 more"),
    ],
)
def test_names_are_listed_as_in_a_sentence(names: list[str], most: int | None, told: str) -> None:
    assert listed(names, most) == told


def test_what_stands_between_names_may_be_other_than_a_comma() -> None:
    assert listed(["a, b", "c"], quoted=False, between="; ", last="; ") == "a, b; c"
    assert listed((str(n) for n in range(1002)), 1, quoted=False) == "0 and 1,001 more"
