"""The numbers that a manifest states about its own files, against those measured now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from incrowd.verify.models import JUDGES
from incrowd.verify.models.base import SLACK
from incrowd.verify.verdict import STATED, Finding, Measured, counted, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from incrowd.verify.files.layout import Layout, Promise


def title(promise: Promise) -> str:
    """Return a model with its scalar parameters, as in "l-diversity (l=3, kind=distinct)"."""
    scalars = [
        f"{shown(name)[1:-1]}={shown(str(value))[1:-1]}"
        for name, value in promise.parameters.items()
        if promise.model in JUDGES
        and name in JUDGES[promise.model].parameters
        and isinstance(value, str | int | float)
    ]
    for name in JUDGES[promise.model].values if promise.model in JUDGES else ():
        listed = promise.parameters.get(name)
        if isinstance(listed, list) and not any(isinstance(each, list) for each in listed):
            scalars.append(f"for {counted(len(listed), 'listed value')}")
    title = shown(promise.model)[1:-1]
    return f"{title} ({', '.join(scalars)})" if scalars else title


def judge_stated(layout: Layout, groups: Measured, models: Sequence[Finding]) -> Finding:
    """Return the judgement on the numbers that the manifest itself states.

    Of a promise that could not be judged as a whole, only what was measured is compared.
    """
    problems = []
    if layout.groups is not None and not _agree(layout.groups, groups):
        problems.append("the manifest states other numbers of groups than its files have")
    if layout.measured is not None:
        if len(layout.measured) != len(models):
            problems.append("the manifest does not state one measurement for each promise")
        else:
            wrong = [
                title(promise)
                for promise, stated, found in zip(
                    layout.promises, layout.measured, models, strict=True
                )
                if not _is_right(stated, found)
            ]
            if wrong:
                problems.append(f"the manifest states other measurements of {'; '.join(wrong)}")
    if problems:
        return Finding(STATED, False, "; ".join(problems))
    return Finding(STATED, True, "the manifest states what its files measure")


def _is_right(stated: Mapping[str, Any], found: Finding) -> bool:
    """Return whether a measurement is the stated one, or what the files alone show of it."""
    alone = found.alone is not None and _agree(stated, found.alone)
    return alone or _agree(_comparable(stated, found), found.measured)


def _comparable(stated: Mapping[str, Any], found: Finding) -> Mapping[str, Any]:
    if found.holds is not None:
        return stated
    return {name: value for name, value in stated.items() if name in found.measured}


def _agree(stated: Mapping[str, Any], measured: Measured) -> bool:
    return stated.keys() == measured.keys() and all(
        _same(stated[name], value) for name, value in measured.items()
    )


def _same(stated: object, value: float | None) -> bool:
    if value is None or stated is None:
        return stated is value
    if isinstance(stated, bool) or not isinstance(stated, int | float):
        return False
    # A subtraction would overflow on whole numbers beyond the range of floats.
    margin = SLACK * max(1, abs(value))
    return value - margin <= stated <= value + margin
