"""Fixtures of the tests among hospitals."""

from federation_stage import stage

__all__ = ["stage"]
