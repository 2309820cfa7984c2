"""Fixtures of the sources' tests."""

from postgresql_server import postgres, scratch

__all__ = ["postgres", "scratch"]
