"""Crowds of a few attributes: models about attackers who know some of the quasi-identifiers.

What such an attacker sees of a node is the node with `*` in all other attributes. These nodes lie
above it in the lattice, so one that breaks the model rules out all that are more specific.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from incrowd.errors import EngineError
from incrowd.methods.base import Task
from incrowd.methods.lattice.rollup import FrequencySets, Levels
from incrowd.privacy import PrivacyModel


def knows_part(model: PrivacyModel, attributes: int) -> bool:
    """Whether a model is about attackers who know fewer attributes than there are."""
    bounds = model.bounds
    return bounds is not None and bounds.known is not None and bounds.known < attributes


def refuse_too_fine(doomed: bool) -> None:
    """Raise unless the sizes alone tell that a node with too many groups is no solution."""
    if not doomed:
        raise EngineError(
            "Some levels of the hierarchies leave more groups than `memory:` allows to judge. "
            "Allow more, ask for a larger k, or take mondrian or top-down-specialization."
        )


class CrowdCheck:
    """One model, asked about the crowds that attackers see in one node after the other.

    Invariant: a crowd of fewer attributes is a union of crowds of more, and the model is monotone;
    so a table holds when all choices of exactly as many attributes as an attacker knows do.

    Notes
    -----
    C(d, L) look-ups for each node, for d attributes of which L are known. Each crowd table is
    counted once, however many nodes share it.
    """

    def __init__(self, task: Task, sets: FrequencySets, model: PrivacyModel) -> None:
        assert model.bounds is not None
        assert model.bounds.known is not None
        self._sets = sets
        self._model = model
        self._top = tuple(task.hierarchies[column.name].height for column in task.columns)
        self._choices = list(combinations(range(len(self._top)), model.bounds.known))
        self._held: dict[Levels, bool] = {}

    def broken_at(self, levels: Levels) -> Levels | None:
        """A node above that breaks the model for some choice of attributes, None if none does."""
        for place, choice in enumerate(self._choices):
            seen = list(self._top)
            for attribute in choice:
                seen[attribute] = levels[attribute]
            node = tuple(seen)
            if node not in self._held:
                self._held[node] = self._holds(node)
            if not self._held[node]:
                # What broke one node is likely to break the next: ask it first.
                self._choices.insert(0, self._choices.pop(place))
                return node
        return None

    def _holds(self, node: Levels) -> bool:
        small = self._sets.too_fine(node, self._model.smallest_group)
        if small is not None:
            refuse_too_fine(small > 0)
            return False
        rolled = self._sets.at(node)
        if int(rolled.sizes.min()) < self._model.smallest_group:
            return False
        groups = rolled.groups(self._model.counted_attributes)
        return bool(np.all(self._model.holds(groups)))
