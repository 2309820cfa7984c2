"""What a judge declares of its model, so that a promise is read before any record is counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incrowd.verify.counting.groups import PublishedGroups
    from incrowd.verify.files.layout import Promise
    from incrowd.verify.models.base import Judgement

Parameters = Mapping[str, Any]
"""What a manifest promises of a model, not looked at yet."""


def bounding(_parameters: Parameters) -> bool:
    """Return False: whatever the parameters, they bound something."""
    return False


def always(_parameters: Parameters) -> bool:
    """Return True, whatever the parameters are."""
    return True


def idle(
    most: Mapping[str, float] | None = None, least: Mapping[str, float] | None = None
) -> Callable[[Parameters], bool]:
    """Return what tells whether each of these parameters is a number at which it bounds nothing."""

    def told(parameters: Parameters) -> bool:
        def is_number(name: str) -> bool:
            return isinstance(parameters.get(name), int | float)

        return all(
            is_number(name) and parameters[name] <= bound for name, bound in (most or {}).items()
        ) and all(
            is_number(name) and parameters[name] >= bound for name, bound in (least or {}).items()
        )

    return told


def any_value(parameters: Parameters) -> bool:
    """Return whether any value suffices: with l = 1 and, for the recursive kind, any share."""
    recursive = parameters.get("kind") == "recursive"
    return idle(most={"l": 1}, least={"c": 1 + 1e-9} if recursive else {})(parameters)


def events_alone(_parameters: Parameters) -> tuple[bool, bool]:
    """Return that events are known, and nothing of patients themselves."""
    return False, True


def own_and_events(parameters: Parameters) -> tuple[bool, bool]:
    """Return whether attributes and events are known: some are, but where none may be."""
    return parameters.get("attributes") != 0, parameters.get("events") != 0


@dataclass(frozen=True)
class Judge:
    """Who judges a model by the counts of published groups.

    Parameters
    ----------
    name
        The model's name in the manifest.
    parameters
        Its parameters: a promise with others is not kept.
    judge
        What it finds of a promise.
    vacuous
        Whether parameters bound nothing, so that every table would keep the promise.
    values
        Those of its parameters that list values of its column, in lists or lists of lists: what
        they list must stand in the release.
    beside
        What a promise may state beside its parameters, by a parameter and its value.
    over_events
        Whether it may be about an attribute of which a patient holds several values: it is then
        judged value by value, by the share of patients who hold it.
    known
        Whether the attacker of a promise knows anything of patients themselves, and of events; None
        for a model that does not count what may be known of events. Where that may be known, no
        such model is enough.
    """

    name: str
    parameters: tuple[str, ...]
    judge: Callable[[Promise, PublishedGroups], Judgement]
    vacuous: Callable[[Parameters], bool] = bounding
    values: tuple[str, ...] = ()
    beside: Mapping[tuple[str, str], str] = field(default_factory=dict)
    over_events: Callable[[Parameters], bool] = bounding
    known: Callable[[Parameters], tuple[bool, bool]] | None = None
