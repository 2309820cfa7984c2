"""Privacy models as a policy asks for them, each with its plain judge of one group."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

Judge = Callable[[Sequence[str]], bool]
_SLACK = 1e-9


def _distinct(_whole: Counter[str]) -> Judge:
    return lambda group: len(set(group)) >= 2


def _entropy(_whole: Counter[str]) -> Judge:
    def holds(group: Sequence[str]) -> bool:
        shares = [count / len(group) for count in Counter(group).values()]
        return -sum(share * math.log(share) for share in shares) >= math.log(1.6) - _SLACK

    return holds


def _recursive(_whole: Counter[str]) -> Judge:
    def holds(group: Sequence[str]) -> bool:
        counts = sorted(Counter(group).values(), reverse=True)
        return len(counts) >= 2 and counts[0] < 2 * sum(counts[1:])

    return holds


def _frequency(_whole: Counter[str]) -> Judge:
    return lambda group: 2 * max(Counter(group).values()) <= len(group)


def _confident(_whole: Counter[str]) -> Judge:
    return lambda group: 2 * Counter(group)["hiv"] <= len(group)


def _close(whole: Counter[str]) -> Judge:
    def holds(group: Sequence[str]) -> bool:
        found = Counter(group)
        apart = sum(
            abs(found[value] / len(group) - whole[value] / whole.total()) for value in whole
        )
        return apart / 2 <= 0.3 + _SLACK

    return holds


_ILL = {"sensitive": "ill"}
MODELS: dict[str, tuple[dict[str, Any], Callable[[Counter[str]], Judge]]] = {
    "distinct": ({"l-diversity": {"l": 2, **_ILL}}, _distinct),
    "entropy": ({"l-diversity": {"l": 1.6, "kind": "entropy", **_ILL}}, _entropy),
    "recursive": ({"l-diversity": {"l": 2, "kind": "recursive", "c": 2.0, **_ILL}}, _recursive),
    "frequency": ({"l-diversity": {"l": 2, "kind": "frequency", **_ILL}}, _frequency),
    "p-sensitive": ({"p-sensitive": {"p": 2, "k": 2, **_ILL}}, _distinct),
    "alpha-k": ({"alpha-k": {"alpha": 0.5, "k": 2, **_ILL}}, _frequency),
    "confidence": ({"confidence-bounding": {"C": 0.5, "values": ["hiv"], **_ILL}}, _confident),
    "t-closeness": ({"t-closeness": {"t": 0.3, **_ILL}}, _close),
}
