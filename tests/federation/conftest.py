"""Fixtures of the tests among hospitals."""

from federation_stage import consortium, own_stage, stage

__all__ = ["consortium", "own_stage", "stage"]
