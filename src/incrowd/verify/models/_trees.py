"""A tree of sensitive values as the edges that each value lies below."""

from __future__ import annotations

from dataclasses import dataclass

from incrowd.verify.counting.groups import UnjudgeableError


@dataclass(frozen=True)
class TreeSteps:
    """Each value with each edge above it (equal positions), and how far that edge rises."""

    leaves: list[str]
    edges: list[int]
    rises: list[int]
    height: int


def tree_steps(ancestors: object) -> TreeSteps:
    """Return the edges of the tree that a manifest gives as each value's ancestors, nearest first.

    A node is known by its path from the root, so that equal labels in different branches, or a
    label repeated from level to level, stay apart. The height of a node is the longest way down
    from it to a value; values are at height 0, in trees of uneven depth too.
    """
    paths = _read_paths(ancestors)
    heights: dict[tuple[str, ...], int] = {}
    for path in paths.values():
        for height in range(1, len(path) + 1):
            node = path[: len(path) - height + 1]
            heights[node] = max(heights.get(node, 0), height)
    numbers: dict[tuple[tuple[str, ...], str | None], int] = {}
    steps = TreeSteps([], [], [], max(heights.values()))
    for leaf, path in paths.items():
        # A value is kept apart from an inner node that bears the same label.
        lower: tuple[tuple[str, ...], str | None] = (path, leaf)
        lower_height = 0
        for depth in range(len(path), 0, -1):
            upper = path[:depth]
            steps.leaves.append(leaf)
            steps.edges.append(numbers.setdefault(lower, len(numbers)))
            steps.rises.append(heights[upper] - lower_height)
            lower, lower_height = (upper, None), heights[upper]
    return steps


def _read_paths(ancestors: object) -> dict[str, tuple[str, ...]]:
    """Return the path from the root to the parent of each value."""
    if not isinstance(ancestors, dict) or not ancestors:
        raise UnjudgeableError("the hierarchical distance needs the 'ancestors' of each value")
    paths: dict[str, tuple[str, ...]] = {}
    for leaf, labels in ancestors.items():
        if not isinstance(labels, list) or not all(isinstance(each, str) for each in labels):
            raise UnjudgeableError("the 'ancestors' of each value must be a list of labels")
        paths[leaf] = tuple(reversed(labels))
    if len({path[:1] for path in paths.values()}) != 1 or not all(paths.values()):
        raise UnjudgeableError("the 'ancestors' of all values must end in the same root")
    return paths
