"""What steps tell about a group is what every way of dealing its records to them has in common."""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from incrowd.report.telling import Steps, safe_runs

GROUPS = st.lists(
    st.tuples(st.integers(1, 3), st.lists(st.booleans(), min_size=3, max_size=3).filter(any)),
    min_size=1,
    max_size=4,
)


def ways(groups: list[tuple[int, list[bool]]]) -> list[list[tuple[int, ...]]]:
    """Every way to put the records of each group into the steps that its label reaches."""
    each = []
    for size, reached in groups:
        open_ = [range(size + 1) if step else range(1) for step in reached]
        each.append([counts for counts in product(*open_) if sum(counts) == size])
    return [list(way) for way in product(*each)]


@given(GROUPS, st.integers(0, 2), st.data())
def test_a_step_tells_exactly_when_a_group_must_have_records_in_it(
    groups: list[tuple[int, list[bool]]], step: int, data: st.DataObject
) -> None:
    truth = data.draw(st.sampled_from(ways(groups)))
    before = [sum(counts[at] for counts in truth) for at in range(3)]
    possible = [way for way in ways(groups) if sum(each[step] for each in way) == before[step]]
    sizes = np.array([size for size, _ in groups], dtype=np.float64)
    reaches = np.array([reached for _, reached in groups])
    steps = Steps(np.array(before, dtype=np.float64), reaches, sizes, sizes)
    wider = [at for at, (_, reached) in enumerate(groups) if reached[step] and sum(reached) > 1]
    must = any(min(way[at][step] for way in possible) > 0 for at in wider)
    assert steps.tell(np.arange(3) == step) == must


@given(GROUPS, st.data())
def test_what_is_left_after_joining_tells_nothing(
    groups: list[tuple[int, list[bool]]], data: st.DataObject
) -> None:
    truth = data.draw(st.sampled_from(ways(groups)))
    before = np.array([sum(counts[at] for counts in truth) for at in range(3)], dtype=np.float64)
    sizes = np.array([size for size, _ in groups], dtype=np.float64)
    steps = Steps(before, np.array([reached for _, reached in groups]), sizes, sizes)
    runs = safe_runs(steps, 3)
    if runs is None:
        return
    assert runs[0][0] == 0
    assert [end for _, end in runs] == [*(first for first, _ in runs[1:]), 3]
    joined = steps.joined(runs)
    many = len(runs)
    for first in range(many):
        for end in range(first + 1, many + 1):
            if end - first < many:
                chosen = (np.arange(many) >= first) & (np.arange(many) < end)
                assert not joined.tell(chosen)
