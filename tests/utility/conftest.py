"""Fixtures of the metrics' tests."""

from releases_by_hand import entry, make_release, save_release

__all__ = ["entry", "make_release", "save_release"]
