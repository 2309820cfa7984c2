"""Where labels go in a picture of points: beside their point, where they cover nothing else."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

CHARACTER, LINE = 6.5, 14.0
"""How wide a character is taken to be, and how high a line, in pixels."""
_NEAR, _FAR = 5.0, 20.0


@dataclass(frozen=True)
class Box:
    """A rectangle in a picture; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Whether the two have a place in common."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def within(self, other: Box) -> bool:
        """Whether it lies wholly inside another."""
        return (
            self.left >= other.left
            and self.right <= other.right
            and self.top >= other.top
            and self.bottom <= other.bottom
        )


def around(x: float, y: float, reach: float) -> Box:
    """The square around a point."""
    return Box(x - reach, y - reach, x + reach, y + reach)


def along(path: Sequence[tuple[float, float]]) -> Iterator[Box]:
    """Small boxes that cover the line through some corners."""
    for (left, low), (right, high) in pairwise(path):
        steps = max(1, int(math.hypot(right - left, high - low) / _NEAR))
        for step in range(steps + 1):
            x = left + (right - left) * step / steps
            yield around(x, low + (high - low) * step / steps, 1.0)


def free_place(
    x: float, y: float, reach: float, size: tuple[float, float], taken: Iterable[Box], frame: Box
) -> Box | None:
    """A place for a label beside a point, the best that is inside the frame and free.

    Parameters
    ----------
    x, y, reach
        The point, and how far its mark reaches.
    size
        Width and height of the label.
    taken, frame
        What it may not cover, and where it must lie.

    Example
    -------
    >>> frame = Box(0, 0, 100, 100)
    >>> free_place(50, 50, 6, (20, 14), [], frame)
    Box(left=60.0, top=43.0, right=80.0, bottom=57.0)
    >>> free_place(95, 50, 6, (20, 14), [], frame).right
    85.0
    >>> free_place(50, 50, 6, (20, 14), [frame], frame) is None
    True
    """
    avoided = list(taken)
    for box in _places(x, y, reach, size):
        if box.within(frame) and not any(box.meets(other) for other in avoided):
            return box
    return None


def last_place(
    x: float,
    y: float,
    reach: float,
    size: tuple[float, float],
    taken: Sequence[Box],
    frame: Box,
) -> Box:
    """The free place that is nearest to a point, wherever in the frame; beside it without one.

    Notes
    -----
    Looks at places a line apart, nearest first: at most as many as lines and half columns fit.
    """
    width, height = size
    rows = [frame.top + LINE * row for row in range(int((frame.bottom - frame.top) / LINE) + 1)]
    steps = int((frame.right - frame.left) / (2 * LINE)) + 1
    boxes = [
        Box(left, top, left + width, top + height)
        for top in rows
        for left in (frame.left + 2 * LINE * step for step in range(steps))
    ]
    for box in sorted(boxes, key=lambda each: _distance(x, y, each)):
        if box.within(frame) and not any(box.meets(other) for other in taken):
            return box
    right, left_of = islice(_places(x, y, reach, size), 2)
    return right if right.right <= frame.right else left_of


def _distance(x: float, y: float, box: Box) -> float:
    return math.dist((x, y), _nearest(x, y, box))


def _nearest(x: float, y: float, box: Box) -> tuple[float, float]:
    return min(max(x, box.left), box.right), min(max(y, box.top), box.bottom)


def leader(x: float, y: float, box: Box) -> tuple[float, float] | None:
    """Where a line from a point to its label ends; None where the label is near enough."""
    return _nearest(x, y, box) if _distance(x, y, box) > _FAR else None


def _places(x: float, y: float, reach: float, size: tuple[float, float]) -> Iterator[Box]:
    """The places around a point, the best first."""
    width, height = size
    block = (height - LINE) / 2
    beside = (0.0, -LINE * 0.8, LINE * 0.8, block, -block, block + LINE, block + 2.5 * LINE)
    for away in (4.0, 12.0, 26.0, 44.0):
        out = reach + away
        for shift in beside:
            top, bottom = y + shift - height / 2, y + shift + height / 2
            yield Box(x + out, top, x + out + width, bottom)
            yield Box(x - out - width, top, x - out, bottom)
        for top in (y - out - height + 2, y + out - 2):
            yield Box(x - width / 2, top, x + width / 2, top + height)
