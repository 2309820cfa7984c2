"""Domains: the values an attribute may have, where the policy says so and not the data."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from incrowd.errors import PolicyError
from incrowd.hierarchies.explicit import lines_of

if TYPE_CHECKING:
    from incrowd.hierarchies.description import AttributePolicy, Intervals

_MOST = 1_000_000
_REMEDY = (
    "Give it `hierarchy:` with a `tree:` or a file that lists its values, or `intervals:` of whole "
    "numbers"
)


def domain(name: str, asked: AttributePolicy, base: Path) -> list[str]:
    """All values that an attribute may have, as the policy lists them.

    Parameters
    ----------
    name, asked
        The attribute, and what the policy says of it.
    base
        The folder of the policy, for hierarchy files.

    Raises
    ------
    PolicyError
        When the policy does not list them; with what to do about it.

    Notes
    -----
    Of `intervals` the whole numbers are taken, so that no hospital's data decides what is counted.
    """
    hierarchy = asked.hierarchy
    if hierarchy is None or not (hierarchy.tree or hierarchy.file or hierarchy.intervals):
        if asked.order is not None and asked.role != "quasi":
            return list(asked.order)
        besides = "" if asked.role == "quasi" else ", or list them under `order:`"
        raise PolicyError(
            f"attributes.{name}: among hospitals the policy lists the values of every attribute, "
            f"or one hospital's values would show. {_REMEDY}{besides}."
        )
    if hierarchy.intervals is not None:
        return _whole_numbers(name, hierarchy.intervals)
    lines = lines_of(name, hierarchy, base) or []
    return list(dict.fromkeys(line[0].strip() for line in lines))


def _whole_numbers(name: str, asked: Intervals) -> list[str]:
    first, last = math.ceil(asked.start), math.ceil(asked.stop)
    if not 1 <= last - first <= _MOST:
        raise PolicyError(
            f"attributes.{name}: there are {max(last - first, 0):,} whole numbers between its "
            f"start and stop; among hospitals there may be 1 to {_MOST:,}. Take a coarser unit, or "
            "a file that lists its values."
        )
    return [str(number) for number in range(first, last)]
