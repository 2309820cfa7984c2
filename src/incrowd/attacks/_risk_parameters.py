"""What may be asked of risk: numbers within their bounds, and what does not go together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from incrowd._runtime.sentences import listed
from incrowd.errors import ParameterError

_OF_RECORDS = ("sensitive", "population", "sampling_fraction", "thresholds", "top", "memory")


def refuse_beside_events(asked: Mapping[str, object]) -> None:
    """Refuse what is about records where known events are asked about."""
    given = [name for name in _OF_RECORDS if asked.get(name) is not None]
    if given:
        raise ParameterError(
            f"events: {listed(given)} means nothing where events are known. Leave it out."
        )


def check_numbers(fraction: object, thresholds: Sequence[float], top: object) -> None:
    """Return when the numbers are within their bounds; raise ParameterError otherwise."""
    if fraction is not None and not (_is_number(fraction) and 0 < fraction <= 1):  # type: ignore[operator]
        raise ParameterError(
            f"sampling_fraction: must be a number above 0 and at most 1, got {fraction!r}."
        )
    for threshold in thresholds:
        if not (_is_number(threshold) and 0 <= threshold <= 1):
            raise ParameterError(f"thresholds: must be numbers from 0 to 1, got {threshold!r}.")
    if not isinstance(top, int) or isinstance(top, bool) or top < 0:
        raise ParameterError(f"top: must be a whole number from 0 up, got {top!r}.")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
