"""How far a piece of work is: what whoever does it tells, and whoever waits for it shows."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Told (what is under way, how much is done, how much there is)."""


def silent(_stage: str, _done: int, _whole: int) -> None:
    """A progress that shows nothing."""
