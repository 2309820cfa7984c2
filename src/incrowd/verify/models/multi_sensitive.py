"""K-anonymity and L-diversity over several sensitive attributes at once.

Every group holds at least k records, and whoever rules out sensitive values of any attribute must
rule out at least l of them before no record of the group is left. With limits on attributes, at
most so many of these values may be of each; a group that cannot be emptied within them holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from incrowd.errors import EngineError
from incrowd.verify.counting.groups import ApartError, PublishedGroups, UnjudgeableError
from incrowd.verify.models._declaration import Judge, Parameters, idle
from incrowd.verify.models._separate_tables import values_apart
from incrowd.verify.models.base import Judgement, jointly, listed_columns, partly, whole
from incrowd.verify.verdict import counted, shown

if TYPE_CHECKING:
    from incrowd._runtime.arrays import IntArray
    from incrowd.verify.counting.cover_loops import GroupRows
    from incrowd.verify.files.layout import Promise

ROWS_AT_ONCE = 5_000_000
"""The records whose rows are held in codes at a time, unless a single group has more."""


def judge(promise: Promise, groups: PublishedGroups) -> Judgement:
    """Judge it: measures the least size as `k`, the fewest deletions that empty a group as `l`.

    `l` is None where no group can be emptied within the limits. The deletions are counted exactly,
    however the release was made.

    References
    ----------
    Gal, Chen, Gangopadhyay (2008), definitions 6 and 7.
    """
    k = whole(promise.parameters, "k")
    least = whole(promise.parameters, "l")
    sensitive = listed_columns(promise.parameters)
    limits = _read_limits(promise.parameters, sensitive)
    try:
        fewest, failing = _judge_groups(groups, sensitive, limits, least, k)
    except ApartError:
        return _judge_apart(groups, sensitive, limits, least, k)
    except MemoryError:
        raise EngineError(
            "Not enough memory to count deletions while judging the release. Free memory, then"
            " try again."
        ) from None
    names = ", ".join(shown(name) for name in sensitive)
    needed = (
        f"no group can be emptied within the limits on {names}"
        if fewest is None
        else f"{counted(fewest, 'value')} of {names} must be deleted to empty the least diverse one"
    )
    sentence = (
        f"the smallest group has {counted(groups.smallest, groups.one)}, promised at least {k:,},"
        f" and {needed}, promised at least {least:,}"
    )
    alone = {"k": groups.smallest}
    return jointly(failing, groups, sentence, {**alone, "l": fewest}, alone)


def _judge_apart(
    groups: PublishedGroups, sensitive: Sequence[str], limits: Mapping[str, int], least: int, k: int
) -> Judgement:
    """Judge what attributes show apart: deleting all values of any one empties a group, too."""
    enough = {name: min(least, limits.get(name, least) + 1) for name in sensitive}
    fewest, failing = values_apart(groups, sensitive, enough, k)
    sentence = (
        f"the smallest group has {counted(groups.smallest, groups.one)}, promised at least {k:,},"
        f" and the least diverse one {counted(fewest, 'value')} of one of"
        f" {', '.join(shown(name) for name in sensitive)}"
    )
    return partly(failing, groups, sentence, {"k": groups.smallest})


def _read_limits(parameters: Parameters, sensitive: Sequence[str]) -> dict[str, int]:
    """Return how many values of an attribute may be deleted, for those that have a limit."""
    value = parameters.get("limits")
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise UnjudgeableError("the parameter 'limits' must give a number for some attributes")
    if not value.keys() <= {*sensitive}:
        raise UnjudgeableError("the parameter 'limits' names a column that is not in 'sensitive'")
    return {name: whole({"limits": each}, "limits", 0) for name, each in value.items()}


def _judge_groups(
    groups: PublishedGroups, sensitive: Sequence[str], limits: Mapping[str, int], least: int, k: int
) -> tuple[int | None, int]:
    """Return the fewest deletions that empty a group, and how many groups need too few.

    Groups with fewer than `k` records are among these.
    """
    import numpy as np

    from incrowd.verify.counting.cover_loops import NEVER
    from incrowd.verify.counting.covers import fewest_deletions

    smallest, failing = NEVER, 0
    for sizes, cells in _coded(groups, sensitive, limits):
        found = fewest_deletions(cells, least, smallest)
        smallest = min(smallest, int(found.min()))
        failing += int(np.count_nonzero((found < least) | (sizes < k)))
    return None if smallest >= NEVER else smallest, failing


def _coded(
    groups: PublishedGroups, sensitive: Sequence[str], limits: Mapping[str, int]
) -> Iterator[tuple[IntArray, GroupRows]]:
    """Give the sizes of some groups after the other, with their distinct rows in codes."""
    import numpy as np

    from incrowd.verify.counting.cover_loops import NEVER, GroupRows

    groups.together(sensitive)
    names = [f"v{number}" for number in range(len(sensitive))]
    for name, attribute in zip(names, sensitive, strict=True):
        groups.connection.execute(f"DROP TYPE IF EXISTS label_{name}")
        groups.connection.execute(f"CREATE TYPE label_{name} AS ENUM ({groups.labels(attribute)})")
    lasts = [f"enum_code(enum_last(NULL::label_{name})::label_{name})" for name in names]
    first_codes = np.cumsum([0, *(last + 1 for last in groups.row(f"SELECT {', '.join(lasts)}"))])
    many = int(first_codes[-1])
    dtype = np.int32 if many < 2**31 else np.int64
    allowed = np.array([limits.get(attribute, NEVER) for attribute in sensitive], np.int64)
    codes = ", ".join(f"enum_code({name}::label_{name}) AS {name}" for name in names)
    sizes = groups.connection.execute("SELECT n FROM groups ORDER BY g").fetchnumpy()["n"]
    ends = np.cumsum(sizes)
    first = 0
    while first < groups.count:
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + ROWS_AT_ONCE, "right")))
        fetched = groups.connection.execute(
            f"SELECT g, {codes} FROM"
            f" ({groups.together(sensitive, f'g > {first} AND g <= {last}')}) ORDER BY g"
        ).fetchnumpy()
        values = np.empty((len(fetched["g"]), len(names)), dtype)
        for at, name in enumerate(names):
            values[:, at] = fetched[name]
            values[:, at] += int(first_codes[at])
        starts = np.searchsorted(fetched["g"], np.arange(first + 1, last + 2)).astype(np.int64)
        yield sizes[first:last], GroupRows(values, starts, allowed, many)
        first = last


JUDGE = Judge(
    "multi-sensitive",
    ("k", "l", "sensitive", "limits", "check"),
    judge,
    idle(most={"k": 1, "l": 1}),
)
