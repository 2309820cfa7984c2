"""What every judge of a model shares: what it finds, and how it reads the promised parameters."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace

from incrowd.verify.counting.groups import PublishedGroups, UnjudgeableError
from incrowd.verify.models._declaration import Parameters
from incrowd.verify.verdict import Measured, counted

SLACK = 1e-9
"""Promised numbers are met when they are missed by no more than this."""


@dataclass(frozen=True)
class Judgement:
    """What a judge found: the number of failing groups, a sentence, and what it measured.

    `whole` is False where the tables at hand show only a part of what is promised. `alone` is what
    the files alone measure, where the original was needed to measure the rest.
    """

    groups_failing: int
    detail: str
    measured: Measured
    whole: bool = True
    alone: Measured | None = None

    @property
    def holds(self) -> bool | None:
        """Whether no group breaks the promise; None where that is not the whole promise."""
        if self.groups_failing:
            return False
        return True if self.whole else None


def judgement(
    failing: int, groups: PublishedGroups, sentence: str, measured: Measured
) -> Judgement:
    """Return a judgement that also tells how many groups fail."""
    fails = "fails" if failing == 1 else "fail"
    suffix = f" ({failing:,} of {counted(groups.count, 'group')} {fails})" if failing else ""
    return Judgement(failing, sentence + suffix, {**measured, "groups_failing": failing})


def jointly(
    failing: int, groups: PublishedGroups, sentence: str, measured: Measured, alone: Measured
) -> Judgement:
    """Return the judgement on a joint promise; `alone` is what `partly` measures of it."""
    beside = groups.joint is not None and not groups.joint.published
    found = judgement(failing, groups, sentence, measured)
    return replace(found, alone=alone) if beside else found


def partly(failing: int, groups: PublishedGroups, sentence: str, measured: Measured) -> Judgement:
    """Return the judgement on what tables apart from the records show of a joint promise."""
    if not failing:
        sentence += (
            "; which values belong together is not published, so the rest can be judged only with"
            " the original (--original)"
        )
    found = judgement(failing, groups, sentence, {})
    return Judgement(failing, found.detail, measured, whole=False)


def kind_of(parameters: Parameters, kinds: Collection[str]) -> str:
    """Return the parameter `kind`, which must be one of those given."""
    kind = parameters.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        raise UnjudgeableError(f"the parameter 'kind' must be one of {', '.join(kinds)}")
    return kind


def whole(parameters: Parameters, name: str, least: int = 1) -> int:
    """Return a parameter that must be a whole number of at least `least`."""
    value = number(parameters, name, least)
    if value != int(value):
        raise UnjudgeableError(f"the parameter '{name}' must be a whole number")
    return int(value)


def number(parameters: Parameters, name: str, least: float, most: float = math.inf) -> float:
    """Return a parameter that must be a number from `least` to `most`."""
    value = parameters.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise UnjudgeableError(f"the parameter '{name}' must be a number")
    # Beyond 2^53 whole numbers and floats no longer agree, and no table is that large.
    if not least <= value <= min(most, 2.0**53):
        upto = "up to 2^53" if most == math.inf else f"to {most:g}"
        raise UnjudgeableError(f"the parameter '{name}' must be a number from {least:g} {upto}")
    return value


def column(parameters: Parameters, name: str = "sensitive") -> str:
    """Return a parameter that must name a column."""
    value = parameters.get(name)
    if not isinstance(value, str):
        raise UnjudgeableError(f"the parameter '{name}' must name a column")
    return value


def listed_values(parameters: Parameters, name: str = "values") -> list[str] | None:
    """Return a parameter that must be a list of values, or None for all values."""
    value = parameters.get(name)
    if value is None:
        return None
    if not isinstance(value, list) or not value or not all(isinstance(v, str) for v in value):
        raise UnjudgeableError(f"the parameter '{name}' must be a list of values, or null")
    return value


def listed_columns(parameters: Parameters, name: str = "sensitive") -> list[str]:
    """Return a parameter that must be a list of different columns, one or more."""
    value = parameters.get(name)
    if not isinstance(value, list) or not value or not all(isinstance(v, str) for v in value):
        raise UnjudgeableError(f"the parameter '{name}' must be a list of columns")
    if len({*value}) != len(value):
        raise UnjudgeableError(f"the parameter '{name}' names one column twice")
    return value
